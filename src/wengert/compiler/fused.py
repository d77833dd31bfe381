"""Layer 8 · compiler: native kernels of eager operations, for large arrays.

NOTE [fused kernels]
NumPy computes a softmax or a normalisation in many passes over memory, and an error function without
vector instructions. The compiler makes one loop nest of the same primitive, from the decomposition
that it has anyway. So where llvmlite is installed, the namespace of raw arrays asks here before it
calls the kernel of a primitive whose record says `fused`, if the array is large: there is no second
version of any kernel.

What is made serves all later calls of its kind, from the first one on, so that equal arguments have
equal results. A primitive that computes element by element has one function for pieces of one size,
whatever the shape; what is left at the end, and is smaller, the kernel computes. Others have one for
each combination of shapes and parameters, up to a limit.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from wengert.base.ports import provides
from wengert.base.threads import get_num_threads
from wengert.compiler.entry import Options
from wengert.compiler.ir import Program, Step
from wengert.compiler.operations import S
from wengert.compiler.trace import Trace
from wengert.interp.eager import FUSED
from wengert.prims.record import Primitive
from wengert.tape.modes import MODE, changed, current_mode

try:
    from wengert.compiler.backends import llvm
except ImportError:
    llvm = None

__all__ = ["fused"]

_PIECE = 16384
"""Elements of a piece, and of the smallest array that is large."""
_MOST = 256
"""So many functions are made at most."""
_DTYPES = frozenset("fd?iLlqB")
_MADE: dict[Any, Any] = {}
_LOCK = Lock()


@provides("fused")
def fused(prim: Primitive, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """What a primitive makes of large arrays, by native code; None where its kernel is to do it.

    Parameters
    ----------
    prim: Its record says how it is computed (`FUSED`).
    arrays: Arrays of NumPy, or what a rule passes in their place.
    """
    mode = current_mode()
    if llvm is None or mode is not None and mode.tracing is not None:
        return None
    for array in arrays:
        if array.__class__ is not np.ndarray:
            return None
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned) or array.dtype.char not in _DTYPES:
            return None
    if FUSED[prim] == "elements":
        return _by_pieces(prim, arrays[0], params)
    made = _made(prim, arrays, params)
    if made is None:
        return None
    results = made(arrays)
    return results[0] if prim.outputs == 1 else tuple(results)


def _by_pieces(prim: Primitive, array: Any, params: dict[str, Any]) -> Any:
    """The same of one array, element by element."""
    flat = array.reshape(-1)
    made = _made(prim, (flat[:_PIECE],), params)
    if made is None:
        return None
    whole = flat.size - flat.size % _PIECE
    out = None
    for start in range(0, whole, _PIECE):
        (piece,) = made((flat[start : start + _PIECE],))
        if out is None:
            out = np.empty(flat.size, piece.dtype)
        out[start : start + _PIECE] = piece
    if whole < flat.size:
        out[whole:] = prim.kernel(flat[whole:], **params)
    return out.reshape(array.shape)


def _made(prim: Primitive, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """What computes a primitive on arrays of these shapes, or None."""
    key = (prim, tuple([(a.shape, a.dtype.char) for a in arrays]), *params.values())
    try:
        return _MADE[key]
    except KeyError:
        pass
    with _LOCK:
        if key not in _MADE:
            _MADE[key] = _make(prim, arrays, params) if len(_MADE) < _MOST else None
        return _MADE[key]


def _make(prim: Primitive, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
    options = Options(llvm, False, False, False, get_num_threads(), 1)
    trace = Trace()
    symbols = [trace.input(array) for array in arrays]
    before = current_mode()
    try:
        MODE.set(changed(before, tracing=trace))
        results = getattr(S, prim.name)(*symbols, **params)
    finally:
        MODE.set(before)
        trace.finish()
    if prim.outputs == 1:
        results = (results,)
    steps = [item for item in trace.items if isinstance(item, Step)]
    if trace.broken is not None or len(steps) < len(trace.items):
        return None
    outputs = [trace.symbol(result).value for result in results]
    program = Program([symbol.value for symbol in symbols], steps, outputs)
    _, executable = options.finish(program)
    return executable
