"""Layer 8 · compiler: all traces of a function for one environment, as a graph of basic blocks.

Traces of one environment share a prefix, up to the first decision with a different outcome. A run
proceeds from block to block; where a decision has an outcome that no trace has met, no effect has
happened yet, and the function is traced again. A block is identified by the state of Python at the
decision before it, where this is known, and else by the path to it, so that the graph is a tree.

NOTE [loops of Python]
Where a function reaches one decision again and again in the same state (NOTE [states] in
`wengert.compiler.tracing.state`), its traces form a graph with back edges, not a tree. A block
belongs to the state before it and to the outcome of the decision, and runs each time that control
reaches it, with other values in its slots. So a loop needs one trace, whatever its trip count. The
backward pass visits the blocks of a run in reverse (NOTE [backward passes of loops] in
`wengert.compiler.tracing.derivatives`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import Any

import numpy as np

from wengert.compiler.ir.decisions import Guard, outcome_of
from wengert.compiler.ir.executable import RAISED, LinkedBlock, Tape
from wengert.compiler.ir.programs import Program, Value
from wengert.compiler.tracing.blocks import Block, Missing, blocks_of, held, key_of, machines_of
from wengert.compiler.tracing.collector import seldom
from wengert.compiler.tracing.deduplicate import Made, Programs
from wengert.compiler.tracing.derivatives import Pullback
from wengert.compiler.tracing.names import Carried
from wengert.compiler.tracing.speculation import speculated
from wengert.compiler.tracing.tables import Stacked, built, finished
from wengert.compiler.tracing.visits import Visits, pushed

_SHARED = 2048
"""Blocks of more steps than this are unlikely to be equal."""


def comes_back(items: Iterable[Any], joins: bool = False) -> bool:
    """Return whether a trace knows all states at decisions, and revisits one or `joins` a graph.

    A trace that joins a graph need not revisit a state: its loop may have run zero times.
    """
    states = [item.state for item in items if isinstance(item, Guard)]
    known = [state for state in states if state is not None]
    if not all(state.is_kept() for state in known):
        return False
    keys = [state.key for state in known]
    return len(keys) == len(states) and (joins or len(set(keys)) < len(keys))


class Graph:
    """All traces of one environment.

    Parameters
    ----------
    inputs: The values of the tensors and arrays of the environment, in its order.
    makers: What compiles programs (`wengert.compiler.runtime.entry.Options`).
    by_states: Whether blocks are identified by states rather than by their paths.

    Attributes
    ----------
    traces: The number of traces.
    """

    def __init__(self, inputs: Sequence[Value], makers: Any, by_states: bool = False) -> None:
        self.inputs = tuple(inputs)
        self.by_states = by_states
        self.traces = 0
        self._makers = makers
        self._blocks: list[Block] = []
        self._carried = Carried()
        self._all: list[tuple[dict[Value, Value], Sequence[Block], Any]] = []
        self._following: dict[Any, dict[Any, Block]] = {None: {}}
        self._programs = Programs(self._finished)
        self._pullback = Pullback(makers)
        self._executables: dict[Program, Any] = {}
        self._stale = True
        self._version = 0
        self._making = Lock()
        self._natives: dict[bool, Any] = {}

    @property
    def root(self) -> Block | None:
        """The entry block, or None."""
        return self._blocks[0] if self._blocks else None

    def add(self, inputs: Sequence[Value], items: Iterable[Any], exit: Any) -> bool:
        """Add a trace; return False if it contradicts earlier ones, or has hidden state.

        Parameters
        ----------
        inputs: The values of the inputs in this trace.
        items: Its steps, guards and draws.
        exit: Its results and effects.
        """
        with self._making:
            self._version += 1
            self._stale = True
            self.traces += 1
            return self._added(dict(zip(inputs, self.inputs, strict=True)), items, exit)

    def _added(self, given: dict[Value, Value], items: Iterable[Any], exit: Any) -> bool:
        if not self.by_states:
            return self._joined(given, [*blocks_of(items)], exit)
        blocks = [*blocks_of(items)]
        blocks[-1].exit = exit
        self._all.append((given, blocks, exit))
        grown = [self._carried.extend(blocks, given)]
        while any(grown):
            # other blocks must hand on the same
            grown = [self._carried.extend(blocks, given) for given, blocks, _ in self._all]
            self._blocks, self._following = [], {None: {}}
        has_history = any(exit.outputs for _, _, exit in self._all)
        if None in grown or (self._carried and has_history):
            # the histories of values on the stack are not followed from block to block
            return False
        missing = self._all if not self._blocks else self._all[-1:]
        return all(self._joined(*trace) for trace in missing) and not self._overwrites()

    def _overwrites(self) -> bool:
        """Return whether a block may write to memory that the tape has saved before it.

        The tape would notice that, or read what was written; a backward pass by blocks does not.
        """
        writing = any(block.derivative.written for block in self._blocks)
        waiting = [(self._blocks[0], frozenset[int]())] if writing else []
        known: dict[Block, frozenset[int]] = {}
        while waiting:
            block, saved = waiting.pop()
            if block in known and saved <= known[block]:
                continue
            known[block] = saved = saved | known.get(block, frozenset())
            if not saved.isdisjoint(block.derivative.written):
                return True
            slots, whole = block.slots or (), block.whole
            shown = [*block.saved(), *[slots[k] for k in saved if k >= 0]]
            memory = {whole.get(value, value) for value in shown}
            after = {k for k, value in enumerate(block.after) if whole.get(value, value) in memory}
            after |= {k for k in saved if k < 0}
            after |= {~i for i, value in enumerate(self.inputs) if value in memory}
            waiting += [(child, frozenset(after)) for child in block.children.values()]
        return False

    def _joined(self, given: dict[Value, Value], blocks: Sequence[Block], exit: Any) -> bool:
        # a tree takes the values of its first trace as they are
        as_it_is = not self._blocks and not self.by_states
        known, outcome, slots = given, None, tuple[Value, ...]()
        shared: dict[Value, Value] = {}
        following = self._following[None]
        derivatives = exit.derivatives if self.by_states else itertools.repeat(None)
        for block, derivative in zip(blocks, derivatives, strict=False):
            guard = block.guard
            if self.by_states:
                known = dict(given)
                block.slots, block.shared = slots, shared
                if guard is not None:
                    block.after = (*guard.state.values, *self._carried.at(guard.state))
                    shared = guard.state.shared()
                slots = block.after
                block.derivative = derivative
            if guard is None:
                block.exit = exit
            here = following.get(key_of(outcome))
            if here is None:
                if self.by_states and not block.is_closed(given):
                    return False
                here = block if as_it_is else block.renamed(known)
                here.outcome = outcome
                if self.by_states:
                    here.derivative = derivative.renamed(known)
                    if guard is not None:
                        here.children = self._following.setdefault(guard.state.key, {})
                following[key_of(outcome)] = here
                self._blocks.append(here)
            elif not here.agrees(block, known) or not self._differentiate(here, derivative, known):
                return False
            if guard is None:
                if here.exit is None or not self.by_states:
                    here.exit = exit if as_it_is else exit.renamed(known)
                return True
            outcome, following = guard.outcome, here.children
        return False

    def _differentiate(self, block: Block, found: Any, known: dict[Value, Value]) -> bool:
        """Set the derivative of a block to that of a trace; return False if they differ.

        A trace whose results have no history sets nothing. Nor may a derivative read what the block
        does not know.
        """
        if found is None or block.derivative[1:4] == found[1:4] or not any(found[1:4]):
            return True
        if any(block.derivative[1:4]):
            return False
        block.derivative, block.pull = found.renamed(known), None
        return block.is_closed(self.inputs)

    def prepare(self) -> None:
        """Build all missing and outdated programs and executables."""
        self._prepare()
        for block in self._blocks:
            self._executable(block)

    def _prepare(self) -> None:
        # hold the collector back until most objects of the passes have been freed
        with self._making, seldom():
            if self._stale:
                self._make()
                self._stale = False

    def _make(self) -> None:
        wanted: dict[Block, set[Value]] = {}
        for block in reversed(self._blocks):
            if self.by_states:
                block.make({*block.after, *block.saved()}, self._made)
                continue
            # reuse the largest set of a child, since there may be hundreds of blocks in a row
            behind = [wanted.pop(child) for child in block.children.values()]
            own = max(behind, key=len, default=set())
            for other in behind:
                if other is not own:
                    own |= other
            block.make(own, self._made)
            wanted[block] = own
        self._natives.clear()
        self._pullback.forget()
        if len(self._blocks) != 1:
            return
        (block,) = self._blocks
        if type(block.executable) is Stacked and block.exit.backward:
            # only the pass reads rows, since results have memory of their own
            block.executable, block.outputs, rows = block.executable.whole(block.outputs)
            block.exit.stacked = block.exit.backward.of_stacks(rows)

    def _made(self, program: Program) -> Made:
        """Return the simplified program and its executable, shared by equal blocks."""
        alone = len(self._blocks) == 1 or len(program.steps) > _SHARED
        if alone and not self.by_states:
            return self._programs.alone(program)
        return self._programs.made(program)

    def _finished(self, program: Program) -> tuple[Program, Any]:
        if self.by_states:
            # the executable is built on demand, since linked blocks need none
            return self._makers.simplified(program), None
        returned = {v for b in self._blocks if b.exit is not None for v in b.exit.returned()}
        kept = {k for k, value in enumerate(program.outputs) if value in returned}

        def finish(program: Program) -> tuple[Program, Any]:
            simple = self._makers.simplified(program)
            return simple, built(simple, self._makers.build, kept)

        return speculated(program, lambda program: finished(program, finish))

    def _executable(self, block: Block) -> Any:
        program = block.program
        if block.executable is None and program is not None and block.steps:
            if program not in self._executables:
                self._executables[program] = self._makers.build(program)
            block.executable = self._executables[program]
        return block.executable

    def _linked(self, recording: bool) -> Any:
        """Return a native function that runs the blocks without Python in between, or None."""
        numbers = {block: k for k, block in enumerate(self._blocks)}
        linked = []
        for block in self._blocks:
            guard = block.guard
            if block.draws or (guard is not None and guard.kind != "bool"):
                return None
            linked.append(
                LinkedBlock(
                    block.program or Program((), (), ()),
                    block.inputs,
                    block.outputs,
                    block.slots or (),
                    block.after,
                    None if guard is None else guard.value,
                    {outcome: numbers[child] for outcome, child in block.children.items()},
                    () if block.exit is None else tuple(block.exit.needs()),
                    pushed(block, self.inputs) if recording else None,
                )
            )
        return self._makers.link(linked, self.inputs)

    def run(
        self,
        arrays: Sequence[Any],
        visits: Visits | None = None,
        drawn: Sequence[Any] = (),
        outcomes: Sequence[Any] = (),
    ) -> Any:
        """Run the graph; return the exit and the values by `Value`.

        `visits` notes the blocks that ran. Random numbers come from `drawn` while it has any.
        Decisions take `outcomes`, even where differences in rounding would decide otherwise.

        Raises
        ------
        Missing: If a decision has an outcome that no trace has met in this state or on this path.
        """
        if self._stale:
            self._prepare()
        version, made = self._version, list[Any]()
        if visits is not None:
            visits.inputs = dict(zip(self.inputs, arrays, strict=True))
        try:
            found = None if drawn or outcomes else self._driven(arrays, visits)
            if found is None:
                found = self._followed(arrays, visits, iter(drawn), iter(outcomes), made)
        except (LookupError, TypeError, ValueError):
            if self._version == version:
                raise
        if self._version != version:
            # another thread has added a trace meanwhile, and changed the outputs of blocks
            raise Missing(made)
        return found

    def _driven(self, arrays: Sequence[Any], visits: Visits | None) -> Any:
        tape = None if visits is None else Tape()
        native = self._native(recording=visits is not None)
        if native is None:
            return None
        ended = native.run(arrays, tape)
        if ended is None:
            return None
        number, found = ended
        if found is None:
            raise Missing
        known = dict(zip(native.results[number], found, strict=True))
        known.update(zip(self.inputs, arrays, strict=True))
        if visits is not None:
            visits.tape, visits.blocks = tape, self._blocks
        return self._blocks[number].exit, known

    def _followed(
        self,
        arrays: Sequence[Any],
        visits: Visits | None,
        drawn: Iterator[Any],
        outcomes: Iterator[Any],
        made: list[Any],
    ) -> tuple[Any, dict[Value, Any]]:
        """Run block by block; return the exit and the values; append drawn numbers to `made`."""
        given = dict(zip(self.inputs, arrays, strict=True))
        block, known = self.root, dict(given)
        while block is not None:
            for value, draw in block.draws:
                array = next(drawn, None)
                made.append(draw() if array is None else array)
                known[value] = np.asarray(made[-1], order="C")
            self._executable(block)
            try:
                block.compute(known)
            except RAISED as error:
                # traced again: the function raises the error itself, or catches it
                raise Missing(made) from error
            if visits is not None:
                visits.add(block, [held(value, known) for value in block.saved()])
            if block.guard is None:
                return block.exit, known
            outcome = next(outcomes, None)
            if outcome is None:
                outcome = outcome_of(block.guard.kind, held(block.guard.value, known))
            after = [held(value, known) for value in block.after]
            block = block.children.get(key_of(outcome))
            if block is not None and block.slots is not None:
                known = {**given, **dict(zip(block.slots, after, strict=True))}
        raise Missing(made)

    def draws(self, exit: Any) -> Sequence[Value]:
        """Return the random numbers that a run ending in `exit` may draw."""
        if self.by_states:
            return [draw.value for block in self._blocks for draw in block.draws]
        drawn: Sequence[Value] = exit.draws
        return drawn

    @property
    def native(self) -> Any:
        """The native function that runs from block to block, or None."""
        return self._native(recording=False)

    def _native(self, recording: bool) -> Any:
        """Return the native function that keeps a tape, or the one that does not, or None."""
        if self._stale:
            self._prepare()
        if self.by_states and recording not in self._natives:
            self._natives[recording] = self._linked(recording)
        return self._natives.get(recording)

    def machines(self) -> Iterable[Any]:
        """Return the machine code built so far, that of the linked blocks first."""
        own = [native.machine for native in self._natives.values() if native is not None]
        return [*own, *machines_of(self._blocks)]

    def gradients(self, visits: Visits, cotangents: Sequence[Any]) -> dict[int, Any]:
        """Return the gradients of the inputs, by place, from the cotangents of the results.

        A result whose cotangent is None contributes nothing.
        """
        return self._pullback.gradients(visits, cotangents, self._blocks)

    def blocks(self) -> Sequence[Block]:
        """Return all blocks, parents first."""
        return self._blocks
