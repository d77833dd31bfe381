"""Layer 8 · compiler: the state of Python at a decision, and whether it is one that was met before.

NOTE [states]
``while b.norm() < 1000: b = b * 2`` comes to the same decision again and again, with another `b`.
If nothing else has changed, what follows is the same function of `b`, and one block of code serves
all repetitions. What else there is: where each function on the stack stands, and what its local
variables hold. That is looked at, down to the elements of containers and the attributes of objects:
tensors are the *slots* of a state, everything else is its key. Not to be seen are the iterators of
``for`` loops; a decision inside of one has no state. Values that lie on the interpreter's stack are
not to be seen either, but are missed: a block that reads what is in no slot is taken for no
repetition (see `wengert.compiler.graph`).
"""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from wengert.compiler.libraries import is_of_library
from wengert.compiler.scalar import Scalar
from wengert.compiler.sym import Sym
from wengert.interp.levels import Lifted, Transforms
from wengert.tape.base import LEAF, TensorBase

__all__ = ["State", "state_of"]

_DEPTH = 8
_MOST = 2000
_PLAIN = frozenset({type(None), int, str, bool, bytes, float, complex, slice, range})
_ITERATORS = frozenset({type(iter([])), type(iter(())), type(iter(range(0)))})


class State:
    """What decides how a function goes on.

    Attributes
    ----------
    key
        All but the values; equal keys mean equal states up to these.
    values
        The values of the slots.
    tensors
        Those tensors among the slots that have a history, by the place of their slot.
    edges
        The histories that they had.
    mark
        A sequence number between the nodes that were recorded before, and after.
    """

    __slots__ = ("edges", "key", "mark", "tensors", "values")

    def __init__(self, key: Any, values: list[Any], tensors: dict[int, Any], mark: int) -> None:
        self.key = key
        self.values = values
        self.tensors = tensors
        self.edges = {place: tensor.edge for place, tensor in tensors.items()}
        self.mark = mark

    def is_kept(self) -> bool:
        """Whether its tensors still have the histories that they had, and no hooks."""
        return all(
            tensor.edge is self.edges[place] and not _has_hooks(tensor)
            for place, tensor in self.tensors.items()
        )


def _has_hooks(tensor: Any) -> bool:
    edge = tensor.edge
    if edge is LEAF:
        return tensor.ext is not None and bool(tensor.ext.hooks)
    node = edge.node if edge.seq == 0 else edge
    return node.ext is not None and bool(node.ext.tensor_hooks)


class _Unknown(Exception):
    """There is no state."""


