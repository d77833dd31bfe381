"""Layer 9 · compat: the calls that programs make most, of boxes of floats, without detours.

Each takes a box and the other arguments of NumPy's function, and gives None for more than
the common case: then the general way is taken, which knows all of NumPy's arguments and errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.autograd.boxes import ArrayBox, boxed
from wengert.compat.autograd.operators import unwritten
from wengert.ops import reduce as reductions
from wengert.ops.extremes import amax, amin
from wengert.ops.matmul import matmul
from wengert.ops.shape import reshape
from wengert.tape.base import new_tensor

__all__ = ["QUICK", "operand", "plain_float"]


def plain_float(x) -> bool:
    """Whether `x` is a box of floats that nothing has written to."""
    return x.__class__ is ArrayBox and x.payload.dtype.kind == "f" and unwritten(x)


def operand(x, kind) -> Any:
    """`x` as a tensor of dtype `kind`, if it is one or need only be taken for one; else None."""
    cls = x.__class__
    if cls is ArrayBox:
        return x if x.payload.dtype is kind and unwritten(x) else None
    if cls is np.ndarray:
        return new_tensor(x) if x.dtype is kind else None
    if cls is float or cls is int or (cls is np.float64 and kind.itemsize == 8):
        return new_tensor(kind.type(x))
    return None


def _dims(axis, ndim: int) -> tuple[int, ...] | None:
    """The axes that are reduced, from the front; None for what is not one axis, or all."""
    if axis is None:
        return tuple(range(ndim))
    if axis.__class__ is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    return None


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(x, axis=None, *more, keepdims=False, **named) -> Any:
        ndim = x.payload.ndim
        if more or named or not ndim or keepdims.__class__ is not bool or not x.payload.size:
            return None
        dims = _dims(axis, ndim)
        return None if dims is None else function(x, dims, keepdim=keepdims)

    return reduced


def _reshape(x, *shape, **named) -> Any:
    if named or len(shape) != 1:
        return None
    (sizes,) = shape
    sizes = sizes if sizes.__class__ is tuple else (sizes,)
    if any(size.__class__ is not int for size in sizes):
        return None
    try:
        return reshape(x, sizes)
    except RuntimeError:
        return None  # the general way has NumPy's own error


def _dot(x, *more, **named) -> Any:
    if named or len(more) != 1:
        return None
    other = more[0]
    if other.__class__ is not ArrayBox and other.__class__ is not np.ndarray:
        return None
    other = operand(other, x.payload.dtype)
    if other is None:
        return None
    first, second = x.payload, other.payload
    ndims = first.ndim, second.ndim
    if 0 in ndims or max(ndims) > 2 or first.shape[-1] != second.shape[0]:
        return None
    return matmul(x, other)


def dot_of_array(a, x) -> Any:
    """``np.dot`` of one of NumPy's own arrays and a box."""
    kind = x.payload.dtype
    if a.dtype is not kind or kind.kind != "f":
        return None
    box = boxed(new_tensor(a))
    return _dot(box, x)


QUICK: dict[str, Callable[..., Any]] = {
    "amax": _reduction(amax),
    "amin": _reduction(amin),
    "dot": _dot,
    "max": _reduction(amax),
    "mean": _reduction(reductions.mean),
    "min": _reduction(amin),
    "reshape": _reshape,
    "sum": _reduction(reductions.sum),
}
"""By the names of NumPy's functions."""
