"""Layer 8 · compiler: registration of decomposition rules, and their helpers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wengert.prims.facet import Facet
from wengert.prims.record import Primitive

Dims = tuple[int, ...]
Rule = Callable[..., Any]

REAL, COMPLEX = "fd", "FD"
"""Dtype characters that rules take; the kernels of half precision accumulate in float32."""


DECOMPOSED: Facet[Rule | None] = Facet("decomposed", lambda prim: None)
"""The decomposition into simpler primitives (NOTE [decompositions] in `decompose`)."""


def rule(*prims: Primitive, kinds: str = "", whole: bool = False) -> Callable[[Rule], Rule]:
    """Register a function as the rule of primitives.

    Parameters
    ----------
    kinds
        The dtype characters allowed for floating and complex array arguments, of which there must
        be one. Empty: any arguments.
    whole
        Whether the rule also takes arrays of one integer dtype, with number parameters that this
        dtype holds.
    """

    def register(rule: Rule) -> Rule:
        DECOMPOSED.of(*prims)(_restricted(rule, kinds, whole) if kinds else rule)
        return rule

    return register


def _restricted(rule: Rule, kinds: str, whole: bool) -> Rule:
    @functools.wraps(rule)
    def checked(F: Any, *arrays: Any, **params: Any) -> Any:
        dtypes = [array.dtype for array in arrays if hasattr(array, "dtype")]
        floats = [dtype.char for dtype in dtypes if dtype.kind not in "iub"]
        if not floats and not (whole and _are_integers(dtypes, params.values())):
            return NotImplemented
        if any(char not in kinds for char in floats):
            return NotImplemented
        return rule(F, *arrays, **params)

    return checked


def _are_integers(dtypes: Sequence[np.dtype[Any]], params: Iterable[Any]) -> bool:
    """Return whether all arrays have one integer dtype, which holds the number parameters too."""
    kinds = set(dtypes)
    if len(kinds) != 1 or dtypes[0].kind not in "iu":
        return False
    limits = np.iinfo(dtypes[0])
    return all(p is None or (type(p) is int and limits.min <= p <= limits.max) for p in params)


def everywhere(array: Any) -> Dims:
    """Return all dimensions of an array."""
    return tuple(range(len(array.shape)))


def extent(shape: Dims, dim: Dims) -> int:
    """Return the number of elements that are reduced to one."""
    return math.prod([shape[i] for i in dim])


def kept(shape: Dims, dim: Dims) -> Dims:
    """Return `shape` with the reduced dimensions kept, of size 1."""
    return tuple([1 if i in dim else n for i, n in enumerate(shape)])
