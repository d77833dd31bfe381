"""Layer 1 · kernels: the different elements of an array, or rows of a matrix.

Elements are distinct where ``!=`` holds: a NaN differs from all others, 0 and -0 do not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels.protocols import empty
from wengert.kernels.sorting import order

Found = tuple[Any, Any, Any]
"""The first element of each group, the group number of each element, and the group sizes."""

# the number of columns that are compared first, before whole rows, unless there are few
_PREFIXES = (1, 16)
_SMALL = 4096


def unique_values(self: Any) -> Any:
    """Return the distinct elements in ascending order."""
    ordered = np.sort(self, None)
    return ordered[_changes(ordered)]


def unique_consecutive_values(self: Any) -> Any:
    """Return the first elements of all groups of equal neighbours."""
    flat = self.reshape(-1)
    return flat[_changes(flat)]


def unique(self: Any) -> Found:
    """Return the groups of equal elements, in ascending order."""
    flat = self.reshape(-1)
    return _grouped(flat, order(flat, 0, False), self.shape)


def unique_rows(self: Any, dim: int) -> Found:
    """Return the groups of equal slices along `dim`, in lexicographic order."""
    rows = _slices(self, dim)
    return _grouped(rows, _lexicographic(rows), (len(rows),))


def unique_consecutive(self: Any, dim: int | None) -> Found:
    """Return the groups of equal neighbours, elements or slices along `dim`, in order."""
    items = self.reshape(-1) if dim is None else _slices(self, dim)
    new = _changes(items)
    first = np.flatnonzero(new)
    numbers = np.cumsum(new) - 1
    shape = self.shape if dim is None else (len(items),)
    return first, numbers.reshape(shape), _sizes(first, len(items))


def _slices(self: Any, dim: int) -> Any:
    """Return the slices along `dim` as rows of a matrix."""
    rows = np.moveaxis(self, dim, 0)
    return rows.reshape(len(rows), math.prod(rows.shape[1:]))


def _changes(ordered: Any) -> Any:
    """Return a mask of the elements, or rows, that differ from the previous one."""
    new = empty(ordered, len(ordered), np.bool_)
    new[:1] = True
    if ordered.ndim == 1:
        np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    else:
        new[1:] = (ordered[1:] != ordered[:-1]).any(1)
    return new


def _grouped(items: Any, positions: Any, shape: tuple[int, ...]) -> Found:
    new = _changes(items[positions])
    numbers = empty(new, len(new), np.int64)
    numbers[positions] = np.cumsum(new) - 1
    return positions[new], numbers.reshape(shape), _sizes(np.flatnonzero(new), len(new))


def _sizes(starts: Any, end: int) -> Any:
    """Return the distance from each start to the next, or to the end."""
    sizes = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=sizes[:-1])
    sizes[-1:] = end - starts[-1:]
    return sizes


def _lexicographic(rows: Any) -> Any:
    """Return a stable lexicographic order of rows."""
    count, length = rows.shape
    if not rows.size:
        # rows without elements are all equal
        return np.arange(count)
    for width in (*_PREFIXES, length) if rows.size > _SMALL else (length,):
        keys = _in_bytes(rows[:, :width]).view(f"V{min(width, length) * rows.itemsize}").reshape(-1)
        found = np.argsort(keys, kind="stable")
        # the first columns suffice if they differ for all rows
        if width >= length or not (keys[found[1:]] == keys[found[:-1]]).any():
            break
    return found.astype(np.int64, copy=False)


def _in_bytes(rows: Any) -> Any:
    """Convert elements to bytes whose lexicographic order is the order of the numbers."""
    rows = np.ascontiguousarray(rows)
    dtype = rows.dtype
    if dtype.kind in "bu":
        bits = rows
    else:
        unsigned = np.dtype(f"u{dtype.itemsize}")
        sign = unsigned.type(1 << (8 * dtype.itemsize - 1))
        if dtype.kind == "i":
            bits = rows.view(unsigned) ^ sign
        else:
            # adding 0 turns -0 into 0; for a negative number, flip the other bits
            plain = (rows + dtype.type(0)).view(unsigned)
            bits = np.where(plain & sign, ~plain, plain | sign)
            bits[rows != rows] = np.iinfo(unsigned).max
    return np.ascontiguousarray(bits.astype(bits.dtype.newbyteorder(">"), copy=False))
