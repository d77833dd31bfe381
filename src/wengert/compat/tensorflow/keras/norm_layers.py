"""Layer 9 · compat: Keras's layers that normalise."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow import nn, operations
from wengert.compat.tensorflow.functions.values import numbers_of
from wengert.compat.tensorflow.keras.layer import Layer
from wengert.compat.tensorflow.keras.settings import settings

__all__ = ["BatchNormalization", "LayerNormalization", "Normalization"]


@settings
class BatchNormalization(Layer):
    """Each channel with mean 0 and variance 1, then scaled and moved by weights.

    While training, mean and variance are those of the batch, and running means of them are kept;
    else these are taken.

    Parameters
    ----------
    axis : int. The dimension of the channels.
    momentum : float. How much of the running means stays at each step.
    epsilon : float. So that nothing is divided by 0.
    center, scale : bool. Whether there are weights ``beta`` and ``gamma``.
    **kwargs: Initializers of the weights, and arguments of `Layer`.

    Examples
    --------
    >>> layer = tf.keras.layers.BatchNormalization()
    >>> print(layer(tf.constant([[1.0], [3.0]]), training=True).numpy().round(2).ravel())
    [-1.  1.]
    """

    axis: int = -1
    momentum: float = 0.99
    epsilon: float = 1e-3
    center: bool = True
    scale: bool = True
    beta_initializer: Any = "zeros"
    gamma_initializer: Any = "ones"
    moving_mean_initializer: Any = "zeros"
    moving_variance_initializer: Any = "ones"
    beta_regularizer: Any = None
    gamma_regularizer: Any = None

    def build(self, input_shape) -> None:
        """Make the weights and the running means."""
        size = (input_shape[self.axis],)
        self.gamma = self._weight("gamma", size) if self.scale else None
        self.beta = self._weight("beta", size) if self.center else None
        self.moving_mean = self._weight("moving_mean", size, trainable=False)
        self.moving_variance = self._weight("moving_variance", size, trainable=False)
        self.built = True

    def call(self, inputs, training: bool = False) -> Any:
        ndim = len(inputs.shape)
        place = self.axis % ndim
        shape = [1] * ndim
        shape[place] = inputs.shape[place]
        if training and self.trainable:
            axes = [axis for axis in range(ndim) if axis != place]
            mean, variance = nn.moments(inputs, axes)
            for kept, new in ((self.moving_mean, mean), (self.moving_variance, variance)):
                old = np.asarray(kept.numpy())
                share = old.dtype.type(self.momentum)
                kept.assign(old * share + np.asarray(numbers_of(new)) * (1 - share))
        else:
            mean, variance = self.moving_mean, self.moving_variance
        mean, variance, beta, gamma = (
            None if part is None else operations.reshape(part, shape)
            for part in (mean, variance, self.beta, self.gamma)
        )
        return nn.batch_normalization(inputs, mean, variance, beta, gamma, self.epsilon)


@settings
class LayerNormalization(Layer):
    """Each example with mean 0 and variance 1, then scaled and moved by weights.

    Examples
    --------
    >>> layer = tf.keras.layers.LayerNormalization()
    >>> print(layer(tf.constant([[1.0, 3.0]])).numpy().round(2))
    [[-1.  1.]]
    """

    axis: Any = -1
    epsilon: float = 1e-3
    center: bool = True
    scale: bool = True
    beta_initializer: Any = "zeros"
    gamma_initializer: Any = "ones"

    def _axes(self, ndim: int) -> list[int]:
        axes = self.axis if isinstance(self.axis, list | tuple) else [self.axis]
        return sorted(axis % ndim for axis in axes)

    def build(self, input_shape) -> None:
        """Make the weights."""
        size = tuple(input_shape[axis] for axis in self._axes(len(input_shape)))
        self.gamma = self._weight("gamma", size) if self.scale else None
        self.beta = self._weight("beta", size) if self.center else None
        self.built = True

    def call(self, inputs) -> Any:
        ndim = len(inputs.shape)
        axes = self._axes(ndim)
        shape = [inputs.shape[axis] if axis in axes else 1 for axis in range(ndim)]
        mean, variance = nn.moments(inputs, axes, keepdims=True)
        beta, gamma = (
            None if part is None else operations.reshape(part, shape)
            for part in (self.beta, self.gamma)
        )
        return nn.batch_normalization(inputs, mean, variance, beta, gamma, self.epsilon)


@settings
class Normalization(Layer):
    """``(inputs - mean) / sqrt(variance)``, with numbers that are given or found by `adapt`.

    Examples
    --------
    >>> layer = tf.keras.layers.Normalization()
    >>> layer.adapt([[1.0], [3.0]])
    >>> print(layer(tf.constant([[5.0]])).numpy())
    [[3.]]
    """

    axis: Any = -1
    mean: Any = None
    variance: Any = None
    invert: bool = False

    def _prepare(self) -> None:
        if (self.mean is None) is not (self.variance is None):
            raise ValueError(
                "When setting values directly, both `mean` and `variance` must be set. Received: "
                f"mean={self.mean} and variance={self.variance}"
            )
        self.mean = None if self.mean is None else np.asarray(self.mean, self._kind)
        self.variance = None if self.variance is None else np.asarray(self.variance, self._kind)

    def adapt(self, data) -> None:
        """Find the mean and the variance of examples."""
        batches = (
            [numbers_of(data)]
            if not hasattr(data, "as_numpy_iterator")
            else [np.asarray(batch) for batch in data.as_numpy_iterator()]
        )
        values = np.concatenate(batches)
        kept = () if self.axis is None else np.atleast_1d(self.axis) % values.ndim
        axes = tuple(axis for axis in range(values.ndim) if axis not in kept)
        wide = values.astype(np.float64)
        self.mean = wide.mean(axes, keepdims=True).astype(self._kind)
        self.variance = wide.var(axes, keepdims=True).astype(self._kind)

    def call(self, inputs) -> Any:
        if self.mean is None or self.variance is None:
            raise ValueError(
                "You must call `.build(input_shape)` on the layer before using it: adapt"
            )
        width = np.maximum(np.sqrt(self.variance), self._kind.type(1e-7))
        x = operations.cast(inputs, str(self._kind))
        if self.invert:
            return operations.add(operations.multiply(x, width), self.mean)
        return operations.divide(operations.subtract(x, self.mean), width)


fill_sections(globals())
