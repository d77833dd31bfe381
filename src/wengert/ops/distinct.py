"""Layer 5 · ops · sorting: the distinct elements of a tensor, or slices along a dimension.

PyTorch's functions are not differentiable: their node raises. Here each distinct element passes its
gradient to the first element that is equal to it.
"""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.base.shapes import normal_dim
from wengert.interp.levels import Lifted
from wengert.ops.checks import flag
from wengert.ops.coerce import operand
from wengert.prims import search as search
from wengert.tape.base import new_tensor
from wengert.tape.record import T


@export("wengert", "Tensor")
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the different elements in ascending order, or the different slices along a dimension.

    Parameters
    ----------
    input : Tensor. Of any real dtype. A NaN differs from all others.
    sorted : bool. Accepted for compatibility: the result is sorted in any case, slices
        lexicographically.
    return_inverse : bool. Whether to return where each element is in the result.
    return_counts : bool. Whether to return how often each element of the result occurs.
    dim : int, optional. The dimension whose slices to compare; without it the elements.

    Returns
    -------
    Tensor or tuple of Tensor: ``output``, then ``inverse_indices`` and ``counts``, both of int64,
        where they are asked for. The output is differentiable: the first of equal elements gets the
        gradient.

    %(raises_distinct)s

    Examples
    --------
    >>> wg.unique(wg.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    >>> wg.unique(wg.tensor([[1, 2], [0, 5], [1, 2]]), dim=0)
    tensor([[0, 5],
            [1, 2]])
    """
    x = operand(input, "unique")
    if dim is None:
        return _of_elements(x, "unique", return_inverse, return_counts)
    return _of_slices(x, "unique", dim, return_inverse, return_counts)


@export("wengert", "Tensor")
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the first elements, or slices along a dimension, of all groups of equal neighbours.

    Parameters
    ----------
    input : Tensor. Of any real dtype. A NaN differs from all others.
    return_inverse : bool. Whether to return where each element is in the result.
    return_counts : bool. Whether to return how many elements each group has.
    dim : int, optional. The dimension whose slices to compare; without it the elements.

    Returns
    -------
    Tensor or tuple of Tensor: ``output``, then ``inverse_indices`` and ``counts``, both of int64,
        where they are asked for. The output is differentiable: the first of a group gets the
        gradient.

    %(raises_distinct)s

    Examples
    --------
    >>> wg.unique_consecutive(wg.tensor([1, 1, 2, 2, 1]), return_inverse=True)
    (tensor([1, 2, 1]), tensor([0, 0, 1, 1, 2]))
    """
    x = operand(input, "unique_consecutive")
    if dim is None:
        return _of_elements(x, "unique_consecutive", return_inverse, return_counts)
    return _of_slices(x, "unique_consecutive", dim, return_inverse, return_counts)


def unique_dim(
    input: Any,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[Any, Any, Any]:
    """The slices of a dimension that differ, where each is among them, and how often it occurs.

    Examples
    --------
    >>> wg._VF.unique_dim(wg.tensor([[3, 1, 3]]), 1)
    (tensor([[1, 3]]), tensor([1, 0, 1]), tensor([1, 2]))
    """
    values, inverse, counts = unique(input, sorted, True, True, dim)
    return values, inverse, counts


def _unique2(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Any, Any, Any]:
    """`unique` with three results, of which those that are not asked for are empty."""
    values, inverse, counts = unique(input, sorted, True, True)
    none = new_tensor(np.empty(0, np.int64))
    return values, inverse if return_inverse else none, counts if return_counts else none


def _unique(input: Any, sorted: bool = True, return_inverse: bool = False) -> tuple[Any, Any]:
    """`unique` with two results, of which the second is empty if it is not asked for."""
    return _unique2(input, sorted, return_inverse)[:2]


def _of_elements(x: Any, name: str, return_inverse: bool, return_counts: bool) -> Any:
    _check_order(x._payload)
    plain = x._edge is None and not isinstance(x._payload, Lifted)
    if (
        plain
        and not flag(return_inverse, "return_inverse")
        and not flag(return_counts, "return_counts")
    ):
        return T.unique_values(x) if name == "unique" else T.unique_consecutive_values(x)
    found = T.unique(x) if name == "unique" else T.unique_consecutive(x, dim=None)
    return _asked(T.take(x, found[0]), found, return_inverse, return_counts)


def _of_slices(x: Any, name: str, dim: int, return_inverse: bool, return_counts: bool) -> Any:
    _check_order(x._payload)
    shape = x._payload.shape
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = normal_dim(dim, len(shape))
    if 0 in shape[:axis] + shape[axis + 1 :] and shape[axis]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied: "
            f"the input has the shape {list(shape)}"
        )
    found = T.unique_rows(x, dim=axis) if name == "unique" else T.unique_consecutive(x, dim=axis)
    return _asked(T.index_select(x, found[0], dim=axis), found, return_inverse, return_counts)


def _check_order(payload: Any) -> None:
    if payload.dtype.kind == "c":
        raise not_implemented("unique", payload.dtype, "complex numbers have no order")


def _asked(output: Any, found: Any, return_inverse: bool, return_counts: bool) -> Any:
    _, inverse, counts = found
    made = [output]
    if flag(return_inverse, "return_inverse"):
        made.append(inverse)
    if flag(return_counts, "return_counts"):
        made.append(counts)
    return tuple(made) if len(made) > 1 else output
