"""Layer 8 · compiler: basic blocks: the steps of a trace between decisions.

A trace is straight-line code between decisions. The traces of one environment share equal blocks
(`wengert.compiler.tracing.graph`), as do the iterations of a loop during tracing
(`wengert.compiler.tracing.iterations`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

import numpy as np

from wengert.compiler.ir.decisions import Draw, Guard
from wengert.compiler.ir.programs import Program, Step, Value, uses
from wengert.compiler.passes.value_numbering import constant_key, named_key
from wengert.compiler.tracing.deduplicate import Made
from wengert.compiler.tracing.memory import wholes
from wengert.compiler.tracing.sym import Sym


class Missing(Exception):
    """Raised where a decision has an outcome that no trace has met, or where ``print`` raised.

    Attributes
    ----------
    drawn: The random numbers drawn before it was raised, in order.
    said
        One entry per call of ``print`` before it: True if the call printed, or, in the last
        entry, the error that it raised.
    """

    def __init__(self, drawn: Sequence[Any] = (), said: Sequence[Any] = ()) -> None:
        super().__init__()
        self.drawn = drawn
        self.said = said


class Elsewhere(Missing):
    """Raised where the memory order of an input differs from that in the traces."""


class Block:
    """A basic block: steps up to the next decision, or to the end.

    Attributes
    ----------
    draws: The random numbers drawn before it.
    steps: The steps.
    guard: The decision after the steps, or None at the end of a trace.
    children: The blocks that follow, by outcome.
    outcome: The outcome of the decision before it.
    exit: The results and effects of a trace that ends here.
    program, executable: Built from the steps on the first run.
    inputs, outputs
        The inputs and outputs of the program, as values of the steps. Constants among the inputs
        are numbers that a shared executable takes (see `wengert.compiler.tracing.deduplicate`).
    slots, after
        Where blocks are identified by states (NOTE [states]): the values in the slots of the
        state before it and of the state after it. None where they are identified by their path.
    shared: The first slot before it with the same memory, for slots that share theirs.
    derivative, pull: The backward pass of this block alone, and its executable.
    """

    __slots__ = (
        *("after", "children", "derivative", "draws", "executable", "exit", "guard", "inputs"),
        *("_whole", "outcome", "outputs", "program", "pull", "shared", "slots", "steps"),
    )

    def __init__(self, steps: list[Step], draws: list[Draw]) -> None:
        self.draws = draws
        self.steps = steps
        self.guard: Guard | None = None
        self.children: dict[Any, Block] = {}
        self.exit: Any = None
        self.outcome: Any = None
        self.program: Program | None = None
        self.executable: Any = None
        self.inputs: tuple[Value, ...] = ()
        self.outputs: tuple[Value, ...] = ()
        self.slots: tuple[Value, ...] | None = None
        self.shared: dict[Value, Value] = {}
        self._whole: dict[Value, Value] | None = None
        self.after: tuple[Value, ...] = ()
        self.derivative: Any = None
        self.pull: Any = None

    def renamed(self, known: dict[Value, Value]) -> Block:
        """Return this block with its values renamed to those of the graph."""

        def rename(value: Value) -> Value:
            return known.get(value, value)

        steps = [step.reading(rename) for step in self.steps]
        made = Block(steps, self.draws)
        if self.guard is not None:
            made.guard = self.guard._replace(value=rename(self.guard.value))
        if self.slots is not None:
            made.slots = tuple(map(rename, self.slots))
            made.shared = {rename(v): rename(first) for v, first in self.shared.items()}
            made.after = tuple(map(rename, self.after))
        return made

    def agrees(self, other: Block, known: dict[Value, Value]) -> bool:
        """Return whether a block of another trace is equal to this one, and map its values."""
        mine, yours = self.guard, other.guard
        if (
            len(self.steps) != len(other.steps)
            or len(self.draws) != len(other.draws)
            or len(self.slots or ()) != len(other.slots or ())
            or (None if mine is None else mine.kind) != (None if yours is None else yours.kind)
        ):
            return False

        def rename(value: Value) -> Any:
            return _named(known.get(value, value))

        known.update(zip(other.slots or (), self.slots or (), strict=True))
        for draw, drawn in zip(self.draws, other.draws, strict=True):
            known[drawn.value] = draw.value
        for step, twin in zip(self.steps, other.steps, strict=True):
            if step.prim is not twin.prim or len(step.outs) != len(twin.outs):
                return False
            if [*map(_named, step.args)] != [*map(rename, twin.args)]:
                return False
            params = {n: named_key(p, _named) for n, p in step.params.items()}
            if params != {n: named_key(p, rename) for n, p in twin.params.items()}:
                return False
            known.update(zip(twin.outs, step.outs, strict=True))
        if mine is None or yours is None:
            return True
        if self.slots is not None and mine.state.key != yours.state.key:
            # equal steps that leave the variables in another state
            return False
        found = [known.get(v, v) for v in other.after if v.constant is None]
        return bool(_named(mine.value) == rename(yours.value)) and found == [
            v for v in self.after if v.constant is None
        ]

    def lacks(
        self, handed_on: Iterable[Value], slots: Container[Value], inputs: Container[Value]
    ) -> list[Value]:
        """Return what the block reads, or hands on, besides slots, inputs and its own values."""
        own = {draw.value for draw in self.draws}
        own.update(out for step in self.steps for out in step.outs)
        read = [value for step in self.steps for value in uses(step)]
        read += [*handed_on, *self.saved()]
        read += [] if self.guard is None else [self.guard.value, *self.guard.state.values]
        read += [] if self.exit is None else self.exit.needs()
        return [
            value
            for value in dict.fromkeys(read)
            if value.constant is None and not (value in own or value in slots or value in inputs)
        ]

    def is_closed(self, inputs: Container[Value]) -> bool:
        """Return whether the block reads only its slots, the inputs and its own values."""
        return not self.lacks(self.after, self.slots or (), inputs)

    @property
    def whole(self) -> dict[Value, Value]:
        """The value whose memory each view shows, and each slot that shares its memory."""
        if self._whole is None:
            self._whole = wholes(self.steps, self.shared)
        return self._whole

    def saved(self) -> tuple[Value, ...]:
        """Return the values that the block's own derivative reads."""
        return () if self.derivative is None else self.derivative.backward.saved

    def compute(self, known: dict[Value, Any]) -> None:
        """Run the block and add its outputs to `known`."""
        if self.steps:
            results = self.executable([held(value, known) for value in self.inputs])
            known.update(zip(self.outputs, results, strict=True))

    def make(self, wanted: set[Value], finish: Callable[[Program], Made]) -> None:
        """Build the program for the values that later blocks read or the call returns.

        `wanted` holds what later blocks read; what this block reads is added to it.
        """
        wanted.update(() if self.exit is None else self.exit.needs())
        if self.guard is not None:
            wanted.add(self.guard.value)
        own = [out for step in self.steps for out in step.outs]
        outputs = [out for out in own if out in wanted]
        read = dict.fromkeys(v for step in self.steps for v in uses(step))
        wanted.update(read)
        if self.program is not None and self.outputs == tuple(outputs):
            return
        outside = read.keys() - own
        inputs = [v for v in read if v in outside and v.constant is None]
        writes = () if self.exit is None else self.exit.writes(set(outputs), set(inputs))
        program = Program(inputs, self.steps, outputs, writes)
        # simplification may replace inputs and outputs
        self.program, self.executable, numbers = finish(program)
        self.inputs, self.outputs = (*program.inputs, *numbers), program.outputs


