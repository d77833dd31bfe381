"""Layer 9 · compat: reductions and scans of `jax.numpy`: sums, extremes, moments, ...

Their results are never weakly typed. Sums of small integers are of the default integer type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax.array import Array, asarray, made
from wengert.compat.jax.checks import axis_in
from wengert.compat.jax.classes import KINDS
from wengert.compat.jax.dtypes import (
    default_dtype,
    inexact_of,
    issubdtype,
    total_dtype,
)
from wengert.compat.jax.numpy import calling as C
from wengert.compat.jax.numpy.calling import no_out
from wengert.compat.jax.numpy.choosing import take_along_axis
from wengert.compat.jax.words import refusal
from wengert.compat.kit.rows import of_rows
from wengert.ops import reduce as reductions
from wengert.tape.base import TensorBase
from wengert.tape.record import T


def _masked(where, name: str) -> dict[str, Any]:
    """Return the ``where=`` argument as a mask, if given."""
    return {} if where is None or where is True else {"where": C.mask(name, where)}


def _initial(initial, dtype) -> dict[str, Any]:
    return {} if initial is None else {"initial": C.plain(asarray(initial, dtype))}


def _without_nan(x, neutral: float) -> Any:
    if x._payload.dtype.kind not in "fcV":
        return x
    return made(T.where(T.isnan(x), C.plain(asarray(neutral, x._payload.dtype)), x))


def _sum(name: str) -> Callable[..., Any]:
    def function(
        a,
        axis=None,
        dtype=None,
        out=None,
        keepdims=False,
        initial=None,
        where=None,
        promote_integers=True,
    ) -> Any:
        no_out(name, out)
        if a.__class__ is Array and a._payload.dtype.kind == "f":
            quick = axis is dtype is initial is where is None and not keepdims
            if quick and name == "sum":
                return made(reductions.sum(a))
        (x,) = C.operands(name, a)
        kind = C.checked_dtype(dtype, name)
        if kind is None:
            kind = total_dtype(x._payload.dtype, promote_integers)
        more = _masked(where, name) | _initial(initial, kind)
        if dtype is not None:
            x = asarray(x, kind)
        return asarray(
            C.call(name, x, axis=C.axes_of(name, axis), dtype=kind, keepdims=keepdims, **more), kind
        )

    return function


def _nan_sum(name: str) -> Callable[..., Any]:
    plain_name = name.removeprefix("nan")

    def function(
        a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None
    ) -> Any:
        no_out(name, out)
        (x,) = C.operands(name, a)
        x = _without_nan(x, name == "nanprod")
        return NAMES[plain_name](x, axis, dtype, None, keepdims, initial, where)

    return function


def _extreme(name: str) -> Callable[..., Any]:
    def function(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Any:
        no_out(name, out)
        (x,) = C.operands(name, a)
        axis = C.axes_of(name, axis)
        more = _masked(where, name) | _initial(initial, x._payload.dtype)
        if x._payload.dtype.kind == "b" and not more:
            return C.call("any" if name.endswith("max") else "all", x, axis, keepdims=keepdims)
        if not x._payload.size and axis is None and initial is None:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        numpys = name if x._payload.dtype.kind in "fcV" else name.removeprefix("nan")
        return C.call(numpys, x, axis, keepdims=keepdims, **more)

    return function


def _inexact(name: str, a, dtype) -> Any:
    """Return the operand of a mean, in the dtype to compute in."""
    (x,) = C.operands(name, a)
    kind = C.checked_dtype(dtype, name)
    return asarray(x, inexact_of(x._payload.dtype) if kind is None else kind)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None) -> Any:
    """Return means along axes."""
    no_out("mean", out)
    of_all = axis is dtype is where is None and not keepdims
    if of_all and a.__class__ is Array and a._payload.dtype.kind == "f" and a._payload.size:
        return made(reductions.mean(a))
    x = _inexact("mean", a, dtype)
    if not x._payload.size and axis is None and where is None:
        return C.call("sum", x, keepdims=keepdims) * np.nan
    found = C.call("mean", x, C.axes_of("mean", axis), keepdims=keepdims, **_masked(where, "mean"))
    return found if dtype is None else asarray(found, C.checked_dtype(dtype, "mean"))


def _spread(name: str) -> Callable[..., Any]:
    def function(
        a,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims=False,
        *,
        where=None,
        mean=None,
        correction=None,
    ) -> Any:
        no_out(name, out)
        if correction is not None:
            if ddof != 0:
                raise ValueError("ddof and correction can't be provided simultaneously.")
            ddof = correction
        x = _inexact(name, a, dtype)
        more = _masked(where, name)
        if mean is not None:
            more["mean"] = asarray(mean, x._payload.dtype)
        return C.call(name, x, C.axes_of(name, axis), ddof=ddof, keepdims=keepdims, **more)

    return function


def _place(name: str) -> Callable[..., Any]:
    def function(a, axis=None, out=None, keepdims: bool | None = None) -> Any:
        no_out(name, out)
        (x,) = C.operands(name, a)
        over = x._payload.size if axis is None else x._payload.shape[axis]
        if not over:
            raise ValueError(f"attempt to get {name} of an empty sequence")
        if name.startswith("nan"):
            return _nan_place(name, x, axis, bool(keepdims))
        more = {"keepdims": True} if keepdims else {}
        return asarray(C.call(name, x, C.axes_of(name, axis), **more), default_dtype("i"))

    return function


def _nan_place(name: str, x, axis, keepdims: bool) -> Any:
    if x._payload.dtype.kind not in "fV":
        return NAMES[name.removeprefix("nan")](x, axis, None, keepdims)
    filled = _without_nan(x, -np.inf if name == "nanargmax" else np.inf)
    places = NAMES[name.removeprefix("nan")](filled, axis, None, keepdims)
    none = C.call("all", made(T.isnan(x)), C.axes_of(name, axis), keepdims=keepdims)
    return made(T.where(none, C.plain(asarray(-1, places._payload.dtype)), places))


def _scan(name: str) -> Callable[..., Any]:
    plain_name = name.removeprefix("nan")

    def function(a, axis=None, dtype=None, out=None) -> Any:
        no_out(name, out)
        (x,) = C.operands(name, a)
        kind = C.checked_dtype(dtype, name)
        if kind is None:
            kind = x._payload.dtype if x._payload.dtype.kind != "b" else default_dtype("i")
        if name.startswith("nan"):
            x = _without_nan(x, name == "nancumprod")
        return C.call(plain_name, asarray(x, kind), C.axes_of(name, axis), dtype=kind)

    return function


def _scan_with_start(name: str, start: int) -> Callable[..., Any]:
    def function(x, /, *, axis=None, dtype=None, include_initial=False) -> Any:
        (x,) = C.operands(name, x)
        if not x.ndim:
            raise refusal(ValueError, "The input must be non-scalar", name)
        kind = C.checked_dtype(dtype, name)
        if kind is None:
            kind = total_dtype(x._payload.dtype, promote_integers=start == 0)
        if axis is None and x.ndim > 1:
            raise refusal(ValueError, "The input array has rank", x)
        at = 0 if axis is None else C.axes_of(name, axis)
        found = asarray(C.call("cumsum" if start == 0 else "cumprod", x, at, dtype=kind), kind)
        if not include_initial:
            return found
        sizes = [1 if i == axis_in(at, x.ndim) else n for i, n in enumerate(x.shape)]
        return C.call("concatenate", [asarray(np.full(sizes, start), kind), found], at)

    return function


def _quantile(name: str) -> Callable[..., Any]:
    def function(
        a,
        q,
        axis=None,
        out=None,
        overwrite_input=False,
        method="linear",
        keepdims=False,
        *,
        weights=None,
    ) -> Any:
        no_out(name, out)
        if overwrite_input:
            raise ValueError(f"jax.numpy.{name} does not support overwrite_input=True")
        (x,) = C.as_operands(name, a, inexact=True)
        x, _ = C.as_operands(name, x, q, inexact=True)
        known = not isinstance(q, TensorBase) or (
            q._edge is None and isinstance(q._payload, np.ndarray | np.generic)
        )
        at = C.value_of(q, "q") if known else asarray(q)
        at = at.astype(x._payload.dtype).clip(0, 100 if "percentile" in name else 1)
        axis = C.axes_of(name, axis)
        if weights is None and method not in _METHODS:
            raise refusal(ValueError, "method can only be 'linear'")
        if weights is not None and method != "inverted_cdf":
            raise refusal(NotImplementedError, "{} doesn't support weights", method)
        shares = (at / 100).astype(at.dtype) if "percentile" in name else at
        rule = None if weights is not None else _METHODS[method]
        ignoring = name.startswith("nan")
        if rule is not None and known and not ignoring and x.size and x.dtype.char in "fd":
            return _ranked(name, x, at, shares, axis, keepdims, rule)
        return _picked(x, shares, axis, keepdims, weights, rule, ignoring)

    return function


_METHODS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "linear": lambda below, above, part: below * (1 - part) + above * part,
    "lower": lambda below, above, part: below,
    "higher": lambda below, above, part: above,
    "midpoint": lambda below, above, part: (below + above) / 2,
    "nearest": lambda below, above, part: C.call("where", part <= 0.5, below, above),
}
"""Quantiles as functions of the elements below and above, and of the part of the way up."""


def _ranked(name: str, x, at, shares, axis, keepdims: bool, rule: Any) -> Any:
    """Return quantiles of single and double precision, without sorting all elements."""
    sizes = x.shape if axis is None else [x.shape[i] for i in np.atleast_1d(axis)]
    spot = shares * shares.dtype.type(math.prod(sizes) - 1)
    below, above = (
        C.call(name, x, at, axis, method=method, keepdims=keepdims)
        for method in ("lower", "higher")
    )
    part = (spot - np.floor(spot)).reshape((*at.shape, *[1] * (below.ndim - at.ndim)))
    return rule(below, above, part)


def _picked(x, at, axis, keepdims: bool, weights, rule: Any, ignoring: bool) -> Any:
    """Return quantiles of the elements in order, by `rule`, or those that weights choose."""
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(axis_in(i, x.ndim) for i in axes)

    def lines(part) -> Any:
        moved = C.call("moveaxis", part, axes, tuple(range(-len(axes), 0)))
        rest = moved.shape[: x.ndim - len(axes)]
        return moved.reshape((*rest, math.prod(x.shape[i] for i in axes)))

    rows = lines(x)
    order = C.call("argsort", rows, -1)
    rows = take_along_axis(rows, order, -1)
    there, q = made(T.logical_not(T.isnan(rows))), asarray(at.reshape(-1))

    def element(places) -> Any:
        inside = C.call("clip", places, 0, max(rows.shape[-1] - 1, 0))
        return take_along_axis(rows, asarray(inside, int), -1)

    if weights is None:
        spot = q * (there.sum(-1, keepdims=True) - 1).astype(x.dtype)
        floor = C.call("floor", spot)
        found = rule(element(floor), element(C.call("ceil", spot)), spot - floor)
    else:
        wide = asarray(weights)
        if wide.ndim < x.ndim:
            wide = wide.reshape([-1 if i == axes[0] else 1 for i in range(x.ndim)])
        wide = lines(C.call("broadcast_to", wide, tuple(x.shape)))
        sums = (take_along_axis(wide, order, -1) * there).cumsum(-1)
        found = element((sums[..., None, :] < q[:, None] * sums[..., -1:, None]).sum(-1))
    if not ignoring:
        nan = asarray(np.nan, found.dtype)
        found = C.call("where", there.all(-1, keepdims=True), found, nan)
    found = C.call("moveaxis", found, -1, 0)
    sizes = [1 if i in axes else n for i, n in enumerate(x.shape)] if keepdims else found.shape[1:]
    return found.reshape((*at.shape, *sizes))


def _median(name: str) -> Callable[..., Any]:
    def function(a, axis=None, out=None, overwrite_input=False, keepdims=False) -> Any:
        no_out(name, out)
        quantile = NAMES["quantile" if name == "median" else "nanquantile"]
        return quantile(a, 0.5, axis, None, overwrite_input, "midpoint", keepdims)

    return function


def count_nonzero(a, axis=None, keepdims=False) -> Any:
    """Count the elements that are not 0."""
    (x,) = C.operands("count_nonzero", a)
    there = made(T.ne(x, 0))
    return NAMES["sum"](there, axis, default_dtype("i"), None, keepdims)


def apply_over_axes(func, a, axes) -> Any:
    """Apply a function of an array and an axis over several axes in turn."""
    (x,) = C.operands("apply_over_axes", a)
    for axis in np.atleast_1d(axes).tolist():
        result = func(x, axis)
        x = result if result.ndim == x.ndim else C.call("expand_dims", result, axis)
    return x


def _result_of_sizes(name: str) -> Callable[..., Any]:
    def function(a, *args, **kwargs) -> Any:
        if not isinstance(a, tuple(KINDS)):  # typed keys have a shape, too
            C.check_arrays(name, a)
            a = asarray(a)
        return getattr(np, name)(np.broadcast_to(0, C.sizes_of(a)), *args, **kwargs)

    return function


def iscomplexobj(x) -> bool:
    """Return whether the dtype is complex."""
    return issubdtype((x if hasattr(x, "dtype") else asarray(x)).dtype, np.complexfloating)


of_rows(
    globals(),
    C.of_row,
    """
    all | a, axis=None, out=None, keepdims=False, *, where=None | own
        | Return whether all elements are true.
    any | a, axis=None, out=None, keepdims=False, *, where=None | own
        | Return whether any element is true.
    average | a, axis=None, weights=None, returned=False, keepdims=False | inexact weights
        | Return weighted means.
    corrcoef | x, y=None, rowvar=True, dtype=None | inexact y | Return correlation coefficients.
    cov
        | m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None
        | inexact y | Return the covariances of variables.
    nanmean | a, axis=None, dtype=None, out=None, keepdims=False, where=None | inexact
        | Return the means of elements that are not NaN.
    nanstd | a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None
        | inexact mean | Return the standard deviations of elements that are not NaN.
    nanvar | a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None
        | inexact mean | Return the variances of elements that are not NaN.
    ptp | a, axis=None, out=None, keepdims=False | own | Return the maximum minus the minimum.
    trace | a, offset=0, axis1=0, axis2=1, dtype=None, out=None | own
        | Return the sums along diagonals.
    """,
)
NAMES = C.table(
    globals(),
    made={
        **{name: _sum(name) for name in ("sum", "prod")},
        **{name: _nan_sum(name) for name in ("nansum", "nanprod")},
        **{name: _extreme(name) for name in ("max", "min", "amax", "amin", "nanmax", "nanmin")},
        **{name: _spread(name) for name in ("var", "std")},
        **{name: _place(name) for name in ("argmax", "argmin", "nanargmax", "nanargmin")},
        **{name: _scan(name) for name in ("cumsum", "cumprod", "nancumsum", "nancumprod")},
        "cumulative_sum": _scan_with_start("cumulative_sum", 0),
        "cumulative_prod": _scan_with_start("cumulative_prod", 1),
        **{name: _quantile(name) for name in ("quantile", "percentile")},
        **{name: _quantile(name) for name in ("nanquantile", "nanpercentile")},
        **{name: _median(name) for name in ("median", "nanmedian")},
        **{name: _result_of_sizes(name) for name in ("ndim", "shape", "size")},
        "isrealobj": lambda x: not iscomplexobj(x),
    },
)
