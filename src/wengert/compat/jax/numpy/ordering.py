"""Layer 9 · compat: functions of `jax.numpy` that order and count (see NOTE [static sizes])."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray, convert, made
from wengert.compat.jax.checks import axis_in
from wengert.compat.jax.dtypes import default_dtype
from wengert.compat.jax.numpy import calling as C
from wengert.compat.jax.numpy.choosing import sized, take, take_along_axis, where
from wengert.compat.jax.words import refusal
from wengert.tape.base import TensorBase, new_tensor


def sort(
    a,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable=True,
    descending=False,
) -> Any:
    """Sort along an axis in ascending order."""
    (x,) = C.operands("sort", a)
    _no_kind("sort", kind, order)
    found = C.call("sort", x, axis, weak=x.weak_type)
    return C.call("flip", found, 0 if axis is None else axis) if descending else found


def _no_kind(name: str, kind, order) -> None:
    if kind is not None:
        raise refusal(TypeError, "'kind' argument to {} is", name)
    if order is not None:
        raise NotImplementedError(f"'order' argument to {name} is not supported.")


def argsort(
    a,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable=True,
    descending=False,
    dtype=None,
) -> Any:
    """Return the indices that sort along an axis in ascending order."""
    (x,) = C.operands("argsort", a)
    _no_kind("argsort", kind, order)
    if axis is None:
        x, axis = x.reshape(-1), 0
    if not descending:
        found = C.call("argsort", x, axis, stable=True)
    else:
        # stable on the reversed array, so that equal elements keep their order
        n = x.shape[axis]
        found = (
            n
            - 1
            - C.call("flip", C.call("argsort", C.call("flip", x, axis), axis, stable=True), axis)
        )
    return asarray(found, dtype or default_dtype("i"))


def _parted(name: str) -> Callable[..., Any]:
    def function(a, kth: int, axis=-1) -> Any:
        (x,) = C.operands(name, a)
        if not -x.shape[axis] <= kth < x.shape[axis]:
            raise ValueError(f"kth(={kth}) out of bounds ({x.shape[axis]})")
        # JAX's order: the smallest elements ascend; the rest keep their order, or descend
        order = argsort(x, axis)
        lead = (slice(None),) * axis_in(axis, x.ndim)
        first = order[(*lead, slice(kth % x.shape[axis] + 1))]
        rest = order[(*lead, slice(kth % x.shape[axis] + 1, None))]
        if name == "argpartition":
            found = C.call("concatenate", [first, sort(rest, axis)], axis)
            return found.astype("int32")
        order = C.call("concatenate", [first, C.call("flip", rest, axis)], axis)
        return take_along_axis(x, order, axis)

    return function


def lexsort(keys, axis=-1) -> Any:
    """Return the indices that sort by several keys, the last one first."""
    given = C.operands("lexsort", *keys)
    if not given:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if not given[0].ndim:
        return asarray(0, default_dtype("i"))
    order = argsort(given[0], axis)
    for key in given[1:]:
        again = argsort(take_along_axis(key, order, axis), axis)
        order = take_along_axis(order, again, axis)
    return order


def sort_complex(a) -> Any:
    """Return the elements sorted, as complex numbers."""
    (x,) = C.operands("sort_complex", a)
    return C.call("sort_complex", x)


def searchsorted(a, v, side="left", sorter=None, *, method="scan") -> Any:
    """Return the indices at which to insert elements into a sorted vector."""
    if side not in ("left", "right"):
        raise refusal(ValueError, "{!r} is an invalid value", side)
    x, y = C.as_operands("searchsorted", a, v)
    if x.ndim != 1:
        raise ValueError("a should be 1-dimensional")
    if sorter is not None:
        x = x[asarray(sorter)]
    return asarray(C.call("searchsorted", x, y, side), np.dtype(np.int32))


def digitize(x, bins, right=False, *, method: str | None = None) -> Any:
    """Return the indices of the bins that elements fall into."""
    x, edges = C.as_operands("digitize", x, bins)
    if edges.ndim != 1:
        raise ValueError(f"digitize: bins must be a 1-dimensional array; got bins={bins}")
    if not edges.size:
        return asarray(np.zeros(x.shape), np.dtype(np.int32))
    side = "left" if right else "right"
    rising = C.call("searchsorted", edges, x, side)
    falling = edges.size - C.call("searchsorted", C.call("flip", edges), x, side)
    return asarray(where(edges[-1] >= edges[0], rising, falling), np.dtype(np.int32))


# -- sets ------------------------------------------------------------------------------------------


def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis: int | None = None,
    *,
    equal_nan=True,
    size: int | None = None,
    fill_value=None,
    sorted=True,
) -> Any:
    """Return the distinct elements in order and, on request, first indices, inverse, and counts.

    Parameters
    ----------
    size : int, optional. The number of elements to return: a longer result is truncated, a shorter
        one is padded with `fill_value`, the least element.
    """
    (x,) = C.operands("unique", ar)
    flat = x.reshape(-1) if axis is None else x
    dim = 0 if axis is None else axis
    _, first, inverse, counts = np.unique(
        C.value_of(flat, "size"), True, True, True, axis=dim if axis is not None else None,
        equal_nan=equal_nan,
    )  # fmt: skip
    count = len(first)
    if size is not None:
        first = sized(first, size, first[0] if count else 0)
        counts = sized(counts, size, 0)
    found = take(flat, asarray(first), dim) if flat.size else flat
    if size is not None and fill_value is not None and size > count:
        given = np.arange(size) < count
        given = given.reshape([-1 if i == dim else 1 for i in range(found.ndim)])
        found = where(asarray(given), found, asarray(fill_value, x._payload.dtype))
    shaped = inverse.reshape(x.shape) if axis is None else inverse.reshape(-1)
    asked = ((return_index, first), (return_inverse, shaped), (return_counts, counts))
    rest = [asarray(part, default_dtype("i")) for wanted, part in asked if wanted]
    return (found, *rest) if rest else found


_UniqueAllResult = namedtuple("_UniqueAllResult", "values indices inverse_indices counts")
_UniqueCountsResult = namedtuple("_UniqueCountsResult", "values counts")
_UniqueInverseResult = namedtuple("_UniqueInverseResult", "values inverse_indices")


def _unique(result: Any) -> Callable[..., Any]:
    """Build a function that returns the distinct elements and more, as a named tuple."""
    asked = [name in result._fields for name in ("indices", "inverse_indices", "counts")]

    def function(x, /, *, size: int | None = None, fill_value=None) -> Any:
        return result(*unique(x, *asked, equal_nan=False, size=size, fill_value=fill_value))

    function.__doc__ = f"Return the distinct elements: their {', '.join(result._fields)}."
    return function


def unique_values(x, /, *, size: int | None = None, fill_value=None) -> Any:
    """Return the distinct elements."""
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def union1d(ar1, ar2, *, size: int | None = None, fill_value=None) -> Any:
    """Return the elements of either array."""
    x, y = C.as_operands("union1d", ar1, ar2)
    both = C.call("concatenate", [x.reshape(-1), y.reshape(-1)])
    return unique(both, size=size, fill_value=fill_value)


def _set(name: str) -> Callable[..., Any]:
    def function(ar1, ar2, assume_unique=False, *, size: int | None = None, fill_value=None) -> Any:
        x, y = C.as_operands(name, ar1, ar2)
        found = C.call(name, x, y, assume_unique)
        if name == "setdiff1d":
            given = asarray(ar1)
            found = made(convert(found, given._payload.dtype), given.weak_type)
        return _resized(size, fill_value, found)[0]

    return function


def _resized(size: int | None, fill_value, *found) -> Any:
    """Truncate vectors of equal length to a size, or pad them with a value."""
    if size is None:
        return found
    at = asarray(sized(np.arange(found[0].size), size, found[0].size))
    return tuple(take(part, at, 0, mode="fill", fill_value=fill_value or 0) for part in found)


def intersect1d(
    ar1, ar2, assume_unique=False, return_indices=False, *, size: int | None = None, fill_value=None
) -> Any:
    """Return the elements of both arrays."""
    x, y = C.as_operands("intersect1d", ar1, ar2)
    found = C.call("intersect1d", x, y, assume_unique, True)
    done = _resized(size, fill_value, *found)
    return done if return_indices else done[0]


def isin(element, test_elements, assume_unique=False, invert=False, *, method="auto") -> Any:
    """Return whether elements are among others."""
    x, y = C.as_operands("isin", element, test_elements)
    if not y.size:
        found = made(new_tensor(np.zeros(x.shape, bool)))
    else:
        found = C.call("any", x[..., None] == y.reshape(-1), -1)
    return ~found if invert else found


# -- counts ----------------------------------------------------------------------------------------


def bincount(x, weights=None, minlength=0, *, length: int | None = None, out_sharding=None) -> Any:
    """Count each nonnegative integer, or sum the weights at its positions.

    Parameters
    ----------
    length : int, optional. The number of bins: larger numbers are ignored, negative ones count as
        0.
    """
    (x,) = C.operands("bincount", x)
    if x._payload.dtype.kind not in "biu":
        raise refusal(TypeError, "x argument to bincount", x)
    if x.ndim != 1:
        raise ValueError("only 1-dimensional input supported.")
    if length is None:
        known = C.value_of(x, "length")
        length = max(minlength, int(known.max()) + 1 if known.size else 0)
    (w,) = C.operands("bincount", 1 if weights is None else weights)
    zeros = asarray(np.zeros(length), default_dtype("i") if weights is None else w._payload.dtype)
    at = where(x < 0, 0, x.astype(int))
    return zeros.at[at].add(w)


def histogram_bin_edges(a, bins=10, range=None, weights=None) -> Any:
    """Return the edges of equal-width bins."""
    (x,) = C.as_operands("histogram_bin_edges", a, inexact=True)
    if isinstance(bins, str):
        raise NotImplementedError("string values for `bins` not implemented.")
    if C.sizes_of(bins):
        return asarray(bins, x._payload.dtype)
    if range is None:
        low, high = (C.call("min", x), C.call("max", x)) if x.size else (0.0, 1.0)
    else:
        low, high = range
    low, high = asarray(low, x._payload.dtype), asarray(high, x._payload.dtype)
    same = low == high
    low, high = where(same, low - 0.5, low), where(same, high + 0.5, high)
    return C.call("linspace", low, high, int(bins) + 1).astype(x._payload.dtype)


def histogram(a, bins=10, range=None, weights=None, density: bool | None = None) -> Any:
    """Count the elements in each bin, or sum their weights; return the counts and the bin edges."""
    (x,) = C.as_operands("histogram", a, *([] if weights is None else [weights]), inexact=True)[:1]
    edges = histogram_bin_edges(x, bins, range)
    w = asarray(1, x._payload.dtype) if weights is None else asarray(weights, x._payload.dtype)
    flat = x.reshape(-1)
    n = edges.size - 1
    at = searchsorted(edges, flat, "right") - 1
    at = where(flat == edges[-1], n - 1, at)
    at = where((at < 0) | (flat > edges[-1]), n, at)
    counts = asarray(np.zeros(n), x._payload.dtype).at[at].add(w if not w.ndim else w.reshape(-1))
    if density:
        counts = counts / (edges[1:] - edges[:-1]) / C.call("sum", counts)
    return counts, edges


def _of_several(name: str) -> Callable[..., Any]:
    def function(*args, **kwargs) -> Any:
        given = [C.value_of(x, "bins") if isinstance(x, TensorBase) else x for x in args]
        # weights have derivatives, and refuse to lose them
        more = {k: np.asarray(v) if isinstance(v, TensorBase) else v for k, v in kwargs.items()}
        found = getattr(np, name)(*given, **more)
        counted = more.get("weights") is None and not more.get("density")
        counts = asarray(found[0], int if counted else float)
        rest = [
            [asarray(e, float) for e in part]
            if isinstance(part, list | tuple)
            else asarray(part, float)
            for part in found[1:]
        ]
        return (counts, *rest)

    return function


def packbits(a, axis=None, bitorder="big") -> Any:
    """Pack bits into bytes."""
    (x,) = C.operands("packbits", a)
    return C.finished(np.packbits(C.value_of(x, "packbits"), axis, bitorder))


def unpackbits(a, axis=None, count=None, bitorder="big") -> Any:
    """Unpack bytes into bits."""
    (x,) = C.operands("unpackbits", a)
    return C.finished(np.unpackbits(C.value_of(x, "unpackbits"), axis, count, bitorder))


def array_equal(a1, a2, equal_nan=False) -> Any:
    """Return whether two arrays have one shape and equal elements."""
    x, y = asarray(a1), asarray(a2)
    if tuple(x.shape) != tuple(y.shape):
        return made(new_tensor(np.bool_(False)))
    same = x == y
    if equal_nan:
        same = same | ((x != x) & (y != y))
    return C.call("all", same)


def array_equiv(a1, a2) -> Any:
    """Return whether two arrays are equal when broadcast."""
    x, y = asarray(a1), asarray(a2)
    try:
        np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
    except ValueError:
        return made(new_tensor(np.bool_(False)))
    return C.call("all", x == y)


NAMES = C.table(
    globals(),
    made={
        "argpartition": _parted("argpartition"),
        "histogram2d": _of_several("histogram2d"),
        "histogramdd": _of_several("histogramdd"),
        "partition": _parted("partition"),
        "setdiff1d": _set("setdiff1d"),
        "setxor1d": _set("setxor1d"),
        "unique_all": _unique(_UniqueAllResult),
        "unique_counts": _unique(_UniqueCountsResult),
        "unique_inverse": _unique(_UniqueInverseResult),
    },
)
