"""Layer 1 · kernels: max pooling over the last dimensions: the largest elements, and their
positions.

The dimensions before them count planes. See NOTE [taps] in `wengert.kernels.windows`.

NOTE [largest of a window]
Of equal elements, the first of a window in C order is chosen; of NaNs, which are larger than every
number, the last, as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels.protocols import arange, beside, empty, is_numpys, zeros
from wengert.kernels.protocols import largest as _largest
from wengert.kernels.windows import (
    Along,
    Bins,
    Windows,
    bin_table,
    bins,
    by_blocks,
    flat_planes,
    resized,
    rows_of_tiles,
    windows,
)

Shape = tuple[int, ...]
_FEW = 1 << 12
# the number of bins up to which they are searched one by one
_FEW_BINS, _FEW_EVEN_BINS = 64, 8
# the number of elements from which the largest of a row is found in one pass
_LONG = 48


# -- the largest elements -------------------------------------------------------------------------


def _lowest(dtype: Any) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _largest_along(x: Any, along: Along) -> Any:
    if along.only is not None:
        return np.maximum.reduce(x[along.only], axis=along.axis, keepdims=True)
    rows = rows_of_tiles(x, along, _LONG)
    if rows is not None:
        return np.maximum.reduce(rows, -1).reshape(*x.shape[:-1], along.count)
    whole = [part for _, out, part in along.taps if out is None]
    if len(whole) > 1:
        result = np.maximum(x[whole[0]], x[whole[1]])
        for part in whole[2:]:
            np.maximum(result, x[part], out=result)
        if len(whole) == len(along.taps):
            return result
    elif whole:
        result = x[whole[0]].copy()
    else:
        result = np.full(resized(x, along, along.count), _lowest(x.dtype), x.dtype)
    for _, out, part in along.taps:
        if out is not None:
            kept = result[out]
            np.maximum(kept, x[part], out=kept)
    return result


def max_pool(
    self: Any, kernel_size: Shape, stride: Shape, padding: Shape, dilation: Shape, ceil_mode: bool
) -> Any:
    """Return the largest element of each window; a NaN is the largest."""
    dims = len(kernel_size)
    plan = windows(self.shape[-dims:], kernel_size, stride, padding, dilation, ceil_mode)
    if _is_small(self, dims, plan.shape, kernel_size) and not plan.gaps:
        return _largest_of_few(self, dims, plan.table, plan.shape)
    if plan.one:
        return flat_planes(self, dims).max(-1).reshape(*self.shape[:-dims], *plan.shape)

    def largest(x: Any) -> Any:
        # reduce the first dimension first: its taps are whole rows
        for along in plan.along:
            x = _largest_along(x, along)
        return x

    return by_blocks(largest, self, dims, plan.shape)


def max_pool_indices(
    self: Any, kernel_size: Shape, stride: Shape, padding: Shape, dilation: Shape, ceil_mode: bool
) -> Any:
    """Return the index of the largest element of each window in the flattened pooled dimensions."""
    dims = len(kernel_size)
    plan = windows(self.shape[-dims:], kernel_size, stride, padding, dilation, ceil_mode)
    few = not is_numpys(self) or _is_small(self, dims, plan.shape, kernel_size)
    if few and not plan.gaps:
        places = _found_of_few(self, dims, plan.table, plan.shape)
        if places is not None:
            return places
    return by_blocks(lambda x: _found(x, plan), self, dims, plan.shape, np.int64)


def _is_small(x: Any, dims: int, shape: Shape, kernel: Shape) -> bool:
    """Return whether there are few elements, so that the number of NumPy calls dominates."""
    planes = math.prod(x.shape[: x.ndim - dims])
    return 0 < planes * math.prod(shape) * math.prod(kernel) <= _FEW


def _each(x: Any, dims: int, table: Any) -> Any:
    """Return the elements of each window: (planes, windows, taps)."""
    shape = x.shape
    flat = x.reshape(math.prod(shape[: len(shape) - dims]), math.prod(shape[len(shape) - dims :]))
    return flat.take(beside(flat, table), axis=1)


def _largest_of_few(x: Any, dims: int, table: Any, shape: Shape) -> Any:
    return _largest(_each(x, dims, table), 2).reshape(*x.shape[: x.ndim - dims], *shape)


def _found_of_few(x: Any, dims: int, table: Any, shape: Shape) -> Any:
    """Compute `_found` by a table; return None for NaNs, which `_found` handles in NumPy."""
    each = _each(x, dims, table)
    code = each.argmax(2)
    if x.dtype.kind == "f" and np.count_nonzero(np.isnan(x)):
        if is_numpys(x):
            return None
        missing = np.isnan(each)
        last = each.shape[2] - 1 - missing[..., ::-1].argmax(2)
        code = np.where(np.any(missing, axis=2), last, code)
    code += arange(code, 0, table.size, table.shape[1])
    return beside(code, table).take(code).reshape(*x.shape[: x.ndim - dims], *shape)


def _code_type(count: int) -> Any:
    return np.dtype(np.uint8 if count <= 1 << 8 else np.uint16 if count <= 1 << 16 else np.int64)


def _found(x: Any, plan: Windows) -> Any:
    kernel = plan.kernel
    dtype = _code_type(math.prod(kernel))
    if plan.one:
        flat = flat_planes(x, len(kernel))
        places = flat.argmax(-1)
        if not np.isnan(np.take_along_axis(flat, places[..., None], -1)).any():
            return places.reshape(*places.shape, *plan.shape)
    code = _codes(x, plan, dtype, False)
    if code is None:
        code = _codes(x, plan, dtype, True)
    places = np.take(_offsets(plan.size, kernel, tuple([a.dilation for a in plan.along])), code)
    step = 1
    for along in reversed(plan.along):
        places += along.begin * step if step > 1 else along.begin
        step *= along.n
    if not all(along.taps for along in plan.along):
        # no window has an element
        return np.zeros(places.shape, np.int64)
    return np.clip(places, 0, step - 1, out=places) if plan.gaps else places


@lru_cache(maxsize=256)
def _offsets(sizes: Shape, kernel: Shape, dilation: Shape) -> Any:
    """Return the offset of each element of a window from the window's first."""
    places = np.zeros(1, np.int64)
    for n, count, step in zip(sizes, kernel, dilation, strict=True):
        places = (places[:, None] * n + np.arange(count) * step).reshape(-1)
    return places


