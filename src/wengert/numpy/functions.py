"""Layer 9 · numpy: NumPy's functions and ufuncs, made from their counterparts.

Each takes and returns arrays (`wengert.numpy.ndarray`); numbers, lists and NumPy's own arrays are
accepted, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.numpy.arrays import (
    VIEWS,
    WRITERS,
    copied,
    fillable,
    lasting,
    made,
    ndarray,
    numpys_error,
)
from wengert.ops import reduce as reductions
from wengert.tape.record import T
from wengert.tensor.numpy import ufuncs as numpy_ufuncs
from wengert.tensor.numpy.dispatch import kind_of, named, signature_of

_TEXTS = {
    "rule": "Differentiable, to any order: the gradient flows to all arrays among the arguments.",
    "constant": "The result carries no gradient.",
    "refused": "Not differentiable: an array that requires a gradient raises NotImplementedError.",
}


def _alike(args: tuple[Any, ...]) -> bool:
    """Return whether all are arrays of one floating dtype."""
    x = args[0] if args else None
    if x.__class__ is not ndarray or x._payload.dtype.kind != "f":
        return False
    kind = x._payload.dtype
    return all(y.__class__ is ndarray and y._payload.dtype is kind for y in args[1:])


_ON_ALL: dict[str, Callable[..., Any]] = {"mean": reductions.mean, "sum": reductions.sum}
"""The functions to use for all elements of a floating array, the most common call."""


class Ufunc:
    """One of NumPy's ufuncs on arrays: a function with the methods `reduce`, `outer`, ...

    Attributes
    ----------
    nin, nout: The number of arguments and of results.
    identity: The neutral element, or None.
    """

    def __init__(self, ufunc: Any, prim: str | None = None) -> None:
        self._ufunc = ufunc
        self._prim = prim
        self.nin, self.nout, self.identity = ufunc.nin, ufunc.nout, ufunc.identity
        self.__name__ = self.__qualname__ = ufunc.__name__
        text = _TEXTS[kind_of(ufunc.__name__) or "refused"]
        self.__doc__ = f"Compute NumPy's `{ufunc.__name__}` on arrays.\n\n{text}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute, with the keywords of NumPy's ufuncs."""
        given = lasting(args)
        try:
            if self._prim is not None and not kwargs and len(args) == self.nin and _alike(args):
                return made(getattr(T, self._prim)(*given))
            result = numpy_ufuncs.call(self._ufunc, *given, **kwargs)
        except RuntimeError as error:
            if len(args) > self.nin or kwargs.get("out") is not None:
                raise
            raise numpys_error(error, self._ufunc, args, kwargs) from None
        if len(args) > self.nin or kwargs.get("out") is not None:
            return result
        return made(result, args)

    def reduce(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        """Apply to all elements along axes (see `numpy.ufunc.reduce`)."""
        return self._method("reduce", (array, *args), kwargs)

    def accumulate(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the intermediate results of `reduce` (see `numpy.ufunc.accumulate`)."""
        return self._method("accumulate", (array, *args), kwargs)

    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Any:
        """Apply to all pairs of elements (see `numpy.ufunc.outer`)."""
        return self._method("outer", (A, B), kwargs)

    def reduceat(self, array: Any, indices: Any, *args: Any, **kwargs: Any) -> Any:
        """Reduce slices (see `numpy.ufunc.reduceat`)."""
        return self._method("reduceat", (array, indices, *args), kwargs)

    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """Apply in place at indices that may be repeated (see `numpy.ufunc.at`)."""
        self._method("at", (a, indices) if b is None else (a, indices, b), {})

    def _method(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = args if name == "at" else lasting(args)
        result = numpy_ufuncs.apply(self._ufunc, name, given, kwargs)
        return result if kwargs.get("out") is not None else made(result, args)

    def __getattr__(self, name: str) -> Any:
        """Return another attribute of NumPy's ufunc: `nargs`, `types`, its signature, ..."""
        if name.startswith("_") and name != "__signature__":
            raise AttributeError(name)
        return getattr(self._ufunc, name)

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r} of wengert.numpy>"


def function_of(name: str) -> Callable[..., Any]:
    """Return the function that NumPy calls `name` (``"linalg.solve"``).

    Raises
    ------
    AttributeError: If this version of NumPy has no such function.
    """
    numpys: Any = np
    for part in name.split("."):
        numpys = getattr(numpys, part)
    if isinstance(numpys, np.ufunc):
        return Ufunc(numpys, numpy_ufuncs.one_primitive(numpys))
    ours = named(name, numpys)
    views = name in VIEWS
    quick = _ON_ALL.get(name)
    fills = name in ("empty_like", "full_like", "ones_like", "zeros_like")

    def function(*args: Any, **kwargs: Any) -> Any:
        if quick is not None and len(args) == 1 and not kwargs and _alike(args):
            return made(quick(*args))
        try:
            result = ours(*(args if views else lasting(args)), **kwargs)
        except RuntimeError as error:
            if name in WRITERS or kwargs.get("out") is not None:
                raise
            raise numpys_error(error, numpys, args, kwargs) from None
        if kwargs.get("out") is not None:
            return result
        if name in ("astype", "copy"):
            return copied(made(result, args)) if result is not args[0] else args[0]
        return fillable(made(result, args), name) if fills else made(result, args)

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__module__ = f"wengert.numpy.{name}".rpartition(".")[0]
    text = _TEXTS[kind_of(name) or "refused"]
    summary = f"Compute NumPy's `{name}` on arrays, with NumPy's arguments."
    function.__doc__ = f"{summary}\n\n{text}\n\nSee `numpy.{name}`."
    signature = signature_of(numpys, ours)
    # NumPy 2.5 has it itself
    if name in ("argsort", "sort") and "descending" not in signature.parameters:
        more = inspect.Parameter("descending", inspect.Parameter.KEYWORD_ONLY, default=False)
        signature = signature.replace(parameters=[*signature.parameters.values(), more])
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function
