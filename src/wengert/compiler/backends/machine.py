"""Layer 8 · compiler: from LLVM's text to code that runs, and to functions that Python calls.

NOTE [calling native code]
A compiled function is a built-in function of Python, made of the address of its machine code. It
gets its arguments as objects, reads the addresses of their elements out of them, makes the arrays
of its results by NumPy's own C functions, and so costs about what any built-in function does.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from wengert.compiler.backends.cached import file_for, keep, kept

__all__ = [
    "DATA",
    "Machine",
    "State",
    "builtin",
    "function_attributes",
    "optimise",
    "register",
]

DATA = object.__basicsize__
"""The offset, in an array object, of the address of its elements."""

_PYTHON = (
    "PyErr_NoMemory",
    "PyLong_AsSsize_t",
    "PyEval_RestoreThread",
    "PyEval_SaveThread",
    "PyList_New",
    "PyList_SetItem",
    "PyMem_RawFree",
    "PyMem_RawMalloc",
    "Py_DecRef",
    "Py_IncRef",
)
# the positions of NumPy's functions in the table that it exports
_NUMPY = {"PyArray_Type": 2, "PyArray_New": 93}


class State(np.ndarray[Any, Any]):
    """A table of addresses that native code gets, and what must live as long as that code.

    Its first place is for memory that native code keeps between calls.
    """

    owner: Any

    @classmethod
    def of(
        cls, arrays: Sequence[np.ndarray[Any, Any]], owner: Any, words: Sequence[int] = ()
    ) -> State:
        """The table of the addresses of some arrays, with words in front of it, the last first."""
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
    """Make LLVM ready for this machine, and make known to it the functions that wrappers call."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in _PYTHON:
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
def _host() -> tuple[Any, str, str, bool]:
    """The target, the processor's name and features, and whether its vectors have 512 bits."""
    register()
    features = llvm.get_host_cpu_features()
    target = llvm.Target.from_default_triple()
    return (target, llvm.get_host_cpu_name(), features.flatten(), bool(features.get("avx512f")))


def _target() -> Any:
    # a new one for each module, since the engine that runs the module takes it over
    target, name, features, _ = _host()
    return target.create_target_machine(cpu=name, features=features, opt=2, jit=True)


def function_attributes() -> str:
    """Attributes of every function that is generated."""
    wide = ' "prefer-vector-width"="512"' if _host()[3] else ""
    return f"nounwind{wide}"


def optimise(module: Any, machine: Any) -> None:
    """Do what the text leaves to LLVM: memory of single elements as registers, and small change.

    Loops are written as they are to run (NOTE [strips] in `strips`), so that the passes which look
    for better ones, and take most of the time, have nothing to do.
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
    ir: LLVM's text, before it was optimised.
    """

    __slots__ = ("_engine", "_module", "ir")

    def __init__(self, text: str) -> None:
        machine = _target()
        self.ir = text
        module = llvm.parse_assembly(text)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        _, name, features, _ = _host()
        versions = (llvmlite.__version__, str(llvm.llvm_version_info))
        file = file_for((text, name, features, *versions))
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
        """The address of a function's code."""
        return int(self._engine.get_function_address(name))

    def optimised(self) -> str:
        """LLVM's text after optimisation."""
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


def builtin(address: int, name: str, state: State) -> Callable[..., Any]:
    """A built-in function that runs the code at an address, with `state` as what it is bound to."""
    definition = _MethodDef(name.encode(), address, _METH_FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p]
    # the function reads its definition when it is freed, and that may be after the garbage
    # collector has cleared everything else of a cycle: so definitions, of 32 bytes, stay for good
    _DEFINITIONS.append(definition)
    return make(ctypes.byref(definition), state, None)
