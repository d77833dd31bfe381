"""Layer 1 · kernels: distances between the points of two lists, or of one; lengths of points.

A point is a row of numbers; the distance of power p is the p-norm of the difference of two points.
The differences of all pairs would not fit in memory: they are computed in blocks that stay in the
cache, and for few coordinates one coordinate at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels.moments import vector_norm
from wengert.kernels.protocols import beside, contiguous, empty, largest, zeros

_BLOCK = 2**15
"""The number of elements of a block."""
_MANY = 2**11
"""The number of pairs of points from which coordinates are processed one at a time."""


def _flat(*arrays: Any) -> list[Any]:
    """Return arrays with their leading dimensions merged into one."""
    return [a.reshape(math.prod(a.shape[:-2]), *a.shape[-2:]) for a in arrays]


def _blocks(batch: int, rows: int, columns: int, depth: int) -> Iterator[tuple[slice, slice]]:
    """Iterate over ranges of lists and of points whose pairs fit into a block."""
    single = batch * rows * columns < _MANY
    width = max(columns * (depth if single else 1), 1)
    height = max(_BLOCK // width, 1)
    if rows <= height:
        lists = max(height // max(rows, 1), 1)
        for start in range(0, batch, lists):
            yield slice(start, start + lists), slice(None)
        return
    for i in range(batch):
        for start in range(0, rows, height):
            yield slice(i, i + 1), slice(start, start + height)


def _at_once(a: Any, b: Any) -> bool:
    """Return whether to process all coordinates at once: for few pairs, that is fewer calls."""
    pairs: int = a.shape[0] * a.shape[1] * b.shape[1]
    return pairs < _MANY and pairs * a.shape[2] <= 2 * _BLOCK


def _by_coordinate(a: Any, b: Any) -> Iterator[Any]:
    """Iterate over the differences of all pairs in each coordinate, reusing one buffer."""
    a, b = contiguous(a.transpose(2, 0, 1)), contiguous(b.transpose(2, 0, 1))
    memory = empty(a, (a.shape[1], a.shape[2], b.shape[2]), a.dtype)
    for m in range(a.shape[0]):
        yield np.subtract(a[m][:, :, None], b[m][:, None, :], out=memory)


def cdist(x1: Any, x2: Any, p: float, mm: bool) -> Any:
    """Return the distances of the points x1[..., i, :] from the points x2[..., j, :].

    Parameters
    ----------
    mm
        For p = 2: use a product of matrices, which is fast, but loses digits where points are
        closer to each other than to 0.
    """
    shape = (*x1.shape[:-1], x2.shape[-2])
    if mm:
        return _by_product(x1, x2)
    a, b = _flat(x1, x2)
    if a.shape[2] and _at_once(a, b) and not (p == 2 and _in_double(a, b)):
        return contiguous(_root(_sums(a, b, p), p)).reshape(shape)
    result = zeros(a, (a.shape[0], a.shape[1], b.shape[1]), x1.dtype)
    if p == 2 and _in_double(a, b) and _by_double_product(a, b, result):
        return result.reshape(shape)
    if a.shape[2] and result.size:
        for lists, rows in _blocks(a.shape[0], a.shape[1], b.shape[1], a.shape[2]):
            result[lists, rows] = _root(_sums(a[lists, rows], b[lists], p), p)
    return result.reshape(shape)


def _by_product(x1: Any, x2: Any) -> Any:
    squares = np.matmul(x1, x2.swapaxes(-1, -2))
    squares *= -2
    squares += np.einsum("...m,...m->...", x1, x1)[..., :, None]
    squares += np.einsum("...m,...m->...", x2, x2)[..., None, :]
    np.maximum(squares, 0, out=squares)
    return np.sqrt(squares, out=squares)


def _in_double(a: Any, b: Any) -> bool:
    """Return whether products in double precision are precise enough, and faster."""
    single: bool = a.dtype.itemsize == 4
    return single and a.size * b.shape[1] >= _BLOCK


def _centred(a: Any, b: Any) -> tuple[Any, Any]:
    middle = a.mean(1, np.float64, keepdims=True)
    return a - middle, b - middle


_NEAR = 1e-8
"""A squared distance that is this small a part of the squared lengths has lost half its digits."""


def _by_double_product(a: Any, b: Any, result: Any) -> bool:
    """Return Euclidean distances in single precision, if few points nearly coincide.

    The product in double precision has twice the digits needed; where more than half of them
    cancel, the distance is computed from the difference.
    """
    left, right = _centred(a, b)
    squares = np.matmul(left, right.swapaxes(1, 2))
    squares *= -2
    sizes = np.vecdot(left, left)[:, :, None] + np.vecdot(right, right)[:, None, :]
    squares += sizes
    sizes *= _NEAR
    # finding flat places takes a tenth of the time
    places = np.flatnonzero(squares <= sizes)
    lists, rows, columns = np.unravel_index(places, squares.shape)
    if len(lists) > max(squares.size // 8, a.shape[1]):
        return False
    near = a[lists, rows] - b[lists, columns]
    squares[lists, rows, columns] = np.vecdot(near, near)
    np.sqrt(squares, out=result, casting="same_kind")
    return True


def _sums(a: Any, b: Any, p: float) -> Any:
    """Return the sums (for p = inf the maxima) of the powers of the differences' coordinates."""
    if _at_once(a, b):
        powers = _power(a[:, :, None, :] - b[:, None, :, :], p)
        return largest(powers, -1) if p == math.inf else np.add.reduce(powers, -1)
    join = np.maximum if p == math.inf else np.add
    total = zeros(a, (a.shape[0], a.shape[1], b.shape[1]), a.dtype)
    for differences in _by_coordinate(a, b):
        join(total, _power(differences, p), out=total)
    return total


