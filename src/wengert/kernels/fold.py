"""Layer 1 · kernels: the blocks of images as columns, and their sum.

Images are the last three dimensions, (C, H, W); columns the last two, (C * taps, blocks).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from wengert.kernels.columns import Part, overlap, reach
from wengert.kernels.convolution import add_windows, result_size

__all__ = ["col2im", "im2col"]

Shape = tuple[int, ...]


def im2col(self: Any, kernel_size: Shape, dilation: Shape, padding: Shape, stride: Shape) -> Any:
    """Each block of the images, sliding over them, as a column."""
    size = result_size(self.shape[-2:], kernel_size, stride, padding, dilation, False, (0, 0))
    reached = reach(size, kernel_size, stride, dilation)
    outer, inner = overlap(self.shape[-2:], padding, reached)
    planes = self.shape[:-2]
    if any(padding):
        box = np.zeros((*planes, *reached), self.dtype)
        box[(..., *inner)] = self[(..., *outer)]
    else:
        box = self[(..., *outer)]
    result = np.empty((*planes, *kernel_size, *size), self.dtype)
    blocks = sliding_window_view(box, reach((1, 1), kernel_size, stride, dilation), (-2, -1))
    blocks = blocks[..., :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    np.copyto(result, np.moveaxis(blocks, (-2, -1), (-4, -3)))
    return result.reshape(*planes[:-1], planes[-1] * math.prod(kernel_size), math.prod(size))


def col2im(
    self: Any,
    output_size: Shape,
    kernel_size: Shape,
    dilation: Shape,
    padding: Shape,
    stride: Shape,
) -> Any:
    """Images whose elements are the sums of the columns' elements that `im2col` makes of them."""
    size = result_size(output_size, kernel_size, stride, padding, dilation, False, (0, 0))
    reached = reach(size, kernel_size, stride, dilation)
    outer, inner = overlap(output_size, padding, reached)
    images = self.shape[:-2]
    planes = self.shape[-2] // math.prod(kernel_size)
    box = np.zeros((math.prod(images), planes, *reached), self.dtype)
    gave = self.reshape(-1, planes, *kernel_size, *size)
    add_windows(box, gave, Part((0, 0), size, slice(None)), stride, dilation)
    if reached == output_size and not any(padding):
        return box.reshape(*images, planes, *output_size)
    result = np.zeros((*images, planes, *output_size), self.dtype)
    result.reshape(box.shape[0], planes, *output_size)[(..., *outer)] = box[(..., *inner)]
    return result
