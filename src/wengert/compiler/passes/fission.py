"""Layer 8 · compiler: what a loop needs not compute from one repetition to the next.

NOTE [parts of loops]
Of a recurrence like ``h = tanh(w @ h + u @ x[i])`` and its derivative only a part has to be
computed one repetition after the other. What depends on nothing that is carried (``u @ x[i]``) may
be computed before, and what nothing carried depends on (the derivatives by `u`, `w` and `x[i]`)
behind the loop, for all repetitions at once: n products of a matrix and a vector are one product
of matrices, and so is a sum of n outer products. It is for the sake of these that steps are moved,
with what they need; products of matrices, and all the rest, are as quick where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeGuard

from wengert.compiler.ir.programs import Loop, Program, Step, Value, uses

__all__ = ["is_product", "is_sum", "parted"]


def parted(loop: Loop) -> tuple[Loop | None, Loop, Loop | None] | None:
    """What may be computed before a loop, what is left of it, and what behind it.

    Each is a loop itself; None where there is nothing to take out.
    """
    parts = _Parts(loop)
    if not parts.before and not parts.behind:
        return None
    return parts.loops()


def is_sum(step: Step | Loop | None, carried: Value) -> TypeGuard[Step]:
    """Whether a step adds to what is carried, or subtracts from it."""
    if not isinstance(step, Step) or step.prim.name not in ("add", "sub"):
        return False
    if sum(arg is carried for arg in step.args) != 1 or carried.dtype.kind not in "fc":
        return False
    if step.prim.name == "sub" and step.args[0] is not carried:
        return False
    return all(arg.shape == carried.shape for arg in (*step.args, *step.outs))


class _Parts:
    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.body = body = loop.body
        self.carried = body.inputs[: len(loop.carried)]
        self.makers = {out: step for step in body.steps for out in step.outs}
        self.readers: dict[Value, int] = {}
        for step in body.steps:
            self._count(uses(step))
        self._count(body.outputs)
        self.sums = [i for i, value in enumerate(self.carried) if self._is_sum(i, value)]
        self.behind = self._behind()
        self.before = self._before()

    def _count(self, values: Iterable[Value]) -> None:
        for value in values:
            self.readers[value] = self.readers.get(value, 0) + 1

    def _is_sum(self, i: int, value: Value) -> bool:
        following = self.body.outputs[i]
        return self.readers.get(value) == self.readers.get(following) == 1 and is_sum(
            self.makers.get(following), value
        )

    def _behind(self) -> list[Step | Loop]:
        """The steps that nothing carried but sums depends on, if products are among them."""
        ends = self.body.outputs[: len(self.carried)]
        wanted = {value for i, value in enumerate(ends) if i not in self.sums}
        found: list[Step | Loop] = []
        for step in reversed(self.body.steps):
            if wanted.isdisjoint(step.outs):
                found.append(step)
            else:
                wanted.update(uses(step))
        found.reverse()
        return found if any(map(_is_thin, found)) else []

    def _before(self) -> list[Step | Loop]:
        """Products that depend on nothing that is carried, and what they need."""
        bound = set(self.carried)
        behind = {id(step) for step in self.behind}
        free: list[Step | Loop] = []
        for step in self.body.steps:
            if bound.isdisjoint(uses(step)):
                if id(step) not in behind:
                    free.append(step)
            else:
                bound.update(step.outs)
        wanted: set[Value] = set()
        found: list[Step | Loop] = []
        for step in reversed(free):
            if not wanted.isdisjoint(step.outs) or _is_thin(step):
                found.append(step)
                wanted.update(uses(step))
        found.reverse()
        return found

    # -- the loops ---------------------------------------------------------------------------------

    def loops(self) -> tuple[Loop | None, Loop, Loop | None]:
        """What comes before, what is left, and what comes behind."""
        loop, body = self.loop, self.body
        nc = len(self.carried)
        taken = {id(step) for step in (*self.before, *self.behind)}
        left = [step for step in body.steps if id(step) not in taken]
        early = {out for step in self.before for out in step.outs}
        late = {out for step in self.behind for out in step.outs}
        kept = [i for i in range(nc) if i not in self.sums or not self.behind]
        given = [i for i in range(nc, len(body.outputs)) if body.outputs[i] not in late]
        later = [i for i in range(nc, len(body.outputs)) if body.outputs[i] in late]
        # what the other parts read of what comes before, and what comes behind of what is left
        late_reads = _read(self.behind)
        asked = [*_read(left), *late_reads, *(body.outputs[i] for i in (*kept, *given))]
        handed = [value for value in dict.fromkeys(asked) if value in early]
        first = self._made(self.before, [], handed, {}, ()) if self.before else None
        stacks = dict(zip(handed, () if first is None else first.outs, strict=True))
        known = {out for step in left for out in step.outs} | {self.carried[i] for i in kept}
        stacked = [body.outputs[i] for i in given]
        stacked += [v for v in late_reads if v in known and v not in stacked]
        core = self._made(left, kept, stacked, stacks, [loop.outs[i] for i in (*kept, *given)])
        if not self.behind:
            return first, core, None
        stacks |= dict(zip(stacked, core.outs[len(kept) :], strict=True))
        outs = [loop.outs[i] for i in (*self.sums, *later)]
        values = [body.outputs[i] for i in later]
        return first, core, self._made(self.behind, self.sums, values, stacks, outs)

    def _made(
        self,
        steps: Sequence[Step | Loop],
        carried: Sequence[int],
        stacked: Sequence[Value],
        sources: dict[Value, Value],
        outs: Sequence[Value],
    ) -> Loop:
        """A loop of some of the steps; `sources` are stacks of what other parts compute.

        Its first results are `outs`, those of the loop that it is a part of.
        """
        loop, body = self.loop, self.body
        nc, ns = len(loop.carried), len(loop.sliced)
        outputs = [*(body.outputs[i] for i in carried), *stacked]
        own = {out for step in steps for out in step.outs} | {self.carried[i] for i in carried}
        read = [v for v in dict.fromkeys([*_read(steps), *outputs]) if v not in own]
        sliced = dict(zip(body.inputs[nc : nc + ns], loop.sliced, strict=True))
        sliced |= {v: (stack, 0, 1) for v, stack in sources.items()}
        fixed = dict(zip(body.inputs[nc + ns :], loop.fixed, strict=True))
        slices = [v for v in read if v in sliced]
        constants = [v for v in read if v in fixed]
        inputs = [*(self.carried[i] for i in carried), *slices, *constants]
        more = outputs[len(outs) :]
        return Loop(
            loop.count,
            Program(inputs, list(steps), outputs),
            [loop.carried[i] for i in carried],
            [sliced[v] for v in slices],
            [fixed[v] for v in constants],
            [*outs, *(Value(v.dtype, (loop.count, *v.shape)) for v in more)],
            loop.site,
        )


def is_product(step: Step | Loop) -> bool:
    """Whether a step is a product of matrices, or the outer one of vectors."""
    if isinstance(step, Loop):
        return False
    if step.prim.name == "mm":
        return True
    shapes = [arg.shape for arg in step.args]
    return (
        step.prim.name == "mul"
        and len(step.outs[0].shape) == 2
        and all(len(shape) == 2 for shape in shapes)
        and shapes[0] != shapes[1]
        and (shapes[0][1] == shapes[1][0] == 1 or shapes[0][0] == shapes[1][1] == 1)
    )


def _is_thin(step: Step | Loop) -> bool:
    """Whether a step is a product that reads or writes a matrix for the sake of vectors."""
    if isinstance(step, Loop) or step.prim.name == "mm":
        return False
    return step.prim.name == "mv" or is_product(step)


def _read(steps: Iterable[Step | Loop]) -> list[Value]:
    return list(dict.fromkeys(value for step in steps for value in uses(step)))
