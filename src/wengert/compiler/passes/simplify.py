"""Layer 8 · compiler: programs with less to do, and the same results.

What is left out: steps that nothing depends on, steps that are there already, what is known when
the program is made, and what identities of arithmetic, of shapes and of sums make unnecessary (see
NOTE [rewriting], NOTE [identities], NOTE [canonical views], NOTE [sums of parts]). Results are kept
to the last bit, infinities and NaN included, but for three things: sums may be added up in another
order, powers to small numbers are products and roots, and the exponentials that a sum was made of
are used again for its derivative.
"""

from __future__ import annotations

from functools import partial

from wengert.compiler.ir.programs import Loop, Program
from wengert.compiler.ir.verifier import checked
from wengert.compiler.passes.arithmetic import ARITHMETIC
from wengert.compiler.passes.builder import Builder, live
from wengert.compiler.passes.choices import CHOICES
from wengert.compiler.passes.combining import COMBINING
from wengert.compiler.passes.gathering import gathered
from wengert.compiler.passes.moves import MOVES

__all__ = ["simplify"]

_BOOK = COMBINING.merged(MOVES, ARITHMETIC, CHOICES)


def simplify(program: Program, fastmath: bool = False) -> Program:
    """A program with the same inputs and results, and with less to do.

    Parameters
    ----------
    program: Any program; it is not changed.
    fastmath
        Whether to use identities that do not hold for infinities, NaN or signs of zeros, or that
        round otherwise: ``x * 0`` is 0, ``x / 3`` is ``x * (1 / 3)``, and the like.

    Returns
    -------
    Program: Its inputs are those of `program`. Values that have not changed are the same objects.
    """
    rewrite = partial(_rewritten, fastmath=fastmath)
    simple = checked("rewrite", rewrite, checked("gather", gathered, program))
    # what is read between writes is found only now, and so are sums that copies stood between
    joined = checked("gather", gathered, simple)
    return simple if joined is simple else checked("rewrite", rewrite, joined)


def _rewritten(program: Program, fastmath: bool) -> Program:
    rewritten, found = _rewritten_once(program, fastmath)
    # rules have not been tried on what only steps that are gone have read besides
    return _rewritten_once(rewritten, fastmath)[0] if found else rewritten


def _rewritten_once(program: Program, fastmath: bool) -> tuple[Program, bool]:
    """The program, and whether values turned out to be read once that had been read often."""
    steps, counts = live(program.steps, program.outputs)
    builder = Builder(_BOOK, counts, fastmath)
    for step in steps:
        builder.take(_with_body(step, fastmath) if isinstance(step, Loop) else step)
    outputs = [builder.current(value) for value in program.outputs]
    writes = [(builder.current(made), over) for made, over in program.writes]
    left, counts = live(builder.steps, outputs, builder.done)
    rewritten = Program(
        program.inputs,
        left,
        outputs,
        # an output may turn out to be an input, whose memory must last
        [(made, over) for made, over in writes if over not in outputs],
    )
    return rewritten, any(counts.get(value) == 1 for value in builder.several)


def _with_body(loop: Loop, fastmath: bool) -> Loop:
    body = _rewritten(loop.body, fastmath)
    return Loop(loop.count, body, loop.carried, loop.sliced, loop.fixed, loop.outs, loop.site)
