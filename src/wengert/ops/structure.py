"""Layer 5 · ops · shapes: tensors rearranged, rotated and assembled from others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.dtypes import default_float, from_numpy_dtype
from wengert.base.export import export
from wengert.base.shapes import broadcast, normal_dim
from wengert.base.size import Size
from wengert.ops.arrange import diag, flip
from wengert.ops.checks import numpy_names
from wengert.ops.clone import clone
from wengert.ops.coerce import integer, operand, sizes_of
from wengert.ops.out import into
from wengert.ops.permute import transpose
from wengert.ops.shape import reshape
from wengert.ops.split import narrow
from wengert.prims import structure as structure
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.inference import made_in_inference
from wengert.tape.record import T
from wengert.tape.views import unviewed


def _each(name: str, tensors: tuple[Any, ...], grown: Any) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        return tuple(grown(operand(value, name)) for value in tensors[0])
    made = tuple(grown(operand(value, name)) for value in tensors)
    return made[0] if len(made) == 1 else made


@export("wengert")
def atleast_1d(*tensors: Any) -> Any:
    """Return tensors as they are, numbers as vectors of one element.

    Parameters
    ----------
    %(views_of_tensors)s

    Examples
    --------
    >>> wg.atleast_1d(wg.tensor(2.0))
    tensor([2.])
    """
    return _each("atleast_1d", tensors, lambda x: x if x._payload.ndim else reshape(x, (1,)))


@export("wengert")
def atleast_2d(*tensors: Any) -> Any:
    """Return tensors with at least two dimensions; a vector becomes a row.

    Parameters
    ----------
    %(views_of_tensors)s

    Examples
    --------
    >>> wg.atleast_2d(wg.tensor([1.0, 2.0]))
    tensor([[1., 2.]])
    """

    def grown(x: Any) -> Any:
        if x._payload.ndim == 0:
            return reshape(x, (1, 1))
        return T.unsqueeze(x, dim=0) if x._payload.ndim == 1 else x

    return _each("atleast_2d", tensors, grown)


@export("wengert")
def atleast_3d(*tensors: Any) -> Any:
    """Return tensors with at least three dimensions; n elements get the shape (1, n, 1).

    Parameters
    ----------
    %(views_of_tensors)s

    Examples
    --------
    >>> wg.atleast_3d(wg.ones(2, 3)).shape
    torch.Size([2, 3, 1])
    """

    def grown(x: Any) -> Any:
        if x._payload.ndim == 0:
            return reshape(x, (1, 1, 1))
        if x._payload.ndim == 1:
            return T.unsqueeze(T.unsqueeze(x, dim=0), dim=2)
        return T.unsqueeze(x, dim=2) if x._payload.ndim == 2 else x

    return _each("atleast_3d", tensors, grown)


@export("wengert")
def block_diag(*tensors: Any) -> Any:
    """Return a matrix with matrices along its diagonal, and zeros elsewhere.

    Parameters
    ----------
    *tensors : Tensor. Of at most two dimensions; vectors count as rows.

    Returns
    -------
    Tensor: Of the common dtype; differentiable, to any order.

    Raises
    ------
    RuntimeError: If a tensor has more than two dimensions.

    Examples
    --------
    >>> wg.block_diag(wg.ones(1, 2), wg.tensor(3.0))
    tensor([[1., 1., 0.],
            [0., 0., 3.]])
    """
    for i, value in enumerate(tensors):
        if not isinstance(value, TensorBase | np.ndarray | np.generic):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(value).__name__}: "
                "block_diag() takes the tensors one by one, block_diag(*tensors)"
            )
        ndim = operand(value, "block_diag")._payload.ndim
        if ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {ndim} dimensions"
            )
    if not tensors:
        return made_in_inference(new_tensor(np.empty((1, 0), default_float())))
    return T.block_diag(*tensors)


@export("wengert")
def broadcast_shapes(*shapes: Any) -> Any:
    """Return the shape that shapes broadcast to.

    Parameters
    ----------
    *shapes : int or sequence of int. The shapes.

    Returns
    -------
    Size: The sizes, of each dimension the one that is not 1.

    Raises
    ------
    RuntimeError: If they do not broadcast.
    ValueError: If a size is negative.

    Examples
    --------
    >>> wg.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    sizes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    made: tuple[int, ...] = ()
    for i, size in enumerate(sizes):
        if min(size, default=0) < 0:
            raise ValueError(
                f"Attempting to broadcast a dimension with negative length! Shape {i} is {size}"
            )
        try:
            made = broadcast(made, size)
        except RuntimeError:
            raise _unlike(made, size, i) from None
    return Size(made)


