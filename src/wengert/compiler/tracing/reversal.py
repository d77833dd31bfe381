"""Layer 8 · compiler: the backward pass of native runs, as a graph of blocks.

NOTE [reversed graphs]
The blocks of the backward pass pop what the blocks of the run have pushed (NOTE [tapes] in
`wengert.compiler.backends.control_flow`), and branch on the number of the block that ran before. As
a missing cotangent is not a zero, such a block belongs to one block of the run, and to the places
that have a cotangent or a gradient when it is visited. There are few such combinations: the first
visit of a loop's block is often unlike the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from wengert.compiler.ir.executable import START, LinkedBlock, Tape
from wengert.compiler.ir.programs import Program, Step, Value, types_of, uses
from wengert.compiler.passes.builder import live
from wengert.compiler.tracing.blocks import Block
from wengert.compiler.tracing.visits import Visits, pushed
from wengert.prims import records

_MOST_STATES = 8
"""The most combinations for each block of the run."""


class _State(NamedTuple):
    """What the backward pass knows before it visits a block.

    Attributes
    ----------
    number: The number of the block; that of no block where nothing flows any further.
    flowing: The places of the slots after it that have a cotangent.
    found: The places of the inputs that have a gradient.
    """

    number: int
    flowing: tuple[int, ...]
    found: tuple[int, ...]


class Reversal:
    """The native backward pass of the runs that end at one block.

    Parameters
    ----------
    visits: The visits of such a run.
    last: The block.
    present: Which results have a cotangent.
    """

    def __init__(self, visits: Visits, last: Block, present: Sequence[bool]) -> None:
        self._blocks = blocks = visits.blocks
        self._inputs = tuple(visits.inputs)
        numbers = {block: k for k, block in enumerate(blocks)}
        self._before: list[list[int]] = [[] for _ in blocks]
        self._before[0].append(START)
        for block in blocks:
            for child in block.children.values():
                self._before[numbers[child]].append(numbers[block])
        taken = last.derivative.taken
        pairs = zip(taken, last.derivative.backward.cotangents, present, strict=True)
        flowing = {k: Value(v.dtype, v.shape) for k, v, there in pairs if there}
        root = _State(numbers[last], tuple(flowing), ())
        self._cotangents = tuple(flowing.values())
        self._states: dict[_State, tuple[int, tuple[Value, ...]]] = {}
        self._waiting: list[_State] = []
        self._number(root, self._cotangents)
        self._native: Any = None
        self._ends: dict[int, dict[int, Value]] = {}

    def link(self, makers: Any) -> bool:
        """Build the native function; return False where that is impossible or no gain."""
        made: list[LinkedBlock] = []
        for state in self._waiting:
            number, slots = self._states[state]
            if number > _MOST_STATES * len(self._blocks):
                return False
            if state.number == START:
                self._ends[number] = dict(
                    zip(state.found, slots[len(state.flowing) :], strict=True)
                )
                results = tuple(self._ends[number].values())
                nothing = Program((), (), ())
                made.append(LinkedBlock(nothing, (), (), slots, (), None, {}, results))
                continue
            block = self._linked(state, slots, makers)
            if block is None:
                return False
            made.append(block)
        self._native = makers.link(made, (*self._inputs, *self._cotangents))
        return self._native is not None

    def _linked(self, state: _State, slots: Sequence[Value], makers: Any) -> LinkedBlock | None:
        block = self._blocks[state.number]
        backward, taken, given, sources, _ = block.derivative
        flowing = dict(zip(state.flowing, slots, strict=False))
        total = dict(zip(state.found, slots[len(flowing) :], strict=True))
        own = backward.restricted([k in flowing for k in taken])
        pairs = zip(taken, own.cotangents, strict=True)
        known = {value: flowing[k] for k, value in pairs if k in flowing}

        def rename(value: Value) -> Value:
            return known.get(value, value)

        program = own.program()
        steps = [step.reading(rename) for step in program.steps]
        outputs = map(rename, program.outputs)
        gradients = [None if value is None else next(outputs) for value in own.gradients]
        after = {k: g for k, g in zip(given, gradients, strict=False) if g is not None}
        for place, g in zip(sources, gradients[len(given) :], strict=True):
            if g is not None and place in total:
                out = Value(g.dtype, g.shape)
                steps.append(Step(records.add, (total[place], g), {}, (out,)))
                total[place] = out
            elif g is not None:
                total[place] = g
        places = tuple(sorted(total))
        handed_on = (*after.values(), *[total[place] for place in places])
        made = {out for step in steps for out in step.outs}
        makes = tuple(dict.fromkeys([value for value in handed_on if value in made]))
        lived = live(steps, makes)[0]
        read = dict.fromkeys([value for step in lived for value in uses(step)])
        reads = tuple([v for v in read if v not in made and v.constant is None])
        following: dict[int, int] = {}
        for before in self._before[state.number]:
            goes_on = before != START and any(
                k in after for k in self._blocks[before].derivative.taken
            )
            number = self._number(
                _State(before if goes_on else START, tuple(after), places), handed_on
            )
            if number is None:
                return None
            following[before] = number
        return LinkedBlock(
            makers.simplified(Program(reads, lived, makes)),
            reads,
            makes,
            tuple(slots),
            handed_on,
            None,
            following,
            (),
            popped=pushed(block, dict.fromkeys(self._inputs)),
        )

    def _number(self, state: _State, values: Sequence[Value]) -> int | None:
        """Return the number of a state that is reached with these values, if it is the same one."""
        if state not in self._states:
            # the cotangents of the results, which come first, are inputs
            fresh = [Value(value.dtype, value.shape) for value in values]
            self._states[state] = len(self._states), tuple(fresh if self._states else values)
            self._waiting.append(state)
        number, slots = self._states[state]
        return number if types_of(slots) == types_of(values) else None

    def run(self, arrays: Sequence[Any], tape: Tape | None) -> dict[int, Any] | None:
        """Return the gradients, or None where native code has met an error or an unknown block."""
        ended = self._native.run(arrays, tape)
        if ended is None or ended[1] is None:
            return None
        number, found = ended
        known = dict(zip(self._native.results[number], found, strict=True))
        return {place: known[value] for place, value in self._ends[number].items()}
