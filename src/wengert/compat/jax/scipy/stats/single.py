"""Layer 9 · compat: the distributions of `jax.scipy.stats` of one number, from a table.

The table is `wengert.scipy.densities`: NOTE [densities].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.numpy.calling import as_operands
from wengert.compat.jax.scipy import special
from wengert.scipy.densities import Functions, functions

__all__ = ["DISTRIBUTIONS"]

_NAMES = (
    "norm beta cauchy chi2 expon gamma gennorm gumbel_l gumbel_r laplace logistic pareto t "
    "truncnorm uniform vonmises wrapcauchy bernoulli betabinom binom geom nbinom poisson"
)
_F = Functions(jnp, special, partial(as_operands, inexact=True))

DISTRIBUTIONS: dict[str, dict[str, Callable[..., Any]]] = {
    name: functions(name, _F) for name in _NAMES.split()
}
"""The functions of each distribution by name."""
