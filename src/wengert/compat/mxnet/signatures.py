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


def showing(function: Any, below: Callable[..., Any], arrays: Sequence[str] = ()) -> Any:
    """`function`, with the signature of what is below it, where Python knows that.

    Parameters
    ----------
    function : callable. A function of any arguments.
    below : callable. What it calls.
    arrays : sequence of str. The arguments of an element-wise function, which itself shows none.
    """
    one = inspect.Parameter
    if arrays:
        given = [one(name, one.POSITIONAL_ONLY) for name in arrays]
        out = one("out", one.POSITIONAL_OR_KEYWORD, default=None)
        function.__signature__ = inspect.Signature([*given, out, one("kwargs", one.VAR_KEYWORD)])
        return function
    with contextlib.suppress(TypeError, ValueError):
        function.__signature__ = inspect.signature(below)
    return function
