"""Layer 5 · ops: arguments that must be tensors, dimensions or shapes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.arrays import plain_array
from wengert.base.dtypes import from_numpy_dtype
from wengert.base.errors import kind_of, long_name
from wengert.tape.base import TensorBase, new_tensor

__all__ = ["dtype_name", "integer", "operand", "operands", "sizes_of"]


def operand(value: Any, op: str, arg: str = "input", position: int = 1) -> Any:
    """`value` as a tensor, if it is one or an array; anything else is an error that names `op`."""
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, np.ndarray):
        return new_tensor(plain_array(value))
    if isinstance(value, np.generic):
        return new_tensor(value)
    raise TypeError(
        f"{op}(): argument '{arg}' (position {position}) must be Tensor, not {kind_of(value)}"
    )


def operands(values: Any, op: str) -> list[Any]:
    """A list or tuple of tensors, checked."""
    if not isinstance(values, list | tuple):
        raise TypeError(
            f"{op}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            f"{type(values).__name__}"
        )
    for i, value in enumerate(values):
        if not isinstance(value, TensorBase | np.ndarray | np.generic):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {kind_of(value)}"
            )
    return [operand(value, op) for value in values]


def integer(value: Any, op: str, arg: str) -> int:
    """`value` as an int: one, or anything with ``__index__``."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{op}(): argument '{arg}' must be int, not {type(value).__name__}"
        ) from None


def sizes_of(values: Sequence[Any], op: str, arg: str = "size") -> tuple[int, ...]:
    """Sizes or dimensions that came as ``(2, 3)`` or as one sequence ``((2, 3),)``."""
    if len(values) == 1 and isinstance(values[0], tuple | list):
        values = values[0]
    try:
        return tuple([operator.index(value) for value in values])
    except TypeError:
        kinds = ", ".join(type(value).__name__ for value in values)
        raise TypeError(f"{op}(): argument '{arg}' must be tuple of ints, not ({kinds})") from None


def dtype_name(payload: Any) -> str:
    """A payload's dtype in the words of PyTorch's errors: ``float``, ``double``, ``long long``."""
    return long_name(from_numpy_dtype(payload.dtype))
