"""Layer 9 · compat: JAX's dtypes and their promotion.

NOTE [JAX's dtypes]
Unless x64 is enabled, dtypes have 32 bits where NumPy's would have 64 (`canonical_dtype`). Dtypes
are promoted in a lattice. It has three *weak* dtypes, for Python numbers and for arrays computed
from them alone: a weak int adapts to every integer dtype, a weak float to every floating one, a
weak complex to every complex one; an integer and a weak float give a weak float. So an operation
with a Python number keeps the dtype of a float16 array, and of an int16 array unless the number is
a float.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, limits
from wengert.base.dtypes import dtype as OurDtype
from wengert.base.extras import bfloat16
from wengert.compat.jax.settings import enable_x64
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined
from wengert.tape.sites import warn


class extended(np.generic):
    """The abstract class of extended dtypes, which are not numeric."""


class TypePromotionError(ValueError):
    """The error for dtypes without a common dtype, if promotion is strict."""


class prng_key(extended):
    """The abstract class of typed-key dtypes."""


float0: Any = np.dtype([("float0", np.void, 0)])
"""The dtype of the placeholder for a derivative with respect to integers; it has no bytes."""
iinfo = np.iinfo

_HALVES = {
    np.dtype(f"{kind}{2 * size}"): np.dtype(f"{kind}{size}")
    for kind, size in (("i", 4), ("u", 4), ("f", 4), ("c", 8))
}
_PYTHONS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def _named(dtype) -> np.dtype[Any]:
    """Return NumPy's dtype object for any spelling of a dtype."""
    if dtype.__class__ is OurDtype:
        return as_dtype(dtype).dtype
    if dtype.__class__ is str and dtype == "bfloat16":
        return bfloat16().dtype
    inner = getattr(dtype, "dtype", None)
    if isinstance(inner, np.dtype):
        return inner
    return np.dtype(dtype)


def finfo(dtype) -> Any:
    """Return the numeric limits of a floating dtype."""
    return limits(_named(dtype))


def canonical_dtype(dtype) -> np.dtype[Any]:
    """Return the dtype that arrays get when `dtype` is requested (see NOTE [JAX's dtypes]).

    Parameters
    ----------
    dtype: A dtype of NumPy's or of `jax.numpy`'s, a Python type, or a name.

    Returns
    -------
    numpy.dtype: Of at most 32 bits (complex: 64), unless x64 is enabled.

    Raises
    ------
    TypeError: If it is not a dtype that arrays can have.

    Examples
    --------
    >>> from wengert.compat.jax.dtypes import canonical_dtype
    >>> canonical_dtype(float), canonical_dtype("int16")
    (dtype('float32'), dtype('int16'))
    """
    try:
        found = _named(dtype)
    except TypeError:
        raise TypeError(f"Cannot interpret {dtype!r} as a data type") from None
    if found.kind not in "biufc" and found.name != "bfloat16" and found != float0:
        raise refusal(TypeError, "Dtype {!r} is not a valid", dtype)
    if not found.isnative:
        found = found.newbyteorder("=")
    return found if enable_x64.value else _HALVES.get(found, found)


@functools.cache
def _name_of(dtype: np.dtype[Any], wide: bool) -> str:
    return canonical_dtype(dtype).name


def canonical_name(dtype: np.dtype[Any]) -> str:
    """Return the name of the dtype that arrays have in place of one of NumPy's."""
    return _name_of(dtype, enable_x64.value)


def canonicalize_dtype(dtype, allow_extended_dtype: bool = False) -> np.dtype[Any]:
    """Return the dtype that JAX uses in place of `dtype`; JAX's name for `canonical_dtype`."""
    return canonical_dtype(dtype)


def requested_dtype(dtype, function: str) -> np.dtype[Any]:
    """Like `canonical_dtype`, but for a dtype that a user asked for: warn if it is not available.

    Parameters
    ----------
    function: The name of the function that was called, for the warning.
    """
    found = canonical_dtype(dtype)
    if dtype in _PYTHONS or enable_x64.value:
        return found
    wanted = _named(dtype)
    if wanted != found and wanted.isnative:
        warn(
            f"Explicitly requested dtype {wanted.name} requested in {function} is not available, "
            f"and will be truncated to dtype {found.name}. To enable more dtypes, set the "
            "jax_enable_x64 configuration option: jax.config.update('jax_enable_x64', True).",
            UserWarning,
        )
    return found


