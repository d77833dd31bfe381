"""Layer 8 · compiler: what native code calls: functions of C, their vector forms, BLAS and LAPACK.

NOTE [vector functions]
glibc comes with libmvec, which has most functions of mathematics for 2, 4 or 8 doubles at a time.
A declaration of ``exp`` names them in its attribute ``vector-function-abi-variant``, and LLVM's
loop vectoriser then calls ``_ZGVdN4v_exp`` where the loop calls ``exp``: the letter says which
instructions it uses (b: SSE, d: AVX2, e: AVX-512, n: NEON), the number how many elements it takes,
each v one argument. Which of them exist is asked of the library that is there. They are accurate to
4 units in the last place. On systems without libmvec each element is a call to the C library.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import PathFinder
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from wengert.base.extras import scipy_module
from wengert.compiler.code import Code, literal

__all__ = ["call_function", "call_routine", "fuses", "has_routine", "setup", "vector_forms"]

# the functions with their numbers of arguments; libmvec has all but the last line
FUNCTIONS = {
    **dict.fromkeys(("exp", "exp2", "expm1", "log", "log2", "log10", "log1p"), 1),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"), 1),
    **dict.fromkeys(("asinh", "acosh", "atanh", "erf", "erfc", "cbrt"), 1),
    **dict.fromkeys(("pow", "atan2", "hypot"), 2),
    "lgamma": 1,
    "fmod": 2,
}
# letters of the vector ABI by the processor's feature, with the bytes of their registers
_X86 = (("sse2", "b", 16), ("avx2", "d", 32), ("avx512f", "e", 64))
_NEON = (("neon", "n", 16),)


@cache
def _vector_library() -> Any:
    """libmvec, loaded where LLVM finds its functions, or None."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL("libmvec.so.1")
        llvm.load_library_permanently("libmvec.so.1")
    except (OSError, RuntimeError):
        return None
    return library


@cache
def _c_library() -> Any:
    """The C library's functions of mathematics."""
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    return ctypes.CDLL(ctypes.util.find_library("m") if sys.platform != "darwin" else None)


@cache
def _features() -> tuple[tuple[str, str, int], ...]:
    """The forms of vector functions that this processor can run."""
    features = llvm.get_host_cpu_features()
    known = _NEON if llvm.get_process_triple().startswith(("aarch64", "arm64")) else _X86
    return tuple([form for form in known if features.get(form[0], form[1] == "n")])


@cache
def fuses() -> bool:
    """Whether this processor rounds a product and a sum once."""
    if llvm.get_process_triple().startswith(("aarch64", "arm64")):
        return True
    return bool(llvm.get_host_cpu_features().get("fma", False))


