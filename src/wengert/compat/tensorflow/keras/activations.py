"""Layer 9 · compat: ``tf.keras.activations``: functions that layers may be given by name."""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import math as _math
from wengert.compat.tensorflow import nn as _nn
from wengert.compat.tensorflow.configs import getter
from wengert.compat.tensorflow.functions.values import computed, made, tensor_of
from wengert.compat.tensorflow.refusal import refusal

_DOC = """``{name}``, element by element (see `tf.nn` and `tf.math`).

Examples
--------
>>> import wengert.compat.tensorflow as tf
>>> tf.keras.activations.{name}([0.0, 1.0]).shape
TensorShape([2])
"""


def _named(name: str, function) -> Any:
    def activation(x) -> Any:
        return function(x)

    activation.__name__ = activation.__qualname__ = name
    activation.__doc__ = _DOC.format(name=name)
    return activation


def _mish(x) -> Any:
    return computed("Softplus", wg.nn.functional.mish, tensor_of(x))


def _hard_sigmoid(x) -> Any:
    return computed("Relu6", wg.nn.functional.hardsigmoid, tensor_of(x))


exponential = _named("exponential", _math.exp)
hard_sigmoid = _named("hard_sigmoid", _hard_sigmoid)
linear = _named("linear", lambda x: made(tensor_of(x)))
log_sigmoid = _named("log_sigmoid", _math.log_sigmoid)
mish = _named("mish", _mish)
relu6 = _named("relu6", _nn.relu6)
selu = _named("selu", _nn.selu)
sigmoid = _named("sigmoid", _math.sigmoid)
silu = _named("silu", _nn.silu)
softplus = _named("softplus", _math.softplus)
softsign = _named("softsign", _math.softsign)
tanh = _named("tanh", _math.tanh)
swish = silu


def relu(
    x, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0
) -> Any:
    """The elements above `threshold`, at most `max_value`; the others times `negative_slope`.

    Examples
    --------
    >>> print(tf.keras.activations.relu(tf.constant([-1.0, 2.0])).numpy())
    [0. 2.]
    """
    if not (negative_slope or threshold) and max_value is None:
        return _nn.relu(x)

    def rectified(x) -> Any:
        low = wg.mul(wg.sub(x, threshold), negative_slope) if negative_slope else wg.zeros_like(x)
        above = wg.gt(x, threshold) if threshold else wg.ge(x, 0)
        result = wg.where(above, x, low)
        return result if max_value is None else wg.clamp(result, max=max_value)

    return computed("Relu", rectified, tensor_of(x))


def elu(x, alpha: float = 1.0) -> Any:
    """The elements, negative ones replaced by ``alpha * (exp(x) - 1)``.

    Examples
    --------
    >>> print(tf.keras.activations.elu([-1.0, 2.0]).numpy().round(3))
    [-0.632  2.   ]
    """
    if alpha == 1.0:
        return _nn.elu(x)
    return computed("Elu", wg.nn.functional.elu, tensor_of(x), alpha)


def leaky_relu(x, negative_slope: float = 0.2) -> Any:
    """The elements, negative ones times `negative_slope`.

    Examples
    --------
    >>> print(tf.keras.activations.leaky_relu([-1.0, 2.0]).numpy())
    [-0.2  2. ]
    """
    return _nn.leaky_relu(x, negative_slope)


def gelu(x, approximate: bool = False) -> Any:
    """The elements times the normal distribution function of them (see `tf.nn.gelu`)."""
    return _nn.gelu(x, approximate)


def softmax(x, axis: int = -1) -> Any:
    """Exponentials, scaled so that they add up to 1 along a dimension (see `tf.nn.softmax`)."""
    return _nn.softmax(x, axis)


def log_softmax(x, axis: int = -1) -> Any:
    """The logarithm of `softmax`."""
    return _nn.log_softmax(x, axis)


_of_name = getter(
    "activation function", globals(), (), {n: globals()[n] for n in defined(globals())}
)


def get(identifier) -> Any:
    """The function that a name stands for; None stands for `linear`.

    Raises
    ------
    ValueError: If there is none of that name.

    Examples
    --------
    >>> tf.keras.activations.get("relu") is tf.keras.activations.relu
    True
    """
    return linear if identifier is None else _of_name(identifier)


def __getattr__(name: str) -> Any:
    raise refusal("keras.activations", name)


__all__ = defined(globals())
fill_sections(globals())
