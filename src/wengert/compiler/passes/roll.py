"""Layer 8 · compiler: rerolling: repeated steps become loops.

A Python loop of a thousand iterations is traced as a thousand copies of the same steps, and as many
again for its derivative. This pass rerolls them into loops (NOTE [labels of steps], NOTE [columns
of operands]), so that the rest of compilation takes time independent of the trip count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert.compiler.ir.programs import Loop, Program, Step, Value
from wengert.compiler.ir.verifier import checked
from wengert.compiler.passes.builder import read, reread
from wengert.compiler.passes.gathering import gathered
from wengert.compiler.passes.repeats import labels, regions
from wengert.compiler.passes.rolling import rolled
from wengert.compiler.passes.simplify import simplify
from wengert.compiler.passes.unrolled import Unrolled
from wengert.compiler.passes.value_numbering import constant_key, params_key

__all__ = ["reduced", "roll"]

_LEAST = 256
"""The fewest steps of a loop, over all iterations. Fewer steps compile quickly unrolled, and are
fused across iterations."""
_ROUNDS = 4
_LONG = 2048
"""Programs with at least this many steps are rerolled first, since to simplify takes longer."""


def reduced(program: Program) -> Program:
    """Simplify a program, and reroll its repeated steps into loops."""
    if len(program.steps) >= _LONG:
        short = checked("distinct", _distinct, checked("gather", gathered, program))
        program = checked("roll", roll, short)
    return checked("roll", roll, simplify(program))


def _distinct(program: Program) -> Program:
    """Share equal steps, so that loop invariants are outside of the repeated steps."""
    same: dict[Value, Value] = {}
    constants: dict[Any, Value] = {}
    known: dict[Any, Sequence[Value]] = {}
    steps: list[Step | Loop] = []

    def current(value: Value) -> Value:
        found = same.get(value)
        if found is None and value.constant is not None:
            found = same[value] = constants.setdefault(constant_key(value.constant), value)
        return value if found is None else found

    for step in program.steps:
        if isinstance(step, Step):
            if any(v in same or v.constant is not None for v in read(step)):
                step = step.reading(current)
            key = step.prim, step.args, params_key(step.params)
            outs = known.setdefault(key, step.outs)
            if outs is not step.outs:
                same.update(zip(step.outs, outs, strict=True))
                continue
        else:
            step = reread(step, current)
        steps.append(step)
    outputs = [*map(current, program.outputs)]
    writes = [(current(made), over) for made, over in program.writes]
    return Program(program.inputs, steps, outputs, writes)


def roll(program: Program, least: int = _LEAST) -> Program:
    """Reroll repeated steps into loops.

    Parameters
    ----------
    program: A program without equal steps, which is not changed.
    least: The fewest steps of a loop, over all iterations.

    Returns
    -------
    Program: An equivalent program; `program` itself if no steps repeat.
    """
    made = program
    for _ in range(_ROUNDS):
        if len(made.steps) < least:
            break
        flat = Unrolled(made)
        found = regions(labels(flat), least)
        again = rolled(made, flat, found, least) if found else made
        if again is made:
            break
        # stacks of the slices of a loop's stack are the stack itself
        made = simplify(again)
    return made if made is program else _within(made, least)


def _within(program: Program, least: int) -> Program:
    """Reroll the bodies of loops."""
    steps = [
        _body_rolled(step, least) if isinstance(step, Loop) else step for step in program.steps
    ]
    return Program(program.inputs, steps, program.outputs, program.writes)


def _body_rolled(loop: Loop, least: int) -> Loop:
    body = roll(loop.body, least)
    if body is loop.body:
        return loop
    return Loop(loop.count, body, loop.carried, loop.sliced, loop.fixed, loop.outs, loop.site)
