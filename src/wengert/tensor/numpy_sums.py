"""Layer 6 · tensor: counterparts of NumPy's reductions and scans (see NOTE [counterparts])."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops import arrange, extremes, moments, pointwise, reduce, select, shape
from wengert.tape.base import TensorBase
from wengert.tape.lift import is_number
from wengert.tensor.numpy_common import (
    all_axes,
    as_dtype,
    common,
    counterpart,
    floating,
    late,
    one_axis,
    tensor,
)

__all__ = ["amax", "amin", "prod", "total"]

_UNSET: Any = object()


def _kept(a: Any, where: Any, filler: Any) -> Any:
    """`a` where a mask holds, and `filler` elsewhere."""
    if where is _UNSET or where is True or where is np._NoValue:
        return a
    return select.where(tensor(where), a, filler)


def _small(kind: Any) -> Any:
    """The dtype in which NumPy adds up values of a dtype."""
    if kind.kind == "b" or (kind.kind == "i" and kind.itemsize < 8):
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if kind.kind == "u" and kind.itemsize < 8 else kind


def _given(value: Any) -> bool:
    return value is not _UNSET and value is not np._NoValue


def total(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = _UNSET,
    where: Any = _UNSET,
) -> Any:
    """``numpy.sum``."""
    a = tensor(a)
    a = as_dtype(_kept(a, where, 0), _small(a.payload.dtype) if dtype is None else dtype)
    made = reduce.sum(a, all_axes(axis, a.ndim), keepdim=keepdims is True)
    return made + initial if _given(initial) else made


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = _UNSET,
    where: Any = _UNSET,
) -> Any:
    """``numpy.prod``."""
    a = tensor(a)
    a = as_dtype(_kept(a, where, 1), _small(a.payload.dtype) if dtype is None else dtype)
    for dim in sorted(all_axes(axis, a.ndim), reverse=True):
        a = reduce.prod(a, dim, keepdim=keepdims is True)
    return a * initial if _given(initial) else a


counterpart("sum")(total)
counterpart("prod")(prod)


@counterpart("mean")
def _mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = _UNSET,
) -> Any:
    if not _given(where) or where is True:
        (a,) = floating(a) if dtype is None else (as_dtype(a, dtype),)
        return reduce.mean(a, all_axes(axis, a.ndim), keepdim=keepdims is True)
    count = np.sum(np.broadcast_to(_array(where), tensor(a).shape), axis, keepdims=keepdims is True)
    return total(a, axis, dtype, None, keepdims, where=where) / tensor(count)


def _array(value: Any) -> Any:
    return value.payload if isinstance(value, TensorBase) else np.asarray(value)


def _moment(name: str, ours: Callable[..., Any]) -> None:
    @counterpart(name)
    def moment(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: Any = False,
        *,
        where: Any = _UNSET,
        mean: Any = _UNSET,
        correction: Any = _UNSET,
    ) -> Any:
        if _given(where) and where is not True:
            raise NotImplementedError(f"numpy.{name} of a tensor with where=: index with the mask")
        (a,) = floating(a) if dtype is None else (as_dtype(a, dtype),)
        ddof = correction if _given(correction) else ddof
        return ours(a, all_axes(axis, a.ndim), correction=ddof, keepdim=keepdims is True)


_moment("var", moments.var)
_moment("std", moments.std)


def _extreme(ours: Callable[..., Any], pair: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = _UNSET,
        where: Any = _UNSET,
    ) -> Any:
        a = tensor(a)
        if _given(where) and where is not True:
            if not _given(initial):
                raise ValueError(
                    "reduction operation 'maximum' does not have an identity, so to use a where "
                    "mask one has to specify 'initial'"
                )
            a = select.where(tensor(where), a, initial)
        made = ours(a, all_axes(axis, a.ndim), keepdim=keepdims is True)
        return pair(*common(made, initial)) if _given(initial) else made

    return extreme


amax = counterpart("max", "amax")(_extreme(extremes.amax, pointwise.maximum))
amin = counterpart("min", "amin")(_extreme(extremes.amin, pointwise.minimum))


@counterpart("ptp")
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return amax(a, axis, keepdims=keepdims) - amin(a, axis, keepdims=keepdims)


@counterpart("average")
def _average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: Any = False,
) -> Any:
    (a,) = floating(a)
    if weights is None:
        made = _mean(a, axis, keepdims=keepdims)
        count = a.payload.size / max(made.payload.size, 1)
        return (made, made * 0 + count) if returned else made
    (w,) = floating(weights)
    if w.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        (dim,) = all_axes(axis, a.ndim)
        if tuple(w.shape) != (a.shape[dim],):
            raise ValueError("Shape of weights must be consistent with shape of a along axis.")
        w = shape.reshape(w, (-1, *[1] * (a.ndim - dim - 1)))
    a, w = common(a, w)
    dims = all_axes(axis, a.ndim)
    scale = reduce.sum(w * (a * 0 + 1), dims, keepdim=keepdims is True)
    if not np.all(scale.payload):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    made = reduce.sum(a * w, dims, keepdim=keepdims is True) / scale
    return (made, scale) if returned else made


@counterpart("trace", "linalg.trace")
def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    return total(arrange.diagonal(tensor(a), offset, axis1, axis2), -1, dtype)


@counterpart("cumsum")
def _cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    a, dim = one_axis(a, axis)
    return reduce.cumsum(as_dtype(a, dtype), dim)


@counterpart("cumprod")
def _cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    a, dim = one_axis(a, axis)
    return reduce.cumprod(as_dtype(a, dtype), dim)


def _with_start(name: str, scan: Callable[..., Any], start: float) -> None:
    @counterpart(name)
    def cumulative(
        x: Any,
        /,
        *,
        axis: int | None = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        x = tensor(x)
        if axis is None and x.ndim != 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` is required.")
        made = scan(x, axis or 0, dtype)
        if not include_initial:
            return made
        sizes = list(made.shape)
        sizes[axis or 0] = 1
        first = tensor(np.full(sizes, start, made.payload.dtype))
        return select.where(True, first, first) if not made.ndim else _joined(first, made, axis)


def _joined(first: Any, rest: Any, axis: int | None) -> Any:
    return np.concatenate((first, rest), axis=axis or 0)


_with_start("cumulative_sum", _cumsum, 0)
_with_start("cumulative_prod", _cumprod, 1)


# -- ignoring NaN ----------------------------------------------------------------------------------


def _without_nan(name: str, function: Callable[..., Any], filler: float) -> None:
    @counterpart(name)
    def ignoring(a: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        a = tensor(a)
        return function(select.where(pointwise.isnan(a), filler, a), axis, *args, **kwargs)


_without_nan("nansum", total, 0.0)
_without_nan("nanprod", prod, 1.0)
_without_nan("nancumsum", _cumsum, 0.0)
_without_nan("nancumprod", _cumprod, 1.0)


def _without_nan_extreme(name: str, function: Callable[..., Any], filler: float) -> None:
    @counterpart(name)
    def ignoring(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **kwargs: Any
    ) -> Any:
        a = tensor(a)
        missing = np.isnan(a.payload).all(all_axes(axis, a.ndim), keepdims=keepdims is True)
        made = function(
            select.where(pointwise.isnan(a), filler, a), axis, keepdims=keepdims, **kwargs
        )
        return select.where(tensor(missing), float("nan"), made) if np.any(missing) else made


_without_nan_extreme("nanmax", amax, -np.inf)
_without_nan_extreme("nanmin", amin, np.inf)


@counterpart("nanmean")
def _nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    **kwargs: Any,
) -> Any:
    (a,) = floating(a)
    there = pointwise.logical_not(pointwise.isnan(a))
    dims = all_axes(axis, a.ndim)
    count = reduce.sum(there, dims, keepdim=keepdims is True)
    return total(select.where(there, a, 0.0), axis, dtype, keepdims=keepdims) / count


@counterpart("nanvar")
def _nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = False,
    **kwargs: Any,
) -> Any:
    (a,) = floating(a)
    there = pointwise.logical_not(pointwise.isnan(a))
    dims = all_axes(axis, a.ndim)
    count = reduce.sum(there, dims, keepdim=keepdims is True)
    away = select.where(there, a - _nanmean(a, axis, keepdims=True), 0.0)
    return reduce.sum(pointwise.abs(away) ** 2, dims, keepdim=keepdims is True) / (count - ddof)


@counterpart("nanstd")
def _nanstd(a: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
    return pointwise.sqrt(_nanvar(a, axis, *args, **kwargs))


# -- order statistics ------------------------------------------------------------------------------


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
    ) -> Any:
        if weights is not None:
            raise NotImplementedError(f"numpy.{name} of tensors with weights= is not there")
        if isinstance(axis, tuple | list):
            raise NotImplementedError(f"numpy.{name} of a tensor along several axes: reshape it")
        (a,) = floating(a)
        (q,) = floating(q)
        q = as_dtype(q, a.payload.dtype) / scale if scale != 1 else as_dtype(q, a.payload.dtype)
        ours = late("nanquantile" if ignoring else "quantile")
        return ours(a, q, axis, keepdims is True, interpolation=method)


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
        if isinstance(axis, tuple | list):
            raise NotImplementedError(f"numpy.{name} of a tensor along several axes: reshape it")
        # the mean of the two middle elements, where PyTorch's median takes the lower one
        return late(ours)(a, 0.5, axis, keepdims is True, interpolation="midpoint")


_median("median", "quantile")
_median("nanmedian", "nanquantile")


@counterpart("clip")
def _clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Any:
    low = a_min if min is None or min is np._NoValue else min
    high = a_max if max is None or max is np._NoValue else max
    low, high = (None if v is np._NoValue else v for v in (low, high))
    a = tensor(a)
    if all(v is None or is_number(v) for v in (low, high)):
        return select.clamp(a, low, high)
    a, *bounds = common(a, *[v for v in (low, high) if v is not None])
    low = bounds.pop(0) if low is not None else None
    return select.clamp(a, low, bounds[0] if bounds else None)
