"""Layer 9 · compat: which derivative follows a value innermost, and what the others see.

NOTE [custom rules in nested derivatives]
In JAX, the innermost derivative that follows an argument takes the custom rule of a function, and
removes it: the derivatives around it see what the rule computed with. One tape records all reverse
derivatives here, so what they see is made apart. Inputs of a reverse derivative inside another
derivative are marked with a number, from the counter of the levels of `jvp`; the numbers on the
history of a value, and those of its payload's levels, are the derivatives that follow it. If
several do, then the innermost takes the rule where it is called: for a `jvp`, below its level; for
a reverse derivative, by a node whose cotangent goes to the rule in its own pass, and otherwise to
the operations of the rule.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any

from wengert.compat.jax.tracing import labelled
from wengert.func.inputs import next_number
from wengert.interp.levels import levels_of
from wengert.tape.base import new_tensor, node_of
from wengert.tape.crossings import is_flat
from wengert.tape.levels import brought, move
from wengert.tape.modes import current_mode, is_recording
from wengert.tape.node import Node, edge_of, next_sequence
from wengert.tape.record import T
from wengert.tape.write_checks import REVERSE

_PASS: ContextVar[float | None] = ContextVar("pass", default=None)
"""The number of the nested reverse derivative whose backward pass runs."""
_FOLLOWING: weakref.WeakKeyDictionary[Any, frozenset[float]] = weakref.WeakKeyDictionary()
"""The reverse derivatives that follow the results of nodes."""


class Reverse:
    """A reverse derivative; it has a number if there are derivatives around it."""

    def __init__(self) -> None:
        mode = current_mode()
        nested = REVERSE.get() or (mode is not None and mode.levels)
        self._number = next_number() if nested else None

    def inputs(self, tensors: Sequence[Any]) -> Sequence[Any]:
        """Return the inputs of its function."""
        if self._number is None:
            return tensors
        return [_noted(t, following([t]) | {self._number}) for t in tensors]

    def run(self, function: Callable[..., Any], *args) -> Any:
        """Call a function that runs the backward pass."""
        if self._number is None:
            return function(*args)
        token = _PASS.set(self._number)
        try:
            return function(*args)
        finally:
            _PASS.reset(token)


def _noted(tensor, numbers: frozenset[float]) -> Any:
    made = labelled(T.alias(tensor), tensor.__class__)
    if made._edge is not None:
        _FOLLOWING[node_of(edge_of(made))] = numbers
    return made


def _duals(payload) -> frozenset[float]:
    return frozenset(n for n, level in levels_of(payload).items() if level.size is None)


def following(tensors: Iterable[Any]) -> frozenset[float]:
    """Return the numbers of the reverse derivatives that follow tensors; without one, that of a
    leaf is 0, or half above the innermost `jvp` that it belongs to.
    """
    found: set[float] = set()
    for tensor in tensors:
        edge = edge_of(tensor)
        stack = [] if edge is None else [node_of(edge)]
        while stack:
            node = stack[-1]
            if node in _FOLLOWING or node._seq > 0:
                stack.pop()
                continue
            below = [node_of(edge) for edge in node.edges if edge is not None]
            waiting = [one for one in below if one._seq <= 0 and one not in _FOLLOWING]
            stack += waiting
            if not waiting:
                _FOLLOWING[node] = frozenset().union(*map(_known, below))
        found |= frozenset() if edge is None else _known(node_of(edge))
    return frozenset(found)


def _known(node) -> frozenset[float]:
    if node._seq <= 0:
        return _FOLLOWING[node]
    return frozenset([max([n + 0.5 for n in _duals(node._payload)], default=0)])


def innermost(tensors: Sequence[Any]) -> Any:
    """Return the innermost derivative that follows tensors, the level of a `jvp` or a number.

    None for a reverse derivative that is the only one, or that has no number.
    """
    levels = {n: x for t in tensors for n, x in levels_of(t._payload).items() if x.size is None}
    reverse = following(tensors) if is_recording() else frozenset()
    if not levels and len(reverse) < 2:
        return None
    number = max([*levels, *reverse])
    return levels.get(number, None if number % 1 or not number else number)  # type: ignore[call-overload]


def below(tensors: Iterable[Any], number: float | None) -> list[Any]:
    """Return tensors for a rule, which a reverse derivative does not follow any more."""
    if number is None:
        return list(tensors)
    return [
        t if t is None or t._edge is None else _noted(t, following([t]) - {number}) for t in tensors
    ]


class _Choice(Node):
    """A value with a rule for the pass of one derivative, and operations for the others."""

    __slots__ = ("number",)
    number: float
    label = "AliasBackward0"
    gives_none = False

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give the cotangent to one of them."""
        return (g, None) if _PASS.get() == self.number else (None, g)

    apply_in = apply


def choice(ruled, plain, number: float) -> Any:
    """Return the array `plain`, whose derivative of a number is that of the array `ruled`."""
    if ruled._edge is None:
        return plain
    have = levels_of(ruled._payload)
    plain = brought(plain, [have[n] for n in sorted(have)], True)
    node = _Choice.__new__(_Choice)
    node.edges = edge_of(ruled), edge_of(plain)
    node._seq, node._ext, node.number = next_sequence(), None, number
    return labelled(new_tensor(plain._payload, node, plain._share_version()), ruled.__class__)


def parted(x, level) -> tuple[Any, Any]:
    """Return an array and its tangent, None for zero, below the level of a `jvp`."""
    primal = labelled(move("primal_of", x, level, True), x.__class__)
    if is_flat(x._payload, level):
        return primal, None
    return primal, labelled(move("tangent_of", x, level, True), x.__class__)


def joined(x, slope, level) -> Any:
    """Return an array of the level of a `jvp` with a tangent."""
    whole = brought(x, [level], True)
    slope = move("primal_of", slope, level, True)
    return labelled(T.add(whole, move("infinitesimal", slope, level, True)), x.__class__)
