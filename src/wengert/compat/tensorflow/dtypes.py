"""Layer 9 · compat: TensorFlow's dtypes: `DType`, `as_dtype` and one object for each type."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from wengert.base import extras
from wengert.base.dtypes import DTYPES as NATIVE
from wengert.base.dtypes import limits
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.words import refusal

_CXX = {"float16": "half", "float32": "float", "float64": "double"}
_ALIASES = {"half": "float16", "float": "float32", "double": "float64"}
_PYTHON = {float: "float32", int: "int32", bool: "bool", complex: "complex128"}


_NUMBERS = {
    **{"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7},
    **{"complex64": 8, "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18},
    **{"float16": 19, "uint32": 22, "uint64": 23},
}
"""The numbers of types in TensorFlow's files."""


class DType:
    """The dtype of a tensor; there is one object per type.

    Examples
    --------
    >>> tf.float32, tf.float32.name, tf.float32.is_floating
    (tf.float32, 'float32', True)
    >>> tf.as_dtype("int64").as_numpy_dtype
    <class 'numpy.int64'>
    """

    __slots__ = ("_numpy", "name")

    def __init__(self, name: str, numpy: np.dtype[Any]) -> None:
        self.name = name
        self._numpy = numpy

    @property
    def as_numpy_dtype(self) -> Any:
        """NumPy's scalar class for this type."""
        return self._numpy.type

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype object, through which NumPy accepts this one."""
        return self._numpy

    @property
    def base_dtype(self) -> DType:
        """The type itself: there are no reference types here."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the parts of a complex type; any other type itself."""
        if self._numpy.kind != "c":
            return self
        return DTYPES["float32" if self._numpy.itemsize == 8 else "float64"]

    @property
    def is_floating(self) -> bool:
        """Whether it is a real floating type."""
        return not self.is_bool and self._numpy.kind not in "iucO"

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex type."""
        return self._numpy.kind == "c"

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer type."""
        return self._numpy.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """Whether it is an unsigned integer type."""
        return self._numpy.kind == "u"

    @property
    def is_bool(self) -> bool:
        """Whether it is the boolean type."""
        return self._numpy.kind == "b"

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether NumPy has the type."""
        return True

    @property
    def as_datatype_enum(self) -> int:
        """The number of the type in TensorFlow's files."""
        return _NUMBERS[self.name]

    @property
    def size(self) -> int:
        """Bytes per element."""
        return self._numpy.itemsize

    @property
    def min(self) -> Any:
        """The smallest number of the type."""
        return self._limits().min

    @property
    def max(self) -> Any:
        """The largest number of the type."""
        return self._limits().max

    @property
    def limits(self) -> tuple[Any, Any]:
        """The smallest and the largest number of the type."""
        return self.min, self.max

    def _limits(self) -> Any:
        if self._numpy.kind in "bc":
            raise TypeError(f"Cannot find maximum value of {self!r}: it has no order.")
        return limits(self._numpy)

    def is_compatible_with(self, other) -> bool:
        """Return whether `other` is the same type."""
        return as_dtype(other) is self

    def __eq__(self, other) -> bool:
        if other is self:
            return True
        if other is None:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


DTYPES = {name: DType(name, native.numpy) for name, native in NATIVE.items()}
float16, float32, float64 = DTYPES["float16"], DTYPES["float32"], DTYPES["float64"]
int8, int16, int32, int64 = DTYPES["int8"], DTYPES["int16"], DTYPES["int32"], DTYPES["int64"]
uint8, uint16 = DTYPES["uint8"], DTYPES["uint16"]
uint32, uint64 = DTYPES["uint32"], DTYPES["uint64"]
complex64, complex128 = DTYPES["complex64"], DTYPES["complex128"]
double, half = float64, float16
string = DTYPES["string"] = DType("string", np.dtype(object))
_BY_NUMPY = {d.dtype: d for d in DTYPES.values()}


def as_dtype(type_value) -> DType:
    """Convert a description of a type to a `DType`: ``"float32"``, ``np.float32``, ``float``.

    Raises
    ------
    TypeError: If it does not name a tensor's type.

    Examples
    --------
    >>> tf.as_dtype("float64"), tf.as_dtype(int)
    (tf.float64, tf.int32)
    """
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, type) and type_value in _PYTHON:
        return DTYPES[_PYTHON[type_value]]
    if isinstance(type_value, str):
        name = _ALIASES.get(type_value, type_value)
        found = of_numpy(extras.bfloat16().numpy) if name == "bfloat16" else DTYPES.get(name)
        if found is not None:
            return found
    if type_value is not None:
        try:
            return of_numpy(np.dtype(type_value))
        except TypeError:
            pass
    raise TypeError(f"Cannot convert {type_value!r} to a TensorFlow DType.")


def of_numpy(numpy: np.dtype[Any]) -> DType:
    """Return the `DType` for a NumPy dtype."""
    found = _BY_NUMPY.get(numpy)
    if found is None:
        found = _BY_NUMPY.get(numpy.newbyteorder("="))
    if found is None:
        if numpy.name != "bfloat16":
            raise TypeError(f"Cannot convert {numpy!r} to a TensorFlow DType.")
        found = DTYPES["bfloat16"] = _BY_NUMPY[numpy] = DType("bfloat16", numpy)
    return found


def numpy_dtype(value) -> np.dtype[Any] | None:
    """Return the NumPy dtype for any argument of `as_dtype`; None for None."""
    return None if value is None else as_dtype(value).dtype


def cxx_name(numpy: np.dtype[Any]) -> str:
    """Return the name of a dtype in TensorFlow's messages, such as ``float`` for float32."""
    return _CXX.get(numpy.name, numpy.name)


def __getattr__(name: str) -> Any:
    if name in ("cast", "complex", "saturate_cast"):
        return getattr(importlib.import_module(f"{__package__}.functions.creation"), name)
    if name in DTYPES:
        return DTYPES[name]
    if name == "bfloat16":
        try:
            return as_dtype(name)
        except ImportError as error:
            raise refusal(AttributeError, "module 'tensorflow' has", error) from error
    raise refusal(AttributeError, "module 'tensorflow.dtypes' has", name, ", ".join(DTYPES))


__all__ = defined(globals(), "DTYPES cast complex saturate_cast")
