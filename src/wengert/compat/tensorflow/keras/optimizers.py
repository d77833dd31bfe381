"""Layer 9 · compat: ``tf.keras.optimizers``: steps along gradients, with Keras's numbers.

>>> x = tf.Variable(2.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> optimizer = tf.keras.optimizers.SGD(learning_rate=0.25)
>>> _ = optimizer.apply_gradients([(tape.gradient(y, x), x)])
>>> print(x.numpy())
1.0
"""

# ruff: noqa: F401  some names are for users

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.kit import updates
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.configs import getter
from wengert.compat.tensorflow.keras import schedules
from wengert.compat.tensorflow.keras.optimizer import Optimizer
from wengert.compat.tensorflow.keras.settings import settings
from wengert.compat.tensorflow.refusal import refusal


@settings
class SGD(Optimizer):
    """Gradient descent: ``w -= learning_rate * g``, with momentum, and Nesterov's way.

    Examples
    --------
    >>> w = tf.Variable([1.0, 2.0])
    >>> _ = tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.constant([1.0, 1.0]), w)])
    >>> print(w.numpy())
    [0.5 1.5]
    """

    learning_rate: Any = 0.01
    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float | None = None

    def _prepare(self) -> None:
        if not 0 <= self.momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")

    kept = ("momentum",)

    def _step(self, g, lr, state: dict[str, Any], t: int) -> Any:
        return updates.momentum(g, state, lr, self.momentum, self.nesterov)


@settings
class Adam(Optimizer):
    """Steps divided by the root of a running mean of squared gradients, with momentum.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.Adam(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.9
    """

    learning_rate: Any = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7
    amsgrad: bool = False
    weight_decay: float | None = None

    kept = ("momentum", "velocity", "velocity_hat")

    def _step(self, g, lr, state: dict[str, Any], t: int) -> Any:
        kind = g.dtype.type
        one, two = kind(self.beta_1) ** kind(t), kind(self.beta_2) ** kind(t)
        rate = lr * np.sqrt(1 - two) / (1 - one)
        return updates.adam(g, state, rate, self.beta_1, self.beta_2, self.epsilon, self.amsgrad)


@settings
class AdamW(Adam):
    """`Adam` with decay of the weights, 0.004 by default.

    Examples
    --------
    >>> tf.keras.optimizers.AdamW().weight_decay
    0.004
    """

    learning_rate: Any = 0.001
    weight_decay: float = 0.004
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7
    amsgrad: bool = False


@settings
class RMSprop(Optimizer):
    """Steps divided by the root of a running mean of squared gradients.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.RMSprop(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.684
    """

    learning_rate: Any = 0.001
    rho: float = 0.9
    momentum: float = 0.0
    epsilon: float = 1e-7
    centered: bool = False
    weight_decay: float | None = None

    kept = ("velocity", "momentum", "average_gradient")

    def _step(self, g, lr, state: dict[str, Any], t: int) -> Any:
        return updates.rmsprop(g, state, lr, self.rho, self.epsilon, self.momentum, self.centered)


@settings
class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients so far.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.Adagrad(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.9
    """

    learning_rate: Any = 0.001
    initial_accumulator_value: float = 0.1
    epsilon: float = 1e-7
    weight_decay: float | None = None

    def _new(self, value) -> dict[str, Any]:
        return updates.kept(value, "accumulator", value=self.initial_accumulator_value)

    def _step(self, g, lr, state: dict[str, Any], t: int) -> Any:
        return updates.adagrad(g, state, lr, self.epsilon)


@settings
class Adadelta(Optimizer):
    """Steps scaled by the sizes of gradients and of steps so far.

    Examples
    --------
    >>> tf.keras.optimizers.Adadelta().rho
    0.95
    """

    learning_rate: Any = 0.001
    rho: float = 0.95
    epsilon: float = 1e-7
    weight_decay: float | None = None

    kept = ("accumulated_grad", "accumulated_delta_var")

    def _step(self, g, lr, state: dict[str, Any], t: int) -> Any:
        return lr * updates.adadelta(g, state, self.rho, self.epsilon)


@settings
class Adamax(Optimizer):
    """`Adam` with the greatest gradient in place of the mean of squares.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.Adamax(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.9
    """

    learning_rate: Any = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7
    weight_decay: float | None = None

    kept = ("momentum", "norm")

    def _step(self, g, lr, state: dict[str, Any], t: int) -> Any:
        kind = g.dtype.type
        rate = lr / (1 - kind(self.beta_1) ** kind(t))
        return updates.adamax(g, state, rate, self.beta_1, self.beta_2, self.epsilon)


get = getter("optimizer", globals(), Optimizer)


def __getattr__(name: str) -> Any:
    raise refusal("keras.optimizers", name)


__all__ = defined(globals(), "Optimizer schedules")
fill_sections(globals())