def _codes(x: Any, plan: Windows, dtype: Any, missing: bool) -> Any:
    """Return the number of the largest element of each window; None if there is a NaN.

    A tap that exceeds the maximum so far also has a higher number: so numbers of a small integer
    dtype are combined by `maximum`, at almost no cost.
    """
    code: Any = None
    span = 1
    for along in reversed(plan.along):
        count = plan.kernel[along.axis]
        if count > 1 or along.stride > 1 or along.start:
            x, code = _search(x, code, along, span, dtype, missing)
        span *= count
    if code is None:
        return np.zeros(x.shape, dtype)
    if not missing and x.dtype.kind == "f" and np.count_nonzero(np.isnan(x)):
        return None
    return code


def _search(
    x: Any, code: Any, along: Along, span: int, dtype: Any, missing: bool
) -> tuple[Any, Any]:
    if not along.taps:
        shape = resized(x, along, along.count)
        return np.full(shape, _lowest(x.dtype), x.dtype), np.zeros(shape, dtype)
    if along.only is not None and not missing:
        return _search_only(x, code, along, span, dtype)
    largest, chosen = _begin(x, code, along, span, dtype)
    for j, out, part in along.taps[1:]:
        value = x[part]
        known, number = (largest, chosen) if out is None else (largest[out], chosen[out])
        above = value > known
        if missing:
            above |= value != value
        np.maximum(known, value, out=known)
        mark = above.view(np.uint8)
        mine = j * span if code is None else code[part] + dtype.type(j * span)
        np.maximum(number, np.multiply(mark, mine, dtype=dtype), out=number)
    return largest, chosen


