"""Layer 8 · compiler: side effects of a function on numbers, lists and attributes.

NOTE [effects]
``self.calls += 1`` and ``losses.append(loss.item())`` change objects that a function reaches.
After the first trace, `Search` finds the places where the environment has changed. From then on
these places are *open*: during tracing, a number in one is a `Scalar`, an input of the program, and
a list is a `Record` of what is appended to it. The final contents of open places are among the
results of the program. Each run writes them to the same places, once nothing can fail any more
(`Log`).

An open place is a hint, not a promise. A number there is an input like any other, whatever the
function does with it. A list that is read in any way ends the trace, and is guarded by its content
again. So no analysis of how the function uses them is needed.
"""

from __future__ import annotations

import collections.abc
import sys
from collections.abc import Callable, Container, Iterable
from types import CellType, MemberDescriptorType
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.objects.reading import Part
from wengert.compiler.objects.walker import read
from wengert.compiler.tracing.leftovers import replace
from wengert.compiler.tracing.scalar import SMALL, Scalar
from wengert.compiler.tracing.state import Surroundings, is_one

DONE = object()
"""Returned for an object that needs no further conditions."""
ARGUMENTS = "arguments"
"""The holder of the arguments of the function."""
_DICTS = frozenset({dict, collections.OrderedDict, collections.defaultdict})
_NUMBERS = {int: np.dtype(np.int64), float: np.dtype(np.float64)}


class Place(NamedTuple):
    """The place of an object: in a dictionary, a list, a slot, a variable, or an argument."""

    holder: Any
    key: Any

    def get(self) -> Any:
        """Return the object in this place."""
        if type(self.holder) is CellType:
            return self.holder.cell_contents
        if type(self.key) is MemberDescriptorType:
            return self.key.__get__(self.holder)
        return self.holder[self.key]

    def put(self, value: Any) -> None:
        """Put `value` in this place."""
        if type(self.holder) is CellType:
            self.holder.cell_contents = value
        elif type(self.key) is MemberDescriptorType:
            self.key.__set__(self.holder, value)
        else:
            self.holder[self.key] = value


def place_of(holder: Any, part: Part, number: int) -> Place | None:
    """Return the place of the `number`-th part of an object, or None if it is fixed."""
    kind = type(holder)
    if kind in _DICTS and number < len(holder):
        return Place(holder, [*holder][number])
    if kind is list:
        return Place(holder, number)
    if type(part.key) is CellType:
        return Place(part.key, None)
    slot = getattr(part.key, "__self__", None)
    return Place(holder, slot) if type(slot) is MemberDescriptorType else None


class Opened(NamedTuple):
    """An open place: its old content, and its input if that is a number."""

    place: Place
    value: Any
    array: Any = None


class Added(NamedTuple):
    """A list that was appended to, and its old length."""

    held: list[Any]
    length: int


class Openings:
    """The open places that the walk of an environment meets.

    Parameters
    ----------
    paths: The expressions of conditions that lead to them.
    before: The findings of an earlier walk of the same call, used in place of the present content.
    """

    def __init__(self, paths: Iterable[str], before: Openings | None = None) -> None:
        self.paths = paths
        self.found: dict[str, Opened] = {}
        self.clashes = False
        self._before = {} if before is None else before.found
        self._lists: set[int] = set()

    def lists(self) -> set[str]:
        """Return the paths to lists."""
        return {path for path, one in self.found.items() if type(one.value) is list}

    def met(self, environment: Any, value: Any, path: str, place: Place | None) -> Any:
        """Write the conditions on the object at a place; return the object, or `DONE`."""
        if path not in self.paths or place is None:
            if id(value) in self._lists:
                # a read by another path would go unnoticed
                self.clashes = True
            return value
        known = self._before.get(path)
        if known is not None:
            value = known.value
        array = None
        if place.holder is not ARGUMENTS:
            environment.hold(place.holder)
        if type(value) in _NUMBERS and (type(value) is float or -SMALL <= value <= SMALL):
            array = np.array(value, _NUMBERS[type(value)]) if known is None else known.array
            environment.number(path, array)
        elif type(value) is list:
            if id(value) not in self._lists and environment.knows(value):
                self.clashes = True
                return value
            self._lists.add(id(value))
            environment.hold(value, path)
        self.found[path] = Opened(place, value, array)
        return DONE if array is not None or id(value) in self._lists else value


