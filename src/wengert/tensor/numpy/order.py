"""Layer 6 · tensor: counterparts of NumPy's functions on order: sorting, quantiles, sets, counts.

See NOTE [counterparts]. The order has no gradient; the gradient flows to the selected elements.
"""

from __future__ import annotations

from collections import namedtuple
from math import prod
from typing import Any

import numpy as np

from wengert.ops import arrange, join, permute, reduce, shape
from wengert.ops.index import index_put
from wengert.tensor.numpy.choice import along, taken
from wengert.tensor.numpy.counterparts import (
    all_axes,
    as_dtype,
    common,
    counterpart,
    floating,
    known,
    late,
    one_axis,
    tensor,
    values,
)

_OF_ELEMENTS = ("lower", "higher", "nearest")
_OURS = frozenset({"linear", "midpoint", *_OF_ELEMENTS})


# -- quantiles -------------------------------------------------------------------------------------


def _merged(a: Any, axis: Any) -> tuple[Any, int | None, tuple[int, ...] | None]:
    """Return `a` with several axes merged into the last, the axis to reduce, and those merged."""
    if axis is None or not isinstance(axis, tuple | list):
        return a, axis, None
    dims = all_axes(axis, a.ndim)
    rest = [n for n in range(a.ndim) if n not in dims]
    moved = permute.permute(a, (*rest, *dims))
    count = prod(a.shape[n] for n in dims)
    return shape.reshape(moved, (*[a.shape[n] for n in rest], count)), -1, dims


def _split(made: Any, dims: tuple[int, ...], leading: int) -> Any:
    """Split the last axis of `made`, of size 1, into an axis of size 1 for each of `dims`."""
    made = shape.squeeze(made, -1)
    for dim in sorted(dims):
        made = shape.unsqueeze(made, dim + leading)
    return made


def _quantile(name: str, scale: float, ignoring: bool) -> None:
    @counterpart(name)
    def quantile(
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
        interpolation: str | None = None,
    ) -> Any:
        method = interpolation or method
        if weights is not None or method not in _OURS:
            raise NotImplementedError(
                f"numpy.{name} of tensors with weights= or method={method!r}: methods "
                f"{', '.join(sorted(_OURS))} are there; sort and interpolate for others"
            )
        kind = tensor(a)._payload.dtype
        (a,) = floating(a)
        q = as_dtype(q, a._payload.dtype)
        at = np.asarray(known(q))
        if not ((at >= 0) & (at <= scale)).all():
            bounds = "[0, 1]" if scale == 1 else "[0, 100]"
            raise ValueError(
                f"{name.removeprefix('nan').capitalize()}s must be in the range {bounds}"
            )
        q = q / scale if scale != 1 else q
        a, axis, dims = _merged(a, axis)
        keep = keepdims is not np._NoValue and bool(keepdims)
        flat = shape.reshape(q, (-1,)) if q.ndim > 1 else q
        ours = late("nanquantile" if ignoring else "quantile")
        made = ours(a, flat, axis, keep, interpolation=method)
        if q.ndim > 1:
            made = shape.reshape(made, (*q.shape, *made.shape[1:]))
        made = as_dtype(made, kind) if kind.kind in "biu" and method in _OF_ELEMENTS else made
        return _split(made, dims, q.ndim) if dims is not None and keep else made

    quantile.__doc__ = f"Compute ``numpy.{name}``."


_quantile("quantile", 1, False)
_quantile("percentile", 100, False)
_quantile("nanquantile", 1, True)
_quantile("nanpercentile", 100, True)


def _median(name: str, ours: str) -> None:
    @counterpart(name)
    def median(
        a: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: bool = False,
        keepdims: Any = False,
    ) -> Any:
        (a,) = floating(a)
        a, axis, dims = _merged(a, axis)
        keep = keepdims is not np._NoValue and bool(keepdims)
        # the mean of the two middle elements, of which PyTorch's median takes the lower one;
        # its midpoint is NaN between infinities
        low, high = (
            late(ours)(a, 0.5, axis, keep, interpolation=one) for one in ("lower", "higher")
        )
        made = (low + high) / 2
        return _split(made, dims, 0) if dims is not None and keep else made


_median("median", "quantile")
_median("nanmedian", "nanquantile")


# -- sorting ---------------------------------------------------------------------------------------


@counterpart("sort")
def _sort(
    a: Any,
    axis: int | None = -1,
    kind: Any = None,
    order: Any = None,
    *,
    descending: bool = False,
    stable: Any = None,
) -> Any:
    a, dim = one_axis(a, axis)
    if a._payload.dtype.kind == "c":
        made = along(a, np.argsort(known(a), axis=dim), dim)
        return arrange.flip(made, (dim,)) if descending else made
    return late("sort")(a, dim=dim, descending=descending, stable=True)[0]


@counterpart("sort_complex")
def _sort_complex(a: Any) -> Any:
    a = tensor(a)
    made = along(a, np.argsort(known(a), axis=-1), -1)
    return as_dtype(made, np.result_type(a._payload.dtype, np.complex64))


