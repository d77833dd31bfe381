"""Layer 8 · compiler: calls of C, BLAS and LAPACK functions from native code.

NOTE [routines]
SciPy's Cython modules export the addresses of its BLAS and LAPACK routines in capsules. Native code
calls them by Fortran's conventions: arguments by address, matrices column-major, integers of 32
bits. Without SciPy there are none.
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
from wengert.compiler.codegen.code import Code, literal, several
from wengert.compiler.codegen.scalars.formulas import ALONE
from wengert.compiler.codegen.scalars.lane import Lane
from wengert.compiler.codegen.vectors import DTYPES, provide, vector_forms
from wengert.compiler.ir.facets import CYCLES, having
from wengert.compiler.ir.programs import open_ended

# the arity of each function; LLVM lowers ``frem`` to the last
FUNCTIONS = {**{prim.name: len(prim.args) for prim in having(CYCLES)}, "fmod": 2}


@cache
def _c_library() -> Any:
    """Load the C library's mathematical functions."""
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    return ctypes.CDLL(ctypes.util.find_library("m") if sys.platform != "darwin" else None)


def _symbol(name: str, element: str) -> str:
    return name if element == "double" else f"{name}f"


_PURE = "nounwind willreturn memory(none)"


def call_function(
    code: Code, name: str, element: str, operands: Sequence[str], count: int = 1
) -> str:
    """Emit a call of a function in `FUNCTIONS`, for one element or a vector of `count`.

    A vector goes to one of the function's vector forms, if one is long enough, and else is computed
    element by element (NOTE [vector functions] in `wengert.compiler.codegen.vectors`).
    """
    if count == 1:
        alone = ALONE.get((name, element))
        if alone is not None:
            return alone(Lane(code, DTYPES[element], exact=True), *operands)
        setup()
        return _call(code, _symbol(name, element), element, operands)
    kind = several(element, count)
    forms = vector_forms(name, element, FUNCTIONS[name])
    form = next((form for form in forms if form.length >= count), None)
    if form is None:
        return _call_per_lane(code, name, element, operands, count)
    provide(form)
    if form.length == count:
        return _call(code, form.symbol, kind, operands, form.convention)
    wide = several(element, form.length)
    longer = [_resize(code, kind, operand, count, form.length) for operand in operands]
    result = _call(code, form.symbol, wide, longer, form.convention)
    return _resize(code, wide, result, form.length, count)


def _call(code: Code, symbol: str, kind: str, operands: Sequence[str], convention: str = "") -> str:
    given = [(kind, operand) for operand in operands]
    return code.call(symbol, kind, *given, convention=convention, attributes=_PURE)


def _call_per_lane(code: Code, name: str, element: str, operands: Sequence[str], count: int) -> str:
    kind, result = several(element, count), "poison"
    for k in range(count):
        scalars = [code.let(f"extractelement {kind} {operand}, i64 {k}") for operand in operands]
        lane = call_function(code, name, element, scalars)
        result = code.let(f"insertelement {kind} {result}, {element} {lane}, i64 {k}")
    return result


def _resize(code: Code, kind: str, vector: str, count: int, size: int) -> str:
    """Resize a vector; new lanes repeat its own."""
    lanes = ", ".join([f"i32 {k % count}" for k in range(size)])
    return code.let(f"shufflevector {kind} {vector}, {kind} poison, <{size} x i32> <{lanes}>")


@cache
def setup() -> None:
    """Register every function that native code may call with LLVM."""
    library = _c_library()
    for name in FUNCTIONS:
        for symbol in (name, f"{name}f"):
            function = getattr(library, symbol, None)
            if function is not None:
                llvm.add_symbol(symbol, ctypes.cast(function, ctypes.c_void_p).value)


# -- BLAS and LAPACK ------------------------------------------------------------------------------


@cache
def _routines(part: str) -> Any:
    """Return the capsules of one of SciPy's Cython modules, by name (see NOTE [routines])."""
    name = f"scipy.linalg.{part}"
    if name not in sys.modules:
        # import the module alone: its package takes a third of a second
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
    """Return the address of a routine, or 0."""
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
    """Return whether a BLAS or LAPACK routine, such as ``"dgemm"``, is available."""
    return _address(name) != 0


def call_routine(code: Code, name: str, arguments: Sequence[str | int | float | bytes]) -> None:
    """Emit a call of a routine that `has_routine` finds.

    Parameters
    ----------
    arguments
        Names of pointers, and constants, which are passed by address: a number (an ``int`` of 32
        bits, or a ``float`` of the routine's precision) or a letter.
    """
    symbol = f"wengert.{name}"
    llvm.add_symbol(symbol, _address(name))
    element = "double" if name.startswith("d") else "float"
    pointers = [("ptr", _constant(code, value, element)) for value in arguments]
    code.call(symbol, "void", *pointers, attributes="nounwind")


def _constant(code: Code, value: str | int | float | bytes, element: str) -> str:
    """Return the address of a constant; a pointer is returned as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        symbol, text = f"letter.{value.decode()}", f"i8 {value[0]}"
    elif open_ended(value):
        return code.cell("i32", literal(value, np.dtype(np.int32))).pointer
    elif isinstance(value, int):
        symbol, text = f"int.{value}", f"i32 {value}"
    else:
        dtype = np.dtype(np.float64 if element == "double" else np.float32)
        symbol, text = f"{element}.{value}", f"{element} {literal(value, dtype)}"
    code.module.declare(symbol, f'@"{symbol}" = private unnamed_addr constant {text}')
    return f'@"{symbol}"'
