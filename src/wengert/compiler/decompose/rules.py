"""Layer 8 · compiler: how rules of decomposition are registered, and what they share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from wengert.prims.facet import Facet
from wengert.prims.record import Primitive

__all__ = [
    *("COMPLEX", "DECOMPOSED", "REAL", "Dims", "Rule", "everywhere", "extent", "kept", "rule"),
]

Dims = tuple[int, ...]
Rule = Callable[..., Any]

REAL, COMPLEX = "fd", "FD"
"""The dtypes that rules take, by NumPy's letters: what is shorter sums in float32 in its kernel."""


DECOMPOSED: Facet[Rule | None] = Facet("decomposed", lambda prim: None)
"""How it is computed by simpler primitives (NOTE [decompositions] in `decompose`)."""


def rule(*prims: Primitive, kinds: str = "") -> Callable[[Rule], Rule]:
    """Register a function as the rule of primitives.

    Parameters
    ----------
    kinds
        The dtypes that every array argument of floating or complex dtype may have; of others, and
        where no argument has such a dtype, the rule is not asked. Empty: any.
    """

    def register(rule: Rule) -> Rule:
        DECOMPOSED.of(*prims)(_of_kinds(rule, kinds) if kinds else rule)
        return rule

    return register


def _of_kinds(rule: Rule, kinds: str) -> Rule:
    @functools.wraps(rule)
    def checked(F: Any, *arrays: Any, **params: Any) -> Any:
        dtypes = [array.dtype for array in arrays if hasattr(array, "dtype")]
        floats = [dtype.char for dtype in dtypes if dtype.kind not in "iub"]
        if not floats or any(char not in kinds for char in floats):
            return NotImplemented
        return rule(F, *arrays, **params)

    return checked


def everywhere(array: Any) -> Dims:
    """All dimensions of an array."""
    return tuple(range(len(array.shape)))


def extent(shape: Dims, dim: Dims) -> int:
    """The number of elements that are combined into one."""
    return math.prod([shape[i] for i in dim])


def kept(shape: Dims, dim: Dims) -> Dims:
    """`shape` with the dimensions that were combined kept, of size 1."""
    return tuple([1 if i in dim else n for i, n in enumerate(shape)])
