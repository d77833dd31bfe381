"""Layer 1 · kernels: the parts of sampling at a grid's points, for derivatives of higher order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels.points import Layout, Points
from wengert.kernels.protocols import arange, zeros

Shape = tuple[int, ...]


def _numbers(self: Any) -> Any:
    """Return a grid (N, ..., d) as (d, N, P), in double precision."""
    if self.dtype.kind == "c":
        raise TypeError("positions in an image are real numbers")
    batch, dims = self.shape[0], self.shape[-1]
    flat = self.reshape(batch, math.prod(self.shape[1:-1]), dims).astype(np.float64)
    return flat.transpose(2, 0, 1)[::-1]


def _back(numbers: Any, self: Any) -> Any:
    return numbers[::-1].transpose(1, 2, 0).reshape(self.shape).astype(self.dtype)


def _layout(sizes: Shape, mode: str, padding_mode: str, align_corners: bool) -> Layout:
    return Layout(sizes, mode, padding_mode, align_corners, np.dtype(np.float64))


def grid_position(
    self: Any, sizes: Shape, mode: str, padding_mode: str, align_corners: bool
) -> Any:
    """Return the padded positions of a grid's points; the width is the last dimension."""
    layout = _layout(sizes, mode, padding_mode, align_corners)
    return _back(layout.position(_numbers(self)), self)


def grid_turn(self: Any, sizes: Shape, mode: str, padding_mode: str, align_corners: bool) -> Any:
    """Return the derivatives of positions with respect to a grid's numbers."""
    layout = _layout(sizes, mode, padding_mode, align_corners)
    numbers = _numbers(self)
    return _back(np.broadcast_to(layout.turn(numbers), numbers.shape), self)


def grid_corners(self: Any, sizes: Shape, mode: str, padding_mode: str, align_corners: bool) -> Any:
    """Return the indices of the elements around each point, (N, elements, points); -1 for 0."""
    layout = _layout(sizes, mode, padding_mode, align_corners)
    points = Points(_numbers(self), layout, False)
    found = [points.places(offset) for offset in layout.offsets]
    return np.stack([np.where(none, -1, place) for place, none in found], axis=1)


def _places(index: Any, channels: int, size: int) -> Any:
    """Convert positions in each plane, (N, K, P), to (N, C, K, P) in all planes; -1 becomes 0."""
    batch = index.shape[0]
    first = arange(index, batch * channels).reshape(batch, channels, 1, 1) * size
    return np.maximum(index, 0)[:, None] + first


def corner_pick(self: Any, index: Any) -> Any:
    """Gather elements of planes (N, C, ...) at positions (N, K, P): shape (N, C, K, P)."""
    size = math.prod(self.shape[2:])
    found = self.reshape(math.prod(self.shape)).take(_places(index, self.shape[1], size))
    return np.where(index[:, None] < 0, self.dtype.type(0), found)


def corner_scatter(self: Any, index: Any, shape: Shape) -> Any:
    """Return the transpose of `corner_pick` of planes of `shape`."""
    result = zeros(self, (*self.shape[:2], *shape), self.dtype)
    value = np.where(index[:, None] < 0, self.dtype.type(0), self)
    places = _places(index, self.shape[1], math.prod(shape))
    np.add.at(result.reshape(-1), places.reshape(-1), value.reshape(-1))
    return result
