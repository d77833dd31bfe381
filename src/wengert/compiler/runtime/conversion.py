"""Layer 8 · compiler: native loops that convert arrays between single and half precision.

NumPy converts float16 bit by bit, in thirty times the time that a processor's instruction takes,
and ml_dtypes bfloat16 element by element. The results have the same bits either way, except that
signalling NaNs of float16 become quiet.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from wengert.base.ports import provides
from wengert.base.threads import share
from wengert.compiler.control import FUSING

try:
    from wengert.compiler.backends.machine import Machine, has_half_precision
    from wengert.compiler.codegen.code import Code, Module, several
except ImportError:
    Machine = None  # type: ignore[assignment,misc]

__all__ = ["converted"]

_WIDTH = 32
"""The number of elements converted at a time."""
_PIECE = 1 << 17
"""The least number of elements for a thread."""


def _values(code: Any, name: str, width: int) -> Any:
    """Return functions that emit an instruction on vectors, and a constant of one."""

    def do(instruction: str, kind: str, *operands: str) -> str:
        return str(code.let(f"{instruction} {several(kind, width)} {', '.join(operands)}"))

    def number(value: int) -> str:
        return str(value) if width == 1 else f"<{', '.join([f'{name} {value}'] * width)}>"

    return do, number


def _short(code: Any, x: str, width: int) -> str:
    """Emit the rounding of float32 to bfloat16, to even in a tie, as bits."""
    do, number = _values(code, "i32", width)
    bits = code.let(f"bitcast {several('float', width)} {x} to {several('i32', width)}")
    high = do("lshr", "i32", bits, number(16))
    odd = do("and", "i32", high, number(1))
    raised = do("add", "i32", do("add", "i32", bits, number(0x7FFF)), odd)
    # one NaN of each sign
    none = do("or", "i32", do("and", "i32", high, number(0x8000)), number(0x7FC0))
    is_nan = do("fcmp uno", "float", x, x)
    kinds = several("i1", width), several("i32", width)
    rounded = do("lshr", "i32", raised, number(16))
    found = code.let(f"select {kinds[0]} {is_nan}, {kinds[1]} {none}, {kinds[1]} {rounded}")
    return str(code.let(f"trunc {kinds[1]} {found} to {several('i16', width)}"))


def _long(code: Any, x: str, width: int) -> str:
    """Emit the number of float32 that the bits of one of bfloat16 stand for."""
    do, number = _values(code, "i32", width)
    wide = code.let(f"zext {several('i16', width)} {x} to {several('i32', width)}")
    bits = do("shl", "i32", wide, number(16))
    return str(code.let(f"bitcast {several('i32', width)} {bits} to {several('float', width)}"))


def _cast(instruction: str, source: str, target: str) -> Any:
    return lambda code, x, width: code.let(
        f"{instruction} {several(source, width)} {x} to {several(target, width)}"
    )


_STEPS = {
    ("f", "e"): ("float", "half", _cast("fptrunc", "float", "half")),
    ("e", "f"): ("half", "float", _cast("fpext", "half", "float")),
    ("f", "E"): ("float", "i16", _short),
    ("E", "f"): ("i16", "float", _long),
}
"""The LLVM types of elements, and the conversion, for each pair of dtypes, by character."""
_STORED = {"float": np.dtype(np.int32), "half": np.dtype(np.int16), "i16": np.dtype(np.int16)}


@cache
def _loop(pair: tuple[str, str]) -> tuple[Any, Any]:
    """Return native code that converts `n` elements, and its machine."""
    source, target, step = _STEPS[pair]
    code = Code(Module())
    whole = code.let(f"and i64 %n, {-_WIDTH}")
    for width, first, last in ((_WIDTH, "0", whole), (1, whole, "%n")):
        with code.loop(last, first, step=width) as i:
            start, end = (
                code.at(array, _STORED[kind], i)
                for array, kind in (("%in", source), ("%out", target))
            )
            x = code.let(f"load {several(source, width)}, ptr {start}, align 2")
            kind = several(target, width)
            code.do(f"store {kind} {step(code, x, width)}, ptr {end}, align 2")
    machine = Machine(code.function("void @each(ptr noalias %in, ptr noalias %out, i64 %n)"))
    pointer = ctypes.c_void_p
    return ctypes.CFUNCTYPE(None, pointer, pointer, ctypes.c_int64)(
        machine.address("each")
    ), machine


@provides("converted")
def converted(array: Any, dtype: np.dtype[Any]) -> Any:
    """Return a contiguous array in another precision; None without native code for it."""
    pair = array.dtype.char, dtype.char
    if Machine is None or not FUSING[0] or ("e" in pair and not has_half_precision()):
        return None
    result = np.empty(array.shape, dtype)
    call, _ = _loop(pair)
    own, made = array.ctypes.data, result.ctypes.data
    size, to = array.itemsize, dtype.itemsize

    def work(start: int, stop: int) -> None:
        call(own + start * size, made + start * to, stop - start)

    share(work, array.size, _PIECE)
    return result
