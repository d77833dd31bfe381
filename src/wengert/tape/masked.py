"""Layer 4 · tape: zero cotangents that meet infinite derivatives.

NOTE [masked branches]
In ``where(x > 0, x.sqrt(), 0)`` the cotangent of ``x.sqrt()`` is 0 where `x` is 0, and the local
derivative is infinite. Their product is NaN, although the value there has no influence. So below
operations that select elements (records with ``masks=True``), a zero cotangent gives 0 wherever the
rule of an element-wise operation gives NaN. This costs nothing in the common case: NumPy reports
invalid operations of a walk, such as 0 * inf, and the results of rules are searched for NaN only
after a report. They are also searched if a mask hid NaN or infinity in the forward pass, since
arithmetic with NaN is not reported.

A traced walk will run on values that it has not seen, so it always searches (the compiler's part is
NOTE [speculation] in `wengert.compiler.tracing.speculation`). Whether the results of a whole call
lie below a mask is only known when its backward pass runs; then the replacements that `Undecided`
notes are kept or dropped.
"""

from __future__ import annotations

import cmath
import weakref
from _thread import get_ident
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from wengert.interp.levels import Lifted
from wengert.kernels.select import strong_zero
from wengert.tape.base import LEAF, TensorBase

INVALID: list[int] = []
"""The threads whose walks search for NaN: almost always none."""
MASKED: list[int] = []
"""The threads whose walks have met an operation that selects elements."""
PARTS: list[int] = []
"""The threads whose next walks are parts of the walks around them."""
LEFT: list[int] = []
"""The threads whose compiled passes leave NaN to the tape."""
HIDING: weakref.WeakSet[Any] = weakref.WeakSet()
"""Nodes of masks that may hide NaN."""


class Hidden(Exception):
    """Raised by a compiled pass that leaves NaN below masks to the tape."""


class Undecided:
    """The replacements of NaN that a traced walk has made.

    Attributes
    ----------
    pairs: The result and the argument of each call of `unmasked`, and whether it was below a mask.
    masks, hides: Whether the walk has met a mask, and whether one may have hidden NaN.
    """

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any, bool]] = []
        self.masks = self.hides = False


_UNDECIDED: dict[int, Undecided] = {}


def _leave(*states: list[int]) -> list[list[int]]:
    """Take the thread out of states; return those that it was in."""
    thread = get_ident()
    left = [threads for threads in states if thread in threads]
    for threads in left:
        threads.remove(thread)
    return left


@contextmanager
def apart() -> Iterator[None]:
    """Run code outside of the walk around it, such as a forward pass that is repeated."""
    states = INVALID, MASKED, PARTS
    before = _leave(*states)
    try:
        with np.errstate(invalid="ignore"):
            yield
    finally:
        _leave(*states)
        for threads in before:
            threads.append(get_ident())


@contextmanager
def continuing() -> Iterator[None]:
    """Let walks be parts of the walk around them: masks and reports in one count in the other."""
    thread = get_ident()
    if thread in PARTS:
        yield
        return
    PARTS.append(thread)
    try:
        yield
    finally:
        PARTS.remove(thread)


@contextmanager
def undecided() -> Iterator[Undecided]:
    """Make a traced walk of this thread search as if it were below a mask."""
    thread = get_ident()
    with apart():
        found = _UNDECIDED[thread] = Undecided()
        try:
            yield found
        finally:
            del _UNDECIDED[thread]


class _Report:
    """The object to which NumPy reports invalid operations."""

    def write(self, _: str) -> None:
        search()


REPORT = _Report()


def begin_search(roots: Any, traced: bool = False) -> bool:
    """Before a walk, start to search for NaN if needed; return whether its end is not the last.

    Parameters
    ----------
    roots: The edge that the walk begins at, or a list of pairs of an edge and its cotangent.
    traced: Whether the walk is traced.
    """
    # test its set directly, since a call would slow every walk
    hiding: set[Any] = HIDING.data  # type: ignore[attr-defined]
    if not (INVALID or PARTS or hiding or traced):
        return False
    thread = get_ident()
    if thread in INVALID:
        return True
    if traced or (hiding and _leads_to_hiding(roots)):
        INVALID.append(thread)
    return thread in PARTS


