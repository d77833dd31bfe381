"""Layer 9 · compat: ``tf.keras.layers``: the layers that tutorials use.

>>> layer = tf.keras.layers.Dense(3, activation="relu")
>>> layer(tf.ones([2, 4])).shape
TensorShape([2, 3])
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import gathered
from wengert.compat.kit.rows import told
from wengert.compat.kit.signatures import named
from wengert.compat.tensorflow import operations
from wengert.compat.tensorflow.configs import getter
from wengert.compat.tensorflow.functions.values import converted, made, tensor_of
from wengert.compat.tensorflow.keras.globals import name_for
from wengert.compat.tensorflow.keras.layer import Layer as Layer
from wengert.compat.tensorflow.keras.layer import Seeded
from wengert.compat.tensorflow.keras.settings import settings
from wengert.compat.tensorflow.keras.symbols import Symbol
from wengert.compat.tensorflow.words import public, refusal

_GATHERED = gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    keras.attention: *
    keras.core_layers: * -Normalizing -Spatial -Weighted -batches_of -conv_padding -expand
        -in_float32 Convolution1D=Conv1D Convolution1DTranspose=Conv1DTranspose Convolution2D=Conv2D
        Convolution2DTranspose=Conv2DTranspose Convolution3D=Conv3D
        Convolution3DTranspose=Conv3DTranspose
    keras.preprocessing_layers: *
    keras.specs: InputSpec
    keras.recurrent: * -Cell -ConvLSTMCell -initial -size_of -stepped
    keras.spatial_layers: * SeparableConvolution1D=SeparableConv1D
        SeparableConvolution2D=SeparableConv2D
    """,
)

# -- shapes ----------------------------------------------------------------------------------------


@settings("data_format=None")
class Flatten(Layer):
    """Flattens each example.

    Examples
    --------
    >>> tf.keras.layers.Flatten()(tf.ones([2, 3, 4])).shape
    TensorShape([2, 12])
    """

    def call(self, inputs) -> Any:
        sizes = tuple(inputs.shape)
        return operations.reshape(inputs, (sizes[0], int(np.prod(sizes[1:]))))


@settings("target_shape")
class Reshape(Layer):
    """Reshapes each example; one size may be -1.

    Examples
    --------
    >>> tf.keras.layers.Reshape((2, -1))(tf.ones([5, 6])).shape
    TensorShape([5, 2, 3])
    """

    def call(self, inputs) -> Any:
        return operations.reshape(inputs, (inputs.shape[0], *self.target_shape))


@settings("dims")
class Permute(Layer):
    """Permutes the dimensions of each example, counted from 1."""

    def call(self, inputs) -> Any:
        return operations.transpose(inputs, (0, *self.dims))


@settings("scale, offset=0.0")
class Rescaling(Layer):
    """Computes ``inputs * scale + offset``.

    Examples
    --------
    >>> print(tf.keras.layers.Rescaling(1 / 255)([0, 255]).numpy())
    [0. 1.]
    """

    def call(self, inputs) -> Any:
        x = made(converted(tensor_of(inputs), self._computed))
        scaled = operations.multiply(x, np.asarray(self.scale, self._computed))
        return operations.add(scaled, np.asarray(self.offset, self._computed))


@settings("input_dim, output_dim, {embeddings = uniform}, mask_zero=False")
class Embedding(Layer):
    """Looks up rows of a matrix by index.

    Examples
    --------
    >>> tf.keras.layers.Embedding(10, 4)(tf.constant([[1, 2, 3]])).shape
    TensorShape([1, 3, 4])
    """

    ignored = ("input_length",)

    def build(self, input_shape) -> None:
        """Create the matrix."""
        self.embeddings = self._weight("embeddings", (self.input_dim, self.output_dim))

    def compute_mask(self, inputs, mask=None) -> Any:
        """Return the mask of the nonzero indices if `mask_zero` is set, else None."""
        return operations.not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs) -> Any:
        return operations.gather(self.embeddings, operations.cast(inputs, "int32"))


# -- chance ----------------------------------------------------------------------------------------


@settings("rate, noise_shape=None, seed=None")
class Dropout(Seeded):
    """Sets a fraction of the elements to 0 in training, and scales up the others.

    Examples
    --------
    >>> print(tf.keras.layers.Dropout(0.5)([1.0, 2.0]).numpy())
    [1. 2.]
    """

    chance = "rate"

    def call(self, inputs, training=False) -> Any:
        if not training or self.rate == 0:
            return inputs
        if self.rate == 1:
            return operations.zeros_like(inputs)
        return self._dropped(inputs, self.rate, self.noise_shape)


@settings("stddev, seed=None")
class GaussianNoise(Seeded):
    """Adds normal random numbers in training."""

    chance = "stddev"

    def call(self, inputs, training=False) -> Any:
        if not training or self.stddev == 0:
            return inputs
        draw = self._normal(inputs, 0.0, self.stddev)
        return operations.add(inputs, draw)


# -- several inputs --------------------------------------------------------------------------------


def _seen(x, mask=None) -> Any:
    """Return the mask of an input, by default its own, for all of its elements, or None."""
    mask = getattr(x, "_keras_mask", None) if mask is None else mask
    if mask is None or len(mask.shape) == len(x.shape):
        return mask
    return operations.broadcast_to(mask[..., None], x.shape)


def _multiplied(inputs) -> Any:
    """Multiply the elements that are not masked; masked in all inputs, they become 0."""
    masks = [_seen(x) for x in inputs]
    pairs = zip(inputs, masks, strict=True)
    kept = [x if m is None else operations.where(m, x, operations.ones_like(x)) for x, m in pairs]
    result = functools.reduce(operations.multiply, kept)
    if any(mask is None for mask in masks):
        return result
    seen = functools.reduce(operations.logical_or, masks)
    return operations.where(seen, result, operations.zeros_like(result))


