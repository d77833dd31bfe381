"""Layer 9 · compat: ``tf.keras.activations``: activations, which layers accept by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import of_rows, shaped
from wengert.compat.tensorflow import math as _math
from wengert.compat.tensorflow import nn as _nn
from wengert.compat.tensorflow.configs import getter
from wengert.compat.tensorflow.functions.values import computed, made, tensor_of
from wengert.compat.tensorflow.words import public


def _named(path: str, function: Callable[[Any], Any]) -> Any:
    def activation(x) -> Any:
        """Apply ``{name}`` to each element (see `tf.nn` and `tf.math`).

        Examples
        --------
        >>> tf.keras.activations.{name}([0.0, 1.0]).dtype
        tf.float32
        """
        return function(x)

    return shaped(activation, path)


def _linear(x) -> Any:
    return made(tensor_of(x))


def _native(op: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: computed(op, function, tensor_of(x))


_F = wg.nn.functional
_mish, _hard_sigmoid = _native("Softplus", _F.mish), _native("Relu6", _F.hardsigmoid)
_celu, _glu, _hard_shrink = (_native("Elu", f) for f in (_F.celu, _F.glu, _F.hardshrink))
_hard_silu, _hard_tanh = _native("Relu6", _F.hardswish), _native("Relu6", _F.hardtanh)
_soft_shrink, _tanh_shrink = _native("Relu", _F.softshrink), _native("Tanh", _F.tanhshrink)
_squareplus = _native("Sqrt", lambda x: (x + wg.sqrt(x * x + 4.0)) / 2.0)
_sparse_sigmoid = _native("Relu", lambda x: wg.clamp((x + 1.0) / 2.0, 0.0, 1.0))
_sparse_plus = _native(
    "Relu", lambda x: wg.where(wg.ge(x, 1.0), x, wg.square(wg.relu(x + 1.0)) / 4.0)
)


of_rows(
    globals(),
    _named,
    """
    celu | =_celu
    exponential | =_math.exp
    glu | =_glu
    hard_shrink | =_hard_shrink
    hard_sigmoid | =_hard_sigmoid
    hard_silu | =_hard_silu
    hard_tanh | =_hard_tanh
    linear | =_linear
    log_sigmoid | =_math.log_sigmoid
    mish | =_mish
    relu6 | =_nn.relu6
    selu | =_nn.selu
    sigmoid | =_math.sigmoid
    silu | =_nn.silu
    softplus | =_math.softplus
    soft_shrink | =_soft_shrink
    softsign | =_math.softsign
    sparse_plus | =_sparse_plus
    sparse_sigmoid | =_sparse_sigmoid
    squareplus | =_squareplus
    tanh | =_math.tanh
    tanh_shrink | =_tanh_shrink
    """,
    _math=_math,
)
swish, hard_swish = globals()["silu"], globals()["hard_silu"]


def relu(x, negative_slope=0.0, max_value: float | None = None, threshold=0.0) -> Any:
    """Return x, at most `max_value`; below `threshold`, ``negative_slope * (x - threshold)``.

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


def elu(x, alpha=1.0) -> Any:
    """Return x where positive, else ``alpha * (exp(x) - 1)``.

    Examples
    --------
    >>> print(tf.keras.activations.elu([-1.0, 2.0]).numpy().round(3))
    [-0.632  2.   ]
    """
    if alpha == 1.0:
        return _nn.elu(x)
    return computed("Elu", wg.nn.functional.elu, tensor_of(x), alpha)


def leaky_relu(x, negative_slope=0.2) -> Any:
    """Return x where positive, else `negative_slope` times x.

    Examples
    --------
    >>> print(tf.keras.activations.leaky_relu([-1.0, 2.0]).numpy())
    [-0.2  2. ]
    """
    return _nn.leaky_relu(x, negative_slope)


def threshold(x, threshold, default_value) -> Any:
    """Return x where it is above a threshold, else another value.

    Examples
    --------
    >>> print(tf.keras.activations.threshold([1.0, 3.0], 2.0, 0.0).numpy())
    [0. 3.]
    """
    return computed("Relu", wg.nn.functional.threshold, tensor_of(x), threshold, default_value)


def sparsemax(x, axis=-1) -> Any:
    """Return the nearest point with coordinates that are not negative and sum to 1.

    Examples
    --------
    >>> print(tf.keras.activations.sparsemax([1.0, 0.5, -1.0]).numpy())
    [0.75 0.25 0.  ]
    """

    def nearest(x) -> Any:
        rows = wg.movedim(x, axis, -1)
        ordered = wg.sort(rows, -1, True).values
        many = wg.arange(1, rows.shape[-1] + 1, dtype=x.dtype)
        sums = wg.cumsum(ordered, -1) - 1.0
        support = wg.sum(wg.gt(many * ordered, sums), -1, True)
        level = wg.gather(sums, -1, support - 1) / support.to(x.dtype)
        return wg.movedim(wg.relu(rows - level), -1, axis)

    return computed("Relu", nearest, tensor_of(x))


def gelu(x, approximate=False) -> Any:
    """Return x times the standard normal distribution function at x (see `tf.nn.gelu`)."""
    return _nn.gelu(x, approximate)


def softmax(x, axis=-1) -> Any:
    """Return exponentials that sum to 1 along a dimension (see `tf.nn.softmax`)."""
    return _along(_nn.softmax, x, axis)


def log_softmax(x, axis=-1) -> Any:
    """Return the logarithm of `softmax`."""
    return _along(_nn.log_softmax, x, axis)


def _along(function, x, axis) -> Any:
    """Apply a function of rows along a dimension, or along several as one."""
    if not isinstance(axis, list | tuple):
        return function(x, axis)
    x = tensor_of(x)
    ndim = x.ndim
    order = sorted(range(ndim), key=[one % ndim for one in axis].__contains__)
    moved = wg.permute(x, order)
    result = tensor_of(function(made(wg.flatten(moved, ndim - len(axis)))))
    back = sorted(range(ndim), key=order.__getitem__)
    return made(wg.permute(wg.reshape(result, moved.shape), back))


_of_name = getter(
    "activation function", globals(), (), {n: globals()[n] for n in defined(globals())}
)


def get(identifier) -> Any:
    """Return the activation with a given name; None gives `linear`.

    Raises
    ------
    ValueError: If there is no activation with that name.

    Examples
    --------
    >>> tf.keras.activations.get("relu") is tf.keras.activations.relu
    True
    """
    return _of_name("linear" if identifier is None else identifier)


__all__ = public(globals())
