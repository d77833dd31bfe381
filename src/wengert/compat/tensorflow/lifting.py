"""Layer 9 · compat: tensors under forward accumulators and under `vectorized_map`.

NOTE [what tensors show and what they are]
A tensor that a forward accumulator follows looks like any other, also after the accumulator is
closed, while the engine computes with a value that carries its tangent. So as long as an
accumulator is active, arguments are exchanged for such values when they enter an operation, and a
result is taken apart: what the user gets is the primal, and the accumulators remember the tangents.
`vectorized_map` shows its batches as they are, but what comes from outside and is watched by a tape
has to become a batch.

Where a tensor enters a level there is a node, `Join`, and where it leaves one, a `Leave`. Which way
cotangents take through them depends on where the gradient is asked for. Outside of the level (a
tape around an accumulator) the cotangent is that of a value with its tangent, and is divided
between the two; a batch's is summed. Inside of it (a tape within an accumulator, or within the
mapped function) the gradient is a value of the level itself, with its own tangent, or one for each
element of the batch, and passes unchanged.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar
from typing import Any, ClassVar

from wengert.base.dtypes import is_differentiable
from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.recording import Context, active, followed, without_history
from wengert.interp.dual import Dual
from wengert.interp.levels import Level, Lifted, levels_of
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.crossings import WAYS
from wengert.tape.levels import Move, brought, move
from wengert.tape.node import Node, next_sequence

__all__ = ["INSIDE", "BatchLift", "Lift", "Lifts", "TangentLift"]

INSIDE: ContextVar[frozenset[int]] = ContextVar("wengert_tf_inside", default=frozenset())
"""The numbers of the levels that the walk under way is inside of."""


class Join(Node):
    """Where a tensor enters a level."""

    __slots__ = ("level", "ways")
    label: ClassVar[str] = "Join"
    hands_on: ClassVar[bool] = True
    level: Level
    ways: tuple[str, ...]

    def __init__(self, edges: tuple[Any, ...], level: Level, ways: tuple[str, ...]) -> None:
        self.edges = edges
        self.level = level
        self.ways = ways
        self.seq = next_sequence()
        self.ext = None

    def apply(self, g, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """The cotangents of what entered the level."""
        if self.level.number in INSIDE.get():
            return (g, None)[: len(edges)]
        return tuple([WAYS[way][0](g, self.level) for way in self.ways])

    def apply_in(self, g, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """As `apply`, recorded where the cotangent is a tensor."""
        if not isinstance(g, TensorBase):
            return self.apply(g, keep, edges)
        if self.level.number in INSIDE.get():
            return (g, None)[: len(edges)]
        return tuple([move(way, g, self.level) for way in self.ways])


class Leave(Move):
    """Where a value without its tangent leaves a level; inside of that, cotangents pass."""

    __slots__ = ()
    label: ClassVar[str] = "Leave"

    def apply(self, g, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """The cotangent of the value in the level."""
        if self.level.number in INSIDE.get():
            return (g,)
        return super().apply(g, keep, edges)

    def apply_in(self, g, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.level.number in INSIDE.get():
            return (g,)
        return super().apply_in(g, keep, edges)


class _Memory:
    """Values by tensors or variables, as long as these live; what tells them apart is identity."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, Any]] = {}

    def get(self, key) -> Any:
        """The value for `key`, None if there is none."""
        entry = self._found.get(id(key))
        return entry[1] if entry is not None and entry[0]() is key else None

    def put(self, key, value) -> None:
        """Remember `value` as long as `key` lives."""
        place, found = id(key), self._found

        def forget(gone) -> None:
            entry = found.get(place)
            if entry is not None and entry[0] is gone:
                del found[place]

        found[place] = weakref.ref(key, forget), value


class Lift:
    """One level that tensors are lifted to.

    Parameters
    ----------
    level: The level.
    """

    def __init__(self, level: Level) -> None:
        self.level = level

    def lifted(self, shown, value, below: Lifts, context: Context) -> Any:
        """`value`, which stands for `shown` at the levels below, at this level."""
        raise NotImplementedError


class BatchLift(Lift):
    """The level of `vectorized_map`: watched tensors from outside become batches."""

    def lifted(self, shown, value, below: Lifts, context: Context) -> Any:
        if value.edge is None or self.level.number in levels_of(value.payload):
            return value
        payload = brought(new_tensor(value.payload), (self.level,)).payload
        return new_tensor(payload, Join((value.edge,), self.level, ("gather",)))


