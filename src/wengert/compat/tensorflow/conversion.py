"""Layer 9 · compat: conversion to tensors: `constant`, `convert_to_tensor`, `identity`."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.dtypes import numpy_dtype, of_numpy
from wengert.compat.tensorflow.eager import bytes_of, is_text, labels_of
from wengert.compat.tensorflow.recording import Read
from wengert.compat.tensorflow.shapes import TensorShape, sizes
from wengert.compat.tensorflow.tensor import Tensor, converted, made, tensor_of
from wengert.compat.tensorflow.values import TextError
from wengert.compat.tensorflow.variable import Variable
from wengert.compat.tensorflow.words import refusal
from wengert.tape.base import TensorBase, new_tensor
from wengert.tensor.tensor import Tensor as NativeTensor


def constant(value, dtype=None, shape=None, name="Const") -> Any:
    """Build a tensor from a number, a nested list of numbers, or an array.

    Parameters
    ----------
    value: The number, list or array. Python floats become float32, ints become int32 (int64 if they
        are too large), and arrays keep their type.
    dtype : optional. The type of the result.
    shape : optional. The shape of the result; a single value is repeated.
    name: Accepted, without effect.

    Raises
    ------
    TypeError: If `dtype` cannot represent a number, or `shape` has another number of elements.
    ValueError: If `value` is neither a number, an array, nor a rectangular list of numbers.

    Examples
    --------
    >>> tf.constant([1, 2])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    >>> tf.constant(1.5, shape=(2,))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 1.5], dtype=float32)>
    """
    wanted = numpy_dtype(dtype)
    if wanted is not None and wanted.kind == "O":
        return _label(value, shape)
    if isinstance(value, TensorBase) and wanted is not None and value._payload.dtype != wanted:
        given = made(tensor_of(value))
        raise TypeError(
            f"Expected tensor {given.numpy()} with dtype "
            f"{of_numpy(wanted).name!r}, but got dtype {given.dtype!r}. Write tf.cast(x, "
            f"tf.{of_numpy(wanted).name})."
        )
    try:
        made_ = converted(value, wanted)
    except TextError:
        if wanted is not None or not is_text(value):
            raise
        return _label(value, shape)
    if shape is None:
        return made_
    size = sizes(shape)
    array = np.asarray(made_._payload)
    if tuple(array.shape) == size:
        return made_
    if array.size == 1:
        return made(new_tensor(np.full(size, array.reshape(()), array.dtype)))
    if array.size != int(np.prod(size)):
        raise TypeError(
            "Eager execution of tf.constant with unsupported shape. Tensor "
            f"{made_!r} (converted from {value}) has {array.size} elements, but got `shape` "
            f"{TensorShape(size)} with {int(np.prod(size))} elements)."
        )
    return made(new_tensor(array.reshape(size)))


def _label(value, shape=None) -> Any:
    """Build a tensor of strings."""
    array = bytes_of(value)
    if shape is not None:
        size = sizes(shape)
        array = np.full(size, array[()]) if not array.ndim else array.reshape(size)
    return labels_of(array)


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None) -> Any:
    """Convert a value to a tensor; a tensor is returned unchanged.

    Parameters
    ----------
    value: A tensor, a variable, a number, an array, or a nested list of these.
    dtype : optional. The type of the result.
    dtype_hint : optional. The preferred type of the result, used if it can represent the value.
    name: Accepted, without effect.

    Raises
    ------
    ValueError: If `value` is a tensor of another type than `dtype`, or cannot become a tensor.
    TypeError: If `dtype` cannot represent a number.

    Examples
    --------
    >>> tf.convert_to_tensor([1.0, tf.constant(2.0)])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    wanted = numpy_dtype(dtype)
    if value.__class__ is Tensor and (wanted is None or value._payload.dtype == wanted):
        return value
    if wanted is not None and wanted.kind == "O":
        return _label(value)
    if wanted is None and is_text(value):
        return value if isinstance(value, TensorBase) else _label(value)
    if wanted is None and dtype_hint is not None and not isinstance(value, TensorBase):
        return made(tensor_of(value, dtype_hint))
    return converted(value, wanted)


