"""Layer 9 · compat: contexts for devices, graphs and name scopes.

They only affect the names of variables.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from wengert.compat.kit.namespaces import defined

_SCOPE: ContextVar[str] = ContextVar("wengert_tf_scope", default="")


def qualified(name: str) -> str:
    """Return a name prefixed with the current name scopes."""
    return _SCOPE.get() + name


class name_scope(contextlib.ContextDecorator):
    """Return a context in which variable names begin with `name` and a slash.

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


class _Nothing(contextlib.ContextDecorator):
    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None


class device(_Nothing):
    """Return a context that names a device; all operations run on the CPU.

    Examples
    --------
    >>> with tf.device("/CPU:0"):
    ...     x = tf.constant(1.0)
    """

    def __init__(self, device_name) -> None:
        self._device_name = device_name


class control_dependencies(_Nothing):
    """Return a context that orders operations, which run in program order anyway.

    Parameters
    ----------
    control_inputs : list. Tensors, which have been computed, and functions, which are called.
    """

    def __init__(self, control_inputs) -> None:
        for value in control_inputs or ():
            if callable(value) and not hasattr(value, "dtype"):
                value()


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Return a context without effect: there is no graph to leave."""
    yield


def get_logger() -> logging.Logger:
    """Return the Python logger that receives warnings of tapes.

    Examples
    --------
    >>> tf.get_logger().name
    'tensorflow'
    """
    return logging.getLogger("tensorflow")


__all__ = defined(globals())