class Search:
    """The search for places that have changed since a trace began.

    Parameters
    ----------
    before: The objects as they were then.
    opened: The paths to open places.

    Attributes
    ----------
    paths: The expressions that lead to the changed places.
    """

    def __init__(self, before: Surroundings, opened: Container[str]) -> None:
        self._open = opened
        self.paths: set[str] = set()
        self._old: dict[Any, Any] = {}
        self._lists: dict[int, list[Any]] = {}
        for thing, parts in before.parts():
            if type(thing) is list:
                self._lists[id(thing)] = parts
            for n, (part, old) in enumerate(zip(read(thing).parts, parts, strict=False)):
                place = place_of(thing, part, n)
                if place is not None:
                    self._old[id(place.holder), place.key] = old
        for space, name, value in before.looked_up:
            self._old[id(space), name] = value

    def met(self, environment: Any, value: Any, path: str, place: Place | None) -> Any:
        """Note the path of a place if it has changed."""
        if place is None:
            return value
        old = self._old.get((id(place.holder), place.key), value)
        if not is_one(old, value):
            self.paths.add(path)
        if type(value) is list:
            before = self._lists.get(id(value))
            if path in self._open or (before is not None and len(value) > len(before)):
                # no path to another open place leads through its elements
                self.paths.add(path)
                environment.hold(value, path)
                return DONE
        return value


class Record:
    """A stand-in for a list that a traced function appends to.

    Attributes
    ----------
    held: The list.
    added: The appended elements.
    """

    __slots__ = ("added", "held", "length", "trace")
    __hash__ = None  # type: ignore[assignment]  # like list

    def __init__(self, trace: Any, held: list[Any]) -> None:
        self.trace = trace
        self.held = held
        self.length = len(held)
        self.added: list[Any] = []

    @property  # type: ignore[misc]  # isinstance() reads it
    def __class__(self) -> type:
        return list

    def append(self, value: Any) -> None:
        """Append one element."""
        self.extend((value,))

    def extend(self, values: Iterable[Any]) -> None:
        """Append several elements."""
        values = [*values]
        if self.trace.active:
            self.trace.forget_states()
            self.added += values
        self.held.extend(values)

    def __iadd__(self, values: Iterable[Any]) -> Record:
        self.extend(values)
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(_looked_at(self), name)


def _looked_at(record: Record) -> list[Any]:
    """Return the list itself, which ends the trace: its content is not guarded."""
    if record.trace.active:
        record.trace.reads = True
        record.trace.give_up("it reads a list that it adds to")
    return record.held


def _forwarding(name: str) -> Callable[..., Any]:
    def method(self: Record, *args: Any) -> Any:
        others = [_looked_at(arg) if type(arg) is Record else arg for arg in args]
        return getattr(_looked_at(self), name)(*others)

    return method


def _swapped(name: str) -> Callable[..., Any]:
    return lambda self, other: getattr(other, name)(_looked_at(self))


for _name in dir(list):
    if _name.startswith("__") and _name not in Record.__dict__ and _name not in dir(type):
        setattr(Record, _name, _forwarding(_name))
for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Record, _name, _forwarding(_name))
for _name in ("__repr__", "__str__", "__format__", "__reduce_ex__"):
    setattr(Record, _name, _forwarding(_name))
for _name in ("__add__", "__mul__"):
    setattr(Record, _name.replace("__", "__r", 1), _swapped(_name))


collections.abc.MutableSequence.register(Record)