def held(value: Value, known: dict[Value, Any]) -> Any:
    """Return the array or number that a value stands for in a run."""
    return known[value] if value.constant is None else value.constant


def contiguous(array: Any) -> Any:
    """Return the array in C order, as backends require."""
    if array.__class__ is Sym:
        # another thread is tracing
        raise Missing
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def key_of(outcome: Any) -> Any:
    """Return the dictionary key of an outcome."""
    if outcome is True or outcome is False:
        return outcome
    # by repr(): NaN equals itself, and -0.0 differs from 0.0
    return (type(outcome), repr(outcome))


def machines_of(blocks: Iterable[Block]) -> list[Any]:
    """Return the machine code of the blocks that have any."""
    found = [getattr(block.executable, "machine", None) for block in blocks]
    return [machine for machine in found if machine is not None]


def blocks_of(items: Iterable[Any]) -> Iterable[Block]:
    """Split the items of a trace into blocks at its decisions."""
    block = Block([], [])
    for item in items:
        if isinstance(item, Guard):
            block.guard = item
            yield block
            block = Block([], [])
        elif isinstance(item, Draw):
            block.draws.append(item)
        else:
            block.steps.append(item)
    yield block


def _named(value: Value) -> Any:
    """Return a key that compares constants by content and other values by identity."""
    if value.constant is not None:
        return constant_key(value.constant)
    return value
