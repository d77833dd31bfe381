"""Layer 1 · kernels: the positions of pooling windows.

NOTE [taps]
All windows of a dimension are processed at once: tap `j` is the j-th element of every window, as a
slice of the input with a step. Pooling along a dimension is a loop over its taps, and pooling over
several dimensions is one loop for each, so a window of 3 by 3 costs 6 array operations. If padding
leaves some windows without tap `j`, the tap names the windows that have it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels.protocols import beside

Shape = tuple[int, ...]
Kernel = Callable[[Any], Any]
# the number of elements per block, which stays in the cache
_BLOCK = 1 << 17
# up to so many multiplications, one matrix product is faster than the economical algorithm
_PRODUCT = 1 << 16


def pooled_size(n: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    """Return the number of windows of a dimension of size `n`."""
    room = n + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil:
        return room // stride + 1
    count = -(-room // stride) + 1
    # the last window must begin within the input or the padding on its left
    return count - 1 if (count - 1) * stride >= n + padding else count


class Along:
    """The windows along one dimension: `count` of them over `n` elements.

    Attributes
    ----------
    axis: The axis, counted from the end.
    after: The number of axes after it.
    start: The start of the first window; the others follow, `stride` apart.
    taps
        ``(j, out, part)``: the index of the windows that have a tap `j`, None if all do, and of
        that tap in the input.
    disjoint: Whether no element is in two windows.
    tiles: Whether, in addition, every element is in one.
    later
        ``(window, j, part)`` for each window that lacks the first tap: its own first tap. Windows
        without any element, which dilation may cause, are left out.
    begin: The start of each window, in a shape that broadcasts with the windows.
    only: The elements of the only window, if there is no other and it has several; else None.
    """

    __slots__ = (
        "after",
        "axis",
        "begin",
        "count",
        "dilation",
        "disjoint",
        "later",
        "n",
        "only",
        "start",
        "stride",
        "taps",
        "tiles",
    )

    def __init__(
        self, axis: int, n: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool
    ) -> None:
        self.axis = axis
        self.after = after = -axis - 1
        self.n = n
        self.count = count = max(pooled_size(n, kernel, stride, padding, dilation, ceil), 0)
        self.start = -padding
        self.stride = stride
        self.dilation = dilation
        self.disjoint = stride > dilation * (kernel - 1) or count == 1
        self.tiles = dilation == 1 and stride == kernel and not padding and count * kernel == n
        self.taps: list[tuple[int, Any, Any]] = []
        rest = (slice(None),) * after
        for j in range(kernel):
            offset = j * dilation - padding
            low = max(0, -(offset // stride))
            high = min(count, (n - 1 - offset) // stride + 1)
            if low < high:
                first, last = low * stride + offset, (high - 1) * stride + offset
                whole = high - low == count
                self.taps.append(
                    (
                        j,
                        None if whole else (..., slice(low, high), *rest),
                        (..., slice(first, last + 1, stride), *rest),
                    )
                )

        self.begin = (np.arange(count) * stride - padding).reshape(-1, *(1,) * after)
        self.later: list[tuple[Any, int, Any]] = []
        having = self.taps[0][1] if self.taps else None
        if having is not None:
            for window in {*range(count)}.difference(range(count)[having[1]]):
                at = window * stride - padding
                own = [j for j in range(kernel) if 0 <= at + j * dilation < n][:1]
                self.later += [
                    ((..., window, *rest), j, (..., at + j * dilation, *rest)) for j in own
                ]
        self.only: Any = None
        if count == 1 and len(self.taps) > 2:
            low, high = (tap[0] * dilation - padding for tap in (self.taps[0], self.taps[-1]))
            self.only = (..., slice(low, high + 1, dilation), *rest)

    def sizes(self, kernel: int, padded: bool) -> Any:
        """Return the number of elements of each window, with or without the padding."""
        begin = np.arange(self.count) * self.stride + self.start
        end = np.minimum(begin + kernel, self.n - self.start)
        return end - begin if padded else np.minimum(end, self.n) - np.maximum(begin, 0)


def rows_of_tiles(x: Any, along: Along, least: int) -> Any:
    """Return windows of `least` elements or more, side by side in the last dimension, as rows.

    Return None for other windows: for those, it is faster to go from tap to tap.
    """
    if along.axis != -1 or not along.tiles or along.stride < least or x.dtype.kind != "f":
        return None
    return x.reshape(-1, along.stride)


class Windows:
    """The windows over the last dimensions: one `Along` for each that is pooled."""

    __slots__ = ("_table", "along", "gaps", "kernel", "one", "shape", "size")

    def __init__(
        self,
        sizes: Shape,
        kernel: Shape,
        stride: Shape,
        padding: Shape,
        dilation: Shape,
        ceil: bool,
    ) -> None:
        along = [
            Along(axis, *parts, ceil)
            for axis, parts in enumerate(
                zip(sizes, kernel, stride, padding, dilation, strict=True), start=-len(sizes)
            )
        ]
        self.size = sizes
        self.kernel = kernel
        self.shape = tuple([a.count for a in along])
        # a single window that is the whole plane
        self.one = all(a.count == 1 and a.tiles for a in along)
        # if its gaps are wider than the input, a window may have no element
        self.gaps = any(a.dilation > a.n for a in along)
        self.along = along
        self._table: Any = None

    @property
    def table(self) -> Any:
        """Return the positions of each window's elements; another tap's for one in the padding."""
        if self._table is None:
            parts = []
            for along, kernel in zip(self.along, self.kernel, strict=True):
                begin = np.arange(along.count)[:, None] * along.stride + along.start
                places = begin + np.arange(kernel) * along.dilation
                within = (places >= 0) & (places < along.n)
                first = np.take_along_axis(places, within.argmax(1)[:, None], 1)
                parts.append(np.where(within, places, first))
            self._table = _joined(parts, self.size)
        return self._table


def _joined(parts: list[Any], sizes: Shape) -> Any:
    """Combine the positions (windows, taps) in each dimension to positions in planes."""
    dims = len(parts)
    total: Any = 0
    for d, (part, n) in enumerate(zip(parts, sizes, strict=True)):
        shape = [1] * (2 * dims)
        shape[d], shape[dims + d] = part.shape
        total = total * n + part.reshape(shape)
    count = math.prod([len(part) for part in parts])
    return np.ascontiguousarray(total.reshape(count, math.prod([p.shape[1] for p in parts])))


@lru_cache(maxsize=512)
def windows(
    sizes: Shape,
    kernel: Shape,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    ceil: bool,
) -> Windows:
    """Return the windows over dimensions of `sizes`."""
    return Windows(sizes, kernel, stride, padding, dilation, ceil)


class Bins:
    """The `count` bins of a dimension of size `n`, as even as possible; they may overlap by one."""

    __slots__ = ("after", "axis", "count", "end", "length", "longest", "n", "start")

    def __init__(self, axis: int, n: int, count: int) -> None:
        place = np.arange(count)
        self.axis = axis
        self.after = -axis - 1
        self.n = n
        self.count = count
        self.start = place * n // max(count, 1)
        self.end = -(-(place + 1) * n // max(count, 1))
        self.length = self.end - self.start
        self.longest = int(self.length.max(initial=0))

    def tap(self, j: int) -> Any:
        """Return the position of the j-th element of each bin, or of its last one."""
        return np.minimum(self.start + j, self.end - 1)


@lru_cache(maxsize=256)
def bins(sizes: Shape, output_size: Shape) -> tuple[Bins, ...]:
    """Return the bins of each dimension."""
    return tuple(
        [
            Bins(axis, *pair)
            for axis, pair in enumerate(zip(sizes, output_size, strict=True), start=-len(sizes))
        ]
    )


@lru_cache(maxsize=256)
def bin_table(sizes: Shape, output_size: Shape) -> Any:
    """Return the positions of each bin's elements; shorter bins repeat their last one."""
    parts = [
        np.stack([each.tap(j) for j in range(each.longest)], axis=1)
        for each in bins(sizes, output_size)
    ]
    return _joined(parts, sizes)