def mended(thing: Any, of: Callable[[Any], Any]) -> Any:
    """Apply `of` to the parts of lists, tuples and dictionaries, in place where possible."""
    if type(thing) not in (tuple, list, dict):
        return of(thing)
    parts = [*thing.values()] if type(thing) is dict else thing
    made = [mended(part, of) for part in parts]
    if all(part is old for part, old in zip(made, parts, strict=True)):
        return thing
    if type(thing) is tuple:
        return tuple(made)
    if type(thing) is list:
        thing[:] = made
    else:
        thing.update(zip(thing, made, strict=True))
    return thing


class Log:
    """The writes of a traced function to open places.

    Attributes
    ----------
    values: The written value for each place that was written to, once the function has ended.
    """

    def __init__(self, trace: Any, opened: Iterable[Opened]) -> None:
        self._opened = [*opened]
        self._stands: list[Any] = []
        self._targets: list[Any] = []
        self._counts: list[int] = []
        self.values: list[Any] = []
        records: dict[int, Record] = {}
        for place, value, array in self._opened:
            stand = value
            if array is not None:
                stand = Scalar(trace, trace.known[id(array)], SMALL)
            elif type(value) is list:
                stand = records.setdefault(id(value), Record(trace, value))
            self._stands.append(stand)
            if place.holder is not ARGUMENTS and stand is not value:
                place.put(stand)

    def arguments(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Return the arguments with records in place of lists."""
        self._counts = self._holders()
        args, kwargs = [*args], {**kwargs}
        for (place, _, _), stand in zip(self._opened, self._stands, strict=True):
            if place.holder is ARGUMENTS:
                (args if type(place.key) is int else kwargs)[place.key] = stand
        return tuple(args), kwargs

    def _holders(self) -> list[int]:
        return [sys.getrefcount(stand) for stand in self._stands]

    def end(self, trace: Any) -> None:
        """Collect what was written, and restore all other places."""
        records: dict[int, Record] = {}
        opened, stands = self._opened, self._stands
        kept = [now > then for now, then in zip(self._holders(), self._counts, strict=False)]
        self._opened, self._stands = [], []
        for (place, value, _), stand, more in zip(opened, stands, kept, strict=False):
            if type(stand) is Record:
                records[id(stand)] = stand
                if more:
                    trace.give_up("a list that it adds to is kept elsewhere")
            if place.holder is ARGUMENTS:
                continue
            try:
                now = place.get()
            except (LookupError, ValueError, AttributeError):
                trace.give_up("it deletes what others find")
                continue
            if now is not stand:
                if type(stand) is Record:
                    trace.give_up("it puts another list in place of one that it adds to")
                self._targets.append(place)
                self.values.append(now)
            elif stand is not value:
                place.put(value)
        for record in records.values():
            if record.added:
                if len(record.held) != record.length + len(record.added):
                    trace.give_up("a list is changed in more than one way")
                self._targets.append(Added(record.held, record.length))
                self.values.append([*record.added])
                record.added.clear()
        pairs = [(record, record.held) for record in records.values()]
        records.clear()
        if pairs and trace.broken is not None:
            replace(pairs)

    def plain(self, trace: Any, result: Any) -> Any:
        """Return a result with lists in place of records."""

        def of(thing: Any) -> Any:
            if type(thing) is not Record:
                return thing
            trace.give_up("a result is a list that it adds to")
            return thing.held

        return mended(result, of) if self._opened else result

    def settle(self, values: list[Any]) -> None:
        """Replace the values that this run has written by `values`, which have their history."""
        for n, (target, value) in enumerate(zip(self._targets, values, strict=True)):
            if type(target) is Place:
                target.put(value)
                continue
            for i, (old, new) in enumerate(zip(self.values[n], value, strict=True), target.length):
                if i < len(target.held) and target.held[i] is old:
                    target.held[i] = new
        self.values = values

    def replay(self) -> Callable[[list[Any]], None]:
        """Return the function that writes values to the same places."""
        puts = [t.put if type(t) is Place else t.held.extend for t in self._targets]

        def put(values: list[Any]) -> None:
            for write, value in zip(puts, values, strict=True):
                write(value)

        return put
