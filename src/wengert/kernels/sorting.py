"""Layer 1 · kernels: sorting along a dimension, and elements by rank.

NOTE [ranks]
The functions return positions: where in a row its k-th element in ascending order is. The order is
stable, so that a position is unique, and an order statistic chooses the element at its rank in a
stable sort. A NaN is larger than every number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels.protocols import arange, contiguous, is_numpys, zeros
from wengert.kernels.protocols import largest as greatest
from wengert.kernels.reduce import places_of
from wengert.kernels.scan import running_of
from wengert.kernels.shape import unsqueeze

Shape = tuple[int, ...]

# below this many elements a merge sort is faster than anything more elaborate
_SMALL = 2048
# up to this many ranks of a row are found one by one; more, by sorting the row
_FEW = 8
# up to this many largest elements are found one by one, faster than by a partial sort
_FEW_TOP = 4
# up to this many positions are taken faster by NumPy's index than from the flat array
_INDEXED = 256
_WORD = 63


# -- the order of all elements --------------------------------------------------------------------


def order(self: Any, dim: int, descending: bool) -> Any:
    """Return the stable order of the elements along `dim`, ascending or descending."""
    if self.ndim == 0:
        return zeros(self, (), np.int64)
    if not descending:
        return _ascending(self, dim)
    # the ascending order of the reversed rows, reversed
    back = (slice(None),) * dim + (slice(None, None, -1),)
    return self.shape[dim] - 1 - _ascending(self[back], dim)[back]


def _ascending(self: Any, dim: int) -> Any:
    dtype = self.dtype
    short = dtype.itemsize <= 2 and dtype.kind != "f"
    if self.size <= _SMALL or short or not is_numpys(self):
        # integers of one or two bytes are sorted by counting (radix sort)
        return self.argsort(dim, kind="stable").astype(np.int64, copy=False)
    rows = _rows(self, dim)
    found = _packed(rows) if dtype.kind in "iu" else None
    if found is None:
        found = _quick(rows)
    return np.ascontiguousarray(np.moveaxis(found, -1, dim))


def _comparable(self: Any) -> Any:
    """Convert half precision, which the processor does not compare, to a dtype that it does."""
    return self.astype(np.float32) if self.dtype.char == "e" else self


def _rows(self: Any, dim: int) -> Any:
    """Return self with `dim` as the last dimension, in a dtype that is fast to compare."""
    own = _comparable(self)
    return own if dim == self.ndim - 1 else np.moveaxis(own, dim, -1)


def _packed(rows: Any) -> Any:
    """Return the order of integers that leave room for their position in a 64-bit word.

    The words are sorted, which is faster than sorting positions, and stable.
    """
    n = rows.shape[-1]
    low, high = int(rows.min()), int(rows.max())
    bits = n.bit_length()
    if (high - low).bit_length() + bits > _WORD:
        return None
    keys = rows - rows.dtype.type(low) if rows.dtype == np.uint64 else rows
    keys = keys.astype(np.int64)
    if rows.dtype != np.uint64:
        keys -= low
    return _by_position(keys, np.arange(n), bits)


def _by_position(keys: Any, positions: Any, bits: int) -> Any:
    """Return positions sorted by their keys, then by position; `keys` is overwritten."""
    keys <<= bits
    keys |= positions
    keys.sort(-1)
    keys &= (1 << bits) - 1
    return keys


def _quick(rows: Any) -> Any:
    """Return the order by an unstable sort, whose groups of equal elements are then fixed."""
    n = rows.shape[-1]
    bits = n.bit_length()
    if 2 * bits > _WORD:
        return np.argsort(rows, -1, kind="stable")
    found = np.argsort(rows, -1).astype(np.int64, copy=False)
    values = taken(rows, found, rows.ndim - 1)
    equal = values[..., 1:] == values[..., :-1]
    if rows.dtype.kind == "f":
        # NaNs are at the end, and count as equal here
        both = values[..., :-1] != values[..., :-1]
        if np.count_nonzero(both[..., -1:]):
            equal |= both
    if not np.count_nonzero(equal):
        return found
    groups = np.zeros(found.shape, np.int64)
    np.cumsum(~equal, -1, out=groups[..., 1:])
    return _by_position(groups, found, bits)


def top(self: Any, k: int, dim: int, largest: bool, sorted: bool) -> Any:
    """Return the positions of the `k` largest, or smallest, elements along `dim`."""
    if self.ndim == 0:
        return zeros(self, (), np.int64)
    n = self.shape[dim]
    lead = (slice(None),) * dim
    if self.size <= _SMALL or 4 * k > n or k == 0 or not is_numpys(self):
        return contiguous(order(self, dim, largest)[(*lead, slice(k))])
    own = _comparable(self)
    if k <= _FEW_TOP:
        found = _one_by_one(own, k, dim, largest)
        if found is not None:
            return found
    if largest:
        found = np.argpartition(own, n - k, dim)[(*lead, slice(n - k, None))]
    else:
        found = np.argpartition(own, k - 1, dim)[(*lead, slice(k))]
    found = found.astype(np.int64, copy=False)
    if sorted:
        found = np.sort(found, dim)
        found = taken(found, order(taken(self, found, dim), dim, largest), dim)
    return np.ascontiguousarray(found)


def _one_by_one(self: Any, k: int, dim: int, largest: bool) -> Any:
    """Find few extremes one at a time; return None if they equal the mask for found ones."""
    if self.dtype.kind != "f":
        return None
    found: list[Any] = []
    seek, gone = (np.argmax, -np.inf) if largest else (np.argmin, np.inf)
    for i in range(k):
        place = unsqueeze(seek(self, dim), dim)
        values = np.take_along_axis(self, place, dim)
        # a NaN is the largest element, but for NumPy it is both the maximum and the minimum
        if np.count_nonzero(values == gone) or (not largest and np.count_nonzero(np.isnan(values))):
            return None
        found.append(place)
        if i + 1 < k:
            self = self.copy() if i == 0 else self
            np.put_along_axis(self, place, gone, dim)
    return found[0] if k == 1 else np.concatenate(found, dim)


# -- elements at positions ------------------------------------------------------------------------


def _places(indices: Any, shape: Shape, dim: int) -> Any:
    """Return the flat C-order positions of elements given by their positions along `dim`.

    The result has three dimensions: those before `dim`, `dim`, and those after it, each merged.
    """
    outer, n, inner = math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :])
    each = outer * inner
    places = indices.reshape(outer, indices.size // each if each else 0, inner)
    if inner > 1:
        places = places * inner + arange(indices, inner)
    if outer > 1:
        places = places + arange(indices, outer)[:, None, None] * (n * inner)
    return places


def taken(self: Any, indices: Any, dim: int) -> Any:
    """Take the elements at positions along `dim`.

    `indices` has the shape of self except for the size of `dim`; if that is 1, `dim` may be
    missing.
    """
    if self.ndim == 0:
        return self.copy()
    if self.ndim == 1:
        return self.take(indices)
    if indices.size <= _INDEXED and indices.__class__ is np.ndarray:
        around = places_of(indices, indices.shape)
        return self[(*around[:dim], indices, *around[dim + (indices.ndim == self.ndim) :])]
    places = _places(indices, self.shape, dim)
    return self.reshape(-1).take(places).reshape(indices.shape)


def placed(self: Any, indices: Any, shape: Shape, dim: int) -> Any:
    """Return zeros of `shape` to which self is added at positions: the transpose of `taken`."""
    if not shape:
        return self.copy()
    places = (indices if len(shape) == 1 else _places(indices, shape, dim)).reshape(-1)
    size = math.prod(shape)
    if self.dtype.kind == "f":
        # sums in float64
        total = np.bincount(places, self.reshape(-1), size).astype(self.dtype, copy=False)
    else:
        total = np.zeros(size, self.dtype)
        np.add.at(total, places, self.reshape(-1))
    return total.reshape(shape)


# -- elements by rank -----------------------------------------------------------------------------


def _kept(found: Any, dim: int, keepdim: bool) -> Any:
    return unsqueeze(found, dim) if keepdim else found


def _at_rank(rows: Any, values: Any, rank: Any) -> Any:
    """Return the position in each row of the element at `rank`, whose value is known.

    Among the elements of that value, it is the one whose rank within them is `rank` minus the
    number of smaller elements.
    """
    sought = values[..., None]
    equal = rows == sought
    smaller = np.count_nonzero(rows < sought, -1)
    if rows.dtype.kind == "f":
        missing = values != values
        if np.count_nonzero(missing):
            nan = rows != rows
            equal |= nan & missing[..., None]
            smaller = np.where(missing, np.count_nonzero(~nan, -1), smaller)
    n = rows.shape[-1]
    found = np.flatnonzero(equal)
    if found.size == values.size:
        return (found % n).reshape(values.shape)
    counts = np.count_nonzero(equal, -1)
    starts = (np.cumsum(counts) - np.reshape(counts, -1)).reshape(values.shape)
    return found[starts + rank - smaller] % n


def kth(self: Any, k: int, dim: int, keepdim: bool) -> Any:
    """Return the position of the element at rank `k` (from 0) along `dim`."""
    if self.ndim == 0:
        return zeros(self, (), np.int64)
    return _kept(_kth(_rows(self, dim), k), dim, keepdim)


def _kth(rows: Any, k: int) -> Any:
    if rows.size <= _SMALL:
        return rows.argsort(-1, kind="stable")[..., k]
    return _at_rank(rows, np.partition(rows, k, -1)[..., k], k)


def median_dim(self: Any, dim: int, keepdim: bool) -> Any:
    """Return the position of the lower median along `dim`, or of the first NaN."""
    if self.ndim == 0:
        return zeros(self, (), np.int64)
    rows = _rows(self, dim)
    found = _kth(rows, (rows.shape[-1] - 1) // 2)
    missing = _broken(rows)
    if missing is not None:
        found = np.where(missing, np.argmax(rows != rows, -1), found)
    return _kept(found, dim, keepdim)


def _broken(rows: Any) -> Any:
    """Return a mask of the rows with a NaN; None if there is none."""
    if rows.dtype.kind != "f" or not rows.size:
        return None
    largest = greatest(rows, -1)
    missing = largest != largest
    return missing if np.count_nonzero(missing) else None


def nanmedian_dim(self: Any, dim: int, keepdim: bool) -> Any:
    """Return the position of the lower median along `dim`, ignoring NaNs unless all are NaN."""
    if self.ndim == 0:
        return zeros(self, (), np.int64)
    rows = _rows(self, dim)
    n = rows.shape[-1]
    if _broken(rows) is None:
        return _kept(_kth(rows, (n - 1) // 2), dim, keepdim)
    rank = np.maximum(n - 1 - np.count_nonzero(rows != rows, -1), 0) // 2
    values = taken(np.sort(rows, -1), rank, rows.ndim - 1)
    return _kept(_at_rank(rows, values, rank), dim, keepdim)


def median(self: Any) -> Any:
    """Return the lower median of all elements; NaN if one of them is, or if there is none."""
    flat = self.reshape(-1)
    kind = self.dtype.kind
    if not flat.size:
        return self.dtype.type(np.nan if kind == "f" else np.iinfo(self.dtype).min)
    if kind == "f" and np.isnan(greatest(flat)):
        return self.dtype.type(np.nan)
    return _middle(flat)


def nanmedian(self: Any) -> Any:
    """Return the lower median of all elements, ignoring NaNs."""
    flat = self.reshape(-1)
    return median(flat[flat == flat])


def _middle(flat: Any) -> Any:
    k = (flat.size - 1) // 2
    flat = flat.copy()
    flat.partition(k)
    return flat[k]


def mode(self: Any, dim: int, keepdim: bool) -> Any:
    """Return the position of the mode along `dim`: the smallest in a tie, its last occurrence."""
    if self.ndim == 0:
        return zeros(self, (), np.int64)
    rows = _rows(self, dim)
    found = _ascending(rows, rows.ndim - 1)
    values = taken(rows, found, rows.ndim - 1)
    positions = arange(found, found.shape[-1])
    starts = zeros(found, found.shape, np.int64)
    np.multiply(values[..., 1:] != values[..., :-1], positions[1:], out=starts[..., 1:])
    starts = running_of(np.maximum, starts, starts.ndim - 1, over=True)
    # where a run first exceeds all earlier ones in length, and so at its end
    longest = np.argmax(positions - starts, -1)
    return _kept(taken(found, longest, found.ndim - 1), dim, keepdim)


def ranked(self: Any, ranks: tuple[int, ...]) -> Any:
    """Return the positions of the elements at several ranks, in a new last dimension.

    In a row with a NaN, its position is that of every rank.
    """
    if self.ndim == 0:
        return np.zeros(len(ranks), np.int64)
    rows = _comparable(self)
    wanted = sorted(set(ranks))
    if rows.size <= _SMALL or len(wanted) > _FEW:
        found = _ascending(rows, rows.ndim - 1)[..., list(ranks)]
    else:
        parted = np.partition(rows, wanted, -1)
        by_rank = {rank: _at_rank(rows, parted[..., rank], rank) for rank in wanted}
        found = np.stack([by_rank[rank] for rank in ranks], -1)
    missing = _broken(rows)
    if missing is not None:
        last = rows.shape[-1] - 1 - np.argmax((rows != rows)[..., ::-1], -1)
        found = np.where(missing[..., None], last[..., None], found)
    return found
