"""Layer 9 · compat: fixed points, differentiated by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.compat.autograd.primitives import defvjp, primitive
from wengert.compat.autograd.tracing import make_vjp
from wengert.compat.autograd.vspaces import vspace

__all__ = ["fixed_point"]


@primitive
def fixed_point(
    f: Callable[[Any], Callable[[Any], Any]], a, x0, distance: Callable[[Any, Any], Any], tol: float
) -> Any:
    """Return the fixed point ``x = f(a)(x)`` that iteration from `x0` reaches.

    Parameters
    ----------
    f : callable
        Takes the parameters, and returns the function to iterate.
    a
        The parameters: an array, or a nested container. The result is differentiable with respect
        to them.
    x0
        The initial value.
    distance : callable
        Takes two values. The iteration ends when it is at most `tol` for two successive iterates.
    tol : float

    Examples
    --------
    >>> import wengert.compat.autograd.numpy as np
    >>> from wengert.compat.autograd import grad
    >>> from wengert.compat.autograd.misc.fixed_points import fixed_point
    >>> def root(a):
    ...     step = lambda a: lambda x: 0.5 * (x + a / x)
    ...     return fixed_point(step, a, 1.0, lambda x, y: np.abs(x - y), 1e-12)
    >>> round(root(2.0), 12), grad(root)(2.0).round(12)
    (1.414213562373, np.float64(0.353553390593))
    """
    step = f(a)
    x, before = step(x0), x0
    while distance(x, before) > tol:
        x, before = step(x), x
    return x


def _vjp(ans, f, a, x0, distance, tol: float) -> Callable[[Any], Any]:
    by_a, _ = make_vjp(lambda a: f(a)(ans), a)

    def backwards(given) -> Callable[[Any], Any]:
        a, x, g = given
        by_x, _ = make_vjp(f(a), x)
        space = vspace(x)
        return lambda v: space.add(by_x(v), g)

    def vjp(g) -> Any:
        zeros = vspace(x0).zeros()
        return by_a(fixed_point(backwards, (a, ans, g), zeros, distance, tol))

    return vjp


defvjp(fixed_point, None, _vjp, None)
