"""Layer 4 · tape: conversion of a primitive's arguments to tensors of one dtype."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wengert.base.arrays import column, plain_array
from wengert.base.dtypes import category, promote
from wengert.base.errors import long_name, overflow, wrong_type
from wengert.base.ports import PORTS
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive
from wengert.tape.base import TensorBase, new_tensor

_HALF_MAX = 65504.0
"""The largest number that every floating dtype holds."""


_PLAIN = frozenset({bool, int, float, complex})


_FLOATS = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
_WEAK = frozenset({bool, int, float})
"""The classes of numbers that leave these dtypes as they are."""
_EXACT = ("fractions", "decimal")
"""The modules of Python's number types that arrays do not store."""


def is_number(value: Any) -> bool:
    """Return whether `value` is a Python number: weaker than any array in promotion."""
    if value.__class__ in _PLAIN:
        return True
    if isinstance(value, TensorBase | np.ndarray):
        return False
    if value.__class__.__module__ in _EXACT:
        return False
    return isinstance(value, numbers.Number) and not isinstance(value, np.generic)


def plain(value: Any) -> Any:
    """Return `value`; a number of NumPy's, or of a subclass of Python's, as one of Python's own.

    NumPy takes any other number for an array of a dtype of its own.
    """
    if value.__class__ in _PLAIN:
        return value
    if isinstance(value, np.generic):
        return value.item()
    kind: Any
    for kind in (int, float, complex):
        if isinstance(value, kind):
            return kind.__pos__(value)
    return value


def public(arg: str) -> str:
    """Return the name of a primitive's argument in the public functions."""
    return "input" if arg == "self" else arg


def cast(tensor: Any, dtype: np.dtype[Any]) -> Any:
    """Return `tensor` converted to another dtype, recorded."""
    if tensor._payload.dtype == dtype:
        return tensor
    return PORTS.namespace.to_copy(tensor, dtype=dtype)


def cast_for_number(prim: Primitive, tensor: Any, number: Any) -> Any:
    """Return `tensor` in the dtype of an operation with a Python number."""
    own, kind = tensor._payload.dtype.kind, number.__class__
    if prim.promote is None or (own in "fc" and (kind is float or kind is int)):
        return tensor
    if own in "iu" and kind is int and prim.promote != "float":
        return tensor
    return cast(tensor, promote([tensor._payload], [number], prim.promote == "float"))


