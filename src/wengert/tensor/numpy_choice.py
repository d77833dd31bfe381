"""Layer 6 · tensor: counterparts of NumPy's functions that choose, order and fill.

See NOTE [counterparts].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops import expand, join, permute, pointwise, select, shape
from wengert.tensor.numpy_common import (
    as_dtype,
    common,
    counterpart,
    floating,
    late,
    one_axis,
    tensor,
)

__all__: list[str] = []


@counterpart("nan_to_num")
def _nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    return late("nan_to_num")(tensor(x), nan=nan, posinf=posinf, neginf=neginf)


def _pointwise(name: str, ours: Callable[[Any], Any]) -> None:
    @counterpart(name)
    def function(x: Any) -> Any:
        return ours(*floating(x))


_pointwise("sinc", lambda x: late("sinc")(x))
_pointwise("i0", lambda x: late("i0")(x))


@counterpart("fix")
def _fix(x: Any, out: Any = None) -> Any:
    return pointwise.trunc(tensor(x))


@counterpart("round", "around")
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    a = tensor(a)
    if not decimals:
        return pointwise.round(a)
    return pointwise.round(a * 10.0**decimals) / 10.0**decimals


@counterpart("real_if_close")
def _real_if_close(a: Any, tol: float = 100) -> Any:
    a = tensor(a)
    close = np.real_if_close(a.payload, tol).dtype.kind != "c"
    return pointwise.real(a) if close and a.payload.dtype.kind == "c" else a


@counterpart("take")
def _take(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Any:
    a, dim = one_axis(a, axis)
    at = _indices(indices)
    if mode != "raise":
        n = a.shape[dim]
        at = at % n if mode == "wrap" else np.clip(at, 0, n - 1)
    return a[(*(slice(None),) * dim, at)]


def _indices(value: Any) -> Any:
    return np.asarray(value.payload if hasattr(value, "payload") else value)


@counterpart("take_along_axis")
def _take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    a, dim = one_axis(arr, axis)
    at = _indices(indices)
    index = [
        at if i == dim else np.arange(n).reshape([-1 if i == j else 1 for j in range(a.ndim)])
        for i, n in enumerate(a.shape)
    ]
    return a[tuple(index)]


@counterpart("compress")
def _compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    a, dim = one_axis(a, axis)
    kept = np.flatnonzero(_indices(condition))
    return a[(*(slice(None),) * dim, kept)]


@counterpart("extract")
def _extract(condition: Any, arr: Any) -> Any:
    return shape.reshape(tensor(arr), (-1,))[np.flatnonzero(_indices(condition))]


@counterpart("choose")
def _choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    at = _indices(a)
    parts = expand.broadcast_tensors(*common(*choices))
    n = len(parts)
    if mode != "raise":
        at = at % n if mode == "wrap" else np.clip(at, 0, n - 1)
    elif at.size and (at.min() < 0 or at.max() >= n):
        raise ValueError("invalid entry in choice array")
    made = parts[0]
    for i in range(1, n):
        made = select.where(tensor(at == i), parts[i], made)
    return made if at.ndim <= made.ndim else expand.broadcast_to(made, at.shape)


@counterpart("select")
def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    *choices, made = common(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        made = select.where(tensor(condition), choice, made)
    return made


@counterpart("where")
def _where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    if x is None and y is None:
        return select.where(tensor(condition))
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    condition = tensor(condition)
    if condition.payload.dtype.kind != "b":
        condition = pointwise.ne(condition, 0)
    return select.where(condition, *common(x, y))


@counterpart("piecewise")
def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    x = tensor(x)
    conditions = [_indices(c) for c in (condlist if isinstance(condlist, list) else [condlist])]
    if len(funclist) == len(conditions) + 1:
        conditions.append(~np.any(conditions, axis=0))
    made = x * 0
    for condition, function in zip(conditions, funclist, strict=True):
        value = function(x, *args, **kw) if callable(function) else function
        made = select.where(tensor(condition), *common(value, made))
    return made


@counterpart("sort")
def _sort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    a, dim = one_axis(a, axis)
    return late("sort")(a, dim=dim, stable=True)[0]


@counterpart("sort_complex")
def _sort_complex(a: Any) -> Any:
    a = tensor(a)
    at = np.argsort(a.payload, axis=-1)
    return as_dtype(_take_along_axis(a, at, -1), np.result_type(a.payload.dtype, np.complex64))


@counterpart("partition")
def _partition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> Any:
    a, dim = one_axis(a, axis)
    return _take_along_axis(a, np.argpartition(a.payload, kth, axis=dim), dim)


@counterpart("unique")
def _unique(ar: Any, *args: Any, axis: int | None = None, **kwargs: Any) -> Any:
    a, dim = one_axis(ar, axis)
    found = np.unique(a.payload, return_index=True, axis=dim)
    made = a[(*(slice(None),) * dim, found[1])]
    rest = np.unique(tensor(ar).payload, *args, axis=axis, **kwargs)
    return (made, *[tensor(r) for r in rest[1:]]) if isinstance(rest, tuple) else made


@counterpart("linspace")
def _linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    start, stop = expand.broadcast_tensors(*floating(start, stop))
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else (stop - start) * float("nan")
    at = tensor(np.arange(num, dtype=start.payload.dtype))
    at = shape.reshape(at, (-1, *[1] * start.ndim))
    made = start + at * step if parts > 0 else start + at * 0
    if endpoint and num > 1:
        made = join.cat([made[:-1], shape.unsqueeze(stop, 0)], 0)
    made = as_dtype(permute.movedim(made, 0, axis), dtype)
    return (made, step) if retstep else made


@counterpart("logspace")
def _logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    return as_dtype(pointwise.pow(base, _linspace(start, stop, num, endpoint, axis=axis)), dtype)


@counterpart("geomspace")
def _geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    ends = [pointwise.log(v) for v in floating(start, stop)]
    return as_dtype(pointwise.exp(_linspace(*ends, num, endpoint, axis=axis)), dtype)
