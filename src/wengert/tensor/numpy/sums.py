"""Layer 6 · tensor: counterparts of NumPy's reductions and scans (see NOTE [counterparts])."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.interp.levels import is_plain
from wengert.ops import arrange, expand, extremes, join, moments, pointwise, select, shape
from wengert.ops import reduce as reductions
from wengert.tape.record import T
from wengert.tensor.numpy.counterparts import (
    all_axes,
    as_dtype,
    common,
    counterpart,
    dtype_of,
    floating,
    is_weak,
    known,
    late,
    one_axis,
    tensor,
)

_NONE = np._NoValue


def given(value: Any) -> bool:
    """Return whether an argument has been passed."""
    return value is not _NONE and value is not None


def _masks(where: Any) -> bool:
    return given(where) and where is not True


def _kept(a: Any, where: Any, filler: Any) -> Any:
    """Return `a` where a mask holds, and `filler` elsewhere."""
    return select.where(tensor(where), a, filler) if _masks(where) else a


def wide(kind: Any) -> Any:
    """Return the dtype in which NumPy accumulates values of a dtype."""
    if kind.kind == "b" or (kind.kind == "i" and kind.itemsize < 8):
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if kind.kind == "u" and kind.itemsize < 8 else kind


def over(function: Callable[..., Any], a: Any, axis: Any, keepdims: Any, **more: Any) -> Any:
    """Apply one of our reductions with NumPy's ``axis`` and ``keepdims``."""
    dims = _dims(axis, a.ndim)
    if not dims and a.ndim:
        # our functions treat an empty tuple of dimensions as all of them
        flat = shape.unsqueeze(a, 0)
        return function(flat, (0,), keepdim=False, **more)
    return function(a, dims, keepdim=given(keepdims) and bool(keepdims), **more)


def _dims(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return `all_axes`; NumPy's reductions accept axes 0 and -1 for a number."""
    return () if not ndim and axis in (0, -1, (0,), (-1,)) else all_axes(axis, ndim)


def total(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = _NONE,
    where: Any = True,
) -> Any:
    """Compute ``numpy.sum``."""
    a = tensor(a)
    a = as_dtype(_kept(a, where, 0), wide(a._payload.dtype) if dtype is None else dtype)
    made = over(reductions.sum, a, axis, keepdims, dtype=kept_by(a._payload.dtype))
    return made + as_dtype(initial, made._payload.dtype) if given(initial) else made


def kept_by(kind: Any) -> Any:
    """Return `kind` if it is an integer dtype that our own sums would widen, else None."""
    return kind if kind.kind in "iu" and kind != np.int64 else None


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = _NONE,
    where: Any = True,
) -> Any:
    """Compute ``numpy.prod``."""
    a = tensor(a)
    a = as_dtype(_kept(a, where, 1), wide(a._payload.dtype) if dtype is None else dtype)
    kind, keep, dims = a._payload.dtype, given(keepdims) and bool(keepdims), _dims(axis, a.ndim)
    if axis is None and not keep:
        a = reductions.prod(a, dtype=kept_by(kind))
    elif dims:
        # all at once: the product of some may overflow where that of all does not
        a = as_dtype(T.prod_dim(a, dim=dims, keepdim=keep), kind)
    return a * as_dtype(initial, a._payload.dtype) if given(initial) else a


counterpart("sum")(total)
counterpart("prod")(prod)


def _truth(name: str, ours: Callable[..., Any], filler: bool) -> Callable[..., Any]:
    @counterpart(name)
    def truth(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
    ) -> Any:
        return over(ours, _kept(pointwise.ne(tensor(a), 0), where, filler), axis, keepdims)

    return truth


every = _truth("all", reductions.all, True)
some = _truth("any", reductions.any, False)


