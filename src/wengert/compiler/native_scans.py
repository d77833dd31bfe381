"""Layer 8 · compiler: running sums, recurrences, and positions of extremes, in native code.

Each goes along one dimension of a contiguous array. Where the dimension is the last, what runs is a
register; else whole rows run, several elements at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.compiler.code import Array, Code, is_native, llvm_type
from wengert.compiler.ir import Step
from wengert.compiler.native import Native, outlined
from wengert.compiler.scalars_lane import Lane, cast

__all__ = ["SCANS"]

_INT64 = np.dtype(np.int64)


def _parted(shape: Sequence[int], dim: int | None) -> tuple[int, int, int]:
    """The numbers of positions before, along and behind a dimension, or along all of them."""
    if dim is None:
        return 1, math.prod(shape), 1
    return math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :])


# -- running sums and recurrences -----------------------------------------------------------------


def _running(
    code: Code,
    shape: Sequence[int],
    dim: int,
    reverse: bool,
    step: Callable[[str, str | None], str],
    out: Array,
) -> None:
    """Write what runs along a dimension.

    Parameters
    ----------
    step
        ``step(position, before)`` gives the element at a position; `before` is the one that was
        computed before it, or None at the beginning.
    """
    before, count, behind = _parted(shape, dim)
    start, back = (count - 1, behind) if reverse else (0, -behind)
    with code.loop(before) as i:
        base = code.offset((count * behind,), [i])
        head = _moved(code, base, start * behind)
        if behind == 1:
            cell = code.cell(Lane(code, out.dtype).type)
            first = step(head, None)
            code.store(first, code.at(out.pointer, out.dtype, head), out.dtype)
            code.do(f"store {Lane(code, out.dtype).type} {first}, ptr {cell}")
        else:
            with code.loop(behind) as j:
                at = _added(code, head, j)
                code.store(step(at, None), code.at(out.pointer, out.dtype, at), out.dtype)
        with code.loop(count, "1") as k:
            at = code.offset((-back,), [k])
            at = _added(code, head, at)
            if behind == 1:
                last = code.let(f"load {Lane(code, out.dtype).type}, ptr {cell}")
                value = step(at, last)
                code.do(f"store {Lane(code, out.dtype).type} {value}, ptr {cell}")
                code.store(value, code.at(out.pointer, out.dtype, at), out.dtype)
            else:
                with code.loop(behind) as j:
                    here = _added(code, at, j)
                    there = _moved(code, here, back)
                    last = code.load(code.at(out.pointer, out.dtype, there), out.dtype)
                    pointer = code.at(out.pointer, out.dtype, here)
                    code.store(step(here, last), pointer, out.dtype)


def _added(code: Code, a: str, b: str) -> str:
    if "0" in (a, b):
        return b if a == "0" else a
    return code.let(f"add nsw i64 {a}, {b}")


def _moved(code: Code, position: str, by: int) -> str:
    return _added(code, position, str(by))


def _accumulated(name: str) -> Callable[..., None]:
    def emit(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
        shape, params = step.outs[0].shape, step.params

        def write(inner: Code, arrays: list[Array]) -> None:
            out, source = arrays
            lane = Lane(inner, out.dtype)

            def one(at: str, before: str | None) -> str:
                value = inner.load(inner.at(source.pointer, source.dtype, at), source.dtype)
                value = cast(inner, value, source.dtype, out.dtype)
                if before is None:
                    return value
                return lane.add(before, value) if name == "add" else lane.mul(before, value)

            _running(inner, shape, params["dim"], params["reverse"], one, out)

        outlined(code, step.prim.name, [*outs, *ins], write)

    return emit


def _accepts_running(step: Step) -> bool:
    values = (*step.args, *step.outs)
    native = all(is_native(value.dtype) for value in values) and step.outs[0].dtype.kind != "b"
    return native and bool(step.outs[0].shape) and step.outs[0].size > 0


def _linear_recurrence(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    shape, params = step.outs[0].shape, step.params

    def write(inner: Code, arrays: list[Array]) -> None:
        out, factor, term = arrays
        lane = Lane(inner, out.dtype)

        def one(at: str, before: str | None) -> str:
            value = inner.load(inner.at(term.pointer, out.dtype, at), out.dtype)
            if before is None:
                return value
            grown = inner.load(inner.at(factor.pointer, out.dtype, at), out.dtype)
            return lane.add(lane.mul(grown, before), value)

        _running(inner, shape, params["dim"], params["reverse"], one, out)

    outlined(code, step.prim.name, [*outs, *ins], write)


def _accepts_recurrence(step: Step) -> bool:
    factor, term = step.args
    return _accepts_running(step) and factor.shape == term.shape and factor.dtype == term.dtype


# -- positions of extremes ------------------------------------------------------------------------


def _extreme(name: str) -> Callable[..., None]:
    def emit(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
        (self,) = step.args
        before, count, behind = _parted(self.shape, step.params["dim"])
        arrays = [*outs, *ins]
        if behind > 1:
            room = code.workspace(behind * self.dtype.itemsize)
            arrays.append(Array(room, self.dtype, (behind,), (1,)))

        def write(inner: Code, given: list[Array]) -> None:
            if behind == 1:
                _position(inner, name, given[0], given[1], before, count)
            else:
                _positions(inner, name, given[0], given[1], given[2], before, count)

        outlined(code, step.prim.name, arrays, write)

    return emit


def _better(lane: Lane, name: str, value: str, best: str) -> str:
    """Whether a value is beyond the best one so far, as a NaN is beyond all numbers."""
    if lane.kind != "f":
        return lane.compare(name, value, best)
    beyond = lane.code.let(f"fcmp u{name} {lane.type} {value}, {best}")
    return lane.both(beyond, lane.code.let(f"fcmp ord {lane.type} {best}, {best}"))


def _position(code: Code, name: str, out: Array, source: Array, before: int, count: int) -> None:
    """One position for each row."""
    with code.loop(before) as i:
        base = code.offset((count,), [i])
        head = code.at(source.pointer, source.dtype, base)
        position = _of_row(code, name, source.dtype, head, count)
        code.store(position, code.at(out.pointer, _INT64, i), _INT64)


def _of_row(code: Code, name: str, dtype: np.dtype[Any], head: str, count: int) -> str:
    """The position in one row: of each of several columns first, then of these."""
    lane = Lane(code, dtype)
    best, found = code.cell(lane.type), code.cell("i64")
    width = 64 // dtype.itemsize if dtype.kind != "b" else count + 1
    # worth it only if the columns are longer than there are columns
    start = count - count % width if count >= 4 * width else 0
    if start:
        values, places = _columns(code, name, dtype, head, start, width)
        first = code.load(values, dtype)
        code.do(f"store {lane.type} {first}, ptr {best}")
        code.do(f"store i64 {code.load(places, _INT64)}, ptr {found}")
        with code.loop(width, "1") as k:
            value = code.load(code.at(values, dtype, k), dtype)
            place = code.load(code.at(places, _INT64, k), _INT64)
            _take(code, name, lane, (best, found), (value, place), ordered=False)
    else:
        code.do(f"store {lane.type} {code.load(head, dtype)}, ptr {best}")
        code.do(f"store i64 0, ptr {found}")
    with code.loop(count, str(start or 1)) as k:
        value = code.load(code.at(head, dtype, k), dtype)
        _take(code, name, lane, (best, found), (value, k), ordered=True)
    return code.let(f"load i64, ptr {found}")


def _take(
    code: Code,
    name: str,
    lane: Lane,
    cells: tuple[str, str],
    candidate: tuple[str, str],
    ordered: bool,
) -> None:
    """Let a candidate take the place of what is held, if it is better.

    Where candidates do not come in the order of their positions, an equal one with a smaller
    position is.
    """
    held, at = code.let(f"load {lane.type}, ptr {cells[0]}"), code.let(f"load i64, ptr {cells[1]}")
    value, position = candidate
    better = _better(lane, name, value, held)
    if not ordered:
        equal = lane.compare("eq", value, held)
        if lane.kind == "f":
            equal = lane.either(equal, lane.both(lane.is_nan(value), lane.is_nan(held)))
        earlier = code.let(f"icmp slt i64 {position}, {at}")
        better = lane.either(better, lane.both(equal, earlier))
    code.do(f"store {lane.type} {lane.select(better, value, held)}, ptr {cells[0]}")
    code.do(
        f"store i64 {code.let(f'select i1 {better}, i64 {position}, i64 {at}')}, ptr {cells[1]}"
    )


def _columns(
    code: Code, name: str, dtype: np.dtype[Any], head: str, end: int, width: int
) -> tuple[str, str]:
    """The extremes of so many interleaved columns of a row, and their positions, in memory."""
    kind, wide = f"<{width} x {llvm_type(dtype)}>", f"<{width} x i64>"
    flags = f"<{width} x i1>"
    values, places = code.stack(dtype, width), code.stack(_INT64, width)
    best, found, here = code.cell(kind), code.cell(wide), code.cell(wide)
    first = code.let(f"load {kind}, ptr {head}, align {dtype.itemsize}")
    numbers = f"<{', '.join([f'i64 {i}' for i in range(width)])}>"
    steps = f"<{', '.join([f'i64 {width}'] * width)}>"
    code.do(f"store {kind} {first}, ptr {best}")
    for cell in (found, here):
        code.do(f"store {wide} {numbers}, ptr {cell}")
    with code.loop(end, str(width), step=width, unroll=False) as k:
        position = code.let(f"add {wide} {code.let(f'load {wide}, ptr {here}')}, {steps}")
        code.do(f"store {wide} {position}, ptr {here}")
        value = code.let(f"load {kind}, ptr {code.at(head, dtype, k)}, align {dtype.itemsize}")
        held, at = code.let(f"load {kind}, ptr {best}"), code.let(f"load {wide}, ptr {found}")
        if dtype.kind == "f":
            # beyond, or a NaN, while what is held is a number
            beyond = code.let(f"fcmp u{name} {kind} {value}, {held}")
            number = code.let(f"fcmp ord {kind} {held}, {held}")
            better = code.let(f"and {flags} {beyond}, {number}")
        else:
            sign = "s" if dtype.kind == "i" else "u"
            better = code.let(f"icmp {sign}{name} {kind} {value}, {held}")
        chosen = code.let(f"select {flags} {better}, {kind} {value}, {kind} {held}")
        code.do(f"store {kind} {chosen}, ptr {best}")
        moved = code.let(f"select {flags} {better}, {wide} {position}, {wide} {at}")
        code.do(f"store {wide} {moved}, ptr {found}")
    code.do(f"store {kind} {code.let(f'load {kind}, ptr {best}')}, ptr {values}")
    code.do(f"store {wide} {code.let(f'load {wide}, ptr {found}')}, ptr {places}")
    return values, places


def _positions(
    code: Code, name: str, out: Array, source: Array, best: Array, before: int, count: int
) -> None:
    """One position for each element of what lies behind the dimension."""
    lane, behind = Lane(code, source.dtype), best.shape[0]
    with code.loop(before) as i:
        base, to = code.offset((count * behind,), [i]), code.offset((behind,), [i])
        with code.loop(behind) as j:
            at = code.at(source.pointer, source.dtype, _added(code, base, j))
            code.store(
                code.load(at, source.dtype), code.at(best.pointer, best.dtype, j), best.dtype
            )
            code.store("0", code.at(out.pointer, _INT64, _added(code, to, j)), _INT64)
        with code.loop(count, "1") as k:
            row = _added(code, base, code.offset((behind,), [k]))
            with code.loop(behind) as j:
                at = code.at(source.pointer, source.dtype, _added(code, row, j))
                value = code.load(at, source.dtype)
                held = code.at(best.pointer, best.dtype, j)
                place = code.at(out.pointer, _INT64, _added(code, to, j))
                last = code.load(held, best.dtype)
                better = _better(lane, name, value, last)
                code.store(lane.select(better, value, last), held, best.dtype)
                position = code.load(place, _INT64)
                position = code.let(f"select i1 {better}, i64 {k}, i64 {position}")
                code.store(position, place, _INT64)


def _accepts_extreme(step: Step) -> bool:
    (self,) = step.args
    out = step.outs[0]
    return is_native(self.dtype) and bool(self.shape) and self.size > 0 and out.dtype == _INT64


def _cost(step: Step) -> int:
    return 10 + 4 * step.args[-1].size


def _native(accepts: Callable[[Step], bool], emit: Any) -> Native:
    return Native(accepts, emit, _cost)


SCANS = {
    "cumsum": _native(_accepts_running, _accumulated("add")),
    "cumprod": _native(_accepts_running, _accumulated("mul")),
    "linear_recurrence": _native(_accepts_recurrence, _linear_recurrence),
    "argmax": _native(_accepts_extreme, _extreme("gt")),
    "argmin": _native(_accepts_extreme, _extreme("lt")),
}