def _power(differences: Any, p: float) -> Any:
    """Raise absolute values to the power p, in place; for p = inf leave them."""
    d = differences
    if p == 0:
        # 1 for each coordinate that differs, and NaN for NaN
        return np.absolute(np.sign(d))
    if p == 2:
        return np.multiply(d, d, out=d)
    np.abs(d, out=d)
    return d if p in (1, math.inf) else _raised(d, p)


def _raised(d: Any, p: float) -> Any:
    """Raise non-negative numbers to a power, in place: by products for a small integer."""
    if p == 3:
        return np.multiply(d, d * d, out=d)
    return np.power(d, d.dtype.type(p), out=d)


def _root(sums: Any, p: float) -> Any:
    if p in (0, 1, math.inf):
        return sums
    if p == 2:
        return np.sqrt(sums, out=sums)
    return np.power(sums, sums.dtype.type(1 / p), out=sums)


def cdist_backward(self: Any, x1: Any, x2: Any, result: Any, p: float) -> Any:
    """Return the cotangent of x1, given the cotangent `self` of the distances `result`.

    Where points coincide, and for p < 1 where one of their coordinates does, the derivative is
    taken to be 0.
    """
    g, a, b, distances = map(contiguous, _flat(self, x1, x2, result))
    total = zeros(a, a.shape, x1.dtype)
    if p == 0 or not total.size or not b.size:
        return total.reshape(x1.shape)
    if p not in (1, math.inf):
        none = distances == 0
        steep = np.where(none, 1, distances)
        g = np.where(none, 0, g / (steep if p == 2 else np.power(steep, steep.dtype.type(p - 1))))
    if p == 2 and _in_double(a, b):
        left, right = _centred(a, b)
        total = left * g.sum(-1, np.float64, keepdims=True) - np.matmul(g, right)
        return total.astype(x1.dtype).reshape(x1.shape)
    for lists, rows in _blocks(a.shape[0], a.shape[1], b.shape[1], a.shape[2]):
        total[lists, rows] = _pulled(
            g[lists, rows], a[lists, rows], b[lists], distances[lists, rows], p
        )
    return total.reshape(x1.shape)


