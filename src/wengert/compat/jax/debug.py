"""Layer 9 · compat: `jax.debug`: printing and calling Python within programs."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any, NoReturn

from wengert.compat.jax.callbacks import each_of
from wengert.compat.jax.tracing import name_of
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined
from wengert.tape.modes import untraced

_print = print


class _Formatter(string.Formatter):
    """A formatter that refuses arguments the format string does not use."""

    def check_unused_args(self, used_args: set[int | str], args, kwargs) -> None:
        unused = [i for i in range(len(args)) if i not in used_args]
        unused_names = [name for name in kwargs if name not in used_args]
        if unused or unused_names:
            raise refusal(ValueError, "Unused arguments", [args[i] for i in unused] or unused_names)


def print(fmt: str, *args, ordered=False, partitioned=False, **kwargs) -> None:
    """Print values; inside `vmap`, once for each element.

    Parameters
    ----------
    fmt : str. A format string, as for `str.format`.

    Examples
    --------
    >>> jax.grad(lambda x: jax.debug.print("x = {}", x) or x**2)(3.0)
    x = 3.0
    Array(6., dtype=float32, weak_type=True)
    """
    if not isinstance(fmt, str):
        raise TypeError(f"The first argument of jax.debug.print is a text, not {type(fmt)}")
    untraced("it prints")
    for values, named in each_of((args, kwargs)):
        _print(_Formatter().vformat(fmt, values, named))


def callback(callback: Callable[..., Any], *args, ordered=False, **kwargs) -> None:
    """Call a function with the values of arrays, and drop its result."""
    if not callable(callback):
        raise TypeError("first argument to jax.debug.callback must be callable")
    untraced(f"it calls {name_of(callback)}()")
    for values, named in each_of((args, kwargs)):
        callback(*values, **named)


def breakpoint(**options) -> NoReturn:
    """Refuse: functions run on concrete values, so use Python's own `breakpoint`.

    Raises
    ------
    NotImplementedError: Always.
    """
    raise refusal(NotImplementedError, "jax.debug.breakpoint is")


__all__ = defined(globals())
