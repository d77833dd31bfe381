"""Run one piece of code under PyTorch and under this library, and compare.

The code is a function of the module: ``body(torch)``. PyTorch is never imported here; the tests
hand it over where it is installed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["Failure", "assert_same", "derivatives", "evaluated", "forms", "outcome", "tensors"]


class Failure:
    """An exception, as far as two libraries can agree on it: its type and its first words."""

    def __init__(self, error: BaseException) -> None:
        self.kinds = {cls.__name__ for cls in type(error).__mro__}
        self.kind = type(error).__name__
        self.text = str(error)

    def words(self, count: int) -> list[str]:
        """The first words of the message, without punctuation."""
        return re.findall(r"[A-Za-z0-9_]+", self.text)[:count]

    def __repr__(self) -> str:
        return f"{self.kind}: {self.text.splitlines()[0] if self.text else ''}"


def outcome(body: Callable[[Any], Any], module: Any) -> Any:
    """What ``body(module)`` returns, or the `Failure` that it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return body(module)
    except Exception as error:
        return Failure(error)


def tensors(module: Any, arrays: Mapping[str, Any], requires_grad: bool = True) -> dict[str, Any]:
    """Tensors of `module` with the values of `arrays`; floating ones may require a gradient."""
    made = {}
    for name, array in arrays.items():
        dtype = getattr(module, array.dtype.name)
        tensor = module.tensor(array.tolist(), dtype=dtype).reshape(array.shape)
        if requires_grad and array.dtype.kind in "fc":
            tensor.requires_grad_()
        made[name] = tensor
    return made


def forms(text: str) -> list[str]:
    """The expressions of a table, which semicolons and lines separate."""
    return [form.strip() for form in re.split(r";|\n", text) if form.strip()]


def evaluated(
    form: str,
    module: Any,
    arrays: Mapping[str, Any],
    dtype: str = "float64",
    derive: Callable[..., dict[str, Any]] | None = None,
    node: bool = False,
    **scope: Any,
) -> Any:
    """The value of an expression with its derivatives, or the `Failure` that it raises.

    Parameters
    ----------
    arrays: The values of the names in `form`; doubles become tensors of `dtype`.
    derive: Computes the derivatives, as `derivatives` does.
    node: Whether to add the name of the node.
    scope: Further names, beside ``t``, the module, and its ``F`` and ``L``.
    """
    used = {k: a for k, a in arrays.items() if re.search(rf"\b{k}\b", form)}
    inputs = tensors(
        module, {k: a.astype(dtype) if a.dtype == np.float64 else a for k, a in used.items()}
    )
    names = {"t": module, "F": module.nn.functional, "L": module.linalg, **scope, **inputs}

    def body(module: Any) -> dict[str, Any]:
        value = eval(form, names)
        made = getattr(value, "grad_fn", None) if node else None
        name = None if made is None else made.name().split("::")[-1]
        return {"value": value, "node": name, **(derive or derivatives)(module, inputs, value)}

    return outcome(body, module)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "requires_grad") and hasattr(value, "grad_fn")


def _flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in _flat(item)]
    return [value]


def derivatives(
    module: Any,
    inputs: Mapping[str, Any],
    value: Any,
    orders: Sequence[str] = ("first", "second"),
) -> dict[str, Any]:
    """First and second derivatives of `value` with respect to `inputs`, for fixed random weights.

    Returns
    -------
    dict
        ``first[name]`` and ``second[name]``: tensors without history; where there is no path, None
        for a first derivative and zeros for a second one.
    """
    outputs = [t for t in _flat(value) if _is_tensor(t) and t.requires_grad]
    leaves = {name: t for name, t in inputs.items() if t.requires_grad}
    found: dict[str, Any] = {}
    for order in orders:
        if not outputs and order == "first":
            break
        rng = np.random.default_rng(len(order))
        weights = [
            module.tensor(rng.standard_normal(t.shape).tolist(), dtype=t.dtype).reshape(t.shape)
            for t in outputs
        ]
        grads: Sequence[Any] = [None] * len(leaves)
        if outputs:
            grads = module.autograd.grad(
                outputs, list(leaves.values()), weights, create_graph=True, allow_unused=True
            )
        for (name, leaf), g in zip(leaves.items(), grads, strict=True):
            # in the second order, whether a derivative is zero or unknown is a matter of the rule
            if g is None and order == "second":
                g = 0 * leaf
            found[f"{order}[{name}]"] = None if g is None else g.detach()
        outputs = [g for g in grads if g is not None and g.requires_grad]
    return found


def assert_same(
    ours: Any, theirs: Any, what: str = "", rtol: float = 1e-9, atol: float = 1e-12, words: int = 4
) -> None:
    """Raise unless two results agree.

    Tensors agree in values, dtype, shape and whether they have history; all else is the same.
    Failures agree if ours is of the type of theirs and begins with the same `words` words.
    """
    if isinstance(theirs, Failure) or isinstance(ours, Failure):
        assert isinstance(theirs, Failure), f"{what}: PyTorch gives {theirs!r}, we raise {ours!r}"
        assert isinstance(ours, Failure), f"{what}: PyTorch raises {theirs!r}, we give {ours!r}"
        assert theirs.kind in ours.kinds, f"{what}: PyTorch raises {theirs!r}, we raise {ours!r}"
        want = theirs.words(words)
        met = ours.words(len(want))
        assert met == want, f"{what}: PyTorch says {theirs!r}, we say {ours!r}"
        return
    if _is_tensor(theirs):
        _assert_same_tensor(ours, theirs, what, rtol, atol)
    elif isinstance(theirs, dict):
        assert sorted(ours) == sorted(theirs), f"{what}: {sorted(ours)} against {sorted(theirs)}"
        for key, value in theirs.items():
            assert_same(ours[key], value, f"{what} {key}", rtol, atol, words)
    elif isinstance(theirs, tuple | list):
        assert isinstance(ours, tuple | list), f"{what}: PyTorch gives {theirs!r}, we {ours!r}"
        assert len(ours) == len(theirs), f"{what}: {len(theirs)} items in PyTorch, {len(ours)} here"
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(a, b, f"{what}[{i}]", rtol, atol, words)
    elif isinstance(theirs, float):
        np.testing.assert_allclose(ours, theirs, rtol, atol, err_msg=what)
    else:
        # dtypes, sizes and the like are objects of each library: their texts are the same
        assert str(ours) == str(theirs), f"{what}: PyTorch gives {theirs!r}, we give {ours!r}"


def _assert_same_tensor(ours: Any, theirs: Any, what: str, rtol: float, atol: float) -> None:
    assert _is_tensor(ours), f"{what}: PyTorch gives {theirs!r}, we give {ours!r}"
    met = (str(ours.dtype), tuple(ours.shape))
    want = (str(theirs.dtype), tuple(theirs.shape))
    assert met == want, f"{what}: PyTorch gives {want}, we give {met}"
    flags = [(t.requires_grad, t.is_leaf) for t in (ours, theirs)]
    assert flags[0] == flags[1], f"{what}: (requires_grad, is_leaf) {flags[1]}, ours {flags[0]}"
    eps = {"torch.float32": 1e-5, "torch.complex64": 1e-5, "torch.float16": 2e-3}.get(want[0], 0)
    np.testing.assert_allclose(
        np.array(ours.detach().clone().tolist()),
        np.array(theirs.detach().clone().tolist()),
        max(rtol, eps),
        max(atol, eps),
        equal_nan=True,
        err_msg=what,
    )
