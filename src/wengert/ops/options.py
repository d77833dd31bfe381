"""Layer 5 · ops: arguments of functions that make tensors: ``size``, ``dtype=``, ``device=`` and
``requires_grad=``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from wengert.base.device import as_device, is_meta
from wengert.base.dtypes import as_dtype, default_float, dtype, is_differentiable
from wengert.base.errors import wrong_type
from wengert.base.layout import strided
from wengert.base.ports import PORTS
from wengert.base.shapes import whole
from wengert.interp.levels import Lifted, is_elsewhere
from wengert.ops.checks import flag
from wengert.ops.coerce import NOT_A_NUMBER, has_tangent
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.inference import made_in_inference
from wengert.tape.modes import current_mode, is_grad_enabled, traced


def made(array: Any, device: Any = None, requires_grad: bool = False, layout: Any = None) -> Any:
    """Return a new tensor over `array`, a leaf if it should require a gradient."""
    if layout is not None and layout is not strided:
        return PORTS.sparse(made(array, device), layout, None).requires_grad_(requires_grad)
    mode = current_mode()
    if is_meta(device) if device is not None else mode is not None and mode.meta:
        return PORTS.meta(array).requires_grad_(requires_grad)
    if device is not None and (place := as_device(device)).type != "cpu":
        array = PORTS.sent(array, place)
    if requires_grad and not is_differentiable(array.dtype):
        raise _not_differentiable(array.dtype)
    edge = LEAF if requires_grad is not False and flag(requires_grad, "requires_grad") else None
    if mode is None:
        return new_tensor(array, edge)
    return made_in_inference(new_tensor(traced("made", array), edge))


def check_strided(layout: Any, function: str) -> None:
    """Refuse to make a sparse tensor by a function that fills all elements."""
    if layout is not strided:
        raise RuntimeError(
            f"{function}(...) is not implemented for sparse layout: make a dense tensor, and "
            "convert it by to_sparse()"
        )


def beside(device: Any, input: Any) -> Any:
    """Return ``device=`` for a tensor made like another: by default, the other's device."""
    if device is None and is_elsewhere(input._payload):
        return input._payload.device
    return device


def sent_to(tensor: Any, array: Any) -> Any:
    """An array of NumPy where a tensor is, to be computed with it."""
    payload = tensor._payload
    return PORTS.sent(array, payload.device) if is_elsewhere(payload) else array


def placed(tensor: Any, array: Any) -> Any:
    """Return a new tensor over an array of NumPy, where another tensor is."""
    return new_tensor(sent_to(tensor, array))


def fixed(array: Any, tensor: Any = None) -> Any:
    """Return a new tensor over an array that depends only on shapes and numbers.

    It is where another tensor is, if one is given.
    """
    return new_tensor(traced("made", array if tensor is None else sent_to(tensor, array)))


def _not_differentiable(kind: Any) -> RuntimeError:
    return RuntimeError(
        "Only Tensors of floating point and complex dtype can require gradients, but the dtype is "
        f"{as_dtype(kind)!r}. Give a floating dtype, such as dtype=wengert.float32."
    )


def float_type(dtype: Any) -> np.dtype[Any]:
    """Return NumPy's dtype for ``dtype=``, where None is the default floating dtype."""
    return default_float() if dtype is None else type_of(dtype)


def type_of(value: Any) -> np.dtype[Any]:
    """Return NumPy's dtype for ``dtype=value``."""
    return value.dtype if type(value) is dtype else as_dtype(value).dtype


def input_tensor(function: str, value: Any) -> Any:
    """Return `value`, which must be a tensor."""
    if not isinstance(value, TensorBase):
        raise wrong_type(function, "input", "Tensor", value, 1)
    return value


def number(value: Any) -> Any:
    """Return a Python number from a number, or from a tensor or array of one element."""
    if isinstance(value, TensorBase):
        if has_tangent(value) or (value._edge is not None and is_grad_enabled()):
            raise TypeError(NOT_A_NUMBER)
        value = value._payload
    if isinstance(value, np.ndarray | np.generic):
        return value.item()
    return value.item() if isinstance(value, Lifted) else value


def shape_of(function: str, given: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """Return a shape from ``f(2, 3)``, ``f((2, 3))`` or ``f(size=(2, 3))``."""
    if size is not None:
        if given:
            raise TypeError(f"{function}() got multiple values for argument 'size'")
        given = (size,)
    if not given:
        raise TypeError(
            f'{function}() missing 1 required positional arguments: "size"; a tensor without '
            f"dimensions is {function}(())"
        )
    if len(given) == 1 and type(given[0]) is not int:
        given = _sequence(function, given[0])
    for length in given:
        if type(length) is not int or length < 0:
            return _checked(function, given)
    return given


def sized(function: str, size: Any, position: int = 1) -> tuple[int, ...]:
    """Return a shape that is given as one sequence: a single size may be meant for another one."""
    if isinstance(size, TensorBase | str) or not isinstance(size, Iterable):
        raise wrong_type(function, "size", "tuple of ints", size, position)
    return shape_of(function, (tuple(size),))


def _sequence(function: str, size: Any) -> tuple[Any, ...]:
    if isinstance(size, int | np.integer) or (
        isinstance(size, TensorBase) and not size._payload.ndim
    ):
        return (size,)
    if isinstance(size, Iterable) and not isinstance(size, str | dict | TensorBase):
        return tuple(size)
    raise wrong_type(function, "size", "tuple of ints", size, 1)


def _checked(function: str, given: tuple[Any, ...]) -> tuple[int, ...]:
    """Return `given` as plain non-negative ints, or raise an error that names the wrong one."""
    shape = []
    for i, length in enumerate(given):
        plain = number(length)
        if isinstance(plain, bool) or not hasattr(plain, "__index__"):
            raise TypeError(
                f"{function}(): argument 'size' (position 1) must be tuple of ints, but found "
                f"element of type {type(length).__name__} at pos {i}"
            )
        shape.append(whole(plain))
    if min(shape, default=0) < 0:
        raise RuntimeError(
            f"{function}: Dimension size must be non-negative. Trying to create tensor with "
            f"negative dimension {min(shape)}: {shape}"
        )
    return tuple(shape)
