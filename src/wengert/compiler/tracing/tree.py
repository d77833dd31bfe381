"""Layer 8 · compiler: the tree of all traces of a function for one environment, and its runs.

A trace is straight lines of steps between decisions. Traces of one environment have their
beginnings in common up to the first decision that went another way: so they make a tree, whose
blocks are programs, each compiled when it first runs; blocks that do the same, as the repetitions
of a loop with a decision do, share what was compiled. A run goes down from the root; where a
decision has an outcome that no trace has met, nothing has happened yet, and the function is traced
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from wengert.compiler.ir.decisions import Draw, Guard, outcome_of
from wengert.compiler.ir.executable import RAISED
from wengert.compiler.ir.programs import Program, Step, Value, uses
from wengert.compiler.tracing.alike import Made, Programs
from wengert.compiler.tracing.collector import seldom
from wengert.compiler.tracing.tables import finished

__all__ = ["Block", "Elsewhere", "Missing", "Tree", "agree", "blocks_of", "key_of", "machines_of"]


_SHARED = 2048
"""Blocks of more steps than this are not likely to be equal."""


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
    """Steps up to the next decision, or to the end.

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
    """

    __slots__ = (
        "children",
        "draws",
        "executable",
        "exit",
        "guard",
        "inputs",
        "outcome",
        "outputs",
        "program",
        "steps",
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

    def renamed(self, known: dict[Value, Value]) -> Block:
        """The same in other values: a block of a trace in terms of the values of a tree."""

        def rename(value: Value) -> Value:
            return known.get(value, value)

        steps = [step.reading(rename) for step in self.steps]
        made = Block(steps, self.draws)
        if self.guard is not None:
            made.guard = self.guard._replace(value=rename(self.guard.value))
        return made

    def needs(self, wanted: set[Value]) -> set[Value]:
        """Which of its values are read or handed out, given what those after it read.

        To `wanted` is added what this block reads.
        """
        if self.exit is not None:
            wanted.update(self.exit.needs())
        if self.guard is not None:
            wanted.add(self.guard.value)
        found = {out for step in self.steps for out in step.outs if out in wanted}
        for step in self.steps:
            wanted.update(uses(step))
        return found

    def make(self, wanted: set[Value], finish: Callable[[Program], Made]) -> None:
        """Make the program that gives the values of `wanted` which this block computes."""
        outputs = [out for step in self.steps for out in step.outs if out in wanted]
        if self.program is not None and self.outputs == tuple(outputs):
            return
        own = {out for step in self.steps for out in step.outs}
        inputs: dict[Value, None] = {}
        for step in self.steps:
            for value in uses(step):
                if value not in own and value.constant is None:
                    inputs[value] = None
        writes = () if self.exit is None else self.exit.writes(set(outputs), set(inputs))
        program = Program(tuple(inputs), self.steps, outputs, writes)
        # whose values may be others
        self.program, self.executable, numbers = finish(program)
        self.inputs, self.outputs = (*program.inputs, *numbers), program.outputs


class Tree:
    """All traces of one environment.

    Attributes
    ----------
    inputs: The values of the tensors and arrays of the environment, in its order.
    root: Where runs begin.
    traces: How many traces there are.
    """

    def __init__(
        self, inputs: Sequence[Value], finish: Callable[[Program], tuple[Program, Any]]
    ) -> None:
        self.inputs = tuple(inputs)
        self.root: Block | None = None
        self.traces = 0
        self._stale = True
        self._version = 0
        self._making = Lock()
        self._programs = Programs(partial(finished, finish=finish))

    def _made(self, program: Program) -> Made:
        """A program made simpler, and what runs it; blocks that do the same share these."""
        alone = self.root is not None and not self.root.children
        if alone or len(program.steps) > _SHARED:
            return self._programs.alone(program)
        return self._programs.made(program)

    def add(self, inputs: Sequence[Value], items: Iterable[Any], exit: Any) -> bool:
        """Add a trace; False if it contradicts those that are there.

        Parameters
        ----------
        inputs: The trace's own values of the inputs.
        items: Its steps, guards and draws.
        exit: What it leaves behind.
        """
        with self._making:
            self._version += 1
            return self._added(inputs, items, exit)

    def _added(self, inputs: Sequence[Value], items: Iterable[Any], exit: Any) -> bool:
        blocks = list(blocks_of(items))
        known = dict(zip(inputs, self.inputs, strict=True))
        self._stale = True
        self.traces += 1
        if self.root is None:
            # the tree is made for the first trace: its values are the trace's own
            self.root = _chain(blocks)
            _last(self.root).exit = exit
            return True
        here = self.root
        for i, block in enumerate(blocks):
            if not agree(here, block, known):
                return False
            outcome = None if block.guard is None else block.guard.outcome
            if block.guard is None:
                here.exit = exit.renamed(known)
                return here.guard is None
            if here.guard is None or here.guard.kind != block.guard.kind:
                return False
            key = key_of(outcome)
            following = here.children.get(key)
            if following is None:
                rest = [other.renamed(known) for other in blocks[i + 1 :]]
                here.children[key] = _chain(rest)
                here.children[key].outcome = outcome
                _last(here.children[key]).exit = exit.renamed(known)
                return True
            here = following
        return False

    def prepare(self) -> None:
        """Make the programs of all blocks, as far as they are not what they must be."""
        # until what the passes make is gone again, which is most of it
        with self._making, seldom():
            if self._stale and self.root is not None:
                self._prepare()
                self._stale = False

    def _prepare(self) -> None:
        wanted: dict[Block, set[Value]] = {}
        for block in reversed([*self.blocks()]):
            # a set goes on from block to block, since there may be hundreds of them in a row
            behind = [wanted.pop(child) for child in block.children.values()]
            own = max(behind, key=len, default=set())
            for other in behind:
                if other is not own:
                    own |= other
            block.make(block.needs(own), self._made)
            wanted[block] = own

    def run(self, arrays: Sequence[Any], drawn: dict[Value, Any] | None = None) -> Any:
        """Compute; gives the exit and the values by `Value`.

        With `drawn`, the random numbers of the only trace, it is gone through to its end, whatever
        decisions on values that are rounded otherwise might say.

        Raises
        ------
        Missing: If a decision has an outcome that no trace has met.
        """
        if self.root is None:
            raise Missing
        if self._stale:
            self.prepare()
        version = self._version
        made: list[Any] = []
        try:
            found = self._gone_down(arrays, drawn, made)
        except (KeyError, ValueError):
            if self._version == version:
                raise
            found = None
        if found is None or self._version != version:
            # another thread has added a trace meanwhile, and changed what blocks give
            raise Missing(made)
        return found

    def _gone_down(
        self, arrays: Sequence[Any], drawn: dict[Value, Any] | None, made: list[Any]
    ) -> tuple[Any, dict[Value, Any]]:
        """The exit and the values; to `made` are added the random numbers that were drawn."""
        known: dict[Value, Any] = dict(zip(self.inputs, arrays, strict=True))
        block: Any = self.root
        while True:
            for value, draw in block.draws:
                made.append(draw() if drawn is None or value not in drawn else drawn[value])
                known[value] = np.asarray(made[-1], order="C")
            if block.steps:
                try:
                    results = block.executable(
                        [known[v] if v.constant is None else v.constant for v in block.inputs]
                    )
                except RAISED as error:
                    # the function itself raises it, or catches it
                    raise Missing(made) from error
                known.update(zip(block.outputs, results, strict=True))
            guard = block.guard
            if guard is None:
                return block.exit, known
            if drawn is not None:
                (block,) = block.children.values()
                continue
            outcome = key_of(outcome_of(guard.kind, known[guard.value]))
            block = block.children.get(outcome)
            if block is None:
                raise Missing(made)

    def path_to(self, exit: Any) -> tuple[list[Step], list[Value]]:
        """All steps of the trace that ends in `exit`, and the random numbers that it draws."""
        assert self.root is not None
        stack = [(self.root, [self.root])]
        while stack:
            block, path = stack.pop()
            if block.exit is not None and block.exit.leaves is exit.leaves:
                steps = [step for one in path for step in one.steps]
                return steps, [draw.value for one in path for draw in one.draws]
            stack += [(child, [*path, child]) for child in block.children.values()]
        raise LookupError("an exit that belongs to another tree")

    def machines(self) -> Iterable[Any]:
        """The machine code of what has been made so far."""
        return machines_of(self.blocks())

    def blocks(self) -> Iterable[Block]:
        """All blocks, parents first."""
        stack = [] if self.root is None else [self.root]
        while stack:
            block = stack.pop()
            yield block
            stack += block.children.values()


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


def _chain(blocks: list[Block]) -> Block:
    for block, following in pairwise(blocks):
        assert block.guard is not None
        block.children[key_of(block.guard.outcome)] = following
        following.outcome = block.guard.outcome
    return blocks[0]


def _last(block: Block) -> Block:
    while block.children:
        (block,) = block.children.values()
    return block


def agree(here: Block, block: Block, known: dict[Value, Value]) -> bool:
    """Whether a block of a new trace is the one of the tree; then its values become known."""
    if len(here.steps) != len(block.steps) or len(here.draws) != len(block.draws):
        return False

    def rename(value: Value) -> Any:
        if value.constant is not None:
            return (value.dtype, value.shape, value.constant.tobytes())
        return known.get(value, value)

    def own(value: Value) -> Any:
        if value.constant is not None:
            return (value.dtype, value.shape, value.constant.tobytes())
        return value

    for draw, drawn in zip(here.draws, block.draws, strict=True):
        known[drawn.value] = draw.value
    for step, other in zip(here.steps, block.steps, strict=True):
        if step.prim is not other.prim or len(step.outs) != len(other.outs):
            return False
        if [own(v) for v in step.args] != [rename(v) for v in other.args]:
            return False
        mine = {n: _frozen(p, own) for n, p in step.params.items()}
        if mine != {n: _frozen(p, rename) for n, p in other.params.items()}:
            return False
        known.update(zip(other.outs, step.outs, strict=True))
    if here.guard is not None and block.guard is not None:
        return bool(own(here.guard.value) == rename(block.guard.value))
    return True


def _frozen(param: Any, name: Callable[[Value], Any]) -> Any:
    """A parameter in a form that can be compared."""
    if isinstance(param, Value):
        return ("value", name(param))
    if isinstance(param, tuple | list):
        return tuple(_frozen(part, name) for part in param)
    if hasattr(param, "value") and isinstance(getattr(param, "value", None), Value):
        return ("number", name(param.value))
    if isinstance(param, int | float | complex | bool):
        return (type(param), repr(param))
    return param
