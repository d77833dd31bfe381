"""Layer 8 · compiler: repeated steps as loops.

A Python loop that ran a thousand times while its function was traced left a thousand times the same
steps, and as many again in reverse for its derivative. Here they become loops again (see NOTE
[labels of steps] and NOTE [what repetitions read]), so that what follows takes time independent of
the number of repetitions.
"""

from __future__ import annotations

from wengert.compiler.ir.programs import Loop, Program
from wengert.compiler.passes.repeats import labels, regions
from wengert.compiler.passes.rolling import rolled
from wengert.compiler.passes.simplify import simplify
from wengert.compiler.passes.unrolled import Unrolled

__all__ = ["roll"]

_LEAST = 256
"""Steps of all repetitions from which on a loop is worth it: below that, steps one after the other
are soon compiled, and are fused across the repetitions, which a loop does not do."""
_ROUNDS = 4


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
