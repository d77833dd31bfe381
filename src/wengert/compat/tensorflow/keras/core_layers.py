"""Layer 9 · compat: Keras's layers of matrices and of functions element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow import nn, operations
from wengert.compat.tensorflow.keras import activations
from wengert.compat.tensorflow.keras.layer import Layer
from wengert.compat.tensorflow.keras.settings import settings

__all__ = ["Activation", "Dense", "ELU", "Identity", "Lambda", "LeakyReLU", "ReLU", "Softmax"]


@settings
class Dense(Layer):
    """``activation(inputs @ kernel + bias)``, over the last dimension.

    Parameters
    ----------
    units : int. The size of the result's last dimension.
    activation : str or callable, optional. A function of `tf.keras.activations`; none by default.
    use_bias : bool. Whether there is a bias.
    kernel_initializer, bias_initializer : Initializer or str. How the weights begin.
    kernel_regularizer, bias_regularizer : Regularizer or str, optional. What they add to the loss.
    kernel_constraint, bias_constraint : callable, optional. What is applied to them after each
        step.
    **kwargs: Those of `Layer`.

    Raises
    ------
    ValueError: If `units` is not positive.

    Examples
    --------
    >>> tf.keras.layers.Dense(3)(tf.ones([2, 4])).shape
    TensorShape([2, 3])
    """

    units: Any
    activation: Any = None
    use_bias: bool = True
    kernel_initializer: Any = "glorot_uniform"
    bias_initializer: Any = "zeros"
    kernel_regularizer: Any = None
    bias_regularizer: Any = None
    activity_regularizer: Any = None
    kernel_constraint: Any = None
    bias_constraint: Any = None

    def _prepare(self) -> None:
        if not isinstance(self.units, int | np.integer) or self.units <= 0:
            raise ValueError(
                "Received an invalid value for `units`, expected a positive integer. Received: "
                f"units={self.units}"
            )
        self.units = int(self.units)

    def build(self, input_shape) -> None:
        self.kernel = self._weight("kernel", (input_shape[-1], self.units))
        self.bias = self._weight("bias", (self.units,)) if self.use_bias else None
        self.built = True

    def call(self, inputs) -> Any:
        if inputs.shape[-1] != self.kernel.shape[0]:
            raise ValueError(
                f'Input 0 of layer "{self.name}" is incompatible with the layer: expected axis '
                f"-1 of input shape to have value {self.kernel.shape[0]}, but received input with "
                f"shape {tuple(inputs.shape)}"
            )
        if not inputs.dtype.is_floating:
            inputs = operations.cast(inputs, self.kernel.dtype)
        result = operations.tensordot(inputs, self.kernel, 1)
        if self.bias is not None:
            result = operations.add(result, self.bias)
        return self.activation(result)


@settings
class Activation(Layer):
    """A function of `tf.keras.activations`, as a layer.

    Examples
    --------
    >>> print(tf.keras.layers.Activation("relu")([-1.0, 2.0]).numpy())
    [0. 2.]
    """

    activation: Any

    def call(self, inputs) -> Any:
        return self.activation(inputs)


@settings
class ReLU(Layer):
    """`tf.keras.activations.relu`, as a layer.

    Examples
    --------
    >>> print(tf.keras.layers.ReLU(max_value=1.0)([-1.0, 2.0]).numpy())
    [0. 1.]
    """

    max_value: float | None = None
    negative_slope: float = 0.0
    threshold: float = 0.0

    def call(self, inputs) -> Any:
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Layer):
    """The elements, negative ones times `negative_slope`.

    Examples
    --------
    >>> print(tf.keras.layers.LeakyReLU(0.5)([-1.0, 2.0]).numpy())
    [-0.5  2. ]
    """

    def __init__(self, negative_slope: float = 0.3, **kwargs) -> None:
        negative_slope = kwargs.pop("alpha", negative_slope)
        super().__init__(**kwargs)
        self.negative_slope = negative_slope

    def call(self, inputs) -> Any:
        return nn.leaky_relu(inputs, self.negative_slope)


@settings
class ELU(Layer):
    """The elements, negative ones replaced by ``alpha * (exp(x) - 1)``."""

    alpha: float = 1.0

    def call(self, inputs) -> Any:
        return activations.elu(inputs, self.alpha)


@settings
class Softmax(Layer):
    """`tf.nn.softmax`, as a layer.

    Examples
    --------
    >>> print(tf.keras.layers.Softmax()([0.0, 0.0]).numpy())
    [0.5 0.5]
    """

    axis: int = -1

    def call(self, inputs) -> Any:
        return nn.softmax(inputs, self.axis)


class Identity(Layer):
    """The input itself."""

    def call(self, inputs) -> Any:
        return inputs


class Lambda(Layer):
    """A function, as a layer.

    Examples
    --------
    >>> print(tf.keras.layers.Lambda(lambda x: x * 2)([1.0, 2.0]).numpy())
    [2. 4.]
    """

    def __init__(self, function, arguments=None, **kwargs) -> None:
        kwargs.pop("output_shape", None)
        super().__init__(**kwargs)
        self.function = function
        self.arguments = arguments or {}

    def call(self, inputs) -> Any:
        return self.function(inputs, **self.arguments)


fill_sections(globals())