def _unlike(made: tuple[int, ...], size: tuple[int, ...], i: int) -> RuntimeError:
    """Return the error for shape `i`, which does not match those before it."""
    at = -1
    while made[at] == size[at] or 1 in (made[at], size[at]):
        at -= 1
    return RuntimeError(
        f"Attempting to broadcast a dimension of length {size[at]} at {at}! Mismatching argument "
        f"at index {i} had {size}; but expected shape should be broadcastable to {list(made)}"
    )


@export("wengert", "Tensor")
def diagflat(input: Any, offset: int = 0) -> Any:
    """Return a matrix with the elements of a tensor, row after row, on a diagonal.

    Parameters
    ----------
    %(input, offset, returns_differentiable)s

    Examples
    --------
    >>> wg.diagflat(wg.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    return diag(reshape(operand(input, "diagflat"), (-1,)), offset)


@export("wengert", "Tensor")
def is_nonzero(input: Any) -> bool:
    """Return whether the only element of a tensor is not zero.

    Parameters
    ----------
    input : Tensor. With one element.

    Returns
    -------
    bool: Never differentiable.

    Raises
    ------
    RuntimeError: If there is not exactly one element.

    Examples
    --------
    >>> wg.is_nonzero(wg.tensor([2.0]))
    True
    """
    return bool(operand(input, "is_nonzero"))


@export("wengert", "Tensor")
@numpy_names
def narrow_copy(input: Any, dim: int, start: int, length: int, *, out: Any = None) -> Any:
    """Return a copy of a range of a dimension.

    Parameters
    ----------
    %(vectors)s
    dim, start, length : int. The dimension, the first position (negative to count from the end) and
        their number.

    %(returns_smooth)s

    Raises
    ------
    IndexError: If there is no such dimension or start.
    RuntimeError: If the range ends beyond the dimension.

    Examples
    --------
    >>> wg.narrow_copy(wg.tensor([1, 2, 3]), 0, 1, 2)
    tensor([2, 3])
    """
    x = operand(input, "narrow_copy")
    axis = normal_dim(integer(dim, "narrow_copy", "dim"), x._payload.ndim)
    if x._payload.ndim and integer(length, "narrow_copy", "length") < 0:
        raise RuntimeError(
            f"start ({start}) + length ({length}) exceeds dimension size "
            f"({x._payload.shape[axis]}): the length must not be negative"
        )
    return into(out, T.contiguous(narrow(x, axis, start, length)), "narrow_copy")


@export("wengert", "Tensor")
def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Rotate by multiples of 90 degrees in the plane of two dimensions.

    Parameters
    ----------
    %(planes)s
    k : int. The number of quarter turns, from the first of `dims` towards the second.
    dims : sequence of two ints. The dimensions of the plane.

    Returns
    -------
    Tensor: A copy; differentiable.

    Raises
    ------
    RuntimeError: If `dims` are not two different dimensions, or the tensor has fewer.
    %(error_no_dim)s

    Examples
    --------
    >>> wg.rot90(wg.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    x = operand(input, "rot90")
    given = sizes_of((dims,), "rot90", "dims")
    ndim = x._payload.ndim
    if len(given) != 2:
        raise RuntimeError(
            f"expected total rotation dims == 2, but got dims = {len(given)}: two dimensions span "
            "the plane"
        )
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    first, second = [normal_dim(d, ndim) for d in given]
    if first == second:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {given[0]} and dim1 = "
            f"{given[1]}"
        )
    turns = integer(k, "rot90", "k") % 4
    if turns == 0:
        return clone(x)
    if turns == 2:
        return flip(x, (first, second))
    return unviewed(transpose(flip(x, (second if turns == 1 else first,)), first, second))


@export("wengert")
def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """Return the coordinates of positions in a tensor laid out row after row.

    Parameters
    ----------
    indices : Tensor. Positions, of an integer dtype.
    shape : int or sequence of int. The shape of the tensor.

    Returns
    -------
    tuple of Tensor: One tensor of coordinates for each dimension.

    Raises
    ------
    TypeError: If `indices` or `shape` is not of integers.
    ValueError: If a size is negative.

    Examples
    --------
    >>> wg.unravel_index(wg.tensor([5]), (2, 3))
    (tensor([1]), tensor([2]))
    """
    x = operand(indices, "unravel_index", "indices")
    if x._payload.dtype.kind not in "iu":
        raise TypeError(
            f"expected 'indices' to be integer dtype, but got {from_numpy_dtype(x._payload.dtype)}"
        )
    if isinstance(shape, int):
        shape = (shape,)
    elif not isinstance(shape, Sequence):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    for size in shape:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if min(shape, default=0) < 0:
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    # positions after the last one wrap around to the first
    places = T.to_copy(x, dtype=np.dtype(np.int64))
    inner = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    return tuple(
        [
            T.remainder(T.floor_divide(places, max(step, 1)), max(size, 1))
            for step, size in zip(inner, shape, strict=True)
        ]
    )
