"""Layer 1 · kernels: convolution over the last dimensions, as products of matrices.

Inputs are of shape (N, C, *sizes), weights of shape (O, C / groups, *kernel), results of shape
(N, O, *sizes).

NOTE [three products]
``sum(g * correlate(x, w))`` is linear in g, in x and in w. Its derivatives with respect to them are
`correlate`, `correlate_input` and `correlate_weight`; so each of the three has the other two as
derivatives. Sizes of the third array that the two arguments do not determine are parameters.
"""

from __future__ import annotations

import math
from functools import lru_cache, wraps
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from wengert.kernels.bands import correlate_in_bands, has_bands
from wengert.kernels.channels_last import correlate_rows, correlate_weight_rows, is_last
from wengert.kernels.columns import (
    all_columns,
    blocks,
    columns,
    grid_of,
    overlap,
    parts_of,
    reach,
    result_size,
)
from wengert.kernels.fold import add_windows, sum_of_windows, windows_of
from wengert.kernels.protocols import all_finite, is_numpys, zeros

Shape = tuple[int, ...]


def convolution(
    input: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    transposed: bool,
    output_padding: Shape,
    groups: int,
) -> Any:
    """Compute `correlate`, or `correlate_input` if `transposed`, with PyTorch's result size."""
    size = result_size(
        input.shape[2:], weight.shape[2:], stride, padding, dilation, transposed, output_padding
    )
    kernel = correlate_input if transposed else correlate
    return kernel(
        input,
        weight,
        bias,
        size=size,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
    )


def _in_single(kernel: Any) -> Any:
    """Wrap a kernel: float16 and bfloat16 are too coarse to sum in, and BLAS lacks them."""

    @wraps(kernel)
    def function(self: Any, other: Any, *more: Any, **params: Any) -> Any:
        dtype = self.dtype
        if dtype.itemsize != 2 or dtype.kind in "iub":
            return kernel(self, other, *more, **params)
        wide = [None if a is None else a.astype(np.float32) for a in (self, other, *more)]
        return kernel(*wide, **params).astype(dtype)

    return function


@_in_single
def correlate(
    self: Any,
    weight: Any,
    bias: Any = None,
    *,
    size: Shape,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    groups: int,
) -> Any:
    """Return the sums of the products of `size` windows of self with the weights.

    `padding` is the number of zeros before the first element; a negative number crops. After the
    last element there are as many zeros as the windows reach.
    """
    count, each = self.shape[0], weight.shape[0] // groups
    kernel = weight.shape[2:]
    if not self.size or not weight.size or 0 in size:
        return _plus(zeros(self, (count, weight.shape[0], *size), self.dtype), bias)
    if not is_numpys(self):
        matrix = windows_of(self, kernel, size, stride, padding, dilation)
        matrix = matrix.reshape(count, groups, -1, math.prod(size))
        sums = np.matmul(weight.reshape(groups, each, -1), matrix)
        return _plus(sums.reshape(count, -1, *size), bias)
    if groups == 1 and is_last(self):
        sums = correlate_rows(self, weight, size, stride, padding, dilation)
        return _plus(sums, bias)
    if has_bands(each, kernel, size, stride, dilation) and all_finite(self):
        sums = correlate_in_bands(self, weight, size, padding, dilation[1], groups)
        return _plus(sums, bias)
    self = np.ascontiguousarray(self)
    grid = grid_of(
        self.shape, kernel, each, size, stride, padding, dilation, groups, self.itemsize, False
    )
    places = math.prod(size)
    # one product for all arrays, split afterwards, pays if these are short
    together = count > 1 and 0.25 * grid.taps + 300 / each > 0.6 * places
    exact = grid.pitch <= size[-1]
    if grid.plain or (grid.alone and exact and not together):
        matrix = self if grid.plain else all_columns(self, grid)
        if groups == 1 and count == 1:
            result = weight.reshape(each, -1).dot(matrix.reshape(grid.taps, -1))
        else:
            matrix = matrix.reshape(count, groups, grid.taps, -1)
            result = np.matmul(weight.reshape(groups, each, -1), matrix)
        return _plus(result.reshape(count, -1, *size), bias)
    result = np.empty((count, groups, each, places), self.dtype)
    matrices = weight.reshape(groups, each, -1)
    added = None if bias is None else bias.reshape(groups, each, 1)
    for images, some, part, matrix in columns(self, grid, groups, together):
        block = result[images, some, :, part.places]
        if exact and not together:
            np.matmul(matrices[some], matrix, out=block)
        else:
            sums = np.matmul(matrices[some], matrix)
            if together:
                sums = sums.reshape(*sums.shape[:2], images.stop - images.start, -1)
                sums = sums.transpose(2, 0, 1, 3)
            if exact:
                block[...] = sums
            else:
                _cut(sums, block, grid.pitch, size[-1])
        if added is not None:
            block += added[some]
    return result.reshape(count, -1, *size)


