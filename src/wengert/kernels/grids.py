"""Layer 1 · kernels: sampling images and volumes at the points of a grid.

See NOTE [sampling] in `wengert.kernels.points`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.kernels import few_points
from wengert.kernels.fused import linspace
from wengert.kernels.matmul import bmm
from wengert.kernels.points import Layout, Points, layout_of
from wengert.kernels.protocols import beside

Shape = tuple[int, ...]
# the number of elements per block, which stays in the cache
_BLOCK = 1 << 15


def _by_dimension(grid: Any) -> Any:
    """Return a grid's numbers as (d, N, P), the dimensions in the order of the planes'."""
    return np.ascontiguousarray(grid.transpose(2, 0, 1)[::-1])


def _extended(x: Any, layout: Layout) -> Any:
    """Return planes (N, C, *sizes) with their padding, the last dimensions flattened."""
    if layout.extended == layout.sizes:
        result = x
    elif _has_zeros(layout):
        result = np.zeros((*x.shape[:2], *layout.extended), x.dtype)
        result[_interior(layout)] = x
    else:
        result = x
        for d, source in enumerate(layout.sources):
            result = np.take(result, source, axis=2 + d)
    return result.reshape(*x.shape[:2], math.prod(layout.extended))


def _has_zeros(layout: Layout) -> bool:
    """Return whether planes are padded with zeros, or not at all."""
    return layout.padding == "zeros" or layout.mode != "bicubic"


def _interior(layout: Layout) -> tuple[Any, ...]:
    return (..., *[slice(layout.before, layout.before + n) for n in layout.sizes])


def _folded(buffer: Any, layout: Layout) -> Any:
    """Compute the transpose of `_extended`."""
    result = buffer.reshape(*buffer.shape[:2], *layout.extended)
    if _has_zeros(layout):
        return result[_interior(layout)]
    for d, (n, source) in enumerate(zip(layout.sizes, layout.sources, strict=True)):
        moved = np.moveaxis(result, 2 + d, 0)
        folded = np.zeros((n, *moved.shape[1:]), buffer.dtype)
        np.add.at(folded, source, moved)
        result = np.moveaxis(folded, 0, 2 + d)
    return result


# -- in portions ----------------------------------------------------------------------------------


def _portions(numbers: Any, layout: Layout, channels: int) -> Iterator[tuple[Any, Any, Points]]:
    """Iterate over slices of the batch and of the points, with their points."""
    batch, count = numbers.shape[1:]
    dense = 4 * count > math.prod(layout.sizes)
    some = max(1, _BLOCK // max(count * channels, 1))
    for first in range(0, batch, some):
        for start in range(0, count, _BLOCK):
            part = slice(first, min(first + some, batch)), slice(start, start + _BLOCK)
            yield *part, Points(numbers[:, *part], layout, dense)


class _Room(dict[Any, Any]):
    """Reusable buffers: fresh memory costs more than the arithmetic."""

    def array(self, name: str, shape: Shape, dtype: Any) -> Any:
        found = self.get((name, shape))
        if found is None:
            found = self[name, shape] = np.empty(shape, dtype)
        return found


def _rows(points: Points, size: int, channels: int, room: _Room) -> Any:
    """Return the points' indices in consecutive extended planes: (N, C, P)."""
    index = points.index
    shape = (len(index), channels, index.shape[1])
    first = _first(len(index), channels, size) + points.layout.base
    return np.add(index[:, None], first, out=room.array("rows", shape, np.intp))


def _first(count: int, channels: int, size: int) -> Any:
    """Return the offset of each plane."""
    return np.arange(0, count * channels * size, size).reshape(count, channels, 1)


def _in_all(index: Any, size: int, channels: int) -> Any:
    return index[:, None] + _first(len(index), channels, size)


def _channel_blocks(channels: int, count: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(count, 1))
    for first in range(0, channels, step):
        yield slice(first, min(first + step, channels))


def _plain(planes: Any) -> Any:
    return planes.reshape(*planes.shape[:2], math.prod(planes.shape[2:]))


