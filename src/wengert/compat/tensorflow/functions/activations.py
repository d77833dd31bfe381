"""Layer 9 · compat: TensorFlow's activation functions, ``tf.nn.relu`` and its like."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V

_SCALE = 1.0507009873554804934193349852946
_ALPHA = 1.6732632423543772848170429916717


def relu(features, name=None) -> Any:
    """The elements, negative ones replaced by 0; the derivative at 0 is 0.

    Parameters
    ----------
    features : Tensor. Of a real dtype.

    Returns
    -------
    Tensor: Differentiable.

    Raises
    ------
    InvalidArgumentError: If the dtype is another one.

    Examples
    --------
    >>> print(tf.nn.relu([-1.0, 2.0]).numpy())
    [0. 2.]
    """
    x = V.tensor_of(features)
    V.check("Relu", x, V.REAL)
    return V.computed("Relu", wg.relu, x)


def relu6(features, name=None) -> Any:
    """The elements, negative ones replaced by 0 and those above 6 by 6.

    Examples
    --------
    >>> print(tf.nn.relu6([-1.0, 2.0, 8.0]).numpy())
    [0. 2. 6.]
    """
    x = V.tensor_of(features)
    V.check("Relu6", x, V.REAL)
    return V.computed("Relu6", wg.nn.functional.relu6, x)


@V.operation("LeakyRelu")
def leaky_relu(features, alpha: float = 0.2, name=None) -> Any:
    """The elements, negative ones times `alpha`, and so is the derivative at 0.

    Examples
    --------
    >>> print(tf.nn.leaky_relu([-1.0, 2.0]).numpy())
    [-0.2  2. ]
    """
    x = V.tensor_of(features)
    if x.payload.dtype.kind in "iu":
        x = V.converted(x, np.dtype(np.float32))
    V.check("LeakyRelu", x, V.FLOATING)
    return wg.nn.functional.leaky_relu(x, float(alpha))


def elu(features, name=None) -> Any:
    """The elements, negative ones replaced by ``exp(x) - 1``.

    Examples
    --------
    >>> print(tf.nn.elu([-1.0, 2.0]).numpy().round(3))
    [-0.632  2.   ]
    """
    x = V.tensor_of(features)
    V.check("Elu", x, V.FLOATING)
    return V.computed("Elu", wg.nn.functional.elu, x)


@V.operation("Selu")
def selu(features, name=None) -> Any:
    """``scale * x``, for negative `x` ``scale * alpha * (exp(x) - 1)``, with two constants.

    Examples
    --------
    >>> print(tf.nn.selu([-1.0, 2.0]).numpy().round(3))
    [-1.111  2.101]
    """
    x = V.tensor_of(features)
    V.check("Selu", x, V.FLOATING)
    # at 0 TensorFlow takes the derivative from the right
    below = wg.lt(x, 0)
    small = wg.where(below, x, wg.zeros_like(x))
    return wg.where(below, wg.mul(wg.expm1(small), _SCALE * _ALPHA), wg.mul(x, _SCALE))


@V.operation("Gelu")
def gelu(features, approximate: bool = False, name=None) -> Any:
    """The elements times the normal distribution function of them.

    Parameters
    ----------
    features : Tensor. Of a real floating dtype.
    approximate : bool. Whether to compute it with `tanh`.

    Returns
    -------
    Tensor: Differentiable.

    Raises
    ------
    ValueError: If the dtype is another one.

    Examples
    --------
    >>> print(tf.nn.gelu([1.0, 2.0]).numpy().round(3))
    [0.841 1.954]
    """
    x = V.tensor_of(features)
    if x.payload.dtype.kind in "iubc":
        raise ValueError(
            "`features.dtype` must be a floating point tensor. "
            f"Received:features.dtype={V.type_of(x)!r}"
        )
    return wg.nn.functional.gelu(x, approximate="tanh" if approximate else "none")


@V.operation("Mul")
def silu(features, beta=1.0) -> Any:
    """``x * sigmoid(beta * x)``.

    Examples
    --------
    >>> print(tf.nn.silu([1.0, 2.0]).numpy().round(3))
    [0.731 1.762]
    """
    x = V.tensor_of(features)
    V.check("Sigmoid", x, V.FLOATING)
    slope = V.tensor_of(beta, dtype_hint=x.payload.dtype)
    return wg.mul(x, wg.sigmoid(wg.mul(slope, x)))


swish = silu


@V.operation("Relu")
def crelu(features, axis=-1, name=None) -> Any:
    """`relu` of the elements, and then `relu` of minus the elements.

    Examples
    --------
    >>> print(tf.nn.crelu([1.0, -2.0]).numpy())
    [1. 0. 0. 2.]
    """
    x = V.tensor_of(features)
    V.check("Relu", x, V.REAL)
    return wg.relu(wg.cat([x, wg.neg(x)], int(axis)))


def _along(op: str, logits, axis) -> tuple[Any, int]:
    x = V.tensor_of(logits)
    V.check(op, x, V.FLOATING)
    ndim = x.payload.ndim
    if not ndim:
        raise V.invalid(op, "logits must have >= 1 dimension, got []")
    place = -1 if axis is None else int(axis)
    if not -ndim <= place < ndim:
        raise V.invalid(
            op,
            f"`dim` must be in the range [{-ndim}, {ndim}) where {ndim} is the number of "
            f"dimensions in the input. Received: dim={place}",
        )
    return x, place


@V.operation("Softmax")
def softmax(logits, axis=None, name=None) -> Any:
    """Exponentials of the elements, scaled so that they add up to 1 along a dimension.

    Parameters
    ----------
    logits : Tensor. Of a real floating dtype.
    axis : int, optional. The dimension; the last by default.

    Returns
    -------
    Tensor: Differentiable; it does not overflow.

    Raises
    ------
    InvalidArgumentError: If there is no such dimension, or the dtype is another one.

    Examples
    --------
    >>> print(tf.nn.softmax([0.0, 0.0]).numpy())
    [0.5 0.5]
    """
    x, place = _along("Softmax", logits, axis)
    return wg.softmax(x, place)


@V.operation("LogSoftmax")
def log_softmax(logits, axis=None, name=None) -> Any:
    """The logarithm of `softmax`, whose arguments it takes.

    Examples
    --------
    >>> print(tf.nn.log_softmax([0.0, 1000.0]).numpy())
    [-1000.     0.]
    """
    x, place = _along("LogSoftmax", logits, axis)
    return wg.log_softmax(x, place)


__all__ = defined(globals())
fill_sections(globals())
