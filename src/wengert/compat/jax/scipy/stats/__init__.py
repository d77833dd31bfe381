"""Layer 9 · compat: distributions under the names of ``jax.scipy.stats``.

Each is a module of functions: ``logpdf``, ``pdf``, ``cdf``, ... (``logpmf``, ``pmf`` for integers),
differentiable in the arguments in which the distribution is continuous.

>>> jax.scipy.stats.norm.logpdf(0.0)
Array(-0.9189385, dtype=float32, weak_type=True)
"""

from __future__ import annotations

import math
import sys
from collections import namedtuple
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.numpy.calling import as_operands, operands
from wengert.compat.jax.scipy import special as sp
from wengert.compat.jax.scipy.linalg import solve_triangular
from wengert.compat.jax.typing import Array
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import closed
from wengert.scipy.densities import Functions, functions

ModeResult = namedtuple("ModeResult", "mode count")


def _normal_logpdf(x, mean, cov, allow_singular=None) -> Array:
    if allow_singular is not None:
        raise NotImplementedError("allow_singular argument of multivariate_normal.logpdf")
    x, mean, cov = as_operands("multivariate_normal.logpdf", x, mean, cov, inexact=True)
    if not mean.ndim:
        return -0.5 * jnp.square(x - mean) / cov - 0.5 * (math.log(2 * math.pi) + jnp.log(cov))
    n = mean.shape[-1]
    if not cov.ndim:
        y = x - mean
        square = jnp.einsum("...i,...i->...", y, y) / cov
        return -0.5 * square - n / 2 * (math.log(2 * math.pi) + jnp.log(cov))
    if cov.ndim < 2 or tuple(cov.shape[-2:]) != (n, n):
        raise ValueError("multivariate_normal.logpdf got incompatible shapes")
    factor = jnp.linalg.cholesky(cov)
    y = x - mean
    wide = np.broadcast_shapes(tuple(y.shape[:-1]), tuple(factor.shape[:-2]))
    columns = jnp.broadcast_to(y, (*wide, n))[..., None]
    rows = jnp.broadcast_to(factor, (*wide, n, n))
    y = solve_triangular(rows, columns, lower=True)[..., 0]
    logs = jnp.log(jnp.diagonal(factor, axis1=-1, axis2=-2)).sum(-1)
    return -0.5 * jnp.einsum("...i,...i->...", y, y) - n / 2 * math.log(2 * math.pi) - logs


def _normal_pdf(x, mean, cov) -> Array:
    return jnp.exp(_normal_logpdf(x, mean, cov))


def _dirichlet_logpdf(x, alpha) -> Array:
    x, alpha = as_operands("dirichlet.logpdf", x, alpha, inexact=True)
    if alpha.ndim != 1:
        raise ValueError(f"`alpha` must be one-dimensional; got alpha.shape={tuple(alpha.shape)}")
    if x.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise refusal(ValueError, "`x` must have either the", x, alpha)
    if x.shape[0] != alpha.shape[0]:
        x = jnp.concatenate([x, 1 - x.sum(0, keepdims=True)])
    constant = sp.gammaln(alpha).sum() - sp.gammaln(alpha.sum())
    powers = alpha.reshape((-1,) + (1,) * (x.ndim - 1))
    logs = sp.xlogy(powers - 1, x).sum(0) - constant
    inside = (x > 0).all(0) & (jnp.abs(x.sum(0) - 1) < 1e-6)
    return jnp.where(inside, logs, -math.inf)


def _dirichlet_pdf(x, alpha) -> Array:
    return jnp.exp(_dirichlet_logpdf(x, alpha))


def _multinomial_logpmf(x, n, p) -> Array:
    x, n, p = as_operands("multinomial.logpmf", x, n, p, inexact=True)
    logs = sp.gammaln(n + 1) + (sp.xlogy(x, p) - sp.gammaln(x + 1)).sum(-1)
    return jnp.where(x.sum(-1) == n, logs, -math.inf)


def _multinomial_pmf(x, n, p) -> Array:
    return jnp.exp(_multinomial_logpmf(x, n, p))


def sem(
    a, axis=0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False
) -> Array:
    """Return the standard error of the mean."""
    (x,) = as_operands("sem", a, inexact=True)
    if nan_policy not in ("propagate", "omit"):
        raise ValueError(f"nan_policy={nan_policy!r}: 'propagate' and 'omit' are there")
    if axis is None:
        x, axis = x.reshape(-1), 0
    if nan_policy == "omit":
        count = jnp.sum(~jnp.isnan(x), axis, keepdims=keepdims)
        return jnp.nanstd(x, axis, ddof=ddof, keepdims=keepdims) / jnp.sqrt(count.astype(x.dtype))
    return jnp.std(x, axis, ddof=ddof, keepdims=keepdims) / math.sqrt(x.shape[axis])


