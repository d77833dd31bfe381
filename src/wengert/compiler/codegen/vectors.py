"""Layer 8 · compiler: functions of mathematics for several numbers at a time, in native code.

NOTE [vector functions]
There are functions that do for vectors what ``exp`` does for a number. Loops that are written out
in vectors call these, and ``exp`` of the C library for what is left over at their ends. They are in
libmvec, which glibc has: ``_ZGVdN4v_exp`` takes 4 doubles in the registers of AVX2 (b: SSE, d:
AVX2, e: AVX-512, n: NEON), each v one argument; which of them exist is asked of the library that is
there. They are accurate to 4 units in the last place. Some are our own, compiled from formulas
when a program first needs them, for each length of vectors: all that have a formula where there is
no libmvec, and everywhere those that are quicker than its (tanh) or whose arguments often are ones
that libmvec takes one at a time (exp where it vanishes, in mixtures and attention), and the
logarithm of floats, of which libmvec loses more digits near 1. What neither has is a call of the C
library for each element.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

from wengert.compiler.codegen.code import Code, Module
from wengert.compiler.codegen.scalars.formulas import FORMULAS
from wengert.compiler.codegen.scalars.lane import Lane

__all__ = ["VectorForm", "provide", "register_bytes", "vector_forms"]

# letters of the vector ABI by the processor's feature, with the bytes of their registers
_X86 = (("sse2", "b", 16), ("avx2", "d", 32), ("avx512f", "e", 64))
_NEON = (("neon", "n", 16),)
_DTYPES: dict[str, np.dtype[Any]] = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}
# engines hold the code of their functions as long as they live
_ENGINES: list[Any] = []


class VectorForm(NamedTuple):
    """A function for so many numbers: its symbol, and its calling convention if that is unusual."""

    length: int
    symbol: str
    convention: str = ""


def _is_arm() -> bool:
    return bool(llvm.get_process_triple().startswith(("aarch64", "arm64")))


@cache
def _registers() -> tuple[tuple[str, int], ...]:
    """The letters of the processor's kinds of vectors, and their bytes."""
    features = llvm.get_host_cpu_features()
    known = _NEON if _is_arm() else _X86
    # what every processor of the kind has may not be listed
    usual = ("sse2", "neon")
    return tuple([(letter, n) for name, letter, n in known if features.get(name, name in usual)])


@cache
def register_bytes() -> int:
    """The size of the processor's longest registers in bytes."""
    return _registers()[-1][1]


@cache
def _libmvec() -> Any:
    """The vector library of glibc, loaded where LLVM finds its functions, or None."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL("libmvec.so.1")
        llvm.load_library_permanently("libmvec.so.1")
    except (OSError, RuntimeError):
        return None
    return library


@cache
def vector_forms(name: str, element: str, arguments: int = 1) -> tuple[VectorForm, ...]:
    """The vector forms of a function of the C library.

    Parameters
    ----------
    name: The function of doubles: ``"exp"``.
    element: ``"double"`` or ``"float"``.
    arguments: How many it has.
    """
    own = _own_forms(name, element)
    if own and element in FORMULAS[name].own:
        return own
    return _library_forms(name, element, arguments) or own


def _library_forms(name: str, element: str, arguments: int) -> tuple[VectorForm, ...]:
    library, scalar = _libmvec(), name if element == "double" else f"{name}f"
    forms = []
    for letter, width in _registers() if library is not None else ():
        count = width // _DTYPES[element].itemsize
        symbol = f"_ZGV{letter}N{count}{'v' * arguments}_{scalar}"
        if hasattr(library, symbol):
            convention = "aarch64_vector_pcs " if letter == "n" else ""
            forms.append(VectorForm(count, symbol, convention))
    return tuple(forms)


def _own_forms(name: str, element: str) -> tuple[VectorForm, ...]:
    if name not in FORMULAS:
        return ()
    forms = []
    # each takes some milliseconds to compile: none for the shortest of several kinds of vectors
    for _, width in _registers()[-2:] if len(_registers()) > 2 else _registers()[-1:]:
        count = width // _DTYPES[element].itemsize
        symbol = f"wengert_{name}_{element}_{count}"
        forms.append(VectorForm(count, symbol))
    return tuple(forms)


def provide(form: VectorForm) -> None:
    """Make a form of our own known to LLVM, if it is one."""
    if form.symbol.startswith("wengert_"):
        _compile(form.symbol, form.length)


# -- functions made of formulas -------------------------------------------------------------------


@cache
def _compile(symbol: str, count: int) -> None:
    """Compile a function, and make it known to LLVM."""
    _, name, element, _ = symbol.split("_")
    module = Module()
    code = Code(module)
    m = Lane(code, _DTYPES[element], exact=True, count=count)
    result = FORMULAS[name].rule(m, "%x")
    text = code.function(f"{m.type} @{symbol}({m.type} %x)", f"{m.type} {result}")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        # constants next to the code, which has far fewer instructions then
        reloc="pic",
        codemodel="small",
        jit=True,
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(module.text() + text), machine)
    engine.finalize_object()
    _ENGINES.append(engine)
    llvm.add_symbol(symbol, engine.get_function_address(symbol))
