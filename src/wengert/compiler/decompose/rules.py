"""Layer 8 · compiler: how rules of decomposition are registered, and what they share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

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
"""The decomposition into simpler primitives (NOTE [decompositions] in `decompose`)."""


def rule(*prims: Primitive, kinds: str = "", whole: bool = False) -> Callable[[Rule], Rule]:
    """Register a function as the rule of primitives.

    Parameters
    ----------
    kinds
        The dtypes that every array argument of floating or complex dtype may have; of others, and
        where no argument has such a dtype, the rule is not asked. Empty: any.
    whole
        Whether it is asked, too, where all arguments are whole numbers of one dtype, to which those
        among the parameters belong.
    """

    def register(rule: Rule) -> Rule:
        DECOMPOSED.of(*prims)(_of_kinds(rule, kinds, whole) if kinds else rule)
        return rule

    return register


def _of_kinds(rule: Rule, kinds: str, whole: bool) -> Rule:
    @functools.wraps(rule)
    def checked(F: Any, *arrays: Any, **params: Any) -> Any:
        dtypes = [array.dtype for array in arrays if hasattr(array, "dtype")]
        floats = [dtype.char for dtype in dtypes if dtype.kind not in "iub"]
        if not floats and not (whole and _are_whole(dtypes, params.values())):
            return NotImplemented
        if any(char not in kinds for char in floats):
            return NotImplemented
        return rule(F, *arrays, **params)

    return checked


def _are_whole(dtypes: Sequence[np.dtype[Any]], params: Iterable[Any]) -> bool:
    """Whether there are no numbers but whole ones of one dtype."""
    kinds = set(dtypes)
    if len(kinds) != 1 or dtypes[0].kind not in "iu":
        return False
    limits = np.iinfo(dtypes[0])
    return all(p is None or (type(p) is int and limits.min <= p <= limits.max) for p in params)


def everywhere(array: Any) -> Dims:
    """All dimensions of an array."""
    return tuple(range(len(array.shape)))


def extent(shape: Dims, dim: Dims) -> int:
    """The number of elements that are combined into one."""
    return math.prod([shape[i] for i in dim])


def kept(shape: Dims, dim: Dims) -> Dims:
    """`shape` with the dimensions that were combined kept, of size 1."""
    return tuple([1 if i in dim else n for i, n in enumerate(shape)])
