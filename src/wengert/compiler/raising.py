"""Layer 8 · compiler: the operations that raise because of values, whose results may be unused.

An index out of range, an integer divided by 0, a matrix that is singular: that an operation raises
is an effect, and where nobody reads its result it is computed all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wengert.compiler.ir import Step, Value, uses

__all__ = ["may_raise", "unread"]

_DIVISIONS = frozenset({"fmod", "remainder", "floor_divide", "div_floor", "div_trunc", "pow"})
_BY_PLACES = ("gather", "index", "scatter", "take", "put", "embedding", "nll", "one_hot")
_OF_MATRICES = ("inverse", "inv", "solve", "cholesky", "eig", "svd", "qr", "lu", "multinomial")


def may_raise(step: Step) -> bool:
    """Whether a step may raise for some values of its arguments."""
    name = step.prim.name
    if any(name.startswith(division) for division in _DIVISIONS):
        return any(value.dtype.kind in "iu" for value in step.args)
    return any(part in name for part in (*_BY_PLACES, *_OF_MATRICES))


def unread(items: Iterable[Any], needed: Iterable[Value]) -> list[Value]:
    """Results of steps that may raise and that nothing reads which is `needed`, or decided on."""
    known = set(needed)
    found: list[Value] = []
    for item in reversed([*items]):
        if not isinstance(item, Step):
            value = getattr(item, "value", None)
            if isinstance(value, Value):
                known.add(value)
            continue
        if known.isdisjoint(item.outs):
            if not may_raise(item):
                continue
            found.append(item.outs[0])
        known.update(uses(item))
    return found
