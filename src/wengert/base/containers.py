"""Layer 0 · base: flattening and rebuilding of nested lists, tuples, dicts and dataclasses."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

NODES: dict[type, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {}
"""Classes that users registered as containers: `flatten` to parts and a context, and back."""


class Structure:
    """The structure of nested containers without their leaves; immutable."""

    __slots__ = ()

    def metadata(self) -> Iterable[Any]:
        """Return the objects in the structure other than container classes."""
        raise NotImplementedError


def flatten(value: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """Flatten nested lists, tuples, dicts and dataclasses into leaves and a function that rebuilds.

    Named tuples count as tuples, and classes by attrs as dataclasses, which are copied: their own
    constructors do not run. `NODES` says how other classes are flattened and rebuilt.

    Parameters
    ----------
    value: Anything; a value that is not one of these containers is a leaf. None is an empty
        container.

    Returns
    -------
    leaves : list. In order of traversal.
    rebuild : callable. Takes as many leaves, and returns a container of the structure of `value`.
    """
    leaves: list[Any] = []
    make = _taken(value, leaves)

    def rebuild(replaced: list[Any]) -> Any:
        if len(replaced) != len(leaves):
            raise ValueError(f"expected {len(leaves)} leaves, but got {len(replaced)}")
        return make(iter(replaced))

    return leaves, rebuild


def dims_of(dims: Any, value: Any, name: str, kind: str = "in") -> Iterator[Any]:
    """Return the mapped dimension of each leaf of `value`, an input or an output as `kind` says."""
    if dims is None or (isinstance(dims, int) and not isinstance(dims, bool)):
        for _ in flatten(value)[0]:
            yield dims
        return
    pairs = _matched(dims, value)
    if pairs is None:
        raise ValueError(
            f"{name}: {kind}_dims is not compatible with the structure of `{kind}puts`: {dims!r} "
            f"for an {kind}put of type {type(value).__name__}. It is an int, None, or has the "
            f"{kind}puts' own structure."
        )
    for part, of in pairs:
        yield from dims_of(part, of, name, kind)


def aligned(value: Any, like: Any) -> list[Any] | None:
    """Return the leaves of `value` in the order of the leaves of `like`, by the keys of dicts.

    None if the structures differ; lists and tuples of the same length do not.
    """
    pairs = _matched(value, like)
    if pairs is None:
        return [value] if _opened(value) is _opened(like) is None else None
    found: list[Any] = []
    for pair in pairs:
        leaves = aligned(*pair)
        if leaves is None:
            return None
        found += leaves
    return found


def _matched(one: Any, other: Any) -> list[tuple[Any, Any]] | None:
    """Return the parts of two containers in pairs, in the order of the second."""
    opened, wanted = _opened(one), _opened(other)
    if opened is None or wanted is None or opened[0] is not wanted[0]:
        return None
    kind, names, parts = opened
    _, keys, others = wanted
    if kind is list:
        names, keys = range(len(parts)), range(len(others))
    places = dict(zip(names, parts, strict=True))
    if places.keys() != set(keys):
        return None
    return [(places[key], part) for key, part in zip(keys, others, strict=True)]


def _opened(value: Any) -> tuple[type, Collection[Any], Collection[Any]] | None:
    """Return what kind of container `value` is, the names of its parts, and the parts.

    None for a leaf; the kind is list for tuples, too.
    """
    if value is None:
        return type(None), (), ()
    if isinstance(value, dict):
        return dict, value.keys(), value.values()
    if isinstance(value, list | tuple):
        return list, getattr(value, "_fields", range(len(value))), value
    kind = type(value)
    if kind in NODES:
        parts = list(NODES[kind][0](value)[0])
        return kind, range(len(parts)), parts
    fields = field_names(value)
    return None if fields is None else (kind, fields, [getattr(value, name) for name in fields])


def _taken(value: Any, leaves: list[Any]) -> Callable[[Iterator[Any]], Any]:
    """Append the leaves of `value` to `leaves`; return a function that rebuilds it."""
    if value is None:
        return lambda source: None
    kind: Any = type(value)
    if isinstance(value, dict):
        keys = list(value)
        parts = [_taken(part, leaves) for part in value.values()]
        if kind is dict:
            return lambda source: {key: part(source) for key, part in zip(keys, parts, strict=True)}
        empty = _emptied(value)

        def filled(source: Iterator[Any]) -> Any:
            made = copy.copy(empty)
            for key, part in zip(keys, parts, strict=True):
                made[key] = part(source)
            return made

        return filled
    if isinstance(value, list | tuple):
        parts = [_taken(part, leaves) for part in value]
        if hasattr(kind, "_make"):
            return lambda source: kind._make(part(source) for part in parts)
        if kind is tuple or kind is list:
            return lambda source: kind(part(source) for part in parts)
        if isinstance(value, list):
            empty = _emptied(value)

            def extended(source: Iterator[Any]) -> Any:
                made = copy.copy(empty)
                made.extend(part(source) for part in parts)
                return made

            return extended
        # not by its constructor, which may take other arguments
        return lambda source: tuple.__new__(kind, (part(source) for part in parts))
    if kind in NODES:
        apart, together = NODES[kind]
        inner, context = apart(value)
        parts = [_taken(part, leaves) for part in inner]
        return lambda source: together([part(source) for part in parts], context)
    names = field_names(value)
    if names is not None:
        parts = [_taken(getattr(value, name), leaves) for name in names]

        return lambda source: with_fields(
            value, {name: part(source) for name, part in zip(names, parts, strict=True)}
        )
    leaves.append(value)
    return next


def field_names(value: Any) -> list[str] | None:
    """Return the fields of a dataclass instance, or of an attrs class; None for anything else.

    Fields whose metadata says ``static`` belong to the structure.
    """
    kind = type(value)
    fields = getattr(kind, "__dataclass_fields__", None)
    if fields is not None:
        fields = dataclasses.fields(kind)
    else:
        fields = getattr(kind, "__attrs_attrs__", None)
        if fields is None:
            return None
    return [field.name for field in fields if not field.metadata.get("static")]


def by_name(value: Any) -> Any:
    """Return a dataclass as a dict of its fields, and anything else unchanged."""
    names = field_names(value)
    return value if names is None else {name: getattr(value, name) for name in names}


def with_fields(value: Any, fields: dict[str, Any]) -> Any:
    """Return a copy of a dataclass with other fields; its constructor does not run."""
    made = copy.copy(value)
    for name, part in fields.items():
        object.__setattr__(made, name, part)  # a frozen dataclass refuses setattr
    return made


def _emptied(value: Any) -> Any:
    """Return a copy of an instance of a user's container class, without its elements."""
    empty = copy.copy(value)
    empty.clear()
    return empty


def paths(value: Any, name: str = "") -> list[str]:
    """Return the path of each leaf of `value`, in the order of `flatten`: ``params["w"][1]``."""
    opened = _opened(value)
    if opened is None:
        return [name]
    kind, names, parts = opened
    shown = "{}[{!r}]" if kind is dict or isinstance(names, range) else "{}.{}"
    return [
        path
        for key, part in zip(names, parts, strict=True)
        for path in paths(part, shown.format(name, key))
    ]