def state_of(trace: Any, mark: int, until: CodeType) -> State | None:
    """The state of the functions that are running, down to the one whose code is `until`."""
    reader = _Reader(trace)
    frames = []
    frame: Any = sys._getframe(2)
    try:
        while frame is not None and frame.f_code is not until:
            code = frame.f_code
            if _is_in_for(code, frame.f_lasti):
                return None
            held = frame.f_locals
            inside = tuple((name, reader.key(held[name], 0)) for name in sorted(held))
            frames.append((id(code), _positions(code)[frame.f_lasti // 2], inside))
            frame = frame.f_back
        memory = tuple(reader.memory())
    except _Unknown:
        return None
    if frame is None:
        return None
    return State((tuple(frames), memory, reader.pattern()), reader.values, reader.tensors, mark)


class _Reader:
    """Reads what variables hold."""

    def __init__(self, trace: Any) -> None:
        self.trace = trace
        self.values: list[Any] = []
        self.tensors: dict[int, Any] = {}
        self._seen: dict[int, int] = {}

    def key(self, thing: Any, depth: int) -> Any:
        """What is to be compared of a thing; the values in it become slots."""
        kind = type(thing)
        if kind in _PLAIN:
            return (kind, repr(thing))
        if kind is Scalar:
            return ("number", self._slot(thing.symbol.value))
        if kind is Sym:
            return ("value", self._slot(thing.value))
        if isinstance(thing, ModuleType | FunctionType | type) or thing is self.trace:
            return id(thing)
        seen = self._seen.get(id(thing))
        if seen is not None:
            return ("again", seen)
        self._seen[id(thing)] = len(self._seen)
        if len(self._seen) > _MOST or depth > _DEPTH:
            raise _Unknown
        if isinstance(thing, TensorBase):
            return self._tensor(thing)
        if isinstance(thing, tuple | list):
            return (kind, tuple(self.key(part, depth + 1) for part in thing))
        if isinstance(thing, dict):
            parts = ((self.key(k, depth + 1), self.key(v, depth + 1)) for k, v in thing.items())
            return (kind, tuple(parts))
        if isinstance(thing, set | frozenset):
            return (kind, tuple(sorted(map(repr, thing))))
        held = getattr(thing, "__dict__", None)
        if held and not (is_of_library(kind) and not kind.__module__.startswith("wengert")):
            return (id(thing), self.key(held, depth + 1))
        if kind in _ITERATORS:
            # what it goes through, and how far it has come
            return (kind, self.key(thing.__reduce__()[1:], depth + 1))
        if hasattr(thing, "__next__"):
            raise _Unknown
        return id(thing)

    def _tensor(self, tensor: Any) -> Any:
        payload = tensor.payload
        if isinstance(payload, Lifted) and not payload.traced:
            edge = "none" if tensor.edge is None else "leaf" if tensor.edge is LEAF else "node"
            if edge == "node":
                # the nodes of a level are not followed from block to block
                raise _Unknown
            return (edge, self._payload(payload))
        if not isinstance(payload, Sym):
            # a constant, or one that nothing has been computed with
            return ("array", id(payload), None if tensor.vc is None else tensor.vc[0])
        edge = "none" if tensor.edge is None else "leaf" if tensor.edge is LEAF else "node"
        place = self._slot(payload.value)
        if edge == "node":
            self.tensors.setdefault(place, tensor)
        given = [i for i, symbol in enumerate(self.trace.given) if symbol is payload]
        return (payload.dtype, payload.shape, edge, *given)

    def _payload(self, payload: Any) -> Any:
        """What a value under transforms holds."""
        if isinstance(payload, Lifted) and not payload.traced:
            levels = [level.number for level in Transforms.levels()]
            if payload.owner.number not in levels:
                raise _Unknown
            place = levels.index(payload.owner.number)
            return (type(payload), place, tuple(map(self._payload, payload.contents())))
        if isinstance(payload, Sym):
            self._slot(payload.value)
            return (payload.dtype, payload.shape)
        return id(payload)

    def memory(self) -> Iterator[Any]:
        """What the memory of the environment holds, as far as it was written to."""
        for symbol in self.trace.given:
            writes = symbol.storage.writes
            if writes:
                self._slot(symbol.storage.value)
            yield bool(writes)

    def _slot(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def pattern(self) -> Any:
        """Which slots are equal, inputs, or constants."""
        first: dict[Any, int] = {}
        found: list[Any] = []
        inputs = {symbol.storage.origin: i for i, symbol in enumerate(self.trace.given)}
        for i, value in enumerate(self.values):
            if value.constant is not None:
                found.append(("constant", value.dtype, value.shape, value.constant.tobytes()))
            elif value in inputs:
                found.append(("input", inputs[value]))
            else:
                found.append((value.dtype, value.shape, first.setdefault(value, i)))
        return tuple(found)


@functools.lru_cache(512)
def _positions(code: CodeType) -> list[Any]:
    """The places in the source of all instructions, which the interpreter may specialise."""
    return list(code.co_positions())


@functools.lru_cache(512)
def _loops(code: CodeType) -> tuple[tuple[int, int], ...]:
    """From where to where ``for`` loops reach in a function."""
    if dis.opmap["FOR_ITER"] not in code.co_code[::2]:
        # most have none, and reading all instructions takes long
        return ()
    spans = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "FOR_ITER":
            spans.append((instruction.offset, instruction.argval))
    return tuple(spans)


def _is_in_for(code: CodeType, offset: int) -> bool:
    return any(start <= offset < end for start, end in _loops(code))