def _check_policy(name: str, policy: str) -> None:
    if policy in ("omit", "raise"):
        raise NotImplementedError(f"{name} with nan_policy={policy!r}: only 'propagate' is there")
    if policy != "propagate":
        raise ValueError(f"Illegal nan_policy value {policy!r}; expected 'propagate'")


def mode(a, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False) -> Any:
    """Return the most frequent value (the least in a tie) and its count."""
    _check_policy("mode", nan_policy)
    (x,) = operands("mode", a)
    whole, dimensions = axis is None, x.ndim
    if axis is None:
        x, axis = x.reshape(-1), 0
    lines = jnp.moveaxis(x, axis, -1)
    ordered = jnp.sort(lines, -1)
    counts = (ordered[..., :, None] == ordered[..., None, :]).sum(-1)
    best = jnp.argmax(counts, -1, keepdims=True)
    found = [jnp.take_along_axis(part, best, -1) for part in (ordered, counts)]
    found = [jnp.moveaxis(part, -1, axis) for part in found]
    if not keepdims:
        found = [jnp.squeeze(part, axis) for part in found]
    elif whole:
        found = [part.reshape((1,) * dimensions) for part in found]
    return ModeResult(*found)


def rankdata(
    a, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Array:
    """Return the ranks of elements, from 1, with ties resolved by `method`."""
    _check_policy("rankdata", nan_policy)
    (x,) = operands("rankdata", a)
    if axis is None:
        x, axis = x.reshape(-1), 0
    lines = jnp.moveaxis(x, axis, -1)
    less = (lines[..., None, :] < lines[..., :, None]).sum(-1)
    same = (lines[..., None, :] == lines[..., :, None]).sum(-1)
    if method == "ordinal":
        found = jnp.argsort(jnp.argsort(lines, -1), -1) + 1
    elif method == "min":
        found = less + 1
    elif method == "max":
        found = less + same
    elif method == "average":
        found = less + (same + 1) / 2
    elif method == "dense":
        ordered = jnp.sort(lines, -1)
        first = jnp.concatenate(
            [jnp.ones_like(ordered[..., :1], dtype=bool), ordered[..., 1:] != ordered[..., :-1]], -1
        )
        at = (lines[..., None, :] <= lines[..., :, None]).sum(-1) - 1
        found = jnp.take_along_axis(jnp.cumsum(first, -1), at, -1)
    else:
        raise ValueError(f"unknown method '{method}'")
    found = jnp.where(jnp.isnan(lines).any(-1, keepdims=True), jnp.nan, found.astype(float))
    return jnp.moveaxis(found, -1, axis)


_NAMES = (
    "norm beta cauchy chi2 expon gamma gennorm gumbel_l gumbel_r laplace logistic pareto t "
    "truncnorm uniform vonmises wrapcauchy bernoulli betabinom binom geom nbinom poisson"
)
"""Distributions of a single variable come from a table: NOTE [densities]."""
_F = Functions(jnp, sp, partial(as_operands, inexact=True))

DISTRIBUTIONS: dict[str, dict[str, Callable[..., Any]]] = {
    **{name: functions(name, _F) for name in _NAMES.split()},
    "dirichlet": {"logpdf": _dirichlet_logpdf, "pdf": _dirichlet_pdf},
    "multinomial": {"logpmf": _multinomial_logpmf, "pmf": _multinomial_pmf},
    "multivariate_normal": {"logpdf": _normal_logpdf, "pdf": _normal_pdf},
}
"""The functions of each distribution by name."""


def _module(name: str, functions: dict[str, Any]) -> ModuleType:
    """Build a module of functions that can be imported from."""
    made = ModuleType(f"{__name__}.{name}", f"The distribution `{name}`: {', '.join(functions)}.")
    for key, function in functions.items():
        function.__name__ = function.__qualname__ = key
        function.__module__ = made.__name__
        function.__doc__ = f"``{key}`` of the distribution `{name}`: see `scipy.stats.{name}`."
        setattr(made, key, function)
    sys.modules[made.__name__] = made
    return made


_MODULES = {name: _module(name, functions) for name, functions in DISTRIBUTIONS.items()}
globals().update(_MODULES)
__getattr__ = closed(globals(), later="kde: gaussian_kde")


def __dir__() -> list[str]:
    return sorted([*_MODULES, "gaussian_kde", "mode", "rankdata", "sem"])
