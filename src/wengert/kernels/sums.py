"""Layer 1 · kernels: accurate sums, to a shape or along dimensions.

NOTE [long sums]
NumPy sums pairwise along the fastest dimension, and sequentially along all others, where the error
grows with the length. Here BLAS sums runs that are short enough to be accurate, and too short to be
split between its threads; the sums of runs are added pairwise. Where memory is in another order, a
dimension is folded: it is split into parts that are added element-wise until few positions are
left, which is also faster, since memory is read in long runs. Dtypes of two bytes are summed in
float32 and rounded once.

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
"""The size up to which an array is summed by NumPy alone."""
_WHOLE = 1 << 14
"""The size up to which the sum of all elements is NumPy's."""
_FEW = 16
"""The number of elements up to which they are added sequentially."""
_NEAR = 1 << 15
"""The number of elements per block of running sums."""
_LEAST = 16
"""The minimum number of rows to process together, since they may share cache lines."""
_PART = 1 << 21
"""The number of elements that are folded at a time, so that partial sums stay in the cache."""
_ROW = 4096
"""The length of rows that BLAS sums, up to twice this."""
_RUN = 512
"""The length of runs whose sums are added pairwise; up to twice this is one run."""
_COLUMN = 128
"""The greatest length of the runs that BLAS sums across rows."""
_WIDE = 8
"""The length of rows from which BLAS sums across them."""
_BLOCK = 8192
"""The number of elements of short rows that BLAS sums in one call, too few to share them."""
_MATRIX = 32, 512
"""The longest rows, and the largest array, that `repeated_sums` is for."""
_ONES = {char: np.ones(2 * _RUN, char) for char in "fd"}


def total(self: Any) -> Any:
    """Return the sum of all elements."""
    return _sum(self, None) if self.size <= _LITTLE else sums(self, None)


def sums(self: Any, dim: Dims | None, keepdim: bool = False) -> Any:
    """Return the sums along dimensions, or of all elements (see NOTE [long sums])."""
    size = self.size
    if size <= _LITTLE or (
        self.dtype.itemsize > 2 and (size <= _SMALL or (size <= _WHOLE and _is_row(self, dim)))
    ):
        return _sum(self, dim, None, None, keepdim)
    return _many(self, dim, keepdim)


def _is_row(self: Any, dim: Dims | None) -> bool:
    """Return whether the sum is of all elements, in the order of memory: NumPy's is pairwise."""
    return self.flags.c_contiguous and (dim is None or len(dim) == self.ndim)


def sum_to(self: Any, shape: Dims) -> Any:
    """Sum over the dimensions along which an array of `shape` would be broadcast."""
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
        # infinite where a sum of two-byte numbers is
        with np.errstate(over="ignore"):
            return sums(self.astype(np.float32), dim, keepdim).astype(dtype)
    every = range(self.ndim) if dim is None else sorted([axis % self.ndim for axis in dim])
    if self.size <= _SMALL or not every:
        return _sum(self, dim, None, None, keepdim)
    first, behind = every[0], every[0] + len(every)
    if self.flags.c_contiguous and every[-1] == behind - 1:
        lead, rest = self.shape[:first], self.shape[behind:]
        ones = _ONES.get(dtype.char) if self.__class__ is np.ndarray else None
        if not rest:
            rows = self if len(every) == 1 else self.reshape(*lead, -1)
            result = _sum(rows, -1) if ones is None else _runs(rows, ones)
            return result.reshape(*lead, *[1] * len(every)) if keepdim else result
        width = math.prod(rest)
        if ones is not None and width >= _WIDE:
            result = _columns(self.reshape(*lead, -1, width), ones)
            return result.reshape(*lead, *[1] * len(every) * keepdim, *rest)
    for axis in _slow(self, every):
        self = _folded(self, axis)
    return _sum(self, dim, None, None, keepdim)


