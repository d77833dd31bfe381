"""Layer 4 · tape: how tensors and their gradients enter and leave the levels of transforms.

NOTE [one tape for all levels]
A tensor inside a transform is an ordinary tensor whose payload is a `Lifted` value, and one tape
records the tensors of all levels. Each crossing of a level's border is a node (`Move`): `vmap`
splits a batch and reassembles it, `jvp` joins a tangent to its primal. A tensor from outside that a
transformed function uses crosses the border, too, if it requires a gradient: the arguments of a
recorded operation are first brought to the levels of its result, so a cotangent always has the
levels of its tensor. For a tensor that all elements of a batch share, this means that its
cotangents are summed. An inner `grad` brings its inputs to all active levels before anything is
recorded, so its results are per element.

NOTE [sides of a level]
A backward pass works on one side of a level's border, and the side decides what its cotangents
mean. *Outside*: the pass came in through the border and differentiates values that left the level.
A `Dual` then holds the cotangents of a tangent and of its primal (NOTE [cotangents of duals] in
`wengert.interp.dual`). A tensor from outside gets the cotangent of the primal, and for a batch the
sum over its elements. *Inside*: the pass began at an output of the level and is itself part of the
transformed function. A `Dual` is then a gradient with its tangent, a batch holds one gradient per
element, and both reach tensors from outside unchanged. A pass is inside the levels of its outputs,
unless it belongs to an outer pass (a recomputation, or a rule of a custom Function) that hands it
cotangents from outside. Gradients added to ``.grad`` are sums over a batch, so there a batch is
always seen from outside.

A `local` crossing, between operations of one level, takes no side: the whole cotangent crosses. An
example is the call of a custom Function, whose rules work below the level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wengert.base.ports import provides
from wengert.interp.levels import Level, Lifted, levels_of
from wengert.tape.base import LEAF, TensorBase, alike, new_tensor
from wengert.tape.crossings import INTO, WAYS, is_flat
from wengert.tape.engine import ends_at
from wengert.tape.invalidated import Invalidated
from wengert.tape.modes import MODE, Mode, changed, current_mode, full_mode, is_recording
from wengert.tape.node import Node, edge_of, is_leaf_edge, next_sequence, target_of
from wengert.tape.record import T

_SHARED = (
    "a gradient inside of vmap or forward mode is asked for by a tensor that does not belong to "
    "the transform, and that a custom rule closes over, or that is an argument of a Function with "
    "its own vmap or of a compiled function: make the tensor an input of the transform (and an "
    "argument of the Function), or ask for the gradient outside of the transform"
)


class Sides:
    """The sides of levels that a backward pass works on (see NOTE [sides of a level])."""

    __slots__ = ("entered", "inside", "outside", "slopes", "wanted")

    def __init__(
        self, inside: Iterable[int] = (), outside: Iterable[int] = (), wanted: Any = None
    ) -> None:
        self.inside = frozenset(inside)
        self.outside = set(outside)
        # the nodes on the way to the inputs asked for, with their edges; None for all
        self.wanted = wanted
        # the levels that this pass itself has entered from outside
        self.entered: dict[int, Level] = {}
        # those that it entered through tangents
        self.slopes: set[int] = set()


class Move(Node):
    """A tensor's passage into or out of a level.

    Attributes
    ----------
    level: The level.
    local
        Whether it is part of a rule rather than of the function under the transform; "joined" where
        the parts of a value are joined from those of a program, whose absent tangents stay absent.
    way: The name of the passage, one of `WAYS`.
    """

    __slots__ = ("level", "local", "way")
    level: Level
    local: bool | str
    way: str

    @property
    def label(self) -> str:  # type: ignore[override]  # that of the node before the crossings
        """The name of the operation that made the value: PyTorch shows no crossing."""
        edge = self.edges[0]
        while edge is not None and not is_leaf_edge(edge):
            node = target_of(edge)[0]
            if not isinstance(node, Move):
                return node.label
            edge = node.edges[0]
        return "AliasBackward0"

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Move the cotangent across the border the other way."""
        way = WAYS[self.way][1]
        if self._is_zero(g):
            return (None,)
        if way in INTO:
            self._enter(g)
        elif self._is_inside():
            if not self.local:
                return (_WITHIN[way](g, self.level),)
            self._check_returns(edges)
        if isinstance(g, TensorBase):
            return (move(way, g, self.level, self.local),)
        return (WAYS[way][0](g, self.level),)

    apply_in = apply

    def _is_zero(self, g: Any) -> bool:
        """Return whether a cotangent that leaves the level contributes nothing to the result."""
        sides, number = full_mode().sides, self.level.number
        if self.way == "infinitesimal" and not self.local and sides is not None:
            # primals do not depend on tangents
            return number in sides.entered and number not in sides.slopes
        if self.way != "constant" or (self._is_inside() if not self.local else self.local is True):
            return False
        return is_flat(getattr(g, "_payload", g), self.level)

    def _is_inside(self) -> bool:
        sides = full_mode().sides
        return sides is not None and self.level.number in sides.inside

    def _check_returns(self, edges: tuple[Any, ...]) -> None:
        """Refuse to pass a cotangent that left the level to tensors from outside of it."""
        sides = full_mode().sides
        wanted = None if sides is None else sides.wanted
        stack = list(edges)
        seen: set[Any] = set()
        while stack:
            edge = stack.pop()
            if edge is None:
                continue
            node = edge.node if edge._seq == 0 else edge
            left = isinstance(node, Move) and node.level is self.level and node.way not in INTO
            if left or node in seen:
                continue
            seen.add(node)
            ended = node._seq > 0 and node._ext is not None and node._ext.ended
            if not ended and (node._seq > 0 or (wanted is not None and node not in wanted)):
                raise RuntimeError(_SHARED)
            stack += () if ended else node.edges if wanted is None else wanted[node]

    def _enter(self, g: Any) -> None:
        level = self.level
        within(level)
        if self.local:
            return
        mode = full_mode()
        sides = mode.sides
        if sides is None:
            sides = Sides()
            MODE.set(changed(mode, sides=sides))
        number = level.number
        if number in sides.inside or number in levels_of(getattr(g, "_payload", g)):
            raise RuntimeError(
                "a gradient cannot go both through a dual tensor and through the tangent or the "
                "primal that unpack_dual() took of it: ask for the two gradients one by one"
            )
        if number not in sides.outside:
            sides.outside.add(number)
            sides.entered[number] = level
        if self.way == "tangent_of":
            sides.slopes.add(number)