def held(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a Python number as `dtype` stores it: truncated for integers, negatives wrapped.

    Raises
    ------
    RuntimeError: If the number is too large, or complex and the dtype is not.
    """
    kind = dtype.kind
    if kind == "b":
        return bool(value)
    if value.__class__ is int and 0 <= value < 128 and kind in "iu":
        return value
    if kind == "f" and not value.imag:
        number = value.real
        if -_HALF_MAX <= number <= _HALF_MAX or not math.isfinite(number):
            return number
    fits, given = True, value
    if kind in "fiu" and isinstance(value, complex):
        fits, value = not value.imag, value.real
    if kind in "iu":
        fits = fits and math.isfinite(value)
        value = int(value) if fits else 0
        most = int(np.iinfo(dtype).max)
        fits = fits and (-most if kind == "u" else int(np.iinfo(dtype).min)) <= value <= most
    elif kind in "fc":
        parts = (value.real, value.imag) if kind == "c" else (value,)
        limit = float(np.finfo(dtype).max)
        fits = fits and not any(limit < abs(part) < math.inf for part in parts)
    if not fits:
        raise overflow(dtype, f"the tensor cannot hold {given}")
    if kind == "u" and value < 0:
        value += 2 ** (8 * dtype.itemsize)
    return value


WRAPS: Facet[bool] = Facet("wraps", lambda prim: False)
"""Whether PyTorch wraps numbers that do not fit; other operations refuse them."""
TAKES_NUMBERS: Facet[bool] = Facet("takes_numbers", lambda prim: False)
"""Whether PyTorch also accepts two numbers."""


def fitting(form: Primitive, number: Any, dtype: np.dtype[Any]) -> Any:
    """Return the number of an operation on integers, wrapped if it does not fit."""
    if number.__class__ is not int or 0 <= number < 128 or dtype.kind not in "iu":
        return number
    limits = np.iinfo(dtype)
    refused = number < 0 and form.params[0] == "exponent"  # by the kernel
    if limits.min <= number <= limits.max or form.predicate or refused:
        return number
    if not WRAPS[form]:
        return held(number, dtype)
    return (number - limits.min) % 2**limits.bits + limits.min


def are_wider(prim: Primitive, payload: Any, others: tuple[Any, ...]) -> bool:
    """Return whether an in-place operation on integers computes in a wider dtype."""
    arrays = [getattr(other, "_payload", other) for other in others if not is_number(other)]
    if prim.promote is None or all(array.dtype is payload.dtype for array in arrays):
        return False
    return promote([payload, *arrays], []) != payload.dtype


def as_operands(prim: Primitive, values: Sequence[Any]) -> list[Any]:
    """Return the arguments of `prim` as tensors, of one dtype if its record requires it.

    Arrays are shared, not copied; Python numbers become 0-d arrays of the common dtype.
    """
    operands: list[Any] = []
    free: list[int] = []
    scalars: list[int] = []
    for i, value in enumerate(values):
        arg = prim.args[0 if prim.variadic else i]
        if arg not in prim.fixed:
            free.append(i)
        if isinstance(value, TensorBase):
            operands.append(value)
        elif isinstance(value, np.generic):
            operands.append(new_tensor(value))
        elif isinstance(value, np.ndarray):
            operands.append(new_tensor(plain_array(value)))
        elif is_number(value) and arg not in prim.fixed:
            scalars.append(i)
            operands.append(value)
        elif isinstance(found := column(value), np.ndarray):
            operands.append(new_tensor(found))
        else:
            raise wrong_type(prim.name, public(arg), "Tensor", value, i + 1)
    if prim.promote is None and not scalars:
        return operands
    arrays = [operands[i]._payload for i in free if i not in scalars]
    if not arrays and not TAKES_NUMBERS[prim]:
        raise wrong_type(
            prim.name, public(prim.args[scalars[0]]), "Tensor", values[scalars[0]], scalars[0] + 1
        )
    numbers = [values[i] for i in scalars]
    dtype: Any = arrays[0].dtype if arrays else None
    if (
        dtype not in _FLOATS
        or any(a.dtype is not dtype for a in arrays)
        or (not _WEAK.issuperset(map(type, numbers)))
    ):
        dtype = promote(arrays, numbers, prim.promote == "float")
    for i in free:
        if i in scalars:
            operands[i] = new_tensor(np.asarray(values[i]).astype(dtype)[()])
        else:
            operands[i] = cast(operands[i], dtype)
    return operands


def check_dtypes(prim: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> None:
    """Refuse the dtypes that the operation does not take (see `Primitive`)."""
    values = [*args, params[prim.params[0]]] if prim.of_number else args
    arrays, scalars = [], []
    bools = 0
    for value in values:
        if value is True or value is False:
            bools += 1
        if isinstance(value, TensorBase):
            arrays.append(value._payload)
        elif isinstance(value, np.ndarray):
            arrays.append(value)
        elif is_number(value) or isinstance(value, np.generic):
            scalars.append(value)
    if not arrays:
        return
    refused = prim.refuses.get("any b")
    bools += sum(a.dtype.kind == "b" for a in arrays)
    if refused is not None and bools:
        raise RuntimeError(refused[bools == len(arrays) + len(scalars)])
    dtype = promote(arrays, scalars, prim.promote == "float")
    refused = prim.refuses.get("bifc"[category(dtype)])
    if refused is not None:
        if isinstance(refused, str):
            raise NotImplementedError(refused.format(long_name(dtype)))
        raise type(refused)(*refused.args)


def are_uniform(prim: Primitive, values: Sequence[Any]) -> bool:
    """Return whether all values are tensors of one dtype that needs no promotion."""
    dtype = None
    for i, value in enumerate(values):
        if not isinstance(value, TensorBase):
            return False
        if prim.promote is None or (prim.fixed and prim.args[i] in prim.fixed):
            continue
        own = value._payload.dtype
        if dtype is None:
            dtype = own
            if prim.promote == "float" and own.kind not in "fc":
                return False
        elif own is not dtype:
            return False
    return True
