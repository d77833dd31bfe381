"""Layer 5 · ops · shapes: flips, rolls, repetition; diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.base.shapes import normal_dim, normal_dims
from wengert.interp.levels import is_elsewhere
from wengert.ops.clone import clone
from wengert.ops.coerce import integer, operand, sizes_of
from wengert.ops.gather import index_select
from wengert.ops.options import fixed, placed
from wengert.ops.out import into
from wengert.ops.shape import contiguous, reshape
from wengert.tape.base import TensorBase
from wengert.tape.record import T


@export("wengert", "Tensor")
def flip(input: Any, *sizes: Any, dims: Any = None) -> Any:
    """Return the elements of some dimensions in reverse order, as a copy.

    Parameters
    ----------
    %(input)s
    *sizes : int, or one sequence of ints. The dimensions (also as `dims`).

    %(returns_smooth, raises_no_dim)s

    Examples
    --------
    >>> wg.tensor([1, 2, 3]).flip(0)
    tensor([3, 2, 1])
    """
    x = operand(input, "flip")
    if not sizes and dims is None:
        raise TypeError('flip() missing 1 required positional argument: "dims"')
    given = sizes_of(sizes if dims is None else (dims,), "flip", "dims")
    return T.flip(x, dims=normal_dims(given, x._payload.ndim))


@export("wengert", "Tensor")
def fliplr(input: Any) -> Any:
    """Return the columns in reverse order.

    Parameters
    ----------
    input : Tensor. Of at least two dimensions.

    %(returns_smooth, raises_no_planes)s

    Examples
    --------
    >>> wg.fliplr(wg.tensor([[1, 2]]))
    tensor([[2, 1]])
    """
    x = operand(input, "fliplr")
    if x._payload.ndim < 2:
        raise RuntimeError(f"Input must be >= 2-d, but is {x._payload.ndim}D.")
    return T.flip(x, dims=(1,))


@export("wengert", "Tensor")
def flipud(input: Any) -> Any:
    """Return the rows in reverse order.

    Parameters
    ----------
    input : Tensor. Of at least one dimension.

    %(returns_smooth)s

    Raises
    ------
    RuntimeError: If there are no dimensions.

    Examples
    --------
    >>> wg.flipud(wg.tensor([1, 2]))
    tensor([2, 1])
    """
    x = operand(input, "flipud")
    if x._payload.ndim < 1:
        raise RuntimeError("Input must be >= 1-d, but is a single number.")
    return T.flip(x, dims=(0,))


@export("wengert", "Tensor")
def roll(input: Any, shifts: Any, dims: Any = ()) -> Any:
    """Roll the elements along dimensions; those that leave at the end enter at the start.

    Parameters
    ----------
    %(input)s
    shifts : int or tuple of int. The shift along each dimension; negative shifts go backwards.
    dims : int or tuple of int. The dimensions; without them the elements move as if they lay in
        one.

    %(returns_smooth)s

    Raises
    ------
    RuntimeError: If there are not as many shifts as dimensions.
    %(error_no_dim)s

    Examples
    --------
    >>> wg.tensor([1, 2, 3]).roll(1)
    tensor([3, 1, 2])
    """
    x = operand(input, "roll")
    steps = sizes_of((shifts,), "roll", "shifts")
    axes = sizes_of(() if dims is None else (dims,), "roll", "dims")
    if not steps:
        raise RuntimeError("`shifts` required")
    if len(steps) != len(axes) and (axes or len(steps) > 1):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(axes)}"
        )
    if not x._payload.size:
        # nothing moves, whatever the dimensions, as in PyTorch
        return T.clone(x)
    if axes and not x._payload.ndim:
        raise IndexError(f"Dimension specified as {axes[0]} but tensor has no dimensions")
    return T.roll(x, shifts=steps, dims=tuple([normal_dim(d, x._payload.ndim) for d in axes]))


@export("Tensor")
def repeat(input: Any, *sizes: Any, repeats: Any = None) -> Any:
    """Repeat a tensor along each dimension a given number of times.

    Parameters
    ----------
    %(input)s
    *sizes : int, or one sequence of ints. The number of copies for each dimension (also as
        `repeats`); further ones in front make new dimensions.

    %(returns_smooth)s

    Raises
    ------
    RuntimeError: If there are fewer numbers than dimensions, or negative ones.

    Examples
    --------
    >>> wg.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    x = operand(input, "repeat")
    counts = sizes_of(sizes if repeats is None else (repeats,), "repeat", "repeats")
    shape = x._payload.shape
    lead = len(counts) - len(shape)
    if lead < 0:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            f"tensor: {list(counts)} for shape {list(shape)}"
        )
    if any(count < 0 for count in counts):
        target = [n * s for n, s in zip(counts, (1,) * lead + tuple(shape), strict=True)]
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(target)}: {target}"
        )
    return T.repeat(x, repeats=counts)


