"""Layer 8 · compiler: simplification of programs.

Dead code is eliminated, common subexpressions are shared, constants are folded, and peephole rules
simplify arithmetic, shapes and sums (NOTE [rewriting], NOTE [identities], NOTE [canonical views],
NOTE [sums of parts]). Results keep every bit, including infinities and NaN, with two exceptions:
sums may be reassociated, and the exponentials of a log-sum-exp are reused in its derivative.
"""

from __future__ import annotations

from wengert.compiler.ir.programs import Loop, Program
from wengert.compiler.ir.verifier import checked

# these modules register rules, in the order in which they are tried
# isort: split
from wengert.compiler.passes import combining as combining_rules  # noqa: F401
from wengert.compiler.passes import moves as moves_rules  # noqa: F401

# isort: split
from wengert.compiler.passes import arithmetic as arithmetic_rules  # noqa: F401
from wengert.compiler.passes.builder import RULES, Builder, live
from wengert.compiler.passes.gathering import gathered


def simplify(program: Program) -> Program:
    """Simplify a program.

    Parameters
    ----------
    program: The program, which is not changed.

    Returns
    -------
    Program: An equivalent program with the same inputs; unchanged values are the same objects.
    """
    simple = checked("rewrite", _rewritten, checked("gather", gathered, program))
    # rewriting exposes reads between writes, and sums without copies in between
    joined = checked("gather", gathered, simple)
    return simple if joined is simple else checked("rewrite", _rewritten, joined)


def _rewritten(program: Program) -> Program:
    rewritten, found = _rewritten_once(program)
    # rules that need a single use may apply once dead steps are gone
    return _rewritten_once(rewritten)[0] if found else rewritten


def _rewritten_once(program: Program) -> tuple[Program, bool]:
    """Return the program, and whether values that had several uses now have one."""
    steps, counts = live(program.steps, program.outputs)
    builder = Builder(counts, RULES)
    for step in steps:
        builder.take(step.running(_rewritten(step.body)) if isinstance(step, Loop) else step)
    rewritten, counts = builder.finished(program)
    return rewritten, any(counts.get(value) == 1 for value in builder.several)