def default_dtype(kind: str) -> np.dtype[Any]:
    """Return the default dtype for a kind of number: ``"b"``, ``"i"``, ``"f"`` or ``"c"``."""
    wide = {"b": "bool", "i": "int64", "u": "uint64", "f": "float64", "c": "complex128"}[kind]
    return canonical_dtype(wide)


def total_dtype(dtype, promote_integers=True) -> Any:
    """Return the dtype of a sum or product of numbers of a dtype."""
    if dtype.kind == "b":
        return default_dtype("i")
    if dtype.kind in "iu" and promote_integers and dtype.itemsize < default_dtype("i").itemsize:
        return default_dtype(dtype.kind)
    return dtype


def inexact_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the inexact dtype for a dtype: itself, or a float: single unless it has 64 bits."""
    if dtype.kind not in "biu":
        return dtype
    return default_dtype("f") if dtype.itemsize > 4 else np.dtype(np.float32)


# -- the lattice -----------------------------------------------------------------------------------

WEAK = {"i": "i*", "f": "f*", "c": "c*"}
"""The names of the weak dtypes, by kind."""
_ABOVE = {
    "bool": ("i*",),
    "i*": ("uint8", "int8"),
    "uint8": ("int16", "uint16"),
    "uint16": ("int32", "uint32"),
    "uint32": ("int64", "uint64"),
    "uint64": ("f*",),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": ("f*",),
    "f*": ("c*", "bfloat16", "float16"),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "c*": ("complex64",),
    "complex64": ("complex128",),
    "complex128": (),
}


@functools.cache
def _bounds(name: str) -> frozenset[str]:
    """Return the upper bounds of a dtype in the promotion lattice, including itself."""
    if name == "void":
        raise refusal(TypeError, "float0s do not support")
    if name not in _ABOVE:
        raise TypeError(f"arrays of dtype {name} cannot be computed with: convert them first")
    return frozenset((name,)).union(*map(_bounds, _ABOVE[name]))


@functools.cache
def join(names: frozenset[str]) -> str:
    """Return the least upper bound of dtypes in the promotion lattice, by name."""
    common = frozenset.intersection(*map(_bounds, names))
    return max(common, key=lambda name: len(_bounds(name)))


def issubdtype(arg1, arg2) -> bool:
    """Return whether a dtype is a subtype of another (see `numpy.issubdtype`)."""
    if is_of_keys(arg1):
        return arg2 in (prng_key, extended, np.generic)
    first = arg1 if isinstance(arg1, type) else _named(arg1)
    second = arg2 if isinstance(arg2, type) else _named(arg2)
    if "bfloat16" in (getattr(first, "name", ""), getattr(first, "__name__", "")):
        return second in (np.floating, np.inexact, np.number, np.generic) or first == second
    return bool(np.issubdtype(first, second))


def is_of_keys(dtype) -> bool:
    """Return whether `dtype` is that of typed keys."""
    return getattr(dtype, "type", None) is prng_key


def scalar_type_of(x) -> type:
    """Return the Python type for a dtype or an array: bool, int, float or complex."""
    kind = _named(x).kind if not isinstance(x, bool | int | float | complex) else ""
    if not kind:
        return type(x)
    return {"b": bool, "i": int, "u": int, "c": complex}.get(kind, float)


def result_type(*args, return_weak_type_flag: bool = False) -> Any:
    """Return the promoted dtype of arrays, numbers and dtypes, and whether it is weak."""
    found = importlib.import_module("wengert.compat.jax.array").result_type(*args)
    return found if return_weak_type_flag else found[0]


def __getattr__(name: str) -> Any:
    if name == "bfloat16":
        return bfloat16().dtype.type
    raise AttributeError(f"module 'jax.dtypes' has no attribute {name!r}")


__all__ = [*defined(globals()), *["WEAK", "float0", "iinfo"]]
