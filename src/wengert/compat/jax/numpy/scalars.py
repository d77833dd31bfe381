"""Layer 9 · compat: the types of numbers of `jax.numpy`: ``jnp.float32`` and its like.

Each is a dtype wherever one is taken, equal to NumPy's, and makes an array when it is called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.extras import bfloat16
from wengert.compat.jax.array import Array, asarray
from wengert.compat.jax.dtypes import requested_dtype

EIGHTS = frozenset(
    f"float8_{name}" for name in ("e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")
)
"""Types of eight bits, which have names, and no arrays."""


class _ScalarMeta(type):
    """The type of the types of numbers."""

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
    made.__doc__ = f"The dtype {np.dtype(dtype).name}; called, an array of it."
    return made


def extended(name: str) -> Any:
    """A type that NumPy has not.

    Raises
    ------
    AttributeError: Unless the package ml_dtypes is installed.
    """
    try:
        bfloat16()  # NumPy knows the names from then on
        return _scalar(name, name)
    except ImportError as error:
        raise AttributeError(f"jax.numpy.{name}: {error}") from error


_NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128"
)
SCALARS: dict[str, Any] = {name: _scalar(name, name) for name in _NAMES.split()}
"""The types by name."""
SCALARS |= {
    "bool_": SCALARS["bool"],
    "cdouble": SCALARS["complex128"],
    "complex_": SCALARS["complex128"],
    "csingle": SCALARS["complex64"],
    "double": SCALARS["float64"],
    "float_": SCALARS["float64"],
    "int_": SCALARS["int64"],
    "single": SCALARS["float32"],
    "uint": SCALARS["uint64"],
}