class _Reader:
    """The elements around points, from planes (N, C, *sizes)."""

    __slots__ = ("flat", "points", "room", "rows", "shape")

    def __init__(self, planes: Any, points: Points, room: _Room) -> None:
        x = _extended(planes, points.layout) if points.dense else _plain(planes)
        self.points = points
        self.shape = x.shape
        self.flat = x.reshape(math.prod(x.shape))
        self.room = room
        self.rows: Any = None
        if points.dense:
            self.rows = _rows(points, x.shape[2], x.shape[1], room)

    def at(self, k: int, out: Any = None) -> Any:
        """Read the k-th element around each point, (N, C, P), into `out` or the previous buffer."""
        layout = self.points.layout
        if self.points.dense:
            view = self.flat[layout.shifts[k] :]
            if out is None:
                out = self.room.array("value", self.rows.shape, view.dtype)
            return view.take(self.rows, mode="clip", out=out)
        places, none = self.points.places(layout.offsets[k])
        found = self.flat.take(_in_all(places, self.shape[2], self.shape[1]))
        if np.any(none):
            found[np.broadcast_to(none[:, None], found.shape)] = 0
        return found


def _wide(array: Any) -> Any:
    """Wrap a kernel: float16 is too coarse to compute positions in."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 else array


def _flat(grid: Any) -> Any:
    """Return a grid (N, ..., d) in the shape (d, N, P)."""
    count = math.prod(grid.shape[1:-1])
    return _by_dimension(_wide(grid.reshape(grid.shape[0], count, grid.shape[-1])))


# -- sampling -------------------------------------------------------------------------------------


def grid_sample(self: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool) -> Any:
    """Sample the planes of self at the points of a grid."""
    x, numbers = _wide(self), _flat(grid)
    channels = x.shape[1]
    layout = layout_of(x.shape[2:], mode, padding_mode, align_corners, numbers.dtype)
    shape = (len(x), channels, numbers.shape[2])
    if few_points.are_few(numbers, layout, channels):
        result = few_points.sample(_extended(x, layout), numbers, layout)
    else:
        result, room = np.empty(shape, x.dtype), _Room()
        for some, part, points in _portions(numbers, layout, channels) if result.size else ():
            weights = points.weights((0,) * len(layout.sizes))
            for block in _channel_blocks(channels, result.shape[2]):
                _weighted(_Reader(x[some, block], points, room), weights, result[some, block, part])
    result = result.reshape(*x.shape[:2], *grid.shape[1:-1])
    return result.astype(self.dtype, copy=False)


def _weighted(reader: _Reader, weights: list[Any], out: Any) -> None:
    """Write the weighted sums of the elements into `out`."""
    direct = reader.points.dense and out.flags.c_contiguous
    for k, weight in enumerate(weights):
        value = reader.at(k, out if direct and not k else None)
        if not isinstance(weight, float):
            value *= weight[:, None]
        if k:
            out += value
        elif not direct:
            out[...] = value


def grid_sample_backward(
    self: Any, grid: Any, shape: Shape, mode: str, padding_mode: str, align_corners: bool
) -> Any:
    """Compute the transpose of `grid_sample`, for planes of `shape`."""
    numbers = _flat(grid)
    batch, channels = self.shape[:2]
    g = _wide(self).reshape(batch, channels, numbers.shape[2])
    layout = layout_of(shape, mode, padding_mode, align_corners, numbers.dtype)
    if few_points.are_few(numbers, layout, channels):
        result = _folded(few_points.scatter(g, numbers, layout), layout)
        return result.astype(self.dtype, copy=False)
    result = np.zeros((batch, channels, *shape), g.dtype)
    if g.size:
        room = _Room()
        for some, part, points in _portions(numbers, layout, channels):
            weights = points.weights((0,) * len(shape))
            for block in _channel_blocks(channels, g.shape[2]):
                planes = _scattered(g[some, block, part], points, weights, room)
                if g.shape[2] <= _BLOCK:
                    result[some, block] = planes
                else:
                    result[some, block] += planes
    return result.astype(self.dtype, copy=False)


def _scattered(g: Any, points: Points, weights: list[Any], room: _Room) -> Any:
    """Return planes with the values at points scattered to them."""
    batch, channels = g.shape[:2]
    layout = points.layout
    sizes = layout.extended if points.dense else layout.sizes
    size = math.prod(sizes)
    buffer = np.zeros((batch, channels, size), g.dtype)
    flat = buffer.reshape(-1)
    rows: Any = _rows(points, size, channels, room).reshape(-1) if points.dense else None
    for k, weight in enumerate(weights):
        value = g
        if not isinstance(weight, float):
            value = np.multiply(g, weight[:, None], out=room.array("value", g.shape, g.dtype))
        if points.dense:
            view, at = flat[layout.shifts[k] :], rows
        else:
            places, none = points.places(layout.offsets[k])
            if np.any(none):
                value = np.where(none[:, None], g.dtype.type(0), value)
            view, at = flat, _in_all(places, size, channels).reshape(-1)
        np.add.at(view, at, value.reshape(-1))
    return _folded(buffer, layout) if points.dense else buffer.reshape(batch, channels, *sizes)


def grid_sample_slope(
    self: Any, input: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool
) -> Any:
    """Return the derivative of the sum of self * samples with respect to the grid."""
    x, numbers = _wide(input), _flat(grid)
    batch, channels = x.shape[:2]
    g = _wide(self).reshape(batch, channels, numbers.shape[2])
    layout = layout_of(x.shape[2:], mode, padding_mode, align_corners, numbers.dtype)
    result = np.zeros(numbers.shape, numbers.dtype)
    if mode != "nearest" and few_points.are_few(numbers, layout, channels):
        result = few_points.slopes(_extended(x, layout), g, numbers, layout)
        result *= layout.turn(numbers)
    elif mode != "nearest" and g.size:
        room = _Room()
        for some, part, points in _portions(numbers, layout, channels):
            sums = [0] * len(layout.offsets)
            for block in _channel_blocks(channels, g.shape[2]):
                reader = _Reader(x[some, block], points, room)
                given = g[some, block, part]
                for k in range(len(sums)):
                    value = reader.at(k)
                    value *= given
                    sums[k] = sums[k] + value.sum(1)
            for d in range(len(numbers)):
                steep = points.weights(tuple([int(e == d) for e in range(len(numbers))]))
                for value, weight in zip(sums, steep, strict=True):
                    if weight is not None:
                        result[d, some, part] += value * weight
        result *= layout.turn(numbers)
    result = result[::-1].transpose(1, 2, 0).reshape(grid.shape)
    return result.astype(grid.dtype, copy=False)


# -- grids of affine maps -------------------------------------------------------------------------


def _steps(n: int, align_corners: bool, dtype: Any) -> Any:
    if n <= 1:
        return np.zeros(n, dtype)
    steps = linspace(-1, 1, n, dtype)
    return steps if align_corners else steps * (n - 1) / n


def _points(like: Any, size: Shape, align_corners: bool) -> Any:
    """Return the points (..., x, 1) of the grid of the identity, one in each row."""
    spatial, dtype = size[2:], like.dtype
    dims = len(spatial)
    points = np.ones((*spatial, dims + 1), dtype)
    for d, n in enumerate(spatial):
        # the last dimension of the planes is x
        steps = _steps(n, align_corners, dtype)
        points[..., dims - 1 - d] = steps.reshape(-1, *(1,) * (dims - 1 - d))
    return beside(like, points.reshape(-1, dims + 1))


def affine_grid_generator(self: Any, size: Shape, align_corners: bool) -> Any:
    """Return the points of a grid, moved by affine maps (N, d, d + 1), as (N, *size, d)."""
    moved = bmm(_points(self, size, align_corners), self.swapaxes(-1, -2))
    return moved.reshape(*self.shape[:-2], *size[2:], self.shape[-2])


def affine_grid_backward(self: Any, size: Shape, align_corners: bool) -> Any:
    """Return the transpose of `affine_grid_generator`."""
    dims = len(size) - 2
    flat = self.reshape(*self.shape[: -dims - 1], math.prod(size[2:]), dims)
    return bmm(flat.swapaxes(-1, -2), _points(self, size, align_corners))
