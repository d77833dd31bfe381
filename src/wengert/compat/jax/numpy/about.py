"""Layer 9 · compat: functions of `jax.numpy` for dtypes, and for arrays as strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.extras import bfloat16
from wengert.compat.jax.array import Array, asarray
from wengert.compat.jax.array import result_type as joined
from wengert.compat.jax.classes import array_repr as shown
from wengert.compat.jax.dtypes import canonical_dtype, is_of_keys, issubdtype, join, requested_dtype
from wengert.compat.kit.namespaces import functions_of


def result_type(*args) -> Any:
    """Return the promoted dtype of values.

    Examples
    --------
    >>> jnp.result_type(jnp.int8, 1.0), jnp.result_type(1, 2)
    (dtype('float32'), dtype('int32'))
    """
    if not args:
        raise ValueError("at least one array or dtype is required")
    dtypes = [getattr(x, "dtype", x) for x in args]
    keys = [dtype for dtype in dtypes if is_of_keys(dtype)]
    if keys and len(keys) < len(args):
        raise ValueError(f"dtype={keys[0]} is not a valid dtype for JAX type promotion.")
    if keys:
        return keys[0]
    return joined(*args)[0]


def promote_types(a, b) -> Any:
    """Return the promoted dtype of two dtypes."""
    weak: dict[Any, str] = {int: "i*", float: "f*", complex: "c*"}
    found = join(frozenset(weak.get(x) or canonical_dtype(x).name for x in (a, b)))
    numbers = {name: np.dtype(kind) for kind, name in weak.items()}
    return numbers[found] if found in numbers else canonical_dtype(found)


def can_cast(from_, to, casting="safe") -> bool:
    """Return whether a dtype can be cast to another (see `numpy.can_cast`)."""
    return bool(np.can_cast(np.dtype(getattr(from_, "dtype", from_)), np.dtype(to), casting))


def isdtype(dtype, kind) -> bool:
    """Return whether a dtype is of the given kind (see `numpy.isdtype`)."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    known = ["bool", "signed integer", "unsigned integer", "integral", "real floating"]
    known += ["complex floating", "numeric"]
    named = tuple(k if k in known else np.dtype(k) for k in kinds)
    return bool(np.isdtype(np.dtype(dtype), named))


def isscalar(element) -> bool:
    """Return whether an object is a number or a 0-d array."""
    return np.isscalar(element) or (hasattr(element, "dtype") and element.shape == ())


def iterable(y) -> bool:
    """Return whether an object can be iterated over."""
    return np.iterable(y) and not (hasattr(y, "ndim") and not y.ndim)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None) -> str:
    """Return the representation of an array: ``Array([0., 1.], dtype=float32)``."""
    if not isinstance(arr, Array):
        return np.array_repr(arr, max_line_width, precision, suppress_small)
    with np.printoptions(**_options(precision, suppress_small)):
        return shown(arr)


def array_str(a, max_line_width=None, precision=None, suppress_small=None) -> str:
    """Return the values of an array as a string."""
    return np.array_str(np.asarray(a), max_line_width, precision, suppress_small)


def _options(precision, suppress) -> dict[str, Any]:
    given = {"precision": precision, "suppress": suppress}
    return {key: value for key, value in given.items() if value is not None}


NAMES: dict[str, Any] = {**functions_of(globals()), "issubdtype": issubdtype}


# -- the scalar types of `jax.numpy`: ``jnp.float32``, ... -----------------------------------------

# Each is accepted as a dtype, equals NumPy's dtype, and makes an array when it is called.

EIGHTS = frozenset(
    f"float8_{name}" for name in ("e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")
)
"""Eight-bit float types, which have names but no arrays."""


class _ScalarMeta(type):
    """The metaclass of scalar types."""

    dtype: np.dtype[Any]

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __eq__(cls, other: object) -> bool:
        if isinstance(other, _ScalarMeta):
            return cls.dtype == other.dtype
        return other is cls.dtype.type or (isinstance(other, np.dtype) and other == cls.dtype)

    def __ne__(cls, other: object) -> bool:
        return not cls == other

    def __call__(cls, x=0) -> Any:
        return asarray(x, requested_dtype(cls.dtype, cls.__name__))

    def __instancecheck__(cls, instance) -> bool:
        if isinstance(instance, Array):
            return not instance.ndim and instance.dtype == cls.dtype
        return isinstance(instance, cls.dtype.type)

    def __repr__(cls) -> str:
        return f"<class 'jax.numpy.{cls.__name__}'>"


def _scalar(name: str, dtype: str) -> Any:
    made = _ScalarMeta(name, (), {"dtype": np.dtype(dtype), "__module__": "jax.numpy"})
    made.__doc__ = f"The dtype {np.dtype(dtype).name}; a call makes an array of it."
    return made


def extended(name: str) -> Any:
    """Return a scalar type that NumPy does not have.

    Raises
    ------
    AttributeError: Unless the package ml_dtypes is installed.
    """
    try:
        bfloat16()  # importing it registers the names with NumPy
        return _scalar(name, name)
    except ImportError as error:
        raise AttributeError(f"jax.numpy.{name}: {error}") from error


_SCALARS = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128"
)
NAMES |= {name: _scalar(name, name) for name in _SCALARS.split()}
_OLD = (
    "bool_=bool cdouble=complex128 complex_=complex128 csingle=complex64 double=float64 "
    "float_=float64 int_=int64 single=float32 uint=uint64"
)
NAMES |= {name: NAMES[current] for name, current in (x.split("=") for x in _OLD.split())}
