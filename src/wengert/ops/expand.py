"""Layer 5 · ops · shapes: larger shapes whose elements are repeated without a copy."""

from __future__ import annotations

from typing import Any

from wengert.base.export import export
from wengert.base.shapes import broadcast
from wengert.ops.coerce import expanded_shape, operand, operands, sizes_of
from wengert.tape.record import T
from wengert.tape.sites import warn_once


@export("Tensor")
def expand(input: Any, *sizes: Any, size: Any = None) -> Any:
    """Broadcast along dimensions of size 1 and new leading ones, without a copy.

    Parameters
    ----------
    %(input, expanded)s

    Returns
    -------
    Tensor: A view that cannot be written to, since its elements share memory. Differentiable: the
        gradient is summed over the copies.

    Raises
    ------
    RuntimeError: If a dimension of another size than 1 would change.

    Examples
    --------
    >>> wg.tensor([[1], [2]]).expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    x = operand(input, "expand")
    new = sizes_of(sizes if size is None else size, "expand")
    return T.expand(x, shape=expanded_shape(x, new))


def spread(x: Any, shape: tuple[int, ...]) -> Any:
    """Return a tensor in a shape to which it broadcasts: the tensor itself if it has that shape."""
    return x if x._payload.shape == shape else T.expand(x, shape=shape)


@export("Tensor")
def expand_as(input: Any, other: Any) -> Any:
    """Expand to the shape of another tensor.

    Parameters
    ----------
    input, other : Tensor. The shape of `input` must broadcast to that of `other`.

    Returns
    -------
    Tensor: A view that cannot be written to. Differentiable.

    Raises
    ------
    RuntimeError: As `expand`.

    Examples
    --------
    >>> wg.zeros(3).expand_as(wg.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    return expand(input, operand(other, "expand_as", "other")._payload.shape)


@export("wengert", "Tensor")
def broadcast_to(input: Any, *sizes: Any, size: Any = None) -> Any:
    """Expand to a shape: `expand` as a function.

    Parameters
    ----------
    %(input, expanded)s

    Returns
    -------
    Tensor: A view that cannot be written to. Differentiable.

    Raises
    ------
    RuntimeError: As `expand`.

    Examples
    --------
    >>> wg.broadcast_to(wg.zeros(3), (2, 3)).shape
    torch.Size([2, 3])
    """
    return expand(input, *sizes, size=size)


@export("wengert")
def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """Expand all tensors to the shape that they broadcast to.

    Parameters
    ----------
    *tensors : Tensor, or one sequence of tensors. Of shapes that fit.

    Returns
    -------
    tuple of Tensor: Views, or the tensors themselves where the shape is right. Differentiable.

    %(raises_shapes)s

    Examples
    --------
    >>> a, b = wg.broadcast_tensors(wg.zeros(3), wg.zeros(2, 1))
    >>> a.shape, b.shape
    (torch.Size([2, 3]), torch.Size([2, 3]))
    """
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        tensors = tuple(tensors[0])
    values = operands(tensors, "broadcast_tensors")
    shape = broadcast(*[value._payload.shape for value in values])
    return tuple([v if v._payload.shape == shape else T.expand(v, shape=shape) for v in values])


@export("wengert")
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Any, ...]:
    """Return the coordinates of all points of a grid, from those of its axes.

    Parameters
    ----------
    *tensors : Tensor, or one sequence of tensors. The axes: vectors, or scalars for axes of one
        point.
    indexing : {"ij", "xy"}, optional. With ``"xy"`` the first two dimensions of the results are
        exchanged.

    Returns
    -------
    tuple of Tensor: One tensor for each axis, of the grid's shape. Differentiable.

    Raises
    ------
    RuntimeError: If an axis has more than one dimension.

    Examples
    --------
    >>> x, y = wg.meshgrid(wg.arange(2), wg.arange(3), indexing="ij")
    >>> y
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        tensors = tuple(tensors[0])
    axes = operands(tensors, "meshgrid")
    if not axes:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    if indexing is None:
        warn_once(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            'argument. The default here is indexing="ij"'
        )
    for axis in axes:
        if axis._payload.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got one of shape "
                f"{list(axis._payload.shape)}"
            )
        if axis._payload.dtype != axes[0]._payload.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    places = list(range(len(axes)))
    if indexing == "xy" and len(axes) > 1:
        places[:2] = 1, 0
    shape = [1] * len(axes)
    for place, axis in zip(places, axes, strict=True):
        shape[place] = axis._payload.size
    grids = []
    for place, axis in zip(places, axes, strict=True):
        column = [1] * len(axes)
        column[place] = shape[place]
        grids.append(T.expand(T.view(axis, shape=tuple(column)), shape=tuple(shape)))
    return tuple(grids)
