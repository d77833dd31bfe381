"""Layer 8 · compiler: basic blocks: what a trace computes from one decision to the next.

A trace is straight lines of steps between decisions. The traces of one environment share those that
are the same (`wengert.compiler.tracing.graph`), and so do the turns of a loop while they are traced
(`wengert.compiler.tracing.turns`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wengert.compiler.ir.decisions import Draw, Guard
from wengert.compiler.ir.programs import Program, Step, Value, uses
from wengert.compiler.passes.keys import constant_key, named_key
from wengert.compiler.tracing.alike import Made

__all__ = ["Block", "Elsewhere", "Missing", "blocks_of", "held", "key_of", "machines_of"]


class Missing(Exception):
    """A decision had an outcome that no trace has met, or ``print`` has raised.

    Attributes
    ----------
    drawn: The random numbers that were drawn before it, in their order.
    said
        What became of the calls of ``print`` before it: True for those that have printed, then the
        error of the one that raised, if any.
    """

    def __init__(self, drawn: Sequence[Any] = (), said: Sequence[Any] = ()) -> None:
        super().__init__()
        self.drawn = drawn
        self.said = said


class Elsewhere(Missing):
    """An input lies in memory in another order than in the traces."""


class Block:
    """A basic block: steps up to the next decision, or to the end.

    Attributes
    ----------
    draws: The random numbers that are drawn before it.
    steps: The steps.
    guard: The decision after them, or None at the end of a trace.
    children: What follows, by outcome.
    outcome: That of the decision before it.
    exit: What a trace that ends here leaves behind.
    program, executable: Made from the steps when first run.
    inputs, outputs
        The values, as the steps know them, that the program takes and gives; constants among those
        that it takes are numbers of its own.
    slots, after
        Where blocks are known by states (NOTE [states]): the values in the slots of the state
        before it, and of the one after it. None where they are known by the way that led to them.
    derivative, pull: How it is differentiated by itself, and what runs that.
    """

    __slots__ = (
        *("after", "children", "derivative", "draws", "executable", "exit", "guard", "inputs"),
        *("outcome", "outputs", "program", "pull", "slots", "steps"),
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
        self.after: tuple[Value, ...] = ()
        self.derivative: Any = None
        self.pull: Any = None

    def renamed(self, known: dict[Value, Value]) -> Block:
        """The same in other values: a block of a trace in terms of those that are there."""

        def rename(value: Value) -> Value:
            return known.get(value, value)

        steps = [step.reading(rename) for step in self.steps]
        made = Block(steps, self.draws)
        if self.guard is not None:
            made.guard = self.guard._replace(value=rename(self.guard.value))
        if self.slots is not None:
            made.slots = tuple(map(rename, self.slots))
            made.after = tuple(map(rename, self.after))
        return made

    def agrees(self, other: Block, known: dict[Value, Value]) -> bool:
        """Whether a block of another trace does the same; then its values become known."""
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
            # the same steps, but not the same variables after them
            return False
        found = [known.get(v, v) for v in other.after if v.constant is None]
        return bool(_named(mine.value) == rename(yours.value)) and found == [
            v for v in self.after if v.constant is None
        ]

    def is_closed(self, inputs: Iterable[Value]) -> bool:
        """Whether it reads nothing but its slots, the inputs and what it computes."""
        own = {*(self.slots or ()), *inputs, *(draw.value for draw in self.draws)}
        own.update(out for step in self.steps for out in step.outs)
        read = [value for step in self.steps for value in uses(step)]
        read += [*self.after, *self.saved()]
        read += [] if self.guard is None else [self.guard.value]
        read += [] if self.exit is None else self.exit.needs()
        return all(value.constant is not None or value in own for value in read)

    def saved(self) -> tuple[Value, ...]:
        """The values that its own derivative reads."""
        return () if self.derivative is None else self.derivative.backward.saved

    def compute(self, known: dict[Value, Any]) -> None:
        """Add to what is known what it computes."""
        if self.steps:
            results = self.executable([held(value, known) for value in self.inputs])
            known.update(zip(self.outputs, results, strict=True))

    def make(self, wanted: set[Value], finish: Callable[[Program], Made]) -> None:
        """Make the program that gives what is read or handed out of what this block computes.

        `wanted` is what those after it read; to this is added what the block itself reads.
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
        # whose values may be others
        self.program, self.executable, numbers = finish(program)
        self.inputs, self.outputs = (*program.inputs, *numbers), program.outputs


def held(value: Value, known: dict[Value, Any]) -> Any:
    """What a value is in a run."""
    return known[value] if value.constant is None else value.constant


def key_of(outcome: Any) -> Any:
    """An outcome as dictionaries know it."""
    if outcome is True or outcome is False:
        return outcome
    # NaN equals itself, and -0.0 is not 0.0
    return (type(outcome), repr(outcome))


def machines_of(blocks: Iterable[Block]) -> list[Any]:
    """The machine code of blocks that have any."""
    found = [getattr(block.executable, "machine", None) for block in blocks]
    return [machine for machine in found if machine is not None]


def blocks_of(items: Iterable[Any]) -> Iterable[Block]:
    """The items of a trace, parted at its decisions."""
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
    """A value as it can be compared: constants by what they are."""
    if value.constant is not None:
        return constant_key(value.constant)
    return value
