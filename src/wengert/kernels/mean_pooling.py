"""Layer 1 · kernels: the means of windows over the last dimensions.

See NOTE [taps] in `wengert.kernels.windows`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels.protocols import beside, contiguous, empty, numbers, zeros
from wengert.kernels.sums import row_sums, sums
from wengert.kernels.windows import (
    Along,
    Windows,
    as_product,
    by_blocks,
    flat_planes,
    matrix_of,
    product,
    resized,
    rows_of_tiles,
    windows,
)

Shape = tuple[int, ...]


def _sum_along(x: Any, along: Along) -> Any:
    if along.only is not None:
        return np.add.reduce(x[along.only], axis=along.axis, keepdims=True)
    rows = rows_of_tiles(x, along, 4)
    if rows is not None:
        return row_sums(rows).reshape(*x.shape[:-1], along.count)
    whole = [part for _, out, part in along.taps if out is None]
    if len(whole) > 1:
        result = x[whole[0]] + x[whole[1]]
        for part in whole[2:]:
            np.add(result, x[part], out=result)
        if len(whole) == len(along.taps):
            return result
    elif whole:
        result = x[whole[0]].copy()
    else:
        result = zeros(x, resized(x, along, along.count), x.dtype)
    for _, out, part in along.taps:
        if out is not None:
            kept = result[out]
            np.add(kept, x[part], out=kept)
    return result


def _spread_along(g: Any, along: Along) -> Any:
    shape = resized(g, along, along.n)
    if along.count == 1 and along.tiles:
        return np.broadcast_to(g, shape)
    if along.axis == -1 and along.tiles:
        return g.repeat(along.stride, -1)
    result = (empty if along.tiles else zeros)(g, shape, g.dtype)
    for _, out, part in along.taps:
        given = g if out is None else g[out]
        if along.disjoint:
            result[part] = given
        else:
            kept = result[part]
            np.add(kept, given, out=kept)
    return result


@lru_cache(maxsize=256)
def _divisor(plan: Windows, padded: bool, override: int | None) -> Any:
    """Return the divisor of the sums: a number, or an array if windows differ."""
    if override is not None:
        return override
    each = [
        along.sizes(kernel, padded) for along, kernel in zip(plan.along, plan.kernel, strict=True)
    ]
    if all(sizes.size == 0 or (sizes == sizes[0]).all() for sizes in each):
        return math.prod([int(sizes[0]) if sizes.size else 1 for sizes in each])
    total = np.ones((), np.int64)
    for sizes in each:
        total = total[..., None] * sizes
    return total


def _divide(totals: Any, divisor: Any) -> Any:
    if totals.dtype.kind == "i":
        # round towards zero, as in C, and exactly beyond the integers that doubles hold
        quotients, rests = np.divmod(totals, divisor)
        return quotients + ((rests != 0) & (quotients < 0))
    if isinstance(divisor, int):
        (divisor,) = numbers(totals, divisor)
    else:
        divisor = beside(totals, divisor.astype(totals.dtype))
    return np.divide(totals, divisor, out=totals)


def _wide(self: Any) -> Any:
    """Wrap a kernel: float16 is too coarse to sum in."""
    return self.astype(np.float32) if self.dtype.kind == "f" and self.itemsize == 2 else self


def avg_pool(
    self: Any,
    kernel_size: Shape,
    stride: Shape,
    padding: Shape,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    """Return the mean of each window."""
    dims = len(kernel_size)
    sizes = self.shape[-dims:]
    plan = windows(sizes, kernel_size, stride, padding, (1,) * dims, ceil_mode)
    divisor = _divisor(plan, count_include_pad, divisor_override)

    x = _wide(self)
    if as_product(x, plan.shape):
        totals = product(x, dims, _sum_matrix(plan, x.dtype), plan.shape)
        return _divide(totals, divisor).astype(self.dtype, copy=False)
    if plan.one:
        planes = flat_planes(x, dims)
        totals = sums(planes, (planes.ndim - 1,)).reshape(*x.shape[:-dims], *plan.shape)
        return _divide(totals, divisor).astype(self.dtype, copy=False)

    def means(x: Any) -> Any:
        return _divide(_sums(x, plan), divisor)

    return by_blocks(means, x, dims, plan.shape).astype(self.dtype, copy=False)


def _sums(x: Any, plan: Windows) -> Any:
    for along in plan.along:
        x = _sum_along(x, along)
    return x


@lru_cache(maxsize=128)
def _sum_matrix(plan: Windows, dtype: Any) -> Any:
    return matrix_of(lambda x: _sums(x, plan), plan.size, dtype)


def avg_pool_backward(
    self: Any,
    shape: Shape,
    kernel_size: Shape,
    stride: Shape,
    padding: Shape,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    """Compute the transpose of `avg_pool`, for planes of `shape`."""
    dims = len(kernel_size)
    plan = windows(shape, kernel_size, stride, padding, (1,) * dims, ceil_mode)
    divisor = _divisor(plan, count_include_pad, divisor_override)
    if not isinstance(divisor, int):
        divisor = beside(self, divisor.astype(_wide(self[:0]).dtype))

    wide = _wide(self)
    if as_product(wide, shape):
        result = product(wide / divisor, dims, _sum_matrix(plan, wide.dtype).T, shape)
        return result.astype(self.dtype, copy=False)

    def spread(g: Any) -> Any:
        g = g / divisor
        for along in reversed(plan.along):
            g = _spread_along(g, along)
        return contiguous(g)

    return by_blocks(spread, wide, dims, shape).astype(self.dtype, copy=False)
