"""Layer 9 · compat: the functions of ``tf.keras.backend``, which many programs import as ``K``.

They are functions of `tf` with shorter names and other defaults, in rows of the same parameters.

>>> K = tf.keras.backend
>>> print(K.mean(K.square(tf.constant([[1.0, 4.0]])), axis=-1).numpy())
[8.5]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.tensorflow import conversion, linalg, math, nn, random
from wengert.compat.tensorflow import operations as ops
from wengert.compat.tensorflow.conversion import convert_to_tensor
from wengert.compat.tensorflow.keras import activations, attention, loss_functions
from wengert.compat.tensorflow.keras import globals as settings
from wengert.compat.tensorflow.keras.globals import epsilon, floatx
from wengert.compat.tensorflow.keras.operands import of_families
from wengert.compat.tensorflow.variable import Variable
from wengert.compat.tensorflow.words import public


def _of_floats(function: Any) -> Any:
    def reduced(x, axis, keepdims) -> Any:
        x = convert_to_tensor(x)
        return function(ops.cast(x, floatx()) if x.dtype.is_bool else x, axis, keepdims)

    reduced.__name__ = function.__name__
    return reduced


_MEANS = (math.reduce_mean, math.reduce_std, math.reduce_variance)
_mean, _std, _var = map(_of_floats, _MEANS)


def _arange(start, stop, step, dtype) -> Any:
    """Return numbers at even distances, whole ones by default."""
    limits = [start] if stop is None else [start, stop]
    numbers = ops.range(*limits, delta=1 if step is None else step)
    return numbers if dtype is None else ops.cast(numbers, dtype)


def _sqrt(x) -> Any:
    """Return the square root; 0 of negative numbers."""
    return ops.sqrt(ops.maximum(x, 0.0))


def _clip(x, low, high) -> Any:
    """Limit the elements to an interval; None leaves a side open."""
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    if not (isinstance(low, int | float) and isinstance(high, int | float)):
        high = ops.maximum(low, high)
    elif high < low:
        high = low
    return ops.clip_by_value(x, low, high)


def _dot(x, y) -> Any:
    """Return the product over the last dimension of `x` and the last but one of `y`."""
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    return ops.tensordot(x, y, [[-1], [-1 if y.shape.rank == 1 else -2]])


def _flatten(x) -> Any:
    """Flatten to one dimension."""
    return ops.reshape(x, [-1])


def _repeat(x, n) -> Any:
    """Repeat each vector of a batch `n` times, along a new second dimension."""
    return ops.tile(ops.expand_dims(x, 1), [1, n, 1])


def _switch(condition, then, otherwise) -> Any:
    """Return one of two values, or of the results of functions, by a condition or elementwise."""
    chosen = ops.cast(condition, "bool")
    if not chosen.shape.rank:
        value = then if chosen else otherwise
        return value() if callable(value) else value
    both = [convert_to_tensor(value() if callable(value) else value) for value in (then, otherwise)]
    missing = both[0].shape.rank - chosen.shape.rank
    return ops.where(ops.reshape(chosen, [*chosen.shape, *[1] * missing]), *both)


def _hard_sigmoid(x) -> Any:
    """Return ``0.2 * x + 0.5``, limited to the interval from 0 to 1."""
    return _clip(0.2 * convert_to_tensor(x) + 0.5, 0.0, 1.0)


def _binary_crossentropy(target, output, from_logits) -> Any:
    """Return the cross-entropy of each element, of probabilities or logits."""
    target, output = convert_to_tensor(target), convert_to_tensor(output)
    if from_logits:
        return nn.sigmoid_cross_entropy_with_logits(target, output)
    small = epsilon()
    output = _clip(output, small, 1 - small)
    right, wrong = math.log(output + small), math.log(1 - output + small)
    return -(target * right + (1 - target) * wrong)


def _categorical_crossentropy(target, output, from_logits, axis) -> Any:
    """Return the cross-entropy of each example, of probabilities or logits."""
    return loss_functions.categorical_crossentropy(target, output, from_logits, axis=axis)


def _sparse_categorical_crossentropy(target, output, from_logits, axis, ignore_class) -> Any:
    """Return the cross-entropy of each example, whose target is the number of a class."""
    function = loss_functions.sparse_categorical_crossentropy
    return function(target, output, from_logits, ignore_class, axis)


def _random(draw: Any) -> Any:
    def drawn(shape, first, second, dtype, seed) -> Any:
        return draw(shape, first, second, dtype or floatx(), seed)

    drawn.__name__ = f"random.{draw.__name__}"
    return drawn


_normal, _uniform = map(_random, (random.normal, random.uniform))


def _variable(value, dtype, name, constraint) -> Any:
    """Return a variable."""
    return Variable(value, dtype=dtype or floatx(), name=name, constraint=constraint)


def _zeros(shape, dtype, name) -> Any:
    """Return a variable of zeros."""
    return _variable(np.zeros(shape), dtype, name, None)


def _ones(shape, dtype, name) -> Any:
    """Return a variable of ones."""
    return _variable(np.ones(shape), dtype, name, None)


def _constant(value, dtype, shape, name) -> Any:
    """Return a tensor."""
    return conversion.constant(value, dtype or floatx(), shape, name)


def _cast_to_floatx(x) -> Any:
    """Convert to the dtype `floatx`."""
    return ops.cast(x, floatx()) if hasattr(x, "_payload") else np.asarray(x, floatx())


def _get_value(x) -> Any:
    """Return the values of a tensor or variable as an array."""
    return x.numpy() if hasattr(x, "numpy") else x


def _set_value(x, value) -> None:
    """Assign to a variable."""
    x.assign(np.asarray(value, x.dtype.name))


def _update(x, new_x) -> Any:
    """Replace the value of a variable."""
    return x.assign(new_x)


def _update_add(x, increment) -> Any:
    """Add to a variable."""
    return x.assign_add(increment)


def _update_sub(x, decrement) -> Any:
    """Subtract from a variable."""
    return x.assign_sub(decrement)


def _int_shape(x) -> Any:
    """Return the shape as a tuple of integers."""
    return tuple(x.shape)


def _ndim(x) -> Any:
    """Return the rank."""
    return len(x.shape)


def _dtype(x) -> Any:
    """Return the name of the dtype."""
    return x.dtype.name


def _tile(x, n) -> Any:
    """Repeat along each dimension."""
    return ops.tile(x, [n] if isinstance(n, int) else n)


def _stop_gradient(variables) -> Any:
    """Return tensors that count as constants."""
    one = conversion.stop_gradient
    return [*map(one, variables)] if isinstance(variables, list | tuple) else one(variables)


of_families(
    globals(),
    """
    (x): ops.abs cast_to_floatx=_cast_to_floatx ops.cos
        dtype=_dtype eval=_get_value ops.exp flatten=_flatten
        get_value=_get_value hard_sigmoid=_hard_sigmoid int_shape=_int_shape math.log ndim=_ndim
        ops.round ops.shape ops.sigmoid ops.sign ops.sin math.softplus math.softsign sqrt=_sqrt
        ops.square ops.tanh ops.transpose
    (x, axis=None, keepdims=False): all=math.reduce_all any=math.reduce_any max=math.reduce_max
        mean=_mean min=math.reduce_min prod=math.reduce_prod std=_std sum=math.reduce_sum
        var=_var
    (start, stop=None, step=1, dtype='int32'): arange=_arange
    (x, axis=-1): ops.argmax ops.argmin ops.expand_dims nn.softmax
    (x, y, axes=None): batch_dot=attention.batch_dot
    (target, output, from_logits=False): binary_crossentropy=_binary_crossentropy
    (x, dtype): ops.cast
    (target, output, from_logits=False, axis=-1):
        categorical_crossentropy=_categorical_crossentropy
    (x, min_value, max_value): clip=_clip
    (tensors, axis=-1): concatenate=ops.concat
    (value, dtype=None, shape=None, name=None): constant=_constant
    (x, axis=0): math.cumprod math.cumsum ops.stack
    (x, y): dot=_dot ops.equal ops.greater ops.greater_equal ops.less ops.less_equal ops.maximum
        ops.minimum ops.not_equal
    (x, level, noise_shape=None, seed=None): nn.dropout
    (x, alpha=1.0): activations.elu
    (reference, indices): ops.gather
    (x, axis=None): linalg.l2_normalize
    (indices, num_classes): ops.one_hot
    (shape, dtype=None, name=None): ones=_ones zeros=_zeros
    (x, dtype=None): ops.ones_like ops.zeros_like
    (x, pattern): permute_dimensions=ops.transpose
    (x, a): ops.pow
    (shape, mean=0.0, stddev=1.0, dtype=None, seed=None): random_normal=_normal
    (shape, minval=0.0, maxval=1.0, dtype=None, seed=None): random_uniform=_uniform
    (x, alpha=0.0, max_value=None, threshold=0.0): activations.relu
    (x, n): repeat=_repeat tile=_tile
    (x, shape): ops.reshape
    (x, value): set_value=_set_value
    (target, output, from_logits=False, axis=-1, ignore_class=None):
        sparse_categorical_crossentropy=_sparse_categorical_crossentropy
    (x, axis): ops.squeeze
    (variables): stop_gradient=_stop_gradient
    (condition, then_expression, else_expression): switch=_switch
    (x, new_x): update=_update
    (x, increment): update_add=_update_add
    (x, decrement): update_sub=_update_sub
    (value, dtype=None, name=None, constraint=None): variable=_variable
    """,
    activations=activations,
    attention=attention,
    linalg=linalg,
)

for _name in settings.__all__:
    globals()[_name] = getattr(settings, _name)


__all__ = public(globals(), " ".join(settings.__all__))
