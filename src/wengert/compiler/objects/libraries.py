"""Layer 8 · compiler: which functions and classes belong to libraries, and which are pure.

NOTE [libraries]
The walk does not enter library code: this module says which library functions a trace may contain.
A guard checks that the names through which a function reaches them still resolve to the same
objects; the code that these call is assumed not to change. The functions of NumPy, SciPy and
wengert are pure, except for those in `_WORLDLY`, which read or set hidden state; so are those of
the standard library's modules in `_PURE`. All others are *not known to be pure*: a standard-library
function written in Python is walked like the user's own, and one in C is denied.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

import numpy as np

from wengert.base.names import INSTALLED

__all__ = [
    "EXACT",
    "LIBRARIES",
    "is_constant",
    "is_library_module",
    "is_of_library",
    "is_pure",
    "is_trusted",
    "may_tell",
    "of_library_name",
]

LIBRARIES = frozenset({"wengert", "numpy", "scipy"})
"""Libraries whose functions never change."""
_PURE = frozenset(
    {
        *("abc", "_abc", "array", "ast", "bisect", "_bisect", "cmath", "collections", "copy"),
        *("_collections", "_collections_abc", "contextlib", "copyreg", "ctypes", "_ctypes"),
        *("dataclasses", "decimal", "_decimal", "enum", "fractions", "functools", "_functools"),
        *("heapq", "_heapq", "itertools", "keyword", "math", "numbers", "operator", "_operator"),
        *("re", "_sre", "_statistics", "string", "_string", "struct", "_struct"),
        *("types", "typing", "typing_extensions", "weakref", "_weakref", "_weakrefset"),
        *("contextvars", "_contextvars", "__future__", "reprlib", "_thread._local"),
    }
)
"""Pure modules of the standard library."""
_WORLDLY = {
    "builtins": frozenset(
        {
            *("print", "open", "input", "exec", "eval", "globals", "locals", "breakpoint", "id"),
            *("__import__", "compile", "help", "exit", "quit", "memoryview"),
        }
    ),
    "decimal": frozenset({"getcontext", "setcontext", "localcontext"}),
    "contextvars": frozenset({"copy_context"}),
    "numpy": frozenset(
        {
            *("load", "loadtxt", "genfromtxt", "fromfile", "memmap", "open_memmap", "fromregex"),
            *("save", "savetxt", "savez", "savez_compressed", "DataSource", "datetime64"),
            *("seterr", "geterr", "seterrcall", "geterrcall", "setbufsize", "getbufsize"),
            *("set_printoptions", "get_printoptions", "printoptions", "array2string"),
            *("array_repr", "array_str", "show_config", "show_runtime", "info", "get_include"),
        }
    ),
    "wengert": frozenset(
        {
            *("load", "save", "seed", "initial_seed", "get_rng_state", "set_rng_state"),
            *("manual_seed", "get_num_threads", "set_num_threads", "get_num_interop_threads"),
            *("set_num_interop_threads", "set_default_dtype", "set_default_tensor_type"),
            *("set_warn_always", "is_warn_always_enabled"),
            *("set_default_device", "get_default_device", "set_printoptions", "get_printoptions"),
            *("printoptions", "use_deterministic_algorithms", "set_flush_denormal"),
            *("are_deterministic_algorithms_enabled", "is_anomaly_enabled"),
            *("is_deterministic_algorithms_warn_only_enabled", "is_anomaly_check_nan_enabled"),
            *("get_float32_matmul_precision", "set_float32_matmul_precision"),
        }
    ),
}
"""Functions that read or set hidden state, or have other effects."""
_DRAWING = ("numpy.random", "numpy.ctypeslib", "scipy.io", "scipy.stats", "scipy.datasets")
"""Library modules that draw random numbers from generators of their own, or read files."""
EXACT = frozenset(
    name for kind in (int, float, complex) for name, part in vars(kind).items() if callable(part)
)
"""Methods of Python's number types, which accept only those types."""
_ASKING_TYPES = {
    "builtins": frozenset({"type", "pow"}),
    "math": frozenset({"ldexp"}),
    "itertools": frozenset({"count"}),
}
"""The functions in modules of `_TAKING` that check the exact types of their arguments."""
_TAKING = frozenset(
    {
        *("abc", "_abc", "bisect", "_bisect", "builtins", "cmath", "collections", "_collections"),
        *("contextlib", "contextvars", "_contextvars", "copy", "copyreg", "dataclasses", "enum"),
        *("functools", "_functools", "itertools", "logging", "math", "numbers", "operator", "re"),
        *("_operator", "string", "types", "typing", "typing_extensions", "warnings", "weakref"),
        *("_weakref", "_weakrefset", "keyword", "reprlib", "_sre", "_string", "__future__"),
        *("_collections_abc", "wengert"),
    }
)
"""Modules whose C functions and classes accept anything that behaves like a number or a list."""
_CONSTANTS = frozenset({"pi", "e", "tau", "inf", "nan", "newaxis", "euler_gamma", "NaN", "Inf"})