def _cut(sums: Any, target: Any, pitch: int, length: int) -> None:
    """Write the sums into `target`, without those that belong to no window.

    Each row of `pitch` sums begins with `length` valid ones.
    """
    rows = target.shape[-1] // length
    steps = (*target.strides[:-1], length * target.itemsize, target.itemsize)
    target = as_strided(target, (*target.shape[:-1], rows, length), steps)
    target[...] = sums.reshape(*sums.shape[:-1], rows, pitch)[..., :length]


def _is_plain(shape: Shape, kernel: Shape, size: Shape, stride: Shape, padding: Shape) -> bool:
    """Return whether the input itself is the matrix of columns."""
    return (
        math.prod(kernel) == 1
        and shape[2:] == size
        and not any(padding)
        and all(step == 1 for step in stride)
    )


@_in_single
def correlate_input(
    self: Any,
    weight: Any,
    bias: Any = None,
    *,
    size: Shape,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    groups: int,
) -> Any:
    """Return the transpose of `correlate` in its input, an array of `size`, applied to self."""
    count, planes = self.shape[0], weight.shape[1] * groups
    if not self.size or not weight.size:
        return _plus(zeros(self, (count, planes, *size), self.dtype), bias)
    if not is_numpys(self):
        given = self.reshape(count, groups, self.shape[1] // groups, -1)
        gave = np.matmul(weight.reshape(groups, given.shape[2], -1).swapaxes(1, 2), given)
        gave = gave.reshape(count, planes, *weight.shape[2:], *self.shape[2:])
        return _plus(sum_of_windows(gave, size, stride, padding, dilation), bias)
    if not _is_worth_turning(self.shape, weight.shape, stride, groups):
        return _plus(_spread(self, weight, size, stride, padding, dilation, groups), bias)
    # a group's output channels of `correlate` are input planes here, and vice versa
    turned = weight.reshape(groups, -1, *weight.shape[1:]).swapaxes(1, 2)
    phases = phases_of(size, weight.shape[2:], stride, padding, dilation)
    alone = all(step == 1 for step in stride)
    result = None if alone else np.zeros((count, planes, *size), self.dtype)
    for places, chosen, params in phases:
        taps = np.ascontiguousarray(turned[chosen])
        taps = taps.reshape(planes, -1, *taps.shape[3:])
        part = correlate(self, taps, bias if alone else None, groups=groups, **params)
        if result is None:
            return part
        result[places] = part
    return _plus(result, bias)


def _plus(sums: Any, bias: Any) -> Any:
    if bias is not None:
        sums += bias.reshape(-1, *(1,) * (sums.ndim - 2))
    return sums


@lru_cache(maxsize=512)
def _is_worth_turning(given: Shape, weight: Shape, stride: Shape, groups: int) -> bool:
    """Return whether copying self to columns is faster than adding columns to the result."""
    taps, places = math.prod(weight[2:]), given[0] * math.prod(given[2:])
    if taps == 1:
        return False
    # measured, in nanoseconds
    copied = 0.3 * places * weight[0] * taps + 1.2 * math.prod(weight) + 12000 * math.prod(stride)
    elements = places * weight[1] * groups * taps
    added = 20000 + (1.5 * elements if elements < 1 << 14 else 0.8 * elements + 3000 * taps)
    return copied < added


@lru_cache(maxsize=512)
def phases_of(
    size: Shape, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape
) -> list[tuple[Any, Any, dict[str, Any]]]:
    """Return `correlate_input` as convolutions of stride 1, one for each phase of the stride.

    Each comes with the positions of its results, the taps that contribute to it, and its
    parameters; phases without taps are left out.
    """
    every = [
        _along(*geometry) for geometry in zip(size, kernel, stride, padding, dilation, strict=True)
    ]
    phases = []
    for phase in product(*every):
        places, taps, counts, before, gaps = zip(*phase, strict=True)
        params = {"size": counts, "stride": (1,) * len(size), "padding": before, "dilation": gaps}
        phases.append(((..., *places), (..., *taps), params))
    return phases


def _along(
    size: int, kernel: int, stride: int, padding: int, dilation: int
) -> list[tuple[slice, slice, int, int, int]]:
    common = math.gcd(stride, dilation)
    # taps whose distance is a multiple of the stride contribute to the same results
    apart, gap = stride // common, dilation // common
    phases = []
    for first in range(min(stride, size)):
        for tap in range(min(apart, kernel)):
            shift, rest = divmod(first + padding - tap * dilation, stride)
            if rest:
                continue
            last = tap + (kernel - 1 - tap) // apart * apart
            before = (last - tap) // apart * gap - shift
            count = -(-(size - first) // stride)
            places = slice(first, None, stride)
            phases.append((places, slice(last, None, -apart), count, before, gap))
    return phases


def _spread(
    g: Any, weight: Any, size: Shape, stride: Shape, padding: Shape, dilation: Shape, groups: int
) -> Any:
    """Compute `correlate_input` by adding the contribution of each tap to the result."""
    g = np.ascontiguousarray(g)
    count, sizes = g.shape[0], g.shape[2:]
    planes, kernel = weight.shape[1], weight.shape[2:]
    taps = planes * math.prod(kernel)
    matrices = weight.reshape(groups, -1, taps).swapaxes(1, 2)
    given = g.reshape(count, groups, g.shape[1] // groups, -1)
    if _is_plain((0, 0, *size), kernel, sizes, stride, padding):
        return np.matmul(matrices, given).reshape(count, groups * planes, *size)
    reached = reach(sizes, kernel, stride, dilation)
    outer, inner = overlap(size, padding, reached)
    result: Any = np.zeros((count, groups * planes, *size), g.dtype)
    unit = taps * g.itemsize
    images, some = blocks(count, groups, math.prod(sizes) * unit)
    # each part costs one addition per tap: with many taps, make the parts larger
    parts = parts_of(sizes, stride, unit // max(1, min(16, math.prod(kernel) // 32)))
    direct = reached == size and not any(padding)
    for n in range(0, count, images):
        for first in range(0, groups, some):
            chosen = slice(first, first + some)
            target = result[n : n + images, first * planes : (first + some) * planes]
            shape = target.shape[:2]
            box: Any = target if direct else np.zeros((*shape, *reached), g.dtype)
            for part in parts:
                gave = np.matmul(matrices[chosen], given[n : n + images, chosen, :, part.places])
                add_windows(box, gave.reshape(*shape, *kernel, *part.size), part, stride, dilation)
            if not direct:
                target[(..., *outer)] = box[(..., *inner)]
    return result


@_in_single
def correlate_weight(
    self: Any,
    other: Any,
    *,
    size: Shape,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    groups: int,
) -> Any:
    """Return the transpose of `correlate` in its weight of `size`, applied to `other`."""
    count, planes = self.shape[0], self.shape[1] // groups
    each = other.shape[1] // groups
    result = zeros(self, (groups, each, planes * math.prod(size)), self.dtype)
    shape = (groups * each, planes, *size)
    if not self.size or not other.size or not result.size:
        return result.reshape(shape)
    if not is_numpys(self):
        matrix = windows_of(self, size, other.shape[2:], stride, padding, dilation)
        matrix = matrix.reshape(count, groups, result.shape[2], -1).swapaxes(2, 3)
        given = other.reshape(count, groups, each, -1)
        return np.matmul(given, matrix).sum(0).reshape(shape)
    if groups == 1 and is_last(self) and is_last(other):
        return correlate_weight_rows(self, other, size, stride, padding, dilation)
    self, other = np.ascontiguousarray(self), np.ascontiguousarray(other)
    sizes = other.shape[2:]
    given = other.reshape(count, groups, each, -1)
    places = given.shape[-1]
    # one product for all arrays, which must be copied for it, pays if they are short
    together = count > 1 and 0.6 * result.shape[-1] + 300 / each > 0.5 * places
    if not together and _is_plain(self.shape, size, sizes, stride, padding):
        plain = self.reshape(count, groups, planes, places)
        return np.matmul(given, plain.swapaxes(2, 3)).sum(0).reshape(shape)
    grid = grid_of(
        self.shape, size, each, sizes, stride, padding, dilation, groups, self.itemsize, True
    )
    if grid.alone and not together:
        matrix = all_columns(self, grid)
        if groups == 1 and count == 1:
            result = given.reshape(each, -1).dot(matrix.reshape(grid.taps, -1).T)
        else:
            result = np.matmul(given, matrix.swapaxes(2, 3)).sum(0)
        return result.reshape(shape)
    for images, some, part, matrix in columns(self, grid, groups, together):
        block = given[images, some, :, part.places]
        if together:
            block = block.transpose(1, 2, 0, 3).reshape(len(matrix), each, -1)
            result[some] += np.matmul(block, matrix.swapaxes(1, 2))
        else:
            result[some] += np.matmul(block, matrix.swapaxes(2, 3)).sum(0)
    return result.reshape(shape)
