"""Layer 6 · tensor: counterparts of NumPy's functions that write into their first argument.

A write to a tensor is recorded. A plain array can only take values, so writing a value that needs a
gradient to one is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops import shape
from wengert.tape.base import TensorBase
from wengert.tape.operands import cast
from wengert.tensor import assign
from wengert.tensor.numpy import boundary
from wengert.tensor.numpy.choice import taken
from wengert.tensor.numpy.counterparts import counterpart, one_axis, tensor, values
from wengert.tensor.numpy.ufuncs import into


def _writer(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function that writes to tensors; NumPy's own function writes to plain arrays."""
    numpys = getattr(np, name)

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @counterpart(name)
        def write(target: Any, *args: Any, **kwargs: Any) -> None:
            if isinstance(target, TensorBase):
                function(target, *args, **kwargs)
            elif boundary.loses([args, kwargs]):
                raise boundary.target_lost(f"numpy.{name}")
            else:
                numpys(target, *values(args), **values(kwargs))

        return function

    return register


def _put(target: Any, places: Any, value: Any) -> None:
    """Write `value` to positions in the flattened `target`, repeating it as needed."""
    places = np.asarray(places).reshape(-1)
    value = shape.reshape(cast(tensor(value), target._payload.dtype), (-1,))
    count = value.shape[0]
    if not places.size:
        return
    if not count:
        raise ValueError("Cannot insert from an empty array!")
    if count != places.size:
        value = taken(value, np.arange(places.size) % count, 0)
    if not target.ndim:
        target.copy_(value[0])
        return
    assign.put_last(target, np.unravel_index(places, target._payload.shape), value)


@_writer("copyto")
def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    mask = True if where is True else tensor(where)
    into(dst, tensor(src), "numpy.copyto", casting, mask)


@_writer("put")
def _np_put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    places = np.asarray(values(ind))
    size = a._payload.size
    if mode == "raise":
        bad = places[(places < -size) | (places >= size)]
        if bad.size:
            raise IndexError(f"index {bad[0]} is out of bounds for axis 0 with size {size}")
        places = np.where(places < 0, places + size, places)
    else:
        places = places % size if mode == "wrap" else np.clip(places, 0, size - 1)
    _put(a, places, v)


@_writer("place")
def _place(arr: Any, mask: Any, vals: Any) -> None:
    mask = np.asarray(values(mask))
    if mask.size != arr._payload.size:
        raise ValueError("place: mask and data must be the same size")
    _put(arr, np.flatnonzero(mask), vals)


@_writer("putmask")
def _putmask(a: Any, mask: Any, values_: Any) -> None:
    mask = np.asarray(values(mask))
    if mask.size != a._payload.size:
        raise ValueError("putmask: mask and data must be the same size")
    places = np.flatnonzero(mask)
    flat = shape.reshape(tensor(values_), (-1,))
    # each position takes the value at that position, not the next unused one
    _put(a, places, taken(flat, places % max(flat.shape[0], 1), 0))


@_writer("put_along_axis")
def _put_along_axis(
    arr: Any, indices: Any, values_: Any = None, axis: int | None = -1, **named: Any
) -> None:
    values_ = named.get("values", values_)
    at = np.asarray(values(indices))
    if axis is None:
        size = arr._payload.size
        _put(arr, np.where(at < 0, at + size, at), values_)
        return
    _, dim = one_axis(arr, axis)
    index = tuple(
        at if i == dim else np.arange(n).reshape([-1 if i == j else 1 for j in range(arr.ndim)])
        for i, n in enumerate(arr._payload.shape)
    )
    assign.put_last(arr, index, cast(tensor(values_), arr._payload.dtype))


@_writer("fill_diagonal")
def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    marks = np.zeros(a._payload.shape, bool)
    np.fill_diagonal(marks, True, wrap)
    _put(a, np.flatnonzero(marks), val)