def _pulled(g: Any, a: Any, b: Any, distances: Any, p: float) -> Any:
    if _at_once(a, b):
        slopes = _slope(a[:, :, None, :] - b[:, None, :, :], distances[..., None], p)
        return np.einsum("bij,bijm->bim", g, slopes)
    total = empty(a, a.shape, a.dtype)
    for m, differences in enumerate(_by_coordinate(a, b)):
        if p == math.inf:
            total[:, :, m] = _pulled_by_largest(g, differences, distances)
        else:
            total[:, :, m] = np.vecdot(g, _slope(differences, distances, p))
    return total


def _pulled_by_largest(g: Any, d: Any, distances: Any) -> Any:
    """For p = inf, return the cotangents of one coordinate, the largest in few pairs."""
    where = np.flatnonzero(np.abs(d) == distances)
    weights = g.reshape(-1)[where] * np.sign(d.reshape(-1)[where])
    columns = d.shape[2]
    rows = d.shape[0] * d.shape[1]
    return np.bincount(where // columns, weights, rows).reshape(d.shape[:2])


def _slope(d: Any, distances: Any, p: float) -> Any:
    if p == 2:
        return d
    if p == 1:
        # on random numbers a quarter of the time of np.sign, which branches
        up, down = np.greater(d, 0).view(np.int8), np.less(d, 0).view(np.int8)
        np.copyto(d, np.subtract(up, down, out=up))
        return d
    if p == math.inf:
        return np.sign(d) * (np.abs(d) == distances)
    size = np.abs(d)
    none = size == 0
    size[none] = 1
    size = _raised(size, p - 1) if p != 3 else np.multiply(size, size, out=size)
    size[none] = 0
    return np.copysign(size, d, out=size)


@lru_cache(maxsize=16)
def _above(size: int) -> Any:
    """Return the flat positions of the elements above the diagonal of a square matrix."""
    rows, columns = np.triu_indices(size, 1)
    return rows * size + columns


_SMALL = 128


def pdist(self: Any, p: float) -> Any:
    """Return the distances of each point from those after it, in order."""
    size, depth = self.shape
    if size <= _SMALL or not depth or (p == 2 and self.dtype.itemsize == 4):
        return pairs_of_square(cdist(self, self, p, False))
    result = empty(self, size * (size - 1) // 2, self.dtype)
    start, end = 0, 0
    height = max(_BLOCK // size, 1)
    for first in range(0, size, height):
        rows = self[None, first : first + height]
        square = _root(_sums(rows, self[None, first:], p), p)[0]
        for i in range(square.shape[0]):
            start, end = end, end + size - first - i - 1
            result[start:end] = square[i, i + 1 :]
    return result


def pairs_of_square(self: Any) -> Any:
    """Return the elements above the diagonal of a square matrix, row by row."""
    size = self.shape[0]
    if size <= _SMALL:
        return self.reshape(-1)[_above(size)]
    return np.concatenate([self[i, i + 1 :] for i in range(size)])


def square_of_pairs(self: Any, size: int) -> Any:
    """Return a symmetric matrix with self, row by row, above the diagonal."""
    result = zeros(self, (size, size), self.dtype)
    if size <= _SMALL:
        result.reshape(-1)[beside(self, _above(size))] = self
    else:
        end = 0
        for i in range(size):
            start, end = end, end + size - i - 1
            result[i, i + 1 :] = self[start:end]
    result += result.T.copy()
    return result


def renorm(self: Any, p: float, dim: tuple[int, ...], maxnorm: float) -> Any:
    """Scale down the slices of self whose p-norm along `dim` is more than `maxnorm`.

    They are scaled slightly below it: 1e-7 is added to the norm, as in PyTorch.
    """
    length = vector_norm(self, p, dim, True)
    long = length > maxnorm
    factor = np.where(long, maxnorm / (np.where(long, length, 1) + 1e-7), 1)
    return self * factor.astype(length.dtype)
