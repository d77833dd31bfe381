"""Layer 9 · compat: reductions, scans, sorting and windows of `jax.lax`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.array import asarray, made
from wengert.compat.jax.checks import all_ones, axis_in, check_dtype
from wengert.compat.jax.dtypes import canonical_dtype
from wengert.compat.jax.lax_arrays import pad
from wengert.compat.jax.lax_elementwise import NAMES as ELEMENTWISE
from wengert.compat.jax.lax_elementwise import same_dtypes
from wengert.compat.jax.numpy.calling import plain
from wengert.compat.jax.tracing import argument
from wengert.compat.jax.trees import tree_flatten, tree_map
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import functions_of
from wengert.compat.kit.signatures import named
from wengert.ops.scan import logcumsumexp
from wengert.tensor.numpy.counterparts import late


def _scan(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def scanned(operand, axis: int = 0, reverse: bool = False) -> Any:
        x = argument(operand)
        at = axis_in(axis, x.ndim)
        if reverse:
            return jnp.flip(function(jnp.flip(x, at), at), at)
        return function(x, at)

    doc = f"Compute `jax.lax.{name}`: all partial results along an axis."
    return named(scanned, name, doc)


def _logarithms(x, axis: int) -> Any:
    check_dtype("cumlogsumexp", x, "f")
    return made(logcumsumexp(x, axis), x.weak_type)


def _same_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    def scanned(x, axis: int) -> Any:
        return made(function(x, axis=axis, dtype=x.dtype), x.weak_type)

    return scanned


def _extreme(name: str) -> Callable[..., Any]:
    def place(operand, axis: int, index_dtype) -> Any:
        found = getattr(jnp, name)(argument(operand), axis=axis)
        return found.astype(canonical_dtype(index_dtype))

    doc = f"Return the index of the extreme along an axis (see `jax.lax.{name}`)."
    return named(place, name, doc)


def sort(operand, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sort an array in ascending order, or several by the first `num_keys` of them.

    Examples
    --------
    >>> jax.lax.sort(jax.numpy.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    if not isinstance(operand, list | tuple):
        return jnp.sort(argument(operand), axis=dimension)
    arrays = [argument(x) for x in operand]
    if not 1 <= num_keys <= len(arrays):
        raise ValueError(f"num_keys={num_keys} must be between 1 and the number of operands")
    order = jnp.lexsort(tuple(arrays[:num_keys][::-1]), axis=dimension)
    return tuple(jnp.take_along_axis(x, order, axis=dimension) for x in arrays)


def sort_key_val(keys, values, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """Sort keys in ascending order, and values along with them."""
    ordered, others = sort((keys, values), dimension, is_stable)
    return ordered, others


def top_k(operand, k: int, *, axis: int = -1) -> list[Any]:
    """Return the `k` largest elements along an axis in descending order, and their indices."""
    x = argument(operand)
    at = axis_in(axis, x.ndim) if x.ndim else 0
    if not x.ndim or not 0 <= k <= x.shape[at]:
        raise refusal(ValueError, "k argument to top_k must", k, x, axis)
    # NaN is the largest; not -x of integers, whose least one has no negative
    return _first(x, [~x] if x.dtype.kind in "biu" else [-x, ~jnp.isnan(x)], k, at)


def _first(x, by: list[Any], k: int, axis: int) -> list[Any]:
    """Return `k` elements in the ascending order of keys, the last one first, and their indices."""
    places = jnp.lexsort(tuple(by), axis=axis)[(slice(None),) * axis + (slice(k),)]
    return [jnp.take_along_axis(x, places, axis=axis), places.astype("int32")]


def approx_max_k(operand, k: int, reduction_dimension: int = -1, *args, **options) -> list[Any]:
    """Return the exact `k` largest elements along an axis, and their indices."""
    return top_k(operand, k, axis=reduction_dimension)


def approx_min_k(operand, k: int, reduction_dimension: int = -1, *args, **options) -> list[Any]:
    """Return the exact `k` smallest elements along an axis, and their indices."""
    x = argument(operand)
    return _first(x, [x], k, axis_in(reduction_dimension, x.ndim))


def associative_scan(
    fn: Callable[[Any, Any], Any], elems, reverse: bool = False, axis: int = 0
) -> Any:
    """Return all partial results of an associative operation along an axis.

    Parameters
    ----------
    fn : callable. Takes two pytrees of arrays like `elems`, and combines them element by element.
    elems: A pytree of arrays.
    reverse : bool. Whether to scan from the end.
    axis : int. The axis.

    Examples
    --------
    >>> jax.lax.associative_scan(jax.numpy.add, jax.numpy.arange(5))
    Array([ 0,  1,  3,  6, 10], dtype=int32)
    """
    if not callable(fn):
        raise TypeError("lax.associative_scan: fn argument should be callable.")
    leaves, structure = tree_flatten(tree_map(argument, elems))
    if reverse:
        leaves = [jnp.flip(leaf, axis) for leaf in leaves]
    sizes = {leaf.shape[axis] for leaf in leaves}
    if len(sizes) != 1:
        raise refusal(ValueError, "Array inputs to", [leaf.shape for leaf in leaves])

    def combined(a: list[Any], b: list[Any]) -> list[Any]:
        result = fn(structure.unflatten(a), structure.unflatten(b))
        return structure.flatten_up_to(result)

    def part(rows: list[Any], *bounds) -> list[Any]:
        index = (Ellipsis, slice(*bounds), *(slice(None),) * (-1 - axis if axis < 0 else 0))
        if axis >= 0:
            index = (*(slice(None),) * axis, slice(*bounds))
        return [row[index] for row in rows]

    def scanned(rows: list[Any]) -> list[Any]:
        count = rows[0].shape[axis]
        if count < 2:
            return rows
        # combine pairs first, then fill in the elements between them
        odd = scanned(combined(part(rows, 0, count - 1, 2), part(rows, 1, None, 2)))
        if count > 2:
            before = part(odd, 0, (count - 1) // 2)
            even = combined(before, part(rows, 2, None, 2))
            even = [
                jnp.concatenate([a, b], axis) for a, b in zip(part(rows, 0, 1), even, strict=True)
            ]
        else:
            even = part(rows, 0, 1)
        return [_interleaved(a, b, axis) for a, b in zip(even, odd, strict=True)]

    results = scanned(leaves)
    if reverse:
        results = [jnp.flip(row, axis) for row in results]
    return structure.unflatten(results)


def _interleaved(a, b, axis: int) -> Any:
    """Interleave the elements of two arrays along an axis; `a` may have one more."""
    count = b.shape[axis]
    axis = axis_in(axis, a.ndim)
    head = a[(*(slice(None),) * axis, slice(0, count))]
    pairs = jnp.stack([head, b], axis + 1)
    shape = (*a.shape[:axis], 2 * count, *a.shape[axis + 1 :])
    whole = made(pairs.reshape(shape))
    if a.shape[axis] == count:
        return whole
    return jnp.concatenate([whole, a[(*(slice(None),) * axis, slice(count, None))]], axis)


# -- reductions ------------------------------------------------------------------------------------

_KNOWN = {"add": "sum", "mul": "prod", "max": "max", "min": "min"}
_NUMPYS = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min"}


def _named(computation) -> str | None:
    """Return the name of a known binary operation of `jax.lax` or `jax.numpy`, or None."""
    for name in _KNOWN:
        if computation is ELEMENTWISE[name]:
            return name
    for name, ours in _NUMPYS.items():
        if computation is getattr(jnp, name):
            return ours
    return None


def reduce(
    operands,
    init_values,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    out_sharding=None,
) -> Any:
    """Reduce an array along some dimensions with an associative operation.

    Parameters
    ----------
    operands, init_values: An array and its initial value, or pytrees of them.
    computation : callable. Combines two partial results.
    dimensions : sequence of int. The dimensions to reduce.
    """
    leaves, structure = tree_flatten(tree_map(argument, operands))
    starts = map(argument, structure.flatten_up_to(init_values))
    pairs = [
        same_dtypes("reduce", x, made(asarray(s, x.dtype), True) if s.weak_type else s)
        for x, s in zip(leaves, starts, strict=True)
    ]
    dims = tuple(axis_in(d, leaves[0].ndim) for d in dimensions)
    if not dims:
        return structure.unflatten(leaves)
    name = _named(computation) if len(pairs) == 1 else None
    if name is not None:
        ((x, start),) = pairs
        total = getattr(jnp, _KNOWN[name])(x, axis=dims, initial=None) if x.size else None
        return (
            start if total is None else computation(made(total.astype(x.dtype), x.weak_type), start)
        )
    rows = [_in_front(x, dims) for x, _ in pairs]
    shape = rows[0].shape[1:]
    result = structure.unflatten([jnp.broadcast_to(s, shape) for _, s in pairs])
    for i in range(rows[0].shape[0]):
        result = computation(result, structure.unflatten([row[i] for row in rows]))
    return result


def _in_front(x, dims: tuple[int, ...]) -> Any:
    """Move some dimensions of `x` to the front, merged into one."""
    rest = [d for d in range(x.ndim) if d not in dims]
    moved = x.transpose((*dims, *rest))
    return moved.reshape((math.prod(x.shape[d] for d in dims), *(x.shape[d] for d in rest)))


def _reduction(numpys: str) -> Callable[..., Any]:
    def reduced(operand, axes: Sequence[int], *, out_sharding=None) -> Any:
        x = argument(operand)
        result = getattr(jnp, numpys)(x, axis=tuple(axis_in(a, x.ndim) for a in axes))
        return result.astype(x.dtype) if numpys in ("sum", "prod") else result

    return named(reduced, f"reduce_{numpys}", f"Compute ``jnp.{numpys}`` over the given axes.")


def _zero(x, dtype: np.dtype[Any]) -> Any:
    return dtype.type(0)


def _bitwise(name: str, start: Callable[..., Any], of_truths: str) -> Callable[..., Any]:
    """Build a reduction of bits; of booleans it is NumPy's function where there is one."""

    def reduced(operand, axes: Sequence[int], *, out_sharding=None) -> Any:
        x = argument(operand)
        check_dtype(f"reduce_{name}", x, "biu")
        dtype = x._payload.dtype
        if of_truths and dtype.kind == "b":
            return getattr(jnp, of_truths)(x, axis=tuple(axis_in(a, x.ndim) for a in axes))
        return reduce(x, asarray(start(x, dtype)), ELEMENTWISE[f"bitwise_{name}"], axes)

    doc = f"Combine the elements over the given axes by bitwise {name}."
    return named(reduced, f"reduce_{name}", doc)