def resized(x: Any, along: Along, count: int) -> Shape:
    """Return the shape of `x` with another size of one dimension."""
    axis = x.ndim + along.axis
    return (*x.shape[:axis], count, *x.shape[axis + 1 :])


def flat_planes(x: Any, dims: int) -> Any:
    """Return `x` with its last dimensions flattened."""
    return x.reshape(*x.shape[: x.ndim - dims], math.prod(x.shape[x.ndim - dims :]))


def by_blocks(kernel: Kernel, self: Any, dims: int, shape: Shape, dtype: Any = None) -> Any:
    """Apply `kernel` to some planes at a time if there are many; `shape` is of a result's plane."""
    if self.size <= _BLOCK:
        return kernel(self)
    lead = self.shape[: self.ndim - dims]
    planes = self.reshape(math.prod(lead), *self.shape[self.ndim - dims :])
    result = np.empty((*planes.shape[:1], *shape), dtype or self.dtype)
    step = max(1, _BLOCK // max(planes[0].size, math.prod(shape)))
    for first in range(0, len(planes), step):
        result[first : first + step] = kernel(planes[first : first + step])
    return result.reshape(*lead, *shape)


def as_product(x: Any, shape: Shape) -> bool:
    """Return whether sums of `x` with result `shape` are best computed by a matrix product.

    That is so if there is little work, and no element that times 0 would not be 0.
    """
    small = x.size * math.prod(shape) <= _PRODUCT and x.dtype.kind == "f" and x.size > 0
    # an overflow of the squares only selects the other algorithm
    return small and x.dtype.itemsize > 2 and math.isfinite(np.vdot(x, x))


def product(x: Any, dims: int, matrix: Any, shape: Shape) -> Any:
    """Multiply planes, each as a row, by a matrix, and return planes of `shape`."""
    lead = x.shape[: x.ndim - dims]
    return x.reshape(math.prod(lead), len(matrix)).dot(beside(x, matrix)).reshape(*lead, *shape)


def matrix_of(kernel: Kernel, sizes: Shape, dtype: Any) -> Any:
    """Return the matrix of a linear function of planes."""
    size = math.prod(sizes)
    return kernel(np.eye(size, dtype=dtype).reshape(size, *sizes)).reshape(size, -1)
