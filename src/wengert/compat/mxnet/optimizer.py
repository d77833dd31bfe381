"""Layer 9 · compat: ``mxnet.optimizer``: the rules by which `gluon.Trainer` updates parameters.

>>> from wengert.compat.mxnet import optimizer
>>> optimizer.create("sgd", learning_rate=0.5).learning_rate
0.5
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.mxnet.base import absent

__all__ = [
    "NAG",
    "SGD",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "Optimizer",
    "RMSProp",
    "create",
    "register",
]

_REGISTRY: dict[str, Any] = {}


def register(cls: Any) -> Any:
    """Let `create` find a class by its name in lower case; a decorator."""
    _REGISTRY[cls.__name__.lower()] = cls
    return cls


class Optimizer:
    """A rule for updates; a subclass defines `create_state` and `step`.

    Parameters
    ----------
    rescale_grad : float. Gradients are multiplied by it; a `Trainer` divides by the size of the
        batch.
    wd : float. Weight decay.
    clip_gradient : float, optional. The largest size of an element of a gradient.
    learning_rate : float
    lr_scheduler : callable, optional. Gives the learning rate for the number of updates so far.
    """

    def __init__(
        self,
        rescale_grad: float = 1.0,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float = 0.01,
        lr_scheduler: Callable[[int], float] | None = None,
        **more: Any,
    ) -> None:
        if more:
            raise TypeError(
                f"{type(self).__name__}() got an unexpected keyword argument {min(more)!r}"
            )
        self.rescale_grad = rescale_grad
        self.wd = wd
        self.clip_gradient = clip_gradient
        self.lr = learning_rate
        self.lr_scheduler = lr_scheduler
        if lr_scheduler is not None and hasattr(lr_scheduler, "base_lr"):
            lr_scheduler.base_lr = learning_rate
        self.num_update = 0
        self._counts: dict[Any, int] = {}

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update."""
        if self.lr_scheduler is not None:
            return self.lr_scheduler(self.num_update)
        return self.lr

    def set_learning_rate(self, lr: float) -> None:
        """Change the learning rate."""
        if self.lr_scheduler is not None:
            raise UserWarning(
                "LRScheduler of the optimizer has already been defined. Note that "
                "set_learning_rate can mutate the value of the learning rate of the optimizer only "
                "when the LRScheduler of the optimizer is undefined."
            )
        self.lr = lr

    def create_state(self, index: Any, weight: Any) -> Any:
        """What an update needs to remember of earlier ones: arrays of NumPy's."""
        return None

    def _zeros(self, weight: Any) -> Any:
        return np.zeros_like(np.asarray(weight.payload))

    def _scaled(self, grad: Any, clip: bool = True) -> Any:
        g = grad * self.rescale_grad
        if clip and self.clip_gradient is not None:
            g = g.clip(-self.clip_gradient, self.clip_gradient)
        return g

    def update(
        self,
        index: Any,
        weight: Any,
        grad: Any,
        state: Any,
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
    ) -> None:
        """Update the array `weight` in place by its gradient."""
        count = self._counts[index] = self._counts.get(index, 0) + 1
        self.num_update = max(self.num_update, count)
        w, g = np.asarray(weight.payload), np.asarray(grad.payload)
        rate, decay = self.learning_rate * lr_mult, self.wd * wd_mult
        weight[...] = self.step(w, g, state, rate, decay, count)

    def step(self, w: Any, g: Any, state: Any, lr: float, wd: float, t: int) -> Any:
        """The new values, of arrays of NumPy's; changes `state` in place."""
        raise NotImplementedError


@register
class SGD(Optimizer):
    """Gradient descent: the velocity is ``momentum * velocity - lr * gradient``."""

    def __init__(self, learning_rate: float = 0.01, momentum: float = 0.0, **kwargs: Any) -> None:
        kwargs.pop("lazy_update", None)
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum

    def create_state(self, index: Any, weight: Any) -> Any:
        """The velocity, with momentum."""
        return self._zeros(weight) if self.momentum else None

    def step(self, w: Any, g: Any, state: Any, lr: float, wd: float, t: int) -> Any:
        change = -lr * (self._scaled(g) + wd * w)
        if state is None:
            return w + change
        state[...] = self.momentum * state + change
        return w + state


