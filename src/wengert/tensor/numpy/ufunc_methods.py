"""Layer 6 · tensor: the methods of NumPy's ufuncs on tensors.

``reduce`` and ``accumulate`` of common ufuncs are our reductions and scans; other ufuncs, and
``reduceat``, loop over the elements.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from wengert.kernels.index import combine_at
from wengert.ops import expand, join, pointwise, shape
from wengert.ops import reduce as reductions
from wengert.tape.base import TensorBase
from wengert.tape.inplace import bump
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tape.write_checks import check_writable
from wengert.tensor import assign
from wengert.tensor.numpy import boundary, sums
from wengert.tensor.numpy.counterparts import all_axes, as_dtype, late, normal_axis, tensor, values
from wengert.tensor.numpy.ufuncs import call, into, label_of, resolved


def _all(a: Any, axis: Any, dtype: Any = None, initial: Any = True, **given: Any) -> Any:
    return sums.every(a, axis, **given) & bool(initial)


def _any(a: Any, axis: Any, dtype: Any = None, initial: Any = False, **given: Any) -> Any:
    return sums.some(a, axis, **given) | bool(initial)


def _logarithmic(a: Any, axis: Any, dtype: Any = None, **given: Any) -> Any:
    keepdims = given.pop("keepdims", False)
    if given:
        raise NotImplementedError(
            "numpy.logaddexp.reduce of a tensor with initial= or where=: use np.logaddexp and "
            "np.where"
        )
    a, dims = _elements(np.logaddexp, a, dtype), all_axes(axis, a.ndim)
    return reductions.logsumexp(a, dims, keepdims) if dims else a


_REDUCTIONS: dict[Any, Callable[..., Any]] = {
    np.add: sums.total,
    np.multiply: sums.prod,
    np.maximum: lambda a, axis, dtype=None, **given: sums.amax(as_dtype(a, dtype), axis, **given),
    np.minimum: lambda a, axis, dtype=None, **given: sums.amin(as_dtype(a, dtype), axis, **given),
    np.logical_and: _all,
    np.logical_or: _any,
    np.logaddexp: _logarithmic,
}
_SCANS: dict[Any, Callable[[Any, int], Any]] = {
    np.add: lambda a, axis: reductions.cumsum(a, axis, dtype=sums.kept_by(a._payload.dtype)),
    np.multiply: lambda a, axis: reductions.cumprod(a, axis, dtype=sums.kept_by(a._payload.dtype)),
    np.maximum: lambda a, axis: late("cummax")(a, axis)[0],
    np.minimum: lambda a, axis: late("cummin")(a, axis)[0],
    np.logaddexp: lambda a, axis: late("logcumsumexp")(a, axis),
}


def reduce(
    ufunc: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    """Compute ``ufunc.reduce(array, ...)``."""
    label = label_of(ufunc, "reduce")
    a = tensor(array)
    known = _REDUCTIONS.get(ufunc)
    given: dict[str, Any] = {} if initial is np._NoValue else {"initial": initial}
    if where is not True:
        given["where"] = where
    if known is not None:
        result = known(a, axis, dtype=dtype, keepdims=keepdims, **given)
    else:
        a = _elements(ufunc, a, dtype)
        result = _one_by_one(ufunc, a, axis, keepdims, initial, where, label)
    return into(out[0] if isinstance(out, tuple) else out, result, label)


def _elements(ufunc: Any, a: Any, dtype: Any) -> Any:
    """Return the operand of a loop over elements, in the dtype of results."""
    if ufunc.__name__.startswith("logical_"):
        return as_dtype(a, np.bool_)
    return resolved(ufunc, (a, a), "unsafe", dtype)[0]


def _one_by_one(
    ufunc: Any, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any, label: str
) -> Any:
    if ufunc.nin != 2 or ufunc.nout != 1:
        raise ValueError(f"reduce only supported for binary functions, which {label} is not")
    dims = all_axes(axis, a.ndim)
    reorderable = ufunc.identity is not None or ufunc in (np.maximum, np.minimum, np.fmax, np.fmin)
    if len(dims) > 1 and not reorderable:
        raise ValueError(
            f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may "
            "be specified"
        )
    if where is not True:
        raise NotImplementedError(f"{label} of a tensor with where=: select with np.where first")
    kept = tuple(dim for dim in range(a.ndim) if dim not in dims)
    sizes = tuple(a.shape[dim] for dim in kept)
    ones = tuple(1 if dim in dims else n for dim, n in enumerate(a.shape))
    count = prod(a.shape[dim] for dim in dims)
    rows = shape.reshape(T.permute(a, dims=kept + dims), (*sizes, count))
    parts = list(T.unbind(rows, dim=len(sizes)))
    if initial is np._NoValue and not parts:
        if ufunc.identity is None:
            raise ValueError(
                f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
            )
        initial = ufunc.identity
    if initial is not np._NoValue:
        parts.insert(0, expand.broadcast_to(as_dtype(initial, a._payload.dtype), sizes))
    made = parts[0]
    for part in parts[1:]:
        made = call(ufunc, made, part)
    return shape.reshape(made, ones) if keepdims else made


def accumulate(ufunc: Any, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """Compute ``ufunc.accumulate(array, ...)``."""
    label = label_of(ufunc, "accumulate")
    a = tensor(array)
    if not a.ndim:
        raise TypeError("cannot accumulate on a scalar")
    dim = normal_axis(axis, a.ndim)
    if dtype is None and ufunc.__name__ in ("add", "multiply"):
        dtype = sums.wide(a._payload.dtype)
    a = _elements(ufunc, a, dtype)
    known = _SCANS.get(ufunc)
    if known is not None and a._payload.dtype.kind != "b":
        result = known(a, dim)
    else:
        made = list(T.unbind(a, dim=dim))
        for i in range(1, len(made)):
            made[i] = call(ufunc, made[i - 1], made[i])
        result = join.stack(made, dim) if made else a
    return into(out[0] if isinstance(out, tuple) else out, result, label)


def outer(ufunc: Any, A: Any, B: Any, /, **kwargs: Any) -> Any:
    """Compute ``ufunc.outer(A, B, ...)``."""
    a, b = tensor(A), tensor(B)
    return call(ufunc, shape.reshape(a, (*a.shape, *(1,) * b.ndim)), b, **kwargs)


def reduceat(
    ufunc: Any, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
) -> Any:
    """Compute ``ufunc.reduceat(array, indices, ...)``."""
    a = tensor(array)
    dim = normal_axis(axis, a.ndim)
    starts = np.asarray(values(indices)).tolist()
    count = a.shape[dim]
    bad = [i for i in starts if not 0 <= i < count]
    if bad:
        raise IndexError(f"index {bad[0]} out-of-bounds in {ufunc.__name__}.reduceat [0, {count})")
    parts = []
    for start, stop in zip(starts, [*starts[1:], count], strict=True):
        window = T.slice(a, dim=dim, start=start, end=max(stop, start + 1), step=1)
        parts.append(reduce(ufunc, window, dim, dtype))
    result = join.stack(parts, dim) if parts else T.slice(a, dim=dim, start=0, end=0, step=1)
    return into(out[0] if isinstance(out, tuple) else out, result, label_of(ufunc, "reduceat"))


def _combine(ufunc: Any, a: Any, index: Any, b: Any) -> None:
    if b is None:
        ufunc.at(a, index)
    else:
        combine_at(ufunc, a, index, values(b))


def at(ufunc: Any, a: Any, indices: Any, b: Any = None, /) -> None:
    """Compute ``ufunc.at(a, indices, b)`` in place; an index may occur several times."""
    label = label_of(ufunc, "at")
    index = values(indices)
    parts = index if isinstance(index, tuple) else (index,)
    if not isinstance(a, TensorBase):
        if boundary.loses(b):
            raise boundary.target_lost(label)
        _combine(ufunc, a, index, b)
        return
    value = None if b is None else tensor(b)
    if ufunc in (np.add, np.subtract):
        if not all(isinstance(part, np.ndarray | list) for part in parts):
            # convert slices and other indices to positions
            named = np.arange(a._payload.size).reshape(a._payload.shape)[index]
            parts = np.unravel_index(named, a._payload.shape)
        value = cast(value, a._payload.dtype)
        value = pointwise.neg(value) if ufunc is np.subtract else value
        assign.index_put_(a, tuple(np.asarray(part) for part in parts), value, True)
        return
    if boundary.loses([a, value]):
        raise boundary.function_lost(
            label, "Only np.add.at and np.subtract.at are recorded: write x[i] = f(x[i], b)."
        )
    check_writable(a, recording=False)
    _combine(ufunc, a._array(), index, b)
    bump(a, label)
