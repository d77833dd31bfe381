"""Layer 8 · compiler: repeated steps as loops.

A Python loop that ran a thousand times while its function was traced left a thousand times the same
steps, and as many again in reverse for its derivative. Here they become loops again (see NOTE
[labels of steps] and NOTE [what repetitions read]), so that what follows takes time independent of
the number of repetitions.
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
"""Steps of all repetitions from which on a loop is worth it: below that, steps one after the other
are soon compiled, and are fused across the repetitions, which a loop does not do."""
_ROUNDS = 4
_LONG = 2048
"""Steps from which on a program is first rolled up and then made simpler, which takes longer."""


def reduced(program: Program) -> Program:
    """A program with less to do, and with loops in place of steps that repeat."""
    if len(program.steps) >= _LONG:
        short = checked("distinct", _distinct, checked("gather", gathered, program))
        program = checked("roll", roll, short)
    return checked("roll", roll, simplify(program))


def _distinct(program: Program) -> Program:
    """The same with equal steps once: what does not vary then stays outside of loops."""
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
    """A program with loops in place of steps that repeat.

    Parameters
    ----------
    program: A program, simplified, so that equal steps are there once; it is not changed.
    least: The number of steps, of all repetitions together, from which on there is a loop.

    Returns
    -------
    Program: The same computation; `program` itself if nothing in it repeats.
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
        # stacks of what loops stacked are what they stacked
        made = simplify(again)
    return made if made is program else _within(made, least)


def _within(program: Program, least: int) -> Program:
    """The same with the bodies of loops rolled."""
    steps = [
        _body_rolled(step, least) if isinstance(step, Loop) else step for step in program.steps
    ]
    return Program(program.inputs, steps, program.outputs, program.writes)


def _body_rolled(loop: Loop, least: int) -> Loop:
    body = roll(loop.body, least)
    if body is loop.body:
        return loop
    return Loop(loop.count, body, loop.carried, loop.sliced, loop.fixed, loop.outs, loop.site)
