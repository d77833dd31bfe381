"""Layer 9 · compat: ``jax.scipy.integrate``."""

from __future__ import annotations

from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.kit.namespaces import closed

__all__ = ["trapezoid"]


def trapezoid(y, x=None, dx=1.0, axis=-1) -> Any:
    """Integrate by the trapezoidal rule; differentiable in all arguments.

    Examples
    --------
    >>> jax.scipy.integrate.trapezoid(jax.numpy.arange(3.0))
    Array(2., dtype=float32)
    """
    return jnp.trapezoid(y, x, dx, axis)


__getattr__ = closed(globals())
