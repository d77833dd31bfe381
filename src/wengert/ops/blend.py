"""Layer 5 · ops · pointwise: element-wise operations of three tensors with in-place forms."""

from __future__ import annotations

from typing import Any

from wengert.base.dtypes import FLOATING, category
from wengert.base.errors import c_name, not_implemented, wrong_type
from wengert.base.export import export
from wengert.ops.coerce import in_former_order, number, operand, real_number
from wengert.ops.out import into
from wengert.ops.written import Form, copied, form
from wengert.prims import blend as blend
from wengert.tape.operands import is_number, plain

_WHOLE = frozenset("biu")


def _three(op: str, x: Any, tensor1: Any, tensor2: Any, value: Any) -> Form:
    a, b = operand(tensor1, op, "tensor1", 2), operand(tensor2, op, "tensor2", 3)
    value = number(value, op, "value")
    if not is_number(value):
        raise wrong_type(op, "value", "Number", value)
    given = {a._payload.dtype.kind, b._payload.dtype.kind}
    if "c" not in given:
        value = real_number(value, x, op, "value")
    kinds = {x._payload.dtype.kind, *given}
    if op == "addcdiv" and given <= _WHOLE:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2: convert the tensors to "
            "a floating dtype"
        )
    if kinds == {"b"}:
        raise not_implemented(f"{op}_cpu_out", a._payload.dtype, "convert to a number type")
    if kinds <= _WHOLE:
        value = int(value)
    return op, (a, b), {"value": value}


@form
def _addcmul(x: Any, tensor1: Any, tensor2: Any, *former: Any, value: float = 1) -> Form:
    if former:
        x, tensor1, tensor2, value = in_former_order(
            "addcmul", (x, tensor1, tensor2), former, value
        )
    return _three("addcmul", x, tensor1, tensor2, value)


@form
def _addcdiv(x: Any, tensor1: Any, tensor2: Any, *former: Any, value: float = 1) -> Form:
    if former:
        x, tensor1, tensor2, value = in_former_order(
            "addcdiv", (x, tensor1, tensor2), former, value
        )
    return _three("addcdiv", x, tensor1, tensor2, value)


@export("wengert", "Tensor", "Tensor_ written")
def addcmul(
    input: Any,
    tensor1: Any,
    tensor2: Any,
    *former: Any,
    value: float = 1,
    out: Any = None,
) -> Any:
    """Return ``input + value * tensor1 * tensor2``.

    Parameters
    ----------
    input, tensor1, tensor2 : Tensor. They broadcast against each other.
    %(blended)s

    %(raises_broadcast)s

    Examples
    --------
    >>> wg.addcmul(wg.ones(2), wg.tensor([1.0, 2.0]), wg.tensor([3.0, 4.0]), value=2)
    tensor([ 7., 17.])
    """
    x = operand(input, "addcmul")
    result = copied(x, _addcmul(x, tensor1, tensor2, *former, value=value))
    return result if out is None else into(out, result, "addcmul")


@export("wengert", "Tensor", "Tensor_ written")
def addcdiv(
    input: Any,
    tensor1: Any,
    tensor2: Any,
    *former: Any,
    value: float = 1,
    out: Any = None,
) -> Any:
    """Return ``input + value * tensor1 / tensor2``.

    Parameters
    ----------
    input, tensor1, tensor2 : Tensor. They broadcast against each other; `tensor1` and `tensor2` not
        both of integers.
    %(blended)s

    Raises
    ------
    RuntimeError: If the shapes do not broadcast, or `tensor1` and `tensor2` hold integers.

    Examples
    --------
    >>> wg.addcdiv(wg.ones(2), wg.tensor([1.0, 2.0]), wg.tensor([2.0, 4.0]), value=2)
    tensor([2., 2.])
    """
    x = operand(input, "addcdiv")
    result = copied(x, _addcdiv(x, tensor1, tensor2, *former, value=value))
    return result if out is None else into(out, result, "addcdiv")


@form
def _lerp(x: Any, end: Any, weight: Any) -> Form:
    y = operand(end, "lerp", "end", 2)
    _same_dtype(x, y, "end")
    weight = plain(weight)
    if is_number(weight):
        if category(x._payload.dtype) < FLOATING:
            raise not_implemented(
                "lerp_kernel_scalar", x._payload.dtype, "convert the tensors to a floating dtype"
            )
        return "lerp", (y,), {"weight": real_number(weight, x, "lerp", "weight")}
    w = operand(weight, "lerp", "weight", 3)
    _same_dtype(x, w, "weight")
    if category(x._payload.dtype) < FLOATING:
        raise not_implemented(
            "lerp_kernel_tensor", x._payload.dtype, "convert the tensors to a floating dtype"
        )
    return "lerp_tensor", (y, w), {}


def _same_dtype(x: Any, other: Any, name: str) -> None:
    if other._payload.dtype is x._payload.dtype:
        return
    have, want = c_name(other._payload.dtype), c_name(x._payload.dtype)
    if have != want:
        raise RuntimeError(
            f"expected dtype {want} for `{name}` but got dtype {have}: convert one of them"
        )


@export("wengert", "Tensor", "Tensor_ written")
def lerp(input: Any, end: Any, weight: Any, *, out: Any = None) -> Any:
    """Interpolate linearly between two tensors: ``input + weight * (end - input)``.

    Parameters
    ----------
    input, end : Tensor. Of one floating dtype; they broadcast against each other.
    weight : number or Tensor. 0 for `input`, 1 for `end`; a tensor of their dtype.
    out : Tensor, optional. Where to put the result.

    Returns
    -------
    Tensor: Differentiable with respect to all tensors, to any order.

    Raises
    ------
    RuntimeError: If the dtypes differ, or the shapes do not broadcast.

    Examples
    --------
    >>> wg.lerp(wg.tensor([0.0, 10.0]), wg.tensor([4.0, 20.0]), 0.25)
    tensor([ 1.0000, 12.5000])
    """
    x = operand(input, "lerp")
    result = copied(x, _lerp(x, end, weight))
    return result if out is None else into(out, result, "lerp")
