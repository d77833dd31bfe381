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

from wengert.compat.kit import updates
from wengert.compat.kit.arguments import Given, arguments
from wengert.compat.kit.namespaces import functions_of
from wengert.compat.mxnet.base import public, refusal


def register(cls) -> Any:
    """Register a class so that `create` finds it by its lower-case name; a decorator."""
    _REGISTRY[cls.__name__.lower()] = cls
    return cls


class Optimizer(Given):
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
        rescale_grad=1.0,
        wd=0.0,
        clip_gradient: float | None = None,
        learning_rate: float | None = None,
        lr_scheduler: Callable[[int], float] | None = None,
        **more,
    ) -> None:
        if more:
            raise refusal(TypeError, "{}() got an", type(self).__name__, min(more))
        self.rescale_grad = rescale_grad
        self.wd = wd
        self.clip_gradient = clip_gradient
        self.lr = 0.01 if learning_rate is None else learning_rate
        self.lr_scheduler = lr_scheduler
        if lr_scheduler is not None and hasattr(lr_scheduler, "base_lr"):
            if learning_rate is None:
                self.lr = lr_scheduler.base_lr
            else:
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
            raise refusal(UserWarning, "LRScheduler of the")
        self.lr = lr

    def create_state(self, index, weight) -> Any:
        """Return the state that updates keep between steps: NumPy arrays by name."""
        return updates.kept(np.asarray(weight._payload), *self.kept)

    def _scaled(self, grad) -> Any:
        return self._clipped(grad * self.rescale_grad)

    def _clipped(self, g) -> Any:
        limit = self.clip_gradient
        return g if limit is None else g.clip(-limit, limit)

    def update(self, index, weight, grad, state, lr_mult=1.0, wd_mult=1.0) -> None:
        """Update the array `weight` in place by its gradient."""
        count = self._counts[index] = self._counts.get(index, 0) + 1
        self.num_update = max(self.num_update, count)
        w, g = np.asarray(weight._payload), np.asarray(grad._payload)
        rate, decay = self.learning_rate * lr_mult, self.wd * wd_mult
        weight[...] = self.step(w, g, state, rate, decay, count)

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        """Return the new values as NumPy arrays; updates `state` in place."""
        raise NotImplementedError


@arguments("momentum=0.0")
class SGD(Optimizer):
    """Gradient descent: the velocity is ``momentum * velocity - lr * gradient``."""

    kept, nesterov = ("momentum",), False

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        g = self._scaled(g) + wd * w
        return w - updates.momentum(g, state, lr, self.momentum, self.nesterov)


class NAG(SGD):
    """Gradient descent with Nesterov's momentum.

    The kept momentum decays the new weights, not the old ones, as in MXNet.
    """

    nesterov = True

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        new = super().step(w, g, state, lr, wd, t)
        state["momentum"] = state["momentum"] - lr * wd * (new - w)
        return new


class _Decayed(Optimizer):
    """Base class for optimizers that add the weight decay to the gradient before clipping."""

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        return self._new(w, self._clipped(g * self.rescale_grad + wd * w), state, lr, t)

    def _new(self, w, g, state, lr: float, t: int) -> Any:
        """Return the new values, for a gradient that is scaled and holds the decay."""
        raise NotImplementedError


@arguments("learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8")
class Adam(_Decayed):
    """Adam (Kingma and Ba 2014)."""

    kept = ("momentum", "velocity")

    def _new(self, w, g, state, lr: float, t: int) -> Any:
        lr *= math.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
        return w - updates.adam(g, state, lr, self.beta1, self.beta2, self.epsilon)


@arguments("eps=1e-7")
class AdaGrad(Optimizer):
    """AdaGrad (Duchi and others 2011)."""

    kept = ("accumulator",)

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        change = updates.adagrad(self._scaled(g), state, lr, self.eps)
        return w - change - lr * wd * w


@arguments(
    "learning_rate=0.001, gamma1=0.9, gamma2=0.9, epsilon=1e-8, centered=False, clip_weights=None"
)
class RMSProp(_Decayed):
    """RMSProp (Tieleman and Hinton 2012)."""

    kept = ("velocity", "average_gradient", "momentum")

    def _new(self, w, g, state, lr: float, t: int) -> Any:
        share = self.gamma2 if self.centered else 0.0
        new = w - updates.rmsprop(g, state, lr, self.gamma1, self.epsilon, share, self.centered)
        limit = self.clip_weights
        return new if limit is None else new.clip(-limit, limit)


