"""Layer 8 · compiler: vector forms of mathematical functions, for native code.

NOTE [vector functions]
Vectorised loops call vector forms of functions such as ``exp``; their remainder loops call the C
library's scalar ones. Vector forms come from two sources.

glibc's libmvec has functions accurate to 4 units in the last place: ``_ZGVdN4v_exp`` takes 4
doubles in AVX2 registers (b: SSE, d: AVX2, e: AVX-512, n: NEON), and each v stands for one
argument. The loaded library is searched for the functions that it has.

Our own are compiled from formulas, for each vector length, when a program first needs them. Without
libmvec they serve every function that has a formula. They also replace libmvec's functions that are
slower (tanh), that fall back to one lane at a time on frequent arguments (exp where it underflows,
in mixtures and attention), or that lose more digits (the logarithm of floats near 1).

A function with neither form is a call of the C library for each element.
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

# processor features, the vector ABI's letters for them, and the bytes of their registers
_X86 = (("sse2", "b", 16), ("avx2", "d", 32), ("avx512f", "e", 64))
_NEON = (("neon", "n", 16),)
DTYPES: dict[str, np.dtype[Any]] = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}
# engines own the code of their functions, and so are kept alive
_ENGINES: list[Any] = []


class VectorForm(NamedTuple):
    """A function of `length` numbers: its symbol, and its calling convention if not C's."""

    length: int
    symbol: str
    convention: str = ""


@cache
def host() -> tuple[Any, dict[str, str]]:
    """Return LLVM's target, and the processor's name and features, after initialising LLVM."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_default_triple(), {
        "cpu": llvm.get_host_cpu_name(),
        "features": features,
    }


def target_machine(**options: str) -> Any:
    """Return a new target machine, since an engine takes ownership of its own."""
    target, processor = host()
    return target.create_target_machine(**processor, opt=2, jit=True, **options)


@cache
def _registers() -> tuple[tuple[str, int], ...]:
    """Return the ABI letters of the processor's vector registers, and their widths in bytes."""
    features = llvm.get_host_cpu_features()
    is_arm = llvm.get_process_triple().startswith(("aarch64", "arm64"))
    known = _NEON if is_arm else _X86
    # baseline features may not be listed
    usual = ("sse2", "neon")
    return tuple([(letter, n) for name, letter, n in known if features.get(name, name in usual)])


@cache
def register_bytes() -> int:
    """Return the width of the processor's widest registers, in bytes."""
    return _registers()[-1][1]


@cache
def _libmvec() -> Any:
    """Load glibc's vector library, for LLVM too, or return None."""
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
    """Return the vector forms of a function of the C library.

    Parameters
    ----------
    name: The function of doubles, such as ``"exp"``.
    element: ``"double"`` or ``"float"``.
    arguments: The number of arguments.
    """
    compiled = _compiled_forms(name, element)
    if compiled and element in FORMULAS[name].own:
        return compiled
    return _library_forms(name, element, arguments) or compiled


def _library_forms(name: str, element: str, arguments: int) -> tuple[VectorForm, ...]:
    library, scalar = _libmvec(), name if element == "double" else f"{name}f"
    forms = []
    for letter, width in _registers() if library is not None else ():
        count = width // DTYPES[element].itemsize
        symbol = f"_ZGV{letter}N{count}{'v' * arguments}_{scalar}"
        if hasattr(library, symbol):
            convention = "aarch64_vector_pcs " if letter == "n" else ""
            forms.append(VectorForm(count, symbol, convention))
    return tuple(forms)


def _compiled_forms(name: str, element: str) -> tuple[VectorForm, ...]:
    if name not in FORMULAS:
        return ()
    forms = []
    # each takes milliseconds to compile: skip the narrowest of several widths
    for _, width in _registers()[-2:] if len(_registers()) > 2 else _registers()[-1:]:
        count = width // DTYPES[element].itemsize
        symbol = f"wengert_{name}_{element}_{count}"
        forms.append(VectorForm(count, symbol))
    return tuple(forms)


def provide(form: VectorForm) -> None:
    """Compile a vector form if it is one of our own."""
    if form.symbol.startswith("wengert_"):
        _compile(form.symbol, form.length)


# -- functions compiled from formulas -------------------------------------------------------------


@cache
def _compile(symbol: str, count: int) -> None:
    """Compile a function, and register it with LLVM."""
    _, name, element, _ = symbol.split("_")
    module = Module()
    code = Code(module)
    m = Lane(code, DTYPES[element], exact=True, count=count)
    result = FORMULAS[name].rule(m, "%x")
    text = code.function(f"{m.type} @{symbol}({m.type} %x)", f"{m.type} {result}")
    # constants next to the code take far fewer instructions to address
    machine = target_machine(reloc="pic", codemodel="small")
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(module.text() + text), machine)
    engine.finalize_object()
    _ENGINES.append(engine)
    llvm.add_symbol(symbol, engine.get_function_address(symbol))
