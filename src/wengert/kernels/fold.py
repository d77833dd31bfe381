"""Layer 1 · kernels: the blocks of images as columns, and their sum.

Images are the last three dimensions, (C, H, W); columns the last two, (C * taps, blocks).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels.columns import Part, overlap, reach, result_size
from wengert.kernels.protocols import is_numpys, zeros

Shape = tuple[int, ...]
_SMALL = 1 << 14
"""The number of elements up to which adding each is cheaper than one addition per tap."""


def im2col(self: Any, kernel_size: Shape, dilation: Shape, padding: Shape, stride: Shape) -> Any:
    """Return each sliding block of the images as a column."""
    size = result_size(self.shape[-2:], kernel_size, stride, padding, dilation, False, (0, 0))
    blocks = windows_of(self, kernel_size, size, stride, padding, dilation)
    planes = self.shape[:-2]
    return blocks.copy().reshape(*planes[:-1], planes[-1] * math.prod(kernel_size), math.prod(size))


def windows_of(
    self: Any, kernel: Shape, size: Shape, stride: Shape, padding: Shape, dilation: Shape
) -> Any:
    """Return `size` windows of the last dimensions, padded with zeros: (..., *kernel, *size)."""
    planes, sizes = self.shape[: -len(size)], self.shape[-len(size) :]
    reached = reach(size, kernel, stride, dilation)
    if any(padding) or any(need > n for need, n in zip(reached, sizes, strict=True)):
        outer, inner = overlap(sizes, padding, reached)
        box = zeros(self, (*planes, *reached), self.dtype)
        box[_last(inner)] = self[_last(outer)]
        self = box
    return _windows(self, kernel, size, (0,) * len(size), stride, dilation)


def col2im(
    self: Any,
    output_size: Shape,
    kernel_size: Shape,
    dilation: Shape,
    padding: Shape,
    stride: Shape,
) -> Any:
    """Sum the elements of columns into images, the transpose of `im2col`."""
    size = result_size(output_size, kernel_size, stride, padding, dilation, False, (0, 0))
    images = self.shape[:-2]
    count, planes = math.prod(images), self.shape[-2] // math.prod(kernel_size)
    gave = self.reshape(count, planes, *kernel_size, *size)
    result = sum_of_windows(gave, output_size, stride, padding, dilation)
    return result.reshape(*images, planes, *output_size)


def sum_of_windows(gave: Any, sizes: Shape, stride: Shape, padding: Shape, dilation: Shape) -> Any:
    """Return the transpose of `windows_of`, from windows of shape (N, C, *kernel, *size)."""
    dims = len(sizes)
    kernel, size = gave.shape[2 : 2 + dims], gave.shape[2 + dims :]
    reached = reach(size, kernel, stride, dilation)
    box = zeros(gave, (*gave.shape[:2], *reached), gave.dtype)
    add_windows(box, gave, Part((0,) * dims, size, slice(None)), stride, dilation)
    if reached == sizes and not any(padding):
        return box
    outer, inner = overlap(sizes, padding, reached)
    result = zeros(gave, (*gave.shape[:2], *sizes), gave.dtype)
    result[_last(outer)] = box[_last(inner)]
    return result


def _last(places: tuple[slice, ...]) -> Any:
    """Return an index of the last dimensions."""
    return (..., *places)


def add_windows(box: Any, gave: Any, part: Part, stride: Shape, dilation: Shape) -> None:
    """Add the contributions of windows to an array.

    Parameters
    ----------
    box: The array, of shape (N, C, *sizes); zero where non-overlapping windows are.
    gave: The contributions, of shape (N, C, *kernel, *count), for the windows of `part`.
    """
    kernel = gave.shape[2 : 2 + len(stride)]
    geometry = (kernel, part.size, part.at, stride, dilation)
    here = is_numpys(box)
    apart = all(step > gap * (k - 1) for step, gap, k in zip(stride, dilation, kernel, strict=True))
    if here and apart:
        _windows(box, *geometry)[...] = gave
        return
    if here and gave.size <= _SMALL:
        np.add.at(box.reshape(-1), _places(box.shape, *geometry), gave.reshape(-1))
        return
    for tap, places in _taps(*geometry):
        target = box[places]
        target += gave[tap]


def _windows(
    box: Any, kernel: Shape, count: Shape, at: Shape, stride: Shape, dilation: Shape
) -> Any:
    """Return the windows of an array, a view of NumPy's: (..., *kernel, *count)."""
    if not is_numpys(box):
        taps = [box[places] for _, places in _taps(kernel, count, at, stride, dilation)]
        lead = box.shape[: -len(kernel)]
        return np.stack(taps, axis=len(lead)).reshape(*lead, *kernel, *count)
    if not box.flags.c_contiguous:
        box = np.ascontiguousarray(box)
    dims = len(kernel)
    steps = box.strides[-dims:]
    first = sum([i * s for i, s in zip(at, steps, strict=True)])
    gaps = [s * gap for s, gap in zip(steps, dilation, strict=True)]
    windows = [s * step for s, step in zip(steps, stride, strict=True)]
    shape = (*box.shape[:-dims], *kernel, *count)
    return np.ndarray(shape, box.dtype, box, first, (*box.strides[:-dims], *gaps, *windows))


@lru_cache(maxsize=64)
def _places(
    shape: Shape, kernel: Shape, count: Shape, at: Shape, stride: Shape, dilation: Shape
) -> Any:
    """Return the positions of the elements of windows in an array of `shape`."""
    places = np.arange(math.prod(shape)).reshape(shape)
    return _windows(places, kernel, count, at, stride, dilation).reshape(-1)


@lru_cache(maxsize=512)
def _taps(
    kernel: Shape, count: Shape, at: Shape, stride: Shape, dilation: Shape
) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Iterate over the elements of a window: the index of each, and its slice over all windows."""
    taps = []
    for tap in np.ndindex(kernel):
        places = [
            slice(i + t * gap, i + t * gap + (n - 1) * step + 1, step)
            for i, t, gap, n, step in zip(at, tap, dilation, count, stride, strict=True)
        ]
        taps.append(((slice(None), slice(None), *tap), (..., *places)))
    return taps
