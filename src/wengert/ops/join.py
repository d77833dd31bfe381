"""Layer 5 · ops · joining: several tensors as one."""

from __future__ import annotations

from typing import Any

from wengert.base.export import export
from wengert.base.shapes import normal_dim
from wengert.ops.coerce import integer, operands
from wengert.ops.out import into
from wengert.tape.record import T


@export("wengert")
def cat(tensors: Any, dim: int = 0, *, out: Any = None, axis: Any = None) -> Any:
    """Concatenate tensors along a dimension.

    Parameters
    ----------
    tensors : sequence of Tensor. Of shapes that differ in `dim` only; their dtypes are promoted.
        Empty vectors are passed over.
    %(dim, axis, returns_smooth)s

    Raises
    ------
    ValueError: If there are no tensors.
    %(error_shapes)s

    Examples
    --------
    >>> wg.cat([wg.tensor([1, 2]), wg.tensor([3])])
    tensor([1, 2, 3])
    """
    if axis is not None:
        dim = axis
    values = operands(tensors, "cat")
    if not values:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    shapes = [value._payload.shape for value in values]
    if shapes[0] != () and shapes.count(shapes[0]) == len(shapes):
        along = integer(dim, "cat", "dim")
        # empty vectors are compatible with any shape, and get all of its dimensions
        along = 0 if shapes[0] == (0,) else normal_dim(along, len(shapes[0]))
        result = T.cat(*values, dim=along)
        return result if out is None else into(out, result, "cat")
    if (0,) in shapes and any(shape != (0,) for shape in shapes):
        # empty vectors get the shape of the other tensors, and stay in the graph
        like = next(shape for shape in shapes if shape != (0,))
        along = normal_dim(integer(dim, "cat", "dim"), len(like))
        empty = (*like[:along], 0, *like[along + 1 :])
        values = [
            T.view(value, shape=empty) if shape == (0,) else value
            for value, shape in zip(values, shapes, strict=True)
        ]
        shapes = [value._payload.shape for value in values]
    first = shapes[0]
    if () in shapes:
        raise RuntimeError(
            f"zero-dimensional tensor (at position {shapes.index(())}) cannot be concatenated: "
            "use stack()"
        )
    axis = normal_dim(integer(dim, "cat", "dim"), len(first))
    for shape in shapes:
        if len(shape) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            )
    for i, shape in enumerate(shapes):
        if shape[:axis] != first[:axis] or shape[axis + 1 :] != first[axis + 1 :]:
            bad = next(d for d in range(len(first)) if d != axis and shape[d] != first[d])
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {axis}. Expected size "
                f"{first[bad]} but got size {shape[bad]} for tensor number {i} in the list."
            )
    result = T.cat(*values, dim=axis)
    return result if out is None else into(out, result, "cat")


@export("wengert")
def concat(tensors: Any, dim: int = 0, *, out: Any = None, axis: Any = None) -> Any:
    """`cat` under another name.

    Parameters
    ----------
    tensors : sequence of Tensor. Of shapes that differ in `dim` only.
    %(dim, axis, returns_smooth, raises_shapes)s

    Examples
    --------
    >>> wg.concat([wg.tensor([1, 2]), wg.tensor([3])])
    tensor([1, 2, 3])
    """
    if axis is not None:
        dim = axis
    return cat(tensors, dim, out=out)


@export("wengert")
def concatenate(tensors: Any, dim: int = 0, *, out: Any = None, axis: Any = None) -> Any:
    """`cat` under NumPy's name.

    Parameters
    ----------
    tensors : sequence of Tensor. Of shapes that differ in `dim` only.
    %(dim, axis, returns_smooth, raises_shapes)s

    Examples
    --------
    >>> wg.concatenate([wg.tensor([1, 2]), wg.tensor([3])])
    tensor([1, 2, 3])
    """
    if axis is not None:
        dim = axis
    return cat(tensors, dim, out=out)