@export("wengert", "Tensor")
def tile(input: Any, *sizes: Any, dims: Any = None) -> Any:
    """Repeat a tensor along its dimensions; with fewer numbers, only along the last ones.

    Parameters
    ----------
    %(input)s
    *sizes : int, or one sequence of ints. The number of copies for each dimension (also as `dims`).

    %(returns_smooth)s

    Raises
    ------
    RuntimeError: If a number is negative.

    Examples
    --------
    >>> wg.tensor([[1, 2]]).tile(2)
    tensor([[1, 2, 1, 2]])
    """
    x = operand(input, "tile")
    counts = sizes_of(sizes if dims is None else (dims,), "tile", "dims")
    return repeat(x, (1,) * (x._payload.ndim - len(counts)) + counts)


@export("wengert", "Tensor")
def repeat_interleave(
    input: Any,
    repeats: Any = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
    axis: Any = None,
) -> Any:
    """Repeat each position of a dimension, with copies next to each other.

    Parameters
    ----------
    %(input)s
    repeats : int or Tensor of int. The number of copies, or one number per position.
    dim : int, optional. The dimension; without it all elements in one.
    %(axis)s
    output_size : int, optional. The size of the dimension of the result, which is checked.

    %(returns_smooth)s

    Raises
    ------
    RuntimeError: If `repeats` is negative or has another size than the dimension, or if the result
        has another size than `output_size`.

    Examples
    --------
    >>> wg.tensor([1, 2]).repeat_interleave(2)
    tensor([1, 1, 2, 2])
    """
    if axis is not None:
        dim = axis
    x = operand(input, "repeat_interleave")
    if repeats is None:
        x, repeats = fixed(np.arange(len(x._payload), dtype=x._payload.dtype), x), x
    if dim is None:
        x, dim = reshape(x, -1), 0
    elif not x._payload.ndim:
        raise IndexError(
            "Dimension out of range: repeat_interleave() of a tensor without any takes no dim"
        )
    shape = x._payload.shape
    axis = normal_dim(integer(dim, "repeat_interleave", "dim"), len(shape))
    if isinstance(repeats, TensorBase) and repeats._payload.size != 1:
        result = _repeated(x, repeats._payload, axis)
    else:
        once = repeats._payload.item() if isinstance(repeats, TensorBase) else repeats
        result = _alike(x, integer(once, "repeat_interleave", "repeats"), axis)
    if output_size is not None:
        found, wanted = result._payload.shape[axis], output_size
        if found != integer(wanted, "repeat_interleave", "output_size"):
            raise RuntimeError(
                f"repeat_interleave: Invalid output_size, expected {found} but got {wanted}"
            )
    return result


def _alike(x: Any, count: int, axis: int) -> Any:
    """Repeat all positions as often."""
    shape = x._payload.shape
    if count < 0:
        raise RuntimeError(f"Repeats must be non-negative, but got {count}")
    wide = (*shape[: axis + 1], count, *shape[axis + 1 :])
    spread = T.expand(T.unsqueeze(x, dim=axis + 1), shape=wide)
    copies = clone(spread) if count == 1 or not spread._payload.size else contiguous(spread)
    return T.view(copies, shape=(*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))


def _repeated(x: Any, counts: Any, axis: int) -> Any:
    size = x._payload.shape[axis]
    if counts.ndim > 1:
        raise RuntimeError(
            f"repeat_interleave only accept 0D or 1D vector as repeat, but got {counts.ndim}D"
        )
    if counts.dtype.kind not in "iu":
        raise RuntimeError(f"repeats has to be Long or Int tensor, but has dtype {counts.dtype}")
    if (counts < 0).any():
        raise RuntimeError(f"repeats can not be negative, but the least is {counts.min()}")
    if counts.size != size:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.size} and input.size({axis}) = {size}"
        )
    positions = np.repeat(np.arange(size), counts.tolist() if is_elsewhere(counts) else counts)
    return index_select(x, axis, placed(x, positions))


