"""Layer 8 · compiler: what functions may ask of the compiler, and forbid it."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from wengert.base.sections import fill_sections
from wengert.tape.modes import current_mode

__all__ = ["COMPILED", "disable", "is_compiling", "reset"]

F = TypeVar("F", bound=Callable[..., Any])
COMPILED: weakref.WeakSet[Any] = weakref.WeakSet()
"""All functions that are compiled."""


def is_compiling() -> bool:
    """Whether the function that asks is being traced by `compile`.

    Examples
    --------
    >>> wg.compiler.is_compiling()
    False
    """
    mode = current_mode()
    return mode is not None and mode.tracing is not None


def disable(fn: F | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """`fn` as a function that is never traced: compiled functions that call it run as they are.

    Parameters
    ----------
    fn : callable, optional. The function; without it, a decorator is returned.
    recursive : bool. Accepted for PyTorch's sake; what `fn` calls is not traced either.
    reason : str, optional. Why, for `Compiled.explain`.

    Examples
    --------
    >>> @wg.compiler.disable
    ... def report(x):
    ...     print(x.sum().item())
    >>> report(wg.ones(3))
    3.0
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        mode = current_mode()
        if mode is not None and mode.tracing is not None:
            why = f": {reason}" if reason else ""
            name = getattr(fn, "__name__", "a function")
            mode.tracing.give_up(f"{name}() is not to be compiled{why}")
        return fn(*args, **kwargs)

    return call


def reset() -> None:
    """Forget all traces of all compiled functions; they are made anew when needed.

    Examples
    --------
    >>> wg.compiler.reset()
    """
    for compiled in list(COMPILED):
        compiled.forget()


fill_sections(globals())
