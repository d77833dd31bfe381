"""Layer 8 · compiler: decompositions of bilinear sampling of planes at the points of a grid.

As in the kernels, points that are not finite have no sample, and rounding decides in the same way
whether a point is on an element.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.decompose.rules import Dims, rule
from wengert.prims import records

_INT64 = np.dtype(np.int64)


class _Beside(NamedTuple):
    """The elements of a dimension next to points: index, or 0 outside; inside or not; weight."""

    index: Any
    within: Any
    weight: Any


def _axis(F: Any, number: Any, size: int, align_corners: bool) -> list[_Beside]:
    """Return the two elements of a dimension around points."""
    position = (number + 1) * ((size - align_corners) / 2)
    if not align_corners:
        position = position - 0.5
    position = F.where(F.isfinite(position), position, math.nan)
    floor = F.floor(position)
    rest = position - floor
    first = F.to_copy(F.where(floor > -2, F.minimum(floor, size), -2), dtype=_INT64)
    found = []
    for index, weight in ((first, 1 - rest), (first + 1, rest)):
        within = F.logical_and(index >= 0, index < size)
        found.append(_Beside(F.where(within, index, 0), within, weight))
    return found


def _axes(F: Any, grid: Any, sizes: Dims, align_corners: bool) -> list[list[_Beside]]:
    """Return the elements around the points of a grid, as (N, 1, P), for each dimension."""
    shape = (grid.shape[0], 1, math.prod(grid.shape[1:-1]))
    axes = []
    for d, size in enumerate(sizes):
        # the grid has the coordinates in reverse order
        number = F.select(grid, dim=len(grid.shape) - 1, index=len(sizes) - 1 - d)
        axes.append(_axis(F, F.view(number, shape=shape), size, align_corners))
    return axes


def _corners(F: Any, axes: list[list[_Beside]], width: int) -> Iterator[_Beside]:
    """Yield the four elements around points, their indices in flat planes."""
    for above in axes[0]:
        for beside in axes[1]:
            yield _Beside(
                above.index * width + beside.index,
                F.logical_and(above.within, beside.within),
                above.weight * beside.weight,
            )


def _takes(planes: Any, grid: Any, mode: str, padding_mode: str) -> bool:
    same = planes.dtype == grid.dtype and planes.dtype.char in "fd"
    full = 0 not in planes.shape and 0 not in grid.shape
    return same and full and grid.shape[-1] == 2 and (mode, padding_mode) == ("bilinear", "zeros")


def _flat(F: Any, planes: Any) -> Any:
    return F.view(planes, shape=(*planes.shape[:2], math.prod(planes.shape[2:])))


def _read(F: Any, flat: Any, corner: _Beside) -> Any:
    """Return the elements of flat planes at a corner, 0 outside."""
    index = F.expand(corner.index, shape=(*flat.shape[:2], corner.index.shape[2]))
    return F.where(corner.within, F.gather(flat, index, dim=2), 0)


@rule(records.grid_sampler_2d)
def _sample(F: Any, self: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool) -> Any:
    if not _takes(self, grid, mode, padding_mode):
        return NotImplemented
    flat, sizes = _flat(F, self), tuple(self.shape[2:])
    first, *others = [
        _read(F, flat, corner) * corner.weight
        for corner in _corners(F, _axes(F, grid, sizes, align_corners), sizes[1])
    ]
    return F.view(sum(others, first), shape=(*self.shape[:2], *grid.shape[1:-1]))


@rule(records.grid_sample_backward)
def _sample_backward(
    F: Any, self: Any, grid: Any, shape: Dims, mode: str, padding_mode: str, align_corners: bool
) -> Any:
    if 0 in shape or not _takes(self, grid, mode, padding_mode):
        return NotImplemented
    flat, lead = _flat(F, self), tuple(self.shape[:2])
    found = F.zeros(shape=(*lead, math.prod(shape)), dtype=self.dtype)
    for corner in _corners(F, _axes(F, grid, shape, align_corners), shape[1]):
        index = F.expand(corner.index, shape=tuple(flat.shape))
        added = F.where(corner.within, flat * corner.weight, 0)
        found = F.scatter_add(found, index, added, dim=2)
    return F.view(found, shape=(*lead, *shape))


@rule(records.grid_sample_slope)
def _sample_slope(
    F: Any, self: Any, input: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool
) -> Any:
    if not _takes(input, grid, mode, padding_mode):
        return NotImplemented
    flat, weights, sizes = _flat(F, input), _flat(F, self), tuple(input.shape[2:])
    axes = _axes(F, grid, sizes, align_corners)
    a, b, c, d = (
        F.sum_dim(_read(F, flat, corner) * weights, dim=(1,), keepdim=True)
        for corner in _corners(F, axes, sizes[1])
    )
    above, beside = axes
    slopes = (
        (c - a) * beside[0].weight + (d - b) * beside[1].weight,
        (b - a) * above[0].weight + (d - c) * above[1].weight,
    )
    parts = [
        F.view(slope * ((size - align_corners) / 2), shape=tuple(grid.shape[:-1]))
        for slope, size in zip(slopes, sizes, strict=True)
    ]
    return F.stack(*parts[::-1], dim=len(grid.shape) - 1)
