"""Layer 8 · compiler: the arrays in the payloads of transforms, and how they nest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from wengert.compiler.tracing.sym import Sym
from wengert.interp.batched import Batched
from wengert.interp.dual import Dual
from wengert.interp.levels import Level, Lifted


class Form(NamedTuple):
    """The nesting of a payload.

    Attributes
    ----------
    level: The index of its level in a list of levels.
    parts: The forms of a batch's content, or of a value and its tangent; None for an array.
    batch: Whether it is a batch.
    flat: Whether the tangent among the parts stands for none.
    """

    level: int
    parts: tuple[Form | None, ...]
    batch: bool
    flat: bool = False


def is_of_transform(payload: Any) -> bool:
    """Return whether a payload belongs to a level: it is neither an array nor its symbol."""
    return isinstance(payload, Lifted) and not payload.traced


def contents_of(payload: Any) -> Iterator[Any]:
    """Yield the arrays, or their symbols, that a payload consists of: values before tangents."""
    if is_of_transform(payload):
        for part in payload.contents():
            yield from contents_of(part)
    else:
        yield payload


def mapped(payload: Any, function: Callable[[Any], Any]) -> Any:
    """Return a payload of the same structure, with `function` applied to its arrays."""
    if isinstance(payload, Batched):
        return Batched(mapped(payload.value, function), payload.owner)
    if isinstance(payload, Dual):
        primal = mapped(payload.primal, function)
        tangent = None if payload.tangent is None else mapped(payload.tangent, function)
        return Dual(primal, tangent, payload.owner, payload.own, payload.given)
    return function(payload)


def traces_of(payload: Any) -> set[Any]:
    """Return the traces that the symbols of a payload belong to."""
    return {part.trace for part in contents_of(payload) if isinstance(part, Sym)}


def real_payload(payload: Any) -> Any:
    """Return a payload with real arrays in place of symbols."""
    if any(isinstance(part, Sym) for part in contents_of(payload)):
        return mapped(payload, lambda part: part.array if isinstance(part, Sym) else part)
    return payload


def form_of(payload: Any, levels: Sequence[Level]) -> Form | None:
    """Return the nesting of a payload, or None for an array."""
    if not is_of_transform(payload):
        return None
    parts = tuple([form_of(part, levels) for part in payload.contents()])
    return Form(levels.index(payload.owner), parts, isinstance(payload, Batched))


def built(form: Form | None, arrays: Iterator[Any], levels: Sequence[Level]) -> Any:
    """Build a payload of the given form from `arrays`."""
    if form is None:
        return next(arrays)
    parts = [built(part, arrays, levels) for part in form.parts]
    level = levels[form.level]
    if form.batch:
        return Batched(parts[0], level)
    return Dual(parts[0], parts[1] if len(parts) == 2 else None, level)
