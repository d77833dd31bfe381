"""Layer 9 · compat: the functions of ``tf.keras.backend``, as rows of Keras's old names.

Each is a row, ``name(parameters) = function``: it calls the function of `tf`, or of this module,
with the arguments in this order.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from wengert.compat import tensorflow as tf
from wengert.compat.kit.signatures import signature_of, signed
from wengert.compat.tensorflow.keras.backend import epsilon, floatx


def _binary_crossentropy(target, output, from_logits: bool) -> Any:
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(target, output)
    output = tf.clip_by_value(output, epsilon(), 1.0 - epsilon())
    target = tf.cast(target, output.dtype)
    return -(target * tf.math.log(output) + (1.0 - target) * tf.math.log(1.0 - output))


def _cast_to_floatx(x) -> Any:
    return tf.cast(x, floatx()) if tf.is_tensor(x) else np.asarray(x, floatx())


def _categorical_crossentropy(target, output, from_logits: bool, axis: int) -> Any:
    return tf.keras.losses.categorical_crossentropy(target, output, from_logits, axis=axis)


def _constant(value, dtype, shape, name) -> Any:
    return tf.constant(value, dtype or floatx(), shape, name)


def _dot(x, y) -> Any:
    return tf.tensordot(x, y, [[len(x.shape) - 1], [max(len(y.shape) - 2, 0)]])


def _filled(function: Any, shape, dtype) -> Any:
    return function(shape, dtype or floatx())


def _drawn(function: Any, shape, first, second, dtype, seed) -> Any:
    return function(shape, first, second, dtype or floatx(), seed)


def _mean(x, axis, keepdims) -> Any:
    x = tf.convert_to_tensor(x)
    return tf.reduce_mean(tf.cast(x, floatx()) if x.dtype == tf.bool else x, axis, keepdims)


def _sparse_categorical_crossentropy(target, output, from_logits: bool, axis: int) -> Any:
    return tf.keras.losses.sparse_categorical_crossentropy(target, output, from_logits, axis=axis)


def _of_row(row: str) -> Any:
    head, path = row.split(" = ")
    name, text = head[:-1].split("(", 1)
    own = _OWN.get(path)
    found: Any = own or functools.reduce(getattr, path.split("."), tf)
    words = name.replace("_", " ") if own else f"`tf.{path}`"
    doc = f"Compute {words}, under Keras's old name and with its arguments."
    order = list(signature_of(text).parameters)
    made = signed(name, text, lambda given: found(*[given[one] for one in order]), doc)
    made.__module__ = __name__
    return made


_OWN: dict[str, Any] = {
    "batch_flatten": lambda x: tf.reshape(x, (x.shape[0], -1)),
    "binary_crossentropy": _binary_crossentropy,
    "cast_to_floatx": _cast_to_floatx,
    "categorical_crossentropy": _categorical_crossentropy,
    "constant": _constant,
    "count_params": lambda x: math.prod(x.shape),
    "dot": _dot,
    "dtype": lambda x: x.dtype.name,
    "flatten": lambda x: tf.reshape(x, (-1,)),
    "int_shape": lambda x: tuple(x.shape),
    "mean": _mean,
    "ndim": lambda x: len(x.shape),
    "normal": functools.partial(_drawn, tf.random.normal),
    "ones": functools.partial(_filled, tf.ones),
    "repeat_rows": lambda x, n: tf.tile(tf.expand_dims(x, 1), (1, n, 1)),
    "reversed": lambda x, axes: tf.reverse(x, [axes] if isinstance(axes, int) else axes),
    "sparse_categorical_crossentropy": _sparse_categorical_crossentropy,
    "sqrt": lambda x: tf.sqrt(tf.maximum(x, 0.0)),
    "truncated": functools.partial(_drawn, tf.random.truncated_normal),
    "uniform": functools.partial(_drawn, tf.random.uniform),
    "update": lambda x, value: x.assign(value),
    "update_add": lambda x, value: x.assign_add(value),
    "update_sub": lambda x, value: x.assign_sub(value),
    "value": lambda x: x.numpy(),
    "variable": lambda value, dtype, name: tf.Variable(value, dtype=dtype or floatx(), name=name),
    "zeros": functools.partial(_filled, tf.zeros),
}
_ROWS = """
all(x, axis=None, keepdims=False) = reduce_all
any(x, axis=None, keepdims=False) = reduce_any
arange(start, stop=None, step=1, dtype='int32') = range
argmax(x, axis=-1) = argmax
argmin(x, axis=-1) = argmin
batch_flatten(x) = batch_flatten
bias_add(x, bias) = nn.bias_add
binary_crossentropy(target, output, from_logits=False) = binary_crossentropy
cast(x, dtype) = cast
cast_to_floatx(x) = cast_to_floatx
categorical_crossentropy(target, output, from_logits=False, axis=-1) = categorical_crossentropy
clip(x, min_value, max_value) = clip_by_value
concatenate(tensors, axis=-1) = concat
constant(value, dtype=None, shape=None, name=None) = constant
count_params(x) = count_params
cumprod(x, axis=0) = math.cumprod
cumsum(x, axis=0) = cumsum
dot(x, y) = dot
dtype(x) = dtype
elu(x, alpha=1.0) = keras.activations.elu
eval(x) = value
expand_dims(x, axis=-1) = expand_dims
flatten(x) = flatten
gather(reference, indices) = gather
get_value(x) = value
int_shape(x) = int_shape
l2_normalize(x, axis=None) = nn.l2_normalize
log(x) = math.log
max(x, axis=None, keepdims=False) = reduce_max
mean(x, axis=None, keepdims=False) = mean
min(x, axis=None, keepdims=False) = reduce_min
ndim(x) = ndim
one_hot(indices, num_classes) = one_hot
ones(shape, dtype=None) = ones
ones_like(x, dtype=None) = ones_like
permute_dimensions(x, pattern) = transpose
pow(x, a) = pow
prod(x, axis=None, keepdims=False) = reduce_prod
random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None) = normal
random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None) = uniform
relu(x, alpha=0.0, max_value=None, threshold=0.0) = keras.activations.relu
repeat(x, n) = repeat_rows
repeat_elements(x, rep, axis) = repeat
reshape(x, shape) = reshape
reverse(x, axes) = reversed
set_value(x, value) = update
shape(x) = shape
softmax(x, axis=-1) = nn.softmax
softplus(x) = nn.softplus
softsign(x) = nn.softsign
sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1) = \
sparse_categorical_crossentropy
sqrt(x) = sqrt
squeeze(x, axis) = squeeze
stack(x, axis=0) = stack
std(x, axis=None, keepdims=False) = math.reduce_std
stop_gradient(variables) = stop_gradient
sum(x, axis=None, keepdims=False) = reduce_sum
tile(x, n) = tile
transpose(x) = transpose
truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None) = truncated
update(x, new_x) = update
update_add(x, increment) = update_add
update_sub(x, decrement) = update_sub
var(x, axis=None, keepdims=False) = math.reduce_variance
variable(value, dtype=None, name=None) = variable
zeros(shape, dtype=None) = zeros
zeros_like(x, dtype=None) = zeros_like
"""
_ALIKE = """abs cos exp round sigmoid sign sin square tanh"""
_BOTH = """equal greater greater_equal less less_equal maximum minimum not_equal"""

NAMES = {
    made.__name__: made
    for made in map(
        _of_row,
        [
            *_ROWS.strip().splitlines(),
            *(f"{name}(x) = {name}" for name in _ALIKE.split()),
            *(f"{name}(x, y) = {name}" for name in _BOTH.split()),
        ],
    )
}
"""The functions by name; a row calls the one of this module, if there is one of that name."""
