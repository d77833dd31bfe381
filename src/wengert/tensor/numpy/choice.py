"""Layer 6 · tensor: counterparts of NumPy's functions that choose, order and fill.

See NOTE [counterparts].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops import expand, pointwise, select, shape
from wengert.ops.index import index_put
from wengert.tape.base import TensorBase
from wengert.tensor.numpy.counterparts import (
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


@counterpart("nan_to_num")
def _nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    x = tensor(x)
    made = late("nan_to_num")(x, nan=nan, posinf=posinf, neginf=neginf)
    return made if copy else x.copy_(made)


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
    if a._payload.dtype.kind in "biu":
        return tensor(np.round(a._payload, decimals))
    if a._payload.dtype.kind == "c":
        if not a._payload.size:
            return late("clone")(a)
        parts = late("round")(late("view_as_real")(a), decimals=decimals)
        return late("view_as_complex")(parts)
    return late("round")(a, decimals=decimals)


@counterpart("real_if_close")
def _real_if_close(a: Any, tol: float = 100) -> Any:
    a = tensor(a)
    close = np.real_if_close(known(a), tol).dtype.kind != "c"
    return pointwise.real(a) if close and a._payload.dtype.kind == "c" else a


def taken(a: Any, places: Any, dim: int) -> Any:
    """Return the elements of `a` at an array of positions along a dimension."""
    return a[(*(slice(None),) * dim, places)]


def along(a: Any, places: Any, dim: int) -> Any:
    """Return the elements of `a` at separate positions for each row along a dimension."""
    dim %= a.ndim
    index = [
        places if i == dim else np.arange(n).reshape([-1 if i == j else 1 for j in range(a.ndim)])
        for i, n in enumerate(a.shape)
    ]
    return a[tuple(index)]


@counterpart("take")
def _take(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Any:
    a, dim = one_axis(a, axis)
    at = _indices(indices)
    if at.dtype.kind == "b":
        at = at.astype(np.intp)  # positions, not a mask
    if mode != "raise":
        n = a.shape[dim]
        at = at % n if mode == "wrap" else np.clip(at, 0, n - 1)
    return taken(a, at, dim)


def _indices(value: Any) -> Any:
    return np.asarray(values(value))


@counterpart("take_along_axis")
def _take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    a, dim = one_axis(arr, axis)
    return along(a, _indices(indices), dim)


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
    if condition._payload.dtype.kind != "b":
        condition = pointwise.ne(condition, 0)
    plain = isinstance(x, TensorBase) and x._payload.dtype.kind == "f"
    if plain and (y.__class__ is float or y.__class__ is int):
        return select.where(condition, x, y)
    return select.where(condition, *common(x, y))


@counterpart("piecewise")
def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    x = tensor(x)
    if isinstance(condlist, TensorBase | np.ndarray | bool) or not isinstance(condlist[0], list):
        one = np.ndim(values(condlist)) == x.ndim and not isinstance(condlist, list | tuple)
        condlist = [condlist] if one else list(condlist)
    conditions = [np.asarray(values(c), bool) for c in condlist]
    if len(funclist) == len(conditions) + 1:
        conditions.append(~np.any(conditions, axis=0))
    elif len(funclist) != len(conditions):
        n = len(conditions)
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    made = tensor(np.zeros(x._payload.shape, x._payload.dtype))
    for condition, function in zip(conditions, funclist, strict=True):
        condition = np.broadcast_to(condition, x._payload.shape)
        if not callable(function):
            made = select.where(tensor(condition), as_dtype(function, x._payload.dtype), made)
        elif condition.any():
            # a function gets only the elements that its condition selects
            places = condition.nonzero() if x.ndim else ()
            part = as_dtype(function(x[places] if x.ndim else x, *args, **kw), x._payload.dtype)
            made = index_put(made, tuple(map(tensor, places)), part) if x.ndim else part
    return made
