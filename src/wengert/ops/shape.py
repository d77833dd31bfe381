"""Layer 5 · ops · shapes: other shapes for the same elements."""

from __future__ import annotations

import math
from typing import Any

from wengert.base.dtypes import as_dtype
from wengert.base.dtypes import dtype as DType
from wengert.base.export import export
from wengert.base.memory_format import (
    check_memory_format,
    contiguous_format,
    is_in_format,
    preserve_format,
)
from wengert.base.shapes import normal_dim, normal_dims, resolved
from wengert.ops.checks import dim_or_axis
from wengert.ops.clone import clone
from wengert.ops.coerce import integer, operand, sizes_of
from wengert.ops.strided import in_shape, is_viewable, view_dtype
from wengert.tape.record import T


@export("wengert", "Tensor")
def reshape(input: Any, *sizes: Any, shape: Any = None) -> Any:
    """Return the same elements in another shape: a view where possible, else a copy.

    Parameters
    ----------
    %(input)s
    *sizes : int, or one sequence of ints. The new shape (also as `shape`). One size may be -1: what
        the others leave.

    Returns
    -------
    Tensor: It shares memory with `input` if the elements lie so that it can. Differentiable.

    Raises
    ------
    RuntimeError: If the shape has another number of elements.

    Examples
    --------
    >>> wg.arange(6).reshape(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    x = operand(input, "reshape")
    payload = x._payload
    new = resolved(sizes_of(sizes if shape is None else shape, "reshape", "shape"), payload.size)
    return in_shape(x, new)


@export("Tensor")
def view(input: Any, *sizes: Any, dtype: Any = None, size: Any = None) -> Any:
    """Return the same memory in another shape, or as elements of another type.

    Parameters
    ----------
    %(input)s
    *sizes : int, or one sequence of ints. The new shape. One size may be -1: what the others leave.
    dtype : dtype. Instead of a shape, also by position: the type to see the bytes as. A smaller
        type makes the last dimension longer, a larger one shorter. The result has no history.
    size : sequence of int. Another way to give the sizes.

    Returns
    -------
    Tensor: It shares memory with `input`. Differentiable with a new shape, but not as another
        dtype.

    Raises
    ------
    RuntimeError: If the shape has another number of elements, or needs a copy (`reshape` makes
        one); if the elements do not lie so that they can be seen as the other type.

    Examples
    --------
    >>> wg.zeros(2, 3).view(6).shape
    torch.Size([6])
    """
    x = operand(input, "view")
    if not sizes and size is not None and dtype is None:
        sizes = (size,)
    if len(sizes) == 1 and sizes[0].__class__ is DType:
        (dtype,) = sizes
    if dtype is not None:
        return view_dtype(x, as_dtype(dtype))
    payload = x._payload
    shape = resolved(sizes_of(sizes, "view"), payload.size)
    if not is_viewable(payload, shape):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return T.view(x, shape=shape)


@export("Tensor")
def view_as(input: Any, other: Any) -> Any:
    """Return a view in the shape of another tensor.

    Parameters
    ----------
    input, other : Tensor. With as many elements.

    Returns
    -------
    Tensor: It shares memory with `input`. Differentiable.

    Raises
    ------
    RuntimeError: As `view`.

    Examples
    --------
    >>> wg.zeros(6).view_as(wg.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    return view(input, operand(other, "view_as", "other")._payload.shape)


@export("Tensor")
def reshape_as(input: Any, other: Any) -> Any:
    """Reshape to the shape of another tensor.

    Parameters
    ----------
    input, other : Tensor. With as many elements.

    Returns
    -------
    Tensor: A view where possible, else a copy. Differentiable.

    Raises
    ------
    RuntimeError: If the numbers of elements differ.

    Examples
    --------
    >>> wg.zeros(6).reshape_as(wg.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    return reshape(input, operand(other, "reshape_as", "other")._payload.shape)


@export("wengert", "Tensor")
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Merge the dimensions from `start_dim` to `end_dim`.

    Parameters
    ----------
    input : Tensor. Of any shape; without dimensions it gets one.
    start_dim, end_dim : int. The first and the last dimension that are joined.

    Returns
    -------
    Tensor: `input` itself if there is nothing to join, a view where possible, else a copy.
        Differentiable.

    %(raises_no_dim)s
    RuntimeError: If `start_dim` comes after `end_dim`.

    Examples
    --------
    >>> wg.zeros(2, 3, 4).flatten(1).shape
    torch.Size([2, 12])
    """
    x = operand(input, "flatten")
    shape = x._payload.shape
    start, end = normal_dim(start_dim, len(shape)), normal_dim(end_dim, len(shape))
    if start > end:
        raise RuntimeError(
            "flatten() has invalid args: start_dim cannot come after end_dim, but they are "
            f"{start_dim} and {end_dim}"
        )
    if not shape:
        return T.view(x, shape=(1,))
    if start == end:
        return x
    return in_shape(x, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


@export("wengert", "Tensor")
def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """Split one dimension into several.

    Parameters
    ----------
    %(vectors)s
    dim : int. The dimension that is divided.
    sizes : sequence of int. The new sizes; one may be -1.

    %(returns_view)s

    Raises
    ------
    RuntimeError: If the sizes do not multiply to the dimension's size.

    Examples
    --------
    >>> wg.zeros(2, 6).unflatten(1, (3, -1)).shape
    torch.Size([2, 3, 2])
    """
    x = operand(input, "unflatten")
    shape = x._payload.shape
    if not shape:
        raise RuntimeError(
            f"unflatten got an unexpected error: dimension {dim} of a tensor that has no dimensions"
        )
    axis = normal_dim(integer(dim, "unflatten", "dim"), len(shape))
    parts = sizes_of((sizes,), "unflatten", "sizes")
    if not parts:
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        parts = resolved(parts, shape[axis])
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(parts)} don't multiply up to the size of dim {axis} "
            f"({shape[axis]}) in the input tensor"
        ) from None
    return view(x, (*shape[:axis], *parts, *shape[axis + 1 :]))


