"""Layer 4 · tape: zero cotangents that meet infinite derivatives.

NOTE [masked branches]
In ``where(x > 0, x.sqrt(), 0)`` the cotangent of ``x.sqrt()`` is 0 where `x` is 0, and the local
derivative infinite: their product is NaN, though the value there has no influence. So below the
operations that choose among elements (the records with ``masks=True``) a zero cotangent gives 0
wherever the rule of an element-wise operation gives NaN. Nothing is looked at as long as nothing is
wrong: a walk asks NumPy to report invalid operations, such as 0 * inf, and only once one has been
reported (or is to be expected, since a mask has hidden NaN in the forward pass, which nothing
reports) are the results of the rules that follow searched for NaN.

A walk that is traced holds for other values than those that it sees, so it searches always (what
the compiler makes of that: NOTE [speculation] in `wengert.compiler.tracing.speculation`). Whether
the results of a whole call lie below a mask is known when its backward pass runs, no sooner: what
`Undecided` notes is kept or left out then.
"""

from __future__ import annotations

import weakref
from _thread import get_ident
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from wengert.interp.levels import Lifted
from wengert.tape.base import LEAF, TensorBase

INVALID: list[int] = []
"""The threads in whose walks NaN is to be searched for: empty, nearly always."""
MASKED: list[int] = []
"""The threads whose walks have met an operation that chooses among elements."""
HIDING: weakref.WeakSet[Any] = weakref.WeakSet()
"""Nodes behind which there may be NaN, hidden by a mask."""


class Undecided:
    """What a traced walk does about NaN.

    Attributes
    ----------
    pairs: What `unmasked` gave, what it was given, and whether that was below a mask of the walk.
    masks, hides: Whether the walk has met a mask, and one that may have hidden NaN.
    """

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any, bool]] = []
        self.masks = self.hides = False


_UNDECIDED: dict[int, Undecided] = {}


@contextmanager
def undecided() -> Iterator[Undecided]:
    """Let a walk of this thread, which is traced, search as if it were below a mask."""
    thread = get_ident()
    below = thread in MASKED
    if below:
        MASKED.remove(thread)
    found = _UNDECIDED[thread] = Undecided()
    try:
        yield found
    finally:
        del _UNDECIDED[thread]
        if below:
            mark()


class _Report:
    """Where NumPy reports invalid operations to."""

    def write(self, _: str) -> None:
        search()


REPORT = _Report()


def begin_search(traced: bool = False) -> bool:
    """Before a walk: whether this thread searches for NaN already; it does so now if it must."""
    # by its set, for a call would cost every walk
    hiding: set[Any] = HIDING.data  # type: ignore[attr-defined]
    if not (INVALID or hiding or traced):
        return False
    thread = get_ident()
    if thread in INVALID:
        return True
    if hiding or traced:
        INVALID.append(thread)
    return False


def end_search(before: bool) -> None:
    """After a walk, with what `begin_search` gave."""
    if (INVALID or MASKED) and not before:
        thread = get_ident()
        if thread in _UNDECIDED:
            _UNDECIDED[thread].masks |= thread in MASKED
        for threads in (INVALID, MASKED):
            if thread in threads:
                threads.remove(thread)


def search() -> None:
    """Let the walk of this thread search for NaN from here on."""
    thread = get_ident()
    if thread not in INVALID:
        INVALID.append(thread)


def stop_search() -> None:
    """Let the walk of this thread search no more until something is reported again."""
    thread = get_ident()
    if thread in INVALID:
        INVALID.remove(thread)


def mark(hides: bool = False) -> None:
    """Note that the walk of this thread has met an operation that chooses among elements.

    One that `hides` goes by a mask of its own, and NaN among the others is not seen. What goes by
    the values themselves gives NaN for NaN.
    """
    thread = get_ident()
    if hides and thread in _UNDECIDED:
        _UNDECIDED[thread].hides = True
    if thread not in MASKED:
        MASKED.append(thread)


def is_below_mask() -> bool:
    """Whether the walk of this thread has met an operation that chooses among elements."""
    return bool(MASKED) and get_ident() in MASKED


def is_searching() -> bool:
    """Whether the walk of this thread searches for NaN."""
    return bool(INVALID) and get_ident() in INVALID


def unmasked(F: Any, g: Any, grad: Any) -> Any:
    """What a rule made of `g`, with 0 in place of NaN where `g` is 0."""
    if grad is None:
        return grad
    thread = get_ident()
    below = thread in MASKED
    noted = _UNDECIDED.get(thread) if _UNDECIDED else None
    if not below and noted is None:
        return grad
    if not hasattr(g, "_namespace") and not hasattr(grad, "_namespace"):
        bad = np.isnan(grad) & np.equal(g, 0)
        return np.where(bad, grad.dtype.type(0), grad)[()] if bad.any() else grad
    bad = F.logical_and(F.isnan(grad), F.eq(g, 0))
    result = F.where(bad, F.zeros_like(grad), grad)
    if noted is not None:
        noted.pairs.append((result, grad, below))
    return hides(result, grad)


def holds_nan(value: Any) -> bool:
    """Whether there is NaN among the elements of a tensor that operations have made."""
    if not isinstance(value, TensorBase) or value._edge is None or value._edge is LEAF:
        return False
    payload = value._payload
    while isinstance(payload, Lifted):
        # that of a trace, too, which may be given up: the tensors stay
        payload = payload.array if payload.traced else next(iter(payload.contents()))
    return nan_in(payload)


def nan_in(array: Any) -> bool:
    """Whether there is NaN among the elements of an array."""
    size = np.vdot(array, array)
    return bool(size != size)


def hides(result: Any, *values: Any) -> Any:
    """`result`, noting if one of the `values` that a mask has chosen it from holds NaN."""
    if getattr(result, "_edge", None) is not None and any(map(holds_nan, values)):
        HIDING.add(result._edge)
    return result
