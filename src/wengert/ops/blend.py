"""Layer 5 · ops: element-wise operations of three tensors that have a form in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.dtypes import FLOATING, category
from wengert.ops.coerce import dtype_name, operand
from wengert.ops.out import into
from wengert.tape.lift import is_number
from wengert.tape.record import T

__all__ = ["FORMS", "addcdiv", "addcmul", "lerp"]

Form = tuple[str, tuple[Any, ...], dict[str, Any]]


def _three(op: str, x: Any, tensor1: Any, tensor2: Any, value: Any) -> Form:
    a, b = operand(tensor1, op, "tensor1", 2), operand(tensor2, op, "tensor2", 3)
    if not is_number(value):
        raise TypeError(f"{op}(): argument 'value' must be Number, not {type(value).__name__}")
    kinds = {t.payload.dtype.kind for t in (x, a, b)}
    if op == "addcdiv" and all(t.payload.dtype.kind in "biu" for t in (a, b)):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2: convert the tensors to "
            "a floating dtype"
        )
    if kinds <= set("biu"):
        value = int(value)
    return op, (a, b), {"value": value}


def _addcmul(x: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Form:
    return _three("addcmul", x, tensor1, tensor2, value)


def _addcdiv(x: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Form:
    return _three("addcdiv", x, tensor1, tensor2, value)


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1, out: Any = None) -> Any:
    """``input + value * tensor1 * tensor2``.

    Parameters
    ----------
    input, tensor1, tensor2 : Tensor
        They broadcast against each other.
    value : number
        A factor.
    out : Tensor, optional
        Where to put the result.

    Returns
    -------
    Tensor
        Differentiable with respect to the three tensors, to any order.

    Raises
    ------
    RuntimeError
        If the shapes do not broadcast.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.addcmul(wg.ones(2), wg.tensor([1.0, 2.0]), wg.tensor([3.0, 4.0]), value=2)
    tensor([ 7., 17.])
    """
    x = operand(input, "addcmul")
    result = _run(x, _addcmul(x, tensor1, tensor2, value=value))
    return result if out is None else into(out, result, "addcmul")


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1, out: Any = None) -> Any:
    """``input + value * tensor1 / tensor2``.

    Parameters
    ----------
    input, tensor1, tensor2 : Tensor
        They broadcast against each other; `tensor1` and `tensor2` not both of integers.
    value : number
        A factor.
    out : Tensor, optional
        Where to put the result.

    Returns
    -------
    Tensor
        Differentiable with respect to the three tensors, to any order.

    Raises
    ------
    RuntimeError
        If the shapes do not broadcast, or `tensor1` and `tensor2` are of integers.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.addcdiv(wg.ones(2), wg.tensor([1.0, 2.0]), wg.tensor([2.0, 4.0]), value=2)
    tensor([2., 2.])
    """
    x = operand(input, "addcdiv")
    result = _run(x, _addcdiv(x, tensor1, tensor2, value=value))
    return result if out is None else into(out, result, "addcdiv")


def _lerp(x: Any, end: Any, weight: Any) -> Form:
    y = operand(end, "lerp", "end", 2)
    _same_dtype(x, y, "end")
    if is_number(weight):
        if category(x.payload.dtype) < FLOATING:
            raise NotImplementedError(
                f"\"lerp_kernel_scalar\" not implemented for '{dtype_name(x.payload)}': convert "
                "the tensors to a floating dtype"
            )
        return "lerp", (y,), {"weight": weight}
    w = operand(weight, "lerp", "weight", 3)
    _same_dtype(x, w, "weight")
    if category(x.payload.dtype) < FLOATING:
        raise NotImplementedError(
            f"\"lerp_kernel_tensor\" not implemented for '{dtype_name(x.payload)}': convert the "
            "tensors to a floating dtype"
        )
    return "lerp_tensor", (y, w), {}


_CTYPES = {"Float": "float", "Double": "double", "Half": "c10::Half", "Long": "long int"}


def _same_dtype(x: Any, other: Any, name: str) -> None:
    have, want = dtype_name(other.payload), dtype_name(x.payload)
    if have != want:
        raise RuntimeError(
            f"expected dtype {_CTYPES.get(want, want)} for `{name}` but got dtype "
            f"{_CTYPES.get(have, have)}: convert one of them"
        )


def lerp(input: Any, end: Any, weight: Any, *, out: Any = None) -> Any:
    """The point between two tensors that a weight says: ``input + weight * (end - input)``.

    Parameters
    ----------
    input, end : Tensor
        Of one floating dtype; they broadcast against each other.
    weight : number or Tensor
        0 for `input`, 1 for `end`; a tensor of their dtype.
    out : Tensor, optional
        Where to put the result.

    Returns
    -------
    Tensor
        Differentiable with respect to all tensors, to any order.

    Raises
    ------
    RuntimeError
        If the dtypes differ, or the shapes do not broadcast.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.lerp(wg.tensor([0.0, 10.0]), wg.tensor([4.0, 20.0]), 0.25)
    tensor([ 1.0000, 12.5000])
    """
    x = operand(input, "lerp")
    result = _run(x, _lerp(x, end, weight))
    return result if out is None else into(out, result, "lerp")


def _run(x: Any, form: Form) -> Any:
    name, others, params = form
    return getattr(T, name)(x, *others, **params)


FORMS: dict[str, Callable[..., Form]] = {"addcdiv": _addcdiv, "addcmul": _addcmul, "lerp": _lerp}
"""``form(tensor, ...)`` for each operation: its primitive, further arguments and parameters."""
