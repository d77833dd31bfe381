"""Layer 8 · compiler: cumulative sums, recurrences and positions of extremes, in native code.

Each is a scan along one dimension of a contiguous array. Along the last dimension the carry is a
scalar, for a few rows at a time; along other dimensions it is a vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.compiler.codegen.code import Array, Code, is_native, several
from wengert.compiler.codegen.native.forms import NATIVE, NativeForm, in_strips, outlined
from wengert.compiler.codegen.scalars.lane import Lane, cast
from wengert.compiler.codegen.vectors import register_bytes
from wengert.compiler.ir.programs import Step
from wengert.prims import records

_INT64 = np.dtype(np.int64)
_DOUBLE = np.dtype(np.float64)


def _split(shape: Sequence[int], dim: int | None) -> tuple[int, int, int]:
    """Return the numbers of positions before, along and after a dimension, or along all."""
    if dim is None:
        return 1, math.prod(shape), 1
    return math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :])


# -- cumulative sums and recurrences --------------------------------------------------------------


Some = Callable[[str, str, list[str] | None, int], list[str]]
"""Emits some elements of a scan (see `_scan`)."""


def _scan(
    code: Code,
    shape: Sequence[int],
    dim: int,
    reverse: bool,
    kinds: Sequence[np.dtype[Any]],
    step: Some,
) -> None:
    """Emit a scan along a dimension, for several rows or columns at a time.

    Parameters
    ----------
    kinds: The dtypes of the carry, which is kept in registers.
    step
        ``step(at, k, before, count)`` writes `count` elements from `at` on, at index `k` of the
        dimension, and returns the carry; `before` is the previous carry, or None at the start.
    """
    before, count, after = _split(shape, dim)
    width = register_bytes() // max(kind.itemsize for kind in kinds)
    start, stride = (count - 1, -after) if reverse else (0, after)

    def run(heads: list[str], several: int) -> None:
        lanes = [Lane(code, kind, count=several) for kind in kinds]
        cells = [[code.cell(lane.type) for lane in lanes] for _ in heads]

        def keep(row: int, values: list[str]) -> None:
            for cell, value in zip(cells[row], values, strict=True):
                cell.set(value)

        for row, head in enumerate(heads):
            keep(row, step(head, str(start), None, several))
        with code.loop(count, "1") as k:
            index = code.let(f"sub i64 {start}, {k}") if reverse else k
            offset = code.offset((stride,), [k])
            for row, head in enumerate(heads):
                carry = [cell.get() for cell in cells[row]]
                keep(row, step(code.added(head, offset), index, carry, several))

    if after == 1:

        def rows(i: str, several: int) -> None:
            firsts = [code.added(i, str(row)) for row in range(several)]
            run([code.added(code.offset((count,), [first]), str(start)) for first in firsts], 1)

        in_strips(code, before, 4, rows)
        return
    with code.loop(before) as i:
        head = code.added(code.offset((count * after,), [i]), str(start * after))
        in_strips(code, after, width, lambda j, several: run([code.added(head, j)], several))


def _scanning(how: Callable[..., tuple[Sequence[np.dtype[Any]], Some]]) -> Callable[..., None]:
    """Return an emitter; ``how(code, out, *ins)`` gives the dtypes of the carry, and the step."""

    def emit(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
        dim, reverse = step.params["dim"], step.params.get("reverse", False)

        def write(inner: Code, arrays: list[Array]) -> None:
            _scan(inner, step.outs[0].shape, dim, reverse, *how(inner, *arrays))

        outlined(code, step.prim.name, [*outs, *ins], write)

    return emit


def _cumulative(name: str) -> Callable[..., None]:
    def how(inner: Code, out: Array, source: Array) -> tuple[Sequence[np.dtype[Any]], Some]:
        # accumulate in double precision, as the kernel does
        wide = _DOUBLE if out.dtype.kind == "f" else out.dtype

        def emit_some(at: str, k: str, before: list[str] | None, count: int) -> list[str]:
            value = inner.load(inner.at(source.pointer, source.dtype, at), source.dtype, count)
            value = cast(inner, value, source.dtype, wide, count)
            if before is not None:
                value = getattr(Lane(inner, wide, count=count), name)(before[0], value)
            short = cast(inner, value, wide, out.dtype, count)
            inner.store(short, inner.at(out.pointer, out.dtype, at), out.dtype, count)
            return [value]

        return [wide], emit_some

    return _scanning(how)


def _accepts_cumulative(step: Step) -> bool:
    values = (*step.args, *step.outs)
    native = all(is_native(value.dtype) for value in values) and step.outs[0].dtype.kind != "b"
    return native and bool(step.outs[0].shape) and step.outs[0].size > 0


@_scanning
def _linear_recurrence(
    inner: Code, out: Array, factor: Array, term: Array
) -> tuple[Sequence[np.dtype[Any]], Some]:
    def emit_some(at: str, k: str, before: list[str] | None, count: int) -> list[str]:
        lane = Lane(inner, out.dtype, count=count)
        value = inner.load(inner.at(term.pointer, out.dtype, at), out.dtype, count)
        if before is not None:
            scale = inner.load(inner.at(factor.pointer, out.dtype, at), out.dtype, count)
            value = lane.add(lane.mul(scale, before[0]), value)
        inner.store(value, inner.at(out.pointer, out.dtype, at), out.dtype, count)
        return [value]

    return [out.dtype], emit_some


def _accepts_recurrence(step: Step) -> bool:
    factor, term = step.args
    return _accepts_cumulative(step) and factor.shape == term.shape and factor.dtype == term.dtype


def _cumulative_extreme(worse: str) -> Callable[..., None]:
    """Return the emitter of indices of running extremes: the last of equals; NaN wins."""

    def how(inner: Code, out: Array, source: Array) -> tuple[Sequence[np.dtype[Any]], Some]:
        def emit_some(at: str, k: str, before: list[str] | None, count: int) -> list[str]:
            lane = Lane(inner, source.dtype, count=count)
            value = inner.load(inner.at(source.pointer, source.dtype, at), source.dtype, count)
            index = inner.spread(k, "i64", count)
            if before is not None:
                best, best_index = before
                keep = lane.compare(worse, value, best)
                if lane.kind == "f":
                    number = inner.let(f"fcmp ord {lane.type} {value}, {value}")
                    keep = lane.either(keep, lane.both(lane.is_nan(best), number))
                value = lane.select(keep, best, value)
                wide = several("i64", count)
                index = inner.let(f"select {lane.flag} {keep}, {wide} {best_index}, {wide} {index}")
            inner.store(index, inner.at(out.pointer, _INT64, at), _INT64, count)
            return [value, index]

        return [source.dtype, _INT64], emit_some

    return _scanning(how)


def _accepts_extreme(step: Step) -> bool:
    (self,) = step.args
    out = step.outs[0]
    return is_native(self.dtype) and bool(self.shape) and self.size > 0 and out.dtype == _INT64


def _cost(step: Step) -> int:
    return 10 + 4 * step.args[-1].size


for _prim, _accepts, _emit in (
    (records.cumsum, _accepts_cumulative, _cumulative("add")),
    (records.cumprod, _accepts_cumulative, _cumulative("mul")),
    (records.linear_recurrence, _accepts_recurrence, _linear_recurrence),
    (records.argcummax, _accepts_extreme, _cumulative_extreme("lt")),
    (records.argcummin, _accepts_extreme, _cumulative_extreme("gt")),
):
    NATIVE.of(_prim)(NativeForm(_accepts, _emit, _cost))
