"""Layer 8 · compiler: native kernels of eager operations on large arrays.

NOTE [fused kernels]
NumPy computes a softmax or a normalisation in many passes over memory, and an error function
without vector instructions. The compiler makes one loop nest of either, from its existing
decomposition. So if llvmlite is installed and the array is large, the namespace of raw arrays calls
`fused` before a kernel whose record says `fused`, and nodes do so before they apply the rule of
such a record. No kernel is written twice.

Native code rounds differently from NumPy. So it is used from the first call of a kind on: equal
arguments give equal results. An elementwise primitive has one native function, for pieces of fixed
size, which serves all shapes; the pieces are the same however many threads share them. If its
arguments broadcast, or for any other primitive, there is one for each combination of shapes and
parameters, up to a limit, beyond which the NumPy kernel computes. Results that are not finite are
left to the kernel, too: NumPy warns about them, and native code does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isfinite, prod
from threading import Lock
from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.base.ports import provides
from wengert.base.threads import share
from wengert.compiler.control import FUSING
from wengert.compiler.ir.programs import Program
from wengert.compiler.runtime.entry import Options
from wengert.compiler.runtime.transformed_programs import traced
from wengert.compiler.tracing.operations import S
from wengert.interp.eager import LARGE
from wengert.prims.record import Primitive
from wengert.tape.modes import current_mode

try:
    from wengert.compiler.backends import llvm

    _BACKEND: Any = llvm
except ImportError:
    _BACKEND = None

_PIECE = LARGE
"""The number of elements of a piece, and of the smallest array that counts as large."""
_SHARED = 16 * _PIECE
"""The number of elements from which several threads share an array."""
_SHORT = 32
"""The length of rows from which a loop for each is faster than NumPy's passes over all."""
_MOST = 32
"""The largest number of native functions for one primitive or rule."""
_DTYPES = frozenset("fd?iILlqB")
_MADE: dict[Any, Any] = {}
_KINDS: Counter[Any] = Counter()
_LOCK = Lock()
# code for several threads: their number may grow later
_OPTIONS = Options(_BACKEND, False, False, False, 2, 1, 1)


@provides("fused")
def fused(function: Any, how: str, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Apply a primitive or a rule to large arrays natively; None leaves it to NumPy.

    Parameters
    ----------
    function: A `Primitive`, or the function of a `Rule`.
    how: The `FUSED` entry of its record.
    args: Its arguments by position, without the namespace of a rule.
    """
    mode = current_mode()
    if _BACKEND is None or not FUSING[0] or (mode is not None and mode.tracing is not None):
        return None
    dim, shape = params.get("dim", ()), args[0].shape
    are_rows = how == "rows" and dim and dim[-1] == len(shape) - 1
    if are_rows and prod([shape[i] for i in dim]) < _SHORT:
        return None
    shapes = {arg.shape for arg in args if arg.__class__ is np.ndarray}
    if len(shapes) > 1 and how == "elements":
        how = "whole"
    kinds: list[Any] = []
    for i, arg in enumerate(args):
        if arg.__class__ is np.ndarray:
            char = arg.dtype.char
            if char not in _DTYPES:
                return None
            if not (arg.flags.c_contiguous and arg.flags.aligned):
                named = char in "il" and params.get("dim") == 0 and not any(arg.strides[1:])
                if 0 not in arg.strides or named:
                    # for an index that was expanded, kernels copy whole rows
                    return None
                # such as the cotangent of a sum, which is one number
                args = (*args[:i], np.ascontiguousarray(arg), *args[i + 1 :])
            kinds.append(char if how == "elements" else (arg.shape, char))
        else:
            kinds.append(arg)
    key = (function, how, *kinds, *params.values())
    if how == "elements":
        return _by_pieces(key, args, params)
    made = _made(key, args, params)
    if made is None:
        return None
    # the kernel raises what native code met; the program, run again, would come back to here
    results = made.attempt([arg for arg in args if arg.__class__ is np.ndarray])
    if results is None or not all(map(_is_finite, results)):
        return None
    return results[0] if len(results) == 1 else tuple(results)


@errstate(over="ignore")
def _is_finite(array: Any) -> bool:
    """Return whether all elements are finite; also False if the sum of squares overflows."""
    flat = array.reshape(-1)
    return flat.dtype.kind != "f" or isfinite(flat.dot(flat))


def _by_pieces(key: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Apply an elementwise function to arrays of one shape, piece by piece."""
    shape, size = args[0].shape, args[0].size
    made = _MADE.get(key) or _made(
        key, [a.reshape(-1)[:_PIECE] if a.__class__ is np.ndarray else a for a in args], params
    )
    if made is None:
        return None
    call, dtype = made
    result = np.empty(shape, dtype)
    arrays = [arg for arg in args if arg.__class__ is np.ndarray]
    failed: list[Any] = []

    def work(start: int, stop: int) -> None:
        if not failed and call(*arrays, result, start, stop, size) is None:
            failed.append(start)

    if size < _SHARED:
        work(0, size)
    else:
        share(work, size, 4 * _PIECE)
    return None if failed else result


def _made(key: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
    """Return the native code for a key, built from `args` if it is new, or None."""
    try:
        return _MADE[key]
    except KeyError:
        with _LOCK:
            if key not in _MADE:
                if _KINDS[key[0]] >= _MOST:
                    return None
                _KINDS[key[0]] += 1
                _MADE[key] = _make(key, args, params)
            return _MADE[key]


def _make(key: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
    function, how = key[:2]

    def applied(symbols: Iterator[Any]) -> Any:
        given = [next(symbols) if arg.__class__ is np.ndarray else arg for arg in args]
        with np.errstate(all="ignore"):
            if isinstance(function, Primitive):
                return getattr(S, function.name)(*given, **params)
            return function(S, *given, **params)

    found = traced(applied, [arg for arg in args if arg.__class__ is np.ndarray])
    if found is None:
        return None
    trace, inputs, steps, results = found
    results = results if isinstance(results, tuple) else (results,)
    outputs = [trace.symbol(result).value for result in results]
    if any(output in inputs for output in outputs):
        # the kernel may return an argument without a copy
        return None
    program = Program(inputs, steps, outputs)
    if how != "elements":
        made = _OPTIONS.finish(program)[1]
        # if no step is native, call the kernel directly
        return None if made.machine is None else made
    simple = _OPTIONS.simplified(program)
    call = _BACKEND.build(simple, piece=_PIECE).call
    return None if call is None else (call, outputs[0].dtype)
