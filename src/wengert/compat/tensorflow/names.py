"""Layer 9 · compat: name scopes, which put their name before those of variables."""

from __future__ import annotations

import contextlib
import re
from contextvars import ContextVar
from typing import Any

from wengert.base.sections import fill_sections

__all__ = ["name_scope", "qualified"]

_SCOPE: ContextVar[str] = ContextVar("wengert_tf_scope", default="")


def qualified(name: str) -> str:
    """A name with the scopes before it that it is in."""
    return _SCOPE.get() + name


class name_scope(contextlib.ContextDecorator):
    """A context in which the names of variables begin with `name` and a slash.

    Examples
    --------
    >>> with tf.name_scope("layer") as scope:
    ...     v = tf.Variable(1.0, name="w")
    >>> v.name, scope
    ('layer/w:0', 'layer/')
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        if name and not re.match(r"^[A-Za-z0-9_./>-]*$", name):
            raise ValueError(f"'{name}' is not a valid scope name")
        self._name = name
        self._tokens: list[Any] = []

    @property
    def name(self) -> str:
        """The scope's name."""
        return self._name

    def __enter__(self) -> str:
        name = self._name
        scope = name if name.endswith("/") or not name else f"{_SCOPE.get()}{name}/"
        self._tokens.append(_SCOPE.set(scope))
        return scope

    def __exit__(self, *exc: object) -> None:
        _SCOPE.reset(self._tokens.pop())


fill_sections(globals())
