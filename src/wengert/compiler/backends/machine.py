"""Layer 8 · compiler: machine code from LLVM's language, and built-in functions that run it.

NOTE [calling native code]
A compiled function is a built-in function of Python at the address of its machine code. It takes
its arguments as objects, reads the addresses of their elements, and allocates its results by
NumPy's C functions. So a call costs about as much as that of any built-in function.
"""

from __future__ import annotations

import ctypes
import re
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from wengert.compiler.backends.cached import file_for, keep, kept
from wengert.compiler.codegen.vectors import host, register_bytes, target_machine

DATA = object.__basicsize__
"""The offset, in an array object, of the address of its elements."""

DECLARATIONS = """
@_Py_NoneStruct = external global i8
@PyArray_Type = external global i8
declare ptr @PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @PyList_New(i64)
declare i32 @PyList_SetItem(ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyErr_NoMemory()
declare ptr @PyMem_RawMalloc(i64)
declare void @PyMem_RawFree(ptr)
declare i64 @PyLong_AsSsize_t(ptr)
declare ptr @PyLong_FromSsize_t(i64)
"""
"""What wrappers use of Python and NumPy."""
# the positions of NumPy's functions in the table that it exports
_NUMPY = {"PyArray_Type": 2, "PyArray_New": 93}


class FunctionState(np.ndarray[Any, Any]):
    """The table of addresses that a native function is bound to; it owns what they point to.

    The first entry is for memory that the function keeps between calls.
    """

    owner: Any

    @classmethod
    def of(
        cls, arrays: Sequence[np.ndarray[Any, Any]], owner: Any, words: Sequence[int] = ()
    ) -> FunctionState:
        """Build the table for arrays, preceded by words in reverse order."""
        addresses = [array.ctypes.data for array in arrays]
        table = np.array([*reversed(words), 0, *addresses], np.uintp)[len(words) :]
        state = table.view(cls)
        state.owner = owner, tuple(arrays)
        weakref.finalize(state, _free, table)
        return state


def _free(table: np.ndarray[Any, Any]) -> None:
    free = ctypes.pythonapi.PyMem_RawFree
    free.argtypes = [ctypes.c_void_p]
    free.restype = None
    free(int(table[0]))


@cache
def register() -> None:
    """Register the functions that wrappers call with LLVM."""
    for name in re.findall(r"@(Py\w+)\(", DECLARATIONS):
        if name not in _NUMPY:
            address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
            llvm.add_symbol(name, address)
    llvm.add_symbol("_Py_NoneStruct", id(None))
    table = ctypes.cast(_numpy_table(), ctypes.POINTER(ctypes.c_void_p))
    for name, position in _NUMPY.items():
        llvm.add_symbol(name, table[position])


def _numpy_table() -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(get(np._core._multiarray_umath._ARRAY_API, None))  # type: ignore[attr-defined]  # not in NumPy's stubs


@cache
def has_half_precision() -> bool:
    """Return whether the processor converts float16; otherwise LLVM calls a library for it."""
    return not {"+f16c", "+fullfp16"}.isdisjoint(host()[1]["features"].split(","))


def function_attributes() -> str:
    """Return the attributes of generated functions."""
    wide = ' "prefer-vector-width"="512"' if register_bytes() == 64 else ""
    return f"nounwind{wide}"


def optimise(module: Any, machine: Any) -> None:
    """Run the few LLVM passes that generated code needs: inlining, SROA, and peephole passes.

    Loops are written in their final form (NOTE [vectorisation] in `vectorise`), so the expensive
    loop passes are left out.
    """
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)


class Machine:
    """A module in machine code.

    Attributes
    ----------
    ir: The module in LLVM's language, before optimisation.
    """

    __slots__ = ("_engine", "_module", "ir")

    def __init__(self, text: str) -> None:
        register()
        machine = target_machine()
        self.ir = text
        module = llvm.parse_assembly(text)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        versions = (llvmlite.__version__, str(llvm.llvm_version_info))
        file = file_for((text, *host()[1].values(), *versions))
        code = kept(file)
        if code is None:
            optimise(module, machine)
        self._module = module
        self._engine = llvm.create_mcjit_compiler(module, machine)
        if file is not None:
            # called while the engine finishes, with what it has made or asks for
            self._engine.set_object_cache(
                lambda _, made: keep(file, made) if code is None else None, lambda _: code
            )
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a function."""
        return int(self._engine.get_function_address(name))

    def optimised(self) -> str:
        """Return the module in LLVM's language after optimisation."""
        return str(self._module)


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_METH_FASTCALL = 0x0080
_DEFINITIONS: list[_MethodDef] = []


def builtin(address: int, name: str, state: FunctionState) -> Callable[..., Any]:
    """Return a built-in function for the code at an address, bound to `state`."""
    definition = _MethodDef(name.encode(), address, _METH_FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p]
    # a function reads its definition when it is freed, perhaps after the garbage collector has
    # cleared all else in its cycle, so the definitions (32 bytes each) are kept for good
    _DEFINITIONS.append(definition)
    return make(ctypes.byref(definition), state, None)
