"""Layer 8 · compiler: native loops that convert arrays between single and half precision.

NumPy converts float16 bit by bit, in thirty times the time that a processor's instruction takes,
and ml_dtypes bfloat16 element by element. The results have the same bits either way, except that
signalling NaNs of float16 become quiet.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import Any

import numpy as np

from wengert.base.ports import provides
from wengert.base.threads import share
from wengert.compiler.control import FUSING

try:
    from wengert.compiler.backends.machine import Machine, has_half_precision
    from wengert.compiler.codegen.code import Code, Module
except ImportError:
    Machine = None  # type: ignore[assignment,misc]

_PIECE = 1 << 12
"""The least number of vectors for a thread."""
_WIDTH = 32
"""The number of elements of a vector."""
_STEPS = {
    "fe": ("float", "half", "%y = fptrunc float %x to half"),
    "ef": ("half", "float", "%y = fpext half %x to float"),
    "Ef": (
        "i16", "float",
        "%wide = zext i16 %x to i32; %b = shl i32 %wide, #16; %y = bitcast i32 %b to float",
    ),
    # to even in a tie; one NaN of each sign
    "fE": (
        "float", "i16",
        "%b = bitcast float %x to i32; %high = lshr i32 %b, #16; %odd = and i32 %high, #1; "
        "%up = add i32 %b, #32767; %even = add i32 %up, %odd; %near = lshr i32 %even, #16; "
        "%sign = and i32 %high, #32768; %none = or i32 %sign, #32704; "
        "%known = fcmp ord float %x, %x; %found = select i1 %known, i32 %near, i32 %none; "
        "%y = trunc i32 %found to i16",
    ),
}  # fmt: skip
"""The LLVM types of elements, and the steps from x to y, for each pair of dtypes, by character."""


@cache
def _loop(pair: str) -> tuple[Any, Any]:
    """Return native code that converts `n` vectors, and its machine."""
    source, target, steps = (
        re.sub(r"\b(float|half|i\d+)\b", rf"<{_WIDTH} x \1>", text) for text in _STEPS[pair]
    )
    steps = re.sub(r"#(\d+)", lambda m: f"<{', '.join(['i32 ' + m[1]] * _WIDTH)}>", steps)
    code = Code(Module())
    with code.loop("%n") as i:
        at, to = code.let(f"getelementptr {source}, ptr %in, i64 {i}"), f"{target}, ptr %out"
        code.do(f"%x = load {source}, ptr {at}, align 2")
        for step in steps.split("; "):
            code.do(step)
        code.do(f"store {target} %y, ptr {code.let(f'getelementptr {to}, i64 {i}')}, align 2")
    machine = Machine(code.function("void @each(ptr noalias %in, ptr noalias %out, i64 %n)"))
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    return kind(machine.address("each")), machine


@provides("converted")
def converted(array: Any, dtype: np.dtype[Any]) -> Any:
    """Return a contiguous array in another precision; None without native code for it."""
    pair = array.dtype.char + dtype.char
    if Machine is None or not FUSING[0] or ("e" in pair and not has_half_precision()):
        return None
    result = np.empty(array.shape, dtype)
    call, _ = _loop(pair)
    own, made = array.ctypes.data, result.ctypes.data
    step, by = _WIDTH * array.itemsize, _WIDTH * dtype.itemsize

    def work(start: int, stop: int) -> None:
        call(own + start * step, made + start * by, stop - start)

    whole = array.size // _WIDTH
    share(work, whole, _PIECE)
    with np.errstate(over="ignore"):
        result.reshape(-1)[whole * _WIDTH :] = array.reshape(-1)[whole * _WIDTH :]
    return result
