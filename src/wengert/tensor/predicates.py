"""Layer 6 · tensor: functions that query tensors and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, dtype, from_numpy_dtype, promote
from wengert.base.errors import wrong_type
from wengert.tape.base import TensorBase
from wengert.tensor.tensor import Tensor


def is_tensor(obj: Any, /) -> bool:
    """Return whether `obj` is a tensor.

    Examples
    --------
    >>> wg.is_tensor(wg.ones(2)), wg.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


def _of(function: str, input: Any, *others: Any) -> Any:
    """Return what the method of that name says of a tensor, a dense or a sparse one."""
    method = getattr(input, function, None)
    if method is None:
        raise wrong_type(function, "input", "Tensor", input, 1)
    return method(*others)


def is_floating_point(input: Tensor) -> bool:
    """Return whether the dtype is a real floating type.

    Examples
    --------
    >>> wg.is_floating_point(wg.ones(2))
    True
    """
    return _of("is_floating_point", input)


def is_signed(input: Tensor) -> bool:
    """Return whether the dtype has negative numbers.

    Examples
    --------
    >>> wg.is_signed(wg.ones(2))
    True
    """
    return _of("is_signed", input)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape.

    Examples
    --------
    >>> wg.is_same_size(wg.ones(2), wg.ones(3))
    False
    """
    return _of("is_same_size", input, other)


def get_device(input: Tensor) -> int:
    """Return -1, the number of the CPU.

    Examples
    --------
    >>> wg.get_device(wg.ones(2))
    -1
    """
    return _of("get_device", input)


def typename(obj: Any, /) -> str:
    """Return the name of an object's type; for a tensor with its dtype.

    Examples
    --------
    >>> wg.typename(wg.ones(2)), wg.typename([1])
    ('torch.FloatTensor', 'list')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    name = str(kind.__qualname__)
    module = getattr(kind, "__module__", None)
    return name if module in (None, "builtins") else f"{module}.{name}"


def is_complex(input: Tensor) -> bool:
    """Return whether the dtype is complex.

    Examples
    --------
    >>> wg.is_complex(wg.ones(2))
    False
    """
    return _of("is_complex", input)


def numel(input: Tensor) -> int:
    """Return the number of elements.

    Examples
    --------
    >>> wg.numel(wg.ones(2, 3))
    6
    """
    return _of("numel", input)


def _operand(value: Any) -> tuple[list[Any], list[Any]]:
    if isinstance(value, TensorBase):
        return [value._payload], []
    if isinstance(value, np.ndarray):
        return [value], []
    return [], [value.item() if isinstance(value, np.generic) else value]


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """Return the dtype of an arithmetic operation on two tensors, or a tensor and a number.

    Parameters
    ----------
    tensor1, tensor2: Tensors or numbers. A tensor with dimensions counts before one without, and
        that before a number, if they are of one kind: integers, floats or complex numbers.

    Examples
    --------
    >>> wg.result_type(wg.tensor([1, 2]), 1.0)
    torch.float32
    """
    arrays1, numbers1 = _operand(tensor1)
    arrays2, numbers2 = _operand(tensor2)
    return from_numpy_dtype(promote(arrays1 + arrays2, numbers1 + numbers2))


def promote_types(type1: Any, type2: Any) -> dtype:
    """Return the smallest dtype that both dtypes convert to.

    Parameters
    ----------
    type1, type2 : dtype. The order does not matter.

    Examples
    --------
    >>> wg.promote_types(wg.int32, wg.float32)
    torch.float32
    """
    kinds = as_dtype(type1), as_dtype(type2)
    if kinds[0] is kinds[1]:
        return kinds[0]
    if any(kind.name.startswith("float8") for kind in kinds):
        raise RuntimeError(
            "Promotion for Float8 Types is not supported, attempted to promote "
            f"{kinds[0].name} and {kinds[1].name}"
        )
    return from_numpy_dtype(promote([np.empty(0, kind.dtype) for kind in kinds], []))


def can_cast(from_: Any, to: Any) -> bool:
    """Return whether type promotion allows a conversion: not to a lower category.

    Parameters
    ----------
    from_, to : dtype. What is there, and what is asked for.

    Examples
    --------
    >>> wg.can_cast(wg.float64, wg.float32), wg.can_cast(wg.float32, wg.int64)
    (True, False)
    """
    return as_dtype(from_).category <= as_dtype(to).category
