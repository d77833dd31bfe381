"""Layer 9 · compat: functions of `jax.numpy` that sum up: sums, extremes, moments, scans, ...

Their results are never weakly typed. Sums of small integers are of the default integer type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax.array import Array, asarray, made
from wengert.compat.jax.checks import no_warnings
from wengert.compat.jax.dtypes import canonical_dtype, default_dtype, inexact_of
from wengert.compat.jax.numpy.calling import (
    as_operands,
    call,
    check_arrays,
    checked_dtype,
    documented,
    no_out,
    operands,
    plain,
    value_of,
)
from wengert.compat.kit.namespaces import functions_of
from wengert.ops import reduce as reductions
from wengert.tape.base import TensorBase
from wengert.tape.record import T


def _axis(axis) -> Any:
    """An axis or axes as ints."""
    if axis is None or axis.__class__ is int:
        return axis
    if isinstance(axis, tuple | list):
        return tuple(int(value_of(i, "axis")) for i in axis)
    return int(value_of(axis, "axis"))


def _masked(where, name: str) -> dict[str, Any]:
    """``where=``, if it is given, as a mask."""
    if where is None or where is True:
        return {}
    check_arrays(name, where)
    return {"where": asarray(where, bool)}


def _initial(initial, dtype) -> dict[str, Any]:
    if initial is None:
        return {}
    return {"initial": plain(asarray(initial, dtype))}


def _whole(dtype, promote_integers: bool = True) -> Any:
    """The dtype of sums of numbers of a dtype."""
    if dtype.kind == "b":
        return default_dtype("i")
    if dtype.kind in "iu" and promote_integers and dtype.itemsize < default_dtype("i").itemsize:
        return default_dtype(dtype.kind)
    return dtype


def _sum(name: str) -> Callable[..., Any]:
    def function(
        a,
        axis=None,
        dtype=None,
        out=None,
        keepdims: bool = False,
        initial=None,
        where=None,
        promote_integers: bool = True,
    ) -> Any:
        no_out(name, out)
        if a.__class__ is Array and a.payload.dtype.kind == "f":
            quick = axis is dtype is initial is where is None and not keepdims
            if quick and name == "sum":
                return made(reductions.sum(a))
        (x,) = operands(name, a)
        kind = checked_dtype(dtype, name)
        if kind is None:
            kind = _whole(x.payload.dtype, promote_integers)
        more = _masked(where, name) | _initial(initial, kind)
        return asarray(call(name, x, axis=_axis(axis), dtype=kind, keepdims=keepdims, **more), kind)

    return function


def _nan_sum(name: str) -> Callable[..., Any]:
    plain_name = name.removeprefix("nan")

    def function(
        a, axis=None, dtype=None, out=None, keepdims: bool = False, initial=None, where=None
    ) -> Any:
        no_out(name, out)
        (x,) = operands(name, a)
        if x.payload.dtype.kind in "fc":
            neutral = x.payload.dtype.type(0 if name == "nansum" else 1)
            x = made(T.where(T.isnan(x), plain(asarray(neutral)), x))
        return REDUCTIONS[plain_name](x, axis, dtype, None, keepdims, initial, where)

    return function


def _extreme(name: str) -> Callable[..., Any]:
    def function(a, axis=None, out=None, keepdims: bool = False, initial=None, where=None) -> Any:
        no_out(name, out)
        (x,) = operands(name, a)
        more = _masked(where, name) | _initial(initial, x.payload.dtype)
        if x.payload.dtype.kind == "b" and not more:
            return call("any" if name.endswith("max") else "all", x, _axis(axis), keepdims=keepdims)
        if not x.payload.size and axis is None and initial is None:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        if name.startswith("nan") and x.payload.dtype.kind != "f":
            return call(name.removeprefix("nan"), x, _axis(axis), keepdims=keepdims, **more)
        return call(name, x, _axis(axis), keepdims=keepdims, **more)

    return function


def _truth(name: str) -> Callable[..., Any]:
    def function(a, axis=None, out=None, keepdims: bool = False, *, where=None) -> Any:
        no_out(name, out)
        (x,) = operands(name, a)
        return call(name, x, _axis(axis), keepdims=keepdims, **_masked(where, name))

    return function


def _inexact(name: str, a, dtype) -> Any:
    """The operand of a mean, in the dtype to compute in."""
    (x,) = operands(name, a)
    kind = checked_dtype(dtype, name)
    return asarray(x, inexact_of(x.payload.dtype) if kind is None else kind)


def mean(a, axis=None, dtype=None, out=None, keepdims: bool = False, *, where=None) -> Any:
    """The means along axes."""
    no_out("mean", out)
    of_all = axis is dtype is where is None and not keepdims
    if of_all and a.__class__ is Array and a.payload.dtype.kind == "f" and a.payload.size:
        return made(reductions.mean(a))
    x = _inexact("mean", a, dtype)
    if not x.payload.size and axis is None and where is None:
        return call("sum", x, keepdims=keepdims) * np.nan
    return call("mean", x, _axis(axis), keepdims=keepdims, **_masked(where, "mean"))


def nanmean(a, axis=None, dtype=None, out=None, keepdims: bool = False, where=None) -> Any:
    """The means of what is not NaN."""
    no_out("nanmean", out)
    x = _inexact("nanmean", a, dtype)
    return call("nanmean", x, _axis(axis), keepdims=keepdims, **_masked(where, "nanmean"))


def _spread(name: str) -> Callable[..., Any]:
    def function(
        a,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims: bool = False,
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
            more["mean"] = asarray(mean, x.payload.dtype)
        with no_warnings():
            return call(name, x, _axis(axis), ddof=ddof, keepdims=keepdims, **more)

    return function


def _nan_spread(name: str) -> Callable[..., Any]:
    def function(
        a,
        axis=None,
        dtype=None,
        out=None,
        ddof: int = 0,
        keepdims: bool = False,
        where=None,
        mean=None,
    ) -> Any:
        no_out(name, out)
        if mean is not None:
            raise NotImplementedError(f"jnp.{name} with mean=: write jnp.nanmean of the squares")
        x = _inexact(name, a, dtype)
        more = _masked(where, name)
        return call(name, x, _axis(axis), ddof=ddof, keepdims=keepdims, **more)

    return function


def _place(name: str) -> Callable[..., Any]:
    def function(a, axis=None, out=None, keepdims: bool | None = None) -> Any:
        no_out(name, out)
        (x,) = operands(name, a)
        over = x.payload.size if axis is None else x.payload.shape[axis]
        if not over:
            raise ValueError(f"attempt to get {name} of an empty sequence")
        if name.startswith("nan"):
            return _nan_place(name, x, axis, bool(keepdims))
        more = {"keepdims": True} if keepdims else {}
        return _as_index(call(name, x, _axis(axis), **more))

    return function


def _nan_place(name: str, x, axis, keepdims: bool) -> Any:
    if x.payload.dtype.kind != "f":
        return REDUCTIONS[name.removeprefix("nan")](x, axis, None, keepdims)
    limit = -np.inf if name == "nanargmax" else np.inf
    missing = T.isnan(x)
    filled = made(T.where(missing, plain(asarray(limit, x.payload.dtype)), x))
    places = REDUCTIONS[name.removeprefix("nan")](filled, axis, None, keepdims)
    none = call("all", made(missing), _axis(axis), keepdims=keepdims)
    return made(T.where(none, plain(asarray(-1, places.payload.dtype)), places))


def _as_index(x) -> Any:
    return asarray(x, default_dtype("i"))


def _scan(name: str) -> Callable[..., Any]:
    plain_name = name.removeprefix("nan")

    def function(a, axis=None, dtype=None, out=None) -> Any:
        no_out(name, out)
        (x,) = operands(name, a)
        kind = checked_dtype(dtype, name)
        if kind is None:
            kind = x.payload.dtype if x.payload.dtype.kind != "b" else default_dtype("i")
        if name.startswith("nan") and x.payload.dtype.kind in "fc":
            neutral = x.payload.dtype.type(0 if name == "nancumsum" else 1)
            x = made(T.where(T.isnan(x), plain(asarray(neutral)), x))
        return asarray(call(plain_name, x, _axis(axis), dtype=kind), kind)

    return function


def _scan_with_start(name: str, start: int) -> Callable[..., Any]:
    def function(x, /, *, axis=None, dtype=None, include_initial: bool = False) -> Any:
        (x,) = operands(name, x)
        if not x.ndim:
            raise ValueError(
                f"The input must be non-scalar to take a {name}, however a scalar came"
            )
        kind = checked_dtype(dtype, name)
        if kind is None:
            kind = _whole(x.payload.dtype)
        if axis is None and x.ndim > 1:
            raise ValueError(
                f"The input array has rank {x.ndim}, however axis was not set to an explicit "
                f"value. The axis argument is only optional for one-dimensional arrays."
            )
        at = 0 if axis is None else _axis(axis)
        found = asarray(call("cumsum" if start == 0 else "cumprod", x, at, dtype=kind), kind)
        if not include_initial:
            return found
        sizes = [1 if i == at % x.ndim else n for i, n in enumerate(x.shape)]
        return call("concatenate", [asarray(np.full(sizes, start), kind), found], at)

    return function


def _quantile(name: str) -> Callable[..., Any]:
    def function(
        a,
        q,
        axis=None,
        out=None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights=None,
    ) -> Any:
        no_out(name, out)
        if overwrite_input:
            raise ValueError(f"jax.numpy.{name} does not support overwrite_input=True")
        x, _ = as_operands(name, a, q, inexact=True)
        if isinstance(q, TensorBase) and not isinstance(q.payload, np.ndarray | np.generic):
            raise NotImplementedError(f"jnp.{name} at a q that differs within the batch of a vmap")
        at = value_of(q, "q").astype(x.payload.dtype)
        at = np.clip(at, 0, 100 if "percentile" in name else 1)
        more = {} if weights is None else {"weights": weights}
        return call(name, x, at, _axis(axis), method=method, keepdims=keepdims, **more)

    return function


def _median(name: str) -> Callable[..., Any]:
    def function(
        a, axis=None, out=None, overwrite_input: bool = False, keepdims: bool = False
    ) -> Any:
        no_out(name, out)
        quantile = REDUCTIONS["quantile" if name == "median" else "nanquantile"]
        return quantile(a, 0.5, axis, None, overwrite_input, "midpoint", keepdims)

    return function


def ptp(a, axis=None, out=None, keepdims: bool = False) -> Any:
    """The greatest less the least."""
    no_out("ptp", out)
    (x,) = operands("ptp", a)
    return call("ptp", x, _axis(axis), keepdims=keepdims)


def count_nonzero(a, axis=None, keepdims: bool = False) -> Any:
    """How many elements are not 0."""
    (x,) = operands("count_nonzero", a)
    there = made(T.ne(x, 0))
    return REDUCTIONS["sum"](there, axis, default_dtype("i"), None, keepdims)


def average(a, axis=None, weights=None, returned: bool = False, keepdims: bool = False) -> Any:
    """The weighted means."""
    if weights is None:
        (x,) = as_operands("average", a, inexact=True)
        found = mean(x, axis, keepdims=keepdims)
        if not returned:
            return found
        count = x.payload.size / max(found.payload.size, 1)
        return found, call("full_like", found, count)
    x, w = as_operands("average", a, weights, inexact=True)
    if x.shape != w.shape:
        if axis is None:
            raise ValueError("Axis must be specified when shapes of a and weights differ.")
        if w.ndim != 1:
            raise ValueError("1D weights expected when shapes of a and weights differ.")
        if w.shape[0] != x.shape[axis]:
            raise ValueError("Length of weights not compatible with specified axis.")
        w = w.reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
        w = call("broadcast_to", w, tuple(x.shape))
    added = REDUCTIONS["sum"](w, axis, keepdims=keepdims)
    found = REDUCTIONS["sum"](x * w, axis, keepdims=keepdims) / added
    return (found, added) if returned else found


def trace(a, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None, out=None) -> Any:
    """The sums along diagonals."""
    no_out("trace", out)
    (x,) = operands("trace", a)
    kind = checked_dtype(dtype, "trace")
    kind = kind or _whole(x.payload.dtype)
    return asarray(call("trace", x, offset, axis1, axis2, kind), kind)


def apply_over_axes(func, a, axes) -> Any:
    """A function of an array and an axis, over several axes in turn."""
    (x,) = operands("apply_over_axes", a)
    for axis in np.atleast_1d(axes).tolist():
        result = func(x, axis)
        x = result if result.ndim == x.ndim else call("expand_dims", result, axis)
    return x


def cov(
    m,
    y=None,
    rowvar: bool = True,
    bias: bool = False,
    ddof=None,
    fweights=None,
    aweights=None,
    dtype=None,
) -> Any:
    """Covariances of variables."""
    x = as_operands("cov", m, *([] if y is None else [y]), inexact=True)
    weights = {"fweights": fweights, "aweights": aweights}
    more = {key: asarray(w) for key, w in weights.items() if w is not None}
    return call("cov", *x, rowvar=rowvar, bias=bias, ddof=ddof, **more)


def corrcoef(x, y=None, rowvar: bool = True, dtype=None) -> Any:
    """Coefficients of correlation."""
    given = as_operands("corrcoef", x, *([] if y is None else [y]), inexact=True)
    return call("corrcoef", *given, rowvar=rowvar)


def _result_of_sizes(name: str) -> Callable[..., Any]:
    def function(a, *args, **kwargs) -> Any:
        check_arrays(name, a)
        return getattr(np, name)(np.broadcast_to(0, asarray(a).payload.shape), *args, **kwargs)

    return function


def iscomplexobj(x) -> bool:
    """Whether the dtype is complex."""
    dtype = getattr(x, "dtype", None)
    return canonical_dtype(np.result_type(x) if dtype is None else dtype).kind == "c"


REDUCTIONS: dict[str, Callable[..., Any]] = {
    **functions_of(globals()),
    **{name: _sum(name) for name in ("sum", "prod")},
    **{name: _nan_sum(name) for name in ("nansum", "nanprod")},
    **{name: _extreme(name) for name in ("max", "min", "amax", "amin", "nanmax", "nanmin")},
    **{name: _truth(name) for name in ("all", "any")},
    **{name: _spread(name) for name in ("var", "std")},
    **{name: _nan_spread(name) for name in ("nanvar", "nanstd")},
    **{name: _place(name) for name in ("argmax", "argmin", "nanargmax", "nanargmin")},
    **{name: _scan(name) for name in ("cumsum", "cumprod", "nancumsum", "nancumprod")},
    "cumulative_sum": _scan_with_start("cumulative_sum", 0),
    "cumulative_prod": _scan_with_start("cumulative_prod", 1),
    **{name: _quantile(name) for name in ("quantile", "percentile")},
    **{name: _quantile(name) for name in ("nanquantile", "nanpercentile")},
    **{name: _median(name) for name in ("median", "nanmedian")},
    **{name: _result_of_sizes(name) for name in ("ndim", "shape", "size")},
    "isrealobj": lambda x: not iscomplexobj(x),
}
for _name, _function in REDUCTIONS.items():
    documented(_function, _name)
