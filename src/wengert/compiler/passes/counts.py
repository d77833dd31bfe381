"""Layer 8 · compiler: whether two programs differ in nothing but how often their loops repeat.

A ``while`` loop that ran 12 times in one trace and 40 times in another leaves two programs. If
they are the same loop, one compiled body serves both, and every other count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from wengert.compiler.ir import Affine, Loop, Number, Program, Step, Value
from wengert.compiler.passes.keys import param_key

__all__ = ["same_but_counts"]

_NEAR = 3
"""Sizes and positions may follow a count at a distance of up to so many repetitions."""


def same_but_counts(p: Program, q: Program) -> list[tuple[int, int]] | None:
    """The counts in which two programs differ, or None if they differ in more.

    Programs are compared in order, with values renamed: primitives, parameters, dtypes, constants,
    and what each step reads. Counts of loops may differ, and with them whatever is as many more or
    less: sizes of what loops stack, and positions counted from their ends.

    Parameters
    ----------
    p, q
        Programs, with loops in them (see `roll`).

    Returns
    -------
    list of (int, int)
        The counts of each pair of loops that repeat differently often, in order, without repeats;
        empty if the programs are the same.
    """
    pairs = list(dict.fromkeys(_counts(p.steps, q.steps)))
    return pairs if _Comparison(pairs).programs(p, q) else None


def _counts(steps: Iterable[Step | Loop], others: Iterable[Step | Loop]) -> list[tuple[int, int]]:
    found = []
    for one, other in zip(steps, others, strict=False):
        if isinstance(one, Loop) and isinstance(other, Loop):
            if one.count != other.count:
                found.append((one.count, other.count))
            found += _counts(one.body.steps, other.body.steps)
    return found


class _Comparison:
    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        self.pairs = pairs
        self.names: dict[Value, Value] = {}
        self.taken: set[Value] = set()

    def size(self, a: int, b: int) -> bool:
        """Whether two numbers are equal, or each at the same distance from a count."""
        if a == b:
            return True
        return any(a - m == b - n and abs(a - m) <= _NEAR for m, n in self.pairs)

    def shapes(self, a: tuple[int, ...], b: tuple[int, ...]) -> bool:
        """Whether shapes differ by counts only."""
        return len(a) == len(b) and all(map(self.size, a, b))

    def same(self, a: Value, b: Value) -> bool:
        """Whether two values that are read are the same one."""
        if a.constant is None or b.constant is None:
            return self.names.get(a) is b
        return (
            a.dtype == b.dtype
            and a.shape == b.shape
            and a.constant.tobytes() == b.constant.tobytes()
        )

    def define(self, a: Value, b: Value) -> bool:
        """Take two values for the same one, if they are of one kind."""
        if a.dtype != b.dtype or not self.shapes(a.shape, b.shape) or b in self.taken:
            return False
        self.names[a] = b
        self.taken.add(b)
        return True

    def params(self, a: Any, b: Any) -> bool:
        """Whether two parameters are the same, but for counts."""
        if a.__class__ is not b.__class__:
            return False
        if isinstance(a, Value):
            return self.same(a, b)
        if isinstance(a, Number):
            return self.same(a.value, b.value)
        if isinstance(a, Affine):
            return a.step == b.step and self.size(a.start, b.start)
        if isinstance(a, tuple | list):
            return len(a) == len(b) and all(map(self.params, a, b))
        if a.__class__ is int:
            return self.size(a, b)
        return bool(param_key(a) == param_key(b))

    def named(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
        """The same for all parameters of a step."""
        return a.keys() == b.keys() and all(self.params(a[name], b[name]) for name in a)

    def all(self, first: Iterable[Value], second: Iterable[Value]) -> bool:
        """Whether values that are read are the same, one by one."""
        ours, theirs = list(first), list(second)
        return len(ours) == len(theirs) and all(map(self.same, ours, theirs))

    def defined(self, first: Iterable[Value], second: Iterable[Value]) -> bool:
        """Take values for the same, one by one."""
        ours, theirs = list(first), list(second)
        return len(ours) == len(theirs) and all(map(self.define, ours, theirs))

    def programs(self, p: Program, q: Program) -> bool:
        """Whether programs are the same, but for counts."""
        if len(p.steps) != len(q.steps) or not self.defined(p.inputs, q.inputs):
            return False
        return (
            all(map(self.steps, p.steps, q.steps))
            and self.all(p.outputs, q.outputs)
            and self.all([made for made, _ in p.writes], [made for made, _ in q.writes])
            and self.all([over for _, over in p.writes], [over for _, over in q.writes])
        )

    def steps(self, a: Step | Loop, b: Step | Loop) -> bool:
        """Whether steps are the same, but for counts."""
        if isinstance(a, Loop) and isinstance(b, Loop):
            same = self.loops(a, b)
        elif isinstance(a, Step) and isinstance(b, Step):
            same = a.prim is b.prim and self.all(a.args, b.args) and self.named(a.params, b.params)
        else:
            return False
        return same and self.defined(a.outs, b.outs)

    def loops(self, a: Loop, b: Loop) -> bool:
        """The same for loops."""
        return (
            self.all(a.carried, b.carried)
            and self.all(a.fixed, b.fixed)
            and len(a.sliced) == len(b.sliced)
            and all(
                self.same(v, w) and self.size(i, j) and m == n
                for (v, i, m), (w, j, n) in zip(a.sliced, b.sliced, strict=True)
            )
            and self.programs(a.body, b.body)
        )
