"""Layer 5 · ops: arguments that must be tensors, dimensions or shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.arrays import column, plain_array
from wengert.base.dtypes import from_numpy_dtype, is_differentiable
from wengert.base.errors import kind_of, long_name, wrong_type
from wengert.base.shapes import expanded, whole
from wengert.interp.dual import Dual
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.modes import mixes_dtypes
from wengert.tape.operands import cast, is_number, plain
from wengert.tape.sites import warn_once

NOT_A_NUMBER = (
    "an argument must be Number, not a Tensor that requires a gradient or has a tangent, which "
    "would be lost: pass x.item(), or write the operation with others that take tensors"
)

_PLAIN = frozenset({float, int})
"""The classes of most numbers, which need no conversion."""


def operand(value: Any, op: str, arg: str = "input", position: int = 1) -> Any:
    """Return `value` as a tensor, if it is one, an array or a `column`; else raise, naming `op`."""
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, np.ndarray):
        return new_tensor(plain_array(value))
    if isinstance(value, np.generic):
        return new_tensor(value)
    found = column(value)
    if found is value:
        raise wrong_type(op, arg, "Tensor", value, position)
    return new_tensor(found)


def in_full(*tensors: Any) -> tuple[Any, ...]:
    """Return tensors; inside an `autocast`, those of 16 bits in float32."""
    for tensor in tensors:
        if tensor._payload.dtype.itemsize == 2:
            break
    else:
        return tensors
    kinds = [tensor._payload.dtype for tensor in tensors]
    short = [kind.itemsize == 2 and is_differentiable(kind) for kind in kinds]
    if not any(short) or not mixes_dtypes():
        return tensors
    single = np.dtype(np.float32)
    return tuple([cast(t, single) if few else t for t, few in zip(tensors, short, strict=True)])


def wide(value: Any, op: str, arg: str = "input", position: int = 1) -> Any:
    """Return `operand`, for functions that an `autocast` computes in float32."""
    return in_full(operand(value, op, arg, position))[0]


def is_sparse(value: Any) -> bool:
    """Return whether `value` is a sparse tensor: not a `Tensor`, with products of its own."""
    return getattr(type(value), "is_sparse_tensor", False) is True


def operands(values: Any, op: str) -> list[Any]:
    """Return a list or tuple of tensors, checked."""
    if not isinstance(values, list | tuple):
        raise wrong_type(op, "tensors", "tuple of Tensors", values, 1)
    # one test per kind, not one per value
    for kind in {*map(type, values)}:
        if not issubclass(kind, TensorBase):
            break
    else:
        return list(values)
    for i, value in enumerate(values):
        if not isinstance(column(value), TensorBase | np.ndarray | np.generic):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {kind_of(value)}"
            )
    return [operand(value, op) for value in values]


def in_former_order(
    op: str, first: tuple[Any, ...], further: tuple[Any, ...], *factors: Any
) -> tuple[Any, ...]:
    """Return the tensors of a call in a former order, and then its factors.

    Older programs give factors by position, before the tensors that they multiply:
    ``addmm(beta, input, alpha, mat1, mat2)``, and as a method ``input.addmm(beta, mat1, mat2)``.

    Parameters
    ----------
    op: The name of the function.
    first, further: The arguments given by position, and those beyond the tensors.
    factors: The factors in the order of the former arguments; those that are not given stay.
    """
    given = (*first, *further)
    numbers = [value for value in given if is_number(value)]
    tensors = [value for value in given if not is_number(value)]
    if len(tensors) != len(first) or len(numbers) > len(factors):
        kinds = ", ".join(map(kind_of, given))
        raise TypeError(
            f"{op}() received an invalid combination of arguments - got ({kinds}): it takes "
            f"{len(first)} tensors; factors are keywords"
        )
    warn_once(f"This overload of {op} is deprecated: give its factors as keywords")
    return (*tensors, *numbers, *factors[len(numbers) :])


def integer(value: Any, op: str, arg: str, position: int = 0) -> int:
    """Return `value`, an int or an object with ``__index__`` but no bool, as an int."""
    try:
        return whole(value)
    except TypeError:
        raise wrong_type(op, arg, "int", value, position) from None


def integers(values: Any, op: str, arg: str, position: int) -> tuple[int, ...]:
    """Return the elements of a sequence as ints."""
    found = []
    for i, value in enumerate(values):
        try:
            found.append(whole(value))
        except TypeError:
            raise TypeError(
                f"{op}(): argument '{arg}' (position {position}) must be tuple of ints, but found "
                f"element of type {type(value).__name__} at pos {i}"
            ) from None
    return tuple(found)


def has_tangent(tensor: Any) -> bool:
    """Return whether forward mode differentiates with respect to `tensor`."""
    payload = tensor._payload
    return isinstance(payload, Dual) and payload.tangent is not None


def number(value: Any, op: str, arg: str, wanted: str = "Number", position: int = 0) -> Any:
    """Return `value` as a number: one, or a 0-d tensor that requires no gradient."""
    if value.__class__ in _PLAIN:
        return value
    if not isinstance(value, TensorBase):
        found = value.item() if isinstance(value, np.ndarray) and not value.ndim else plain(value)
        if not is_number(found):
            raise wrong_type(op, arg, wanted, value, position)
        return found
    tensor: Any = value
    if tensor._payload.ndim or tensor._edge is not None or has_tangent(tensor):
        raise TypeError(
            f"{op}(): argument '{arg}' must be Number, not Tensor: pass x.item(), or write the "
            "operation with others that take tensors"
        )
    return tensor.item()


def real_number(value: Any, x: TensorBase, op: str, arg: str) -> Any:
    """Return `value` as a number of an operation on `x`: a real one, unless `x` is complex."""
    if value.__class__ in _PLAIN:
        return value
    value = number(value, op, arg)
    if isinstance(value, complex | np.complexfloating) and x._payload.dtype.kind != "c":
        if value.imag:
            raise RuntimeError(
                f"value cannot be converted to type float without overflow: argument '{arg}' of "
                f"{op}() is {value}, but the tensor is real"
            )
        return value.real
    return value


def sizes_of(values: Sequence[Any], op: str, arg: str = "size") -> tuple[int, ...]:
    """Return sizes or dimensions given as ``(2, 3)`` or as one sequence ``((2, 3),)``."""
    if len(values) == 1 and values[0].__class__ is not int and isinstance(values[0], tuple | list):
        values = values[0]
    for value in values:
        if value.__class__ is not int:
            break
    else:
        return tuple(values)
    try:
        return tuple(map(whole, values))
    except TypeError:
        kinds = ", ".join(type(value).__name__ for value in values)
        raise TypeError(f"{op}(): argument '{arg}' must be tuple of ints, not ({kinds})") from None


def dtype_name(payload: Any) -> str:
    """Return a payload's dtype in PyTorch's words: ``float``, ``double``, ``long long``."""
    return long_name(from_numpy_dtype(payload.dtype))


def expanded_shape(x: Any, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of `x` expanded to `sizes`; refuses those that it cannot have."""
    own = x._payload.shape
    if len(sizes) < len(own):
        name = dtype_name(x._payload)
        raise RuntimeError(
            f"expand(torch.{name}Tensor{{{list(own)}}}, size={list(sizes)}): the number of sizes "
            f"provided ({len(sizes)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({len(own)})"
        )
    return expanded(own, sizes)
