"""Layer 1 · kernels: element-wise functions of large arrays, chunk by chunk in several threads.

NOTE [vector functions]
Where the package has been built with a compiler, ``native/vector.c`` is the module
`wengert.kernels.vector`: vectorised functions of float64 that NumPy computes with scalar code on
most processors. They replace NumPy's for large arrays, and are accurate to about two units in the
last place.
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
"""The vectorised replacements of NumPy's functions for large arrays of float64."""
LEAST = 100_000
"""The number of elements from which threads share the work."""
_DOUBLE = np.dtype(np.float64)
# the number of elements from which it is worth looking for another function
_LARGE = 2048
# a multiple of the block sizes of kernels, and above each kernel's threshold for a large array
_PIECE = 16384
_KINDS = {
    "divide by zero": "divide",
    "invalid value": "invalid",
    "overflow": "over",
    "underflow": "under",
}


def _flat(arrays: tuple[Any, ...]) -> tuple[list[Any], Any] | None:
    """Return the elements of each array in memory order, and that order.

    Return None if the arrays do not share one shape and one dense layout. Arrays without
    dimensions, which broadcast, are left as they are.
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
    """Compute ``function(*arrays, **params)``, an element-wise function, on large arrays.

    Threads share the work. The values are those of one call, and so are NumPy's warnings: a chunk
    that raises a floating-point error is recomputed in this thread, where warnings are shown and
    the caller's `numpy.errstate` holds.

    Parameters
    ----------
    function: Takes and returns arrays; it returns no empty array unless given one.
    arrays: The arguments; the first is not 0-d.
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