def _count(a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """Return the number of elements to average; a tensor if a mask selects them."""
    if _masks(where):
        there = expand.broadcast_to(tensor(where), tuple(a.shape))
        return over(reductions.sum, as_dtype(there, a._payload.dtype), axis, keepdims)
    sizes = a._payload.shape
    count = 1
    for dim in all_axes(axis, a.ndim):
        count *= sizes[dim]
    return count


def _inexact(a: Any, dtype: Any) -> Any:
    """Return `a` in the inexact dtype in which to average it."""
    (a,) = floating(a)
    if dtype is None:
        return a
    if dtype_of(dtype).kind not in ("c" if a._payload.dtype.kind == "c" else "fc"):
        raise TypeError(
            f"averages of tensors of {a.dtype} with dtype={dtype!r}: expected a floating point or "
            "complex dtype that holds them; convert the input or the result with .to(dtype)"
        )
    return as_dtype(a, dtype)


@counterpart("mean")
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """Compute ``numpy.mean``."""
    a = _inexact(a, dtype)
    if _masks(where):
        return total(a, axis, None, None, keepdims, where=where) / _count(a, axis, keepdims, where)
    return over(reductions.mean, a, axis, keepdims)


@counterpart("var")
def variance(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = _NONE,
    correction: Any = _NONE,
) -> Any:
    """Compute ``numpy.var``."""
    ddof = correction if given(correction) else ddof
    a = _inexact(a, dtype)
    if not _masks(where) and not given(mean):
        return over(moments.var, a, axis, keepdims, correction=ddof)
    centre = tensor(mean) if given(mean) else _mean(a, axis, keepdims=True, where=where)
    away = pointwise.abs(a - centre)
    added = total(pointwise.square(away), axis, None, None, keepdims, where=where)
    return added / select.clamp(tensor(_count(away, axis, keepdims, where) - ddof), 0)


_mean = mean


def _deviation(spread: Any) -> Any:
    """Return the root of a variance, with derivative 0 where it is 0, as that of `std` is."""
    zero = spread == 0
    return select.where(zero, 0, pointwise.sqrt(select.where(zero, 1, spread)))


@counterpart("std")
def _std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, **kwargs: Any) -> Any:
    where, centre = kwargs.get("where", True), kwargs.get("mean", _NONE)
    if _masks(where) or given(centre):
        return _deviation(variance(a, axis, dtype, **kwargs))
    ddof = kwargs.pop("correction", _NONE)
    ddof = ddof if given(ddof) else kwargs.get("ddof", 0)
    a = _inexact(a, dtype)
    return over(moments.std, a, axis, kwargs.get("keepdims", False), correction=ddof)


def _complex_extreme(ufunc: np.ufunc, a: Any, axis: Any, keepdims: Any) -> Any:
    """Return the extreme of complex numbers in NumPy's order: by real part, then imaginary."""
    dims = _dims(axis, a.ndim)
    own = np.asarray(known(a))
    best = ufunc.reduce(own, axis=dims, keepdims=True)
    there = (own == best) | (np.isnan(own) & np.isnan(best))
    made = over(reductions.sum, select.where(tensor(there), a, 0), axis, keepdims)
    count = there.sum(dims, keepdims=given(keepdims) and bool(keepdims))
    return made if (count == 1).all() else made / tensor(count)


def _extreme(ours: Callable[..., Any], pair: Callable[..., Any], ufunc: str) -> Callable[..., Any]:
    def extreme(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = _NONE,
        where: Any = True,
    ) -> Any:
        a = tensor(a)
        if _masks(where):
            if not given(initial):
                raise ValueError(
                    f"reduction operation '{ufunc}' does not have an identity, so to use a where "
                    "mask one has to specify 'initial'"
                )
            a = select.where(tensor(where), a, as_dtype(initial, a._payload.dtype))
        dims = _dims(axis, a.ndim)
        if not a._payload.size and any(not a.shape[dim] for dim in dims):
            keep = given(keepdims) and bool(keepdims)
            empty = np.sum(np.empty(a._payload.shape), axis=dims, keepdims=keep)
            if not given(initial):
                if empty.size:
                    raise ValueError(
                        f"zero-size array to reduction operation {ufunc} which has no identity"
                    )
                return tensor(np.empty(empty.shape, a._payload.dtype))
            return expand.broadcast_to(as_dtype(initial, a._payload.dtype), np.shape(empty))
        if a._payload.dtype.kind == "c":
            made = _complex_extreme(getattr(np, ufunc), a, axis, keepdims)
        else:
            made = over(ours, a, axis, keepdims)
        return pair(made, as_dtype(initial, made._payload.dtype)) if given(initial) else made

    return extreme


amax = counterpart("max", "amax")(_extreme(extremes.amax, pointwise.maximum, "maximum"))
amin = counterpart("min", "amin")(_extreme(extremes.amin, pointwise.minimum, "minimum"))


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
        made = mean(a, axis, keepdims=keepdims)
        count = a._payload.size / max(made._payload.size, 1)
        return (made, made * 0 + count) if returned else made
    (w,) = floating(weights)
    if w.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        dims = all_axes(axis, a.ndim)
        if tuple(w.shape) != tuple(a.shape[dim] for dim in dims):
            raise ValueError("Shape of weights must be consistent with shape of a along axis.")
        order = np.argsort(dims).tolist()
        w = shape.reshape(
            w.permute(order), tuple(n if i in dims else 1 for i, n in enumerate(a.shape))
        )
    a, w = common(a, w)
    scale = total(expand.broadcast_to(w, tuple(a.shape)), axis, keepdims=keepdims)
    weighed = known(scale)
    # under `vmap` the check is skipped, since each element has its own weights
    if is_plain(weighed) and not np.all(weighed):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    made = total(a * w, axis, keepdims=keepdims) / scale
    return (made, scale) if returned else made