def _triangle(input: Any, diagonal: int, op: str) -> Any:
    x = operand(input, op)
    if x._payload.ndim < 2:
        raise RuntimeError(f"{op}: input tensor must have at least 2 dimensions")
    return getattr(T, op)(x, diagonal=integer(diagonal, op, "diagonal"))


@export("wengert", "Tensor", "Tensor_")
def tril(input: Any, diagonal: int = 0, *, out: Any = None) -> Any:
    """Return the lower triangle of matrices, zeros above it.

    Parameters
    ----------
    input : Tensor. Of at least two dimensions; the last two are the matrices'.
    diagonal : int. The highest diagonal that is kept; 0 is the main one, 1 the one above it.

    %(returns_smooth, raises_no_planes)s

    Examples
    --------
    >>> wg.ones(2, 2).tril()
    tensor([[1., 0.],
            [1., 1.]])
    """
    return into(out, _triangle(input, diagonal, "tril"), "tril")


@export("wengert", "Tensor", "Tensor_")
def triu(input: Any, diagonal: int = 0, *, out: Any = None) -> Any:
    """Return the upper triangle of matrices, zeros below it.

    Parameters
    ----------
    input : Tensor. Of at least two dimensions; the last two are the matrices'.
    diagonal : int. The lowest diagonal that is kept; 0 is the main one, 1 the one above it.

    %(returns_smooth, raises_no_planes)s

    Examples
    --------
    >>> wg.ones(2, 2).triu()
    tensor([[1., 1.],
            [0., 1.]])
    """
    return into(out, _triangle(input, diagonal, "triu"), "triu")


@export("wengert", "Tensor")
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Return a diagonal of two dimensions, as the last dimension of the result.

    Parameters
    ----------
    input : Tensor. Of at least two dimensions.
    %(offset)s
    dim1, dim2 : int. The dimensions.

    %(returns_view, raises_no_dim, error_one_dim)s

    Examples
    --------
    >>> wg.tensor([[1, 2], [3, 4]]).diagonal()
    tensor([1, 4])
    """
    x = operand(input, "diagonal")
    first, second = normal_dim(dim1, x._payload.ndim), normal_dim(dim2, x._payload.ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return T.diagonal(x, offset=integer(offset, "diagonal", "offset"), dim1=first, dim2=second)


@export("wengert", "Tensor")
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Return matrices of zeros with the last dimension of `input` on a diagonal.

    Parameters
    ----------
    input : Tensor. Of at least one dimension.
    %(offset)s
    dim1, dim2 : int. The dimensions of the matrices in the result.

    Returns
    -------
    Tensor: With one dimension more than `input`. Differentiable, to any order.

    %(raises_no_dim, error_one_dim)s

    Examples
    --------
    >>> wg.diag_embed(wg.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    x = operand(input, "diag_embed")
    ndim = x._payload.ndim + 1
    first, second = normal_dim(dim1, ndim), normal_dim(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return T.diag_embed(x, offset=integer(offset, "diag_embed", "offset"), dim1=first, dim2=second)


@export("wengert", "Tensor")
def diag(input: Any, diagonal: int = 0, *, out: Any = None) -> Any:
    """Return a vector as a diagonal matrix, or a matrix's diagonal as a vector.

    Parameters
    ----------
    input : Tensor. Of one dimension or two.
    diagonal : int. The diagonal: 0 is the main one, positive ones lie above it.

    Returns
    -------
    Tensor: A copy. Differentiable, to any order.

    Raises
    ------
    RuntimeError: If there are no dimensions or more than two.

    Examples
    --------
    >>> wg.diag(wg.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    x = operand(input, "diag")
    ndim = x._payload.ndim
    if ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    offset = integer(diagonal, "diag", "diagonal")
    made = T.diag_embed if ndim == 1 else T.diagonal_copy
    return into(out, made(x, offset=offset, dim1=0, dim2=1), "diag")
