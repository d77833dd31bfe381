"""Layer 4 · tape: whether operations are recorded, per thread and per context.

The mode is one immutable object in a context variable; None stands for the default (record), so
that the path of one operation tests it with a single ``is``.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

__all__ = [
    "MODE",
    "NO_GRAD",
    "Mode",
    "current_mode",
    "enable_grad",
    "grad_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]

F = TypeVar("F", bound=Callable[..., Any])


class Mode:
    """What differs from the default: ``grad`` is whether operations are recorded."""

    __slots__ = ("grad",)

    def __init__(self, grad: bool) -> None:
        self.grad = grad


NO_GRAD = Mode(grad=False)
"""The mode of ``no_grad``."""

MODE: ContextVar[Mode | None] = ContextVar("wengert_mode", default=None)
current_mode = MODE.get


def is_grad_enabled() -> bool:
    """Whether operations on tensors that require a gradient are recorded here and now.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.is_grad_enabled()
    True
    """
    mode = current_mode()
    return mode is None or mode.grad


def grad_mode(enabled: bool) -> Mode | None:
    """The current mode with recording switched on or off."""
    return None if enabled else NO_GRAD


class _Switch:
    """A context manager and decorator that sets the mode and restores what was before.

    One object may be entered several times, also by itself, as PyTorch's may.
    """

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[Mode | None] = []

    def __enter__(self) -> None:
        self._before.append(current_mode())
        MODE.set(grad_mode(self._enabled))

    def __exit__(self, *exc: object) -> None:
        MODE.set(self._before.pop())

    def _fresh(self) -> _Switch:
        return _Switch(self._enabled)

    def __call__(self, function: F) -> F:
        """`function` run in this mode: also a generator function, for each of its steps."""
        fresh = self._fresh
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generate(*args: Any, **kwargs: Any) -> Any:
                return _stepwise(function(*args, **kwargs), fresh)

            return generate  # type: ignore[return-value]  # keeps the signature of `function`

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with fresh():
                return function(*args, **kwargs)

        return call  # type: ignore[return-value]  # keeps the signature of `function`


def _stepwise(generator: Any, mode: Callable[[], contextlib.AbstractContextManager[None]]) -> Any:
    """Run each step of `generator` in `mode`, and its consumer outside it."""
    send: Any = functools.partial(next, generator)
    while True:
        try:
            with mode():
                value = send()
        except StopIteration as stop:
            return stop.value
        try:
            received = yield value
            send = functools.partial(generator.send, received)
        except GeneratorExit:
            with mode():
                generator.close()
            raise
        except BaseException as error:
            send = functools.partial(generator.throw, error)


class no_grad(_Switch):
    """Record nothing: a context manager, and a decorator with or without parentheses.

    The mode belongs to the thread and the context: another thread records unless it says so too.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.ones(2, requires_grad=True)
    >>> with wg.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """The context manager, or `function` decorated by it."""
        if function is None:
            return super().__new__(cls)
        return _Switch(False)(function)

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(_Switch):
    """Record again, inside `no_grad`: a context manager and a decorator.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.ones(2, requires_grad=True)
    >>> with wg.no_grad(), wg.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """The context manager, or `function` decorated by it."""
        if function is None:
            return super().__new__(cls)
        return _Switch(True)(function)

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(_Switch):
    """Switch recording on or off: at once as a function, or as a context manager or decorator.

    Examples
    --------
    >>> import wengert as wg
    >>> with wg.set_grad_enabled(False):
    ...     wg.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._at_once: Mode | None = current_mode()
        self._used = False
        MODE.set(grad_mode(self._enabled))

    def __enter__(self) -> None:
        # the constructor has switched already: leave to what was before it
        self._before.append(current_mode() if self._used else self._at_once)
        self._used = True
        MODE.set(grad_mode(self._enabled))

    def __call__(self, function: F) -> F:
        """Decorate `function`; making the decorator has not switched anything then."""
        MODE.set(self._at_once)
        return super().__call__(function)

    def __repr__(self) -> str:
        return f"set_grad_enabled(mode={self._enabled})"
