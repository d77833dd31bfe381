"""Layer 5 · ops · choosing: elements selected by a condition or clamped to bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.dtypes import INTEGER, category, promote
from wengert.base.error_states import errstate
from wengert.base.errors import long_name
from wengert.base.export import export
from wengert.base.shapes import broadcast
from wengert.interp.levels import Lifted
from wengert.ops.checks import bool_mask, flag
from wengert.ops.coerce import dtype_name, has_tangent, number, operand, real_number
from wengert.ops.out import into
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.inference import made_in_inference
from wengert.tape.masked import hides
from wengert.tape.operands import cast, held, is_number, plain
from wengert.tape.record import T
from wengert.tape.sites import warn

_BYTES = (
    "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a "
    "future version of PyTorch. Use a boolean condition instead."
)


@export("wengert")
def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """Return elements of `input` where a condition holds, of `other` elsewhere.

    Parameters
    ----------
    condition : Tensor. Of bools.
    input, other : Tensor or number, optional. What to choose from; all three broadcast and the
        dtypes of the two are promoted. Without them the result is ``nonzero(condition,
        as_tuple=True)``.

    Returns
    -------
    Tensor, or tuple of Tensor: Differentiable with respect to `input` and `other`, to any order.

    Raises
    ------
    RuntimeError: If the condition does not consist of bools, or the shapes do not broadcast.

    Examples
    --------
    >>> x = wg.tensor([-1.0, 2.0])
    >>> wg.where(x > 0, x, 0.0)
    tensor([0., 2.])
    """
    mask = operand(condition, "where", "condition")
    if input is None and other is None:
        return nonzero(mask, as_tuple=True)
    if input is None or other is None:
        raise TypeError(
            "where() received an invalid combination of arguments: it takes a condition alone, or "
            "with both input and other"
        )
    if mask._payload.dtype.kind != "b":
        if mask._payload.dtype != np.uint8:
            raise RuntimeError(
                "where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{dtype_name(mask._payload)}: compare it first, as in x > 0"
            )
        warn(_BYTES, UserWarning)
        mask = T.ne(mask, 0)
    if is_number(input):
        input = _beside(input, other)
    if is_number(other):
        other = _beside(other, input)
    result = hides(T.where(mask, input, other), input, other)
    return result if out is None else into(out, result, "where")


def _beside(number: Any, value: Any) -> Any:
    """Return a number as a tensor of the dtype that it has in promotion with another value."""
    arrays, numbers = (
        ([], [value]) if is_number(value) else ([operand(value, "where")._payload], [])
    )
    kind = promote(arrays, [number, *numbers])
    if kind.kind == "f" and kind.itemsize == 8:
        return new_tensor(kind.type(number))
    return _of_kind(held(number, kind) if kind.kind in "iu" else number, kind)


# in half precision, numbers that are too large are infinite
@errstate(over="ignore")
def _of_kind(number: Any, kind: np.dtype[Any]) -> Any:
    return new_tensor(kind.type(number))


@export("wengert", "Tensor")
def nonzero(input: Any, *, out: Any = None, as_tuple: bool = False) -> Any:
    """Return the positions of the elements that are not zero.

    Parameters
    ----------
    %(input)s
    as_tuple : bool. Whether to give a vector for each dimension, as ``x[...]`` takes them.

    Returns
    -------
    Tensor of int64, or tuple of them: One row for each such element. Not differentiable.

    Examples
    --------
    >>> wg.nonzero(wg.tensor([0, 3, 4]))
    tensor([[1],
            [2]])
    """
    x = operand(input, "nonzero")
    if out is not None and as_tuple:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    if isinstance(out, TensorBase) and out._payload.dtype != np.int64:
        raise RuntimeError(
            "nonzero: Expected out tensor to have scalar type Long but got scalar type "
            f"{long_name(out._payload.dtype)}"
        )
    if as_tuple and isinstance(x._payload, Lifted):
        rows = T.nonzero(x if x._payload.ndim else T.unsqueeze(x, dim=0))
        return tuple(T.unbind(rows, dim=1))
    if flag(as_tuple, "as_tuple"):
        array = x._payload if x._payload.ndim else np.reshape(x._payload, 1)
        # NumPy's positions are columns of one array
        columns = [new_tensor(np.ascontiguousarray(found)) for found in np.nonzero(array)]
        return tuple(map(made_in_inference, columns))
    result = T.nonzero(x)
    return result if out is None else into(out, result, "nonzero")


@export("wengert", "Tensor")
def argwhere(input: Any) -> Any:
    """`nonzero` under NumPy's name.

    Parameters
    ----------
    %(input)s

    Returns
    -------
    Tensor of int64: One row for each element that is not zero. Not differentiable.

    Examples
    --------
    >>> wg.argwhere(wg.tensor([0, 3])).tolist()
    [[1]]
    """
    return nonzero(input)


_REAL = frozenset({bool, int, float})


@export("wengert", "Tensor")
def clamp(input: Any, min: Any = None, max: Any = None, *, out: Any = None) -> Any:
    """Clamp the elements to the interval between two bounds.

    Parameters
    ----------
    %(input)s
    min, max : number or Tensor, optional. The bounds, at least one; both numbers or both tensors
        that broadcast. Where they cross, the result is `max`.

    Returns
    -------
    Tensor: NaN stays NaN. Differentiable, to any order; at a bound the derivative with respect to
        `input` is 1.

    Raises
    ------
    RuntimeError: If there is no bound, or the shapes do not broadcast.
    TypeError: If a bound is neither number nor tensor, or the two are of different kinds.

    Examples
    --------
    >>> wg.tensor([-1.0, 0.5, 2.0]).clamp(0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    x = operand(input, "clamp")
    min, max = plain(min), plain(max)
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    bounds = [bound for bound in (min, max) if bound is not None]
    if all(map(is_number, bounds)):
        kinds = {*map(type, bounds)}
        if not kinds <= _REAL and any(isinstance(b, complex | np.complexfloating) for b in bounds):
            min, max = (b if b is None else real_number(b, x, "clamp", "bound") for b in (min, max))
            bounds = [bound for bound in (min, max) if bound is not None]
        if category(x._payload.dtype) <= INTEGER:
            if kinds != {int} or x._payload.dtype.kind == "b":
                x = cast(x, promote([x._payload], bounds))
            min, max = (b if b is None else held(b, x._payload.dtype) for b in (min, max))
        result = T.clamp(x, min=min, max=max)
    elif all(isinstance(bound, TensorBase | np.ndarray) for bound in bounds):
        if max is None:
            result = T.clamp_min_tensor(x, min)
        elif min is None:
            result = T.clamp_max_tensor(x, max)
        else:
            result = T.clamp_tensor(x, min, max)
    else:
        return clamp(x, *mixed_bounds("clamp", min, max), out=out)
    return result if out is None else into(out, result, "clamp")


def mixed_bounds(op: str, min: Any, max: Any) -> tuple[Any, Any]:
    """Return a number and a 0-d tensor without history as two numbers; refuse other pairs."""
    try:
        return number(min, op, "min"), number(max, op, "max")
    except TypeError:
        kinds = ", ".join(type(bound).__name__ for bound in (min, max) if bound is not None)
        raise TypeError(
            f"{op}() received an invalid combination of arguments - got ({kinds}), but the bounds "
            "must be both numbers or both Tensors"
        ) from None


@export("wengert", "Tensor")
def clip(input: Any, min: Any = None, max: Any = None, *, out: Any = None) -> Any:
    """`clamp` under NumPy's name.

    Parameters
    ----------
    %(input)s
    min, max : number or Tensor, optional. The bounds, at least one.

    Returns
    -------
    Tensor: Differentiable, to any order; at a bound the derivative with respect to `input` is 1.

    Raises
    ------
    RuntimeError: If there is no bound.

    Examples
    --------
    >>> wg.clip(wg.tensor([1, 5]), max=3)
    tensor([1, 3])
    """
    return clamp(input, min, max, out=out)


@export("wengert", "Tensor")
def clamp_min(input: Any, min: Any, *, out: Any = None) -> Any:
    """Return the elements, but at least a bound.

    Parameters
    ----------
    %(input)s
    min : number or Tensor. The bound.

    Returns
    -------
    Tensor: Differentiable, to any order; at the bound the derivative with respect to `input` is 1.

    Examples
    --------
    >>> wg.clamp_min(wg.tensor([1, 5]), 3)
    tensor([3, 5])
    """
    x = operand(input, "clamp_min")
    if not is_number(min):
        return clamp(x, min=min, out=out)
    min = real_number(min, x, "clamp_min", "min")
    if category(x._payload.dtype) <= INTEGER:
        x = cast(x, promote([x._payload], [min]))
        min = held(min, x._payload.dtype)
    result = T.clamp_min(x, min=min)
    return result if out is None else into(out, result, "clamp_min")


@export("wengert", "Tensor")
def clamp_max(input: Any, max: Any, *, out: Any = None) -> Any:
    """Return the elements, but at most a bound.

    Parameters
    ----------
    %(input)s
    max : number or Tensor. The bound.

    Returns
    -------
    Tensor: Differentiable, to any order; at the bound the derivative with respect to `input` is 1.

    Examples
    --------
    >>> wg.clamp_max(wg.tensor([1, 5]), 3)
    tensor([1, 3])
    """
    x = operand(input, "clamp_max")
    if not is_number(max):
        return clamp(x, max=max, out=out)
    max = real_number(max, x, "clamp_max", "max")
    if category(x._payload.dtype) <= INTEGER:
        x = cast(x, promote([x._payload], [max]))
        max = held(max, x._payload.dtype)
    result = T.clamp_max(x, max=max)
    return result if out is None else into(out, result, "clamp_max")


@export("wengert", "Tensor")
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """Return a copy with one value where a mask holds.

    Parameters
    ----------
    %(input, mask)s
    value : number or Tensor. The value; a tensor without dimensions.

    Returns
    -------
    Tensor: Of the dtype of `input`. Differentiable with respect to `input` and `value`, to any
        order.

    Raises
    ------
    RuntimeError: If the mask does not consist of bools, the shapes do not broadcast, or the value
        does not fit the dtype.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0])
    >>> x.masked_fill(x > 1, 0)
    tensor([1., 0.])
    """
    x, where = operand(input, "masked_fill"), bool_mask(mask, "masked_fill")
    if is_number(value):
        made = T.masked_fill(x, where, value=held(value, x._payload.dtype))
        return hides(made, x)
    filling = operand(value, "masked_fill", "value", 3)
    check_filling(filling, "masked_fill_ only supports a 0-dimensional value tensor,")
    check_fits(filling._payload, x._payload.dtype)
    return hides(T.masked_fill_tensor(x, where, cast(filling, x._payload.dtype)), x)


def check_filling(value: Any, refusal: str) -> None:
    """Refuse a tensor with dimensions as the value that fills others."""
    if value._payload.ndim:
        raise RuntimeError(f"{refusal} but got tensor with {value._payload.ndim} dimension(s).")


def check_fits(number: Any, dtype: np.dtype[Any]) -> None:
    """Refuse an array of one number that `dtype` cannot hold."""
    if number.dtype is not dtype and number.dtype != dtype:
        held(number.item(), dtype)


@export("wengert", "Tensor")
def masked_select(input: Any, mask: Any, *, out: Any = None) -> Any:
    """Return the elements where a mask holds, in one dimension.

    Parameters
    ----------
    %(input, mask)s

    Returns
    -------
    Tensor: Of one dimension. Differentiable, to any order.

    Raises
    ------
    RuntimeError: If the mask does not consist of bools, or the shapes do not broadcast.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0])
    >>> x.masked_select(x > 1)
    tensor([2.])
    """
    x, where = operand(input, "masked_select"), operand(mask, "masked_select", "mask", 2)
    if where._payload.dtype.kind != "b":
        raise RuntimeError(
            f"masked_select: expected BoolTensor for mask, but got {dtype_name(where._payload)}"
        )
    own, places = x._payload.shape, where._payload.shape
    if own != places:
        shape = broadcast(places, own)
        x = x if own == shape else T.expand(x, shape=shape)
        where = where if places == shape else T.expand(where, shape=shape)
    result = hides(T.masked_select(x, where), x)
    return result if out is None else into(out, result, "masked_select")


def in_history(result: Any, *parameters: Any) -> Any:
    """Return a drawn result, with a gradient of 0 for its parameters, as in PyTorch."""
    for value in parameters:
        if value._edge is not None or has_tangent(value):
            result = where(np.True_, result, value)
    return result
