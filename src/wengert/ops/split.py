"""Layer 5 · ops · joining: parts of a tensor along a dimension, as views."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import long_name
from wengert.base.export import export
from wengert.base.shapes import normal_dim
from wengert.ops.checks import numpy_names
from wengert.ops.coerce import dtype_name, integer, operand, sizes_of
from wengert.tape.base import TensorBase
from wengert.tape.record import T


@export("wengert", "Tensor")
def select(input: Any, dim: int, index: int) -> Any:
    """Return one position of a dimension.

    Parameters
    ----------
    %(vectors)s
    dim, index : int. The dimension and the position, both negative to count from the end.

    Returns
    -------
    Tensor: A view without the dimension. Differentiable.

    Raises
    ------
    IndexError: If there is no such dimension or position.

    Examples
    --------
    >>> wg.tensor([[1, 2], [3, 4]]).select(1, 0)
    tensor([1, 3])
    """
    x = operand(input, "select")
    shape = x._payload.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = normal_dim(integer(dim, "select", "dim"), len(shape))
    index = integer(index, "select", "index")
    if not -shape[axis] <= index < shape[axis]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension "
            f"{axis}"
        )
    return T.select(x, dim=axis, index=index % shape[axis])


def stretch(shape: tuple[int, ...], dim: Any, start: Any, end: Any, step: Any, op: str) -> Any:
    """Return the parameters of a slice of a dimension."""
    if not shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    axis = normal_dim(integer(dim, op, "dim"), len(shape))
    by = integer(step, op, "step")
    if by <= 0:
        raise RuntimeError(f"slice step must be positive, but it is {by}")
    first, last, _ = slice(start, end, by).indices(shape[axis])
    return {"dim": axis, "start": first, "end": max(first, last), "step": by}


@export("wengert", "Tensor")
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """Return a range of positions of a dimension.

    Parameters
    ----------
    %(vectors, dim)s
    start : int or Tensor. The first position, negative to count from the end.
    length : int. The number of positions.

    %(returns_view)s

    Raises
    ------
    IndexError: If there is no such dimension or start.
    RuntimeError: If the range ends beyond the dimension.

    Examples
    --------
    >>> wg.arange(5).narrow(0, 1, 3)
    tensor([1, 2, 3])
    """
    x = operand(input, "narrow")
    shape = x._payload.shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, TensorBase):
        start = start._payload
        if start.ndim or start.dtype.kind not in "iu":
            raise RuntimeError(
                f"start must be an 0-dim integral Tensor, not one of shape {list(start.shape)} and "
                f"dtype {dtype_name(start)}"
            )
    axis = normal_dim(dim, len(shape))
    start, length = integer(start, "narrow", "start"), integer(length, "narrow", "length")
    size = shape[axis]
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, but got {length}.")
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return T.slice(x, dim=axis, start=start, end=start + length, step=1)


@export("wengert", "Tensor")
def unbind(input: Any, dim: int = 0, *, axis: Any = None) -> tuple[Any, ...]:
    """Return all positions of a dimension, one by one.

    Parameters
    ----------
    %(vectors, dim, axis)s

    Returns
    -------
    tuple of Tensor: Views without the dimension. Differentiable.

    %(raises_no_dim)s

    Examples
    --------
    >>> wg.tensor([[1, 2], [3, 4]]).unbind()
    (tensor([1, 2]), tensor([3, 4]))
    """
    if axis is not None:
        dim = axis
    x = operand(input, "unbind")
    shape = x._payload.shape
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = normal_dim(dim, len(shape))
    return T.unbind(x, dim=axis) if shape[axis] else ()


def _axis(x: Any, dim: Any, op: str) -> int:
    if not x._payload.ndim:
        raise RuntimeError(f"{op} expects at least a 1-dimensional tensor")
    return normal_dim(integer(dim, op, "dim"), x._payload.ndim)


def _in_steps(x: Any, step: int, axis: int) -> tuple[Any, ...]:
    size = x._payload.shape[axis]
    rest = size % step if step else 0
    sizes = (step,) * (size // step if step else 1) + ((rest,) if rest else ())
    return T.split(x, sizes=sizes or (0,), dim=axis)


@export("wengert", "Tensor")
def split(
    input: Any, split_size_or_sections: Any = None, dim: int = 0, *, split_size: Any = None
) -> tuple[Any, ...]:
    """Return consecutive parts of a dimension.

    Parameters
    ----------
    %(vectors)s
    split_size_or_sections : int or sequence of int. The size of each part (the last one may be
        smaller), or the sizes of all parts.
    %(dim)s
    split_size : int or sequence of int. Called `split_size_or_sections` by the method.

    %(returns_views)s

    Raises
    ------
    RuntimeError: If the sizes do not add up to the dimension's.

    Examples
    --------
    >>> wg.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if split_size_or_sections is None:
        split_size_or_sections = split_size
    if isinstance(split_size_or_sections, tuple | list):
        return split_with_sizes(input, split_size_or_sections, dim)
    x = operand(input, "split")
    axis = _axis(x, dim, "split")
    step = integer(split_size_or_sections, "split", "split_size")
    if step < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
    if step == 0 and x._payload.shape[axis]:
        raise RuntimeError(
            "split_size can only be 0 if dimension size is 0, but got dimension size of "
            f"{x._payload.shape[axis]}"
        )
    return _in_steps(x, step, axis)


