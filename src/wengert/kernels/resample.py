"""Layer 1 · kernels: interpolation and adaptive means: weighted sums of few elements along each
dimension.

NOTE [resampling]
Resampling a dimension of size n to m is a product with a banded m by n matrix: a `Table` has the
few nonzero elements of each row. BLAS computes the product with dense blocks along the diagonal,
one dimension at a time. Since a 0 of a block times an infinity or a NaN is NaN, arrays that contain
any are resampled with the nonzero elements alone.

The weights are those of R. Keys, Cubic convolution interpolation for digital image processing, IEEE
Transactions on Acoustics, Speech, and Signal Processing 29 (1981), with a = -0.75 and, for
antialiasing, -0.5; the filters for antialiasing are stretched by the scale, as in Pillow.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels.mean_pooling import avg_pool, avg_pool_backward
from wengert.kernels.protocols import beside, empty, is_numpys, zeros
from wengert.kernels.windows import as_product, by_blocks, matrix_of, product

Shape = tuple[int, ...]
Scales = tuple[float | None, ...]
_EXACT = 64


class Table:
    """The elements, and their weights, that each position of a resampled dimension combines.

    Attributes
    ----------
    n, m: The sizes before and after.
    places, weights
        Of shape (m, taps); missing taps have the weight 0 and the position of another tap.
    step
        If position i is just the element ``i * step``, that step; if each element is copied, so
        that it is the element ``i // copies``, minus the number of copies; else 0.
    """

    __slots__ = ("_blocks", "gaps", "m", "n", "places", "step", "weights")

    def __init__(self, n: int, places: Any, weights: Any, gaps: bool = False) -> None:
        self.n = n
        self.m = m = len(places)
        self.places = places
        self.weights = weights
        self.gaps = gaps
        self.step = 0
        if places.shape[1] == 1 and m:
            one, where = places[:, 0], np.arange(m)
            down, up = -(-n // m), m // n
            if np.array_equal(one, where * down):
                self.step = down
            elif up * n == m and np.array_equal(one, where // up):
                self.step = -up
        self._blocks: dict[Any, list[tuple[slice, slice, Any]]] = {}

    def blocks(self, dtype: Any, transposed: bool) -> list[tuple[slice, slice, Any]]:
        """Return ``(out, part, matrix)``: parts of the result as products of parts of the input."""
        found = self._blocks.get((dtype, transposed))
        if found is None:
            found = self._blocks[dtype, transposed] = [
                (out, part, np.ascontiguousarray(matrix, dtype))
                for out, part, matrix in (self._rows_of(transposed))
            ]
        return found

    def _rows_of(self, transposed: bool) -> list[tuple[slice, slice, Any]]:
        if self.n * self.m <= _EXACT * _EXACT:
            bounds = [(0, self.m)]
        else:
            rows = max(1, min(_EXACT, _EXACT * self.m // (2 * self.n)))
            bounds = [(at, min(at + rows, self.m)) for at in range(0, self.m, rows)]
        if not transposed:
            return [self._block(first, last) for first, last in bounds]
        return self._columns()

    def _block(self, first: int, last: int) -> tuple[slice, slice, Any]:
        places = self.places[first:last]
        low, high = int(places.min()), int(places.max()) + 1
        return slice(first, last), slice(low, high), self._dense(first, last, low, high)

    def _dense(self, first: int, last: int, low: int, high: int) -> Any:
        matrix = np.zeros((last - first, high - low))
        places = self.places[first:last]
        rows = np.broadcast_to(np.arange(last - first)[:, None], places.shape)
        within = (places >= low) & (places < high)
        np.add.at(matrix, (rows[within], places[within] - low), self.weights[first:last][within])
        return matrix

    def _columns(self) -> list[tuple[slice, slice, Any]]:
        columns = self.n
        if self.n * self.m > _EXACT * _EXACT:
            columns = max(1, min(_EXACT, _EXACT * self.n // (2 * self.m)))
        found = []
        lowest, highest = self.places.min(1), self.places.max(1)
        for low in range(0, self.n, columns):
            high = min(low + columns, self.n)
            touch = np.flatnonzero((lowest < high) & (highest >= low))
            if touch.size:
                first, last = int(touch[0]), int(touch[-1]) + 1
                matrix = self._dense(first, last, low, high).T
            else:
                first, last, matrix = 0, 1, np.zeros((high - low, 1))
            found.append((slice(low, high), slice(first, last), matrix))
        return found


# -- the weights ----------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _table(kind: str, n: int, m: int, scale: float | None, align_corners: bool) -> Table:
    if kind == "bins":
        return _bins(n, m)
    if kind.startswith("nearest"):
        return _nearest(kind, n, m, scale)
    if align_corners:
        step = (n - 1) / (m - 1) if m > 1 else 0.0
    else:
        step = 1 / scale if scale is not None and scale > 0 else n / m
    place = np.arange(m)
    if n == m and (kind == "linear" or kind in _FILTERS):
        # regardless of the scale, as in PyTorch
        return Table(n, place[:, None], np.ones((m, 1)))
    if kind in _FILTERS:
        return _filtered(kind, n, m, step)
    at = place * step if align_corners else (place + 0.5) * step - 0.5
    if kind == "linear":
        at = np.maximum(at, 0)
    first = np.minimum(np.floor(at), n - 1)
    t = np.clip(at - first, 0, 1)
    first = first.astype(np.int64)
    if kind == "linear":
        return Table(n, np.stack([first, np.minimum(first + 1, n - 1)], 1), np.stack([1 - t, t], 1))
    taps = np.arange(-1, 3)
    weights = _cubic(t[:, None] - taps, -0.75)
    return Table(n, np.clip(first[:, None] + taps, 0, n - 1), weights)


def _bins(n: int, m: int) -> Table:
    place = np.arange(m)
    start, end = place * n // m, -(-(place + 1) * n // m)
    taps = np.arange(int((end - start).max()))
    places = start[:, None] + taps
    there = places < end[:, None]
    return Table(n, np.where(there, places, start[:, None]), there * 1.0, not there.all())


def _nearest(kind: str, n: int, m: int, scale: float | None) -> Table:
    # in float32, as in PyTorch, since rounding decides between neighbours
    single = np.float32
    step = single(1 / scale) if scale is not None and scale > 0 else single(n) / single(m)
    at = (np.arange(m, dtype=single) + single(0.5 * (kind == "nearest-exact"))) * step
    where = np.minimum(np.floor(at).astype(np.int64), n - 1)
    return Table(n, where[:, None], np.ones((m, 1)))


def _cubic(x: Any, a: float) -> Any:
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _hat(x: Any) -> Any:
    return np.maximum(1 - np.abs(x), 0)


def _lanczos(x: Any) -> Any:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


# half the width of each filter, and the filter
_FILTERS: dict[str, tuple[float, Any]] = {
    "linear aa": (1.0, _hat),
    "cubic aa": (2.0, lambda x: _cubic(x, -0.5)),
    "lanczos aa": (3.0, _lanczos),
}


def _filtered(kind: str, n: int, m: int, step: float) -> Table:
    half, function = _FILTERS[kind]
    wide = max(step, 1.0)
    reach = half * wide
    center = step * (np.arange(m) + 0.5)
    start = np.maximum((center - reach + 0.5).astype(np.int64), 0)
    end = np.minimum((center + reach + 0.5).astype(np.int64), n)
    # a scale that leads beyond the input leaves its last element
    start = np.minimum(start, n - 1)
    end = np.maximum(end, start + 1)
    places = start[:, None] + np.arange(int((end - start).max()))
    there = places < end[:, None]
    weights = function((places - center[:, None] + 0.5) / wide) * there
    total = weights.sum(1, keepdims=True)
    weights = np.divide(weights, total, out=weights, where=total != 0)
    return Table(n, np.where(there, places, start[:, None]), weights, not there.all())


# -- along a dimension ----------------------------------------------------------------------------


def _split(x: Any, axis: int) -> tuple[int, int]:
    """Return the number of elements before and after `axis`, which is negative."""
    shape = x.shape
    return math.prod(shape[:axis]), math.prod(shape[x.ndim + axis + 1 :])


def _replaced(x: Any, axis: int, size: int) -> Shape:
    at = x.ndim + axis
    return (*x.shape[:at], size, *x.shape[at + 1 :])


def _product(x: Any, table: Table, axis: int, transposed: bool) -> Any:
    """Compute the product by blocks of the matrix."""
    size = table.n if transposed else table.m
    before, behind = _split(x, axis)
    result: Any = empty(x, _replaced(x, axis, size), x.dtype)
    blocks = table.blocks(x.dtype, transposed)
    if behind == 1:
        rows, to = x.reshape(before, x.shape[axis]), result.reshape(before, size)
        for out, part, matrix in blocks:
            np.matmul(rows[:, part], beside(x, matrix).T, out=to[:, out])
    else:
        rows, to = x.reshape(before, x.shape[axis], behind), result.reshape(before, size, behind)
        for out, part, matrix in blocks:
            np.matmul(beside(x, matrix), rows[:, part], out=to[:, out])
    return result


def _product_back(g: Any, table: Table, axis: int) -> Any:
    return _product(g, table, axis, True)


def _gathered(x: Any, table: Table, axis: int) -> Any:
    """Take one element for each position."""
    if table.step > 0:
        keep = (..., slice(0, (table.m - 1) * table.step + 1, table.step))
        return x[(*keep, *(slice(None),) * (-axis - 1))]
    if is_numpys(x):
        return np.take(x, table.places[:, 0], axis=axis, mode="clip")
    return np.take(x, beside(x, table.places[:, 0]), axis=axis)


def _summed(x: Any, table: Table, axis: int) -> Any:
    """Compute each row of the product from its nonzero elements."""
    result: Any = 0
    tail = (1,) * (-axis - 1)
    for j in range(table.places.shape[1]):
        weight = table.weights[:, j].astype(x.dtype).reshape(-1, *tail)
        term = np.take(x, table.places[:, j], axis=axis) * weight
        if table.gaps:
            term = np.where(weight != 0, term, x.dtype.type(0))
        result = result + term
    return result


def _returned(g: Any, table: Table, axis: int) -> Any:
    """Compute the transpose of `_summed`."""
    moved = np.moveaxis(g, axis, 0)
    result = np.zeros((table.n, *moved.shape[1:]), g.dtype)
    tail = (1,) * (g.ndim - 1)
    for j in range(table.places.shape[1]):
        weight = table.weights[:, j].astype(g.dtype).reshape(-1, *tail)
        term = moved * weight
        if table.gaps:
            term = np.where(weight != 0, term, g.dtype.type(0))
        np.add.at(result, table.places[:, j], term)
    return np.moveaxis(result, 0, axis)


def _returned_one(g: Any, table: Table, axis: int) -> Any:
    """Compute the transpose of `_gathered` with a step: no product is needed."""
    tail: Any = (slice(None),) * (-axis - 1)
    if table.step > 0:
        result: Any = zeros(g, _replaced(g, axis, table.n), g.dtype)
        result[(..., slice(0, (table.m - 1) * table.step + 1, table.step), *tail)] = g
        return result
    copies = -table.step
    result = g[(..., slice(0, None, copies), *tail)]
    for j in range(1, copies):
        result = result + g[(..., slice(j, None, copies), *tail)]
    return result


# -- over all dimensions --------------------------------------------------------------------------


def uneven(sizes: Shape, output_size: Shape) -> bool:
    """Return whether the bins need different lengths."""
    return 0 in output_size or any(n % m for n, m in zip(sizes, output_size, strict=True))


@lru_cache(maxsize=256)
def _tables(
    kind: str,
    sizes: Shape,
    output_size: Shape,
    align_corners: bool,
    scales: Scales,
) -> list[tuple[int, Table]]:
    """Return the axes with their tables, those that shrink the array first."""
    found = [
        (axis, _table(kind, n, m, scale, align_corners))
        for axis, (n, m, scale) in enumerate(
            zip(sizes, output_size, scales, strict=True), start=-len(sizes)
        )
    ]
    found = [(axis, table) for axis, table in found if table.step not in (1, -1)]
    return sorted(found, key=lambda pair: (pair[1].m / pair[1].n, -pair[0]))


@lru_cache(maxsize=256)
def _lengths(sizes: Shape, output_size: Shape, dtype: Any) -> Any:
    """Return the number of elements in each bin."""
    total = np.ones((), dtype)
    for n, m in zip(sizes, output_size, strict=True):
        place = np.arange(m)
        total = total[..., None] * (-(-(place + 1) * n // m) - place * n // m).astype(dtype)
    return total


def _is_finite(x: Any) -> bool:
    # sums of finite numbers that overflow only cost time
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(np.add.reduce(x, axis=None))


@lru_cache(maxsize=128)
def _matrix(
    kind: str,
    sizes: Shape,
    output_size: Shape,
    align_corners: bool,
    scales: Scales,
    dtype: Any,
) -> Any:
    """Return the combined matrix of all tables."""
    tables = _tables(kind, sizes, output_size, align_corners, scales)

    def computed(x: Any) -> Any:
        for axis, table in tables:
            x = _product(x, table, axis, False)
        return x

    return matrix_of(computed, sizes, dtype)


def _evenly(dims: int) -> dict[str, Any]:
    return {
        "padding": (0,) * dims,
        "ceil_mode": False,
        "count_include_pad": True,
        "divisor_override": None,
    }


def resample(self: Any, kind: str, output_size: Shape, align_corners: bool, scales: Scales) -> Any:
    """Resample the last dimensions of self to other sizes."""
    dims = len(output_size)
    sizes = self.shape[-dims:]
    if 0 in output_size:
        return np.zeros((*self.shape[:-dims], *output_size), self.dtype)
    if kind == "bins" and not uneven(sizes, output_size):
        kernel = tuple([n // m for n, m in zip(sizes, output_size, strict=True)])
        return avg_pool(self, kernel, kernel, **_evenly(dims))
    tables = _tables(kind, sizes, output_size, align_corners, scales)
    if kind.startswith("nearest"):

        def chosen(x: Any) -> Any:
            for axis, table in tables:
                x = _gathered(x, table, axis)
            return x

        result = by_blocks(chosen, self, dims, output_size)
        return result.copy() if np.may_share_memory(result, self) else result

    def computed(x: Any) -> Any:
        if _is_finite(x):
            for axis, table in tables:
                x = _product(x, table, axis, False)
            return x
        with np.errstate(invalid="ignore"):
            for axis, table in tables:
                x = _summed(x, table, axis)
        return x

    if self.dtype.kind == "u":
        return _resample_bytes(self, dict(tables))
    wide = self if self.dtype.itemsize > 2 else self.astype(np.float32)
    if as_product(wide, output_size):
        matrix = _matrix(kind, sizes, output_size, align_corners, scales, wide.dtype)
        result = product(wide, dims, matrix, output_size)
    else:
        result = by_blocks(computed, wide, dims, output_size)
    if kind == "bins":
        result /= beside(wide, _lengths(sizes, output_size, wide.dtype))
    return result.astype(self.dtype) if wide is not self or result is self else result


def _resample_bytes(self: Any, tables: dict[int, Table]) -> Any:
    """Resample uint8, rounding after each dimension, the last one first, as PyTorch does."""
    for axis in sorted(tables, reverse=True):
        exact = _product(self.astype(np.float32), tables[axis], axis, False)
        self = np.clip(np.floor(exact + np.float32(0.5)), 0, 255).astype(np.uint8)
    return self.copy() if not tables else self


def resample_backward(
    self: Any, kind: str, shape: Shape, align_corners: bool, scales: Scales
) -> Any:
    """Compute the transpose of `resample`, for arrays with last dimensions `shape`."""
    dims = len(shape)
    sizes = self.shape[-dims:]
    if 0 in sizes:
        return np.zeros((*self.shape[:-dims], *shape), self.dtype)
    if kind == "bins" and not uneven(shape, sizes):
        kernel = tuple([n // m for n, m in zip(shape, sizes, strict=True)])
        return avg_pool_backward(self, shape, kernel, kernel, **_evenly(dims))
    tables = _tables(kind, shape, sizes, align_corners, scales)[::-1]

    def computed(g: Any) -> Any:
        if kind == "bins":
            g = g / beside(g, _lengths(shape, sizes, g.dtype))
        transposed = _product_back if _is_finite(g) else _returned
        with np.errstate(invalid="ignore"):
            for axis, table in tables:
                g = (_returned_one if table.step else transposed)(g, table, axis)
        return g

    wide = self if self.dtype.itemsize > 2 else self.astype(np.float32)
    if not kind.startswith("nearest") and as_product(wide, shape):
        matrix = _matrix(kind, shape, sizes, align_corners, scales, wide.dtype)
        if kind == "bins":
            wide = wide / beside(wide, _lengths(shape, sizes, wide.dtype))
        return product(wide, dims, matrix.T, shape).astype(self.dtype, copy=False)
    result = by_blocks(computed, wide, dims, shape)
    return result.astype(self.dtype) if wide is not self or result is self else result