def identity(input, name=None) -> Any:
    """Return a new tensor of the same value: a separate source for gradients.

    Examples
    --------
    >>> tf.identity([1.0])
    <tf.Tensor: shape=(1,), dtype=float32, numpy=array([1.], dtype=float32)>
    """
    if is_text(input):
        return labels_of(input)
    operand = tensor_of(input)
    return made(
        new_tensor(operand._payload, None if operand._edge is None else Read(operand._edge))
    )


def stop_gradient(input, name=None) -> Any:
    """Return the same value as a constant: no gradient or tangent passes through.

    Examples
    --------
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=3.0>
    """
    operand = tensor_of(input)
    return made(NativeTensor.detach(new_tensor(operand._payload)))


def is_tensor(x) -> bool:
    """Return whether `x` is a tensor or a variable.

    Examples
    --------
    >>> tf.is_tensor(tf.constant(1.0)), tf.is_tensor(1.0)
    (True, False)
    """
    return isinstance(x, TensorBase | Variable | IndexedSlices)


def get_static_value(tensor, partial=False) -> Any:
    """Return the values of a tensor as a NumPy array.

    Examples
    --------
    >>> tf.get_static_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    return tensor.numpy()


class IndexedSlices:
    """Rows of a tensor, for ``variable.scatter_add`` and similar methods.

    Gradients are never of this class here; the gradient of `gather` is dense.

    Parameters
    ----------
    values : Tensor. The rows.
    indices : Tensor. The indices of the rows.
    dense_shape : optional. The shape of the whole tensor.
    """

    def __init__(self, values, indices, dense_shape=None) -> None:
        self.values = convert_to_tensor(values)
        self.indices = convert_to_tensor(indices)
        self.dense_shape = None if dense_shape is None else convert_to_tensor(dense_shape)

    @property
    def dtype(self) -> Any:
        """The type of the rows."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole tensor, as far as it is known."""
        if self.dense_shape is None:
            return TensorShape(None)
        return TensorShape(sizes(self.dense_shape))

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __array__(self, dtype=None, copy: bool | None = None) -> Any:
        if self.dense_shape is None:
            raise refusal(ValueError, "Tensor conversion requested for")
        whole = np.zeros(sizes(self.dense_shape), self.values._payload.dtype)
        np.add.at(whole, np.asarray(self.indices), np.asarray(self.values))
        return whole if dtype is None else whole.astype(dtype)

    def __repr__(self) -> str:
        return (
            f"IndexedSlices(indices={self.indices!r}, values={self.values!r}, "
            f"dense_shape={self.dense_shape!r})"
        )


class TensorSpec:
    """The shape, dtype and name of a tensor, for ``tf.function``.

    Parameters
    ----------
    shape: The shape, with None for unknown sizes.
    dtype : DType. Default: float32.
    name : str, optional. A name.
    """

    def __init__(self, shape, dtype="float32", name: str | None = None) -> None:
        self.shape = TensorShape(shape)
        self.dtype = of_numpy(numpy_dtype(dtype))  # type: ignore[arg-type]
        self.name = name

    @classmethod
    def from_tensor(cls, tensor, name: str | None = None) -> TensorSpec:
        """Return the spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, value) -> bool:
        """Return whether a tensor has the dtype and a compatible shape."""
        found = convert_to_tensor(value)
        return found.dtype is self.dtype and self.shape.is_compatible_with(found.shape)

    def __eq__(self, other) -> bool:
        return (
            isinstance(other, TensorSpec)
            and self.shape == other.shape
            and self.dtype is other.dtype
            and self.name == other.name
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


__all__ = defined(globals())
