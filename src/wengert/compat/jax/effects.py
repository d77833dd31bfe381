"""Layer 9 · compat: what functions write to Python containers and variables, once as in a trace.

JAX calls the body of a loop once, to trace it, and a rematerialized function once for both passes.
Here they are called for each turn and each pass. What they write to the dictionaries, lists, sets
and variables that they close over, such as a counter of random keys, is written in the first call;
the later calls start from what the first one found, and leave what they wrote behind.
"""

from __future__ import annotations

import functools
import operator
import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from wengert.compat.jax.tracing import for_shapes

_OURS = __name__.partition(".")[0]
_DICTIONARIES = frozenset({dict, OrderedDict, defaultdict})
_WRITTEN = _DICTIONARIES | {list, set}
_FOLLOWED = (
    *(dict, list, set, tuple, functools.partial),
    *(types.CellType, types.FunctionType, types.MethodType),
)


class Once:
    """A function that writes to what it closes over in its first call only."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._found: list[tuple[Any, Any]] = [(x, _read(x)) for x in _held(function)]
        self._is_new = True

    def __call__(self, *args, **kwargs) -> Any:
        """Call the function."""
        if self._is_new:
            made = self._function(*args, **kwargs)
            self._found = [(x, old) for x, old in self._found if not _is_same(x, old)]
            self._is_new = False
            return made
        if not self._found:
            return self._function(*args, **kwargs)
        now = [(x, _read(x)) for x, _ in self._found]
        self.undo()
        try:
            return self._function(*args, **kwargs)
        finally:
            _write(now)

    def undo(self) -> bool:
        """Restore what the first call found; return whether it wrote anything."""
        _write(self._found)
        return bool(self._found)


def taken(branches: Sequence[Callable[..., Any]], which: int, arrays: Sequence[Any]) -> Any:
    """Return the result of a branch, and write what the others write in their turn."""
    branch = Once(branches[which])
    made = branch(*arrays)
    if branch.undo():
        for i, other in enumerate(branches):
            if i == which:
                made = other(*arrays)
            else:
                for_shapes(other)(*arrays)
    return made


def _held(function: Callable[..., Any]) -> list[Any]:
    """Return the containers and variables that a function closes over."""
    found: list[Any] = []
    stack: list[Any] = [function]
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        kind: Any = type(value)
        inside: Any
        if kind in _WRITTEN:
            inside = value.values() if kind in _DICTIONARIES else value
        elif kind is types.CellType:
            inside = _read(value)
        elif kind is types.FunctionType:
            if value.__globals__.get("__name__", "").partition(".")[0] == _OURS:
                # what the library itself writes stays
                inside = (getattr(value, "__wrapped__", None),)
            else:
                inside = *(value.__closure__ or ()), *(value.__defaults__ or ())
        elif isinstance(value, functools.partial):
            inside = value.func, value.args, value.keywords
        elif kind is types.MethodType:
            inside = value.__func__, value.__self__
        elif isinstance(value, tuple):
            inside = value
        else:
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if kind in _WRITTEN or kind is types.CellType:
            found.append(value)
        # lists of data may be long: look at each kind of item once
        if any(issubclass(kind, _FOLLOWED) for kind in set(map(type, inside))):
            stack += inside
    return found


def _read(value) -> Any:
    if type(value) is not types.CellType:
        return value.copy()
    try:
        return (value.cell_contents,)
    except ValueError:
        return ()


def _parts(content) -> list[Any]:
    if isinstance(content, set):
        return sorted(content, key=id)
    return [*content, *content.values()] if isinstance(content, dict) else [*content]


def _is_same(value, old) -> bool:
    parts, before = _parts(_read(value)), _parts(old)
    return len(parts) == len(before) and all(map(operator.is_, parts, before))


def _write(contents: list[tuple[Any, Any]]) -> None:
    for value, content in contents:
        if isinstance(value, list):
            value[:] = content
        elif type(value) is not types.CellType:
            value.clear()
            value.update(content)
        elif content:
            value.cell_contents = content[0]
        else:
            del value.cell_contents
