"""Layer 9 · numpy: indices with NumPy's meaning.

They differ from PyTorch's in three ways: slices may have a negative step, an int next to an index
array counts as an index array, and a list is an array, never a tuple.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.index import getitem
from wengert.tape.base import TensorBase
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tensor import assign
from wengert.tensor.numpy.counterparts import tensor

_SIMPLE = frozenset({int, type(None), type(Ellipsis), bool})


def _plain(index: Any) -> Any:
    """Return an index as int, slice, None, Ellipsis, bool, or a signed or boolean array."""
    if index.__class__ in _SIMPLE or isinstance(index, slice):
        return index
    if isinstance(index, TensorBase):
        index = index._payload
    elif hasattr(index, "__array__"):
        index = np.asarray(index)  # such as pandas columns
    if isinstance(index, list | tuple | range | np.ndarray | np.generic):
        index = np.asarray(index)
        if not index.size and index.dtype.kind == "f":
            index = index.astype(np.intp)  # an empty list
        if index.dtype.kind == "u":
            index = index.astype(np.intp)  # which PyTorch would take for a mask
        if index.dtype.kind not in "iub":
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
        return index if index.ndim or index.dtype.kind == "b" else int(index)
    return index


def _parts(index: Any) -> tuple[Any, ...]:
    return tuple(map(_plain, index)) if index.__class__ is tuple else (_plain(index),)


def _backwards(part: Any) -> bool:
    return isinstance(part, slice) and part.step is not None and part.step < 0


def _differs(parts: tuple[Any, ...]) -> tuple[bool, bool]:
    """Return whether a slice has a negative step, and whether ints occur with arrays."""
    backwards = any(map(_backwards, parts))
    arrays = any(isinstance(part, np.ndarray) for part in parts)
    ints = any(isinstance(part, int) and not isinstance(part, bool) for part in parts)
    return backwards, arrays and ints


def read(x: Any, index: Any) -> Any:
    """Return ``x[index]``."""
    if index.__class__ is int:
        return getitem(x, index)
    parts = _parts(index)
    backwards, mixed = _differs(parts)
    if not backwards and not mixed:
        return getitem(x, parts)
    if any(isinstance(part, np.ndarray) for part in parts):
        return _placed(x, parts)
    return _reversed(x, parts)


def _reversed(x: Any, parts: tuple[Any, ...]) -> Any:
    """Return ``x[parts]``, where some slices have a negative step."""
    taken: list[Any] = []
    flips: list[int] = []
    sizes = x._payload.shape
    dim = out = 0
    count = sum(part is not None and part is not Ellipsis for part in parts)
    for part in parts:
        if part is Ellipsis:
            dim += len(sizes) - count
            out += len(sizes) - count
            taken.append(part)
            continue
        if _backwards(part) and dim < len(sizes):
            places = range(*part.indices(sizes[dim]))
            first, last = (places[-1], places[0]) if len(places) else (0, -1)
            flips.append(out)
            part = slice(first, last + 1, -part.step)
        taken.append(part)
        dim += part is not None
        out += part is None or isinstance(part, slice)
    return T.flip(getitem(x, tuple(taken)), dims=tuple(flips))


def _coordinates(x: Any, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the positions that an index selects, as an array for each dimension."""
    shape = x._payload.shape
    places = np.arange(x._payload.size).reshape(shape)[parts]
    return tuple(np.asarray(at) for at in np.unravel_index(places, shape))


def _placed(x: Any, parts: tuple[Any, ...]) -> Any:
    return getitem(x, _coordinates(x, parts))


def released(x: Any) -> None:
    """Make the operation that computed `x` save a copy of it, before `x` is written to.

    See NOTE [written arrays].
    """
    owner = x if x._ext is None or x._ext.base is None else x._ext.base
    node = owner._edge
    kept: Any = None if node is None else getattr(node, "result", None)
    if kept is owner._payload and isinstance(kept, np.ndarray | np.generic):
        node.result, node.result_vc, node.result_at = kept.copy(), [0], 0


def write(x: Any, index: Any, value: Any) -> None:
    """Assign ``x[index] = value``."""
    if x._edge is not None:
        released(x)
    if value.__class__ is float and index.__class__ is int and x._payload.dtype.kind == "f":
        assign.setitem(x, index, value)
        return
    parts = _parts(index)
    value = cast(tensor(value), x._payload.dtype)
    backwards, mixed = _differs(parts)
    if backwards or mixed:
        if not x._payload.ndim:
            raise IndexError("too many indices for array: array is 0-dimensional")
        assign.put_last(x, _coordinates(x, parts), value)
    else:
        assign.setitem(x, parts, value, last=True)
