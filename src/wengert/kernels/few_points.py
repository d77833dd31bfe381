"""Layer 1 · kernels: sampling at few points, where the number of NumPy calls dominates.

All elements around all points are processed at once, along the first dimension of an array.
See NOTE [sampling] in `wengert.kernels.points`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels.points import Layout, Points, powers

_FEW = 1 << 13


def are_few(numbers: Any, layout: Layout, channels: int) -> bool:
    """Return whether points (d, N, P) are few, but many relative to their planes."""
    _, batch, count = numbers.shape
    total = batch * channels * count * len(layout.shifts)
    return 0 < total <= _FEW and 4 * count > math.prod(layout.sizes)


@lru_cache(maxsize=32)
def _coefficients(mode: str, order: int, dtype: Any) -> Any:
    return np.array(powers(mode, order), dtype).T[:, :, None, None]


def _weights(points: Points, order: int) -> Any:
    """Return the derivatives of the weights, of a given order: (d, taps, N, P)."""
    coefficients = _coefficients(points.layout.mode, order, points.rests.dtype)
    rests = points.rests[:, None]
    total = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = total * rests + c
    # a single coefficient is the same for all dimensions
    return total if total.ndim > 3 else [total] * len(rests)


def _joined(each: list[Any]) -> Any:
    """Return the weights (K, N, P) of the elements, the products of those of the dimensions."""
    total = each[0]
    for weights in each[1:]:
        total = total[:, None] * weights
        total = total.reshape(-1, *total.shape[2:])
    return total


def _rows(points: Points, size: int, channels: int) -> Any:
    """Return the indices (K, N, C, P) of all elements in consecutive extended planes."""
    return points.index[:, None] + _offsets(points.layout, len(points.index), channels, size)


@lru_cache(maxsize=64)
def _offsets(layout: Layout, count: int, channels: int, size: int) -> Any:
    """Return the parts of the indices that do not depend on the points."""
    first = np.arange(layout.base, layout.base + count * channels * size, size)
    shifts = np.array(layout.shifts).reshape(-1, 1, 1, 1)
    return first.reshape(count, channels, 1) + shifts


def _elements(extended: Any, points: Points) -> Any:
    """Return the elements (K, N, C, P) around points, from extended planes (N, C, size)."""
    rows = _rows(points, extended.shape[2], extended.shape[1])
    return extended.reshape(math.prod(extended.shape)).take(rows)


def sample(extended: Any, numbers: Any, layout: Layout) -> Any:
    """Return the samples (N, C, P) of extended planes (N, C, size)."""
    points = Points(numbers, layout, True)
    found = _elements(extended, points)
    if layout.mode == "nearest":
        return found[0]
    found *= _joined([*_weights(points, 0)])[:, :, None]
    return np.add.reduce(found, 0)


def scatter(g: Any, numbers: Any, layout: Layout) -> Any:
    """Compute the transpose of `sample`: extended planes (N, C, size)."""
    points = Points(numbers, layout, True)
    batch, channels = g.shape[:2]
    size = math.prod(layout.extended)
    result = np.zeros((batch, channels, size), g.dtype)
    value = g
    if layout.mode != "nearest":
        value = g * _joined([*_weights(points, 0)])[:, :, None]
    rows = _rows(points, size, channels)
    np.add.at(result.reshape(-1), rows.reshape(-1), value.reshape(-1))
    return result


def slopes(extended: Any, g: Any, numbers: Any, layout: Layout) -> Any:
    """Return the derivatives (d, N, P) of the sum of g * samples with respect to positions."""
    points = Points(numbers, layout, True)
    found = _elements(extended, points)
    found *= g
    sums = np.add.reduce(found, 2)
    plain, steep = [*_weights(points, 0)], _weights(points, 1)
    result = np.empty(numbers.shape, sums.dtype)
    for d, part in enumerate(result):
        weights = _joined([*plain[:d], steep[d], *plain[d + 1 :]])
        np.add.reduce(sums * weights, 0, out=part)
    return result
