"""Layer 1 · kernels: views of arrays, rearranged copies, and their transposes.

A 0-d view must be an array that shares memory, not a NumPy scalar, which is a copy; so indices end
in an ellipsis.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels.create import clone
from wengert.kernels.protocols import copied, is_numpys, zeros

Shape = tuple[int, ...]
_ALL = slice(None)
_BACK = slice(None, None, -1)


def expand(self: Any, shape: Shape) -> Any:
    """Return a view that repeats dimensions of size 1."""
    try:
        array = np.asarray(self)
    except TypeError:  # an array of another library
        return np.broadcast_to(self, shape)
    own = array.shape
    if shape == own:
        return array[...]
    lead = len(shape) - len(own)
    if lead < 0 or not array.size or not array.flags.c_contiguous or array.dtype.kind == "V":
        result = np.broadcast_to(array, shape)
        # the caller refuses writes to broadcast views
        result.flags.writeable = array.flags.writeable
        return result
    strides = array.strides
    if shape[lead:] != own:
        for size, new in zip(own, shape[lead:], strict=True):
            if size != new and size != 1:
                return np.broadcast_to(array, shape)  # raises
        strides = tuple([by if n > 1 else 0 for n, by in zip(own, strides, strict=True)])
    # a third of the time of broadcast_to: every sum's cotangent passes through here
    return np.ndarray(shape, array.dtype, array, 0, (0,) * lead + strides)


def select(self: Any, dim: int, index: int) -> Any:
    """Select one position of a dimension."""
    return self[(_ALL,) * dim + (index, ...)] if dim else self[index, ...]


def select_backward(self: Any, shape: Shape, dim: int, index: int) -> Any:
    """Return zeros of `shape` with self at one position of a dimension."""
    result = zeros(self, shape, self.dtype)
    result[(_ALL,) * dim + (index,)] = self
    return result


def slice_(self: Any, dim: int, start: int, end: int, step: int) -> Any:
    """Return a range of a dimension."""
    return self[(_ALL,) * dim + (slice(start, end, step),)] if dim else self[start:end:step]


def slice_backward(self: Any, shape: Shape, dim: int, start: int, end: int, step: int) -> Any:
    """Return zeros of `shape` with self in a range of a dimension."""
    result = zeros(self, shape, self.dtype)
    result[(_ALL,) * dim + (slice(start, end, step),)] = self
    return result


def alias(self: Any) -> Any:
    """Return a new array over the same memory."""
    return self[...]


def unsqueeze(self: Any, dim: int) -> Any:
    """Insert a dimension of size 1."""
    return self[(_ALL,) * dim + (None,)]


def squeeze_dim(self: Any, dim: int) -> Any:
    """Remove dimension `dim` if its size is 1."""
    return self.squeeze(dim) if self.ndim and self.shape[dim] == 1 else self[...]


def squeeze_dims(self: Any, dim: Shape) -> Any:
    """Remove those of the dimensions `dim` whose size is 1."""
    return self.squeeze(tuple([d for d in dim if self.shape[d] == 1]))


def diagonal(self: Any, offset: int, dim1: int, dim2: int) -> Any:
    """Return a diagonal of two dimensions, as a view."""
    result = self.diagonal(offset, dim1, dim2)
    if is_numpys(result):
        # NumPy marks diagonals read-only for historical reasons
        result.flags.writeable = self.flags.writeable
    return result


def diagonal_backward(self: Any, shape: Shape, offset: int, dim1: int, dim2: int) -> Any:
    """Return zeros of `shape` with self on a diagonal."""
    result = zeros(self, shape, self.dtype)
    diagonal(result, offset, dim1, dim2)[...] = self
    return result


def diag_embed(self: Any, offset: int, dim1: int, dim2: int) -> Any:
    """Return zeros with self on a diagonal of the (different) dimensions dim1 and dim2."""
    size = self.shape[-1] + abs(offset)
    result = zeros(self, (*self.shape[:-1], size, size), self.dtype)
    diagonal(result, offset, -2, -1)[...] = self
    if (dim1, dim2) == (self.ndim - 1, self.ndim):
        return result
    return np.moveaxis(result, (-2, -1), (dim1, dim2))


def unbind(self: Any, dim: int) -> tuple[Any, ...]:
    """Split a dimension into its positions."""
    if self.ndim == 1:
        return tuple([self[i, ...] for i in range(len(self))])
    # iterating takes half the time of indexing
    return tuple(self.transpose(dim, *[i for i in range(self.ndim) if i != dim]))


def split(self: Any, sizes: Shape, dim: int) -> tuple[Any, ...]:
    """Split a dimension into consecutive ranges."""
    count, first = len(sizes), sizes[0] if sizes else 0
    if count > _SEVERAL and self.size and sizes == (first,) * count:
        return unbind(self.reshape(*self.shape[:dim], count, first, *self.shape[dim + 1 :]), dim)
    lead = (_ALL,) * dim
    parts, start = [], 0
    for size in sizes:
        parts.append(self[(*lead, slice(start, start + size))])
        start += size
    return tuple(parts)


_SEVERAL = 4
"""The number of parts up to which indexing takes less time than reshaping."""


def contiguous(self: Any) -> Any:
    """Return a copy in C order."""
    return copied(self, "C")


_MANY = 2000
"""The number of runs from which on they are reversed as items."""


def flip(self: Any, dims: Shape) -> Any:
    """Reverse dimensions, as a copy."""
    behind = max(dims, default=-1) + 1
    many = 0 < behind < self.ndim and math.prod(self.shape[:behind]) > _MANY and self.size
    if many and is_numpys(self) and self.flags.c_contiguous:
        # move what lies behind the dimensions as one item each: NumPy copies runs by element
        run = np.dtype((np.void, math.prod(self.shape[behind:]) * self.itemsize))
        items = self.reshape(*self.shape[:behind], -1).view(run)[..., 0]
        return flip(items, dims).view(self.dtype).reshape(self.shape)
    return self[tuple([_BACK if d in dims else _ALL for d in range(self.ndim)])].copy()


def roll(self: Any, shifts: Shape, dims: Shape) -> Any:
    """Roll the elements along dimensions, or, without any, in C order."""
    if not dims or not self.size or (len(dims) > 1 and self.size > _FEW):
        return np.roll(self, shifts, dims) if dims else np.roll(self, shifts[0])
    for by, dim in zip(shifts, dims, strict=True):
        lead, n = (_ALL,) * dim, self.shape[dim]
        by %= n
        result = np.empty_like(self)
        result[(*lead, slice(by, None))] = self[(*lead, slice(n - by))]
        result[(*lead, slice(by))] = self[(*lead, slice(n - by, None))]
        self = result
    return self


def repeat(self: Any, repeats: Shape) -> Any:
    """Tile an array."""
    return np.tile(self, repeats)


# -- triangles ------------------------------------------------------------------------------------

_FEW = 256
"""The number of elements up to which masks are cached."""


@lru_cache(16)
def _below(rows: int, columns: int, diagonal: int) -> Any:
    """Return a read-only mask of the elements of a small matrix on or below a diagonal."""
    return np.tri(rows, columns, diagonal, bool)


def _is_small(self: Any) -> bool:
    return self.__class__ is np.ndarray and self.size <= _FEW and self.ndim > 1


def _is_masked(self: Any) -> bool:
    plain = self.__class__ is np.ndarray and self.dtype.kind in "fiu" and self.ndim > 1
    return plain and self.itemsize in (4, 8)


def _masked(self: Any, diagonal: int, lower: bool) -> Any:
    """Zero all but one triangle: by a mask of bits, which NumPy vectorises."""
    rows, columns = self.shape[-2:]
    # the diagonal ends there, and all rows below are on one side of it
    ends = min(max(columns - diagonal, 0), rows)
    if ends < rows // 2:
        made = clone(self) if lower else np.zeros_like(self)
        if ends:
            made[..., :ends, :] = _masked(self[..., :ends, :], diagonal, lower)
        return made
    below = np.tri(rows, columns, diagonal - (not lower), bool)
    mask = below if lower else ~below
    bits = np.negative(mask.astype(f"i{self.itemsize}"))
    return np.bitwise_and(self.view(bits.dtype), bits).view(self.dtype)


def tril(self: Any, diagonal: int) -> Any:
    """Return the lower triangle, with zeros elsewhere."""
    if _is_small(self):
        return np.where(_below(*self.shape[-2:], diagonal), self, self.dtype.type(0))
    if _is_masked(self):
        return _masked(self, diagonal, True)
    return np.tril(self, diagonal)


def triu(self: Any, diagonal: int) -> Any:
    """Return the upper triangle, with zeros elsewhere."""
    if _is_small(self):
        return np.where(_below(*self.shape[-2:], diagonal - 1), self.dtype.type(0), self)
    if _is_masked(self):
        return _masked(self, diagonal, False)
    return np.triu(self, diagonal)
