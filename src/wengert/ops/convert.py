"""Layer 5 · ops · creation: arrays from users' data: numbers, nested sequences, arrays, tensors.

The dtype follows PyTorch: Python floats are of the default floating type, integers int64; arrays
and NumPy scalars keep theirs; in a sequence all are promoted together. The shape follows the first
elements, and any other length is an error that says where.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from wengert.base.arrays import plain_array
from wengert.base.capsules import array_from
from wengert.base.dtypes import (
    FLOATING,
    as_dtype,
    category,
    default_complex,
    default_float,
    from_numpy_dtype,
    promote,
)
from wengert.base.error_states import errstate
from wengert.base.errors import overflow
from wengert.kernels.create import to_copy
from wengert.tape.base import TensorBase
from wengert.tape.detachments import note
from wengert.tape.sites import warn

_PLAIN = frozenset({bool, int, float, complex})
_INT64 = np.dtype(np.int64)
_BOOL = np.dtype(bool)
_NATURAL: dict[str, np.dtype[Any]] = {
    "f": np.dtype(np.float64),
    "c": np.dtype(np.complex128),
    "u": np.dtype(np.uint64),
}
_MAX_DIMS = 64


def to_array(data: Any, dtype: np.dtype[Any] | None = None) -> Any:
    """Return `data` as a new array (or NumPy scalar) of `dtype`, or of the dtype it implies.

    Raises
    ------
    ValueError: If sequences of one level differ in length, or an integer does not fit into 64 bits.
    TypeError, RuntimeError: If something in `data` is not a number, or does not fit into `dtype`.
    """
    if isinstance(data, np.ndarray):
        check_array(data)
        if dtype is None or dtype == data.dtype:
            return np.array(data, order="K")
        with np.errstate(over="ignore", invalid="ignore"):
            return to_copy(data, dtype)
    kind_of_data = type(data)
    if kind_of_data in _PLAIN:
        found = {kind_of_data}
    elif isinstance(data, np.generic):
        from_numpy_dtype(data.dtype)
        return data if dtype is None else narrow(data, dtype)
    elif isinstance(data, list | tuple):
        found = set()
        _survey(data, found, 0)
    else:
        found = {kind_of_data}
    if not found <= _PLAIN:
        return _general(data, dtype)
    target = _implied(found) if dtype is None else dtype
    return narrow(_plain(data, target, found), target)


def check_array(array: Any) -> None:
    """Raise unless tensors can have the dtype of `array`, in this machine's byte order.

    Arrays with operators of their own are refused (NOTE [subclasses of arrays]).
    """
    plain_array(array)
    if not array.dtype.isnative and array.dtype.kind in "fciu":
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion "
            "between byte orders is currently not supported. Use array.astype(array.dtype."
            "newbyteorder('='))."
        )
    from_numpy_dtype(array.dtype)


def narrow(array: Any, target: np.dtype[Any]) -> Any:
    """Convert `array` to another dtype; raise for a value that an integer dtype cannot hold.

    As in PyTorch, fractions are cut off, floats too large become infinite, and negative integers
    wrap around in unsigned types of up to 32 bits.
    """
    kind = array.dtype
    if kind == target:
        return array
    if target.kind in "iu" and array.size:
        _check_range(array, target)
    elif kind.kind == "c" and category(target) <= FLOATING and target.kind != "b":
        expected = "be interpreted as an integer" if target.kind in "iu" else "be made real"
        raise TypeError(f"must be real number, not complex: complex values cannot {expected}")
    return _cast(array, target)


@errstate(over="ignore", invalid="ignore")
def _cast(array: Any, target: np.dtype[Any]) -> Any:
    return array.astype(target)


def _check_range(array: Any, target: np.dtype[Any]) -> None:
    if array.dtype.kind == "c":
        raise TypeError("'complex' object cannot be interpreted as an integer")
    if array.dtype.kind == "b":
        return
    low, high = array.min().item(), array.max().item()
    least, most = int(np.iinfo(target).min), int(np.iinfo(target).max)
    if target.kind == "u" and isinstance(low, int) and low < 0:
        if target.itemsize == 8:
            raise OverflowError(f"can't convert negative int to unsigned: {low}")
        least = -most
    # written so that NaN fails, too
    if not (least <= low and high <= most):
        culprit = low if not least <= low else high
        raise overflow(target, culprit)


def _survey(data: Any, found: set[type], depth: int) -> None:
    """Collect the types of the leaves of nested lists and tuples, one row at a time."""
    if depth > _MAX_DIMS:
        raise ValueError("too many dimensions: the sequences are nested too deeply, or in a cycle")
    kinds = set(map(type, data))
    if kinds <= _PLAIN:
        found |= kinds
        return
    for item in data:
        if item is data:
            raise TypeError("new(): self-referential lists are incompatible")
        if isinstance(item, list | tuple):
            _survey(item, found, depth + 1)
        else:
            found.add(type(item))


def _implied(found: set[type]) -> np.dtype[Any]:
    """Return the dtype of Python numbers of these types; with no numbers, the floating one."""
    if complex in found:
        return default_complex()
    if float in found or not found:
        return default_float()
    return _INT64 if int in found else _BOOL


def _plain(data: Any, target: np.dtype[Any], found: set[type]) -> Any:
    """Convert Python numbers, nested or not, to an array without loss."""
    if complex in found:
        wide = _NATURAL["c"]
    elif float in found or target.kind in "fcV":
        wide = _NATURAL["f"]
    elif int in found:
        wide = _NATURAL["u"] if target == _NATURAL["u"] and _nonnegative(data) else _INT64
    else:
        wide = _BOOL
    try:
        return np.array(data, dtype=wide)
    except OverflowError:
        raise ValueError(
            "Overflow when unpacking long long: an integer does not fit into 64 bits"
        ) from None
    except (ValueError, TypeError):
        _check_lengths(data, _lengths(data), 0)
        raise


def _nonnegative(data: Any) -> bool:
    if isinstance(data, list | tuple):
        return all(map(_nonnegative, data))
    return bool(data >= 0)


def _lengths(data: Any) -> list[int]:
    """Return the shape implied by the first elements."""
    lengths = []
    while isinstance(data, list | tuple):
        lengths.append(len(data))
        if not data:
            break
        data = data[0]
    return lengths


def _check_lengths(data: Any, lengths: list[int], dim: int) -> None:
    """Raise if nested sequences do not form a rectangle."""
    if dim == len(lengths):
        if isinstance(data, list | tuple):
            raise TypeError(
                f"'{type(data).__name__}' object cannot be interpreted as a number: expected one "
                f"at dim {dim}, like the first element there"
            )
        return
    if not isinstance(data, list | tuple):
        raise TypeError(
            f"not a sequence: expected one of length {lengths[dim]} at dim {dim}, like the first "
            f"element there, but got {type(data).__name__}"
        )
    if len(data) != lengths[dim]:
        raise ValueError(
            f"expected sequence of length {lengths[dim]} at dim {dim} (got {len(data)})"
        )
    for item in data:
        _check_lengths(item, lengths, dim + 1)


def _general(data: Any, dtype: np.dtype[Any] | None) -> Any:
    """Convert data that contains arrays, tensors, NumPy scalars or sequences to an array."""
    if hasattr(data, "elements_as"):  # a storage
        return np.array(data.elements_as(dtype))
    if not isinstance(data, Sequence) and hasattr(data, "__array__"):
        if dtype is None and isinstance(data, float | int | complex):
            # a subclass of a Python number has no dtype of its own
            dtype = _implied({data.__class__})
        try:
            array = np.asarray(data)
        except TypeError:
            if not hasattr(data, "__dlpack__"):
                raise
            array = array_from(data)  # PyTorch's bfloat16
        return to_array(array, dtype)
    if hasattr(data, "__dlpack__"):
        return to_array(array_from(data), dtype)
    arrays: set[np.dtype[Any]] = set()
    numbers: set[type] = set()
    nested = _unwrap(data, arrays, numbers, 0)
    target = dtype
    if target is None:
        kinds = [np.empty((), kind) for kind in arrays]
        if numbers or not kinds:
            # numbers in a list take part in promotion with the arrays as if they were arrays
            kinds.append(np.empty((), _implied(numbers)))
        target = promote(kinds, [])
    found = numbers | {_python_type(kind) for kind in arrays}
    return narrow(_plain(nested, target, found), target)


def _python_type(kind: np.dtype[Any]) -> type:
    return {"b": bool, "i": int, "u": int, "c": complex}.get(kind.kind, float)


def _unwrap(data: Any, arrays: set[np.dtype[Any]], numbers: set[type], depth: int) -> Any:
    """Return `data` as nested lists of Python numbers, and collect its dtypes and types."""
    if depth > _MAX_DIMS:
        raise ValueError("too many dimensions: the sequences are nested too deeply, or in a cycle")
    if type(data) in _PLAIN:
        numbers.add(type(data))
        return data
    if isinstance(data, TensorBase):
        arrays.add(data._payload.dtype)
        return _only_element(data)
    if isinstance(data, np.ndarray | np.generic):
        check_array(data)
        arrays.add(as_dtype(data.dtype).dtype)
        return data.tolist()
    if isinstance(data, str | bytes):
        if depth:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    plain: Any
    for plain in (bool, int, float, complex):
        if isinstance(data, plain):
            numbers.add(plain)
            return plain(data)
    if _is_sequence(data):
        items = list(_items(data))
        for item in items[1:]:
            # the first element determines the depth, so a later string is an element
            if isinstance(item, str | bytes):
                raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
        return [_unwrap(item, arrays, numbers, depth + 1) for item in items]
    raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")


def _is_sequence(data: Any) -> bool:
    cls = type(data)
    return hasattr(cls, "__len__") and hasattr(cls, "__getitem__") and not isinstance(data, dict)


def _items(data: Any) -> Iterator[Any]:
    return (data[i] for i in range(len(data)))


def _only_element(tensor: Any) -> Any:
    """Return the value of a tensor inside a sequence."""
    payload = tensor._payload
    if payload.size != 1:
        raise ValueError(
            "only one element tensors can be converted to Python scalars, but one in the sequence "
            f"has shape {list(payload.shape)}. Use wengert.stack, which records the operation too."
        )
    if tensor._edge is not None:
        note("tensor([t])", tensor)
        warn(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
            "behavior.\nConsider using tensor.detach() first, or wengert.stack, through which the "
            "gradient flows.",
            UserWarning,
        )
    return payload.item()