@export("wengert")
def stack(tensors: Any, dim: int = 0, *, out: Any = None, axis: Any = None) -> Any:
    """Stack tensors of one shape along a new dimension.

    Parameters
    ----------
    tensors : sequence of Tensor. Of one shape; their dtypes are promoted.
    dim : int. The position of the new dimension in the result.
    %(axis, returns_smooth)s

    Raises
    ------
    RuntimeError: If there are no tensors, or the shapes differ.

    Examples
    --------
    >>> wg.stack([wg.tensor(1.0), wg.tensor(2.0)])
    tensor([1., 2.])
    """
    if axis is not None:
        dim = axis
    values = operands(tensors, "stack")
    if not values:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = values[0]._payload.shape
    axis = normal_dim(integer(dim, "stack", "dim"), len(first) + 1)
    shapes = [value._payload.shape for value in values]
    if shapes.count(first) != len(shapes):
        i = next(i for i, shape in enumerate(shapes) if shape != first)
        raise RuntimeError(
            f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
            f"{list(shapes[i])} at entry {i}"
        )
    result = T.stack(*values, dim=axis)
    return result if out is None else into(out, result, "stack")


def _at_least(tensors: Any, op: str, ndim: int) -> list[Any]:
    values = operands(tensors, op)
    if not values:
        raise RuntimeError(f"{op} expects a non-empty TensorList")
    for i, value in enumerate(values):
        while value._payload.ndim < ndim:
            if value._payload.ndim == 0:
                value = T.view(value, shape=(1,) * ndim)
            else:
                value = T.unsqueeze(value, dim=0 if value._payload.ndim == 1 else 2)
        values[i] = value
    return values


@export("wengert")
def hstack(tensors: Any, *, out: Any = None) -> Any:
    """`cat` along the second dimension, or the only one.

    Parameters
    ----------
    %(row_tensors, returns_smooth, raises_shapes)s

    Examples
    --------
    >>> wg.hstack([wg.tensor([1, 2]), wg.tensor([3])])
    tensor([1, 2, 3])
    """
    values = _at_least(tensors, "hstack", 1)
    return cat(values, 0 if values[0]._payload.ndim == 1 else 1, out=out)


@export("wengert")
def vstack(tensors: Any, *, out: Any = None) -> Any:
    """`cat` along the first dimension, with vectors as rows.

    Parameters
    ----------
    %(row_tensors, returns_smooth, raises_shapes)s

    Examples
    --------
    >>> wg.vstack([wg.tensor([1, 2]), wg.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    return cat(_at_least(tensors, "vstack", 2), 0, out=out)


@export("wengert")
def row_stack(tensors: Any, *, out: Any = None) -> Any:
    """`vstack` under another name.

    Parameters
    ----------
    tensors : sequence of Tensor. Of shapes that differ in the first dimension only.

    %(returns_smooth, raises_shapes)s

    Examples
    --------
    >>> wg.row_stack([wg.tensor([1, 2]), wg.tensor([3, 4])]).shape
    torch.Size([2, 2])
    """
    return vstack(tensors, out=out)


@export("wengert")
def dstack(tensors: Any, *, out: Any = None) -> Any:
    """`cat` along the third dimension, which vectors and matrices get first.

    Parameters
    ----------
    %(row_tensors, returns_smooth, raises_shapes)s

    Examples
    --------
    >>> wg.dstack([wg.tensor([1, 2]), wg.tensor([3, 4])]).shape
    torch.Size([1, 2, 2])
    """
    return cat(_at_least(tensors, "dstack", 3), 2, out=out)


@export("wengert")
def column_stack(tensors: Any, *, out: Any = None) -> Any:
    """`cat` along the second dimension, with vectors as columns.

    Parameters
    ----------
    %(row_tensors, returns_smooth, raises_shapes)s

    Examples
    --------
    >>> wg.column_stack([wg.tensor([1, 2]), wg.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    values = operands(tensors, "column_stack")
    if not values:
        raise RuntimeError("column_stack expects a non-empty TensorList")
    columns = [v if v._payload.ndim > 1 else T.view(v, shape=(v._payload.size, 1)) for v in values]
    return cat(columns, 1, out=out)
