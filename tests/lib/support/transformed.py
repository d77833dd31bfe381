"""Run PyTorch's sample inputs through `vmap` and `jvp`.

Neither needs PyTorch for a measure: a batch is compared with a loop over its elements, and a
derivative in a direction with the gradients, ``<u, J v> = <Jᴴ u, v>``, which are compared with
PyTorch's elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import wengert as wg
from support.deviations import Deviation
from support.opinfo import Comparison
from wengert.base.containers import flatten

__all__ = ["EXCEPTIONS", "Twin", "mapped_differs", "pushed_differs", "twins"]

SCALES = (1.0, 0.9375, 0.875)
"""What the elements of a batch are made of a sample by: it stays in the domain of its function."""

_READ = (
    r"vmap( of all)?: vmap raises RuntimeError: vmap: (It looks like you're|We do not support)",
)

EXCEPTIONS = (
    Deviation(
        "A number that decides on a shape, or on how a shape is divided, is read; PyTorch refuses "
        "it, too.",
        _READ,
        "linspace/tensor_overload logspace/tensor_overload narrow "
        "nn.functional.ctc_loss nn.functional.embedding_bag nn.functional.one_hot "
        "repeat_interleave tensor_split",
    ),
    Deviation(
        "A mask as an index has a result whose shape depends on values.",
        _READ,
        "index_put",
    ),
    Deviation(
        "The edges of bins are those of the values, which differ within the batch.",
        _READ,
        "histogram histogramdd",
    ),
    Deviation(
        "Running values that all elements share cannot be those of each; PyTorch refuses it, too.",
        (r"vmap( of all)?: vmap raises RuntimeError: Batch norm got a batched tensor as input",),
        "nn.functional.batch_norm nn.functional.instance_norm",
    ),
    Deviation(
        "Which elements are stored depends on values, and a sparse result has no tangent.",
        (*_READ, r"jvp raises RuntimeError: .*got unsupported type SparseTensor"),
        "to_sparse",
    ),
    Deviation(
        "A value of a transform has no single place in memory to be shown by strides.",
        ("raises RuntimeError: as_strided: a tensor inside of",),
        "as_strided as_strided/partial_views as_strided_copy as_strided_scatter",
    ),
    Deviation(
        "A value of a transform has no memory of its own to be given another shape.",
        (r"raises RuntimeError: resize_\(\) is not supported under a transform",),
        "resize_",
    ),
    Deviation(
        "Reflections as LAPACK stores them are computed outside of transforms; write linalg.qr.",
        (r"raises NotImplementedError: geqrf\(\) of a value of a transform",),
        "geqrf",
    ),
    Deviation(
        "There is no derivative with respect to that argument; PyTorch refuses it, too.",
        ("raises NotImplementedError: Trying to use forward AD with .* the derivative for",),
        "special.zeta special.chebyshev_polynomial_t special.chebyshev_polynomial_u "
        "special.chebyshev_polynomial_v special.chebyshev_polynomial_w "
        "special.hermite_polynomial_h special.hermite_polynomial_he "
        "special.laguerre_polynomial_l special.legendre_polynomial_p "
        "special.shifted_chebyshev_polynomial_t special.shifted_chebyshev_polynomial_u "
        "special.shifted_chebyshev_polynomial_v special.shifted_chebyshev_polynomial_w",
    ),
    Deviation(
        "Ends that are tensors are read as numbers, and these have no tangents.",
        ("jvp: jvp raises TypeError: an argument must be Number, not a Tensor that requires",),
        "linspace/tensor_overload",
    ),
    Deviation(
        "Where a place is named twice, the last value is put there and has the tangent, while the "
        "gradient goes to both, as in PyTorch.",
        ("jvp: <u, J v>",),
        "nn.functional.max_unpool1d nn.functional.max_unpool2d nn.functional.max_unpool3d",
    ),
)
"""Where `vmap` and `jvp` refuse, or are not as the loop or the gradient, and why."""


class Twin(NamedTuple):
    """One sample as this library has it: ``function(*args, **kwargs)``."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    unique: bool
    """Whether the results are determined: not vectors but for their phases."""
    shown: str


def twins(of: Comparison, dtype: str, limit: int, form: str = "function") -> Iterator[Twin]:
    """At most `limit` samples of an operation in one of its forms, if it has that."""
    functions = [known.ours for known in of.forms() if known.name == form]
    if not functions:
        return
    for sample, args, kwargs, shown in of.twins(dtype, limit):
        unique = sample.output_process_fn_grad.__name__ == "<lambda>"
        yield Twin(functions[0], args, kwargs, unique, shown)


def _tensors(value: Any) -> list[Any]:
    return [leaf for leaf in flatten(value)[0] if isinstance(leaf, wg.Tensor)]


def _with(value: Any, tensors: list[Any]) -> Any:
    """`value`, a nested container, with other tensors in it."""
    leaves, rebuild = flatten(value)
    rest = iter(tensors)
    return rebuild([next(rest) if isinstance(leaf, wg.Tensor) else leaf for leaf in leaves])


def _scaled(tensor: Any, scale: float) -> Any:
    tensor = tensor.detach().clone()
    return tensor * scale if tensor.dtype.is_floating_point or tensor.dtype.is_complex else tensor


