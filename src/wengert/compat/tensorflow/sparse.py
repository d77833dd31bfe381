"""Layer 9 · compat: ``tf.sparse``: tensors as indices and values, computed by dense operations.

>>> s = tf.sparse.SparseTensor(indices=[[0, 1]], values=[5.0], dense_shape=[2, 2])
>>> tf.sparse.to_dense(s).numpy().tolist()
[[0.0, 5.0], [0.0, 0.0]]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.tensorflow import math, operations
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.shapes import TensorShape
from wengert.compat.tensorflow.words import public, refusal


class SparseTensor:
    """A tensor that stores only some elements.

    Parameters
    ----------
    indices : array of int. The positions of the elements, one per row.
    values : Tensor. The elements; differentiable.
    dense_shape : sequence of int. The shape of the tensor.
    """

    def __init__(self, indices, values, dense_shape) -> None:
        places = np.asarray(V.numbers_of(indices)).astype(np.int64)
        self.values = V.made(V.tensor_of(values))
        sizes = V.integers(dense_shape)
        if places.size == 0:
            places = places.reshape(0, len(sizes))
        if places.ndim != 2 or places.shape != (len(self.values), len(sizes)):
            raise refusal(
                ValueError, "indices of shape", places.shape, tuple(self.values.shape), len(sizes)
            )
        if places.size and ((places < 0) | (places >= np.asarray(sizes))).any():
            raise V.invalid("an index is out of bounds", "SparseTensor")
        self.indices = V.constant_of(places)
        self.dense_shape = V.constant_of(np.asarray(sizes, np.int64))

    @property
    def shape(self) -> TensorShape:
        """The dense shape."""
        return TensorShape(V.integers(self.dense_shape))

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.values.dtype

    def get_shape(self) -> TensorShape:
        """Return the dense shape."""
        return self.shape

    def with_values(self, new_values) -> SparseTensor:
        """Return a tensor with other values at the same positions."""
        return SparseTensor(self.indices, new_values, self.dense_shape)

    def __mul__(self, other) -> SparseTensor:
        whole = operations.broadcast_to(other, self.shape)
        return self.with_values(self.values * operations.gather_nd(whole, self.indices))

    def __truediv__(self, other) -> SparseTensor:
        whole = operations.broadcast_to(other, self.shape)
        return self.with_values(self.values / operations.gather_nd(whole, self.indices))

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self.indices}, values={self.values}, "
            f"dense_shape={self.dense_shape})"
        )


def to_dense(sp_input, default_value=None, validate_indices=True, name=None) -> Any:
    """Return the dense tensor, with `default_value` (0) where nothing is stored.

    Raises
    ------
    InvalidArgumentError: If indices are repeated, or out of order.
    """
    if validate_indices:
        rows = V.numbers_of(sp_input.indices)
        flat = np.ravel_multi_index(tuple(rows.T), tuple(sp_input.shape)) if rows.size else rows
        if (np.diff(flat.ravel()) <= 0).any():
            raise refusal(V.invalid, "indices is out", operation="SparseToDense")
    start = 0 if default_value is None else V.numbers_of(default_value)
    whole = np.full(tuple(sp_input.shape), start, sp_input.dtype.as_numpy_dtype)
    return operations.tensor_scatter_nd_update(whole, sp_input.indices, sp_input.values)


def from_dense(tensor, name=None) -> SparseTensor:
    """Convert a dense tensor to a sparse tensor of its nonzero elements.

    Examples
    --------
    >>> tf.sparse.from_dense([[0, 3], [0, 0]]).indices.numpy().tolist()
    [[0, 1]]
    """
    x = V.made(V.tensor_of(tensor))
    places = np.argwhere(V.numbers_of(x))
    return SparseTensor(places, operations.gather_nd(x, places), tuple(x.shape))


def reorder(sp_input, name=None) -> SparseTensor:
    """Sort the elements in row-major order of their indices."""
    rows = V.numbers_of(sp_input.indices)
    order = np.lexsort(rows.T[::-1])
    values = operations.gather(sp_input.values, order)
    return SparseTensor(rows[order], values, sp_input.dense_shape)


def transpose(sp_input, perm=None, name=None) -> SparseTensor:
    """Permute the dimensions."""
    rank = len(sp_input.shape)
    order = list(range(rank))[::-1] if perm is None else list(V.integers(perm, "perm"))
    rows = V.numbers_of(sp_input.indices)[:, order]
    sizes = [tuple(sp_input.shape)[d] for d in order]
    return reorder(SparseTensor(rows, sp_input.values, sizes))


def add(a, b, threshold=0) -> Any:
    """Add tensors: sparse if both are, else dense."""
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        rows = np.concatenate([V.numbers_of(a.indices), V.numbers_of(b.indices)])
        values = operations.concat([a.values, b.values], 0)
        places, inverse = np.unique(rows, axis=0, return_inverse=True)
        total = math.unsorted_segment_sum(values, inverse.ravel(), len(places))
        return SparseTensor(places, total, a.dense_shape)
    if isinstance(b, SparseTensor):
        a, b = b, a
    return operations.add(to_dense(a), b)


def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None) -> Any:
    """Multiply two matrices, one of them sparse; differentiable in the values of both.

    Examples
    --------
    >>> s = tf.sparse.from_dense([[0.0, 2.0]])
    >>> tf.sparse.sparse_dense_matmul(s, tf.ones([2, 1])).numpy().tolist()
    [[2.0]]
    """
    if isinstance(b, SparseTensor):
        product = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return operations.transpose(product)
    if sp_a.dtype.is_complex and (adjoint_a or adjoint_b):
        raise ValueError("adjoint of complex matrices is not offered here")
    rows = V.numbers_of(sp_a.indices)
    to, of = (rows[:, 1], rows[:, 0]) if adjoint_a else (rows[:, 0], rows[:, 1])
    count = tuple(sp_a.shape)[1 if adjoint_a else 0]
    wide = operations.transpose(b) if adjoint_b else V.made(V.tensor_of(b))
    parts = operations.expand_dims(sp_a.values, -1) * operations.gather(wide, of)
    return math.unsorted_segment_sum(parts, to, count)


def reduce_sum(sp_input, axis=None, keepdims=False, output_is_sparse=False, name=None) -> Any:
    """Sum over dimensions; the result is dense."""
    total = operations.reduce_sum(to_dense(reorder(sp_input)), axis=axis, keepdims=keepdims)
    return from_dense(total) if output_is_sparse else total


def reduce_max(sp_input, axis=None, keepdims=False, output_is_sparse=False, name=None) -> Any:
    """Return the greatest stored elements over dimensions, 0 of none; the result is dense."""
    whole = to_dense(reorder(sp_input), sp_input.dtype.min)
    stored = to_dense(reorder(map_values(operations.ones_like, sp_input)))
    most = operations.reduce_max(whole, axis=axis, keepdims=keepdims)
    some = operations.reduce_max(stored, axis=axis, keepdims=keepdims)
    most = operations.where(some > 0, most, operations.zeros_like(most))
    return from_dense(most) if output_is_sparse else most


def map_values(op, *args, **kwargs) -> Any:
    """Apply a function to the values of sparse tensors of the same indices.

    Examples
    --------
    >>> s = tf.sparse.from_dense([[0.0, 3.0]])
    >>> print(tf.sparse.map_values(tf.square, s).values.numpy())
    [9.]
    """
    given = [one for one in [*args, *kwargs.values()] if isinstance(one, SparseTensor)]
    if not given:
        raise ValueError("No SparseTensor in argument list of map_values")
    plain = [getattr(one, "values", one) for one in args]
    named = {key: getattr(one, "values", one) for key, one in kwargs.items()}
    return given[0].with_values(op(*plain, **named))


def eye(num_rows, num_columns=None, dtype="float32", name=None) -> SparseTensor:
    """Return an identity matrix."""
    sizes = [num_rows, num_rows if num_columns is None else num_columns]
    rows = np.repeat(np.arange(min(sizes))[:, None], 2, 1)
    return SparseTensor(rows, operations.ones(len(rows), dtype), sizes)


def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None) -> SparseTensor:
    """Concatenate sparse tensors along a dimension.

    Raises
    ------
    InvalidArgumentError: If other dimensions differ, unless `expand_nonconcat_dims`.
    """
    sizes = np.array([tuple(one.shape) for one in sp_inputs])
    place = V.integer(axis, "axis") % sizes.shape[1]
    whole, starts = sizes.max(0), np.cumsum(sizes[:, place]) - sizes[:, place]
    if not expand_nonconcat_dims and (np.delete(sizes - whole, place, 1) != 0).any():
        raise V.invalid("Expected shapes to match except along the axis", "SparseConcat")
    rows = [V.numbers_of(one.indices).copy() for one in sp_inputs]
    for row, start in zip(rows, starts, strict=True):
        row[:, place] += start
    whole[place] = sizes[:, place].sum()
    values = operations.concat([one.values for one in sp_inputs], 0)
    return reorder(SparseTensor(np.concatenate(rows), values, whole))


def _chosen(sp_input, kept, rows, sizes) -> SparseTensor:
    """Return the elements where `kept` is true, at other positions in another shape."""
    values = operations.boolean_mask(sp_input.values, kept)
    return SparseTensor(rows[kept], values, sizes)


def retain(sp_input, to_retain) -> SparseTensor:
    """Keep the elements where `to_retain` is true."""
    kept = np.asarray(V.numbers_of(to_retain), bool)
    return _chosen(sp_input, kept, V.numbers_of(sp_input.indices), sp_input.dense_shape)


def slice(sp_input, start, size, name=None) -> SparseTensor:
    """Return the part of a tensor from `start` on, of at most `size`."""
    rows, first = V.numbers_of(sp_input.indices), np.asarray(V.integers(start, "start"))
    sizes = np.minimum(V.integers(size, "size"), np.asarray(tuple(sp_input.shape)) - first)
    kept = ((rows >= first) & (rows < first + sizes)).all(1)
    return _chosen(sp_input, kept, rows - first, np.maximum(sizes, 0))


def reshape(sp_input, shape, name=None) -> SparseTensor:
    """Reshape a tensor; one size may be -1.

    Examples
    --------
    >>> tf.sparse.reshape(tf.sparse.eye(2), [4, -1]).indices.numpy().tolist()
    [[0, 0], [3, 0]]
    """
    old = tuple(sp_input.shape)
    sizes = np.empty(old, np.bool_).reshape(V.integers(shape, "shape")).shape
    flat = np.ravel_multi_index(tuple(V.numbers_of(sp_input.indices).T), old)
    return SparseTensor(np.stack(np.unravel_index(flat, sizes), 1), sp_input.values, sizes)


def expand_dims(sp_input, axis=None, name=None) -> SparseTensor:
    """Insert a dimension of size 1, the last by default."""
    sizes = list(sp_input.shape)
    place = V.integer(-1 if axis is None else axis, "axis")
    sizes.insert(place + (len(sizes) + 1) * (place < 0), 1)
    return reshape(sp_input, sizes)


def softmax(sp_input, name=None) -> SparseTensor:
    """Return the softmax of the stored elements of each row."""
    rows = V.numbers_of(sp_input.indices)
    _, places = np.unique(rows[:, :-1], axis=0, return_inverse=True)
    places, count = places.ravel(), len(rows)
    most = math.unsorted_segment_max(sp_input.values, places, count)
    parts = math.exp(sp_input.values - operations.gather(most, places))
    total = math.unsorted_segment_sum(parts, places, count)
    return sp_input.with_values(parts / operations.gather(total, places))


__all__ = public(globals())
