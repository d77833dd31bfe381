"""Layer 8 · compiler: which functions and classes belong to libraries, and which are pure.

NOTE [libraries]
The walk does not enter library code: this module says which library functions a trace may contain.
A guard checks that the names through which a function reaches them still resolve to the same
objects; the code that these call is assumed not to change. The functions of NumPy, SciPy and
wengert are pure, except for those in `_WORLDLY`, which read or set hidden state; so are those of
the modules in `_PURE`. All others are *not known to be pure*: a standard-library function written
in Python is walked like the user's own, and one in C is denied.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any

import numpy as np

from wengert.base.dtypes import get_default_dtype
from wengert.base.names import INSTALLED

LIBRARIES = frozenset({"wengert", "numpy", "scipy"})
"""Libraries whose functions never change."""
_PURE = frozenset(
    {
        *("abc", "_abc", "array", "ast", "bisect", "_bisect", "cmath", "collections", "copy"),
        *("_collections", "_collections_abc", "contextlib", "copyreg", "ctypes", "_ctypes"),
        *("dataclasses", "decimal", "_decimal", "enum", "fractions", "functools", "_functools"),
        *("heapq", "_heapq", "itertools", "keyword", "math", "numbers", "operator", "_operator"),
        *("re", "_sre", "_statistics", "string", "_string", "struct", "_struct"),
        *("types", "typing", "typing_extensions"),
        *("contextvars", "_contextvars", "__future__", "reprlib", "_thread._local"),
        "einops",
    }
)
"""Pure modules of the standard library; and einops, which looks for the libraries loaded so far."""
_WORLDLY = {
    "builtins": frozenset(
        {
            *("print", "open", "input", "exec", "eval", "globals", "locals", "breakpoint"),
            *("__import__", "compile", "help", "exit", "quit", "memoryview", "id", "hash"),
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
            *("load", "save", "manual_seed", "manual_seed_all", "printoptions"),
            *("use_deterministic_algorithms", "is_anomaly_enabled"),
            "is_anomaly_check_nan_enabled",
        }
    ),
}
"""Functions that read or set hidden state, or have other effects; also see `keeps_state`."""
_SETTING = ("set_", "enable_", "disable_", "register_", "clear_", "add_safe_")
"""What the names of the package's functions that set hidden state begin with."""
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
    """Return whether a class can come from the module that it names; it may name any module.

    What makes classes for users, such as `types.new_class`, names the standard library.
    """
    found: Any = sys.modules.get(module)
    if _base(module) in LIBRARIES:
        return found is not None or _base(module) != module.split(".")[0]
    if not kind.__flags__ & _HEAP or kind.__flags__ & _IMMUTABLE:
        return found is not None
    for name in kind.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(name)
    return found is kind


_HEAP = 1 << 9
_IMMUTABLE = 1 << 8


def is_pure(module: str | None, name: str) -> bool:
    """Return whether the library function or class ``module.name`` is pure."""
    if module is None:
        return False
    base = _base(module)
    if base == "builtins" or base in _PURE:
        return name not in _WORLDLY.get(base.strip("_"), ())
    if base in LIBRARIES:
        if name in _WORLDLY.get(base, ()) or module.startswith(_DRAWING):
            return False
        return not keeps_state(vars(sys.modules.get(module, sys)).get(name))
    return False


def keeps_state(function: Any) -> bool:
    """Return whether a function of this package reads or sets state that no condition covers.

    One without parameters can only read such a state, unless all that it names are functions:
    the mode is a condition of each trace, as is the default dtype.
    """
    if not isinstance(function, types.FunctionType):
        return False
    # modes that see all calls wrap the package's functions
    function = inspect.unwrap(function, stop=_wraps_no_function)
    if (
        function is get_default_dtype
        or _base(str(function.__globals__.get("__name__"))) != "wengert"
    ):
        return False
    if function.__name__.startswith(_SETTING):
        return True
    code, space = function.__code__, function.__globals__
    if code.co_argcount or code.co_kwonlyargcount or code.co_flags & _VARIABLE:
        return False
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    held += [space[name] for name in code.co_names if name in space]
    return any(_is_state(value, code.co_names) for value in held)


def _wraps_no_function(function: Any) -> bool:
    return not isinstance(function.__wrapped__, types.FunctionType)


_VARIABLE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def _is_state(value: Any, names: tuple[str, ...]) -> bool:
    """Return whether a value that a function refers to may change, or has `names` that may."""
    if isinstance(value, type):
        return any(name in vars(value) and not callable(vars(value)[name]) for name in names)
    return not callable(value) and not isinstance(value, types.ModuleType)


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