def mapped_differs(twin: Twin, every: bool) -> str | None:
    """What `vmap` does otherwise than a loop; None if nothing.

    Parameters
    ----------
    twin
        The sample.
    every
        Whether to batch all tensors among the arguments; otherwise those of the first argument.
    """
    given = (twin.args, twin.kwargs) if every else twin.args[0]

    def call(*tensors: Any) -> Any:
        found = _with(given, list(tensors))
        if every:
            args, kwargs = found
        else:
            args, kwargs = (found, *rest[0]), rest[1]
        return _tensors(twin.function(*args, **kwargs))

    def fresh() -> Any:
        """The other arguments, which the operation may write to."""
        others = (twin.args[1:], twin.kwargs)
        return _with(others, [_scaled(t, 1.0) for t in _tensors(others)])

    tensors = _tensors(given)
    if not tensors:
        return None
    wanted = []
    rows = [[_scaled(t, scale) for t in tensors] for scale in SCALES]
    try:
        with wg.no_grad():
            for row in rows:
                rest = fresh()
                wanted.append(call(*row))
    except Exception:
        return None
    if len({tuple(t.shape for t in row) for row in wanted}) > 1 or not wanted[0]:
        return None
    rows = [[_scaled(t, scale) for t in tensors] for scale in SCALES]
    batch = [wg.stack(list(column)) for column in zip(*rows, strict=True)]
    rest = fresh()
    try:
        found = wg.func.vmap(call)(*batch)
    except Exception as error:
        return f"vmap raises {type(error).__name__}: {error}"
    if len(found) != len(wanted[0]):
        return f"{len(found)} results, in a loop {len(wanted[0])}"
    for i, (got, *want) in enumerate(zip(found, *wanted, strict=True)):
        text = _array_differs(got, wg.stack(want), twin.unique)
        if text is not None:
            return f"result {i}: {text}"
    return None


def _array_differs(got: Any, want: Any, unique: bool) -> str | None:
    if got.dtype != want.dtype or got.shape != want.shape:
        shape, wanted = tuple(got.shape), tuple(want.shape)
        return f"{got.dtype} {shape}, in a loop {want.dtype} {wanted}"
    x, y = got.detach().numpy(), want.detach().numpy()
    near = _near(x.dtype)
    if not unique:
        x, y = np.abs(x), np.abs(y)
    if not np.allclose(x, y, near, near, equal_nan=True):
        with np.errstate(all="ignore"):
            apart = np.nanmax(np.abs(x.astype(complex) - y))
        return f"differs by {apart:.3g} from the loop"
    return None


def _near(dtype: Any) -> float:
    """What a value may differ by: some hundred roundings."""
    return 1e-8 if dtype.kind not in "fcV" or dtype.itemsize >= 8 else 1e-2


def _drawn(rng: np.random.Generator, tensor: Any) -> Any:
    values = rng.standard_normal(tuple(tensor.shape))
    if tensor.dtype.is_complex:
        values = values + 1j * rng.standard_normal(tuple(tensor.shape))
    return wg.tensor(values).to(tensor.dtype)


def _inner(a: list[Any], b: list[Any]) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += float(np.real(np.vdot(x.detach().numpy(), y.detach().numpy())))
    return total


def pushed_differs(twin: Twin) -> str | None:
    """Where `jvp` does not agree with the gradients; None if it does, or there are none."""
    leaves = _tensors((twin.args, twin.kwargs))
    # an operation without derivatives must see through tangents, too
    moves = [leaf.requires_grad for leaf in leaves]
    if not any(moves):
        moves = [leaf.dtype.is_floating_point or leaf.dtype.is_complex for leaf in leaves]
    inputs = [leaf for leaf, moved in zip(leaves, moves, strict=True) if moved]
    if not inputs:
        return None

    def call(*tensors: Any) -> Any:
        rest = iter(tensors)
        made = [
            next(rest) if moved else leaf.detach().clone()
            for leaf, moved in zip(leaves, moves, strict=True)
        ]
        args, kwargs = _with((twin.args, twin.kwargs), made)
        return _tensors(twin.function(*args, **kwargs))

    rng = np.random.default_rng(7)
    bare = [leaf.detach().clone() for leaf in inputs]
    directions = [_drawn(rng, leaf) for leaf in bare]
    own = [leaf.detach().clone().requires_grad_(leaf.requires_grad) for leaf in inputs]
    try:
        outputs = call(*[leaf * 1 for leaf in own])
        differentiable = [i for i, out in enumerate(outputs) if out.requires_grad]
        weights = [_drawn(rng, outputs[i]) for i in differentiable]
        grads: Any = [None] * len(own)
        if differentiable:
            grads = wg.autograd.grad(
                [outputs[i] for i in differentiable], own, weights, allow_unused=True
            )
    except Exception:
        return None
    if not outputs:
        return None  # `jvp` refuses functions without tensors among their results
    try:
        values, slopes = wg.func.jvp(call, tuple(bare), tuple(directions))
    except Exception as error:
        return f"jvp raises {type(error).__name__}: {error}"
    for i, (got, want) in enumerate(zip(values, outputs, strict=True)):
        text = _array_differs(got, want.detach(), twin.unique)
        if text is not None:
            return f"value {i} {text}"
    for value, slope in zip(values, slopes, strict=True):
        if value.shape != slope.shape or value.dtype != slope.dtype:
            return f"a tangent is {slope.dtype} {tuple(slope.shape)}, its value {value.dtype}"
    pulled = [wg.zeros_like(b) if g is None else g for g, b in zip(grads, bare, strict=True)]
    left = _inner(weights, [slopes[i] for i in differentiable])
    right = _inner(pulled, directions)
    scale = max(abs(left), abs(right), 1.0)
    if np.isfinite(left) != np.isfinite(right):
        return f"<u, J v> = {left}, <Jᴴ u, v> = {right}"
    precision = max(_near(array.detach().numpy().dtype) for array in [*values, *bare])
    if np.isfinite(left) and abs(left - right) > 100 * precision * scale:
        return f"<u, J v> = {left}, <Jᴴ u, v> = {right}"
    return None
