"""Layer 9 · compat: `jax.experimental.ode`: the solver of `wengert.integrate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import integrate
from wengert.compat.jax.array import asarray
from wengert.compat.jax.batching import vmap
from wengert.compat.jax.flatten_util import ravel_pytree
from wengert.compat.jax.numpy.calling import finished, plain
from wengert.compat.jax.tracing import argument
from wengert.compat.jax.trees import tree_flatten
from wengert.compat.kit.namespaces import defined


def odeint(
    func: Callable[..., Any], y0, t, *args, rtol=1.4e-8, atol=1.4e-8, mxstep=np.inf, hmax=np.inf
) -> Any:
    """Integrate ``dy/dt = func(y, t, *args)`` from ``t[0]`` on; differentiable in all arguments.

    Parameters
    ----------
    func : callable. Returns the derivative in the structure of the state.
    y0 : array_like or pytree. The state at ``t[0]``.
    t : array_like. The times, in ascending or descending order.
    *args: Further arguments of `func`, which may be pytrees.
    rtol, atol : float. The tolerances of each step.
    mxstep : float. Ignored: an integration that makes no progress raises.
    hmax : float. The longest step.

    Returns
    -------
    Array or pytree: The states, with a new first dimension for the times.

    Examples
    --------
    >>> from wengert.compat.jax.experimental.ode import odeint
    >>> times = jax.numpy.array([0.0, 1.0])
    >>> jax.grad(lambda k: odeint(lambda y, t, k: -k * y, 1.0, times, k)[1])(2.0)
    Array(-0.1353353, dtype=float32, weak_type=True)
    """
    state, unravel = ravel_pytree(y0)
    leaves, structure = tree_flatten(args)

    def field(y, time, *given) -> Any:
        more = structure.unflatten([asarray(leaf) for leaf in given])
        slope, _ = ravel_pytree(func(unravel(asarray(y)), asarray(time), *more))
        return plain(slope)

    options: dict[str, Any] = {} if np.isinf(hmax) else {"max_step": float(hmax)}
    given = tuple(plain(argument(leaf)) for leaf in leaves)
    states = integrate.odeint(
        field, plain(state), plain(argument(t)), given, rtol=rtol, atol=atol, **options
    )
    return vmap(unravel)(finished(states))


__all__ = defined(globals())
