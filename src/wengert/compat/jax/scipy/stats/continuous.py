"""Layer 9 · compat: the distributions of `jax.scipy.stats` of one number.

Each is said by functions of ``y = (x - loc) / scale`` and its own parameters; ``loc`` and ``scale``
are seen to here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.array import Array
from wengert.compat.jax.numpy.calling import as_operands
from wengert.compat.jax.scipy import special as sp

__all__ = ["DISTRIBUTIONS"]

_LOG_2_PI = math.log(2 * math.pi)
Rule = Callable[..., Any]


def _density(name: str, rule: Rule, count: int) -> Rule:
    """``logpdf`` of a distribution whose standard form has it."""

    def logpdf(x: Any, *args: Any, loc: Any = 0, scale: Any = 1) -> Array:
        own, loc, scale = _apart(args, count, loc, scale)
        x, loc, scale, *own = as_operands(f"{name}.logpdf", x, loc, scale, *own, inexact=True)
        return rule((x - loc) / scale, *own) - jnp.log(scale)

    return logpdf


def _apart(args: tuple[Any, ...], count: int, loc: Any, scale: Any) -> tuple[Any, Any, Any]:
    """The parameters that are the distribution's own, and its location and scale."""
    if not count <= len(args) <= count + 2:
        raise TypeError(f"{count} parameters, loc and scale are taken, but {len(args)} were given")
    rest = args[count:]
    return list(args[:count]), rest[0] if rest else loc, rest[1] if len(rest) > 1 else scale


def _of_value(name: str, rule: Rule, count: int) -> Rule:
    """A function of the standard number."""

    def function(x: Any, *args: Any, loc: Any = 0, scale: Any = 1) -> Array:
        own, loc, scale = _apart(args, count, loc, scale)
        x, loc, scale, *own = as_operands(name, x, loc, scale, *own, inexact=True)
        return rule((x - loc) / scale, *own)

    return function


def _of_quantile(name: str, rule: Rule, count: int) -> Rule:
    """A function that gives the standard number."""

    def function(q: Any, *args: Any, loc: Any = 0, scale: Any = 1) -> Array:
        own, loc, scale = _apart(args, count, loc, scale)
        q, loc, scale, *own = as_operands(name, q, loc, scale, *own, inexact=True)
        return rule(q, *own) * scale + loc

    return function


def _distribution(name: str, count: int, logpdf: Rule, **rules: Rule) -> dict[str, Rule]:
    """The functions of a distribution with `count` parameters of its own."""
    density = _density(name, logpdf, count)

    def pdf(x: Any, *args: Any, **kwargs: Any) -> Array:
        return jnp.exp(density(x, *args, **kwargs))

    made = {"logpdf": density, "pdf": pdf}
    if "cdf" in rules:
        cdf = rules["cdf"]
        rules.setdefault("sf", lambda y, *own: 1 - cdf(y, *own))
        sf = rules["sf"]
        rules.setdefault("logcdf", lambda y, *own: jnp.log(cdf(y, *own)))
        rules.setdefault("logsf", lambda y, *own: jnp.log(sf(y, *own)))
    for key, rule in rules.items():
        kind = _of_quantile if key in ("ppf", "isf") else _of_value
        made[key] = kind(f"{name}.{key}", rule, count)
    return made


def _where(inside: Any, value: Any, other: Any = -math.inf) -> Any:
    return jnp.where(inside, value, other)


def _log_t(y: Any, df: Any) -> Any:
    half = df / 2
    scale = sp.gammaln(half) - sp.gammaln(half + 0.5) + 0.5 * jnp.log(df * math.pi)
    return -scale - (half + 0.5) * jnp.log1p(y * y / df)


def _t_below(y: Any, df: Any) -> Any:
    tail = 0.5 * sp.betainc(df / 2, 0.5 * jnp.ones_like(df), df / (df + y * y))
    return jnp.where(y > 0, 1 - tail, tail)