def padtype_to_pads(
    in_shape: Sequence[int], window_shape: Sequence[int], window_strides: Sequence[int], padding
) -> list[tuple[int, int]]:
    """Return the padding before and after each dimension for ``"SAME"`` or ``"VALID"``."""
    kind = str(padding).upper()
    if kind == "VALID":
        return [(0, 0)] * len(in_shape)
    if kind not in ("SAME", "SAME_LOWER"):
        raise ValueError(f"Unrecognized padding type: expected 'VALID' or 'SAME', got {padding}.")
    made_ = []
    for size, window, stride in zip(in_shape, window_shape, window_strides, strict=True):
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        less = total // 2
        made_.append((less, total - less) if kind == "SAME" else (total - less, less))
    return made_


def reduce_window(
    operand,
    init_value,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding="VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Reduce each window that slides over an array with an operation.

    Parameters
    ----------
    operand, init_value: An array, and the value that pads it.
    computation : callable. Combines two arrays element by element.
    window_dimensions, window_strides : sequence of int. The size of the windows, and the steps
        between them.
    padding : {"VALID", "SAME"} or sequence of (low, high). The number of elements before and after
        each dimension.

    Examples
    --------
    >>> x = jax.numpy.arange(6.0)
    >>> jax.lax.reduce_window(x, -jax.numpy.inf, jax.lax.max, (2,), (2,), "VALID")
    Array([1., 3., 5.], dtype=float32)
    """
    if isinstance(init_value, int | float):
        init_value = asarray(init_value, asarray(operand).dtype)
    x, start = same_dtypes("reduce_window", operand, init_value)
    window = tuple(map(int, window_dimensions))
    ones = (1,) * x.ndim
    steps = ones if window_strides is None else tuple(map(int, window_strides))
    apart = ones if window_dilation is None else tuple(map(int, window_dilation))
    spread = ones if base_dilation is None else tuple(map(int, base_dilation))
    if not len(window) == len(steps) == x.ndim:
        raise refusal(ValueError, "reduce_window: window_dimensions", window, steps, x)
    sizes = [(n - 1) * s + 1 if n else 0 for n, s in zip(x.shape, spread, strict=True)]
    reach = [(w - 1) * d + 1 for w, d in zip(window, apart, strict=True)]
    pads = padtype_to_pads(sizes, reach, steps, padding) if isinstance(padding, str) else padding
    whole = pad(x, start, [(int(a), int(b), s - 1) for (a, b), s in zip(pads, spread, strict=True)])
    counts = [max((n - r) // s + 1, 0) for n, r, s in zip(whole.shape, reach, steps, strict=True)]
    moving = [i for i in range(x.ndim) if window[i] * steps[i] > 1]
    name = _named(computation) if x.dtype.kind == "f" and 0 not in counts else None
    if name in ("max", "min") and 1 <= len(moving) <= 3:
        of_moving = [tuple(part[i] for i in moving) for part in (window, steps, apart)]
        found = _pooled(-whole if name == "min" else whole, moving, counts, *of_moving)
        return computation(-found if name == "min" else found, start)
    result: Any = None
    for offsets in itertools.product(*map(range, window)):
        index = tuple(
            slice(o * d, o * d + (c - 1) * s + 1, s)
            for o, d, c, s in zip(offsets, apart, counts, steps, strict=True)
        )
        part = whole[index]
        result = computation(start, part) if result is None else computation(result, part)
    return result


def _pooled(x, moving: list[int], counts: list[int], *sizes: tuple[int, ...]) -> Any:
    """Return the greatest elements of windows along some axes; the first has the derivative."""
    axes = list(range(-len(moving), 0))
    lines = jnp.moveaxis(x, moving, axes)
    rest = lines.shape[: x.ndim - len(moving)]
    window, steps, apart = sizes
    lines = lines.reshape((1, -1, *lines.shape[len(rest) :]))
    found = made(late(f"max_pool{len(moving)}d")(plain(lines), window, steps, 0, apart))
    return jnp.moveaxis(found.reshape((*rest, *(counts[i] for i in moving))), axes, moving)


_SCANS: dict[str, Callable[..., Any]] = {
    "cumlogsumexp": _logarithms,
    # scans of `maximum`, by which equal elements share the derivative as in JAX
    "cummax": lambda x, at: made(associative_scan(jnp.maximum, x, axis=at), x.weak_type),
    "cummin": lambda x, at: made(associative_scan(jnp.minimum, x, axis=at), x.weak_type),
    "cumprod": _same_dtype(jnp.cumprod),
    "cumsum": _same_dtype(jnp.cumsum),
}
_OVER = "max min prod sum"
_BITS = {"and": (all_ones, "all"), "or": (_zero, "any"), "xor": (_zero, "")}
NAMES: dict[str, Callable[..., Any]] = {
    **functions_of(globals()),
    **{name: _scan(name, function) for name, function in _SCANS.items()},
    **{name: _extreme(name) for name in ("argmax", "argmin")},
    **{f"reduce_{name}": _reduction(name) for name in _OVER.split()},
    **{f"reduce_{name}": _bitwise(name, *about) for name, about in _BITS.items()},
}