@counterpart("partition")
def _partition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> Any:
    a, dim = one_axis(a, axis)
    return along(a, np.argpartition(known(a), values(kth), axis=dim), dim)


# -- sets ------------------------------------------------------------------------------------------


@counterpart("unique")
def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    a, dim = one_axis(ar, axis)
    own = np.asarray(known(tensor(ar)))
    _, first, inverse, counts = np.unique(
        own, return_index=True, return_inverse=True, return_counts=True, axis=axis,
        equal_nan=equal_nan,
    )  # fmt: skip
    made = taken(a, first, dim)
    asked = ((return_index, first), (return_inverse, inverse), (return_counts, counts))
    rest = [tensor(value) for wanted, value in asked if wanted]
    return (made, *rest) if rest else made


UniqueAllResult = namedtuple("UniqueAllResult", "values indices inverse_indices counts")
UniqueCountsResult = namedtuple("UniqueCountsResult", "values counts")
UniqueInverseResult = namedtuple("UniqueInverseResult", "values inverse_indices")


@counterpart("unique_all")
def _unique_all(x: Any, /) -> Any:
    return UniqueAllResult(*_unique(x, True, True, True, equal_nan=False))


@counterpart("unique_counts")
def _unique_counts(x: Any, /) -> Any:
    return UniqueCountsResult(*_unique(x, return_counts=True, equal_nan=False))


@counterpart("unique_inverse")
def _unique_inverse(x: Any, /) -> Any:
    return UniqueInverseResult(*_unique(x, return_inverse=True, equal_nan=False))


@counterpart("unique_values")
def _unique_values(x: Any, /) -> Any:
    return _unique(x, equal_nan=False)


def _flat(*arrays: Any) -> list[Any]:
    return [shape.reshape(a, (-1,)) for a in common(*arrays)]


@counterpart("union1d")
def _union1d(ar1: Any, ar2: Any) -> Any:
    return _unique(join.cat(_flat(ar1, ar2), 0))


@counterpart("setdiff1d")
def _setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    a, b = (shape.reshape(tensor(ar), (-1,)) for ar in (ar1, ar2))
    a = a if assume_unique else _unique(a)
    return taken(a, np.flatnonzero(~np.isin(known(a), known(b))), 0)


@counterpart("intersect1d")
def _intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    a, b = _flat(ar1, ar2)
    _, first, second = np.intersect1d(known(a), known(b), assume_unique, return_indices=True)
    made = taken(a, first, 0)
    return (made, tensor(first), tensor(second)) if return_indices else made


@counterpart("setxor1d")
def _setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    a, b = _flat(ar1, ar2)
    both = join.cat([a, b] if assume_unique else [_unique(a), _unique(b)], 0)
    _, first, counts = np.unique(known(both), return_index=True, return_counts=True)
    return taken(both, first[counts == 1], 0)


# -- counts ----------------------------------------------------------------------------------------


@counterpart("bincount")
def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    at = np.asarray(values(x))
    if weights is None:
        return tensor(np.bincount(at, minlength=minlength))
    (weights,) = floating(weights)
    count = len(np.bincount(at, minlength=minlength))
    return _added(as_dtype(weights, np.float64), at, count)


def _added(weights: Any, at: Any, count: int) -> Any:
    """Return the sum of the weights at each of `count` positions."""
    zeros = tensor(np.zeros(count, weights._payload.dtype))
    return index_put(zeros, (tensor(at.reshape(-1)),), shape.reshape(weights, (-1,)), True)


@counterpart("histogram_bin_edges")
def _histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    a = shape.reshape(tensor(a), (-1,))
    if isinstance(bins, str):
        raise NotImplementedError(
            f"numpy.histogram_bin_edges of a tensor with bins={bins!r}: give a number or the "
            "edges, np.histogram_bin_edges(x.detach(), bins), if they need no gradient"
        )
    if np.ndim(values(bins)):
        return tensor(bins)
    if range is None:
        low, high = (a.min(), a.max()) if a._payload.size else (tensor(0.0), tensor(1.0))
    else:
        low, high = (tensor(float(v) if not hasattr(v, "_payload") else v) for v in range)
    low, high = floating(low, high)
    if float(known(low)) == float(known(high)):
        low, high = low - 0.5, high + 0.5
    at = as_dtype(np.arange(bins + 1) / bins, low._payload.dtype)
    return low * (1 - at) + high * at  # exact at both ends


@counterpart("histogram")
def _histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    a = shape.reshape(tensor(a), (-1,))
    edges = _histogram_bin_edges(a, bins, range)
    found, ends = np.histogram(known(a), values(bins), values(range))
    if weights is None:
        counts = tensor(found)
    else:
        weights = shape.reshape(tensor(weights), (-1,))
        at = np.searchsorted(ends, known(a), side="right") - 1
        at = np.where(known(a) == ends[-1], len(found) - 1, at)
        inside = np.flatnonzero((at >= 0) & (at < len(found)))
        counts = _added(taken(weights, inside, 0), at[inside], len(found))
    if density:
        counts, widths = floating(counts, edges[1:] - edges[:-1])
        counts = counts / widths / reduce.sum(counts)
    return counts, edges
