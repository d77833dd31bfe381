"""Layer 9 · compat: ``mxnet.optimizer``: the update rules of `gluon.Trainer`.

>>> from wengert.compat.mxnet import optimizer
>>> optimizer.create("sgd", learning_rate=0.5).learning_rate
0.5
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.kit import updates
from wengert.compat.kit.arguments import arguments
from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet.base import absence

_REGISTRY: dict[str, Any] = {}


def register(cls) -> Any:
    """Register a class so that `create` finds it by its lower-case name; a decorator."""
    _REGISTRY[cls.__name__.lower()] = cls
    return cls


class Optimizer:
    """Base class for update rules; a subclass defines `create_state` and `step`.

    Parameters
    ----------
    rescale_grad : float. The factor of gradients; a `Trainer` divides it by the batch size.
    wd : float. Weight decay.
    clip_gradient : float, optional. The maximum absolute value of the elements of gradients.
    learning_rate : float
    lr_scheduler : callable, optional. A function from the number of updates to the learning rate.
    """

    kept: ClassVar[tuple[str, ...]] = ()
    """The names of the state arrays of each weight."""
    ignored: ClassVar[tuple[str, ...]] = ("lazy_update",)

    def __init__(
        self,
        rescale_grad: float = 1.0,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float = 0.01,
        lr_scheduler: Callable[[int], float] | None = None,
        **more,
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

    def create_state(self, index, weight) -> Any:
        """Return the state that updates keep between steps: NumPy arrays by name."""
        return updates.kept(np.asarray(weight._payload), *self.kept)

    def _scaled(self, grad) -> Any:
        return self._clipped(grad * self.rescale_grad)

    def _clipped(self, g) -> Any:
        limit = self.clip_gradient
        return g if limit is None else g.clip(-limit, limit)

    def update(
        self, index, weight, grad, state, lr_mult: float = 1.0, wd_mult: float = 1.0
    ) -> None:
        """Update the array `weight` in place by its gradient."""
        count = self._counts[index] = self._counts.get(index, 0) + 1
        self.num_update = max(self.num_update, count)
        w, g = np.asarray(weight._payload), np.asarray(grad._payload)
        rate, decay = self.learning_rate * lr_mult, self.wd * wd_mult
        weight[...] = self.step(w, g, state, rate, decay, count)

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        """Return the new values as NumPy arrays; updates `state` in place."""
        raise NotImplementedError


@register
@arguments
class SGD(Optimizer):
    """Gradient descent: the velocity is ``momentum * velocity - lr * gradient``."""

    learning_rate: Any = 0.01
    momentum: float = 0.0
    kept, nesterov = ("momentum",), False

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        g = self._scaled(g) + wd * w
        return w - updates.momentum(g, state, lr, self.momentum, self.nesterov)


@register
class NAG(SGD):
    """Gradient descent with Nesterov's momentum."""

    nesterov = True


@register
@arguments
class Adam(Optimizer):
    """Adam (Kingma and Ba 2014)."""

    learning_rate: Any = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    kept = ("momentum", "velocity")

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        lr *= math.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
        g = self._clipped(g * self.rescale_grad + wd * w)
        return w - updates.adam(g, state, lr, self.beta1, self.beta2, self.epsilon)


@register
@arguments
class AdaGrad(Optimizer):
    """AdaGrad (Duchi and others 2011)."""

    eps: float = 1e-7
    kept = ("accumulator",)

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        change = updates.adagrad(self._scaled(g), state, lr, self.eps)
        return w - change - lr * wd * w


@register
@arguments
class RMSProp(Optimizer):
    """RMSProp (Tieleman and Hinton 2012)."""

    learning_rate: Any = 0.001
    gamma1: float = 0.9
    gamma2: float = 0.9
    epsilon: float = 1e-8
    centered: bool = False

    def _prepare(self) -> None:
        if self.centered:
            raise NotImplementedError("RMSProp(centered=True): use Adam")

    kept = ("velocity",)

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        g = self._scaled(g) + wd * w
        return w - updates.rmsprop(g, state, lr, self.gamma1, self.epsilon)


@register
@arguments
class AdaDelta(Optimizer):
    """AdaDelta (Zeiler 2012); it has no learning rate."""

    rho: float = 0.9
    epsilon: float = 1e-5
    kept = ("accumulated_grad", "accumulated_delta_var")

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        return w - updates.adadelta(self._scaled(g), state, self.rho, self.epsilon) - wd * w


def create(name, **kwargs) -> Any:
    """Return the optimizer with a given name, or the given optimizer.

    Raises
    ------
    ValueError: If there is no optimizer of this name.
    """
    if isinstance(name, Optimizer):
        return name
    if str(name).lower() not in _REGISTRY:
        known = ", ".join(sorted(_REGISTRY))
        raise ValueError(f"Cannot find optimizer {name}: there are {known}")
    return _REGISTRY[str(name).lower()](**kwargs)


__getattr__ = absence("wengert.compat.mxnet.optimizer")


__all__ = defined(globals())
fill_sections(globals())
