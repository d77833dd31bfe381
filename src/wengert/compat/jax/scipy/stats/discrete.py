"""Layer 9 · compat: the distributions of `jax.scipy.stats` of whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.array import Array
from wengert.compat.jax.numpy.calling import as_operands
from wengert.compat.jax.scipy import special as sp

__all__ = ["DISTRIBUTIONS"]

Rule = Callable[..., Any]


def _distribution(name: str, count: int, logpmf: Rule, **rules: Rule) -> dict[str, Rule]:
    """The functions of a distribution with `count` parameters, and then ``loc``."""

    def logs(k: Any, *args: Any, loc: Any = 0) -> Array:
        own, loc = _apart(args, count, loc)
        k, loc, *own = as_operands(f"{name}.logpmf", k, loc, *own, inexact=True)
        return logpmf(k - loc, *own)

    def pmf(k: Any, *args: Any, loc: Any = 0) -> Array:
        return jnp.exp(logs(k, *args, loc=loc))

    made = {"logpmf": logs, "pmf": pmf}
    for key, rule in rules.items():
        made[key] = _of_number(f"{name}.{key}", rule, count, key == "ppf")
    return made


def _of_number(name: str, rule: Rule, count: int, quantile: bool) -> Rule:
    def function(k: Any, *args: Any, loc: Any = 0) -> Array:
        own, loc = _apart(args, count, loc)
        k, loc, *own = as_operands(name, k, loc, *own, inexact=True)
        return rule(k, *own) + loc if quantile else rule(k - loc, *own)

    return function


def _apart(args: tuple[Any, ...], count: int, loc: Any) -> tuple[list[Any], Any]:
    if not count <= len(args) <= count + 1:
        raise TypeError(f"{count} parameters and loc are taken, but {len(args)} were given")
    return list(args[:count]), args[count] if len(args) > count else loc


def _counts(k: Any) -> Any:
    """`k` where it is a count, and 0 elsewhere."""
    return jnp.where(_is_count(k), k, 0)


def _is_count(k: Any) -> Any:
    return (k >= 0) & (jnp.floor(k) == k)


def _log_bernoulli(k: Any, p: Any) -> Any:
    logs = sp.xlogy(k, p) + sp.xlog1py(1 - k, -p)
    return jnp.where((k == 0) | (k == 1), logs, -math.inf)


def _log_choices(n: Any, k: Any) -> Any:
    return sp.gammaln(n + 1) - sp.gammaln(k + 1) - sp.gammaln(n - k + 1)


def _log_binom(k: Any, n: Any, p: Any) -> Any:
    inside = _is_count(k) & (k <= n)
    k = jnp.where(inside, k, 0)
    logs = _log_choices(n, k) + sp.xlogy(k, p) + sp.xlog1py(n - k, -p)
    return jnp.where(inside, logs, -math.inf)


def _log_nbinom(k: Any, n: Any, p: Any) -> Any:
    inside, k = _is_count(k), _counts(k)
    choices = sp.gammaln(k + n) - sp.gammaln(n) - sp.gammaln(k + 1)
    return jnp.where(inside, choices + sp.xlogy(n, p) + sp.xlog1py(k, -p), -math.inf)


def _log_betabinom(k: Any, n: Any, a: Any, b: Any) -> Any:
    inside = _is_count(k) & (k <= n)
    k = jnp.where(inside, k, 0)
    logs = _log_choices(n, k) + sp.betaln(k + a, n - k + b) - sp.betaln(a, b)
    return jnp.where(inside, logs, -math.inf)


def _log_geom(k: Any, p: Any) -> Any:
    inside = _is_count(k) & (k >= 1)
    return jnp.where(inside, sp.xlog1py(jnp.where(inside, k, 1) - 1, -p) + jnp.log(p), -math.inf)


def _log_poisson(k: Any, mu: Any) -> Any:
    inside, k = _is_count(k), _counts(k)
    return jnp.where(inside, sp.xlogy(k, mu) - sp.gammaln(k + 1) - mu, -math.inf)


def _poisson_below(k: Any, mu: Any) -> Any:
    count = jnp.maximum(jnp.floor(k), 0)
    return jnp.where(k >= 0, sp.gammaincc(count + 1, mu), 0)


DISTRIBUTIONS: dict[str, dict[str, Rule]] = {
    "bernoulli": _distribution(
        "bernoulli",
        1,
        _log_bernoulli,
        cdf=lambda k, p: jnp.where(k < 0, 0, jnp.where(k < 1, 1 - p, 1)),
        ppf=lambda q, p: jnp.where((q < 0) | (q > 1), jnp.nan, jnp.where(q <= 1 - p, 0.0, 1.0)),
    ),
    "betabinom": _distribution("betabinom", 3, _log_betabinom),
    "binom": _distribution("binom", 2, _log_binom),
    "geom": _distribution("geom", 1, _log_geom),
    "nbinom": _distribution("nbinom", 2, _log_nbinom),
    "poisson": _distribution("poisson", 1, _log_poisson, cdf=_poisson_below),
}
"""The functions of each distribution by name."""
