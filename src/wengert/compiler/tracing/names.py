"""Layer 8 · compiler: names of the values that the interpreter's stack may hold.

NOTE [names of values]
While ``y + solve(b)`` calls `solve`, `y` is on the interpreter's stack, where nobody sees it. What
is there follows from the decision before the call, with its outcome, and from the values at that
time. So these values get names when something is put on the stack: the number of that way, and the
place among the slots of the state then and the results of the steps since. If the same way is taken
again, older values with the same name count up. Names are part of the state, since a variable of
`solve` may show `y` in the first iteration of its loop, and another value later. And they tell
which value to hand on from block to block for the addition in the end (`Carried`).

The stack may hold a list, too, which another function changes and forgets. So the objects that the
variables showed first after something was put on the stack belong to the state as long as anything
else refers to them.
"""

from __future__ import annotations

import sys
from bisect import bisect
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from wengert.compiler.ir.programs import Value
from wengert.compiler.tracing.blocks import Block

Name = tuple[int, int]


class Names:
    """The names given while there is something on the stack.

    Attributes
    ----------
    is_written: Whether memory that a named value began was written to.
    """

    def __init__(self) -> None:
        self.is_written = False
        self._objects: list[tuple[int, int, int, Any]] = []
        self._times: Counter[int] = Counter()
        self._names: dict[Value, tuple[Name, int]] = {}
        self._named: dict[Name, list[tuple[int, Value]]] = {}
        self._moment = 0

    def __contains__(self, value: Value) -> bool:
        return value in self._names

    def give(self, way: int, values: Iterable[Value | None]) -> None:
        """Name those of the values, which are in a fixed order, that have no name yet."""
        self._moment += 1
        for place, value in enumerate(values):
            if value is not None and value.constant is None and value not in self._names:
                alike = self._named.setdefault((way, place), [])
                self._names[value] = (way, place), len(alike)
                alike.append((self._moment, value))

    def show(self, way: int, objects: Iterable[Any]) -> None:
        """Name the objects, in their order, that variables show after something was put there."""
        self._times[way] += 1
        known = {id(entry[-1]) for entry in self._objects}
        self._objects += [
            (way, self._times[way], place, thing)
            for place, thing in enumerate(objects)
            if id(thing) not in known
        ]

    def shown(self) -> Iterator[tuple[Any, Any]]:
        """Yield the objects that anything else still refers to, after their names."""
        count = -1
        while count != len(self._objects):
            # what only objects held that nothing refers to goes with them
            count = len(self._objects)
            self._objects = [entry for entry in self._objects if _references(entry) > _OWN]
        for way, time, place, thing in self._objects:
            yield (way, self._times[way] - time, place), thing

    def forget(self) -> None:
        """Drop the objects."""
        self._objects = []

    def now(self) -> At:
        """Return the names as they are now."""
        return At(self, self._moment)

    def count(self, name: Name, moment: int) -> int:
        """Return how many values had a name at a moment."""
        return bisect(self._named.get(name, ()), moment, key=itemgetter(0))

    def find(self, value: Value, moment: int) -> tuple[Name, int] | None:
        """Return the name of a value at a moment, and how many later ones have the same."""
        name, place = self._names.get(value, (None, 0))
        later = -1 if name is None else self.count(name, moment) - 1 - place
        return None if name is None or later < 0 else (name, later)

    def value(self, name: Name, later: int, moment: int) -> Value | None:
        """Return the value that had a name, or None if it may have changed, or there is none."""
        place = self.count(name, moment) - 1 - later
        return None if self.is_written or place < 0 else self._named[name][place][1]


def _references(entry: tuple[int, int, int, Any]) -> int:
    return sys.getrefcount(entry[-1])


_OWN = _references((0, 0, 0, object()))


class At(NamedTuple):
    """The names at a decision."""

    names: Names
    moment: int

    def find(self, value: Value) -> Any:
        """Return the name of a value, or None."""
        return self.names.find(value, self.moment)

    def value(self, name: tuple[Name, int]) -> Value | None:
        """Return the value of a name, or None."""
        return self.names.value(name[0], name[1], self.moment)


class Carried:
    """The values on the stack that the blocks of a graph hand on, by the state between them."""

    def __init__(self) -> None:
        self._names: dict[Any, dict[Any, None]] = {}

    def __bool__(self) -> bool:
        return any(self._names.values())

    def at(self, state: Any) -> list[Value]:
        """Return the values that are handed on in a state."""
        found = [state.names.value(name) for name in self._names.get(state.key, ())]
        return [value for value in found if value is not None]

    def extend(self, blocks: Sequence[Block], inputs: Container[Value]) -> bool | None:
        """Hand on what the blocks of a trace lack; return whether anything was added.

        Return None if it is not known what some block lacks.
        """
        wanted: set[Value] = set()
        has_grown = False
        guards = [block.guard for block in blocks if block.guard is not None]
        for block, guard in zip(blocks[:0:-1], reversed(guards), strict=True):
            state = guard.state
            known = self._names.setdefault(state.key, {})
            for value in block.lacks(wanted, {*state.values}, inputs):
                name = None if state.names is None else state.names.find(value)
                if name is None:
                    return None
                has_grown |= name not in known
                known[name] = None
            found = [state.names.value(name) for name in known]
            if None in found:
                return None
            wanted = set(found)
        return None if blocks[0].lacks(wanted, set(), inputs) else has_grown