def _whole_rows(g: Any, level: Level) -> Any:
    """Expand per-element gradients to each element's gradient with respect to the whole batch."""
    recorded = isinstance(g, TensorBase)
    rows = move("unwrap", g, level) if recorded else new_tensor(WAYS["unwrap"][0](g, level))
    size = level.size or 0
    shape = (size, *rows._payload.shape)
    own = np.eye(size, dtype=bool).reshape((size, size, *(1,) * (len(shape) - 2)))
    whole = T.where(new_tensor(own), T.expand(T.unsqueeze(rows, dim=0), shape=shape), 0.0)
    wrapped = move("wrap", whole, level)
    return wrapped if recorded else wrapped._payload


_WITHIN: dict[str, Callable[[Any, Level], Any]] = {
    "tangent_of": lambda g, level: g,
    "primal_of": lambda g, level: None,
    "gather": lambda g, level: g,
    "unwrap": _whole_rows,
}
"""The treatment of cotangents that leave a level, by operation, in a pass inside the level."""


@provides("seeded")
def seeded(g: Any, payload: Any) -> Any:
    """Return the cotangent of an output, brought to all levels of the output."""
    found = levels_of(payload)
    order = [found[number] for number in sorted(found)]
    return (
        brought(g, order) if isinstance(g, TensorBase) else brought(new_tensor(g), order)._payload
    )


@provides("sided")
def sided(
    mode: Mode | None, seeds: Iterable[Any], given: Iterable[Any], batches: bool, wanted: Any
) -> Any:
    """Return the mode of a walk that starts from `seeds`.

    Parameters
    ----------
    seeds, given: The cotangents of the outputs, and those of them that the caller passed.
    batches: Whether to return gradients per element of a batch, rather than their sums.
    wanted: The nodes that lead to the inputs, each with its edges that do; None for all.
    """
    above = None if mode is None else mode.sides
    outside = set() if above is None else set(above.outside)
    handed = levels_of(*[getattr(g, "_payload", g) for g in given]).keys() & outside
    inside: set[int] = set()
    for number, level in levels_of(*[getattr(g, "_payload", g) for g in seeds]).items():
        if number not in handed:
            (inside if batches or level.size is None else outside).add(number)
    return changed(mode, sides=Sides(inside, outside - inside, wanted))


@provides("arrived")
def arrived(g: Any) -> Any:
    """Return the gradient of a tensor that a cotangent has reached.

    At a level that the walk entered from outside, this is the gradient of the primal alone.
    """
    mode = current_mode()
    sides = None if mode is None else mode.sides
    if sides is None or not sides.entered:
        return g
    recorded = isinstance(g, TensorBase)
    levels = levels_of(g._payload if recorded else g)
    for number, level in sides.entered.items():
        if number in levels and level.size is None:
            g = move("tangent_of", g, level) if recorded else WAYS["tangent_of"][0](g, level)
    return g


@provides("replaced")
def replaced(g: Any, part: Any) -> Any:
    """Return the cotangent `g` with the part that `arrived` returns replaced by `part`."""
    recorded, entered = isinstance(g, TensorBase), full_mode().sides.entered.values()
    have = levels_of(getattr(g, "_payload", g))
    levels = [level for level in entered if level.number in have and level.size is None]
    if levels_of(getattr(part, "_payload", part)).keys() & {level.number for level in levels}:
        raise NotImplementedError(
            "a hook cannot replace the gradient of a tensor by one with a tangent where that of a "
            "tangent is asked for: let it return None"
        )
    whole, made = (g, part) if recorded else (new_tensor(g), new_tensor(part))
    rests = []
    for level in levels:
        rests.append(move("constant", move("primal_of", whole, level, True), level, True))
        whole = move("tangent_of", whole, level, True)
    for level, rest in zip(reversed(levels), reversed(rests), strict=True):
        made = T.add(rest, move("infinitesimal", made, level, True))
    return made if recorded else made._payload