@export("wengert", "Tensor")
def ravel(input: Any) -> Any:
    """Return all elements in one dimension: a view where possible, else a copy.

    Parameters
    ----------
    %(input)s

    Returns
    -------
    Tensor: Of one dimension. Differentiable.

    Examples
    --------
    >>> wg.zeros(2, 3).ravel().shape
    torch.Size([6])
    """
    x = contiguous(operand(input, "ravel"))
    return T.view(x, shape=(x._payload.size,))


@export("Tensor")
def contiguous(input: Any, memory_format: Any = None) -> Any:
    """Return the tensor itself if its elements lie in C order, else a copy in which they do.

    Parameters
    ----------
    %(input)s
    memory_format : memory_format, optional. Another order; by default C order.

    %(returns_differentiable)s

    Raises
    ------
    RuntimeError: If tensors of this number of dimensions cannot have `memory_format`.

    Examples
    --------
    >>> wg.zeros(2, 3).t().contiguous().stride()
    (2, 1)
    """
    x = operand(input, "contiguous")
    if memory_format is None or memory_format is contiguous_format:
        return x if x._payload.flags.c_contiguous else T.contiguous(x)
    order = check_memory_format(memory_format, "contiguous", x._payload.ndim)
    if is_in_format(x._payload, order):
        return x
    if order is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return clone(x, memory_format=order)


@export("wengert", "Tensor", "Tensor_ reshaped")
def squeeze(input: Any, dim: Any = None, *dims: Any, axis: Any = None) -> Any:
    """Remove dimensions of size 1: all of them, or those in `dim`.

    Parameters
    ----------
    %(input)s
    dim : int or tuple of int, optional. The dimensions to look at; those of another size stay.
    *dims : int. More of them.
    %(axis, returns_view, raises_no_dim)s

    Examples
    --------
    >>> wg.zeros(1, 3, 1).squeeze().shape
    torch.Size([3])
    """
    if axis is not None:
        dim = axis
    x = operand(input, "squeeze")
    ndim = x._payload.ndim
    dim = (dim, *dims) if dims else dim
    if dim is None:
        return T.squeeze(x)
    if isinstance(dim, tuple | list):
        return T.squeeze_dims(x, dim=normal_dims(dim, ndim))
    return T.squeeze_dim(x, dim=normal_dim(integer(dim, "squeeze", "dim"), ndim))


@export("wengert", "Tensor", "Tensor_ reshaped")
def unsqueeze(input: Any, dim: Any = None, *, axis: Any = None) -> Any:
    """Insert a dimension of size 1 at `dim`.

    Parameters
    ----------
    %(input)s
    dim : int. The position of the new dimension in the result; -1 is after the last.
    %(axis, returns_view)s

    Raises
    ------
    IndexError: If `dim` is out of range.

    Examples
    --------
    >>> wg.zeros(3).unsqueeze(-1).shape
    torch.Size([3, 1])
    """
    dim = dim_or_axis(dim, axis, "unsqueeze")
    x = operand(input, "unsqueeze")
    dim = normal_dim(integer(dim, "unsqueeze", "dim"), x._payload.ndim + 1)
    return T.unsqueeze(x, dim=dim)
