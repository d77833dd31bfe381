"""Layer 5 · ops · joining: combinations and products of elements, and sums down to a shape."""

# the arguments have PyTorch's names

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.ops.checks import flag
from wengert.ops.coerce import dtype_name, integer, operand, sizes_of
from wengert.ops.options import placed
from wengert.tape.operands import cast
from wengert.tape.record import T


@export("wengert")
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """Return all combinations of some of the elements, one to a row, in the order of `itertools`.

    Parameters
    ----------
    input : Tensor. Of one dimension.
    r : int. The number of elements in each combination.
    with_replacement : bool. Whether an element may be chosen several times.

    Returns
    -------
    Tensor: With `r` columns; differentiable, to any order.

    Raises
    ------
    RuntimeError: If the input is not one-dimensional, or `r` is negative.

    Examples
    --------
    >>> wg.combinations(wg.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    x = operand(input, "combinations")
    _check_vector(x._payload)
    count = integer(r, "combinations", "r")
    if count < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {count}")
    if not count:
        return placed(x, np.zeros(0, x._payload.dtype))
    chosen = _chosen(x._payload.size, count, flag(with_replacement, "with_replacement"))
    return T.take(x, placed(x, chosen))


def _chosen(n: int, r: int, replaced: bool) -> Any:
    """Return the positions of all combinations, one per row."""
    if r == 2:
        return np.stack(np.triu_indices(n, 0 if replaced else 1), 1).astype(np.int64, copy=False)
    if replaced:
        rows = math.comb(n + r - 1, r) if n else 0
        drawn: Any = itertools.combinations_with_replacement(range(n), r)
    else:
        rows, drawn = math.comb(n, r), itertools.combinations(range(n), r)
    flat = np.fromiter(itertools.chain.from_iterable(drawn), np.int64, rows * r)
    return flat.reshape(rows, r)


def _check_vector(payload: Any) -> None:
    if payload.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(payload.shape)}")


@export("wengert")
def cartesian_prod(*tensors: Any) -> Any:
    """Return all choices of one element per tensor, one to a row, in the order of `itertools`.

    Parameters
    ----------
    *tensors : Tensor. Of one dimension each, and of one dtype.

    Returns
    -------
    Tensor: With a column for each tensor; of a single tensor, this itself. Differentiable, to any
        order.

    Raises
    ------
    RuntimeError: If there is no tensor, if one is not one-dimensional, or if the dtypes differ.

    Examples
    --------
    >>> wg.cartesian_prod(wg.tensor([1, 2]), wg.tensor([5, 6]))
    tensor([[1, 5],
            [1, 6],
            [2, 5],
            [2, 6]])
    """
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList: give at least one tensor")
    for i, value in enumerate(tensors):
        if isinstance(value, tuple | list):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(value).__name__}: "
                "give the tensors one by one, cartesian_prod(*tensors)"
            )
    columns = [operand(value, "cartesian_prod", "tensors", i) for i, value in enumerate(tensors)]
    for column in columns:
        _check_vector(column._payload)
    kinds = {dtype_name(column._payload) for column in columns}
    if len(kinds) > 1:
        raise RuntimeError(
            f"meshgrid expects all tensors to have the same dtype, not {' and '.join(kinds)}"
        )
    if len(columns) == 1:
        return columns[0]
    sizes = tuple([column._payload.size for column in columns])
    wide = []
    for i, column in enumerate(columns):
        shape = tuple([size if j == i else 1 for j, size in enumerate(sizes)])
        spread = T.expand(T.view(T.contiguous(column), shape=shape), shape=sizes)
        wide.append(T.view(T.contiguous(spread), shape=(math.prod(sizes),)))
    return T.stack(*wide, dim=1)


@export("Tensor")
def sum_to_size(input: Any, *size: Any) -> Any:
    """Return the sum over the dimensions that broadcasting would expand.

    Parameters
    ----------
    input : Tensor. Of any shape and dtype.
    *size : int or tuple of int. A shape that can be expanded to the tensor's.

    Returns
    -------
    Tensor: Of that shape; differentiable, to any order.

    Raises
    ------
    RuntimeError: If the shape cannot be expanded to the tensor's.

    Examples
    --------
    >>> wg.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    x = operand(input, "sum_to_size")
    if not size:
        raise TypeError('sum_to_size() missing 1 required positional arguments: "size"')
    shape = sizes_of(size, "sum_to_size")
    own = x._payload.shape
    fits = len(shape) <= len(own) and all(
        n in (1, m) for n, m in zip(reversed(shape), reversed(own), strict=False)
    )
    if not fits:
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(own)}}}.")
    if shape and shape == own:
        return x
    if x._payload.dtype.kind in "biu":
        x = cast(x, np.dtype(np.int64))
    if shape == own:
        return T.clone(x)
    lead = len(own) - len(shape)
    dims = [i for i, m in enumerate(own) if i < lead or shape[i - lead] != m]
    total = T.sum_dim(x, dim=tuple(dims), keepdim=True)
    return T.view(total, shape=shape) if lead else total
