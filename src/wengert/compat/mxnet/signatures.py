"""Layer 9 · compat: what functions of MXNet show that they take.

>>> import inspect
>>> from wengert.compat.mxnet import np
>>> inspect.signature(np.arctan2)
<Signature (x1, x2, /, out=None, **kwargs)>
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["showing"]


def showing(
    function: Any, below: Callable[..., Any], arrays: Sequence[str] = (), creates: bool = False
) -> Any:
    """`function`, with the signature of what is below it, where Python knows that.

    Parameters
    ----------
    function : callable. A function of any arguments.
    below : callable. The function that it calls.
    arrays : sequence of str. The arguments of an element-wise function, which itself shows none.
    creates : bool. Whether it makes arrays: in a context, and of a dtype that is MXNet's.
    """
    one = inspect.Parameter
    if arrays:
        given = [one(name, one.POSITIONAL_ONLY) for name in arrays]
        out = one("out", one.POSITIONAL_OR_KEYWORD, default=None)
        function.__signature__ = inspect.Signature([*given, out, one("kwargs", one.VAR_KEYWORD)])
        return function
    with contextlib.suppress(TypeError, ValueError):
        shown = inspect.signature(below)
        if creates:
            kept = [part for part in shown.parameters.values() if part.name not in _NUMPYS]
            kept = [part.replace(default=None) if part.name == "dtype" else part for part in kept]
            context = one("ctx", one.KEYWORD_ONLY, default=None)
            shown = shown.replace(parameters=[*kept, context])
        function.__signature__ = shown
    return function


_NUMPYS = ("device", "like", "subok")
"""Parameters of NumPy's creation functions that MXNet's do not take."""
