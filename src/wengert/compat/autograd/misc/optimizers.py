"""Layer 9 · compat: stochastic gradient descent in three variants, over nested containers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert.compat.autograd.numpy as np
from wengert.compat.autograd.misc.flatten import flatten
from wengert.compat.autograd.wrap_util import wraps
from wengert.compat.kit.namespaces import defined

Optimizer = Callable[..., Any]


def unflatten_optimizer(optimize: Optimizer) -> Optimizer:
    """Make an optimizer of vectors work on nested containers of arrays.

    Parameters
    ----------
    optimize : callable. ``optimize(grad, x0, callback, *args, **kwargs)``, on vectors.

    Returns
    -------
    callable: The same optimizer on containers: ``grad(x, i)`` takes and returns them, and
        ``callback(x, i, g)`` takes them.
    """

    @wraps(optimize)
    def of_containers(
        grad: Callable[[Any, int], Any],
        x0,
        callback: Callable[[Any, int, Any], Any] | None = None,
        *args,
        **kwargs,
    ) -> Any:
        start, unflatten = flatten(x0)

        def of_vectors(x, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def shown(x, i: int, g) -> None:
            if callback is not None:
                callback(unflatten(x), i, unflatten(g))

        back = None if callback is None else shown
        return unflatten(optimize(of_vectors, start, back, *args, **kwargs))

    return of_containers


def _gone(grad, x, callback, num_iters: int, step: Callable[..., Any]) -> Any:
    """Return the point after all steps; ``step(x, g, i)`` returns the next point."""
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        x = step(x, g, i)
    return x


@unflatten_optimizer
def sgd(grad, x, callback=None, num_iters=200, step_size=0.1, mass=0.9) -> Any:
    """Minimize by gradient descent with momentum; ``grad(x, i)`` receives the step number.

    Examples
    --------
    >>> from wengert.compat.autograd.misc.optimizers import sgd
    >>> sgd(lambda x, i: 2 * (x - 3.0), 0.0, num_iters=500).round(6)
    np.float64(3.0)
    """
    velocity = np.zeros(len(x))

    def step(x, g, i: int) -> Any:
        nonlocal velocity
        velocity = mass * velocity - (1.0 - mass) * g
        return x + step_size * velocity

    return _gone(grad, x, callback, num_iters, step)


@unflatten_optimizer
def rmsprop(grad, x, callback=None, num_iters=100, step_size=0.1, gamma=0.9, eps=1e-8) -> Any:
    """Minimize by RMSProp: divide steps by the root of a running mean of squared gradients."""
    squares = np.ones(len(x))

    def step(x, g, i: int) -> Any:
        nonlocal squares
        squares = gamma * squares + (1.0 - gamma) * g**2
        return x - step_size * g / (np.sqrt(squares) + eps)

    return _gone(grad, x, callback, num_iters, step)


@unflatten_optimizer
def adam(grad, x, callback=None, num_iters=100, step_size=0.001, b1=0.9, b2=0.999, eps=1e-8) -> Any:
    """Minimize by Adam (Kingma and Ba, 2014)."""
    mean, squares = np.zeros(len(x)), np.zeros(len(x))

    def step(x, g, i: int) -> Any:
        nonlocal mean, squares
        mean = b1 * mean + (1.0 - b1) * g
        squares = b2 * squares + (1.0 - b2) * g**2
        scale = np.sqrt(squares / (1.0 - b2 ** (i + 1))) + eps
        return x - step_size * (mean / (1.0 - b1 ** (i + 1))) / scale

    return _gone(grad, x, callback, num_iters, step)


__all__ = defined(globals())
