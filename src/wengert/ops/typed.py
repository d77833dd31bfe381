"""Layer 5 · ops: PyTorch's legacy constructors: ``FloatTensor([1, 2])``, ``Tensor(2, 3)``.

A class such as `FloatTensor` has no instances of its own: it makes plain tensors of its dtype, and
``isinstance`` asks for that dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.device import check_device
from wengert.base.dtypes import as_dtype, dtype, set_default_dtype
from wengert.base.export import export
from wengert.base.extras import bfloat16
from wengert.base.size import Size
from wengert.ops.convert import check_array, narrow, to_array
from wengert.ops.create import empty
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.inference import made_in_inference
from wengert.tape.record import T

_TYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "ShortTensor": "int16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "BoolTensor": "bool",
}
TYPED = tuple(_TYPES)
"""The names of the classes."""


def legacy(data: tuple[Any, ...], kind: np.dtype[Any], strict: bool = False) -> Any:
    """Return ``FloatTensor(*data)``: a tensor of the given sizes, or of a sequence's values.

    Parameters
    ----------
    data: Nothing, sizes, one `Size`, one tensor, or one sequence or array of numbers. A tensor
        gives a view of itself; an array of the dtype shares its memory with the result.
    kind: The dtype.
    strict: Whether a tensor must be of the dtype.
    """
    if len(data) != 1:
        for position, size in enumerate(data, 1):
            if not isinstance(size, int | np.integer):
                raise TypeError(
                    "new() received an invalid combination of arguments: several are sizes, but "
                    f"argument {position} is {type(size).__name__}. Values are given as one "
                    "sequence, as in FloatTensor([1.0, 2.0])"
                )
        return empty(*data or (0,), dtype=kind)
    value = data[0]
    if isinstance(value, TensorBase):
        given = value._payload.dtype
        if strict and given != kind:
            raise TypeError(
                f"expected a tensor of dtype {as_dtype(kind)!r} (got {as_dtype(given)!r}): convert "
                f"it with .to({as_dtype(kind)!r})"
            )
        return T.alias(value)
    if hasattr(value, "untyped"):
        # a storage, whose memory the tensor shares
        return empty(0, dtype=kind).set_(value)
    if isinstance(value, bool | float | complex):
        raise TypeError(f"new(): data must be a sequence (got {type(value).__name__})")
    if isinstance(value, int | np.integer | Size):
        return empty(value, dtype=kind)
    if isinstance(value, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(value, np.ndarray):
        check_array(value)
        return made_in_inference(new_tensor(narrow(value, kind)))
    return made_in_inference(new_tensor(np.asarray(to_array(value, kind))))


class TypedTensor(type):
    """The class of `FloatTensor` and the others."""

    dtype: dtype
    is_cuda = False

    def __call__(cls, *data: Any, device: Any = None) -> Any:
        """Make a plain tensor (see `legacy`)."""
        check_device(device)
        return legacy(data, cls.dtype.dtype, strict=True)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase) and instance._payload.dtype == cls.dtype.dtype

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


_made: dict[str, TypedTensor] = {}


def typed(name: str) -> TypedTensor:
    """The class of this name, one of `TYPED`."""
    if name not in _made:
        kind = bfloat16() if name == "BFloat16Tensor" else as_dtype(_TYPES[name])
        documented = _documentation(name, kind)
        _made[name] = TypedTensor(
            name, (), {"dtype": kind, "__doc__": documented, "__module__": "wengert"}
        )
    return _made[name]


def _documentation(name: str, kind: dtype) -> str:
    return f"""Tensors of dtype {kind.name}: the old way to make them.

Prefer `tensor` with ``dtype=``. ``isinstance(x, {name})`` asks for the dtype.

Parameters
----------
*data
    Sizes, for memory that is not initialised; or one sequence or array, for its values.
device : device or str, optional
    Only the CPU.

Examples
--------
>>> import wengert as wg
>>> wg.{name}([1, 1]).dtype, wg.{name}(2, 3).shape
({kind!r}, torch.Size([2, 3]))
>>> isinstance(wg.ones(2, dtype=wg.{kind.name}), wg.{name})
True
"""


@export("Tensor")
def new(input: Any, *data: Any, size: Any = None, device: Any = None) -> Any:
    """Return a tensor of this one's dtype, of sizes or of the values of a sequence.

    Prefer `new_tensor`, `new_empty` and `new_zeros`.

    Examples
    --------
    >>> wg.ones(2, dtype=wg.int64).new([1, 2, 3])
    tensor([1, 2, 3])
    """
    check_device(device)
    return legacy(data if size is None else (Size(size),), input._payload.dtype, strict=True)


def set_default_tensor_type(t: Any, /) -> None:
    """Change the floating type that Python floats become, by its old name.

    Prefer `set_default_dtype`.

    Parameters
    ----------
    t : class or str. `FloatTensor`, `DoubleTensor` or another of floating dtype, or its name.

    Raises
    ------
    TypeError: If it does not name a floating type.

    Examples
    --------
    >>> wg.set_default_tensor_type(wg.DoubleTensor)
    >>> wg.tensor(1.5).dtype
    torch.float64
    >>> wg.set_default_tensor_type("torch.FloatTensor")
    """
    if isinstance(t, str):
        name = t.removeprefix("torch.")
        if name not in _TYPES:
            raise TypeError(
                f"invalid type object: {t!r}. Give a class such as FloatTensor, or its name, "
                "'torch.FloatTensor'"
            )
        t = typed(name)
    if not isinstance(t, TypedTensor):
        raise TypeError(
            f"invalid type object: give a class such as FloatTensor, not {type(t).__name__}"
        )
    if not t.dtype.is_floating_point:
        raise TypeError(
            f"only floating-point types are supported as the default type, but got {t!r}"
        )
    set_default_dtype(t.dtype)
