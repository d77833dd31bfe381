"""Layer 9 · compat: `jax.experimental.checkify`: checks whose failures are values.

The active `checkify` records a failed check, and the function continues; without one the check
raises. Under `vmap` the first element that fails is reported.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.compat.jax.callbacks import values_of
from wengert.compat.jax.classes import is_traced
from wengert.compat.jax.tracing import argument, check_callable
from wengert.compat.jax.trees import register, tree_leaves, tree_map
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined
from wengert.tape.modes import untraced

user_checks = frozenset({"check"})
"""The checks made by `check`."""
_AUTOMATIC = "only the checks of checkify.check are made: for NaN write jax.debug_nans"
ErrorCategory = str
nan_checks, div_checks = frozenset({"nan"}), frozenset({"div"})
index_checks = frozenset({"index"})
float_checks = nan_checks | div_checks
automatic_checks = float_checks | index_checks
all_checks = automatic_checks | user_checks
"""Names of other checks, which `checkify` refuses."""


class JaxRuntimeError(ValueError):
    """A check that failed."""


class Error:
    """The first failed check, if any; `checkify` returns it along with the output.

    Examples
    --------
    >>> from wengert.compat.jax.experimental import checkify
    >>> def f(x):
    ...     checkify.check(x > 0, "x is {x}", x=x)
    ...     return x
    >>> error, out = checkify.checkify(f)(jax.numpy.float32(-1))
    >>> error.get()
    'x is -1.0 (`check` failed)'
    """

    def __init__(self, message: str | None = None) -> None:
        self._message = message

    def get(self) -> str | None:
        """Return the message of the failed check, or None."""
        return self._message

    def throw(self) -> None:
        """Raise if a check failed.

        Raises
        ------
        JaxRuntimeError: With the message of the check.
        """
        if self._message is not None:
            raise JaxRuntimeError(self._message)

    def __repr__(self) -> str:
        return f"Error({self._message or ''})"


register(Error, lambda error: ((), error.get()), lambda message, _: Error(message))
_CHECKED: ContextVar[list[str] | None] = ContextVar("checked", default=None)


def check(pred, msg: str, *fmt_args, debug=False, **fmt_kwargs) -> None:
    """Record, or raise, that a condition does not hold.

    Parameters
    ----------
    pred : bool or Array. The condition, a scalar.
    msg : str. The message, a format string as for `str.format`.
    *fmt_args, **fmt_kwargs: Arrays to format into the message.
    """
    condition = argument(pred)
    if condition._payload.ndim:
        raise TypeError(f"checkify.check takes a scalar pred, got {pred}")
    if condition._payload.dtype.kind != "b":
        raise TypeError(f"checkify.check pred must be a boolean, got {condition.aval.str_short()}")
    for leaf in tree_leaves((fmt_args, fmt_kwargs)):
        if not (is_traced(leaf) or hasattr(leaf, "dtype")):
            raise refusal(TypeError, "Formatting arguments to", leaf)
    untraced("it checks values")
    found = np.asarray(values_of(condition))
    if found.all():
        return
    at = np.unravel_index(int(np.argmin(found)), found.shape)

    def one(value) -> Any:
        value = np.asarray(value)
        return value[at] if at and value.shape[: len(at)] == found.shape else value

    args, kwargs = tree_map(one, values_of((fmt_args, fmt_kwargs)))
    text = f"{msg.format(*args, **kwargs)} (`check` failed)"
    noted = _CHECKED.get()
    if noted is not None:
        noted.append(text)
    elif not debug:
        raise JaxRuntimeError(text)


debug_check = functools.partial(check, debug=True)


def check_error(error: Error) -> None:
    """Record, or raise, an error that `checkify` has returned."""
    if not isinstance(error, Error):
        raise ValueError(f"check_error takes an Error, got {error!r}")
    text = error.get()
    noted = _CHECKED.get()
    if text is not None and noted is not None:
        noted.append(text)
    elif noted is None:
        error.throw()


def checkify(f: Callable[..., Any], errors=user_checks) -> Callable[..., Any]:
    """Return a function that returns an `Error` and the result of `f`.

    Parameters
    ----------
    f : callable. It may call `check`.
    errors: `user_checks`; or an empty set, which ignores all checks.
    """
    check_callable(f)
    if not set(errors) <= user_checks:
        raise NotImplementedError(_AUTOMATIC)

    @functools.wraps(f)
    def checked(*args, **kwargs) -> Any:
        noted: list[str] = []
        token = _CHECKED.set(noted)
        try:
            out = f(*args, **kwargs)
        finally:
            _CHECKED.reset(token)
        return Error(noted[0] if noted and errors else None), out

    return checked


__all__ = [*defined(globals()), "ErrorCategory", "debug_check"]
__all__ += [name for name in globals() if name.endswith("_checks")]
