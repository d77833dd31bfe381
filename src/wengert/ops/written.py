"""Layer 5 · ops: operations whose primitive writes in place, with their out-of-place forms.

A rule of `FORMS` checks the arguments and returns the primitive with them, for both forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from wengert.tape.record import T

Form = tuple[str, tuple[Any, ...], dict[str, Any]]
"""A primitive, its further arguments and its parameters."""
FORMS: dict[str, Callable[..., Form]] = {}
"""``form(tensor, ...)`` of each of these functions, by name."""

R = TypeVar("R", bound=Callable[..., Form])


def form(rule: R) -> R:
    """Register the rule ``_name`` of the function ``name``."""
    FORMS[rule.__name__[1:]] = rule
    return rule


def copied(x: Any, form: Form) -> Any:
    """The form that copies."""
    name, others, params = form
    return getattr(T, name)(x, *others, **params)
