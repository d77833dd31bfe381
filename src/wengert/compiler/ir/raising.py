"""Layer 8 · compiler: the steps that may raise because of values.

NOTE [raising steps]
An index out of range, an integer divided by 0, a matrix that is singular: that an operation raises
is an effect, and where nobody reads its result, or only a part of it, it is computed all the same.
So these steps are live whatever reads them, and backends compute all elements of their results. A
record that says nothing counts as one that raises (`Primitive.raises`). Indices that a search gave
are in range where they are used on what was searched (`is_within`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wengert.compiler.ir.programs import Loop, Step, Value

__all__ = ["is_within", "may_raise"]

_BY_INDEX = frozenset({"gather", "index_select"})
"""Primitives that take elements along `dim` at the indices in their second argument."""
_SEARCHES = frozenset({"argmax", "argmin"})
"""Primitives that return indices along `dim`."""


def may_raise(step: Step | Loop) -> bool:
    """Whether a step may raise for some values of its arguments."""
    if isinstance(step, Loop):
        return any(map(may_raise, step.body.steps))
    prim, args = step.prim, step.args
    if prim.raises is not None:
        return prim.raises
    if prim.family == "elementwise":
        return len(args) + len(step.params) > 1 and any(arg.dtype.kind in "biu" for arg in args)
    if not prim.fixed and not step.params:
        return False
    places = [arg for name, arg in zip(prim.args, args, strict=False) if name in prim.fixed]
    places += [value for param in step.params.values() for value in _arrays(param)]
    # constants were the same when the function was traced, and did not raise
    return any(place.dtype.kind in "iu" and place.constant is None for place in places)


def _arrays(param: Any) -> Iterator[Value]:
    if isinstance(param, Value):
        yield param
    elif isinstance(param, tuple | list):
        for part in param:
            yield from _arrays(part)


def is_within(step: Step | Loop, makers: Mapping[Value, Step | Loop]) -> bool:
    """Whether a step uses no index but those of elements that a search has found along as many."""
    if isinstance(step, Loop) or step.prim.name not in _BY_INDEX:
        return False
    index = step.args[1]
    while isinstance(made := makers.get(index), Step) and made.prim.view:
        index = made.args[0]
    if not isinstance(made, Step) or made.prim.name not in _SEARCHES:
        return False
    searched, dim, along = made.args[0], made.params.get("dim"), step.params["dim"]
    if dim is None or not searched.shape or not step.args[0].shape:
        return False
    return bool(searched.shape[dim] <= step.args[0].shape[along])
