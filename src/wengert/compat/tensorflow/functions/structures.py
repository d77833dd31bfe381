"""Layer 9 · compat: structures of tensors in datasets: tuples and dicts, where lists are leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["joined", "leaves", "mapped"]


def mapped(function: Callable[[Any], Any], value) -> Any:
    """A structure with `function` applied to each of its leaves."""
    if isinstance(value, dict):
        return {key: mapped(function, part) for key, part in value.items()}
    if isinstance(value, tuple):
        parts = [mapped(function, part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return function(value)


def leaves(value) -> Iterator[Any]:
    """The leaves of a structure, in order."""
    if isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def joined(function: Callable[[list[Any]], Any], values: list[Any]) -> Any:
    """Structures of one form as one, with `function` applied to the leaves of each place."""
    first = values[0]
    if isinstance(first, dict):
        return {key: joined(function, [value[key] for value in values]) for key in first}
    if isinstance(first, tuple):
        parts = [joined(function, list(column)) for column in zip(*values, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return function(values)
