"""Layer 8 · compiler: construction of the rerolled program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from wengert.compiler.ir.programs import Loop, Number, Program, Step, Value, uses
from wengert.compiler.passes.builder import live
from wengert.compiler.passes.looping import FEWEST, FIXED, LOCAL, SLICED, Shape
from wengert.compiler.passes.repeats import Region
from wengert.compiler.passes.unrolled import Unrolled
from wengert.prims.record import TABLE

_LAYERS = 8
"""The most equal layers in one iteration that may look like iterations themselves."""
_ATTEMPTS = 64


def rolled(program: Program, flat: Unrolled, regions: Iterable[Region], least: int) -> Program:
    """Replace regions that are loops; return the program itself if none is."""
    rolling = _Rolling(program, flat)
    regions = _chosen(flat, regions, least)
    for region in regions:
        # including the stacks of earlier loops
        shape = Shape(flat, region)
        if shape.is_loop(least) and shape.is_small():
            rolling.loop(shape)
    return rolling.finish() if rolling.done else program


def _chosen(flat: Unrolled, regions: Iterable[Region], least: int) -> list[Region]:
    """Return disjoint regions that may be loops, in program order."""
    chosen: list[Region] = []
    for region in islice(regions, _ATTEMPTS):
        if all(region.end <= other.start or other.end <= region.start for other in chosen):
            found = _layered(flat, region, least)
            if found is not None:
                chosen.append(found)
    return sorted(chosen)


def _layered(flat: Unrolled, region: Region, least: int) -> Region | None:
    """Return the region, with several periods taken as one where needed, if it may be a loop."""
    for layers in range(1, _LAYERS + 1):
        several = region.several(layers)
        if several.iterations <= FEWEST:
            break
        if Shape(flat, several).is_loop(least):
            return several
    return None


class _Rolling:
    """The new program under construction."""

    def __init__(self, program: Program, flat: Unrolled) -> None:
        self.program = program
        self.flat = flat
        self.steps: list[Step | Loop] = []
        self.done = 0
        self.now: dict[int, Value] = {}
        self.gone = np.zeros(len(self.flat.values), bool)

    # -- values ------------------------------------------------------------------------------------

    def value(self, number: int) -> Value:
        """Return the new value of a value of the old program."""
        found = self.now.get(number)
        if found is not None:
            return found
        flat = self.flat
        value = flat.values[number]
        if number >= self.gone.size or not self.gone[number]:
            return value
        # a slice of a loop's stack
        whole, position = int(flat.whole[number]), int(flat.position[number])
        assert whole >= 0, "a loop has not kept a value that is read behind it"
        made = self.now[number] = self.row(self.value(whole), position)
        return made

    def row(self, whole: Value, position: int) -> Value:
        """Emit a selection of one position of the first dimension."""
        return self.made("select", (whole,), {"dim": 0, "index": position}, whole.shape[1:])

    def made(
        self,
        name: str,
        args: Sequence[Value],
        params: dict[str, Any],
        shape: tuple[int, ...],
    ) -> Value:
        """Emit a step."""
        out = Value(args[0].dtype, shape)
        self.steps.append(Step(TABLE[name], args, params, (out,)))
        return out

    def made_zeros(self, like: Value) -> Value:
        """Emit zeros in place of a value that no iteration has computed yet."""
        out = Value(like.dtype, like.shape)
        params = {"shape": like.shape, "dtype": like.dtype}
        self.steps.append(Step(TABLE["zeros"], (), params, (out,)))
        return out

    def stacked(self, numbers: Sequence[int]) -> Value:
        """Emit a stack of values."""
        values = [self.flat.values[number] for number in numbers]
        if all(value.constant is not None for value in values):
            array = np.stack([value.constant for value in values])
            array.flags.writeable = False
            return Value(array.dtype, array.shape, array)
        values = [self.value(number) for number in numbers]
        return self.made("stack", values, {"dim": 0}, (len(values), *values[0].shape))

    # -- steps -------------------------------------------------------------------------------------

    def plain(self, end: int) -> None:
        """Copy the steps up to `end`."""
        flat = self.flat
        read, first, gone = flat.read, flat.first, self.gone
        touched = gone[read[first[self.done] : first[end]]]
        if not touched.any():
            self.steps += flat.steps[self.done : end]
        else:
            for i in range(self.done, end):
                numbers = read[first[i] : first[i + 1]]
                step = flat.steps[i]
                if gone[numbers].any():
                    step = step.reading(_in_turn(map(self.value, numbers.tolist())))
                self.steps.append(step)
        self.done = end

    def loop(self, shape: Shape) -> None:
        """Replace repeated steps by a loop."""
        self.plain(shape.first)
        _Making(self, shape).make()
        self.done = shape.last

    def finish(self) -> Program:
        """Return the new program."""
        self.plain(len(self.flat.steps))
        outputs = [self.value(number) for number in self.flat.outputs.tolist()]
        known = dict(zip(self.program.outputs, outputs, strict=True))
        writes = [(known[made], over) for made, over in self.program.writes]
        return Program(self.program.inputs, live(self.steps, outputs)[0], outputs, writes)


def _in_turn(values: Iterable[Value]) -> Callable[[Value], Value]:
    """Return a function that returns these values, one by one, for any others."""
    rest = iter(values)
    return lambda _: next(rest)


class _Making:
    """A loop under construction, from the steps of its first iteration."""

    def __init__(self, rolling: _Rolling, shape: Shape) -> None:
        self.rolling = rolling
        self.flat = rolling.flat
        self.shape = shape
        self.begin = shape.first
        self.end = shape.last
        self.count = shape.high - shape.low
        self.fixed: dict[int, tuple[Value, Value]] = {}
        self.sliced: dict[Any, tuple[tuple[Value, int, int], Value]] = {}
        # the carried values: initial value, input and output of the body
        self.carried: list[tuple[Value, Value]] = []
        self.following: list[Any] = []
        self._carriers: dict[Any, Value] = {}

    # -- operands of the body ----------------------------------------------------------------------

    def fixed_input(self, number: int) -> Value:
        """Return the body's input for a loop invariant."""
        outer = self.rolling.value(number)
        if outer.constant is not None:
            return outer
        if number not in self.fixed:
            self.fixed[number] = outer, Value(outer.dtype, outer.shape)
        return self.fixed[number][1]

    def slice_of(self, whole: Value, start: int, step: int) -> Value:
        """Return the body's input for the slice of each iteration."""
        key = (whole, start, step)
        if key not in self.sliced:
            self.sliced[key] = key, Value(whole.dtype, whole.shape[1:])
        return self.sliced[key][1]

    def given_input(self, column: Any) -> Value:
        """Return the body's input for unrelated values, which are stacked."""
        key = column.tobytes()
        if key not in self.sliced:
            whole = self.rolling.stacked(column.tolist())
            self.sliced[key] = (whole, 0, 1), Value(whole.dtype, whole.shape[1:])
        return self.sliced[key][1]

    def carried_input(self, place: tuple[int, int], firsts: tuple[int, ...]) -> Value:
        """Return the body's input for a carried value, one for each initial value."""
        key = (place, firsts)
        found = self._carriers.get(key)
        if found is None:
            # the next value is the one read from one iteration less back
            following = place if len(firsts) == 1 else self.carried_input(place, firsts[1:])
            outer = self.rolling.value(firsts[0])
            found = self._carriers[key] = Value(outer.dtype, outer.shape)
            self.carried.append((outer, found))
            self.following.append(following)
        return found

    def read(self, column: int, made: dict[tuple[int, int], Value]) -> Value:
        """Return the body's value for a column."""
        shape = self.shape
        numbers = shape.columns[shape.low : shape.high, column]
        kind = shape.kinds[column]
        number = int(numbers[0])
        if kind == FIXED:
            return self.fixed_input(number)
        if kind == SLICED:
            flat = self.flat
            whole = self.rolling.value(int(flat.whole[number]))
            return self.slice_of(whole, int(flat.position[number]), int(shape.slope[column]))
        if kind == LOCAL:
            back = int(shape.back[column])
            place = int(shape.place[column]), int(self.flat.port[numbers[-1]])
            if back == 0:
                return made[place]
            return self.carried_input(place, tuple(numbers[:back].tolist()))
        return self.given_input(numbers)

    # -- the body ----------------------------------------------------------------------------------

    def make(self) -> None:
        """Add the loop to the program."""
        made: dict[tuple[int, int], Value] = {}
        steps: list[Step | Loop] = []
        column = 0
        for k in range(self.shape.period):
            step = self.flat.steps[self.begin + k]
            values = [self.read(column + i, made) for i in range(len(uses(step)))]
            column += len(values)
            outs = [Value(out.dtype, out.shape) for out in step.outs]
            own = step.reading(_in_turn(values), outs)
            made |= {(k, port): out for port, out in enumerate(outs)}
            steps.append(self._numbered(k, own))
        self._finish(steps, made)

    def _numbered(self, k: int, step: Step | Loop) -> Step | Loop:
        """Return a step of the body with parameters that depend on the iteration."""
        if isinstance(step, Loop):
            return step
        shape = self.shape
        for name in step.params:
            row = shape.params.get((k, name))
            if isinstance(row, np.ndarray):
                numbers = row[shape.low : shape.high]
                if numbers.tobytes() != numbers[:1].tobytes() * numbers.size:
                    array = numbers.copy()
                    array.flags.writeable = False
                    key = (k, name)
                    self.sliced[key] = (
                        (Value(array.dtype, array.shape, array), 0, 1),
                        Value(array.dtype, ()),
                    )
                    step.params[name] = Number(self.sliced[key][1])
            elif row is not None and row.step:
                step.params[name] = type(row)(row.start + row.step * shape.low, row.step)
        return step

    # -- results of the loop -----------------------------------------------------------------------

    def _wanted(self) -> dict[tuple[int, int], list[int]]:
        """Return the values that are used after the loop, by position."""
        flat = self.flat
        later = np.concatenate((flat.read[flat.first[self.end] :], flat.outputs))
        maker = flat.maker[later]
        inside = later[(maker >= self.begin) & (maker < self.end)]
        found: dict[tuple[int, int], list[int]] = {}
        # not by `np.unique`, which imports masked arrays first
        for number in sorted(set(inside.tolist())):
            # slices of an outer value are sliced again
            whole = flat.whole[number]
            if whole < 0 or flat.maker[whole] >= self.begin:
                k = int(flat.maker[number] - self.begin) % self.shape.period
                found.setdefault((k, int(flat.port[number])), []).append(number)
        return found

    def _finish(self, steps: list[Step | Loop], made: dict[tuple[int, int], Value]) -> None:
        rolling, flat = self.rolling, self.flat
        last_begins = self.end - self.shape.period
        stacks: list[tuple[tuple[int, int], list[int]]] = []
        finals: list[tuple[int, int]] = []
        for place, numbers in self._wanted().items():
            if len(numbers) > 1 or flat.maker[numbers[0]] < last_begins:
                stacks.append((place, numbers))
                continue
            at = [i for i, next_ in enumerate(self.following) if next_ == place]
            if not at:
                inner = made[place]
                outer = rolling.made_zeros(inner)
                at = [len(self.carried)]
                self.carried.append((outer, Value(inner.dtype, inner.shape)))
                self.following.append(place)
            finals.append((numbers[0], at[0]))
        following = [made[n] if isinstance(n, tuple) else n for n in self.following]
        outputs = [*following, *(made[place] for place, _ in stacks)]
        body_steps, counts = live(steps, outputs)
        sliced = [pair for pair in self.sliced.values() if pair[1] in counts]
        fixed = [pair for pair in self.fixed.values() if pair[1] in counts]
        inputs = [inner for _, inner in (*self.carried, *sliced, *fixed)]
        outs = [Value(value.dtype, value.shape) for value in following]
        outs += [Value(made[p].dtype, (self.count, *made[p].shape)) for p, _ in stacks]
        body = Program(inputs, body_steps, outputs)
        rolling.steps.append(
            Loop(
                self.count,
                body,
                [outer for outer, _ in self.carried],
                [source for source, _ in sliced],
                [outer for outer, _ in fixed],
                outs,
            )
        )
        for number, place_of in finals:
            rolling.now[number] = outs[place_of]
        for (_, numbers), out in zip(stacks, outs[len(following) :], strict=True):
            whole = flat.add(out)
            for number in numbers:
                flat.whole[number] = whole
                flat.position[number] = (flat.maker[number] - self.begin) // self.shape.period
        rolling.gone[flat.computed(self.begin, self.end)] = True
