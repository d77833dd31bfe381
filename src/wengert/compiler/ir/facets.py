"""Layer 8 · compiler: facets of primitives that only the compiler reads (see NOTE [facets]).

Defaults are conservative: a property that no record states does not hold. Facets that are code,
such as lowering rules, are registered by the modules that define them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wengert.interp.eager import POINTWISE
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive
from wengert.prims.whole import TABLE

MAPS: Facet[bool] = Facet("maps", lambda prim: POINTWISE[prim])
"""Whether it is element-wise: each element of the result depends on the elements of its arguments
at the same place, with broadcasting, and on scalar parameters."""
REARRANGES: Facet[str] = Facet("rearranges", lambda prim: "")
"""How it rearranges the elements of its argument: ``"shape"`` (a reshape), ``"order"`` (a
transpose), or ``"kind"`` (a cast)."""
COMBINES: Facet[str] = Facet("combines", lambda prim: "")
"""The combiner of a reduction along its dimensions, or over all elements: ``"add"``, ``"mul"``,
``"max"``, ``"min"``; ``"or"``, ``"and"``, ``"count"`` of truth values."""
KEEPS_NAN: Facet[bool] = Facet(
    "keeps_nan", lambda prim: prim.family in ("view", "bilinear") or COMBINES[prim] == "add"
)
"""Whether NaN propagates: from an element of an argument to all elements of floating-point or
complex results that depend on it."""
COMMUTES: Facet[bool] = Facet("commutes", lambda prim: False)
"""Whether it is commutative."""
SIZE: Facet[str] = Facet("size", lambda prim: "")
"""How the result's shape depends on values: ``"mask"`` (on the number of true elements), or
``"values"``."""
CYCLES: Facet[int] = Facet("cycles", lambda prim: 0)
"""Rough cycles per element of the C library's function that computes it, if there is one."""


def having(facet: Facet[Any]) -> list[Primitive]:
    """Return the records for which a facet is truthy."""
    return [prim for prim in TABLE.values() if facet[prim]]


def permutation(name: str, params: Mapping[str, Any], ndim: int) -> tuple[int, ...]:
    """Return the order of dimensions that a transpose, a record of that name, makes."""
    if name == "permute":
        return params["dims"]
    order = list(range(ndim))
    first, second = (params["dim0"], params["dim1"]) if name == "transpose" else (0, -1)
    if ndim:
        order[first], order[second] = order[second], order[first]
    return tuple(order)
