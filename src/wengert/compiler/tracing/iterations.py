"""Layer 8 · compiler: iterations of loops that tracing computes without tracing them.

NOTE [known iterations]
A loop that returns to a decision in a known state (NOTE [states]) repeats its steps with other
values in its slots. Once the steps from one decision to the next have been traced twice, and were
equal, they are not traced again: their kernels run, from decision to decision, as long as the next
block is known. Then the symbols in the slots get the arrays of the last iteration that ended at the
function's current instruction, and the function continues from there. Equal states differ only in
the values of their slots, so it finds the objects that it would have found. Thus a high trip count
adds little to the cost of a trace.

This requires that only slots change. So iterations are not skipped if they write to memory of the
environment, draw random numbers, or record anything else besides steps. The tensors in the slots
must have the same histories as before, node by node, and these must save nothing but inputs and
constants (`histories_of`). Nor are iterations skipped if a function that advances within them holds
a computed value on the interpreter's stack, where it is hidden (NOTE [flow of values]). The callers
of this function do not advance, so their stacks may hold anything.

A trace that has skipped iterations is discarded if it turns out not to be a graph: the next call is
traced with all of its iterations (`Compiled._traced_alone`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.compiler.backends.numpy import NumpyExecutable
from wengert.compiler.ir.decisions import Guard, outcome_of
from wengert.compiler.ir.executable import RAISED
from wengert.compiler.ir.programs import Program, Step, Value
from wengert.compiler.objects.frames import hidden_on
from wengert.compiler.passes.simplify import simplify
from wengert.compiler.tracing.blocks import Block, held, key_of
from wengert.compiler.tracing.deduplicate import Made
from wengert.compiler.tracing.scalar import Scalar
from wengert.compiler.tracing.state import State, histories_of


class _Iteration:
    """The steps of a function from one decision to the next.

    Attributes
    ----------
    block: Its steps, and the decision after them.
    end: The state at that decision, with its histories.
    still: The number of frames, from the outermost, that do not advance in it.
    confirmed: Whether it was traced twice.
    """

    __slots__ = ("block", "confirmed", "end", "still")

    def __init__(self, block: Block, still: int, end: Any) -> None:
        self.block = block
        self.end = end
        self.still = still
        self.confirmed = False

    def run(self, given: dict[Value, Any], filled: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return the outcome of the decision, and the arrays of the slots after it."""
        block = self.block
        assert block.guard is not None
        if block.executable is None:
            block.make({*block.after}, _made)
        known = {**given, **dict(zip(block.slots or (), filled, strict=True))}
        block.compute(known)
        outcome = outcome_of(block.guard.kind, held(block.guard.value, known))
        return outcome, [held(value, known) for value in block.after]


class Iterations:
    """The blocks that a trace has traversed so far, by state.

    Attributes
    ----------
    skipped: The number of steps computed without being traced.
    """

    def __init__(self, allowed: bool = False) -> None:
        self.skipped = 0
        self._allowed = allowed
        self._known: dict[Any, _Iteration] = {}
        self._begin = 0
        self._key: Any = None
        self._before: State | None = None
        self._noted: Any = None
        self._confirmed = 0
        self._stuck: dict[Any, int] = {}

    def end(self) -> None:
        """Stop skipping iterations, and drop the frames."""
        self._known, self._before, self._allowed = {}, None, False

    def outcome(self, trace: Any, kind: str, symbol: Any, state: State | None) -> Any:
        """Return the outcome of a decision, possibly that of a later iteration."""
        outcome = outcome_of(kind, symbol.array)
        if not self._allowed:
            return outcome
        if state is None or trace.broken is not None or trace.passing or trace.walked_back:
            # traces form a graph only with a state at every decision
            self.end()
            return outcome
        guard = Guard(kind, symbol.value, outcome, None, state)
        here = state.key, histories_of(trace, state)
        noted = trace.noted()
        if self._before is not None and noted == self._noted:
            self._learn(trace, self._before, guard, here)
        key = (here, key_of(outcome))
        first = self._known.get(key)
        if first is not None and first.confirmed and self._stuck.get(key) != self._confirmed:
            if self._moved_on(trace, state, here, first):
                outcome = outcome_of(kind, symbol.array)
                key = (here, key_of(outcome))
            else:
                self._stuck[key] = self._confirmed
        # skip the decision itself, which is also an item
        self._begin, self._key, self._noted = len(trace.items) + 1, key, noted
        self._before = state
        return outcome

    def _learn(self, trace: Any, before: State, guard: Guard, here: Any) -> None:
        """Record the steps since the last decision."""
        steps = trace.items[self._begin :]
        if not all(isinstance(step, Step) for step in steps):
            return
        block = Block(steps, [])
        block.guard = guard
        block.slots, block.after = tuple(before.values), tuple(guard.state.values)
        made = _Iteration(block, trace.path.still(guard.state.frames), here)
        known = self._known.get(self._key)
        if known is None:
            self._known[self._key] = made
        elif known.end != here or not known.block.agrees(block, {}):
            self.end()
        else:
            known.still = min(known.still, made.still)
            if not known.confirmed and block.is_closed(trace.origins()):
                known.confirmed = True
                self._confirmed += 1

    def _moved_on(self, trace: Any, state: State, here: Any, part: _Iteration | None) -> bool:
        """Run known iterations and put their results in the slots; return False if none can run."""
        if here[1] is None or not trace.is_untouched():
            return False
        pairs = list(zip(state.values, state.holders, strict=True))
        if any(value.constant is None and holder is None for value, holder in pairs):
            return False
        given = {value: trace.arrays[value] for value in trace.origins()}
        filled = [_array(holder) if v.constant is None else v.constant for v, holder in pairs]
        still, steps = len(state.frames), 0
        found: tuple[list[Any], int, int] | None = None
        while part is not None and part.confirmed:
            try:
                outcome, filled = part.run(given, filled)
            except RAISED:
                # stop: the function itself raises the error
                break
            still, steps = min(still, part.still), steps + len(part.block.steps)
            if part.end == here:
                found = filled, still, steps
            elif state.tensors and part.end[1] is None:
                break
            part = self._known.get((part.end, key_of(outcome)))
        if found is None:
            return False
        filled, still, steps = found
        changed = {
            id(symbol): (holder, symbol, array)
            for (value, holder), array in zip(pairs, filled, strict=True)
            if value.constant is None and (symbol := _symbol(holder)).array is not array
        }
        if not _is_replaceable([(symbol, array) for _, symbol, array in changed.values()]) or any(
            map(hidden_on, state.frames[still:])
        ):
            self.end()
            return False
        for holder, symbol, array in changed.values():
            symbol.array = np.array(array)
            if type(holder) is Scalar:
                holder.number = symbol.array.item()
        self.skipped += steps
        return True


def _made(program: Program) -> Made:
    """Return a simplified program and its executable."""
    simple = simplify(program)
    return simple, NumpyExecutable(simple), ()


def _symbol(holder: Any) -> Any:
    return holder.symbol if type(holder) is Scalar else holder


def _array(holder: Any) -> Any:
    return _symbol(holder).array


def _is_replaceable(pairs: list[tuple[Any, Any]]) -> bool:
    """Return whether symbols can hold other arrays: each owns C-ordered memory."""
    storages = [symbol.alone for symbol, _ in pairs]
    known = [storage for storage in storages if storage is not True]
    return (
        None not in storages
        and len(set(known)) == len(known)
        and all(
            symbol.array.shape == array.shape
            and symbol.array.dtype == array.dtype
            and symbol.array.flags.c_contiguous
            and array.flags.c_contiguous
            for symbol, array in pairs
        )
    )
