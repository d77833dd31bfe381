"""Layer 7 · autograd: which tensors the rule of a custom Function uses beside its arguments."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterator, Sequence
from typing import Any

from wengert.tape.base import TensorBase
from wengert.tape.node import edge_of

__all__ = ["names_recorded"]

_MANY = 200
"""How many objects are looked at; with more of them, some may require a gradient."""


def names_recorded(function: Any, edges: Sequence[Any]) -> bool:
    """Whether `function`, or a function or container that it names, has a tensor with a history.

    Those that `edges` lead to are known.
    """
    stack: list[Any] = [function]
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, TensorBase):
            if value.edge is not None and not any(edge_of(value) is edge for edge in edges):
                return True
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if len(seen) > _MANY:
            return True
        stack += _named(value)
    return False


def _named(value: Any) -> Iterator[Any]:
    if isinstance(value, types.MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(value, types.FunctionType):
        function = inspect.unwrap(value)
        for cell in value.__closure__ or ():
            # a cell may be empty still
            yield from _content(cell)
        if function is not value:
            yield function
            return
        for name in function.__code__.co_names:
            found = function.__globals__.get(name)
            # modules and classes are left alone, and so are functions of a library
            if isinstance(found, TensorBase | list | tuple | dict) or (
                isinstance(found, types.FunctionType) and found.__module__ == function.__module__
            ):
                yield found
    elif isinstance(value, functools.partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value
    elif isinstance(value, dict):
        yield from value.values()
    elif callable(value) and not isinstance(value, type) and hasattr(value, "__dict__"):
        yield vars(value)


def _content(cell: Any) -> Iterator[Any]:
    try:
        yield cell.cell_contents
    except ValueError:
        return
