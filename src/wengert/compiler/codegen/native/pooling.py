"""Layer 8 · compiler: max pooling, and the indices of the maxima, in native code.

Several adjacent windows are reduced at a time: each of their taps is loaded as one piece of a row,
from which a shuffle gathers the elements a stride apart. Where windows reach over the edges of the
array, each plane is first copied into a buffer padded with minus infinity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import product
from typing import Any

import numpy as np

from wengert.compiler.codegen.code import (
    Array,
    Code,
    literal,
    strides_of,
)
from wengert.compiler.codegen.native.forms import NATIVE, NativeForm, nest, outlined
from wengert.compiler.codegen.scalars.lane import Lane
from wengert.compiler.codegen.vectors import register_bytes
from wengert.compiler.ir.programs import Step
from wengert.prims import records

Shape = tuple[int, ...]
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_INT64 = np.dtype(np.int64)
_MAX_STRIDE = 4
"""The longest stride that is gathered by shuffles."""
_MAX_TAPS = 64
"""The largest number of elements of a window, whose taps are unrolled."""
_MAX_PADDED_BYTES = 1 << 20
"""The largest padded copy of a plane, in bytes."""


class _Windows:
    """The layout of a step's windows.

    Attributes
    ----------
    planes: The number of planes.
    sizes, size: The spatial sizes of the input, and of the results.
    padded_sizes
        The spatial sizes of the array that windows read: a plane, or its padded copy where windows
        reach over its edges.
    """

    def __init__(self, step: Step) -> None:
        params = step.params
        dims = len(params["kernel_size"])
        given, out = step.args[0].shape, step.outs[0].shape
        self.planes = math.prod(given[: len(given) - dims])
        self.sizes, self.size = given[len(given) - dims :], out[len(out) - dims :]
        self.kernel, self.padding = params["kernel_size"], params["padding"]
        self.dilation = params["dilation"]
        # along a dimension of size 1 any stride will do
        strides = zip(self.size, params["stride"], strict=True)
        self.stride = tuple([1 if n == 1 else step for n, step in strides])
        along = zip(self.size, self.kernel, self.stride, self.dilation, strict=True)
        extents = tuple([(m - 1) * step + gap * (k - 1) + 1 for m, k, step, gap in along])
        pairs = zip(extents, self.sizes, strict=True)
        self.within = not any(self.padding) and all(m <= n for m, n in pairs)
        self.padded_sizes = self.sizes if self.within else extents

    def overlap(self) -> bool:
        """Return whether each window overlaps the array, without dilation."""
        along = zip(self.sizes, self.size, self.kernel, self.stride, self.padding, strict=True)
        return set(self.dilation) == {1} and all(
            p < k and (m - 1) * step - p < n for n, m, k, step, p in along
        )

    def taps(self, sizes: Shape) -> list[int]:
        """Return the offsets of a window's elements from its first, in order."""
        steps = [n * gap for n, gap in zip(strides_of(sizes), self.dilation, strict=True)]
        return [
            sum(k * step for k, step in zip(tap, steps, strict=True))
            for tap in product(*map(range, self.kernel))
        ]


def _accepts(step: Step) -> bool:
    given, (out,) = step.args[0], step.outs
    if given.dtype not in _FLOATS or not given.size or not out.size:
        return False
    windows = _Windows(step)
    if math.prod(windows.sizes) >= 1 << 31 or math.prod(windows.kernel) > _MAX_TAPS:
        return False
    if windows.stride[-1] > _MAX_STRIDE:
        return False
    padded_bytes = math.prod(windows.padded_sizes) * given.dtype.itemsize
    return windows.within or (windows.overlap() and padded_bytes <= _MAX_PADDED_BYTES)


def _cost(step: Step) -> int:
    return 100 + step.outs[0].size * math.prod(step.params["kernel_size"]) // 4


