"""Layer 8 · compiler: traces whose decisions come back to states that were met before.

NOTE [loops of Python]
Where a function comes to one decision again and again in the same state (NOTE [states] in
`wengert.compiler.tracing.state`), its traces are not a tree but a graph: a block belongs to the
state before it and to the outcome of the decision, and runs as often as control comes to it, with
other values in its slots. So a loop whose count varies needs one trace, whatever the count. The
derivative goes back the same way: each block has a backward pass of its own, from the cotangents of
the slots after it to those of the slots before it, and of the inputs; a run notes which blocks it
went through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from wengert.compiler.ir.decisions import Guard, outcome_of
from wengert.compiler.ir.executable import RAISED, Makers, Station
from wengert.compiler.ir.programs import Program, Step, Value, apply, uses
from wengert.compiler.tracing.alike import Programs
from wengert.compiler.tracing.node import Backward, Between, Variants, hidden_in, partials
from wengert.compiler.tracing.operations import S
from wengert.compiler.tracing.state import State
from wengert.compiler.tracing.trace import Trace
from wengert.compiler.tracing.tree import Block, Missing, agree, blocks_of, key_of, machines_of
from wengert.interp.levels import Lifted, namespace_of
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.masked import Undecided, undecided
from wengert.tape.node import edge_of

__all__ = ["Graph", "Visit", "comes_back", "derived"]


def comes_back(items: Iterable[Any], joins: bool = False) -> bool:
    """Whether a trace knows the state at every decision, and comes to one twice or `joins` those.

    A trace of a graph need not repeat anything: the loop may have run no time.
    """
    states = [item.state for item in items if isinstance(item, Guard)]
    known = [state for state in states if state is not None]
    if not all(state.is_kept() for state in known):
        return False
    keys = [state.key for state in known]
    return len(keys) == len(states) and (joins or len(set(keys)) < len(keys))


def _state(guard: Guard) -> State:
    """The state at a decision of a trace that knows it at all."""
    assert guard.state is not None
    return guard.state


class Part:
    """A block of a graph.

    Attributes
    ----------
    block: Its steps, program, and decision or exit.
    slots: The values that it finds, as its steps know them.
    after: The slots of the state after it, which the decision was taken in.
    backward
        From cotangents of the slots after it that have a history, or of the results, to those of
        the slots before it and of the inputs that have one.
    taken, given: The places of these slots: after the block, and before it.
    sources: The inputs, by their places in the environment, whose gradients follow those of slots.
    """

    def __init__(self, block: Block, slots: Sequence[Value], after: Sequence[Value]) -> None:
        self.block = block
        self.slots = tuple(slots)
        self.after = tuple(after)
        self.backward: Backward | None = None
        self.taken: tuple[int, ...] = ()
        self.given: tuple[int, ...] = ()
        self.sources: tuple[int, ...] = ()
        self.executable: Variants | None = None


class Visit:
    """One run of a block: what its backward pass needs."""

    __slots__ = ("part", "saved")

    def __init__(self, part: Part, saved: list[Any]) -> None:
        self.part = part
        self.saved = saved


class Derivatives:
    """The backward passes of the blocks of one trace, in their order."""

    def __init__(self) -> None:
        self.parts: list[tuple[Backward, tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = []


def derived(
    trace: Trace, leaves: Sequence[Any], outputs: Sequence[int], tensors: Sequence[Any]
) -> Derivatives:
    """Trace the backward pass of every block, while the graph is there."""
    guards = [item for item in trace.items if isinstance(item, Guard)]
    places = [i for i, t in enumerate(tensors) if t.edge is not None]
    found = Derivatives()
    if not outputs:
        nothing = Backward((), (), (), ())
        found.parts = [(nothing, (), (), ()) for _ in range(len(guards) + 1)]
        return found
    states = [guard.state for guard in guards]
    for i in range(len(states) + 1):
        before = states[i - 1] if i else None
        after = states[i] if i < len(states) else None
        ends = dict(after.tensors) if after else {k: leaves[k] for k in outputs}
        starts = dict(before.tensors) if before else {}
        newest = float("-inf") if after is None else after.mark
        span = Between(newest, trace.start if before is None else before.mark)
        found.parts.append(_block_derived(trace, ends, starts, places, tensors, span))
    return found


def _block_derived(
    trace: Trace,
    ends: dict[int, Any],
    starts: dict[int, Any],
    places: list[int],
    tensors: Sequence[Any],
    span: Between,
) -> tuple[Backward, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    begin = len(trace.items)
    cotangents = {
        k: trace.input(np.ones(t.payload.shape, t.payload.dtype)) for k, t in ends.items()
    }
    inputs = [*starts.values(), *[tensors[i] for i in places]]
    grads: list[Any] = [None] * len(inputs)
    inner = [k for k, t in ends.items() if _node(t) in span]
    noted = Undecided()
    if inner and inputs:
        try:
            with undecided() as noted:
                grads = partials(
                    [ends[k] for k in inner],
                    inputs,
                    [new_tensor(cotangents[k]) for k in inner],
                    span,
                )
        except RuntimeError:
            trace.give_up("a loop holds a history that it has walked itself")
    symbols = [None if g is None else trace.symbol(g.payload) for g in grads]
    for k, tensor in ends.items():
        if k in inner:
            continue
        # it was there before the block, and passes through
        for i, source in enumerate(inputs):
            if edge_of(source) is edge_of(tensor):
                have = symbols[i]
                symbols[i] = cotangents[k] if have is None else S.add(have, cotangents[k])
                break
    items = trace.items[begin:]
    steps = [item for item in items if isinstance(item, Step)]
    if len(steps) < len(items):
        trace.give_up("the backward pass decides on values")
    del trace.items[begin:]
    values = [None if s is None else s.value for s in symbols]
    backward = Backward(
        steps,
        [c.value for c in cotangents.values()],
        values,
        places,
        hidden=hidden_in(noted),
        masks=noted.masks,
        hides=noted.hides,
    )
    return backward, tuple(ends), tuple(starts), tuple(places)


def _node(tensor: Any) -> Any:
    edge = tensor.edge
    return edge.node if edge is not LEAF and edge.seq == 0 else edge_of(tensor)


class Graph:
    """All traces of one environment, by states.

    It is used as a `Tree` is.
    """

    def __init__(self, inputs: Sequence[Value], makers: Makers) -> None:
        self.inputs = tuple(inputs)
        self.traces = 0
        self.root: Block | None = None
        self._parts: dict[Any, Part] = {}
        self._programs = Programs(lambda program: (makers.simplified(program), None))
        self._backwards = Programs(_built(makers))
        self._executables: dict[Program, Any] = {}
        self._makers = makers
        self._driver: Any = None
        self._exits: list[Any] = []
        self._stale = True

    def add(self, inputs: Sequence[Value], items: Iterable[Any], exit: Any) -> bool:
        """Add a trace; False if it contradicts those that are there, or has hidden state."""
        known: dict[Value, Value] = dict(zip(inputs, self.inputs, strict=True))
        derivatives = iter(exit.derivatives.parts)
        self._stale = True
        slots: Sequence[Value] = ()
        key: Any = None
        previous: Part | None = None
        outcome: Any = None
        self.traces += 1
        for block in blocks_of(items):
            guard = block.guard
            backward, taken, given, sources = next(derivatives)
            after = () if guard is None else _state(guard).values
            part = self._parts.get(key)
            if part is not None:
                here = {**known, **dict(zip(slots, part.slots, strict=True))}
                if not agree(part.block, block, here):
                    return False
                known_guard = part.block.guard
                if (guard is None) != (known_guard is None):
                    return False
                if guard and known_guard and _state(guard).key != _state(known_guard).key:
                    # the same steps, but not the same variables after them
                    return False
                found = [here.get(v, v) for v in after if v.constant is None]
                if found != [v for v in part.after if v.constant is None]:
                    return False
                if not self._differentiate(part, backward, (taken, given, sources), here):
                    return False
            else:
                allowed = {*slots, *inputs, *(draw.value for draw in block.draws)}
                allowed.update(out for step in block.steps for out in step.outs)
                if not _is_closed(block, after, backward, allowed, guard, exit):
                    return False
                part = _renamed(block, slots, after, known)
                part.backward = backward.renamed(lambda v: known.get(v, v))
                part.taken, part.given, part.sources = taken, given, sources
                if guard is None:
                    part.block.exit = exit.renamed(known)
                self._parts[key] = part
                if self.root is None:
                    self.root = part.block
                self._make(part)
            if previous is not None:
                part.block.outcome = outcome
                previous.block.children[key_of(outcome)] = part.block
            if guard is not None:
                previous, outcome = part, guard.outcome
                key = (_state(guard).key, key_of(outcome))
                slots = after
        return True

    def _differentiate(
        self, part: Part, backward: Backward, links: tuple[Any, ...], here: dict[Value, Value]
    ) -> bool:
        """Let a block have the derivatives that a trace says; False if it has others.

        A trace whose results have no history says nothing of them.
        """
        known = part.taken, part.given, part.sources
        if known == links or not any(links):
            return True
        if any(known):
            return False
        part.backward = backward.renamed(lambda v: here.get(v, v))
        part.taken, part.given, part.sources = links
        self._make(part)
        return True

    def _make(self, part: Part) -> None:
        block = part.block
        own = {out for step in block.steps for out in step.outs}
        wanted = {v for v in part.after if v in own}
        if block.guard is not None and block.guard.value in own:
            wanted.add(block.guard.value)
        if block.exit is not None:
            wanted |= {v for v in block.exit.needs() if v in own}
        assert part.backward is not None
        wanted |= {v for v in part.backward.saved if v in own}
        # what runs it is made when it is needed, since a driver does without
        block.make(wanted, self._programs.made)

    def prepare(self) -> None:
        """Make what runs each block by itself."""
        for part in self._parts.values():
            self._executable(part.block)

    def _executable(self, block: Block) -> Any:
        program = block.program
        if block.executable is None and program is not None and block.steps:
            if program not in self._executables:
                self._executables[program] = self._makers.build(program)
            block.executable = self._executables[program]
        return block.executable

    def _driven(self) -> Any:
        """What runs the blocks without Python in between, if anything does."""
        if self._stale:
            self._stale = False
            self._driver = self._linked()
        return self._driver

    def _linked(self) -> Any:
        parts = list(self._parts.values())
        numbers = {key: k for k, key in enumerate(self._parts)}
        stations = []
        for part in parts:
            block, guard = part.block, part.block.guard
            if block.draws or (guard is not None and guard.kind != "bool"):
                return None
            following = {
                outcome: numbers[_state(guard).key, key_of(outcome)]
                for outcome in (True, False)
                if guard is not None and (_state(guard).key, key_of(outcome)) in numbers
            }
            stations.append(
                Station(
                    block.program or Program((), (), ()),
                    block.inputs,
                    block.outputs,
                    part.slots,
                    part.after,
                    None if guard is None else guard.value,
                    following,
                    () if block.exit is None else tuple(block.exit.needs()),
                )
            )
        self._exits = [part.block.exit for part in parts]
        return self._makers.drive(stations, self.inputs)

    def run(
        self,
        arrays: Sequence[Any],
        visits: list[Visit] | None = None,
        drawn: Iterable[Any] = (),
        outcomes: Iterable[Any] = (),
    ) -> Any:
        """Compute; gives the exit and the values, and notes in `visits` what was gone through.

        Random numbers are those of `drawn` while there are any, and decisions are taken as
        `outcomes` says.

        Raises
        ------
        Missing: If a decision has an outcome that no trace has met in this state.
        """
        given = dict(zip(self.inputs, arrays, strict=True))
        driver = self._driven() if visits is None else None
        ended = None if driver is None else driver.run(arrays)
        if ended is not None:
            number, found = ended
            if found is None:
                raise Missing
            return self._exits[number], {**given, **found}
        arrays_drawn, taken = iter(drawn), iter(outcomes)
        key: Any = None
        filled: list[Any] = []
        made: list[Any] = []
        while True:
            part = self._parts.get(key)
            if part is None:
                raise Missing(made)
            block = part.block
            known = {**given, **dict(zip(part.slots, filled, strict=True))}
            for value, draw in block.draws:
                array = next(arrays_drawn, None)
                made.append(draw() if array is None else array)
                known[value] = np.asarray(made[-1], order="C")
            if block.steps:
                try:
                    results = self._executable(block)([_of(v, known) for v in block.inputs])
                except RAISED as error:
                    # the function itself raises it, or catches it
                    raise Missing(made) from error
                known.update(zip(block.outputs, results, strict=True))
            if visits is not None:
                assert part.backward is not None
                visits.append(Visit(part, [_of(v, known) for v in part.backward.saved]))
            guard = block.guard
            if guard is None:
                return block.exit, known
            outcome = next(taken, None)
            if outcome is None:
                outcome = outcome_of(guard.kind, _of(guard.value, known))
            key = (_state(guard).key, key_of(outcome))
            filled = [_of(value, known) for value in part.after]

    def pull(self, visits: Sequence[Visit], cotangents: Sequence[Any]) -> dict[int, Any]:
        """The gradients of the inputs, by their places, from the cotangents of the results.

        What has no cotangent, or None, leads to no gradient.
        """
        total: dict[int, Any] = {}
        pairs = zip(visits[-1].part.taken, cotangents, strict=True)
        after: dict[int, Any] = {k: g for k, g in pairs if g is not None}
        for visit in reversed(visits):
            part = visit.part
            backward = part.backward
            assert backward is not None
            if part.block.exit is None and not any(k in after for k in part.taken):
                break
            parts = [
                after[k] if k in after else np.zeros(value.shape, value.dtype)
                for k, value in zip(part.taken, backward.cotangents, strict=True)
            ]
            present = [k in after for k in part.taken]
            found = self._backward(part, [*visit.saved, *parts], present)
            count = len(part.given)
            after = {k: g for k, g in zip(part.given, found[:count], strict=True) if g is not None}
            for place, g in zip(part.sources, found[count:], strict=True):
                if g is not None:
                    total[place] = g if place not in total else total[place] + g
        return total

    def _backward(self, part: Part, values: list[Any], present: Sequence[bool]) -> list[Any]:
        assert part.backward is not None
        lifted = [value for value in values if isinstance(value, Lifted)]
        if lifted:
            F = namespace_of(*lifted)
            return Variants(part.backward, lambda p: partial(apply, p, F)).gradients(
                values, present
            )
        if part.executable is None:
            part.executable = Variants(part.backward, self._run_back)
        arrays = [
            np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value) for value in values
        ]
        return part.executable.gradients(arrays, present)

    def _run_back(self, program: Program) -> Callable[[list[Any]], Any]:
        """What runs a backward pass, which blocks that do the same share."""
        _, run, numbers = self._backwards.made(program)
        more = [value.constant for value in numbers]
        return (lambda arrays: run([*arrays, *more])) if more else run

    def path_to(self, exit: Any) -> tuple[list[Step], list[Value]]:
        """No steps, since how often they run is not known, and the random numbers of all blocks."""
        parts = self._parts.values()
        return [], [draw.value for part in parts for draw in part.block.draws]

    @property
    def is_driven(self) -> bool:
        """Whether native code goes from block to block by itself."""
        return self._driven() is not None

    def machines(self) -> Iterable[Any]:
        """The machine code of what has been made so far, the driver's first."""
        own = [] if self._driver is None else [self._driver.machine]
        return [*own, *machines_of(self.blocks())]

    def blocks(self) -> Iterable[Block]:
        """All blocks."""
        return [part.block for part in self._parts.values()]


def _built(makers: Makers) -> Callable[[Program], tuple[Program, Any]]:
    def finish(program: Program) -> tuple[Program, Any]:
        simple = makers.simplified(program)
        return simple, makers.build(simple)

    return finish


def _of(value: Value, known: dict[Value, Any]) -> Any:
    return known[value] if value.constant is None else value.constant


def _is_closed(
    block: Block,
    after: Sequence[Value],
    backward: Backward,
    allowed: set[Value],
    guard: Guard | None,
    exit: Any,
) -> bool:
    """Whether a block reads nothing but its slots, the inputs and what it computes."""
    read = [v for step in block.steps for v in uses(step)]
    read += [*after, *backward.saved]
    read += [guard.value] if guard is not None else list(exit.needs())
    return all(v.constant is not None or v in allowed for v in read)


def _renamed(
    block: Block, slots: Sequence[Value], after: Sequence[Value], known: dict[Value, Value]
) -> Part:
    made = block.renamed(known)
    return Part(made, [known.get(v, v) for v in slots], [known.get(v, v) for v in after])