class TangentLift(Lift):
    """The level of a forward accumulator: tensors get their tangents."""

    def __init__(self, level: Level) -> None:
        super().__init__(level)
        # by tensors as the user sees them, and by the sources of variables
        self.tangents = _Memory()

    def lifted(self, shown, value, below: Lifts, context: Context) -> Any:
        tangent = self.tangents.get(shown)
        if self.level.number in levels_of(value.payload):
            return value
        if tangent is None:
            if value.edge is None:
                return value
            payload = Dual(value.payload, None, self.level)
            return new_tensor(payload, Join((value.edge,), self.level, ("tangent_of",)))
        kept = tangent.edge is not None and followed(tangent.edge, context)
        slope = below.entered(tangent, kept)
        if not kept and slope.edge is not None:
            slope = without_history(slope)
        payload = Dual(value.payload, slope.payload, self.level)
        if value.edge is None and slope.edge is None:
            return new_tensor(payload)
        edges = (value.edge, slope.edge)
        return new_tensor(payload, Join(edges, self.level, ("tangent_of", "primal_of")))


class Lifts:
    """The levels that are active, the outermost first.

    Parameters
    ----------
    stack: The levels.
    """

    __slots__ = ("stack",)

    def __init__(self, stack: tuple[Lift, ...]) -> None:
        self.stack = stack

    def inside(self, tangents: bool) -> frozenset[int]:
        """The numbers of the levels, of batches only unless `tangents`."""
        return frozenset(
            lift.level.number
            for lift in self.stack
            if tangents or not isinstance(lift, TangentLift)
        )

    def follows(self, value, payload) -> bool:
        """Whether a tensor or variable has a tangent, or carries one in its payload."""
        key = getattr(value, "handle", value)
        return any(
            isinstance(lift, TangentLift)
            and (lift.tangents.get(key) is not None or _carries(payload, lift.level))
            for lift in self.stack
        )

    def entered(self, shown, kept: bool) -> Any:
        """The value that operations compute with in place of a tensor.

        `kept` says whether the tensor's history is followed.
        """
        # rebuilt each time: a node must be younger than what made a tape watch its argument
        value = shown if kept or shown.edge is None else without_history(shown)
        context = active()
        if not self.stack or context is None or not is_differentiable(shown.payload.dtype):
            return value
        for i, lift in enumerate(self.stack):
            value = lift.lifted(shown, value, Lifts(self.stack[:i]), context)
        return value

    def shown(self, value, cls: type) -> Any:
        """What the user gets of a result: without the tangents, which are remembered.

        What is made here is an instance of `cls`, the user's class.
        """
        primal = value
        parts: list[tuple[Any, Any, Any]] = []
        for i in reversed(range(len(self.stack))):
            lift = self.stack[i]
            if isinstance(lift, TangentLift) and lift.level.number in levels_of(primal.payload):
                if _carries(primal.payload, lift.level):
                    tangent = move("tangent_of", primal, lift.level)
                    parts.append((lift, tangent, Lifts(self.stack[:i])))
                primal = move("primal_of", primal, lift.level)
                if primal.edge.__class__ is Move:
                    primal.edge.__class__ = Leave
        if primal is value:
            return value
        primal.__class__ = cls
        context = active()
        ledger = None if context is None else context.ledger
        for lift, tangent, below in parts:
            tangent.__class__ = cls
            if ledger is not None and tangent.edge is not None:
                ledger.note(tangent.edge)
            lift.tangents.put(primal, below.shown(tangent, cls))
        return primal

    def read(self, variable, tensor) -> Any:
        """The value of a variable that was read, with the tangents of the variable."""
        for lift in self.stack:
            if isinstance(lift, TangentLift):
                tangent = lift.tangents.get(variable.handle)
                if tangent is not None:
                    lift.tangents.put(tensor, tangent)
        return tensor


def _carries(payload, level: Level) -> bool:
    """Whether there is a tangent of `level` in a payload."""
    if not isinstance(payload, Lifted):
        return False
    if isinstance(payload, Dual) and payload.owner is level:
        return payload.tangent is not None
    return any(_carries(part, level) for part in payload.contents())


fill_sections(globals())