@arguments("rho=0.9, epsilon=1e-5")
class AdaDelta(Optimizer):
    """AdaDelta (Zeiler 2012); it has no learning rate."""

    kept = ("accumulated_grad", "accumulated_delta_var")

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        return w - updates.adadelta(self._scaled(g), state, self.rho, self.epsilon) - wd * w


@arguments("learning_rate=0.002, beta1=0.9, beta2=0.999")
class Adamax(_Decayed):
    """Adamax: Adam with the infinity norm."""

    kept = ("momentum", "norm")

    def _new(self, w, g, state, lr: float, t: int) -> Any:
        lr /= 1 - self.beta1**t
        return w - updates.adamax(g, state, lr, self.beta1, self.beta2, 0.0)


@arguments("learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, schedule_decay=0.004")
class Nadam(_Decayed):
    """Adam with Nesterov's momentum (Dozat 2015).

    The schedule of the momentum is one for all weights, as in MXNet.
    """

    kept, _product = ("momentum", "velocity"), 1.0

    def _new(self, w, g, state, lr: float, t: int) -> Any:
        now, then = (self.beta1 * (1 - 0.5 * 0.96 ** (i * self.schedule_decay)) for i in (t, t + 1))
        self._product *= now
        m, v = updates.moments(g, state, self.beta1, self.beta2)
        ahead = (1 - now) * g / (1 - self._product) + then * m / (1 - self._product * then)
        return w - lr * ahead / (np.sqrt(v / (1 - self.beta2**t)) + self.epsilon)


@arguments("beta1=0.6, beta2=0.999, epsilon=1e-8")
class FTML(_Decayed):
    """Follow the moving leader (Zheng and Kwok 2017)."""

    kept = ("d", "velocity", "z")

    def _new(self, w, g, state, lr: float, t: int) -> Any:
        b1, b2, before = self.beta1, self.beta2, state["d"]
        v = state["velocity"] = b2 * state["velocity"] + (1 - b2) * g * g
        d = state["d"] = (1 - b1**t) / lr * (np.sqrt(v / (1 - b2**t)) + self.epsilon)
        z = state["z"] = b1 * state["z"] + (1 - b1) * g - (d - b1 * before) * w
        return -z / d


@arguments("lamda1=0.01, learning_rate=0.1, beta=1.0")
class Ftrl(Optimizer):
    """Follow the regularized leader (McMahan and others 2013)."""

    kept = ("accumulator", "linear")

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        return updates.ftrl(self._scaled(g), w, state, lr, self.lamda1, self.beta, wd)


@arguments("learning_rate=0.01, momentum=0.9, wd_lh=0.0")
class Signum(Optimizer):
    """Descent along the sign of the momentum, or of the gradient (Bernstein and others 2018)."""

    kept = ("momentum",)

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        g, share = self._scaled(g), self.momentum
        if not share:
            return (1 - lr * wd) * w - lr * np.sign(g)
        m = state["momentum"] = share * state["momentum"] - (1 - share) * (g + wd * w)
        return (1 - lr * self.wd_lh) * w + lr * np.sign(m)


@arguments(
    "learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6, lower_bound=None, "
    "upper_bound=None, bias_correction=True"
)
class LAMB(Optimizer):
    """Adam whose steps are scaled by the norm of the weights (You and others 2019)."""

    kept = ("momentum", "velocity")

    def step(self, w, g, state, lr: float, wd: float, t: int) -> Any:
        m, v = updates.moments(self._scaled(g), state, self.beta1, self.beta2)
        if self.bias_correction:
            m, v = m / (1 - self.beta1**t), v / (1 - self.beta2**t)
        change = m / (np.sqrt(v) + self.epsilon) + wd * w
        return w - lr * updates.as_long(change, w, self.lower_bound, self.upper_bound)


_OURS = functions_of(globals(), "Optimizer register")
_REGISTRY: dict[str, Any] = {name.lower(): kind for name, kind in _OURS.items()}


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


def get_updater(optimizer) -> Callable[..., None]:
    """Return the function ``updater(index, grad, weight)``, which keeps the state of each weight.

    Examples
    --------
    >>> updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.5))
    >>> weight = mx.nd.ones(2)
    >>> updater(0, mx.nd.array([1.0, 2.0]), weight)
    >>> weight.asnumpy().tolist()
    [0.5, 0.0]
    """
    states: dict[Any, Any] = {}

    def updater(index, grad, weight) -> None:
        if index not in states:
            states[index] = optimizer.create_state(index, weight)
        optimizer.update(index, weight, grad, states[index])

    return updater


__all__ = public(globals())
