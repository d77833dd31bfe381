"""Layer 8 · compiler: the order in which steps are fused into loops."""

from __future__ import annotations

from wengert.compiler.ir.programs import Loop, Program, Step, Value, uses
from wengert.compiler.ir.raising import is_within, may_raise


def ordered_steps(program: Program) -> list[Step | Loop]:
    """Schedule the steps that outputs need, each as late as possible, smaller values first.

    The small operands of a large value are then ready when it is computed, so that one loop can
    compute it and use it. Steps that may raise and that no output needs come last (NOTE [raising
    steps] in `raising`).
    """
    makers: dict[Value, Step | Loop] = {v: step for step in program.steps for v in step.outs}
    done: set[int] = set()
    steps: list[Step | Loop] = []
    # outputs in their order; the top of the stack comes first
    stack: list[tuple[Step | Loop, bool]] = [
        (makers[value], False) for value in reversed(program.outputs) if value in makers
    ]
    stack[:0] = [
        (step, False)
        for step in reversed(program.steps)
        if may_raise(step) and not is_within(step, makers)
    ]
    while stack:
        step, ready = stack.pop()
        if ready:
            steps.append(step)
            continue
        if id(step) in done:
            continue
        done.add(id(step))
        stack.append((step, True))
        needed = {id(makers[v]): (v.size, makers[v]) for v in uses(step) if v in makers}
        by_size = sorted(needed.values(), key=lambda pair: -pair[0])
        stack += [(maker, False) for _, maker in by_size]
    return steps
