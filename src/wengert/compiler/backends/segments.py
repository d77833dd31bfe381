"""Layer 8 · compiler: partition a program into native segments and steps that NumPy computes.

NOTE [segments]
A step without a native form, for its primitive, dtype or parameters, runs by its NumPy kernel. The
other steps are gathered into as few native functions as their dependences allow: alternately all
native steps whose operands are ready, then all foreign ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from wengert.compiler.backends.kinds import is_native_step
from wengert.compiler.ir.programs import Loop, Program, Step, Value, is_counted, uses


def segments(program: Program, *, repeated: bool = False) -> list[Program | Step | Loop]:
    """A program in pieces: programs of native steps, and steps that have no native form.

    Parameters
    ----------
    program: The whole.
    repeated
        Whether it is the body of a loop that does not run natively, so that steps which depend on
        its counter cannot either.
    """
    steps = list(program.steps)
    native = [is_native_step(step) and not (repeated and is_counted(step)) for step in steps]
    if all(native):
        return [program]
    known = set(program.inputs)
    pieces: list[tuple[bool, list[Step | Loop]]] = []
    wanted = True
    remaining = list(range(len(steps)))
    while remaining:
        taken: list[Step | Loop] = []
        left = []
        for k in remaining:
            step = steps[k]
            ready = all(value.constant is not None or value in known for value in uses(step))
            if ready and native[k] is wanted:
                taken.append(step)
                known.update(step.outs)
            else:
                left.append(k)
        if taken:
            pieces += [(True, taken)] if wanted else [(False, [step]) for step in taken]
        remaining = left
        wanted = not wanted
    return list(_assembled(program, pieces))


def _assembled(
    program: Program, pieces: list[tuple[bool, list[Step | Loop]]]
) -> Iterator[Program | Step | Loop]:
    last: dict[Value, int] = dict.fromkeys(program.outputs, len(pieces))
    for k, (_, steps) in reversed([*enumerate(pieces)]):
        for step in steps:
            for value in uses(step):
                last.setdefault(value, k)
    for k, (native, steps) in enumerate(pieces):
        if not native:
            yield steps[0]
            continue
        own = {value for step in steps for value in step.outs}
        inputs = dict.fromkeys(
            value
            for step in steps
            for value in uses(step)
            if value not in own and value.constant is None
        )
        outputs = [value for step in steps for value in step.outs if last.get(value, -1) > k]
        yield Program(list(inputs), steps, outputs)
