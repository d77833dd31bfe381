"""Layer 8 · sparse: the structural rule of each operation (see NOTE [structure])."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from wengert.interp.batched import BATCHING
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive
from wengert.sparse.links import Link

Shape = tuple[int, ...]
Found = list[tuple[Shape, list[Link | None]] | None]
"""For each argument, None or its shape and the link of each output."""
Rule = Callable[[Any, list[Shape]], Found]
R = TypeVar("R", bound=Rule)

_RULES: dict[str, Rule] = {}
_BY_BATCHING = {
    "pointwise": "by_element",
    "along": "along_dim",
    "chosen": "along_dim",
    "reduced": "loss",
}


def _of_family(prim: Primitive) -> str:
    if prim.family == "view":
        return "viewed"
    if prim.family == "reduction":
        return "along_dim"
    other = "moved" if prim.family == "linear" else "dense"
    return _BY_BATCHING.get(BATCHING[prim], other)


SPARSITY: Facet[str] = Facet("sparsity", _of_family)
"""The name of the structural rule that the operation follows."""


def structural(rule: R) -> R:
    """Register ``_name(node, shapes of the outputs)`` as the rule that records call ``name``."""
    _RULES[rule.__name__[1:]] = rule
    return rule


def rule_of(prim: Primitive) -> Rule:
    """Return the rule of an operation."""
    return _RULES[SPARSITY[prim]]
