"""Layer 8 · compiler: which steps may raise for some values of their operands.

NOTE [raising steps]
An index out of range, an integer divided by 0, a singular matrix: an exception is a side effect. So
steps that may raise are never dead code, and backends compute all elements of their results. A
record that does not say whether it raises counts as raising (`Primitive.raises`). Indices from
argmax and argmin need no check where they index an array of at least that size (`is_within`).
"""

from __future__ import annotations

from collections.abc import Mapping

from wengert.compiler.ir.programs import Loop, Step, Value, parts

_BY_INDEX = frozenset({"gather", "index_select"})
"""Primitives whose second argument holds indices along `dim`."""
_SEARCHES = frozenset({"argmax", "argmin"})
"""Primitives that return indices along `dim`."""


def may_raise(step: Step | Loop) -> bool:
    """Return whether a step may raise for some values of its operands."""
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
    held = [part for param in step.params.values() for part in parts(param)]
    places += [part for part in held if isinstance(part, Value)]
    # constants did not raise when the function was traced
    return any(place.dtype.kind in "iu" and place.constant is None for place in places)


def is_within(step: Step | Loop, makers: Mapping[Value, Step | Loop]) -> bool:
    """Return whether all indices of a step come from a search along a dimension no longer."""
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
