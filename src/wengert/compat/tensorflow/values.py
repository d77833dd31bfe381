"""Layer 9 · compat: TensorFlow's conversion of numbers, lists and NumPy arrays.

A Python float becomes float32 and an int becomes int32, or int64 if it is too large; arrays keep
their dtype. If another dtype is requested, arrays are always cast to it; numbers are only converted
to a dtype that can represent every number of their kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.arrays import unmasked
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.dtypes import cxx_name, of_numpy
from wengert.compat.tensorflow.words import refusal

_INT32 = np.iinfo(np.int32)
_RANK = {"b": 0, "i": 1, "f": 2, "c": 3}
_MIXED = "Can't convert Python sequence with mixed types to Tensor."


class TextError(TypeError):
    """The error for a string where a number is needed."""


def fits(kind: str, wanted: np.dtype[Any]) -> bool:
    """Return whether Python numbers of a kind (NumPy's letters) can become elements of `wanted`."""
    if wanted.kind == "O":
        return False
    target = wanted.kind if wanted.kind in "biufc" else "f"
    if kind == "b":
        return target in "bf" or wanted.name in ("int32", "int64")
    if kind == "i":
        return target in "iufc"
    return kind == target or (kind == "f" and target == "c")


def _kind(value) -> str:
    """Return the kind of one element of a Python sequence, in NumPy's letters."""
    if isinstance(value, bool | np.bool_):
        return "b"
    if isinstance(value, int | np.integer):
        return "i"
    if isinstance(value, float | np.floating):
        return "f"
    if isinstance(value, complex | np.complexfloating):
        return "c"
    if isinstance(value, str | bytes):
        raise refusal(TextError, "Cannot convert {!r} to a", value)
    raise refusal(ValueError, "Attempt to convert", value, type(value))


def _elements(value, found: list[Any]) -> None:
    for part in value:
        if isinstance(part, list | tuple):
            _elements(part, found)
        elif isinstance(part, np.ndarray):
            found.append(part.dtype.type(0))
        else:
            found.append(part)


def _natural(kind: str, array: np.ndarray[Any, Any]) -> np.dtype[Any]:
    if kind == "i":
        small = not array.size or (array.min() >= _INT32.min and array.max() <= _INT32.max)
        return np.dtype(np.int32 if small else np.int64)
    return np.dtype({"b": np.bool_, "f": np.float32, "c": np.complex128}[kind])


def _sequence(value, wanted: np.dtype[Any] | None) -> Any:
    """Convert a nested list or tuple to an array."""
    elements: list[Any] = []
    _elements(value, elements)
    kinds = {_kind(element) for element in elements}
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
    if not kinds:
        return array.astype(np.float32 if wanted is None else wanted)
    if "b" in kinds and len(kinds) > 1:
        raise ValueError(_MIXED)
    kind = max(kinds, key=_RANK.__getitem__)
    if wanted is not None:
        if not fits(kind, wanted):
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {cxx_name(wanted)}")
        return array.astype(wanted)
    first = elements[0]
    if isinstance(first, np.generic) and not isinstance(first, bool | int):
        return array
    return array.astype(_natural(kind, array))


def cast_array(array, wanted: np.dtype[Any]) -> Any:
    """Convert an array to another dtype, dropping imaginary parts as TensorFlow does."""
    if array.dtype == wanted:
        return array
    if wanted.kind == "O":
        raise TypeError(f"Cast {array.dtype} to string is not supported: use tf.strings.as_string")
    if array.dtype.kind == "c" and wanted.kind not in "cb":
        array = array.real
    return array.astype(wanted)


def array_of(value, wanted: np.dtype[Any] | None = None) -> Any:
    """Convert a number, a sequence of numbers or an array to the array of a tensor.

    Parameters
    ----------
    value: The value, which neither is nor contains a tensor.
    wanted: The dtype of the result; by default it follows from the value.

    Raises
    ------
    TypeError: If `wanted` cannot represent a number.
    ValueError: If `value` cannot become a tensor, or a sequence is not rectangular.
    """
    value = unmasked(value)
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind in "OUSMmV" and value.dtype.name != "bfloat16":
            if value.dtype.kind == "O":
                return _sequence(value.tolist(), wanted)
            error = TextError if value.dtype.kind in "US" else TypeError
            raise error(f"Cannot convert an array of {value.dtype} to a Tensor of numbers")
        native = of_numpy(value.dtype).dtype
        array: Any = cast_array(value, native if wanted is None else wanted)
        # a tensor must not change with the array it was created from
        return array.copy() if array is value and isinstance(value, np.ndarray) else array
    if isinstance(value, list | tuple | range):
        return _sequence(value, wanted)
    if isinstance(value, bool | int | float | complex):
        kind = _kind(value)
        if wanted is None:
            try:
                wanted = _natural(kind, np.asarray(value))
            except (TypeError, OverflowError):
                raise ValueError(f"{value!r} is too large for a Tensor of int64") from None
        elif not fits(kind, wanted):
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {cxx_name(wanted)}")
        return np.asarray(value).astype(wanted)[()]
    if hasattr(value, "as_list"):
        sizes = value.as_list()
        if None in sizes:
            raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
        return array_of(sizes, np.dtype(np.int32) if wanted is None else wanted)
    if hasattr(value, "__array__"):
        return array_of(np.asarray(value), wanted)
    _kind(value)
    raise refusal(ValueError, "Attempt to convert", value, type(value))


__all__ = defined(globals())
