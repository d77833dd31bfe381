"""Layer 8 · compiler: rerolling: repeated steps become loops.

A Python loop of a thousand iterations is traced as a thousand copies of the same steps, and as many
again for its derivative. This pass rerolls them into loops (NOTE [labels of steps], NOTE [columns
of operands]), so that the rest of compilation takes time independent of the trip count.
"""

from __future__ import annotations

from wengert.compiler.ir.programs import Loop, Program
from wengert.compiler.ir.verifier import checked
from wengert.compiler.passes.builder import Builder
from wengert.compiler.passes.gathering import gathered
from wengert.compiler.passes.repeats import labels, regions
from wengert.compiler.passes.rolling import rolled
from wengert.compiler.passes.simplify import simplify
from wengert.compiler.passes.unrolled import Unrolled

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
    builder = Builder({}, rules={})
    for step in program.steps:
        builder.take(step)
    return builder.finished(program)[0]


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
    if made is program:
        return program
    steps = [
        step.running(roll(step.body, least)) if isinstance(step, Loop) else step
        for step in made.steps
    ]
    return Program(made.inputs, steps, made.outputs, made.writes)
