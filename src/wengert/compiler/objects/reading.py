"""Layer 8 · compiler: `Reading`, how a Python object is recognised as unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple


class Unknown(Exception):
    """Raised for an object that cannot be guarded; the message gives the reason.

    Attributes
    ----------
    where: The line of the user's program that leads to the object, if known.
    """

    where: tuple[str, int] | None = None


class Part(NamedTuple):
    """An object that another object refers to.

    Attributes
    ----------
    path
        An expression for the part, in which ``{0}`` is the object and ``{1}`` is `key`; empty if
        the part is not guarded, but must be unchanged when a trace ends.
    value: The current value.
    key: A constant of the expression.
    fresh: Whether the part is created by reading it, so that its identity has no meaning.
    """

    path: str
    value: Any
    key: Any = None
    fresh: bool = False


class Reading:
    """How to recognise an object as unchanged.

    Attributes
    ----------
    by
        ``"value"``: by class and equality, or by facts if there are any. ``"identity"``: by
        identity. ``"class"``: by class, facts and parts.
    facts: Expressions that must equal a plain value, as parts.
    same: Expressions that must be one particular object, as parts.
    parts: The objects that the object refers to.
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
    """Return the reading of an object that is compared by equality."""
    return _VALUE


def valued_by(key: Callable[[Any], Any]) -> Reader:
    """Return a reader for immutable objects which may differ though they are equal."""
    return lambda thing: Reading("value", (), (fact(key, thing),))


def by_identity(thing: Any) -> Reading:
    """Return the reading of an immutable object, which is compared by identity."""
    return _IDENTITY


def called(function: Callable[[Any], Any], thing: Any) -> Part:
    """Return the part that `function` computes from an object: a new object each time."""
    return Part("{1}({0})", function(thing), function, True)


def fact(function: Callable[[Any], Any], thing: Any) -> Part:
    """Return the plain value that `function` computes from an object, compared by equality."""
    return Part("{1}({0})", function(thing), function)


def made_into(function: Callable[[Any], Any]) -> Reader:
    """Return a reader for objects that are compared by the object `function` makes from them."""
    return lambda thing: Reading("class", (called(function, thing),))


def known_by(*functions: Callable[[Any], Any]) -> Reader:
    """Return a reader for objects that are compared by plain values computed from them."""
    return lambda thing: Reading("class", (), [fact(function, thing) for function in functions])


def attributes(*names: str) -> Reader:
    """Return a reader for objects that are compared by these attributes."""
    return lambda thing: Reading("class", _held(thing, names))


def plain(*names: str) -> Reader:
    """Return a reader for objects that are compared by these attributes, which are plain values."""
    return lambda thing: Reading("class", (), _held(thing, names))


def together(*readers: Reader) -> Reader:
    """Return a reader for objects that are compared by all that these readers find."""

    def read(thing: Any) -> Reading:
        found = [reader(thing) for reader in readers]
        parts = [part for reading in found for part in reading.parts]
        return Reading("class", parts, [part for reading in found for part in reading.facts])

    return read


def _held(thing: Any, names: Iterable[str]) -> list[Part]:
    return [Part(f"{{0}}.{name}", getattr(thing, name)) for name in names]
