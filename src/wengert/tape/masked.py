"""Layer 4 · tape: zero cotangents that meet infinite derivatives.

NOTE [masked branches]
In ``where(x > 0, x.sqrt(), 0)`` the cotangent of ``x.sqrt()`` is 0 where `x` is 0, and the local
derivative infinite: their product is NaN, though the value there has no influence. So below the
operations that choose among elements (the records with ``masks=True``) a zero cotangent gives 0
wherever the rule of an element-wise operation gives NaN. Nothing is looked at as long as nothing is
wrong: a walk asks NumPy to report invalid operations, such as 0 * inf, and only once one has been
reported (or is to be expected, since a mask has hidden NaN in the forward pass, which nothing
reports) are the results of the rules that follow searched for NaN.
"""

from __future__ import annotations

import weakref
from _thread import get_ident
from typing import Any

import numpy as np

from wengert.interp.levels import Lifted
from wengert.tape.base import LEAF, TensorBase

__all__ = [
    "HIDING",
    "INVALID",
    "MASKED",
    "REPORT",
    "begin_search",
    "end_search",
    "hides",
    "holds_nan",
    "mark",
    "unmasked",
]

INVALID: list[int] = []
"""The threads in whose walks NaN is to be searched for: empty, nearly always."""
MASKED: list[int] = []
"""The threads whose walks have met an operation that chooses among elements."""
HIDING: weakref.WeakSet[Any] = weakref.WeakSet()
"""Nodes behind which there may be NaN, hidden by a mask."""


class _Report:
    """Where NumPy reports invalid operations to."""

    def write(self, _: str) -> None:
        thread = get_ident()
        if thread not in INVALID:
            INVALID.append(thread)


REPORT = _Report()


def begin_search() -> bool:
    """Before a walk: whether this thread searches for NaN already; it does so now if it must."""
    if not INVALID and not HIDING:
        return False
    thread = get_ident()
    if thread in INVALID:
        return True
    if HIDING:
        INVALID.append(thread)
    return False


def end_search(before: bool) -> None:
    """After a walk, with what `begin_search` gave."""
    if (INVALID or MASKED) and not before:
        thread = get_ident()
        for threads in (INVALID, MASKED):
            if thread in threads:
                threads.remove(thread)


def mark() -> None:
    """Note that the walk of this thread has met an operation that chooses among elements."""
    thread = get_ident()
    if thread not in MASKED:
        MASKED.append(thread)


def unmasked(F: Any, g: Any, grad: Any) -> Any:
    """What a rule made of `g`, with 0 in place of NaN where `g` is 0."""
    if grad is None or get_ident() not in MASKED:
        return grad
    if not hasattr(g, "namespace") and not hasattr(grad, "namespace"):
        bad = np.isnan(grad) & np.equal(g, 0)
        return np.where(bad, grad.dtype.type(0), grad)[()] if bad.any() else grad
    bad = F.logical_and(F.isnan(grad), F.eq(g, 0))
    return hides(F.where(bad, F.zeros_like(grad), grad), grad)


def holds_nan(value: Any) -> bool:
    """Whether there is NaN among the elements of a tensor that operations have made."""
    if not isinstance(value, TensorBase) or value.edge is None or value.edge is LEAF:
        return False
    if isinstance(value.payload, Lifted):
        F: Any = value.payload.namespace
        return bool(F.isnan(value.payload).any())
    size = np.vdot(value.payload, value.payload)
    return bool(size != size)


def hides(result: Any, *values: Any) -> Any:
    """`result`, noting if one of the `values` that a mask has chosen it from holds NaN."""
    if getattr(result, "edge", None) is not None and any(map(holds_nan, values)):
        HIDING.add(result.edge)
    return result