@counterpart("trace")
def _trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    return total(arrange.diagonal(tensor(a), offset, axis1, axis2), -1, dtype)


def _scan(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    @counterpart(name)
    def scan(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        a, dim = one_axis(a, axis)
        kind = wide(a._payload.dtype) if dtype is None else dtype_of(dtype)
        return ours(as_dtype(a, kind), dim, dtype=kept_by(kind))

    return scan


_cumsum = _scan("cumsum", reductions.cumsum)
_cumprod = _scan("cumprod", reductions.cumprod)


def _with_start(name: str, scan: Callable[..., Any], start: int) -> None:
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
        x = x if x.ndim else x.reshape(1)
        if axis is None and x.ndim != 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` is required.")
        made = scan(x, axis or 0, dtype)
        if not include_initial:
            return made
        _, dim = one_axis(made, axis or 0)
        sizes = tuple(1 if i == dim else n for i, n in enumerate(made.shape))
        return join.cat([tensor(np.full(sizes, start, made._payload.dtype)), made], dim)


_with_start("cumulative_sum", _cumsum, 0)
_with_start("cumulative_prod", _cumprod, 1)


# -- ignoring NaN ----------------------------------------------------------------------------------


def _without_nan(name: str, function: Callable[..., Any], filler: int) -> None:
    @counterpart(name)
    def ignoring(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        a = tensor(a)
        if a._payload.dtype.kind in "fcV":
            a = select.where(pointwise.isnan(a), filler, a)
        return function(a, axis, dtype, None, *args, **kwargs)


_without_nan("nansum", total, 0)
_without_nan("nanprod", prod, 1)
_without_nan("nancumsum", _cumsum, 0)
_without_nan("nancumprod", _cumprod, 1)


def _without_nan_extreme(name: str, function: Callable[..., Any], filler: float) -> None:
    @counterpart(name)
    def ignoring(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **kwargs: Any
    ) -> Any:
        a = tensor(a)
        if a._payload.dtype.kind not in "fcV":
            return function(a, axis, None, keepdims, **kwargs)
        bad = pointwise.isnan(a)
        made = function(select.where(bad, filler, a), axis, keepdims=keepdims, **kwargs)
        if given(kwargs.get("initial", _NONE)):
            return made
        return select.where(over(reductions.all, bad, axis, keepdims), float("nan"), made)


_without_nan_extreme("nanmax", amax, -np.inf)
_without_nan_extreme("nanmin", amin, np.inf)


def _there(a: Any, where: Any) -> Any:
    """Return a mask of the elements that are neither NaN nor masked."""
    there = pointwise.logical_not(pointwise.isnan(tensor(a)))
    return pointwise.logical_and(there, tensor(where)) if _masks(where) else there


@counterpart("nanmean")
def _nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    return mean(a, axis, dtype, None, keepdims, where=_there(a, where))


@counterpart("nanvar")
def _nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = _NONE,
    correction: Any = _NONE,
) -> Any:
    (a,) = floating(a)
    there = _there(a, where)
    # replace NaN before the subtraction: the difference would hide NaN in the gradient
    a = select.where(there, a, 0)
    ddof = correction if given(correction) else ddof
    made = variance(a, axis, dtype, None, ddof, keepdims, where=there, mean=mean)
    return select.where(over(reductions.sum, there, axis, keepdims) <= ddof, float("nan"), made)


@counterpart("nanstd")
def _nanstd(a: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
    return _deviation(_nanvar(a, axis, *args, **kwargs))


@counterpart("clip")
def _clip(
    a: Any,
    a_min: Any = _NONE,
    a_max: Any = _NONE,
    out: Any = None,
    *,
    min: Any = _NONE,
    max: Any = _NONE,
    **kwargs: Any,
) -> Any:
    low = a_min if min is _NONE else min
    high = a_max if max is _NONE else max
    low, high = (None if v is _NONE else v for v in (low, high))
    a = tensor(a)
    if low is None and high is None:
        return late("positive")(a) if a._payload.dtype.kind != "b" else a
    if a._payload.dtype.kind == "f" and all(v is None or is_weak(v) for v in (low, high)):
        return select.clamp(a, low, high)
    a, *bounds = common(a, *[v for v in (low, high) if v is not None])
    low = bounds.pop(0) if low is not None else None
    return select.clamp(a, low, bounds[0] if bounds else None)
