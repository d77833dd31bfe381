"""Layer 1 · kernels: element-wise functions of large arrays, chunk by chunk in several threads.

NOTE [vector functions]
Where the package has been built with a compiler, ``native/vector.c`` is the module
`wengert.kernels.vector`: some functions of float64 that NumPy computes number by number on most
processors. They take the place of NumPy's for large arrays, and are accurate to about two units in
the last place.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.threads import get_num_threads, share

try:
    _compiled: Any = importlib.import_module("wengert.kernels.vector")
except ImportError:
    _compiled = types.SimpleNamespace()

VECTOR = {getattr(np, name): made for name, made in vars(_compiled).items() if name[0] != "_"}
"""NumPy's functions, with those that take their place for large arrays of float64."""
LEAST = 100_000
"""The number of elements from which threads share the work."""
_DOUBLE = np.dtype(np.float64)
# from so many elements on it is worth to look for another function
_LARGE = 2048
# a multiple of the blocks that kernels compute together, and more than any of them calls large
_PIECE = 16384
_KINDS = {
    "divide by zero": "divide",
    "invalid value": "invalid",
    "overflow": "over",
    "underflow": "under",
}


def _flat(arrays: tuple[Any, ...]) -> tuple[list[Any], Any] | None:
    """Return the elements of each array in the order of the memory, and that order.

    None where the arrays have not one shape and one dense layout; those of no dimension, which
    belong to every element, are left as they are.
    """
    first = arrays[0]
    order: Any
    if first.flags.c_contiguous:
        order = "C"
    elif first.flags.f_contiguous:
        order = "F"
    else:
        return None
    flat = []
    for array in arrays:
        if array.__class__ is np.ndarray and array.ndim:
            dense = array.flags.c_contiguous if order == "C" else array.flags.f_contiguous
            if not dense or array.shape != first.shape:
                return None
            array = array.reshape(-1, order=order)
        flat.append(array)
    return flat, order


def least_of(function: Callable[..., Any]) -> int:
    """Return the number of elements from which `split` pays off."""
    return _LARGE if function in VECTOR else LEAST


def split(function: Callable[..., Any], arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """``function(*arrays, **params)``, which works element by element, on large arrays.

    Threads share the work. The values are those of one call, and so is what NumPy reports of them:
    a chunk in which something is wrong is computed again in this thread, where warnings have
    their place and the caller's `numpy.errstate` holds.

    Parameters
    ----------
    function: Takes and returns arrays; given none of no elements it returns none.
    arrays: The first has dimensions.
    """
    if arrays[0].dtype == _DOUBLE:
        function = VECTOR.get(function, function)
    if arrays[0].size < LEAST or get_num_threads() < 2:
        return function(*arrays, **params)
    found = _flat(arrays)
    if found is None:
        return function(*arrays, **params)
    flat, order = found

    def part(start: int, stop: int) -> list[Any]:
        return [
            array[start:stop] if array.__class__ is np.ndarray and array.ndim else array
            for array in flat
        ]

    dtype = function(*part(0, 0), **params).dtype
    result = np.empty(arrays[0].shape, dtype, order)
    out = result.reshape(-1, order=order)
    direct = isinstance(function, np.ufunc)
    watched: dict[str, Any] = {
        kind: "ignore" if what == "ignore" else "call" for kind, what in np.geterr().items()
    }
    wrong: list[tuple[int, int, set[str]]] = []

    def work(start: int, stop: int) -> None:
        kinds: set[str] = set()
        with np.errstate(**watched, call=lambda kind, _: kinds.add(_KINDS[kind])):
            if direct:
                function(*part(start, stop), out=out[start:stop], **params)
            else:
                out[start:stop] = function(*part(start, stop), **params)
        if kinds:
            wrong.append((start, stop, kinds))

    share(work, out.size, _PIECE)
    reported: set[str] = set()
    for start, stop, kinds in sorted(wrong, key=lambda chunk: chunk[0]):
        if not kinds <= reported:
            silent: dict[str, Any] = dict.fromkeys(reported, "ignore")
            with np.errstate(**silent):
                function(*part(start, stop), **params)
            reported |= kinds
    return result
