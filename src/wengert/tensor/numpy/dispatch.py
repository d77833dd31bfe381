"""Layer 6 · tensor: dispatch of NumPy's functions to their counterparts, by name.

This module is imported when the first NumPy function is called on a tensor. It imports all
counterparts except those of ``numpy.linalg`` and ``numpy.fft``, which are imported on first use.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from wengert.tape.base import TensorBase
from wengert.tape.record import T
from wengert.tensor.numpy import (
    boundary,
    choice,
    followed,
    order,
    polynomials,
    products,
    shapes,
    spans,
    sums,
    ufuncs,
    writes,
)
from wengert.tensor.numpy.counterparts import rule, values, wrapped
from wengert.tensor.numpy.kinds import APART, CONSTANT, REFUSED
from wengert.tensor.numpy.ufuncs import into

COUNTERPARTS = (
    choice,
    order,
    polynomials,
    products,
    shapes,
    spans,
    sums,
    writes,
)


def kind_of(name: str) -> str | None:
    """Return the kind of a function by its name within NumPy, ``"special.erf"`` for SciPy's.

    Returns
    -------
    str or None
        ``"rule"``, ``"constant"``, ``"refused"`` or ``"apart"`` (see NOTE [kinds of functions]);
        None for a name that is not known.
    """
    module, _, own = name.rpartition(".")
    ufunc = getattr(np, name, None)
    if module == "special":
        special = importlib.import_module("wengert.tensor.numpy.special")
        if own in special.RULES:
            return "rule"
        if own in special.CONSTANT:
            return "constant"
    elif isinstance(ufunc, np.ufunc):
        if ufuncs.is_constant(ufunc):
            return "constant"
        return "rule" if ufuncs.rule_of(ufunc) is not None else None
    elif rule(name) is not None:
        return "rule"
    for kind, names in (("constant", CONSTANT), ("refused", REFUSED), ("apart", APART)):
        if name in names:
            return kind
    return None


def found(function: Any) -> Callable[..., Any]:
    """Return the implementation of a NumPy function that was called on a tensor."""
    home = (function.__module__ or "").removeprefix("numpy").removeprefix(".")
    return named(f"{home}.{function.__name__}" if home else function.__name__, function)


def named(name: str, function: Any) -> Callable[..., Any]:
    """Return, like `found`, the implementation of the function named `name` within NumPy.

    The implementation is a counterpart; for a constant function, a wrapper that computes on the
    values; otherwise a wrapper that also refuses tensors whose gradient would be lost.
    """
    label = f"numpy.{name}"
    ours = rule(name)
    if ours is not None:
        return _with_out(ours, function, label)
    if name in CONSTANT:
        counterpart = followed.COUNTERPARTS.get(function)

        @wraps(function)
        def constant(*args: Any, **kwargs: Any) -> Any:
            # only the array API standard has `descending`, not NumPy
            ours = followed.is_followed(args) or "descending" in kwargs
            if counterpart is not None and ours:
                return counterpart(*args, **kwargs)
            if function is np.argsort and len(args) < 3 and not {"kind", "stable"} & kwargs.keys():
                kwargs["stable"] = True  # the default of the array API standard
            return wrapped(function(*values(args), **values(kwargs)))

        return constant

    @wraps(function)
    def refused(*args: Any, **kwargs: Any) -> Any:
        if boundary.loses([args, kwargs]):
            raise boundary.function_lost(label, REFUSED.get(name, ""))
        return wrapped(function(*values(args), **values(kwargs)))

    return refused


def signature_of(function: Any, ours: Any) -> inspect.Signature:
    """Return the signature of a NumPy function, or else that of its counterpart.

    Before version 2.4, functions written in C had no signature.
    """
    for known in (function, inspect.unwrap(ours)):
        try:
            return inspect.signature(known)
        except ValueError:
            continue
    return inspect.signature(_unknown)


def _unknown(*args: Any, **kwargs: Any) -> None:
    """Stand in for a function without a known signature."""


def _with_out(ours: Callable[..., Any], function: Any, label: str) -> Callable[..., Any]:
    """Return `ours` with support for ``out=``; itself, if `function` has no such argument."""
    parameters = signature_of(function, ours).parameters
    if "out" not in parameters:
        return ours
    by_name = parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY
    place = sys.maxsize if by_name else list(parameters).index("out")
    casts = "casting" in inspect.signature(ours).parameters

    def with_out(*args: Any, **kwargs: Any) -> Any:
        casting = (kwargs.get if casts else kwargs.pop)("casting", "same_kind")
        out = kwargs.pop("out", None)
        if len(args) > place:
            args, out = (*args[:place], None, *args[place + 1 :]), args[place]
        if out is None or out is np._NoValue:
            return ours(*args, **kwargs)
        out = out[0] if isinstance(out, tuple) else out
        # the graph must not save a tensor that is then overwritten
        args = tuple(
            T.clone(value) if value is out and isinstance(value, TensorBase) else value
            for value in args
        )
        return into(out, ours(*args, **kwargs), label, casting)

    return with_out
