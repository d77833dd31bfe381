"""Layer 0 · base: decorators that change what NumPy does about floating-point errors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

_umath = getattr(getattr(np, "_core", None), "umath", None)
_VARIABLE = getattr(_umath, "_extobj_contextvar", None)
_made: Any = getattr(_umath, "_make_extobj", None)


def errstate(**kinds: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator like ``numpy.errstate(**kinds)``, which takes four times as long.

    It makes NumPy's state object once for each state of the caller's, not for each call.
    """
    if _VARIABLE is None or _made is None:
        return np.errstate(**kinds)
    get, put, reset = _VARIABLE.get, _VARIABLE.set, _VARIABLE.reset

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        # the caller's state, which is kept so that no other one has its address, and the one here
        known: tuple[Any, Any] = (None, None)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal known
            outer, inner = known
            if outer is not get():
                inner = _made(**kinds)
                known = get(), inner
            token = put(inner)
            try:
                return function(*args, **kwargs)
            finally:
                reset(token)

        return call

    return decorated


@errstate(all="ignore")
def quietly(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function while NumPy ignores floating-point errors."""
    return function(*args, **kwargs)