def _runs(rows: Any, ones: Any) -> Any:
    """Return the sums along the last dimension."""
    length = rows.shape[-1]
    if length <= _COLUMN:
        ones, matrix = ones[:length], rows.reshape(-1, length)
        if rows.size <= _BLOCK:
            result = matrix.dot(ones)
        else:
            step = _BLOCK // length
            starts = range(0, len(matrix), step)
            result = np.concatenate([matrix[i : i + step].dot(ones) for i in starts])
        return result if rows.ndim == 2 else result.reshape(rows.shape[:-1])
    if length <= 2 * _RUN:
        return np.vecdot(rows, ones[:length])
    # a single row has so many runs that their sums are accurate enough
    run = _RUN if rows.ndim > 1 else 2 * _RUN
    whole = length - length % run
    heads = rows[..., :whole].reshape(*rows.shape[:-1], whole // run, run)
    result = _sum(np.vecdot(heads, ones[:run]), -1)
    rest = length - whole
    return result + np.vecdot(rows[..., whole:], ones[:rest]) if rest else result


def _columns(matrices: Any, ones: Any) -> Any:
    """Return the sums along the dimension before the last."""
    count = matrices.shape[-2]
    if count <= _COLUMN:
        return np.matmul(ones[:count], matrices)
    parts = -(-count // _COLUMN)
    each = count // parts
    whole = parts * each
    shape = (*matrices.shape[:-2], parts, each, matrices.shape[-1])
    heads = np.matmul(ones[:each], matrices[..., :whole, :].reshape(shape))
    result = _sum(heads, -2) if parts <= _FEW else _columns(heads, ones)
    if whole < count:
        result += np.matmul(ones[: count - whole], matrices[..., whole:, :])
    return result


def _slow(self: Any, dim: Any) -> list[int]:
    """Return the dimensions along which NumPy would add many elements sequentially."""
    steps = self.strides
    axes = [i for i, n in enumerate(self.shape) if n > 1]
    # a broadcast dimension may be summed in any position
    axes.sort(key=lambda i: abs(steps[i]) or math.inf)
    slow: list[int] = []
    count, run = 1, None
    for i in axes:
        if i not in dim:
            run = math.nan
        elif steps[i] and (run is None or steps[i] == run):
            # the fastest dimension, or those that it is contiguous with
            run = steps[i] * self.shape[i]
            continue
        else:
            slow.append(i)
            count *= self.shape[i]
    return slow if count > _FEW else []


def _folded(self: Any, axis: int) -> Any:
    """Reduce a dimension to few positions by summing over its parts."""
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
    # sum all of them, so that the next dimension is small, too
    return _sum(self, axis, None, None, True)


@functools.lru_cache(64)
def _known_ones(shape: Any, char: str) -> Any:
    made = np.ones(shape, char)
    made.flags.writeable = False
    return made


def ones(shape: Any, dtype: Any) -> Any:
    """Return ones, read-only."""
    # cached: for few elements a product is faster than making the matrix
    few = shape.__class__ is tuple or shape <= _SMALL
    return _known_ones(shape, dtype.char) if few else np.ones(shape, dtype)


@functools.lru_cache(64)
def repeated(n: int, value: float, dtype: Any) -> Any:
    """Return a square matrix of one number.

    NumPy takes three times as long to set up a reduction, or to broadcast, as to multiply small
    matrices: a product with this matrix sums rows, or columns, and repeats the sums.
    """
    return np.full((n, n), value, dtype)


def are_few(self: Any, dim: Dims) -> bool:
    """Return whether `repeated_sums` is made for an array."""
    return (
        len(dim) == 1
        and 0 < self.size <= _MATRIX[1]
        and self.shape[dim[0]] <= _MATRIX[0]
        and (dim[0] == self.ndim - 1 or self.ndim == 2)
        and self.dtype.char in _ONES
        and self.__class__ is np.ndarray
    )


def repeated_sums(self: Any, dim: Dims, factor: float = 1.0) -> Any:
    """Return the sums along a dimension, times a factor, in each of its places."""
    matrix = repeated(self.shape[dim[0]], factor, self.dtype)
    if dim[0] != self.ndim - 1:
        return matrix.dot(self)
    if self.ndim <= 2:
        return self.dot(matrix)
    return self.reshape(-1, len(matrix)).dot(matrix).reshape(self.shape)


def column_sums(rows: Any) -> Any:
    """Return the sums of the columns of a matrix."""
    count = rows.shape[0]
    whole = count > _ROW or rows.__class__ is not np.ndarray
    return sums(rows, (0,)) if whole else ones(count, rows.dtype).dot(rows)


def row_sums(rows: Any) -> Any:
    """Return the sums of the rows of a matrix."""
    length = rows.shape[-1]
    whole = length > 2 * _ROW or rows.__class__ is not np.ndarray
    return _sum(rows, -1) if whole else rows.dot(ones(length, rows.dtype))


def dots(rows: Any, others: Any) -> Any:
    """Return the dot products along the last dimension, with the first factor conjugated."""
    length = rows.shape[-1]
    if length <= _FEW and rows.size > _SMALL and rows.dtype.char in _ONES:
        return sums(rows * others, (-1,))
    if length <= 2 * _ROW:
        return np.vecdot(rows, others)
    whole = length - length % _ROW
    shape = (*rows.shape[:-1], whole // _ROW, _ROW)
    heads = (array[..., :whole].reshape(shape) for array in (rows, others))
    total = _sum(np.vecdot(*heads), -1)
    return total + np.vecdot(rows[..., whole:], others[..., whole:]) if whole < length else total


def running(ufunc: Any, self: Any, dim: int) -> Any:
    """Return the running sums or products along a dimension, computed in double precision."""
    wide = np.promote_types(self.dtype, np.float64)
    short = ufunc is np.add and self.shape[dim] <= _LITTLE
    if self.dtype.kind not in "fc" or self.dtype == wide or short:
        return ufunc.accumulate(self, axis=dim)
    if self.size <= _NEAR:
        of_all = self.astype(wide, order="C")
        return ufunc.accumulate(of_all, dim, None, of_all).astype(self.dtype)
    result = np.empty(self.shape, self.dtype)
    # fast along the fastest dimension, and for rows that are close in memory
    rows, sums_of_rows = (np.moveaxis(array, dim, -1) for array in (self, result))
    step = max(_LEAST, _NEAR * len(rows) // self.size) if self.ndim > 1 else len(rows)
    memory = np.empty((2, min(step, len(rows)), *rows.shape[1:]), wide)
    for i in range(0, len(rows), step):
        some = rows[i : i + step]
        single, total = memory[:, : len(some)]
        np.copyto(single, some)
        ufunc.accumulate(single, axis=-1, out=total)
        sums_of_rows[i : i + step] = total
    return result
