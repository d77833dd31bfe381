"""Layer 9 · compat: ``tf.keras.optimizers``: steps along gradients, with Keras's numbers.

>>> x = tf.Variable(2.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> optimizer = tf.keras.optimizers.SGD(learning_rate=0.25)
>>> _ = optimizer.apply_gradients([(tape.gradient(y, x), x)])
>>> print(x.numpy())
1.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.keras import schedules
from wengert.compat.tensorflow.keras.optimizer import Optimizer
from wengert.compat.tensorflow.refusal import refusal

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Optimizer",
    "RMSprop",
    "get",
    "schedules",
]


def _zeros(*names: str) -> Callable[..., dict[str, Any]]:
    """Arrays of zeros under these names, for one weight."""

    def new(self: Any, value: Any) -> dict[str, Any]:
        return {name: np.zeros_like(value) for name in names}

    return new


class SGD(Optimizer):
    """Gradient descent: ``w -= learning_rate * g``, with momentum, and Nesterov's way.

    Examples
    --------
    >>> w = tf.Variable([1.0, 2.0])
    >>> _ = tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.constant([1.0, 1.0]), w)])
    >>> print(w.numpy())
    [0.5 1.5]
    """

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float | None = None,
        **kwargs: Any,
    ) -> None:
        if not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.momentum = momentum
        self.nesterov = nesterov

    _new = _zeros("momentum")

    def _step(self, value: Any, g: Any, lr: Any, state: dict[str, Any], t: int) -> Any:
        if not self.momentum:
            return value - lr * g
        m = state["momentum"] = state["momentum"] * value.dtype.type(self.momentum) - lr * g
        return value + (m * value.dtype.type(self.momentum) - lr * g if self.nesterov else m)


class Adam(Optimizer):
    """Steps divided by the root of a running mean of squared gradients, with momentum.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.Adam(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.9
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        weight_decay: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.amsgrad = amsgrad

    _new = _zeros("momentum", "velocity", "velocity_hat")

    def _step(self, value: Any, g: Any, lr: Any, state: dict[str, Any], t: int) -> Any:
        kind = value.dtype.type
        one, two = kind(self.beta_1) ** kind(t), kind(self.beta_2) ** kind(t)
        alpha = lr * np.sqrt(1 - two) / (1 - one)
        m = state["momentum"] = state["momentum"] + (g - state["momentum"]) * kind(1 - self.beta_1)
        squares = state["velocity"]
        v = state["velocity"] = squares + (np.square(g) - squares) * kind(1 - self.beta_2)
        if self.amsgrad:
            v = state["velocity_hat"] = np.maximum(state["velocity_hat"], v)
        return value - m * alpha / (np.sqrt(v) + kind(self.epsilon))


class AdamW(Adam):
    """`Adam` with decay of the weights, 0.004 by default.

    Examples
    --------
    >>> tf.keras.optimizers.AdamW().weight_decay
    0.004
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay, **kwargs)


class RMSprop(Optimizer):
    """Steps divided by the root of a running mean of squared gradients.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.RMSprop(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.684
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        weight_decay: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.rho = rho
        self.momentum = momentum
        self.epsilon = epsilon
        self.centered = centered

    _new = _zeros("velocity", "momentum", "average_gradient")

    def _step(self, value: Any, g: Any, lr: Any, state: dict[str, Any], t: int) -> Any:
        kind = value.dtype.type
        rho = kind(self.rho)
        v = state["velocity"] = rho * state["velocity"] + (1 - rho) * np.square(g)
        under = v + kind(self.epsilon)
        if self.centered:
            mean = state["average_gradient"] = rho * state["average_gradient"] + (1 - rho) * g
            under = v - np.square(mean) + kind(self.epsilon)
        step = lr * g / np.sqrt(under)
        if self.momentum > 0:
            step = state["momentum"] = kind(self.momentum) * state["momentum"] + step
        return value - step


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients so far.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.Adagrad(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.9
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        weight_decay: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon

    def _new(self, value: Any) -> dict[str, Any]:
        return {"accumulator": np.full_like(value, self.initial_accumulator_value)}

    def _step(self, value: Any, g: Any, lr: Any, state: dict[str, Any], t: int) -> Any:
        total = state["accumulator"] = state["accumulator"] + np.square(g)
        return value - lr * g / np.sqrt(total + value.dtype.type(self.epsilon))


class Adadelta(Optimizer):
    """Steps scaled by the sizes of gradients and of steps so far.

    Examples
    --------
    >>> tf.keras.optimizers.Adadelta().rho
    0.95
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        weight_decay: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.rho = rho
        self.epsilon = epsilon

    _new = _zeros("accumulated_grad", "accumulated_delta_var")

    def _step(self, value: Any, g: Any, lr: Any, state: dict[str, Any], t: int) -> Any:
        rho, eps = value.dtype.type(self.rho), value.dtype.type(self.epsilon)
        squares = rho * state["accumulated_grad"] + (1 - rho) * np.square(g)
        steps = state["accumulated_delta_var"]
        delta = -np.sqrt(steps + eps) * g / np.sqrt(squares + eps)
        state["accumulated_grad"] = squares
        state["accumulated_delta_var"] = rho * steps + (1 - rho) * np.square(delta)
        return value + lr * delta


class Adamax(Optimizer):
    """`Adam` with the greatest gradient in place of the mean of squares.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.Adamax(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.9
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        weight_decay: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon

    _new = _zeros("momentum", "norm")

    def _step(self, value: Any, g: Any, lr: Any, state: dict[str, Any], t: int) -> Any:
        kind = value.dtype.type
        m = state["momentum"] = state["momentum"] + (g - state["momentum"]) * kind(1 - self.beta_1)
        u = state["norm"] = np.maximum(kind(self.beta_2) * state["norm"], np.abs(g))
        return value - lr * m / ((1 - kind(self.beta_1) ** kind(t)) * (u + kind(self.epsilon)))


_NAMES: dict[str, Any] = {
    kind.__name__.lower(): kind for kind in (SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax)
}


def get(identifier: Any) -> Any:
    """The optimizer that a name stands for; others come back as they are.

    Raises
    ------
    ValueError: If there is none of that name.

    Examples
    --------
    >>> type(tf.keras.optimizers.get("adam")).__name__
    'Adam'
    """
    if isinstance(identifier, Optimizer):
        return identifier
    found = _NAMES.get(identifier.lower()) if isinstance(identifier, str) else None
    if found is None:
        raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
    return found()


def __getattr__(name: str) -> Any:
    raise refusal("keras.optimizers", name)


fill_sections(globals())