def _search_only(x: Any, code: Any, along: Along, span: int, dtype: Any) -> tuple[Any, Any]:
    window = x[along.only]
    place = np.expand_dims(window.argmax(along.axis), along.axis)
    largest = np.take_along_axis(window, place, along.axis)
    chosen = ((place + along.taps[0][0]) * span).astype(dtype)
    if code is not None:
        chosen += np.take_along_axis(code[along.only], place, along.axis)
    return largest, chosen


def _begin(x: Any, code: Any, along: Along, span: int, dtype: Any) -> tuple[Any, Any]:
    """Return each window's first element, and its number."""
    j, out, part = along.taps[0]
    if out is None:
        largest = x[part].copy()
        chosen = np.full(largest.shape, j * span, dtype)
        if code is not None:
            chosen += code[part]
        return largest, chosen
    shape = resized(x, along, along.count)
    largest, chosen = np.full(shape, _lowest(x.dtype), x.dtype), np.zeros(shape, dtype)
    for to, first, at in ((out, j, part), *along.later):
        largest[to] = x[at]
        chosen[to] = first * span
        if code is not None:
            chosen[to] += code[at]
    return largest, chosen


# -- bins of any size -----------------------------------------------------------------------------


def _even(sizes: Shape, output_size: Shape) -> Shape | None:
    """Return the bins as windows, if all bins of a dimension have the same length."""
    if 0 in output_size or any(n % m for n, m in zip(sizes, output_size, strict=True)):
        return None
    return tuple([n // m for n, m in zip(sizes, output_size, strict=True)])


def adaptive_max_pool(self: Any, output_size: Shape) -> Any:
    """Return the largest element of each bin."""
    dims = len(output_size)
    sizes = self.shape[-dims:]
    kernel = _even(sizes, output_size)
    if kernel is not None:
        return max_pool(self, kernel, kernel, (0,) * dims, (1,) * dims, False)
    plan = bins(sizes, output_size)
    if _is_small(self, dims, output_size, tuple([parts.longest for parts in plan])):
        return _largest_of_few(self, dims, bin_table(sizes, output_size), output_size)
    if dims == 1 and 0 < output_size[0] <= _FEW_BINS:
        return np.stack([window.max(-1) for *_, window in _each_bin(self, plan)], -1)

    def largest(x: Any) -> Any:
        for parts in plan:
            result = np.take(x, beside(x, parts.start), axis=parts.axis)
            for j in range(1, parts.longest):
                tap = beside(x, parts.tap(j))
                np.maximum(result, np.take(x, tap, axis=parts.axis), out=result)
            x = result
        return x

    return by_blocks(largest, self, dims, output_size)


def adaptive_max_pool_indices(self: Any, output_size: Shape) -> Any:
    """Return the index of the largest element of each bin in the flattened pooled dimensions."""
    dims = len(output_size)
    sizes = self.shape[-dims:]
    kernel, plan = _even(sizes, output_size), bins(sizes, output_size)
    if _is_small(self, dims, output_size, tuple([parts.longest for parts in plan])):
        places = _found_of_few(self, dims, bin_table(sizes, output_size), output_size)
        if places is not None:
            return places
    few = _FEW_BINS if kernel is None else _FEW_EVEN_BINS
    if math.prod(output_size) <= few and not np.count_nonzero(self != self):
        return _found_bin_by_bin(self, plan)
    if kernel is not None:
        return max_pool_indices(self, kernel, kernel, (0,) * dims, (1,) * dims, False)
    return by_blocks(lambda x: _found_in_bins(x, plan), self, dims, output_size, np.int64)


def _found_bin_by_bin(self: Any, plan: tuple[Bins, ...]) -> Any:
    """Compute `_found_in_bins` for few large bins without NaNs."""
    lead = self.shape[: self.ndim - len(plan)]
    sizes = self.shape[len(lead) :]
    result = empty(self, (*lead, *[parts.start.size for parts in plan]), np.int64)
    for out, starts, lengths, window in _each_bin(self, plan):
        places = np.unravel_index(window.argmax(-1), lengths)
        place: Any = 0
        for size, start, at in zip(sizes, starts, places, strict=True):
            place = place * size + (at + start)
        result[(..., *out)] = place
    return result


def _each_bin(self: Any, plan: tuple[Bins, ...]) -> Iterator[tuple[Shape, Shape, Shape, Any]]:
    """Yield each bin: its position, its first element, its shape, and its elements in a row."""
    lead = self.shape[: self.ndim - len(plan)]
    for out in np.ndindex(*[parts.start.size for parts in plan]):
        starts = tuple([int(parts.start[i]) for parts, i in zip(plan, out, strict=True)])
        lengths = tuple([int(parts.length[i]) for parts, i in zip(plan, out, strict=True)])
        window = [slice(start, start + n) for start, n in zip(starts, lengths, strict=True)]
        yield out, starts, lengths, self[(..., *window)].reshape(*lead, math.prod(lengths))


def _found_in_bins(x: Any, plan: tuple[Bins, ...]) -> Any:
    kernel = tuple([parts.longest for parts in plan])
    dtype = _code_type(math.prod(kernel))
    code: Any = None
    span = 1
    for parts in reversed(plan):
        x, code = _search_bins(x, code, parts, span, dtype)
        span *= parts.longest
    sizes = tuple([parts.n for parts in plan])
    places = np.take(_offsets(sizes, kernel, (1,) * len(plan)), code)
    step = 1
    for parts in reversed(plan):
        places += (parts.start * step).reshape(-1, *(1,) * parts.after)
        step *= parts.n
    return places


def _search_bins(x: Any, code: Any, parts: Bins, span: int, dtype: Any) -> tuple[Any, Any]:
    axis = parts.axis
    largest = np.take(x, parts.start, axis=axis)
    chosen = (
        np.zeros(largest.shape, dtype) if code is None else np.take(code, parts.start, axis=axis)
    )
    for j in range(1, parts.longest):
        tap = parts.tap(j)
        value = np.take(x, tap, axis=axis)
        above = value > largest
        # a bin without tap j shows its last element again, which could only replace it if NaN
        short = (parts.length > j).reshape(-1, *(1,) * parts.after)
        above |= (value != value) & short
        np.maximum(largest, value, out=largest)
        mine = np.array(j * span, dtype)
        if code is not None:
            mine = np.take(code, tap, axis=axis) + mine
        np.maximum(chosen, np.multiply(above.view(np.uint8), mine, dtype=dtype), out=chosen)
    return largest, chosen


# -- elements by their places in a plane ----------------------------------------------------------


def _within_all(index: Any, dims: int, size: int) -> Any:
    """Convert positions in each plane to positions in all planes."""
    each = index.shape[index.ndim - dims :]
    planes = math.prod(index.shape[: index.ndim - dims])
    places = index.reshape(planes, math.prod(each))
    if planes > 1:
        places = places + (arange(index, planes) * size)[:, None]
    return places.reshape(-1)


def pool_pick(self: Any, indices: Any, dims: int) -> Any:
    """Return the elements at positions in the last `dims` dimensions, for each plane."""
    size = math.prod(self.shape[self.ndim - dims :])
    return self.reshape(-1)[_within_all(indices, dims, size)].reshape(indices.shape)


def _empty_planes(self: Any, shape: Shape) -> Any:
    return zeros(self, (*self.shape[: self.ndim - len(shape)], *shape), self.dtype)


def pool_scatter(self: Any, indices: Any, shape: Shape) -> Any:
    """Return zeros with last dimensions `shape`, to which self is added at positions."""
    result = _empty_planes(self, shape)
    places = _within_all(indices, len(shape), math.prod(shape))
    np.add.at(result.reshape(-1), places, self.reshape(-1))
    return result


def pool_put(self: Any, indices: Any, shape: Shape) -> Any:
    """Return zeros with last dimensions `shape`, and self written at positions of each plane."""
    result = _empty_planes(self, shape)
    result.reshape(-1)[_within_all(indices, len(shape), math.prod(shape))] = self.reshape(-1)
    return result
