"""Layer 5 · ops · choosing: writes at positions of a dimension, of a mask, or of the flattened
tensor.

Each operation has two forms, one that writes and one that copies (`wengert.ops.written`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import long_name, wrong_type
from wengert.base.export import export
from wengert.base.shapes import broadcast, expanded, normal_dim
from wengert.kernels.reduce import are_within
from wengert.ops.checks import bool_mask, flag
from wengert.ops.coerce import dtype_name, integer, operand
from wengert.ops.out import into
from wengert.ops.written import Form, copied, form
from wengert.prims import place as place
from wengert.tape.base import TensorBase
from wengert.tape.operands import cast, held, is_number, plain
from wengert.tape.record import T


def _long(index: Any, op: str, message: str) -> Any:
    where = operand(index, op, "index", 2)
    if where._payload.dtype.kind not in "iu" or where._payload.dtype.itemsize != 8:
        raise (IndexError if op == "index_fill" else RuntimeError)(
            f"{op}_(): {message}{'' if op == 'index_fill' else dtype_name(where._payload)}"
        )
    return where


def _axis(x: Any, dim: Any, op: str) -> int:
    return normal_dim(integer(dim, op, "dim"), x._payload.ndim)


def _outside(index: Any, low: int, high: int) -> Any:
    """Return the position furthest outside of a range; None if there is none."""
    if are_within(index, high):
        return None
    least, most = index.min(), index.max()
    if least < low:
        return least
    return most if most >= high else None


@form
def _index_fill(x: Any, dim: int, index: Any, value: Any) -> Form:
    axis, value = _axis(x, dim, "index_fill"), plain(value)
    where = _long(index, "index_fill", "Expected dtype int64 for index.")
    if where._payload.ndim > 1:
        raise RuntimeError(f"Index has to be a vector/scalar, but is {where._payload.ndim}D")
    size = x._payload.shape[axis] if x._payload.ndim else 1
    place = _outside(where._payload, -size, size)
    if place is not None:
        raise IndexError(f"index {place} is out of bounds for dimension {axis} with size {size}")
    if isinstance(value, TensorBase):
        if value._payload.ndim:
            raise RuntimeError(
                "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value._payload.ndim} dimension(s)."
            )
        value = cast(value, x._payload.dtype)
        return "index_fill_tensor", (where, value), {"dim": axis}
    if not is_number(value):
        raise TypeError(
            "index_fill() received an invalid combination of arguments: 'value' must be a number "
            f"or a Tensor, not {type(value).__name__}"
        )
    if isinstance(value, complex) and x._payload.dtype.kind != "c":
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    return "index_fill", (where,), {"dim": axis, "value": held(value, x._payload.dtype)}


@export("wengert", "Tensor", "Tensor_ written")
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """Return a copy with positions of a dimension filled with one value.

    Parameters
    ----------
    %(input, dim)s
    index : Tensor. The positions, an int64 vector; negative ones count from the end.
    value : number or Tensor. A tensor must have no dimensions.

    Returns
    -------
    Tensor: Differentiable with respect to `input` and `value`, to any order.

    Raises
    ------
    IndexError: If there is no such dimension or position, or the index is not int64.
    RuntimeError: If `index` has more than one dimension, or `value` has any.

    Examples
    --------
    >>> wg.zeros(3).index_fill(0, wg.tensor([0, 2]), 5.0)
    tensor([5., 0., 5.])
    """
    x = operand(input, "index_fill")
    return copied(x, _index_fill(x, dim, index, value))


@form
def _index_copy(x: Any, dim: int, index: Any, source: Any) -> Form:
    axis = _axis(x, dim, "index_copy")
    where = _long(index, "index_copy", "Expected a long tensor for index, but got ")
    y = operand(source, "index_copy", "source", 3)
    own, given, array = x._payload, y._payload, where._payload
    if array.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {array.ndim})")
    if given.ndim and own.ndim and given.ndim != own.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality "
            f"must match. Source dimensionality ({given.ndim}), destination dimensionality "
            f"({own.ndim})"
        )
    if given.dtype != own.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{dtype_name(own)} and (source) {dtype_name(given)}"
        )
    rest = (*own.shape[:axis], *own.shape[axis + 1 :])
    slices = (*given.shape[:axis], *given.shape[axis + 1 :])
    if rest != slices and (rest or given.ndim > 1):
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {list(rest)} at dimension {axis} and source slice shape: "
            f"{list(slices)} at dimension 0."
        )
    count = given.shape[axis] if given.ndim else 1
    if count != array.size:
        raise IndexError(
            f"index_copy_(): Number of indices ({array.size}) should be equal to source.size(dim) "
            f"({count})"
        )
    size = own.shape[axis] if own.ndim else 1
    place = _outside(array, 0, size)
    if place is not None:
        raise IndexError(
            f"index_copy_(): index {place} is out of bounds for dimension {axis} with size {size}"
        )
    return "index_copy", (where, y), {"dim": axis}


@export("wengert", "Tensor", "Tensor_ written")
def index_copy(input: Any, dim: int, index: Any, source: Any, *, out: Any = None) -> Any:
    """Return a copy with positions of a dimension replaced by those of another tensor.

    Parameters
    ----------
    %(input, dim)s
    index : Tensor. The positions, an int64 vector without negative numbers.
    source : Tensor. The values to write: of the shape of `input`, but with one position per entry
        of `index`.
    %(out)s

    Returns
    -------
    Tensor: Differentiable with respect to `input` and `source`, to any order, as long as no
        position is named twice.

    Raises
    ------
    IndexError: If there is no such dimension or position, or the numbers of positions differ.
    RuntimeError: If the dtypes or the other sizes differ.

    Examples
    --------
    >>> wg.zeros(3).index_copy(0, wg.tensor([2, 0]), wg.tensor([5.0, 6.0]))
    tensor([6., 0., 5.])
    """
    x = operand(input, "index_copy")
    return into(out, copied(x, _index_copy(x, dim, index, source)), "index_copy")


@form
def _masked_scatter(x: Any, mask: Any, source: Any) -> Form:
    where = bool_mask(mask, "masked_scatter")
    if not isinstance(source, TensorBase | np.ndarray):
        raise wrong_type("masked_scatter", "source", "Tensor", source, 2)
    y = operand(source, "masked_scatter", "source", 3)
    if y._payload.dtype != x._payload.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{dtype_name(x._payload)} and {dtype_name(y._payload)}"
        )
    shape = x._payload.shape
    if where._payload.shape != shape:
        where = T.expand(where, shape=expanded(where._payload.shape, shape))
    count = T.count_nonzero(where, dim=tuple(range(len(shape))))._payload
    if count.__class__ is not np.int64:
        # of a batch or a device
        count = count.max()
    if count > y._payload.size:
        raise RuntimeError(
            "Number of elements of source < number of ones in mask: there are "
            f"{y._payload.size} and {count}"
        )
    return "masked_scatter", (where, y), {}


@export("wengert", "Tensor", "Tensor_ written")
def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """Return a copy with the elements under a mask replaced by those of another tensor, in order.

    Parameters
    ----------
    input : Tensor. Of any shape; broadcasts with `mask`.
    mask : Tensor. Of bools.
    source : Tensor. Of any shape, with at least as many elements as the mask holds at.

    Returns
    -------
    Tensor: Differentiable with respect to `input` and `source`, to any order.

    Raises
    ------
    RuntimeError: If `mask` is not of bools or does not broadcast, if the dtypes differ, or if
        `source` has too few elements.

    Examples
    --------
    >>> wg.zeros(3).masked_scatter(wg.tensor([True, False, True]), wg.tensor([5.0, 6.0]))
    tensor([5., 0., 6.])
    """
    x, where = operand(input, "masked_scatter"), operand(mask, "masked_scatter", "mask", 2)
    shape = broadcast(where._payload.shape, x._payload.shape)
    if shape != x._payload.shape:
        x = T.expand(x, shape=shape)
    return copied(x, _masked_scatter(x, where, source))


@form
def _put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Form:
    where = _long(index, "put", "Expected a long tensor for index, but got ")
    y = operand(source, "put", "source", 3)
    if y._payload.dtype != x._payload.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{long_name(x._payload.dtype)} and source.dtype = {long_name(y._payload.dtype)}"
        )
    if y._payload.size != where._payload.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {y._payload.size}, index.numel() = {where._payload.size}"
        )
    size = x._payload.size
    place = _outside(where._payload, -size, size)
    if place is not None:
        raise IndexError(
            f"out of range: tried to access index {place} on a tensor of {size} elements."
        )
    return "put", (where, y), {"accumulate": flag(accumulate, "accumulate")}


@export("wengert", "Tensor", "Tensor_ written")
def put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Return a copy with values written or added at positions of the flattened tensor.

    Parameters
    ----------
    %(input)s
    index : Tensor. The positions, of int64; negative ones count from the end.
    source : Tensor. The values: as many as `index` has elements.
    accumulate : bool. Whether to add instead of replacing; elements that are named twice get both.

    Returns
    -------
    Tensor: Differentiable with respect to `input` and `source`, to any order; without `accumulate`
        as long as no element is named twice.

    Raises
    ------
    IndexError: If a position is out of range, or the numbers of elements differ.
    RuntimeError: If the dtypes differ, or the index is not int64.

    Examples
    --------
    >>> wg.zeros(2, 2).put(wg.tensor([3, 0]), wg.tensor([5.0, 6.0]))
    tensor([[6., 0.],
            [0., 5.]])
    """
    x = operand(input, "put")
    return copied(x, _put(x, index, source, accumulate))
