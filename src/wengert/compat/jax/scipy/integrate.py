"""Layer 9 · compat: ``jax.scipy.integrate``."""

from __future__ import annotations

from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.base.sections import fill_sections

__all__ = ["trapezoid"]


def trapezoid(y, x=None, dx=1.0, axis: int = -1) -> Any:
    """The integral of values between which lines are drawn; differentiable by all of them.

    Examples
    --------
    >>> jax.scipy.integrate.trapezoid(jax.numpy.arange(3.0))
    Array(2., dtype=float32)
    """
    return jnp.trapezoid(y, x, dx, axis)


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'jax.scipy.integrate' has no attribute {name!r}: wengert.integrate has solvers of "
        "differential equations with derivatives"
    )


fill_sections(globals())