@export("wengert", "Tensor")
def split_with_sizes(input: Any, split_sizes: Any, dim: int = 0) -> tuple[Any, ...]:
    """Return consecutive parts of a dimension, of given sizes.

    Parameters
    ----------
    %(vectors)s
    split_sizes : sequence of int. The sizes of all parts.
    %(dim, returns_views)s

    Raises
    ------
    RuntimeError: If the sizes do not add up to the dimension's.

    Examples
    --------
    >>> wg.split_with_sizes(wg.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    x = operand(input, "split_with_sizes")
    axis = _axis(x, dim, "split")
    sizes = sizes_of((split_sizes,), "split_with_sizes", "split_sizes")
    size = x._payload.shape[axis]
    if any(part < 0 for part in sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(sizes)}"
        )
    if sum(sizes) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size "
            f"at dimension {axis}), but got split_sizes={list(sizes)}"
        )
    return T.split_with_sizes(x, sizes=sizes, dim=axis) if sizes else ()


@export("wengert", "Tensor")
def chunk(input: Any, chunks: int, dim: int = 0, *, axis: Any = None) -> tuple[Any, ...]:
    """Split a dimension into at most `chunks` parts, all but the last of one size.

    Parameters
    ----------
    %(vectors)s
    chunks : int. The number of parts; there are fewer if they would be empty.
    %(dim, axis, returns_views)s

    Raises
    ------
    RuntimeError: If `chunks` is not positive, or the tensor has no dimensions.

    Examples
    --------
    >>> wg.arange(5).chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    if axis is not None:
        dim = axis
    x = operand(input, "chunk")
    axis = _axis(x, dim, "chunk")
    count = integer(chunks, "chunk", "chunks")
    if count <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {count}")
    size = x._payload.shape[axis]
    if size == 0:
        return split_with_sizes(x, (0,) * count, axis)
    return _in_steps(x, -(-size // count), axis)


@export("wengert", "Tensor")
@numpy_names
def tensor_split(
    input: Any,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    indices: Any = None,
    sections: Any = None,
) -> tuple[Any, ...]:
    """Return consecutive parts of a dimension, as equal as possible or divided at given positions.

    Parameters
    ----------
    %(vectors)s
    indices_or_sections : int, or sequence or tensor of int. The number of parts (the first ones are
        larger by one where it does not divide), or the positions before which to divide.
    %(dim)s
    indices : sequence or tensor of int, optional. Another name for the positions.
    sections : int, optional. Another name for the number of parts.
    %(returns_views)s

    Raises
    ------
    RuntimeError: If the number of parts is not positive, or the tensor has no dimensions.

    Examples
    --------
    >>> wg.arange(5).tensor_split(3)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    x = operand(input, "tensor_split")
    for given in (indices, sections):
        indices_or_sections = given if indices_or_sections is None else indices_or_sections
    if not x._payload.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    axis = normal_dim(dim, x._payload.ndim)
    size = x._payload.shape[axis]
    if isinstance(indices_or_sections, TensorBase):
        kind = indices_or_sections._payload.dtype
        if kind != np.int64:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                f"{long_name(kind)}"
            )
        if (dims := indices_or_sections._payload.ndim) > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                f"one-dimensional tensor, but got a tensor with {dims} dims"
            )
        indices_or_sections = indices_or_sections._payload.tolist()
    if isinstance(indices_or_sections, tuple | list):
        bounds = [slice(0, i).indices(size)[1] for i in indices_or_sections]
    else:
        count = integer(indices_or_sections, "tensor_split", "sections")
        if count <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {count}")
        small, larger = divmod(size, count)
        bounds = [i * small + min(i, larger) for i in range(1, count)]
    starts, ends = [0, *bounds], [*bounds, size]
    return tuple(
        [
            T.slice(x, dim=axis, start=start, end=max(start, end), step=1)
            for start, end in zip(starts, ends, strict=True)
        ]
    )


def _split_at(
    input: Any, how: Any, more: tuple[int, ...], op: str, least: int, axis: int
) -> tuple[Any, ...]:
    x = operand(input, op)
    how = (how, *more) if more else how
    shape = x._payload.shape
    if len(shape) < least:
        raise RuntimeError(
            f"torch.{op} requires a tensor with at least {least} dimension, but got a tensor with "
            f"{len(shape)} dimensions!"
        )
    if isinstance(how, int) and (how <= 0 or shape[axis] % how):
        raise RuntimeError(
            f"torch.{op} attempted to split along dimension {axis}, but the size of the dimension "
            f"{shape[axis]} is not divisible by the split_size {how}!"
        )
    return tensor_split(x, how, axis)


@export("wengert", "Tensor")
def hsplit(input: Any, indices_or_sections: Any, *indices: Any) -> tuple[Any, ...]:
    """`tensor_split` along the second dimension, or the only one, into equal parts.

    Parameters
    ----------
    %(vectors, parts)s

    Examples
    --------
    >>> [part.shape for part in wg.hsplit(wg.zeros(2, 4), 2)]
    [torch.Size([2, 2]), torch.Size([2, 2])]
    """
    axis = 0 if operand(input, "hsplit")._payload.ndim == 1 else 1
    return _split_at(input, indices_or_sections, indices, "hsplit", 1, axis)


@export("wengert", "Tensor")
def vsplit(input: Any, indices_or_sections: Any, *indices: Any) -> tuple[Any, ...]:
    """`tensor_split` along the first dimension of at least two, into equal parts.

    Parameters
    ----------
    %(planes, parts)s

    Examples
    --------
    >>> [part.shape for part in wg.vsplit(wg.zeros(2, 4), 2)]
    [torch.Size([1, 4]), torch.Size([1, 4])]
    """
    return _split_at(input, indices_or_sections, indices, "vsplit", 2, 0)


@export("wengert", "Tensor")
def dsplit(input: Any, indices_or_sections: Any, *indices: Any) -> tuple[Any, ...]:
    """`tensor_split` along the third dimension, into equal parts.

    Parameters
    ----------
    %(volumes, parts)s

    Examples
    --------
    >>> [part.shape for part in wg.dsplit(wg.zeros(1, 2, 4), 2)]
    [torch.Size([1, 2, 2]), torch.Size([1, 2, 2])]
    """
    return _split_at(input, indices_or_sections, indices, "dsplit", 3, 2)
