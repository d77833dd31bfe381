"""Layer 9 · compat: the update rules of optimizers on arrays, shared by all idioms.

NOTE [rules of updates]
A rule takes a gradient and its state, a dictionary of arrays whose entries it replaces, and returns
the amount to subtract from the weight. Defaults, weight decay, clipping and bias correction differ
by idiom and are left to the callers. All arithmetic is in the dtype of the gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined


def kept(weight, *names: str, value=0.0) -> dict[str, Any]:
    """Return the initial state of a rule: arrays shaped like a weight, filled with one number."""
    return {name: np.full_like(weight, value) for name in names}


def _mean(state: dict[str, Any], name: str, value, share: float) -> Any:
    """Update a running mean with decay rate `share`."""
    kind = value.dtype.type
    state[name] = state[name] + (value - state[name]) * kind(1 - share)
    return state[name]


def momentum(g, state: dict[str, Any], lr, share: float, nesterov: bool) -> Any:
    """Step by gradient descent; with momentum, plain or Nesterov's, unless `share` is 0."""
    if not share:
        return lr * g
    kind = g.dtype.type
    m = state["momentum"] = state["momentum"] * kind(share) - lr * g
    return lr * g - m * kind(share) if nesterov else -m


def moments(g, state: dict[str, Any], beta1: float, beta2: float) -> tuple[Any, Any]:
    """Update the running means of gradients and of their squares."""
    return _mean(state, "momentum", g, beta1), _mean(state, "velocity", np.square(g), beta2)


def adam(
    g, state: dict[str, Any], lr, beta1: float, beta2: float, epsilon: float, amsgrad=False
) -> Any:
    """Step by Adam (Kingma and Ba, 2014); the caller corrects `lr` for the first steps."""
    m, v = moments(g, state, beta1, beta2)
    if amsgrad:
        v = state["velocity_hat"] = np.maximum(state["velocity_hat"], v)
    return m * lr / (np.sqrt(v) + g.dtype.type(epsilon))


def adamax(g, state: dict[str, Any], lr, beta1: float, beta2: float, epsilon: float) -> Any:
    """Step by Adamax: `adam` with the infinity norm instead of the mean of squares."""
    kind = g.dtype.type
    m = _mean(state, "momentum", g, beta1)
    u = state["norm"] = np.maximum(kind(beta2) * state["norm"], np.abs(g))
    return lr * m / (u + kind(epsilon))


def adagrad(g, state: dict[str, Any], lr, epsilon: float) -> Any:
    """Step by AdaGrad (Duchi and others, 2011)."""
    total = state["accumulator"] = state["accumulator"] + np.square(g)
    return lr * g / np.sqrt(total + g.dtype.type(epsilon))


def rmsprop(
    g, state: dict[str, Any], lr, rho: float, epsilon: float, share=0.0, centered=False
) -> Any:
    """Step by RMSProp (Tieleman and Hinton, 2012), optionally with momentum, and centered."""
    kind = g.dtype.type
    stays = kind(rho)
    v = state["velocity"] = stays * state["velocity"] + (1 - stays) * np.square(g)
    under = v + kind(epsilon)
    if centered:
        mean = state["average_gradient"] = stays * state["average_gradient"] + (1 - stays) * g
        under = v - np.square(mean) + kind(epsilon)
    step = lr * g / np.sqrt(under)
    if share > 0:
        step = state["momentum"] = kind(share) * state["momentum"] + step
    return step


def ftrl(
    g, w, state: dict[str, Any], lr, most: float, beta: float, ridge: float, power=0.5, more=0.0
) -> Any:
    """Return the new weight by FTRL (McMahan and others, 2013), 0 for sums of gradients up to
    `most`; of the gradient with `more`, only `g` counts for the learning rate.
    """
    before, total = state["accumulator"], state["accumulator"] + np.square(g)
    linear = state["linear"] + (g + more) - (total**power - before**power) / lr * w
    state |= {"accumulator": total, "linear": linear}
    return (np.clip(linear, -most, most) - linear) / ((total**power + beta) / lr + ridge)


def as_long(step, w, low: float | None = None, high: float | None = None) -> Any:
    """Scale a step to the norm of the weight, within limits, as LAMB (You and others, 2019)."""
    size, length = np.linalg.norm(w), np.linalg.norm(step)
    if low is not None or high is not None:
        size = np.clip(size, low, high)
    return step * (size / length if size and length else 1)


def adadelta(g, state: dict[str, Any], rho: float, epsilon: float) -> Any:
    """Step by AdaDelta (Zeiler, 2012); the caller applies the learning rate."""
    stays, eps = g.dtype.type(rho), g.dtype.type(epsilon)
    squares = stays * state["accumulated_grad"] + (1 - stays) * np.square(g)
    steps = state["accumulated_delta_var"]
    step = np.sqrt(steps + eps) * g / np.sqrt(squares + eps)
    state["accumulated_grad"] = squares
    state["accumulated_delta_var"] = stays * steps + (1 - stays) * np.square(step)
    return step


__all__ = defined(globals())
