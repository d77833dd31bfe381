"""Decide whether results of PyTorch and of this library agree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import wengert as wg
from support.parity import Failure

__all__ = [
    "array",
    "attempt",
    "derivatives_differ",
    "failures_differ",
    "is_tensor",
    "leaves",
    "precision",
    "values_differ",
]

PRECISION = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 2e-5, "complex64": 2e-5}
FINEST = 1e-9


def is_tensor(value: Any) -> bool:
    """Whether `value` is a tensor of either library."""
    return hasattr(value, "requires_grad") and hasattr(value, "grad_fn")


def leaves(value: Any) -> list[Any]:
    """What is in nested tuples and lists, in order."""
    if isinstance(value, dict):
        return leaves(list(value.values()))
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def array(tensor: Any) -> Any:
    """The values of a tensor of either library, those of dtypes that NumPy lacks as float32."""
    tensor = tensor.detach()
    if str(tensor.layout) != "torch.strided":
        tensor = tensor.to_dense()
    if str(tensor.dtype).endswith("bfloat16"):
        tensor = tensor.float()
    # PyTorch conjugates, negates and fills with zeros when somebody looks
    return tensor.numpy() if isinstance(tensor, wg.Tensor) else tensor.numpy(force=True)


def precision(values: Any) -> float:
    """How far apart results may lie that were computed from `values`.

    It is a fraction of the largest number in the result, or of 1 if that is greater, and depends on
    the coarsest dtype.
    """
    names = {str(leaf.dtype).rpartition(".")[2] for leaf in leaves(values) if is_tensor(leaf)}
    return max([FINEST, *(PRECISION.get(name, 0.0) for name in names)])


def attempt(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What the function returns, or the `Failure` that it raises; without warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except Exception as error:
            return Failure(error)


def failures_differ(ours: Any, theirs: Any, words: int = 0) -> str | None:
    """Compare two outcomes of which at least one is a failure: its type and first words."""
    if not isinstance(theirs, Failure):
        return f"we raise {ours!r}"
    if not isinstance(ours, Failure):
        return f"PyTorch raises {theirs!r}, we do not"
    if theirs.kind not in ours.kinds:
        return f"PyTorch raises {theirs!r}, we {ours!r}"
    # where it has several signatures, its parser lists them all
    if "received an invalid combination of arguments" in theirs.text:
        return None
    want = theirs.words(words)
    if ours.words(len(want)) != want:
        return f"PyTorch says {theirs!r}, we {ours!r}"
    return None


def values_differ(
    ours: Any, theirs: Any, near: float, what: str = "result", kinds_only: bool = False
) -> str | None:
    """Compare results: dtypes, shapes, whether they require a gradient, and values.

    Parameters
    ----------
    near
        How far values may lie apart.
    kinds_only
        Whether to leave out the values.
    """
    a, b = leaves(ours), leaves(theirs)
    if len(a) != len(b):
        return f"{len(a)} results, in PyTorch {len(b)}"
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        text = _value_differs(x, y, near, f"{what} {i}" if len(b) > 1 else what, kinds_only)
        if text is not None:
            return text
    return None


def _value_differs(ours: Any, theirs: Any, near: float, what: str, kinds_only: bool) -> str | None:
    if not is_tensor(theirs):
        if kinds_only or ours == theirs or str(ours).replace("wengert", "torch") == str(theirs):
            return None
        return f"{what} is {ours!r}, in PyTorch {theirs!r}"
    if not isinstance(ours, wg.Tensor):
        return f"{what} is not a tensor: {ours!r}"
    text = _kind_differs(ours, theirs, ("dtype", "shape", "requires_grad"), what)
    if text is not None or kinds_only:
        return text
    return _numbers_differ(array(ours), array(theirs), near, what)


def _kind_differs(ours: Any, theirs: Any, names: Sequence[str], what: str) -> str | None:
    for name in names:
        met, want = (str(getattr(t, name)).rpartition(".")[2] for t in (ours, theirs))
        if met != want:
            return f"{what}: {name} {met}, in PyTorch {want}"
    return None


def _numbers_differ(ours: Any, theirs: Any, near: float, what: str) -> str | None:
    if theirs.dtype.kind not in "fc":
        near = 0
    with np.errstate(all="ignore"):
        finite = theirs[np.isfinite(theirs)]
        size = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
        if np.allclose(ours, theirs, near, near * size, equal_nan=True):
            return None
        wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
        gap = np.abs(ours.astype(wide) - theirs.astype(wide))
        most = gap[np.isfinite(gap)].max(initial=0)
    rows = f"ours {ours.ravel()[:4]}, PyTorch's {theirs.ravel()[:4]}"
    return f"{what} differs by {most:.3g}: {rows}".replace("\n", "")


def derivatives_differ(
    torch: Any,
    ours: Any,
    theirs: Any,
    inputs: Sequence[tuple[Any, Any]],
    orders: int,
    near: float,
) -> tuple[str | None, int]:
    """Compare the derivatives of two results along fixed random weights.

    Parameters
    ----------
    torch
        PyTorch.
    ours, theirs
        The results.
    inputs
        Pairs of tensors, ours and PyTorch's, to differentiate by.
    orders
        How many orders to compare: 1 or 2.
    near
        How far values may lie apart.

    Returns
    -------
    tuple
        What differs, and how many orders could be compared.
    """
    pairs = [
        (x, y)
        for x, y in zip(leaves(ours), leaves(theirs), strict=True)
        if is_tensor(y) and y.requires_grad
    ]
    for order in range(1, orders + 1):
        if not pairs:
            # of what is linear, neither library has a second derivative
            return None, orders if order > 1 else 0
        rng = np.random.default_rng(order)
        weights = [_weight(array(y if x is None else x), rng) for x, y in pairs]
        by_us, by_them = (
            _gradients(
                module,
                [(pair[side], weight) for pair, weight in zip(pairs, weights, strict=True)],
                [pair[side] for pair in inputs],
                order < orders,
            )
            for side, module in enumerate((wg, torch))
        )
        if isinstance(by_them, Failure):
            return None, order - 1  # to have derivatives that PyTorch lacks is no fault
        if isinstance(by_us, Failure):
            return f"derivative {order}: we raise {by_us!r}", order
        for i, (x, y) in enumerate(zip(by_us, by_them, strict=True)):
            text = _gradient_differs(x, y, 5 * near, f"derivative {order} of argument {i}")
            if text is not None:
                return text, order
        pairs = [
            (x, y)
            for x, y in zip(by_us, by_them, strict=True)
            if _has_history(x) or _has_history(y)
        ]
    return None, orders


def _has_history(tensor: Any) -> bool:
    return tensor is not None and tensor.requires_grad


def _gradients(module: Any, outputs: Any, inputs: list[Any], again: bool) -> Any:
    """The gradients of those of the weighted outputs that have a history; or a `Failure`."""
    outputs = [(tensor, weight) for tensor, weight in outputs if _has_history(tensor)]
    if not outputs:
        return [None] * len(inputs)
    return attempt(
        module.autograd.grad,
        ([tensor for tensor, _ in outputs], inputs),
        {
            "grad_outputs": [module.from_numpy(weight.copy()) for _, weight in outputs],
            "create_graph": again,
            "allow_unused": True,
        },
    )


def _gradient_differs(ours: Any, theirs: Any, near: float, what: str) -> str | None:
    if ours is not None and theirs is not None:
        text = _kind_differs(ours, theirs, ("dtype", "shape"), what)
        return text or _numbers_differ(array(ours), array(theirs), near, what)
    # whether a derivative that is zero is also known to be zero is a matter of the rule
    known = theirs if ours is None else ours
    if known is None or not (np.abs(array(known)) > 1e-12).any():
        return None
    return f"{what} is {'None here' if ours is None else 'None in PyTorch'}, and not zero"


def _weight(like: Any, rng: np.random.Generator) -> Any:
    weight = rng.standard_normal(like.shape)
    if like.dtype.kind == "c":
        weight = weight + 1j * rng.standard_normal(like.shape)
    return np.asarray(weight, like.dtype)
