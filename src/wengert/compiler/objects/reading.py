"""Layer 8 · compiler: the reading of a Python object: its value, identity, or parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

__all__ = [
    "Part",
    "Reader",
    "Reading",
    "Unknown",
    "attributes",
    "by_identity",
    "by_value",
    "called",
    "fact",
    "known_by",
    "made_into",
]


class Unknown(Exception):
    """Raised for an object that cannot be guarded; the message says why.

    Attributes
    ----------
    where: The line of the user's program that leads to it, if it is known.
    """

    where: tuple[str, int] | None = None


class Part(NamedTuple):
    """An object that another object refers to.

    Attributes
    ----------
    path
        An expression for it, in which ``{0}`` is the object and ``{1}`` is `key`; empty where it
        only has to be as it was when a trace ends.
    value: What it is now.
    key: A constant of the expression.
    fresh: Whether it is made for the reading, so that its identity says nothing.
    """

    path: str
    value: Any
    key: Any = None
    fresh: bool = False


class Reading:
    """The description by which an object is recognised as unchanged.

    Attributes
    ----------
    by
        ``"value"``: its class, and that it is equal. ``"identity"``: that it is this object.
        ``"class"``: its class, then its facts and parts.
    facts: Expressions that are to be equal to a plain value, as parts.
    same: Expressions that are to be one object, as parts.
    parts: The objects that it leads to.
    """

    __slots__ = ("by", "facts", "parts", "same")

    def __init__(
        self,
        by: str,
        parts: Iterable[Part] = (),
        facts: Sequence[Part] = (),
        same: Sequence[Part] = (),
    ) -> None:
        self.by = by
        self.parts = list(parts)
        self.facts = facts
        self.same = same


Reader = Callable[[Any], Reading]
_VALUE = Reading("value")
_IDENTITY = Reading("identity")


def by_value(thing: Any) -> Reading:
    """The reading of what is known by being equal."""
    return _VALUE


def by_identity(thing: Any) -> Reading:
    """The reading of what never changes."""
    return _IDENTITY


def called(function: Callable[[Any], Any], thing: Any) -> Part:
    """The part that a function returns for an object, rebuilt each time."""
    return Part("{1}({0})", function(thing), function, True)


def fact(function: Callable[[Any], Any], thing: Any) -> Part:
    """A plain value that a function gives for an object."""
    return Part("{1}({0})", function(thing), function)


def made_into(function: Callable[[Any], Any]) -> Reader:
    """A reader of objects that are known by another one, which is made from them."""
    return lambda thing: Reading("class", (called(function, thing),))


def known_by(*functions: Callable[[Any], Any]) -> Reader:
    """A reader of objects that are known by plain values, which are made from them."""
    return lambda thing: Reading("class", (), [fact(function, thing) for function in functions])


def attributes(*names: str) -> Reader:
    """A reader of objects that are known by attributes."""
    return lambda thing: Reading("class", [Part(f"{{0}}.{n}", getattr(thing, n)) for n in names])