@register
class NAG(SGD):
    """Gradient descent with Nesterov's momentum."""

    def step(self, w: Any, g: Any, state: Any, lr: float, wd: float, t: int) -> Any:
        change = -lr * (self._scaled(g) + wd * w)
        if state is None:
            return w + change
        state[...] = self.momentum * state + change
        return w + self.momentum * state + change


@register
class Adam(Optimizer):
    """Adam (Kingma and Ba 2014)."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("lazy_update", None)
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def create_state(self, index: Any, weight: Any) -> Any:
        """The running means of gradients and of their squares."""
        return self._zeros(weight), self._zeros(weight)

    def step(self, w: Any, g: Any, state: Any, lr: float, wd: float, t: int) -> Any:
        mean, square = state
        lr *= math.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
        g = self._scaled(g, clip=False) + wd * w
        if self.clip_gradient is not None:
            g = g.clip(-self.clip_gradient, self.clip_gradient)
        mean[...] = self.beta1 * mean + (1 - self.beta1) * g
        square[...] = self.beta2 * square + (1 - self.beta2) * g * g
        return w - lr * mean / (np.sqrt(square) + self.epsilon)


@register
class AdaGrad(Optimizer):
    """AdaGrad (Duchi and others 2011)."""

    def __init__(self, eps: float = 1e-7, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Any, weight: Any) -> Any:
        """The sum of the squares of gradients."""
        return self._zeros(weight)

    def step(self, w: Any, g: Any, state: Any, lr: float, wd: float, t: int) -> Any:
        g = self._scaled(g)
        state += g * g
        return w - lr * (g / np.sqrt(state + self.float_stable_eps) + wd * w)


@register
class RMSProp(Optimizer):
    """RMSProp (Tieleman and Hinton 2012)."""

    def __init__(
        self, learning_rate: float = 0.001, gamma1: float = 0.9, epsilon: float = 1e-8, **kw: Any
    ) -> None:
        if kw.pop("centered", False):
            raise NotImplementedError("RMSProp(centered=True): use Adam")
        super().__init__(learning_rate=learning_rate, **kw)
        self.gamma1, self.epsilon = gamma1, epsilon

    def create_state(self, index: Any, weight: Any) -> Any:
        """The running mean of the squares of gradients."""
        return self._zeros(weight)

    def step(self, w: Any, g: Any, state: Any, lr: float, wd: float, t: int) -> Any:
        g = self._scaled(g) + wd * w
        state[...] = self.gamma1 * state + (1 - self.gamma1) * g * g
        return w - lr * g / np.sqrt(state + self.epsilon)


@register
class AdaDelta(Optimizer):
    """AdaDelta (Zeiler 2012), which needs no learning rate."""

    def __init__(self, rho: float = 0.9, epsilon: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rho, self.epsilon = rho, epsilon

    def create_state(self, index: Any, weight: Any) -> Any:
        """The running means of the squares of gradients and of changes."""
        return self._zeros(weight), self._zeros(weight)

    def step(self, w: Any, g: Any, state: Any, lr: float, wd: float, t: int) -> Any:
        squares, changes = state
        g = self._scaled(g)
        squares[...] = self.rho * squares + (1 - self.rho) * g * g
        change = np.sqrt(changes + self.epsilon) / np.sqrt(squares + self.epsilon) * g
        changes[...] = self.rho * changes + (1 - self.rho) * change * change
        return w - change - wd * w


def create(name: Any, **kwargs: Any) -> Any:
    """An optimizer from its name, or itself.

    Raises
    ------
    ValueError: If there is none of this name.
    """
    if isinstance(name, Optimizer):
        return name
    if str(name).lower() not in _REGISTRY:
        known = ", ".join(sorted(_REGISTRY))
        raise ValueError(f"Cannot find optimizer {name}: there are {known}")
    return _REGISTRY[str(name).lower()](**kwargs)


def __getattr__(name: str) -> Any:
    raise absent("wengert.compat.mxnet.optimizer", name, {})


fill_sections(globals())
