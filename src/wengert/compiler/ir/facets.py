"""Layer 8 · compiler: facets of primitives for the compiler alone (see NOTE [facets]).

What is not said does not hold: nothing is rewritten, combined or taken for a view by chance. What
takes code is registered with the record by the modules that hold that code.
"""

from __future__ import annotations

from typing import Any

from wengert.interp.eager import POINTWISE
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive
from wengert.prims.whole import TABLE

__all__ = [
    "COMBINES",
    "COMMUTES",
    "CYCLES",
    "KEEPS_NAN",
    "MAPS",
    "POSITIVE",
    "REARRANGES",
    "SIZE",
    "having",
]

MAPS: Facet[bool] = Facet("maps", lambda prim: POINTWISE[prim])
"""Whether each element of the result is a function of the elements at the same place, with
broadcasting, and of parameters without places."""
REARRANGES: Facet[str] = Facet("rearranges", lambda prim: "")
"""How it rearranges the elements of its argument: in another ``"shape"`` and the same order, in
another ``"order"`` of dimensions, or as another ``"kind"`` of numbers."""
COMBINES: Facet[str] = Facet("combines", lambda prim: "")
"""The instruction by which it combines all elements along its dimensions, or all that there are:
``"add"``, ``"mul"``, ``"max"``, ``"min"``, and of truth values ``"or"``, ``"and"``, ``"count"``."""
KEEPS_NAN: Facet[bool] = Facet(
    "keeps_nan", lambda prim: prim.family in ("view", "bilinear") or COMBINES[prim] == "add"
)
"""Whether NaN in an argument gives NaN in all elements of the results that depend on it, where the
results are floating-point or complex."""
COMMUTES: Facet[bool] = Facet("commutes", lambda prim: False)
"""Whether its two arguments may change places."""
SIZE: Facet[str] = Facet("size", lambda prim: "")
"""Whether the result's shape depends on values: on the number of true elements (``"mask"``),
or on values in another way (``"values"``)."""
POSITIVE: Facet[str] = Facet("positive", lambda prim: "")
"""Whether no element of the result is below 0: ``"always"``, or ``"kept"``, where none of the
arguments' is and neither are numbers among the parameters. NaN is not below 0."""
CYCLES: Facet[int] = Facet("cycles", lambda prim: 0)
"""Rough cycles of the function of its name in the C library, where there is one that computes it;
where several elements are computed at a time, these of one."""


def having(facet: Facet[Any]) -> list[Primitive]:
    """The records of which a facet says something: what is not False, nor empty."""
    return [prim for prim in TABLE.values() if facet[prim]]
