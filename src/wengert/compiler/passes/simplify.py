"""Layer 8 · compiler: programs with less to do, and the same results.

What is left out: steps that nothing depends on, steps that are there already, what is known when
the program is made, and what identities of arithmetic, of shapes and of sums make unnecessary (see
NOTE [rewriting], NOTE [identities], NOTE [canonical views], NOTE [sums of parts]). Results are kept
to the last bit, infinities and NaN included, but for three things: sums may be added up in another
order, powers to small numbers are products and roots, and the exponentials that a sum was made of
are used again for its derivative.
"""

from __future__ import annotations

from wengert.compiler.ir.programs import Loop, Program
from wengert.compiler.ir.verifier import checked

# which register their rules, those first that are to be tried first
# isort: split
from wengert.compiler.passes import combining as combining_rules  # noqa: F401
from wengert.compiler.passes import moves as moves_rules  # noqa: F401

# isort: split
from wengert.compiler.passes import arithmetic as arithmetic_rules  # noqa: F401
from wengert.compiler.passes.builder import Builder, live
from wengert.compiler.passes.gathering import gathered

__all__ = ["simplify"]


def simplify(program: Program) -> Program:
    """A program with the same inputs and results, and with less to do.

    Parameters
    ----------
    program: Any program; it is not changed.

    Returns
    -------
    Program: Its inputs are those of `program`. Values that have not changed are the same objects.
    """
    simple = checked("rewrite", _rewritten, checked("gather", gathered, program))
    # what is read between writes is found only now, and so are sums that copies stood between
    joined = checked("gather", gathered, simple)
    return simple if joined is simple else checked("rewrite", _rewritten, joined)


def _rewritten(program: Program) -> Program:
    rewritten, found = _rewritten_once(program)
    # rules have not been tried on what only steps that are gone have read besides
    return _rewritten_once(rewritten)[0] if found else rewritten


def _rewritten_once(program: Program) -> tuple[Program, bool]:
    """The program, and whether values turned out to be read once that had been read often."""
    steps, counts = live(program.steps, program.outputs)
    builder = Builder(counts)
    for step in steps:
        builder.take(_with_body(step) if isinstance(step, Loop) else step)
    outputs = [builder.current(value) for value in program.outputs]
    writes = [(builder.current(made), over) for made, over in program.writes]
    left, counts = live(builder.steps, outputs)
    rewritten = Program(
        program.inputs,
        left,
        outputs,
        # an output may turn out to be an input, whose memory must last
        [(made, over) for made, over in writes if over not in outputs],
    )
    return rewritten, any(counts.get(value) == 1 for value in builder.several)


def _with_body(loop: Loop) -> Loop:
    body = _rewritten(loop.body)
    return Loop(loop.count, body, loop.carried, loop.sliced, loop.fixed, loop.outs, loop.site)
