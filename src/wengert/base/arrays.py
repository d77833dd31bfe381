"""Layer 0 · base: which arrays become tensors.

NOTE [subclasses of arrays]
A subclass of NumPy's array is treated as a plain array if it inherits the array's operators and
functions, as `numpy.memmap` does. If it has its own (the products of `numpy.matrix`, masks, units),
the values alone would mean something else, so it is refused. Functions that convert explicitly,
such as ``numpy.array``, accept a matrix, but not a masked array.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from wengert.base.dtypes import from_numpy_dtype

COUNTED: list[Container[type]] = []
"""Subclasses of arrays that are registered as plain values."""

_COLUMNS = frozenset({"pandas", "polars", "pyarrow"})
_OWN = ("__mul__", "__add__", "__array_ufunc__", "__array_function__")
_CURES = {
    "matrix": "`*` of a matrix is the product of matrices: use numpy.asarray(m), and @",
    "MaskedArray": "its mask would be lost: use m.filled(value), and wengert.where with ~m.mask",
}


NUMBERS = "?bBhHiIlLqQefdFD"
"""The characters of NumPy's dtypes that tensors have, too."""


def plain_array(array: Any) -> Any:
    """Return `array`, also of a subclass, as a plain NumPy array that shares memory, or a scalar.

    An array of another machine's byte order is copied.

    Raises
    ------
    TypeError: If its class has operators or functions of its own, or its elements are not numbers.
    """
    kind, dtype = array.__class__, array.dtype
    if dtype.char not in NUMBERS:
        from_numpy_dtype(dtype)
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    if kind is np.ndarray or isinstance(array, np.generic):
        return array
    own = any(getattr(kind, name) is not getattr(np.ndarray, name) for name in _OWN)
    if own and not any(kind in kinds for kinds in COUNTED):
        names = [cls.__name__ for cls in kind.__mro__]
        cure = next((_CURES[name] for name in names if name in _CURES), None)
        raise TypeError(
            f"expected an array of NumPy or a tensor, but got {kind.__module__}.{kind.__qualname__}"
            f", whose operators are its own: "
            f"{cure or 'use numpy.asarray(x) for the values alone'}"
        )
    return array.view(np.ndarray)


def column(value: Any) -> Any:
    """Return the numbers of a column or table of pandas, Polars or pyarrow; else the value itself.

    Elements are matched by position: labels, which these libraries would align by, are ignored.

    Raises
    ------
    TypeError: If it holds anything but numbers.
    """
    kind = value.__class__
    if kind.__module__.partition(".")[0] not in _COLUMNS or not hasattr(value, "__array__"):
        return value
    array = np.asarray(value)
    if array.dtype.kind == "O" and hasattr(value, "to_numpy"):
        columns = np.atleast_1d(np.asarray(getattr(value, "dtypes", None), object))
        if all(getattr(one, "kind", "O") in "biuf" for one in columns):
            # of pandas, where values are missing, or columns of different dtypes may miss some
            array = value.to_numpy(float, na_value=np.nan)
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"expected numbers, but {kind.__module__}.{kind.__qualname__} holds elements of dtype "
            f"{array.dtype}: convert it first, as by .to_numpy(float)"
        )
    return array


def constant(value: Any) -> Any:
    """Convert an operand from another library: a `column`, or a fraction as the nearest float."""
    return float(value) if value.__class__.__module__ == "fractions" else column(value)


def unmasked(value: Any) -> Any:
    """Return `value` unchanged unless it is a masked array, or a list that holds one.

    Raises
    ------
    TypeError: If it is one: its mask would be lost.
    """
    if value.__class__ is list or value.__class__ is tuple:
        for part in value:
            if part.__class__ is not float:
                unmasked(part)
        return value
    if value.__class__ is np.ndarray or not isinstance(value, np.ndarray):
        return value
    if any(cls.__name__ == "MaskedArray" for cls in value.__class__.__mro__):
        return plain_array(value)
    return value
