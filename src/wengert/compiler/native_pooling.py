"""Layer 8 · compiler: the largest elements of windows, and their places, in native code.

Windows that lie within the array as a whole are taken, several neighbours at a time: each tap of
them is read as one piece of a row, of which a shuffle takes the elements that are a stride apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from wengert.compiler.code import Array, Code, llvm_type
from wengert.compiler.ir import Step
from wengert.compiler.native import NATIVE, Native, fill_zeros, nest, outlined
from wengert.compiler.native_vectors import Vector
from wengert.compiler.vectors import register_bytes
from wengert.prims import records

__all__: list[str] = []

Shape = tuple[int, ...]
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_INT64 = np.dtype(np.int64)
_LONGEST = 4
"""Up to so long strides are taken apart by shuffles."""
_MOST = 64
"""Windows of so many elements are written out."""


def _strides(shape: Sequence[int]) -> Shape:
    return tuple([math.prod(shape[d + 1 :]) for d in range(len(shape))])


class _Windows:
    """The windows of a step, and what they are of."""

    def __init__(self, step: Step) -> None:
        params = step.params
        dims = len(params["kernel_size"])
        given, out = step.args[0].shape, step.outs[0].shape
        self.planes = math.prod(given[: len(given) - dims])
        self.sizes, self.size = given[len(given) - dims :], out[len(out) - dims :]
        self.kernel, self.padding = params["kernel_size"], params["padding"]
        self.dilation = params["dilation"]
        # what has no neighbour may be any distance apart
        apart = zip(self.size, params["stride"], strict=True)
        self.stride = tuple([1 if n == 1 else step for n, step in apart])

    def within(self) -> bool:
        """Whether all windows lie within the array."""
        along = zip(
            *(self.sizes, self.size, self.kernel, self.stride, self.padding, self.dilation),
            strict=True,
        )
        return all(p == 0 and (m - 1) * step + gap * (k - 1) < n for n, m, k, step, p, gap in along)

    def taps(self) -> list[int]:
        """How far the elements of a window are from its first, in order."""
        own = _strides(self.sizes)
        steps = [n * gap for n, gap in zip(own, self.dilation, strict=True)]
        return [
            sum(k * step for k, step in zip(tap, steps, strict=True))
            for tap in product(*map(range, self.kernel))
        ]


def _accepts(step: Step) -> bool:
    given, (out,) = step.args[0], step.outs
    if given.dtype not in _FLOATS or not given.size or not out.size:
        return False
    windows = _Windows(step)
    if math.prod(windows.sizes) >= 1 << 31 or math.prod(windows.kernel) > _MOST:
        return False
    if windows.stride[-1] > _LONGEST:
        return False
    return windows.within()


def _cost(step: Step) -> int:
    return 100 + step.outs[0].size * math.prod(step.params["kernel_size"]) // 4


def _emit(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    windows, places = _Windows(step), step.prim is records.max_pool_indices

    def write(inner: Code, arrays: list[Array]) -> None:
        out, given = arrays
        lanes = register_bytes() // given.dtype.itemsize
        own = _strides(windows.sizes)
        steps = [n * step for n, step in zip(own, windows.stride, strict=True)]
        lines = (windows.planes, *windows.size[:-1])
        of_given = (math.prod(windows.sizes), *steps[:-1])
        of_out = (math.prod(windows.size), *_strides(windows.size)[:-1])
        of_plane = (0, *steps[:-1])
        length = windows.size[-1]
        with nest(inner, lines, of_given, of_out, of_plane) as (at, to, first):
            whole = length - length % lanes
            if whole:
                with inner.loop(whole, step=lanes) as x:
                    _piece(inner, windows, (given, at), (out, to), first, x, lanes, places)
            if whole < length:
                _piece(
                    inner,
                    *(windows, (given, at), (out, to), first),
                    *(str(whole), length - whole, places),
                )

    outlined(code, step.prim.name, [*outs, *ins], write)


def _piece(
    code: Code,
    windows: _Windows,
    source: tuple[Array, str],
    target: tuple[Array, str],
    first: str,
    x: str,
    used: int,
    places: bool,
) -> None:
    """Emit so many results of a line, from `x` on, or the places of what they are."""
    (given, at), (out, to) = source, target
    dtype, stride = given.dtype, windows.stride[-1]
    count = 1 << (used - 1).bit_length()
    flags = f"<{count} x i1>"
    moved = code.offset((stride,), [x])
    head = code.at(given.pointer, dtype, code.added(at, moved))
    vector, chosen = Vector(code, dtype, count), Vector(code, np.dtype(np.int32), count)
    best, place = "", ""
    for tap in windows.taps():
        value = _apart(code, code.at(head, dtype, tap), dtype, count, stride, used)
        here = chosen.spread(str(tap)) if places else ""
        if not best:
            best, place = value, here
            continue
        # of equal ones the first, of NaNs the last
        above = code.let(f"fcmp ogt {vector.type} {value}, {best}")
        missing = code.let(f"fcmp uno {vector.type} {value}, {value}")
        better = code.let(f"or {flags} {above}, {missing}")
        best = code.let(f"select {flags} {better}, {vector.type} {value}, {vector.type} {best}")
        if places:
            place = code.let(
                f"select {flags} {better}, {chosen.type} {here}, {chosen.type} {place}"
            )
    result = code.at(out.pointer, out.dtype, code.added(to, x))
    if not places:
        vector.store_some(best, result, used)
        return
    wide = Vector(code, _INT64, count)
    steps = ", ".join([f"i64 {k * stride}" for k in range(count)])
    start = wide.spread(code.added(first, moved))
    place = code.let(f"sext {chosen.type} {place} to {wide.type}")
    place = code.let(f"add {wide.type} {place}, {start}")
    place = code.let(f"add {wide.type} {place}, <{steps}>")
    wide.store_some(place, result, used)


def _apart(
    code: Code, pointer: str, dtype: np.dtype[Any], count: int, stride: int, used: int
) -> str:
    """A vector of elements that are a stride apart; behind those that are used it may hold any."""
    if stride == 1:
        return Vector(code, dtype, count).load_some(pointer, used)
    row = Vector(code, dtype, count * stride)
    loaded = row.load_some(pointer, (used - 1) * stride + 1)
    mask = ", ".join([f"i32 {k * stride}" for k in range(count)])
    return code.let(
        f"shufflevector {row.type} {loaded}, {row.type} poison, <{count} x i32> <{mask}>"
    )


for _prim in (
    records.max_pool1d,
    records.max_pool2d,
    records.max_pool3d,
    records.max_pool_indices,
):
    NATIVE.of(_prim)(Native(_accepts, _emit, _cost))


# -- elements at places of a plane ----------------------------------------------------------------


def _planes(step: Step) -> tuple[int, int, int]:
    """How many planes there are, of how many elements, and how many are put into each."""
    self, shape = step.args[0].shape, step.params["shape"]
    lead = len(self) - len(shape)
    return math.prod(self[:lead]), math.prod(shape), math.prod(self[lead:])


def _accepts_scatter(step: Step) -> bool:
    self, index = step.args
    return self.dtype in _FLOATS and index.dtype == _INT64 and index.shape == self.shape


def _emit_scatter(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    count, size, each = _planes(step)

    def write(inner: Code, arrays: list[Array]) -> None:
        out, given, index = arrays
        dtype, kind = given.dtype, llvm_type(given.dtype)
        fill_zeros(inner, out.pointer, count * size * dtype.itemsize)
        if not size:
            inner.trouble("true" if count * each else "false")
            return
        outside = inner.cell("i1")
        inner.do(f"store i1 false, ptr {outside}")
        with inner.loop(count) as plane, inner.loop(each) as k:
            at = inner.offset((each, 1), [plane, k])
            place = inner.load(inner.at(index.pointer, _INT64, at), _INT64)
            # counted from the beginning: any other one is the kernel's to judge
            wrong = inner.let(f"icmp uge i64 {place}, {size}")
            before = inner.let(f"load i1, ptr {outside}")
            inner.do(f"store i1 {inner.let(f'or i1 {before}, {wrong}')}, ptr {outside}")
            place = inner.let(f"select i1 {wrong}, i64 0, i64 {place}")
            place = inner.added(place, inner.offset((size,), [plane]))
            to = inner.at(out.pointer, dtype, place)
            value = inner.load(inner.at(given.pointer, dtype, at), dtype)
            total = inner.let(f"fadd {kind} {inner.load(to, dtype)}, {value}")
            inner.store(total, to, dtype)
        inner.trouble(inner.let(f"load i1, ptr {outside}"))

    outlined(code, step.prim.name, [*outs, *ins], write)


NATIVE.of(records.pool_scatter)(
    Native(
        _accepts_scatter,
        _emit_scatter,
        lambda step: 100 + step.outs[0].size // 8 + 3 * step.args[0].size,
    )
)
