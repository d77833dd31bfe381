"""Layer 9 · compat: the signatures of MXNet's functions.

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
    function: Any, below: Callable[..., Any], arrays: Sequence[str] = (), creates=False
) -> Any:
    """Set the signature of `function` to that of `below`, if `below` has one.

    Parameters
    ----------
    function : callable. A function of any arguments.
    below : callable. The function that `function` calls.
    arrays : sequence of str. The parameters of an element-wise function without a signature.
    creates : bool. Whether it creates arrays, and so takes a context and a dtype of MXNet.
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
"""Parameters of NumPy's creation functions that MXNet's do not have."""