def _emit(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    windows, indices = _Windows(step), step.prim is records.max_pool_indices
    dtype, elements = ins[0].dtype, math.prod(windows.padded_sizes)
    buffers = []
    if not windows.within:
        buffers = [Array(code.workspace(elements * dtype.itemsize), dtype, (elements,), (1,))]

    def write(inner: Code, arrays: list[Array]) -> None:
        out, given, *padded = arrays
        lanes, length = register_bytes() // dtype.itemsize, windows.size[-1]
        for buffer in padded:
            with inner.loop(elements) as i:
                lowest = literal(-math.inf, dtype)
                inner.store(lowest, inner.at(buffer.pointer, dtype, i), dtype)
        with inner.loop(windows.planes) as plane, ExitStack() as stack:
            at = inner.offset((math.prod(windows.sizes),), [plane])
            source = given._replace(pointer=inner.at(given.pointer, dtype, at))
            for buffer in padded:
                _pad(inner, windows, source, buffer)
                source = buffer
            at = inner.offset((math.prod(windows.size),), [plane])
            target = out._replace(pointer=inner.at(out.pointer, out.dtype, at))
            line = [stack.enter_context(inner.loop(n)) for n in windows.size[:-1]]
            whole = length - length % lanes
            if whole:
                with inner.loop(whole, step=lanes) as x:
                    _emit_piece(inner, windows, source, target, [*line, x], lanes, indices)
            if whole < length:
                rest = [*line, str(whole)]
                _emit_piece(inner, windows, source, target, rest, length - whole, indices)

    outlined(code, step.prim.name, [*outs, *ins, *buffers], write)


def _pad(code: Code, windows: _Windows, given: Array, padded: Array) -> None:
    """Emit the copy of a plane into its padded buffer."""
    along = zip(windows.sizes, windows.padded_sizes, windows.padding, strict=True)
    *lines, length = [min(n, m - p) for n, m, p in along]
    own, to = strides_of(windows.sizes), strides_of(windows.padded_sizes)
    first = sum(p * step for p, step in zip(windows.padding, to, strict=True))
    with nest(code, lines, own[:-1], to[:-1], start=("0", str(first))) as (source, target):
        source = code.at(given.pointer, given.dtype, source)
        target = code.at(padded.pointer, padded.dtype, target)
        code.copy(target, source, length * given.dtype.itemsize)


def _emit_piece(
    code: Code,
    windows: _Windows,
    given: Array,
    out: Array,
    at: list[str],
    used: int,
    indices: bool,
) -> None:
    """Emit `used` results of a line from a position on, or their indices."""
    dtype, stride = given.dtype, windows.stride
    count = 1 << (used - 1).bit_length()
    steps = [n * step for n, step in zip(strides_of(windows.padded_sizes), stride, strict=True)]
    head = code.at(given.pointer, dtype, code.offset(tuple(steps), at))
    vector, int_lane = Lane(code, dtype, count=count), Lane(code, np.dtype(np.int32), count=count)
    best, index = "", ""
    if not windows.within:
        best = vector.spread(literal(-math.inf, dtype))
        index = _first_index(code, windows, at, int_lane) if indices else ""
    taps = zip(windows.taps(windows.padded_sizes), windows.taps(windows.sizes), strict=True)
    for tap, number in taps:
        value = _load_strided(code, code.at(head, dtype, tap), dtype, count, stride[-1], used)
        tap_index = int_lane.number(number) if indices else ""
        if not best:
            best, index = value, tap_index
            continue
        # the first of equal elements, the last of NaNs
        better = vector.either(vector.compare("gt", value, best), vector.is_nan(value))
        best = vector.select(better, value, best)
        if indices:
            index = int_lane.select(better, tap_index, index)
    result = code.at(out.pointer, out.dtype, code.offset(strides_of(windows.size), at))
    if not indices:
        vector.store_some(best, result, used)
        return
    wide = Lane(code, _INT64, count=count)
    own = strides_of(windows.sizes)
    first = code.offset(tuple([n * s for n, s in zip(own, stride, strict=True)]), at)
    before = sum(n * p for n, p in zip(own, windows.padding, strict=True))
    start = wide.spread(code.let(f"sub i64 {first}, {before}"))
    index = wide.add(code.let(f"sext {int_lane.type} {index} to {wide.type}"), start)
    index = wide.add(index, wide.numbers([k * stride[-1] for k in range(count)]))
    wide.store_some(index, result, used)


def _first_index(code: Code, windows: _Windows, at: list[str], chosen: Lane) -> str:
    """Return the index of each window's first element in the array, the default maximum."""
    total = "0"
    along = zip(
        at[:-1], strides_of(windows.sizes), windows.stride[:-1], windows.padding[:-1], strict=False
    )
    for index, own, step, padding in along:
        missing = code.let(f"sub i64 {padding}, {code.let(f'mul i64 {index}, {step}')}")
        some = code.let(f"icmp sgt i64 {missing}, 0")
        missing = code.let(f"select i1 {some}, i64 {missing}, i64 0")
        total = code.added(total, code.let(f"mul i64 {missing}, {own}"))
    step, padding = windows.stride[-1], windows.padding[-1]
    moved = code.let(f"trunc i64 {code.let(f'mul i64 {at[-1]}, {step}')} to i32")
    beside = chosen.numbers([padding - k * step for k in range(chosen.count)])
    missing = chosen.at_least(chosen.sub(beside, chosen.spread(moved)), "zeroinitializer")
    return chosen.add(missing, chosen.spread(code.let(f"trunc i64 {total} to i32")))


def _load_strided(
    code: Code, pointer: str, dtype: np.dtype[Any], count: int, stride: int, used: int
) -> str:
    """Load a vector of elements a stride apart; lanes after the first `used` are undefined."""
    if stride == 1 or count == 1:
        return Lane(code, dtype, count=count).load_some(pointer, used)
    row = Lane(code, dtype, count=count * stride)
    loaded = row.load_some(pointer, (used - 1) * stride + 1)
    mask = ", ".join([f"i32 {k * stride}" for k in range(count)])
    return code.let(
        f"shufflevector {row.type} {loaded}, {row.type} poison, <{count} x i32> <{mask}>"
    )


NATIVE.of(*(records.max_pool1d, records.max_pool2d, records.max_pool3d, records.max_pool_indices))(
    NativeForm(_accepts, _emit, _cost)
)
