"""Layer 9 · compat: TensorFlow's functions that reshape tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.shapes import TensorShape
from wengert.compat.tensorflow.words import refusal


@V.operation("Reshape", tensor=V.ANY)
def reshape(tensor, shape, name=None) -> Any:
    """Reshape a tensor.

    Parameters
    ----------
    tensor : Tensor or tensor-like.
    shape : sequence of int, or Tensor. The new shape; one size may be -1, which is inferred.

    %(returns_differentiable)s

    Raises
    ------
    InvalidArgumentError: If the numbers of elements differ.

    Examples
    --------
    >>> print(tf.reshape([1, 2, 3, 4], [2, -1]).numpy())
    [[1 2]
     [3 4]]
    """
    sizes = V.integers(shape)
    count = tensor._payload.size
    known = math.prod(size for size in sizes if size != -1)
    if sizes.count(-1) > 1:
        raise refusal(V.invalid, "Only one input", sizes.index(-1))
    if -1 not in sizes and known != count:
        raise V.invalid(
            f"Input to reshape is a tensor with {count} values, but the requested shape has {known}"
        )
    if -1 in sizes:
        if known == 0 or count % known:
            raise refusal(V.invalid, "Input to reshape", count, known)
        sizes = tuple(count // known if size == -1 else size for size in sizes)
    return wg.reshape(tensor, sizes)


@V.operation("ExpandDims", input=V.ANY, axis=int)
def expand_dims(input, axis, name=None) -> Any:
    """Insert a dimension of size 1 at `axis`.

    Raises
    ------
    InvalidArgumentError: If `axis` is out of range.

    Examples
    --------
    >>> tf.expand_dims([1, 2, 3], 0).shape
    TensorShape([1, 3])
    """
    ndim = input._payload.ndim
    if not -ndim - 1 <= axis <= ndim:
        raise V.invalid(f"Tried to expand dim index {axis} for tensor with {ndim} dimensions.")
    return wg.unsqueeze(input, axis)


@V.operation("Squeeze", input=V.ANY)
def squeeze(input, axis=None, name=None) -> Any:
    """Remove dimensions of size 1: all of them, or the given ones.

    Raises
    ------
    InvalidArgumentError: If a given dimension is out of range, or its size is not 1.

    Examples
    --------
    >>> tf.squeeze([[[1, 2]]]).shape, tf.squeeze([[[1, 2]]], axis=0).shape
    (TensorShape([2]), TensorShape([1, 2]))
    """
    sizes, ndim = input._payload.shape, input._payload.ndim
    places = () if axis is None else V.integers(axis, "axis")
    for place in places:
        if not -ndim <= place < ndim:
            raise refusal(V.invalid, "Tried to squeeze", place, ndim)
        if sizes[place] != 1:
            raise refusal(V.invalid, "Can not squeeze", place % ndim, sizes[place])
    gone = {place % ndim for place in places} or {i for i, size in enumerate(sizes) if size == 1}
    return wg.reshape(input, tuple(size for i, size in enumerate(sizes) if i not in gone))


@V.operation("Transpose", a=V.ANY)
def transpose(a, perm=None, conjugate=False, name="transpose") -> Any:
    """Permute the dimensions by `perm`, or reverse them.

    Parameters
    ----------
    a : Tensor or tensor-like.
    perm : sequence of int, optional. The dimension of `a` for each dimension of the result.
    conjugate : bool. Whether to conjugate complex numbers.

    %(returns_differentiable)s

    Raises
    ------
    InvalidArgumentError: If `perm` is not a permutation of the dimensions.

    Examples
    --------
    >>> print(tf.transpose([[1, 2], [3, 4]]).numpy())
    [[1 3]
     [2 4]]
    """
    ndim = a._payload.ndim
    order = tuple(reversed(range(ndim))) if perm is None else V.integers(perm, "perm")
    if len(order) != ndim:
        raise refusal(V.invalid, "transpose expects a", ndim, len(order))
    for place in order:
        if not -ndim <= place < ndim:
            raise V.invalid(f"{place} is out of range [0 .. {ndim})")
    order = tuple(place % ndim for place in order)
    for place in range(ndim):
        if place not in order:
            raise V.invalid(f"{place} is missing from {{{','.join(map(str, order))}}}.")
    result = wg.permute(a, order)
    return wg.conj_physical(result) if conjugate and V.is_complex(a) else result


@V.operation("BroadcastTo", input=V.ANY)
def broadcast_to(input, shape, name=None) -> Any:
    """Broadcast a tensor to `shape`.

    Raises
    ------
    InvalidArgumentError: If the tensor does not broadcast to `shape`.

    Examples
    --------
    >>> print(tf.broadcast_to([1, 2], [2, 2]).numpy())
    [[1 2]
     [1 2]]
    """
    sizes = V.shape_of(shape)
    try:
        return wg.broadcast_to(input, sizes)
    except RuntimeError:
        raise V.invalid(
            f"Incompatible shapes: {V.shown(input._payload.shape)} vs. {V.shown(sizes)}"
        ) from None


@V.operation("EnsureShape", x=V.ANY)
def ensure_shape(x, shape, name=None) -> Any:
    """Return the tensor if it has the given shape, in which None matches any size.

    Raises
    ------
    InvalidArgumentError: If the tensor has another shape.

    Examples
    --------
    >>> tf.ensure_shape([1, 2], [None]).shape
    TensorShape([2])
    """
    sizes = list(shape)
    here = x._payload.shape
    if len(sizes) != len(here) or any(
        size is not None and size != own for size, own in zip(sizes, here, strict=True)
    ):
        wanted = V.shown("?" if size is None else size for size in sizes)
        raise refusal(V.invalid, "Shape of tensor", V.shown(here), wanted)
    return x


@V.operation("Meshgrid")
def meshgrid(*args, indexing="xy", name=None) -> Any:
    """Return the coordinates of the points of a grid, as a list with one tensor per argument.

    Parameters
    ----------
    *args : Tensor. The coordinates along each dimension.
    indexing : str. ``"xy"``, which swaps the first two dimensions, or ``"ij"``.

    Raises
    ------
    ValueError: If `indexing` is unknown.

    Examples
    --------
    >>> [part.numpy().tolist() for part in tf.meshgrid([1, 2], [3, 4])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    if indexing not in ("xy", "ij"):
        raise refusal(ValueError, "Argument `indexing` parameter", indexing)
    parts = [wg.reshape(V.tensor_of(part), (-1,)) for part in args]
    return list(wg.meshgrid(*parts, indexing=indexing))


def broadcast_static_shape(shape_x, shape_y) -> TensorShape:
    """Return the broadcast shape of two shapes.

    Raises
    ------
    ValueError: If the shapes do not broadcast.

    Examples
    --------
    >>> tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3]))
    TensorShape([2, 3])
    """
    try:
        return TensorShape(np.broadcast_shapes(tuple(shape_x), tuple(shape_y)))
    except ValueError:
        raise ValueError(
            f"Incompatible shapes for broadcasting: {tuple(shape_x)} and {tuple(shape_y)}"
        ) from None


@V.operation("BroadcastArgs")
def broadcast_dynamic_shape(shape_x, shape_y) -> Any:
    """Return the broadcast shape of two shapes, as a tensor.

    Raises
    ------
    InvalidArgumentError: If the shapes do not broadcast.

    Examples
    --------
    >>> print(tf.broadcast_dynamic_shape([2, 1], [3]).numpy())
    [2 3]
    """
    first, second = V.integers(shape_x), V.integers(shape_y)
    try:
        found = np.broadcast_shapes(first, second)
    except ValueError:
        raise V.invalid(f"Incompatible shapes: {V.shown(first)} vs. {V.shown(second)}") from None
    return wg.as_tensor(np.array(found, np.int32))


__all__ = defined(globals())