def _extreme(function, inputs) -> Any:
    """Return the greatest or the least of the elements that are not masked."""
    result, seen = inputs[0], _seen(inputs[0])
    for x in inputs[1:]:
        mask = _seen(x)
        x = x if mask is None else operations.where(mask, x, result)
        result = result if seen is None else operations.where(seen, result, x)
        both = mask is not None and seen is not None
        seen = operations.logical_or(seen, mask) if both else None
        result = function(result, x)
    return result


def _merging(name: str, words: str, function, shown: str) -> Any:
    def call(self, inputs) -> Any:
        """The {words} of a list of inputs, element by element.

        Examples
        --------
        >>> print(tf.keras.layers.{name}()([tf.constant([1.0]), tf.constant([3.0])]).numpy())
        {shown}
        """
        exact = name == "Subtract"
        if not isinstance(inputs, list | tuple) or (exact and len(inputs) != 2):
            count = "exactly 2" if exact else "at least 1"
            raise refusal(ValueError, "A `{}` layer", name, count, inputs)
        return function(inputs)

    doc = told(call, words=words, name=name, shown=shown)
    call.__doc__ = "Return the result for a list of inputs."
    body = {"call": call, "compute_mask": _any_of, "__doc__": doc, "__module__": __name__}
    return type(name, (Layer,), body)


def _any_of(self, inputs, mask=None) -> Any:
    """Return the mask of the positions that some input shows, if all inputs have masks."""
    if mask is None or any(one is None for one in mask):
        return None
    return functools.reduce(operations.logical_or, mask)


_sum = functools.partial(functools.reduce, operations.add)
Add = _merging("Add", "sum", _sum, "[4.]")
Subtract = _merging("Subtract", "difference", lambda pair: operations.subtract(*pair), "[-2.]")
Multiply = _merging("Multiply", "product", _multiplied, "[3.]")
Average = _merging("Average", "mean", lambda inputs: _sum(inputs) / len(inputs), "[2.]")
Maximum = _merging("Maximum", "greatest", functools.partial(_extreme, operations.maximum), "[3.]")
Minimum = _merging("Minimum", "least", functools.partial(_extreme, operations.minimum), "[1.]")


@settings("axis=-1")
class Concatenate(Layer):
    """Concatenates a list of inputs along a dimension.

    Examples
    --------
    >>> tf.keras.layers.Concatenate()([tf.ones([2, 1]), tf.ones([2, 3])]).shape
    TensorShape([2, 4])
    """

    def compute_mask(self, inputs, mask=None) -> Any:
        """Return the mask of the positions where some element of the result is not masked."""
        if all(one is None for one in mask or ()):
            return None
        full = [
            operations.ones_like(x, "bool") if one is None else _seen(x, one)
            for x, one in zip(inputs, mask, strict=True)
        ]
        return operations.reduce_any(operations.concat(full, self.axis), -1)

    def call(self, inputs) -> Any:
        return operations.concat(list(inputs), self.axis)


def _alone(kind) -> Any:
    """Return a function that creates a merging layer and applies it."""

    def merge(inputs, *args, **kwargs) -> Any:
        return kind(*args, **kwargs)(inputs)

    return named(
        merge, kind.__name__.lower(), f"Apply a layer `{kind.__name__}` to a list of inputs."
    )


add, subtract, multiply, average, maximum, minimum, concatenate = map(
    _alone, (Add, Subtract, Multiply, Average, Maximum, Minimum, Concatenate)
)


# -- inputs ----------------------------------------------------------------------------------------


def Input(
    shape=None,
    batch_size: int | None = None,
    dtype=None,
    sparse=None,
    batch_shape=None,
    name: str | None = None,
    tensor=None,
) -> Any:
    """Create the input of a functional model from the shape of one example and a dtype.

    Examples
    --------
    >>> inputs = tf.keras.Input(shape=(4,))
    >>> outputs = tf.keras.layers.Dense(2)(inputs)
    >>> outputs.shape
    (None, 2)
    """
    sizes = (batch_size, *shape) if batch_shape is None else tuple(batch_shape)
    return Symbol(sizes, dtype or "float32", None, name or name_for("InputLayer"))


class InputLayer(Layer):
    """The input shape of a `Sequential`."""

    def __init__(
        self,
        shape=None,
        batch_size: int | None = None,
        dtype=None,
        name: str | None = None,
        input_shape=None,
        batch_shape=None,
        **kwargs,
    ) -> None:
        super().__init__(name=name, dtype=None)
        chosen = input_shape if shape is None else shape
        self._input_shape = tuple(batch_shape) if batch_shape else (batch_size, *chosen)

    @classmethod
    def of(cls, symbol: Symbol) -> Any:
        """Return the layer of an input of a functional model."""
        layer = cls(batch_shape=symbol.shape, name=symbol.name)
        object.__setattr__(layer, "_node", ((symbol,), symbol))
        return layer

    def call(self, inputs) -> Any:
        return inputs


getter("layer", globals(), Layer)

_MASKED = """
    Activation ActivityRegularization Bidirectional Dense Dot ELU GlobalAveragePooling1D
    GroupNormalization Identity LeakyReLU Normalization PReLU ReLU Rescaling Softmax TimeDistributed
    UnitNormalization
    """
for _name in _MASKED.split():
    globals()[_name]._supports_masking = True  # as in Keras; other layers drop masks


__all__ = public(globals(), " ".join(["Layer", *_GATHERED]))
