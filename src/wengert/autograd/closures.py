"""Layer 7 · autograd: the tensors that a custom Function's rule closes over."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator, Sequence
from typing import Any

from wengert.autograd.reach import is_leaf, is_open, parts
from wengert.interp.levels import Level, levels_of
from wengert.tape.base import TensorBase
from wengert.tape.node import edge_of

_MANY = 200
"""The maximum number of objects searched; beyond it, some object may require a gradient."""


def names_recorded(function: Any, edges: Sequence[Any]) -> bool:
    """Return whether `function`, or something that it names, holds a tensor with a history.

    Tensors that `edges` lead to do not count.
    """
    for value in _tensors(function):
        if value is None:
            return True
        if value._edge is not None and not any(edge_of(value) is edge for edge in edges):
            return True
    return False


def levels_named(function: Any, known: Sequence[Level]) -> list[Level]:
    """Return the levels among `known` whose values `function` may hold, itself or by its names."""
    found: dict[int, Level] = {}
    for value in _tensors(function):
        if value is None:
            return list(known)
        found.update(levels_of(value._payload))
    return [level for level in known if level.number in found]


def _tensors(function: Any) -> Iterator[Any]:
    """Yield the tensors that a function names; then None if there may be more."""
    stack: list[Any] = [function]
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, TensorBase):
            yield value
            continue
        if id(value) in seen or is_leaf(value) or not is_open(value):
            continue
        seen.add(id(value))
        if len(seen) > _MANY:
            yield None
            return
        stack += _named(value)


def _named(value: Any) -> Iterator[Any]:
    if isinstance(value, types.MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(value, types.FunctionType):
        function = inspect.unwrap(value)
        for cell in value.__closure__ or ():
            # a cell may still be empty
            yield from _content(cell)
        if function is not value:
            yield function
            return
        for name in function.__code__.co_names:
            found = function.__globals__.get(name)
            # functions of libraries are not searched
            if not callable(found) or getattr(found, "__module__", None) == function.__module__:
                yield found
    else:
        yield from (part for _, part in parts(value))


def _content(cell: Any) -> Iterator[Any]:
    try:
        yield cell.cell_contents
    except ValueError:
        return
