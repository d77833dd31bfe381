"""Layer 1 · kernels: convolution of images whose channels are next to each other in memory.

A window is then a row of a matrix, copied in long runs, and the products have the same order, so
nothing is transposed before or after.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from wengert.kernels.columns import overlap, reach

Shape = tuple[int, ...]

_BLOCK = 1 << 20
"""The bytes of windows multiplied at a time, which stay in the cache."""


def is_last(array: Any) -> bool:
    """Return whether the channels of images are the dimension with the smallest stride."""
    if array.ndim < 4 or array.dtype.char not in "fd" or array.flags.c_contiguous:
        return False
    return bool(np.moveaxis(array, 1, -1).flags.c_contiguous)


def correlate_rows(
    self: Any, weight: Any, size: Shape, stride: Shape, padding: Shape, dilation: Shape
) -> Any:
    """Compute `correlate` for one group."""
    count, planes = len(self), len(weight)
    matrix = np.moveaxis(weight, 1, -1).reshape(planes, -1).T
    result = np.empty((count, *size, planes), self.dtype)
    for rows, where in _windows(self, weight.shape[2:], size, stride, padding, dilation):
        np.matmul(rows, matrix, out=result[where].reshape(-1, planes))
    return np.moveaxis(result, -1, 1)


def correlate_weight_rows(
    self: Any, other: Any, size: Shape, stride: Shape, padding: Shape, dilation: Shape
) -> Any:
    """Compute `correlate_weight` for one group, where both have their channels last."""
    channels, planes = self.shape[1], other.shape[1]
    result = np.zeros((planes, math.prod(size) * channels), self.dtype)
    moved = np.moveaxis(other, 1, -1)
    for rows, where in _windows(self, size, other.shape[2:], stride, padding, dilation):
        result += moved[where].reshape(-1, planes).T.dot(rows)
    return np.ascontiguousarray(np.moveaxis(result.reshape(planes, *size, channels), -1, 1))


def _windows(
    self: Any, kernel: Shape, size: Shape, stride: Shape, padding: Shape, dilation: Shape
) -> Iterator[tuple[Any, tuple[slice, slice]]]:
    """Iterate over windows as rows of matrices, with their images and rows of images."""
    moved = np.moveaxis(self, 1, -1)
    count, channels = len(moved), moved.shape[-1]
    reached = reach(size, kernel, stride, dilation)
    if reached != self.shape[2:] or any(padding):
        outer, inner = overlap(self.shape[2:], padding, reached)
        box = np.zeros((count, *reached, channels), self.dtype)
        box[(slice(None), *inner)] = moved[(slice(None), *outer)]
        moved = box
    steps = moved.strides
    within = steps[1:-1]
    windows = as_strided(
        moved,
        (count, *size, *kernel, channels),
        (
            steps[0],
            *(step * by for step, by in zip(within, stride, strict=True)),
            *(step * by for step, by in zip(within, dilation, strict=True)),
            steps[-1],
        ),
        writeable=False,
    )
    taps = math.prod(kernel) * channels
    line = math.prod(size[1:]) * taps * self.itemsize
    lines = max(1, min(size[0], _BLOCK // line))
    images = max(1, _BLOCK // (line * size[0]))
    for n in range(0, count, images):
        for at in range(0, size[0], lines):
            where = slice(n, n + images), slice(at, at + lines)
            yield windows[where].reshape(-1, taps), where