def _leads_to_hiding(roots: Any) -> bool:
    """Return whether a mask of this graph may hide NaN: those of other graphs do not count."""
    stack = [edge for edge, _ in roots] if isinstance(roots, list | tuple) else [roots]
    seen: set[Any] = set()
    while stack:
        edge = stack.pop()
        # leaves have positive numbers, an `OutputEdge` has 0
        if edge is None or edge._seq > 0 or edge in seen:
            continue
        seen.add(edge)
        if edge in HIDING:
            return True
        stack += edge.edges if edge._seq else [edge.node]
    return False


def end_search(before: bool) -> None:
    """After a walk, restore what `begin_search` returned."""
    if (INVALID or MASKED) and not before:
        thread = get_ident()
        if thread in _UNDECIDED:
            _UNDECIDED[thread].masks |= thread in MASKED
        _leave(INVALID, MASKED)


def search() -> None:
    """Make the walk of this thread search for NaN from here on."""
    thread = get_ident()
    if thread not in INVALID:
        INVALID.append(thread)


def stop_search() -> None:
    """Make the walk of this thread stop searching until the next report."""
    _leave(INVALID)


def search_state() -> list[list[int]]:
    """Return what `return_to` takes to restore what the walk of this thread has met so far."""
    return [threads for threads in (INVALID, MASKED) if get_ident() in threads]


def return_to(state: list[list[int]]) -> None:
    """Let the walk of this thread be at a state of before."""
    _leave(INVALID, MASKED)
    for threads in state:
        threads.append(get_ident())


def mark(hides: bool = False, indices: Any = ()) -> None:
    """Note that the walk of this thread has met an operation that selects elements.

    An operation that `hides`, or has masks among its `indices`, selects by a separate mask, so NaN
    in unselected elements is not seen. One that selects by the values themselves gives NaN for NaN.
    """
    thread = get_ident()
    if thread in _UNDECIDED and (hides or (type(indices) is tuple and any(map(_is_mask, indices)))):
        _UNDECIDED[thread].hides = True
    if thread not in MASKED:
        MASKED.append(thread)


def _is_mask(index: Any) -> bool:
    return index is not None and getattr(index, "_payload", index).dtype.kind == "b"


def is_below_mask() -> bool:
    """Return whether the walk of this thread has met an operation that selects elements."""
    return bool(MASKED) and get_ident() in MASKED


def is_searching() -> bool:
    """Return whether the walk of this thread searches for NaN."""
    return bool(INVALID) and get_ident() in INVALID


def unmasked(F: Any, g: Any, grad: Any) -> Any:
    """Return `grad`, which a rule made of `g`, with NaN replaced by 0 where `g` is 0."""
    if grad is None:
        return grad
    thread = get_ident()
    below = thread in MASKED
    noted = _UNDECIDED.get(thread) if _UNDECIDED else None
    if not below and noted is None:
        return grad
    if not hasattr(g, "_namespace") and not hasattr(grad, "_namespace"):
        return strong_zero(grad, g)[()] if np.isnan(grad).any() else grad
    result = F.strong_zero(grad, g)
    if noted is not None:
        noted.pairs.append((result, grad, below))
    return hides(result, grad)


def may_give_nan(value: Any) -> bool:
    """Return whether a recorded tensor has elements whose derivatives may be NaN: NaN, infinity."""
    if not isinstance(value, TensorBase) or value._edge is None or value._edge is LEAF:
        return False
    payload = value._payload
    while isinstance(payload, Lifted):
        # also the example value of a trace: the trace may be abandoned, but the tensors stay
        payload = payload.array if payload.traced else next(iter(payload.contents()))
    return not cmath.isfinite(np.vdot(payload, payload))


def nan_in(array: Any) -> bool:
    """Return whether an array contains NaN."""
    size = np.vdot(array, array)
    return bool(size != size)


def hides(result: Any, *values: Any) -> Any:
    """Return `result`, noting whether a mask has selected from `values` that may hide NaN."""
    if getattr(result, "_edge", None) is not None and any(map(may_give_nan, values)):
        HIDING.add(result._edge)
    return result