def of_library_name(module: str | None) -> bool:
    """Return whether a module belongs to NumPy, SciPy, the standard library or this package."""
    base = _base(module or "")
    return base in LIBRARIES or (base in sys.stdlib_module_names and base != "__main__")


def _base(module: str) -> str:
    """Return a module's package; names that this package is installed under map to ``wengert``."""
    base = module.split(".")[0]
    return INSTALLED.get(base, base)


def is_library_module(module: types.ModuleType) -> bool:
    """Return whether a module is a library's, whose contents are assumed not to change."""
    return of_library_name(module.__name__)


def is_of_library(kind: type) -> bool:
    """Return whether a class belongs to NumPy, SciPy, the standard library or this package."""
    module = kind.__dict__.get("__module__", "builtins")
    return isinstance(module, str) and of_library_name(module) and _is_defined(kind, module)


def _is_defined(kind: type, module: str) -> bool:
    """Return whether a class can come from the module that it names; it may name any module."""
    if module == "builtins":
        return not kind.__flags__ & _HEAP or hasattr(sys.modules["builtins"], kind.__name__)
    return module in sys.modules or _base(module) != module.split(".")[0]


_HEAP = 1 << 9


def is_pure(module: str | None, name: str) -> bool:
    """Return whether the library function or class ``module.name`` is pure."""
    if module is None:
        return False
    base = _base(module)
    if base == "builtins" or base in _PURE:
        return name not in _WORLDLY.get(base.strip("_"), ())
    if base in LIBRARIES:
        return name not in _WORLDLY.get(base, ()) and not module.startswith(_DRAWING)
    return False


def may_tell(thing: Any) -> bool:
    """Return whether a C function or a class may distinguish a number or list from its stand-in.

    Those that are not known to accept both are assumed to distinguish them.
    """
    kind = type(thing)
    if kind is np.ufunc or not issubclass(kind, type | _IN_C):
        return False
    module, name = getattr(thing, "__module__", None), thing.__name__
    if module is None:
        # a method, bound or looked up on a class
        return name in EXACT
    base = _base(module)
    if base == "numpy":
        return not isinstance(thing, type)
    if not of_library_name(module):
        return False
    return base not in _TAKING or name in _ASKING_TYPES.get(base, ())


_IN_C = (
    types.BuiltinFunctionType
    | types.MethodDescriptorType
    | types.WrapperDescriptorType
    | types.MethodWrapperType
    | types.ClassMethodDescriptorType
    | type(np.where)
)


def is_trusted(function: types.FunctionType) -> bool:
    """Return whether a Python function belongs to a library that the walk does not enter."""
    return _is_trusted_name(str(function.__globals__.get("__name__")))


@functools.lru_cache(2048)
def _is_trusted_name(module: str) -> bool:
    base = module.split(".")[0]
    return base in LIBRARIES or base in _PURE


def is_constant(name: str, value: Any) -> bool:
    """Return whether an attribute of a library's module is a well-known constant."""
    return name in _CONSTANTS and isinstance(value, float | type(None))
