"""Layer 8 · compiler: the state of Python at a decision, to recognise states met before.

NOTE [states]
``while b.norm() < 1000: b = b * 2`` reaches the same decision in every iteration, with another `b`.
If nothing else has changed, the rest of the run is the same function of `b`, and one block serves
all iterations. The state at a decision consists of the current instruction and the local variables
of each function on the stack, and of everything else that the function reaches. The local variables
are walked, down to the elements of containers and the attributes of objects (NOTE [objects]):
tensors are the *slots* of a state, everything else is its key. All other objects that the function
reaches must be unchanged since the trace began (`Surroundings`). Where anything is unknown, there
is no state, and the decision equals no other.

Two things are hidden: what is on the interpreter's stack (the iterators of ``for`` loops, the
number 2 in ``(2 if a else 3) * g(b)``, the end of a ``with`` statement), and what C functions hold
that call back (``sorted(parts, key=f)``). The previous decision and its outcome determine it. So
while there is any, these are part of the key, unless everything since that decision happened in a
function that the frame calls, or in the body of one ``with`` statement (`Path`). Hence a loop in a
function that a ``for`` loop calls is recognised within one iteration of the ``for`` loop, but not
across its iterations. The values that may be hidden have names (NOTE [names of values] in
`wengert.compiler.tracing.names`), which are part of the key where a slot shows one.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from wengert.base.dtypes import default_float
from wengert.base.ports import PORTS
from wengert.compiler.ir.programs import Step, Value
from wengert.compiler.objects.bytecode import place_of
from wengert.compiler.objects.closures import is_settled
from wengert.compiler.objects.contents import content_of
from wengert.compiler.objects.frames import SUSPENDED, UNKNOWN, calls, first_alike, hidden_on, stays
from wengert.compiler.objects.guards import VIEWED
from wengert.compiler.objects.reading import Unknown
from wengert.compiler.objects.walker import read, slots_of
from wengert.compiler.passes.value_numbering import constant_key, params_key
from wengert.compiler.tracing.names import At, Names
from wengert.compiler.tracing.scalar import Scalar
from wengert.compiler.tracing.sym import Sym
from wengert.interp.levels import Lifted
from wengert.tape.base import LEAF, OutputEdge, TensorBase
from wengert.tape.modes import current_mode
from wengert.tape.node import Node
from wengert.tape.versions import InferenceCell

_DEPTH = 16
_MOST = 2000
_NODES = 100
"""The most objects of the histories in a state to compare from iteration to iteration."""
MOST_STATES = 2000
"""A trace with decisions in more states than this takes longer to compile than it saves."""
_WAYS = 2000
"""The most decisions of ``for`` loops to distinguish; with more, the function is unrolled."""
_PLAIN = frozenset({type(None), int, str, bool, bytes, float, complex, range})


class Surroundings:
    """A snapshot of what a function reaches besides its local variables, at the trace's start.

    Parameters
    ----------
    walked: The objects that have parts.
    looked_up: The lookups, as pairs of a namespace and a name.
    arrays: The NumPy arrays.
    """

    def __init__(
        self,
        walked: Iterable[Any] = (),
        looked_up: Iterable[tuple[Any, str]] = (),
        arrays: Iterable[Any] = (),
    ) -> None:
        self._walked = [(thing, _shallow(thing)) for thing in walked]
        self.looked_up = [(space, name, space[name]) for space, name in looked_up]
        self._arrays = [(array, content_of(array)) for array in arrays]
        self._known = {id(thing) for thing, _ in self._walked}
        self._known |= {id(array) for array, _ in self._arrays}

    def __contains__(self, thing: Any) -> bool:
        return id(thing) in self._known

    def parts(self) -> Iterator[tuple[Any, list[Any]]]:
        """Yield the objects, each with its parts at that time."""
        for thing, (_, parts) in self._walked:
            yield thing, parts[len(read(thing).same) :]

    def hold(self, kind: type) -> bool:
        """Return whether a place in the snapshot now holds an object of a class."""
        try:
            found = [part for thing, _ in self._walked for part in _shallow(thing)[1]]
        except (AttributeError, LookupError, Unknown):
            return True
        found += [space.get(name) for space, name, _ in self.looked_up]
        return any(type(part) is kind for part in found)

    def is_written(self, array: Any) -> bool:
        """Return whether a known array has changed since the trace began."""
        return any(a is array and content_of(a) != before for a, before in self._arrays)

    def are_still(self) -> bool:
        """Return whether everything is unchanged."""
        try:
            return (
                all(space[name] is value for space, name, value in self.looked_up)
                and all(_is_alike(_shallow(thing), before) for thing, before in self._walked)
                and all(content_of(array) == before for array, before in self._arrays)
            )
        except (AttributeError, LookupError, Unknown):
            return False


def _shallow(thing: Any) -> tuple[list[Any], list[Any]]:
    """Return the plain values that identify an object, and the objects that it refers to."""
    reading = read(thing)
    facts = [part.value for part in reading.facts]
    parts = [part.value for part in reading.same]
    for part in reading.parts:
        if part.fresh:
            inner, further = _shallow(part.value)
            facts += inner
            parts += further
        else:
            parts.append(part.value)
    return facts, parts


def _is_alike(mine: tuple[list[Any], list[Any]], yours: tuple[list[Any], list[Any]]) -> bool:
    return (
        mine[0] == yours[0]
        and len(mine[1]) == len(yours[1])
        and all(map(is_one, mine[1], yours[1]))
    )


def is_one(mine: Any, yours: Any) -> bool:
    """Return whether two objects are identical, or equal plain values."""
    return mine is yours or (
        type(mine) is type(yours) and type(mine) in _PLAIN and repr(mine) == repr(yours)
    )


class State:
    """The state that determines how a function continues.

    Attributes
    ----------
    key: Everything but the values; equal keys mean equal states up to the values.
    values: The values of the slots.
    memory: The value that the memory of each slot began with.
    written: Those of the memory that was written to since the decision before.
    tensors: The tensors in the slots that have a history, by the place of their slot.
    edges: Their histories at that time.
    mark: A sequence number between the nodes recorded before and after.
    holders: During the decision, the objects that hold the values: symbols, scalars, or None.
    frames: During the decision, the frames of the running functions, the outermost first.
    hidden, sources: The numbers of their hidden state, and what pushed it (see `Path`).
    names: The names of the values that may be hidden, or None if nothing is.
    """

    __slots__ = (
        *("edges", "frames", "hidden", "holders", "key", "mark", "memory", "names", "sources"),
        *("tensors", "values", "written"),
    )

    def __init__(
        self,
        key: Any,
        reader: _Reader,
        mark: int,
        frames: Sequence[FrameType],
        hidden: Sequence[int | None],
        sources: Sequence[frozenset[int]],
        names: At | None,
    ) -> None:
        self.key = key
        self.values = reader.values
        holders = [reader.outside.get(k, holder) for k, holder in enumerate(reader.holders)]
        # a symbol gets its storage when one is asked for, and that begins with its value
        pairs = zip(holders, reader.values, strict=True)
        self.memory = [_memory_of(holder) or value for holder, value in pairs]
        self.written: set[Value] = set()
        self.tensors = reader.tensors
        self.edges = {place: tensor._edge for place, tensor in self.tensors.items()}
        self.mark = mark
        self.holders: Sequence[Any] = reader.holders
        self.frames = frames
        self.hidden, self.sources = hidden, sources
        self.names = names

    def shared(self) -> dict[Value, Value]:
        """Return the first of the slots that lie in the same memory, for each of these."""
        first: dict[Value, Value] = {}
        pairs = zip(self.values, self.memory, strict=True)
        return {value: first.setdefault(memory, value) for value, memory in pairs}

    def let_go(self) -> None:
        """Drop all references to the objects and frames of the function."""
        self.holders = self.frames = ()

    def is_kept(self) -> bool:
        """Return whether its tensors still have the same histories, and no hooks."""
        return all(
            tensor._edge is self.edges[place] and not _has_hooks(tensor)
            for place, tensor in self.tensors.items()
        )


def histories_of(trace: Any, state: State) -> Any:
    """Return what the histories in a state consist of, or None if they save computed values."""
    seen: dict[int, int] = {}
    inputs = trace.origins() if state.tensors else ()
    try:
        return tuple([_history(state.edges[place], inputs, seen) for place in state.tensors])
    except Unknown:
        return None


def _history(thing: Any, inputs: Container[Value], seen: dict[int, int]) -> Any:
    """Return the key of a part of a history: an edge, or what a node saves."""
    kind = type(thing)
    if kind in _PLAIN:
        return (kind, repr(thing))
    if kind is tuple or kind is list:
        return tuple([_history(part, inputs, seen) for part in thing])
    if isinstance(thing, np.dtype):
        return thing
    if kind is OutputEdge:
        return (thing.index, _history(thing.node, inputs, seen))
    if kind is Sym:
        if thing.memory is not None and (thing.memory.writes or thing.storage.whole is not None):
            raise Unknown("a history saves memory that was written to")
        value = thing.value
        if value.constant is None and value not in inputs:
            raise Unknown("a history saves a computed value")
        return value if value.constant is None else constant_key(value.constant)
    number = seen.get(id(thing))
    if number is not None:
        return number
    seen[id(thing)] = len(seen)
    if isinstance(thing, TensorBase):
        edge = None if thing._edge is LEAF else thing._edge
        return (id(thing), _history(thing._payload, inputs, seen), _history(edge, inputs, seen))
    if not isinstance(thing, Node) or thing._ext is not None or len(seen) > _NODES:
        raise Unknown("a history has parts of its own")
    fields = _fields(kind)  # type: ignore[arg-type]  # classes are hashable
    return kind, tuple([_history(getattr(thing, name, None), inputs, seen) for name in fields])


@functools.lru_cache(512)
def _fields(kind: Any) -> Sequence[str]:
    """Return the slots of a class of nodes that determine what they compute."""
    return [name for name in slots_of(kind) if name not in ("__weakref__", "_ext", "_seq", "site")]


def _has_hooks(tensor: Any) -> bool:
    edge = tensor._edge
    if edge is LEAF:
        return tensor._ext is not None and bool(tensor._ext.hooks)
    node = edge.node if edge._seq == 0 else edge
    return node._ext is not None and bool(node._ext.tensor_hooks)


class Path:
    """The path to a decision, as far as it determines the hidden state.

    Parameters
    ----------
    numbers: A number for each pair of state and outcome that determines hidden state.

    Attributes
    ----------
    names: The names of the values that may be hidden, or None if nothing is.
    """

    def __init__(self, numbers: dict[Any, int] | None = None) -> None:
        self._numbers = {} if numbers is None else numbers
        self._frames: Sequence[FrameType] = ()
        self._hidden: Sequence[int | None] = ()
        self._sources: Sequence[frozenset[int]] = ()
        self._last: Any = None
        self._met: dict[Any, Any] = {}
        self._unknown = 0
        self.names: Names | None = None
        self._before: Sequence[Value | None] = ()
        self._begin = 0

    def is_endless(self, state: State | None) -> bool:
        """Return whether decisions met too many states for more traces to cover."""
        self._unknown += state is None
        return len(self._met) + self._unknown > MOST_STATES

    def met(self, key: Any) -> Any:
        """Intern the key of a state: keys are large, and equal states share one object."""
        return self._met.setdefault(key, key)

    def still(self, frames: Sequence[FrameType]) -> int:
        """Return how many frames, from the outermost, have not advanced since the last decision."""
        same = 0
        for mine, yours in zip(self._frames, frames, strict=False):
            if mine is not yours:
                break
            same += 1
        # the innermost common frame may have advanced
        return max(same - 1, 0)

    def hidden(self, frames: Sequence[FrameType]) -> tuple[list[int | None], list[frozenset[int]]]:
        """Return the numbers of the hidden state of frames, None where they hide nothing.

        And the instructions that pushed what is on their stacks (`hidden_on`).
        """
        still = self.still(frames)
        found: list[int | None] = []
        sources: list[frozenset[int]] = []
        for place, frame in enumerate(frames):
            inner = frames[place + 1] if place + 1 < len(frames) else None
            # a generator that has gone on may have given values to C code
            resumed = inner is not None and bool(inner.f_code.co_flags & SUSPENDED)
            waits = place + resumed < still
            if waits:
                # it hides what it hid at the last decision
                pushed = self._sources[place]
            else:
                known = inner is None or calls(frame, inner)
                pushed = hidden_on(frame) if known else UNKNOWN
            if pushed and len(self._numbers) > _WAYS:
                raise Unknown("there are too many ways to its decisions")
            kept = waits or (
                place < len(self._frames)
                and self._frames[place] is frame
                and self._sources[place] == pushed
                and stays(frame.f_code, pushed)
            )
            number = self._hidden[place] if pushed and kept else None
            if pushed and number is None:
                number = self._numbers.setdefault(self._last, len(self._numbers))
            sources.append(pushed)
            found.append(number)
        # a frame that has returned would keep its variables
        self._frames = self._frames[: still + 1]
        return found, sources

    def decided(self, state: State, outcome: Any, count: int) -> None:
        """Continue the path from a decision, when the trace has `count` items."""
        self._frames, self._hidden, self._sources = state.frames, state.hidden, state.sources
        self._last = state.key, outcome
        self._before = [*state.values, *[_memory_of(holder) for holder in state.holders]]
        self._begin = count

    def name(
        self, numbers: Sequence[int | None], items: Sequence[Any], reader: _Reader
    ) -> tuple[At | None, Any]:
        """Name what may have been put on the stack since the last decision.

        Parameters
        ----------
        numbers: The numbers of the hidden state of the frames, now.
        items: The items of the trace.
        reader: What has read the variables.

        Returns
        -------
        names: The names of values, if anything is hidden.
        objects: The key of the objects that may be hidden.
        """
        now = {number for number in numbers if number is not None}
        if not now:
            self.end_names()
            return None, None
        self.names = self.names or Names()
        shown, seen = [*reader.containers], self.names.shown()
        objects = tuple([(name, reader.key(thing, 0)) for name, thing in seen])
        for number in now.difference(self._hidden):
            values = [*self._before]
            for item in items[self._begin :]:
                values += item.outs if type(item) is Step else [item.value]
            self.names.give(number, values)
            self.names.show(number, shown)
        return self.names.now(), objects

    def end_names(self) -> None:
        """Forget the names, and drop the objects that have some."""
        if self.names is not None:
            self.names.forget()
        self.names = None

    def end(self) -> None:
        """Drop the frames and objects."""
        self._frames = ()
        self.end_names()


def state_of(trace: Any, mark: int, until: CodeType) -> State | None:
    """Return the state of the running functions, down to the one with the code `until`, or None."""
    if not trace.surroundings.are_still():
        return None
    running: list[FrameType] = []
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code is not until:
        running.append(frame)
        frame = frame.f_back
    if frame is None:
        return None
    frames: list[Any] = []
    reader = _Reader(trace, [frame.f_code for frame in running])
    try:
        for frame in running:
            code, held = frame.f_code, frame.f_locals
            inside = tuple([(name, reader.key(held[name], 0)) for name in sorted(held)])
            frames.append((id(code), first_alike(code, place_of(frame)), inside))
        memory = tuple(reader.memory())
        running.reverse()
        numbers, sources = trace.path.hidden(running)
        names, objects = trace.path.name(numbers, trace.items, reader)
    except Unknown:
        return None
    mode = current_mode()
    # a `finally` is left in another way while an error is handled
    error = sys.exc_info()[0]
    modes = (None if mode is None else (mode.grad, mode.special), default_float(), error)
    key = (
        tuple(frames),
        memory,
        modes,
        reader.pattern(),
        reader.sharing(),
        tuple(numbers),
        reader.names(names),
        objects,
    )
    return State(trace.path.met(key), reader, mark, running, numbers, sources, names)


class _Reader:
    """Reads the contents of variables into keys and slots."""

    def __init__(self, trace: Any, running: Sequence[CodeType]) -> None:
        self.trace = trace
        self.running = running
        self.values: list[Any] = []
        self.holders: list[Any] = []
        self.tensors: dict[int, Any] = {}
        self.containers: list[Any] = []
        self.outside: dict[int, Sym] = {}
        self._seen: dict[int, int] = {}
        pairs = zip(trace.reached, trace.versions, strict=True)
        self._before = {id(tensor._vc): count for tensor, count in pairs if tensor._vc is not None}
        self._cells: dict[int, int] = {}

    def key(self, thing: Any, depth: int, fresh: bool = False) -> Any:
        """Return the key of a thing; the values in it become slots."""
        kind = type(thing)
        if kind in _PLAIN:
            return (kind, repr(thing))
        if kind is Scalar:
            return ("number", self._slot(thing.symbol.value, thing))
        if kind is Sym:
            return ("value", self._slot(thing.value, thing))
        if thing is self.trace or kind is ModuleType or thing in self.trace.surroundings:
            return id(thing)
        if not fresh:
            seen = self._seen.get(id(thing))
            if seen is not None:
                return ("again", seen)
            self._seen[id(thing)] = len(self._seen)
        if len(self._seen) > _MOST or depth > _DEPTH:
            raise Unknown("there are too many objects")
        if isinstance(thing, TensorBase):
            known = any(thing is tensor for tensor in self.trace.reached)
            carried = None if known else self._carried(thing, depth)
            return kind, self._tensor(thing), self._counted(thing), carried
        if kind is dict and not thing:
            # the attributes of most functions
            return (kind,)
        reading = read(thing)
        if reading.by == "value":
            values = [part.value for part in reading.facts]
            return (kind, *(values or [_bits(thing) if isinstance(thing, np.generic) else thing]))
        if not fresh:
            self.containers.append(thing)
        facts = tuple([_frozen(part.value) for part in reading.facts])
        same = tuple([id(part.value) for part in reading.same])
        parts = tuple([self.key(p.value, depth + 1, p.fresh) for p in reading.parts])
        identity = id(thing) if reading.by == "identity" else None
        if kind is FunctionType and is_settled(thing, self.running):
            # it was made in this run, and does what another one of this code does
            identity = id(thing.__code__)
        return (kind, identity, facts, same, parts)

    def _tensor(self, tensor: Any) -> Any:
        payload = tensor._payload
        edge = "none" if tensor._edge is None else "leaf" if tensor._edge is LEAF else "node"
        if isinstance(payload, Lifted) and not payload.traced:
            if edge == "node":
                # the nodes of a level are not tracked from block to block
                raise Unknown("it belongs to a level")
            return (edge, self._payload(payload))
        if not isinstance(payload, Sym):
            # a constant, or an array that the trace has not used
            return ("array", id(payload), None if tensor._vc is None else tensor._vc[0])
        place = self._slot(payload.value, payload)
        if edge == "node":
            self.tensors.setdefault(place, tensor)
        given = [i for i, symbol in enumerate(self.trace.given) if symbol is payload]
        return (payload.dtype, payload.shape, edge, *given)

    def _counted(self, tensor: Any) -> Any:
        """Return which tensors count writes together, and whether there were any."""
        cell = tensor._vc
        number = self._cells.setdefault(id(tensor if cell is None else cell), len(self._cells))
        if cell.__class__ is InferenceCell:
            return number, "inference"
        return number, cell is not None and cell[0] != self._before.get(id(cell), 0)

    def _carried(self, tensor: Any, depth: int) -> Any:
        """Return the key of a tensor's state besides its value."""
        if getattr(tensor, "__dict__", None):
            raise Unknown("a tensor has attributes of its own")
        ext = tensor._ext
        if ext is None:
            return _NOTHING
        if ext.hooks or ext.post_hooks or ext.watchpoint is not None:
            raise Unknown("a tensor has hooks")
        grad = None if ext.grad is None else self.key(ext.grad, depth + 1)
        return ext.base is None, ext.state(VIEWED), ext.stale, grad

    def _payload(self, payload: Any) -> Any:
        """Return the key of the payload of a tensor under transforms."""
        if isinstance(payload, Lifted) and not payload.traced:
            levels = [level.number for level in PORTS.levels()]
            if payload.owner.number not in levels:
                raise Unknown("it belongs to a level")
            place = levels.index(payload.owner.number)
            return (type(payload), place, tuple(map(self._payload, payload.contents())))
        if isinstance(payload, Sym):
            self._slot(payload.value, payload)
            return (payload.dtype, payload.shape)
        return id(payload)

    def memory(self) -> Iterator[Any]:
        """Make slots of written memory of the environment; yield what happened to it."""
        for symbol in self.trace.given:
            writes = symbol.storage.writes
            if writes:
                self.outside[self._slot(symbol.storage.value, None)] = symbol
            yield bool(writes)
        for tensor in self.trace.reached:
            yield tensor._ext is not None and tensor._ext.grad is not None, self._counted(tensor)

    def _slot(self, value: Any, holder: Any) -> int:
        self.values.append(value)
        self.holders.append(holder)
        return len(self.values) - 1

    def pattern(self) -> Any:
        """Return which slots are equal, inputs, or constants, and how they lie in memory."""
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
        steps = [h.array.strides if type(h) is Sym else None for h in self.holders]
        return tuple(found), tuple(steps)

    def sharing(self) -> Any:
        """Return which slots alias an input or each other, and by which views."""
        given = {~i: symbol for i, symbol in enumerate(self.trace.given)}
        held = {id(thing): i for i, thing in enumerate(self.holders) if type(thing) is Sym}
        for symbol in given.values():
            held.pop(id(symbol), None)
        shown: dict[Any, list[Any]] = {}
        for place, symbol in [*given.items(), *((i, self.holders[i]) for i in held.values())]:
            if symbol.memory is not None:
                shown.setdefault(symbol.memory, []).append((place, _chain_of(symbol)))
        return tuple([tuple(group) for group in shown.values() if len(group) > 1])

    def names(self, known: At | None) -> Any:
        """Return the names of the slots and of their memory (NOTE [names of values])."""
        if known is None:
            return None
        found: list[Any] = []
        for i, (value, holder) in enumerate(zip(self.values, self.holders, strict=True)):
            name, first = known.find(value), _memory_of(holder)
            memory = None if first is None else known.find(first)
            if name is not None or memory is not None:
                found.append((i, name, memory, None if memory is None else _chain_of(holder)))
        return tuple(found)


def _memory_of(holder: Any) -> Value | None:
    """Return the value that the memory of a slot began with, or None."""
    return None if type(holder) is not Sym or holder.memory is None else holder.memory.first


def _chain_of(symbol: Sym) -> Any:
    return tuple([(prim.name, params_key(params)) for prim, params in symbol.chain])


_NOTHING = (True, None, False, False, None, None)
"""The state of nearly all tensors besides their values."""


def _frozen(thing: Any) -> Any:
    """Return a hashable plain value."""
    if type(thing) not in (list, tuple):
        return thing
    return tuple([part if type(part) is str else _frozen(part) for part in thing])


def _bits(number: Any) -> Any:
    return str(number.dtype), number.tobytes()