@cache
def vector_forms(name: str, element: str) -> tuple[tuple[int, str], ...]:
    """The vector forms of a C function: numbers of elements, and symbols.

    Parameters
    ----------
    name
        The function of doubles: ``"exp"``.
    element
        ``"double"`` or ``"float"``.
    """
    library = _vector_library()
    if library is None:
        return ()
    arguments, size = FUNCTIONS[name], 8 if element == "double" else 4
    suffix = name if element == "double" else f"{name}f"
    forms = []
    for _, letter, width in _features():
        symbol = f"_ZGV{letter}N{width // size}{'v' * arguments}_{suffix}"
        if hasattr(library, symbol):
            forms.append((width // size, symbol))
    return tuple(forms)


@cache
def _declarations(name: str, element: str) -> tuple[tuple[str, str], ...]:
    arguments = FUNCTIONS[name]
    symbol = name if element == "double" else f"{name}f"
    forms = vector_forms(name, element)
    variants = ",".join([form for _, form in forms])
    convention = "aarch64_vector_pcs " if variants.startswith("_ZGVn") else ""
    attributes = "nounwind willreturn memory(none)"
    if forms:
        attributes += f' "vector-function-abi-variant"="{variants}"'
    given = ", ".join([element] * arguments)
    lines = [(symbol, f"declare {element} @{symbol}({given}) {attributes}")]
    for count, form in forms:
        vector = f"<{count} x {element}>"
        given = ", ".join([vector] * arguments)
        text = f"declare {convention}{vector} @{form}({given}) nounwind willreturn memory(none)"
        lines.append((form, text))
    return tuple(lines)


def call_function(code: Code, name: str, element: str, operands: Sequence[str]) -> str:
    """Emit the call of a C function of `FUNCTIONS` for one element, and declare it."""
    setup()
    symbol = name if element == "double" else f"{name}f"
    for declared, text in _declarations(name, element):
        code.module.declare(declared, text)
        # LLVM would drop the vector forms, which nothing names until it has made use of them
        if declared != symbol:
            code.module.keep(declared)
    given = ", ".join([f"{element} {operand}" for operand in operands])
    return code.let(f"call {element} @{symbol}({given})")


@cache
def setup() -> None:
    """Make every function that native code may call known to LLVM."""
    _vector_library()
    library = _c_library()
    for name in FUNCTIONS:
        for symbol in (name, f"{name}f"):
            function = getattr(library, symbol, None)
            if function is not None:
                llvm.add_symbol(symbol, ctypes.cast(function, ctypes.c_void_p).value)


# -- BLAS and LAPACK ------------------------------------------------------------------------------


@cache
def _routines(part: str) -> Any:
    """The capsules of a module of SciPy's for Cython, by name (see NOTE [routines])."""
    name = f"scipy.linalg.{part}"
    if name not in sys.modules:
        # on its own, for the package around it takes a third of a second to import
        package = importlib.util.find_spec("scipy")
        for path in (package and package.submodule_search_locations) or ():
            spec = PathFinder.find_spec(name, [os.path.join(path, "linalg")])
            if spec is not None and spec.loader is not None:
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module.__pyx_capi__
    return scipy_module(f"linalg.{part}", "compile").__pyx_capi__


@cache
def _address(name: str) -> int:
    """Where a routine begins, or 0."""
    api = ctypes.pythonapi
    for part in ("cython_blas", "cython_lapack"):
        try:
            capsule = _routines(part).get(name)
        except ImportError:
            return 0
        if capsule is not None:
            api.PyCapsule_GetName.restype = ctypes.c_char_p
            api.PyCapsule_GetName.argtypes = [ctypes.py_object]
            api.PyCapsule_GetPointer.restype = ctypes.c_void_p
            api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
            signature = api.PyCapsule_GetName(capsule)
            return int(api.PyCapsule_GetPointer(capsule, signature) or 0)
    return 0


def has_routine(name: str) -> bool:
    """Whether a routine of BLAS or LAPACK is there: ``"dgemm"``."""
    return _address(name) != 0


def call_routine(code: Code, name: str, arguments: Sequence[str | int | float | bytes]) -> None:
    """Emit the call of a routine that `has_routine` finds.

    Parameters
    ----------
    arguments
        Names of pointers, and constants of which the routine gets the address: a number (an
        ``int`` of 32 bits, or a ``float`` of the routine's own precision) or a letter.
    """
    symbol = f"wengert.{name}"
    llvm.add_symbol(symbol, _address(name))
    element = "double" if name.startswith("d") else "float"
    given = ", ".join([f"ptr {_constant(code, value, element)}" for value in arguments])
    types = ", ".join(["ptr"] * len(arguments))
    code.module.declare(symbol, f"declare void @{symbol}({types}) nounwind")
    code.do(f"call void @{symbol}({given})")


def _constant(code: Code, value: str | int | float | bytes, element: str) -> str:
    """The address of a constant, or the pointer that is given."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        symbol, text = f"letter.{value.decode()}", f"i8 {value[0]}"
    elif isinstance(value, int):
        symbol, text = f"int.{value}", f"i32 {value}"
    else:
        dtype = np.dtype(np.float64 if element == "double" else np.float32)
        symbol, text = f"{element}.{value}", f"{element} {literal(value, dtype)}"
    code.module.declare(symbol, f'@"{symbol}" = private unnamed_addr constant {text}')
    return f'@"{symbol}"'
