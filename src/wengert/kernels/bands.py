"""Layer 1 · kernels: convolution of images whose groups have one output channel each.

NOTE [bands]
A product with a matrix of a single row is bound by the memory traffic of the columns. So four rows
of the result are computed at once: their windows are shifted by one row each and share most of
their elements. The columns hold the taps of a window's rows only, for every row of the image, and
those of a band of four rows of results follow each other in memory. The weights are laid out in
four rows among zeros, shifted likewise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.columns import overlap

Shape = tuple[int, ...]
_ROWS = 4
_BLOCK = 1 << 20
"""The bytes of a block of columns."""
_WIDE = 96
"""The length of result rows up to which several images are computed together."""


def has_bands(each: int, kernel: Shape, size: Shape, stride: Shape, dilation: Shape) -> bool:
    """Return whether `correlate_in_bands` can compute a convolution faster than the others."""
    return (
        each == 1
        and len(size) == 2
        and stride == (1, 1)
        and dilation[0] == 1
        and min(kernel) > 4
        and min(size) > 7
    )


def correlate_in_bands(
    self: Any, weight: Any, size: Shape, padding: Shape, gap: int, groups: int
) -> Any:
    """Compute `correlate` with stride 1, where `has_bands`; `gap` is the dilation of rows."""
    count, planes = self.shape[0], weight.shape[1]
    high, wide = weight.shape[2:]
    rows, length = size
    bands = -(-rows // _ROWS)
    spread = np.zeros((groups, 1, _ROWS, _ROWS + high - 1, planes, wide), self.dtype)
    for row in range(_ROWS):
        spread[:, 0, row, row : row + high] = weight.transpose(0, 2, 1, 3)
    matrices = spread.reshape(groups, 1, _ROWS, -1)
    taps = matrices.shape[-1]
    reached = (bands * _ROWS + high - 1, (wide - 1) * gap + length)
    outer, inner = overlap(self.shape[2:], padding, reached)
    # take as many images at a time as fit, but not more than needed
    images = -(-count // -(-count // max(1, _WIDE // length)))
    each = images * planes * reached[0] * wide * length * self.itemsize
    some = max(1, min(groups, _BLOCK // each))
    box = np.zeros((images, some * planes, *reached), self.dtype)
    # (groups, rows, planes, taps of a row, images, results of a row)
    laid = np.empty((some, reached[0], planes, wide, images, length), self.dtype)
    of_image, of_plane, of_row, step = box.strides
    windows = np.ndarray(
        laid.shape,
        self.dtype,
        box,
        0,
        (planes * of_plane, of_row, of_plane, gap * step, of_image, step),
    )
    by_group, by_row, _, by_tap = laid.strides[:4]
    shared = np.ndarray(
        (some, bands, taps, images * length),
        self.dtype,
        laid,
        0,
        (by_group, _ROWS * by_row, by_tap, self.itemsize),
    )
    result = np.empty((count, groups, *size), self.dtype)
    for n in range(0, count, images):
        for g in range(0, groups, some):
            target = result[n : n + images, g : g + some]
            here, now = target.shape[:2]
            given = self[(slice(n, n + images), slice(g * planes, (g + some) * planes), *outer)]
            box[(slice(here), slice(now * planes), *inner)] = given
            np.copyto(laid, windows)
            sums = np.matmul(matrices[g : g + some], shared[:now])
            sums = sums.reshape(now, bands * _ROWS, images, length)[:, :rows, :here]
            target[...] = sums.transpose(2, 0, 1, 3)
    return result
