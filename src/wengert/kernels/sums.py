"""Layer 1 · kernels: sums, to a shape or along dimensions, that keep their digits.

NOTE [long sums]
NumPy adds in pairs along the dimension that is next in memory, and one after the other along all
others, where the error grows with their number. Such a dimension is folded here: its parts are
added to each other as wholes, until few are left, which is quicker, too, for it goes through the
memory in long runs. What is next in memory BLAS adds up in vectors, in runs that are short enough
to keep the digits and too short to be shared between its threads: the sums of runs are added in
pairs. What has two bytes is summed in float32 and rounded once.

References
----------
N. J. Higham, "The accuracy of floating point summation", SIAM Journal on Scientific Computing 14
(1993), 783-799.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from wengert.kernels.reducing import add as _sum

Dims = tuple[int, ...]

_LITTLE = 16
_SMALL = 1024
"""Up to this size an array is summed as it is."""
_FEW = 16
"""So many numbers are added one after the other."""
_NEAR = 1 << 15
"""The number of elements of which running sums are made at a time."""
_LEAST = 16
"""The minimum number of rows to process together, since they may share cache lines."""
_PART = 1 << 21
"""The number of elements that are folded at a time, so that what is made of them stays close by."""
_ROW = 4096
"""BLAS adds up rows of this length, and of twice that."""
_RUN = 512
"""The length of runs whose sums are added in pairs; up to twice that is one run."""
_SHORT = 64
"""Shorter rows take longer to hand over than to add up."""
_ONES = {char: np.ones(2 * _RUN, char) for char in "fd"}


def total(self: Any) -> Any:
    """Return the sum of all elements."""
    return _sum(self, None) if self.size <= _LITTLE else _many(self, None, False)


def sums(self: Any, dim: Dims | None, keepdim: bool = False) -> Any:
    """Return the sums along dimensions, or of all elements (see NOTE [long sums])."""
    size = self.size
    if size <= _LITTLE or (size <= _SMALL and self.dtype.itemsize > 2):
        return _sum(self, dim, None, None, keepdim)
    return _many(self, dim, keepdim)


def sum_to(self: Any, shape: Dims) -> Any:
    """Return the sum over the dimensions along which an array of `shape` would be repeated."""
    if self.shape == shape:
        return self
    lead = self.ndim - len(shape)
    within = [i + lead for i, n in enumerate(shape) if n == 1 != self.shape[i + lead]]
    axes = (*range(lead), *within)
    if self.size <= _LITTLE:
        return _sum(self, axes, None, None, True).reshape(shape)[()]
    return _many(self, axes, True).reshape(shape)[()]


def _many(self: Any, dim: Dims | None, keepdim: bool) -> Any:
    dtype = self.dtype
    if dtype.kind in "biu":
        return _sum(self, dim, None, None, keepdim)
    if dtype.itemsize == 2:
        # infinite where the sum of numbers of two bytes is
        with np.errstate(over="ignore"):
            return sums(self.astype(np.float32), dim, keepdim).astype(dtype)
    if self.size <= _SMALL:
        return _sum(self, dim, None, None, keepdim)
    every = tuple(range(self.ndim)) if dim is None else tuple(dim)
    kept = self.ndim - len(every)
    if self.flags.c_contiguous and (not kept or every == tuple(range(kept, self.ndim))):
        rows = self.reshape(*self.shape[:kept], -1)
        runs = self.__class__ is np.ndarray and dtype.char in _ONES and rows.shape[-1] >= _SHORT
        result = _runs(rows, _ONES[dtype.char]) if runs else _sum(rows, -1)
        return result.reshape(*self.shape[:kept], *[1] * (self.ndim - kept)) if keepdim else result
    for axis in _slow(self, every):
        self = _folded(self, axis)
    return _sum(self, dim, None, None, keepdim)


def _runs(rows: Any, ones: Any) -> Any:
    """Return the sums along the last dimension."""
    length = rows.shape[-1]
    if length <= 2 * _RUN:
        return np.vecdot(rows, ones[:length])
    # a single row has so many runs that their sums have few digits to lose
    run = _RUN if rows.ndim > 1 else 2 * _RUN
    whole = length - length % run
    heads = rows[..., :whole].reshape(*rows.shape[:-1], whole // run, run)
    result = _sum(np.vecdot(heads, ones[:run]), -1)
    return result + np.vecdot(rows[..., whole:], ones[: length - whole])


def _slow(self: Any, dim: Any) -> list[int]:
    """Return the dimensions along which NumPy would add many elements one after the other."""
    steps = self.strides
    axes = [i for i, n in enumerate(self.shape) if n > 1]
    # what is repeated without steps is added in any place
    axes.sort(key=lambda i: abs(steps[i]) or math.inf)
    slow: list[int] = []
    count, run = 1, None
    for i in axes:
        if i not in dim:
            run = math.nan
        elif steps[i] and (run is None or steps[i] == run):
            # the next in memory, or those that continue it
            run = steps[i] * self.shape[i]
            continue
        else:
            slow.append(i)
            count *= self.shape[i]
    return slow if count > _FEW else []


def _folded(self: Any, axis: int) -> Any:
    """Sums over parts of a dimension, of which few are left."""
    n = self.shape[axis]
    lead = (slice(None),) * axis
    step = max(_FEW, _PART * n // self.size)
    if n > 2 * step:
        parts = [_folded(self[(*lead, slice(i, i + step))], axis) for i in range(0, n, step)]
        self = np.concatenate([_sum(part, axis, None, None, True) for part in parts], axis)
        return _folded(self, axis)
    while n > 2 * _FEW:
        count = max(n // _FEW, _FEW)
        whole = n - n % count
        shape = (*self.shape[:axis], whole // count, count, *self.shape[axis + 1 :])
        folded = _sum(self[(*lead, slice(whole))].reshape(shape), axis)
        folded[(*lead, slice(n - whole))] += self[(*lead, slice(whole, None))]
        self, n = folded, count
    # all of them, for the next dimension to be as small
    return _sum(self, axis, None, None, True)


@functools.lru_cache(64)
def _known_ones(shape: Any, char: str) -> Any:
    made = np.ones(shape, char)
    made.flags.writeable = False
    return made


def ones(shape: Any, dtype: Any) -> Any:
    """Ones, to be read only."""
    # made once, for few are multiplied sooner than made
    few = shape.__class__ is tuple or shape <= _SMALL
    return _known_ones(shape, dtype.char) if few else np.ones(shape, dtype)


@functools.lru_cache(64)
def repeated(n: int, value: float, dtype: Any) -> Any:
    """Return a square matrix of one number.

    NumPy takes three times as long to set up a reduction, or to repeat what is shorter, as to
    multiply small matrices: a product with this one sums rows, or columns, and repeats the sums.
    """
    return np.full((n, n), value, dtype)


def column_sums(rows: Any) -> Any:
    """Return the sums of the columns of a matrix."""
    count = rows.shape[0]
    return sums(rows, (0,)) if count > _ROW else ones(count, rows.dtype).dot(rows)


def row_sums(rows: Any) -> Any:
    """Return the sums of the rows of a matrix."""
    length = rows.shape[-1]
    return _sum(rows, -1) if length > 2 * _ROW else rows.dot(ones(length, rows.dtype))


def dots(rows: Any, others: Any) -> Any:
    """Return the scalar products along the last dimension, with the first factor conjugated."""
    length = rows.shape[-1]
    if length <= 2 * _ROW:
        return np.vecdot(rows, others)
    whole = length - length % _ROW
    shape = (*rows.shape[:-1], whole // _ROW, _ROW)
    heads = (array[..., :whole].reshape(shape) for array in (rows, others))
    total = _sum(np.vecdot(*heads), -1)
    return total + np.vecdot(rows[..., whole:], others[..., whole:]) if whole < length else total


def running_sums(self: Any, dim: int) -> Any:
    """Return the sums of all elements along a dimension up to each one, in double precision."""
    wide = np.promote_types(self.dtype, np.float64)
    if self.dtype.kind not in "fc" or self.dtype == wide or self.shape[dim] <= _LITTLE:
        return np.add.accumulate(self, axis=dim)
    result = np.empty(self.shape, self.dtype)
    # along the next in memory, and in rows that stay close by: there it is quick
    rows, sums_of_rows = (np.moveaxis(array, dim, -1) for array in (self, result))
    step = max(_LEAST, _NEAR * len(rows) // self.size) if self.ndim > 1 else len(rows)
    memory = np.empty((2, min(step, len(rows)), *rows.shape[1:]), wide)
    for i in range(0, len(rows), step):
        some = rows[i : i + step]
        single, total = memory[:, : len(some)]
        np.copyto(single, some)
        np.add.accumulate(single, axis=-1, out=total)
        sums_of_rows[i : i + step] = total
    return result