def _log_beta(y: Any, a: Any, b: Any) -> Any:
    logs = sp.xlogy(a - 1, y) + sp.xlog1py(b - 1, -y) - sp.betaln(a, b)
    return _where((y >= 0) & (y <= 1), logs)


def _log_gamma(y: Any, a: Any) -> Any:
    return _where(y >= 0, sp.xlogy(a - 1, y) - y - sp.gammaln(a))


def _log_chi2(y: Any, df: Any) -> Any:
    return _log_gamma(y / 2, df / 2) - math.log(2)


def _log_truncated(y: Any, a: Any, b: Any) -> Any:
    return _where((y >= a) & (y <= b), -(y * y + _LOG_2_PI) / 2 - _log_mass(a, b))


def _log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the probability of [a, b] in the normal distribution."""
    # in the tail that is above 0, from the other side
    flip = a > 0
    low, high = jnp.where(flip, -b, a), jnp.where(flip, -a, b)
    top, bottom = sp.log_ndtr(high), sp.log_ndtr(low)
    return top + jnp.log1p(-jnp.exp(bottom - top))


def _truncated_below(y: Any, a: Any, b: Any) -> Any:
    inside = jnp.exp(_log_mass(a, jnp.clip(y, a, b)) - _log_mass(a, b))
    return jnp.where(y <= a, 0, jnp.where(y >= b, 1, inside))


def _gennorm_logpdf(x: Any, p: Any) -> Array:
    x, p = as_operands("gennorm.logpdf", x, p, inexact=True)
    return jnp.log(0.5 * p) - sp.gammaln(1 / p) - jnp.abs(x) ** p


def _gennorm_cdf(x: Any, p: Any) -> Array:
    x, p = as_operands("gennorm.cdf", x, p, inexact=True)
    return 0.5 * (1 + jnp.sign(x) * sp.gammainc(1 / p, jnp.abs(x) ** p))


def _vonmises_logpdf(x: Any, kappa: Any) -> Array:
    x, kappa = as_operands("vonmises.logpdf", x, kappa, inexact=True)
    return kappa * (jnp.cos(x) - 1) - jnp.log(2 * math.pi * sp.i0e(kappa))


def _wrapcauchy_logpdf(x: Any, c: Any) -> Array:
    x, c = as_operands("wrapcauchy.logpdf", x, c, inexact=True)
    logs = jnp.log(1 - c * c) - jnp.log(2 * math.pi) - jnp.log(1 + c * c - 2 * c * jnp.cos(x))
    return _where((x >= 0) & (x <= 2 * math.pi), logs)


def _with_pdf(logpdf: Rule) -> dict[str, Rule]:
    return {"logpdf": logpdf, "pdf": lambda *args: jnp.exp(logpdf(*args))}


DISTRIBUTIONS: dict[str, dict[str, Rule]] = {
    "norm": _distribution(
        "norm",
        0,
        lambda y: -(y * y + _LOG_2_PI) / 2,
        cdf=sp.ndtr,
        logcdf=sp.log_ndtr,
        sf=lambda y: sp.ndtr(-y),
        logsf=lambda y: sp.log_ndtr(-y),
        ppf=sp.ndtri,
        isf=lambda q: -sp.ndtri(q),
    ),
    "beta": _distribution(
        "beta",
        2,
        _log_beta,
        cdf=lambda y, a, b: sp.betainc(a, b, jnp.clip(y, 0, 1)),
        sf=lambda y, a, b: sp.betainc(b, a, jnp.clip(1 - y, 0, 1)),
    ),
    "cauchy": _distribution(
        "cauchy",
        0,
        lambda y: -math.log(math.pi) - jnp.log1p(y * y),
        cdf=lambda y: 0.5 + jnp.arctan(y) / math.pi,
        sf=lambda y: 0.5 - jnp.arctan(y) / math.pi,
        ppf=lambda q: jnp.tan(math.pi * q - math.pi / 2),
        isf=lambda q: jnp.tan(math.pi / 2 - math.pi * q),
    ),
    "chi2": _distribution(
        "chi2",
        1,
        _log_chi2,
        cdf=lambda y, df: sp.gammainc(df / 2, jnp.maximum(y, 0) / 2),
        sf=lambda y, df: sp.gammaincc(df / 2, jnp.maximum(y, 0) / 2),
    ),
    "expon": _distribution(
        "expon",
        0,
        lambda y: _where(y >= 0, -y),
        cdf=lambda y: -jnp.expm1(-jnp.maximum(y, 0)),
        sf=lambda y: jnp.exp(-jnp.maximum(y, 0)),
        logsf=lambda y: -jnp.maximum(y, 0),
        ppf=lambda q: -jnp.log1p(-q),
        isf=lambda q: -jnp.log(q),
    ),
    "gamma": _distribution(
        "gamma",
        1,
        _log_gamma,
        cdf=lambda y, a: sp.gammainc(a, jnp.maximum(y, 0)),
        sf=lambda y, a: sp.gammaincc(a, jnp.maximum(y, 0)),
    ),
    "gennorm": {**_with_pdf(_gennorm_logpdf), "cdf": _gennorm_cdf},
    "gumbel_l": _distribution(
        "gumbel_l",
        0,
        lambda y: y - jnp.exp(y),
        cdf=lambda y: -jnp.expm1(-jnp.exp(y)),
        sf=lambda y: jnp.exp(-jnp.exp(y)),
        logsf=lambda y: -jnp.exp(y),
        ppf=lambda q: jnp.log(-jnp.log1p(-q)),
    ),
    "gumbel_r": _distribution(
        "gumbel_r",
        0,
        lambda y: -y - jnp.exp(-y),
        cdf=lambda y: jnp.exp(-jnp.exp(-y)),
        logcdf=lambda y: -jnp.exp(-y),
        sf=lambda y: -jnp.expm1(-jnp.exp(-y)),
        ppf=lambda q: -jnp.log(-jnp.log(q)),
    ),
    "laplace": _distribution(
        "laplace",
        0,
        lambda y: -jnp.abs(y) - math.log(2),
        cdf=lambda y: jnp.where(y <= 0, 0.5 * jnp.exp(-jnp.abs(y)), 1 - 0.5 * jnp.exp(-jnp.abs(y))),
    ),
    "logistic": _distribution(
        "logistic",
        0,
        lambda y: -y - 2 * jnp.logaddexp(0, -y),
        cdf=sp.expit,
        sf=lambda y: sp.expit(-y),
        ppf=sp.logit,
        isf=lambda q: -sp.logit(q),
    ),
    "pareto": _distribution(
        "pareto",
        1,
        lambda y, b: _where(y >= 1, jnp.log(b) - (b + 1) * jnp.log(jnp.where(y >= 1, y, 1))),
        cdf=lambda y, b: jnp.where(y >= 1, 1 - jnp.where(y >= 1, y, 1) ** -b, 0),
        sf=lambda y, b: jnp.where(y >= 1, jnp.where(y >= 1, y, 1) ** -b, 1),
        ppf=lambda q, b: (1 - q) ** (-1 / b),
    ),
    "t": _distribution("t", 1, _log_t, cdf=_t_below, sf=lambda y, df: _t_below(-y, df)),
    "truncnorm": _distribution(
        "truncnorm",
        2,
        _log_truncated,
        cdf=_truncated_below,
        sf=lambda y, a, b: _truncated_below(-y, -b, -a),
    ),
    "uniform": _distribution(
        "uniform",
        0,
        lambda y: _where((y >= 0) & (y <= 1), 0 * y),
        cdf=lambda y: jnp.clip(y, 0, 1),
        ppf=lambda q: _where((q >= 0) & (q <= 1), q, jnp.nan),
    ),
    "vonmises": _with_pdf(_vonmises_logpdf),
    "wrapcauchy": _with_pdf(_wrapcauchy_logpdf),
}
"""The functions of each distribution by name."""