def within(level: Level) -> None:
    """Set the mode so that the following operations work on values of `level`."""
    mode = current_mode()
    known = () if mode is None else mode.levels
    if level not in known:
        levels = sorted((*known, level), key=lambda one: one.number)
        MODE.set(changed(mode, levels=tuple(levels)))


def move(way: str, tensor: Any, level: Level, local: bool | str = False) -> Any:
    """Move `tensor` across the border of `level`, and record the crossing.

    `local` marks a crossing within one level (see NOTE [sides of a level], and `Move`).
    """
    if way not in INTO and level.number not in levels_of(tensor._payload):
        if way == "unwrap":
            tensor = move("spread", tensor, level, local)
        elif way == "tangent_of":
            tensor = alike(new_tensor(tensor._payload), tensor)
    payload = WAYS[way][0](tensor._payload, level)
    if payload is tensor._payload:
        return tensor
    if way in ("primal_of", "tangent_of") and tensor._edge is not None:
        payload = _completed(payload, tensor._payload, level)
    edge: Any = None
    if tensor._edge.__class__ is Invalidated:
        # keep the edge on every level, where `make_node` refuses it
        edge = tensor._edge
    elif tensor._edge is not None and is_recording():
        edge = Move.__new__(Move)
        edge.edges = (edge_of(tensor),)
        edge._seq = next_sequence()
        edge._ext = None
        edge.level = level
        edge.local = local
        edge.way = way
    shares = way in ("wrap", "unwrap", "spread", "constant", "primal_of")
    return alike(new_tensor(payload, edge, tensor._share_version() if shares else None), tensor)


def _completed(payload: Any, whole: Any, left: Level) -> Any:
    """Return a part of the recorded `whole`, brought to all levels of `whole` except `left`."""
    have, levels = levels_of(payload), levels_of(whole)
    for number in sorted(levels.keys() - have.keys() - {left.number}):
        level = levels[number]
        payload = WAYS["constant" if level.size is None else "spread"][0](payload, level)
    return payload


@provides("brought")
def brought(tensor: Any, levels: Sequence[Level], local: bool = False) -> Any:
    """Return `tensor` as a value of all of `levels`, which it may or may not belong to."""
    have = levels_of(tensor._payload)
    for level in levels:
        if level.number not in have:
            tensor = move("constant" if level.size is None else "spread", tensor, level, local)
    return tensor


def check_levels(payloads: Sequence[Any]) -> dict[int, Level]:
    """Return the levels of `payloads`, all of which must be active."""
    found = levels_of(*payloads)
    for payload in payloads:
        if isinstance(payload, Lifted):
            # refuses values of levels that have ended
            _ = payload.dtype
    return found


@provides("settled")
def settled(tensor: Any) -> Any:
    """Return `tensor` without tangents that levels have dropped.

    The result is a new tensor, since nodes may hold the old one to differentiate values that left
    the level earlier.
    """
    under_way = full_mode().levels
    for level in levels_of(tensor._payload).values():
        if level.dropped and level not in under_way:
            tensor = move("primal_of", tensor, level)
    return tensor


@provides("raised")
def raised(tensors: list[Any], params: dict[str, Any]) -> list[Any]:
    """Return the arguments of an operation, the recorded ones at all levels of its result."""
    payloads = [tensor._payload for tensor in tensors]
    for value in params.values():
        if isinstance(value, tuple):
            payloads += value
    if not any(isinstance(payload, Lifted) and not payload.traced for payload in payloads):
        return tensors
    tensors = [settled(t) if isinstance(t._payload, Lifted) else t for t in tensors]
    payloads[: len(tensors)] = [tensor._payload for tensor in tensors]
    found = check_levels(payloads)
    if not found or not is_recording() or len(tensors) + len(payloads) == 2:
        return tensors
    order = [found[number] for number in sorted(found)]
    return [brought(t, order) if t._edge is not None else t for t in tensors]


def leads_outside(outputs: Sequence[Any], inputs: Sequence[Any], rules: bool = False) -> bool:
    """Return whether the history of `outputs` leads anywhere but to the inputs of a transform.

    An input that has a history itself leads outside, too. Inputs of transforms that have ended lead
    nowhere. With `rules`, nodes whose rules may use tensors from outside also lead there.
    """
    for tensor in inputs:
        if tensor._edge is not LEAF:
            return True
    edges = [edge_of(t) for t in outputs if isinstance(t, TensorBase) and t._edge is not None]
    return not ends_at(edges, inputs, rules, True)
