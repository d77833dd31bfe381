"""Layer 8 · scipy: densities and distribution functions of SciPy's distributions, as a table.

NOTE [densities]
A row defines a distribution by functions of ``y = (x - loc) / scale``, or of a count ``k - loc``,
and of its shape parameters: its log-density, its distribution function, functions for which
deriving from these would lose accuracy, and quantiles if there is a formula. Rules are written
against namespaces: `F.np` has NumPy's functions, `F.sp` those of `scipy.special`, so one table
serves `wengert.scipy.stats` and the idioms. `functions` makes SciPy's functions from a row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

LOG_2_PI = math.log(2 * math.pi)
Rule = Callable[..., Any]


class Functions(NamedTuple):
    """The functions that rules are written with.

    Attributes
    ----------
    np, sp: The namespaces of NumPy's functions and of `scipy.special`'s.
    operands: ``operands(name, *values)``, the values as arrays of one dtype.
    """

    np: Any
    sp: Any
    operands: Callable[..., Any]


class Row(NamedTuple):
    """One distribution.

    Attributes
    ----------
    own: The number of its shape parameters.
    density: Its log-density, or the logarithm of its probabilities.
    whole: Whether it is a distribution of integers, without a scale.
    rules: Its other functions, by SciPy's names.
    """

    own: int
    density: Rule
    whole: bool
    rules: dict[str, Rule]


def continuous(count: int, density: Rule, **rules: Rule) -> Row:
    """Define a distribution of real numbers."""
    return Row(count, density, False, rules)


def discrete(count: int, density: Rule, **rules: Rule) -> Row:
    """Define a distribution of integers."""
    return Row(count, density, True, rules)


def functions(name: str, F: Functions, row: Row | None = None) -> dict[str, Rule]:
    """Return the functions of a distribution, by SciPy's names.

    Parameters
    ----------
    F: The functions that they are computed with.
    row: The distribution; `TABLE` has it by its name.
    """
    row = TABLE[name] if row is None else row
    log, exp = ("logpmf", "pmf") if row.whole else ("logpdf", "pdf")
    made = {log: _function(f"{name}.{log}", row, row.density, F, "density")}
    density = made[log]

    def plain(x: Any, *args: Any, **kwargs: Any) -> Any:
        return F.np.exp(density(x, *args, **kwargs))

    made[exp] = plain
    for key, rule in _derived(row).items():
        kind = "quantile" if key in ("ppf", "isf") else "value"
        made[key] = _function(f"{name}.{key}", row, rule, F, kind)
    return made


def _derived(row: Row) -> dict[str, Rule]:
    """Return the rules of a distribution, and what follows from the distribution function."""
    rules = dict(row.rules)
    cdf = rules.get("cdf")
    if cdf is not None and not row.whole:
        sf = rules.setdefault("sf", lambda F, y, *own: 1 - cdf(F, y, *own))
        rules.setdefault("logcdf", lambda F, y, *own: F.np.log(cdf(F, y, *own)))
        rules.setdefault("logsf", lambda F, y, *own: F.np.log(sf(F, y, *own)))
    return rules


def _function(name: str, row: Row, rule: Rule, F: Functions, kind: str) -> Rule:
    most = row.own + (1 if row.whole else 2)

    def function(x: Any, *args: Any, loc: Any = 0, scale: Any = 1) -> Any:
        if not row.own <= len(args) <= most:
            raise TypeError(
                f"{name}() takes {row.own} parameters, loc and scale, but {len(args)} were given"
            )
        own, rest = args[: row.own], args[row.own :]
        loc = rest[0] if rest else loc
        scale = rest[1] if len(rest) > 1 else scale
        if row.whole:
            x, loc, *own = F.operands(name, x, loc, *own)
            return rule(F, x, *own) + loc if kind == "quantile" else rule(F, x - loc, *own)
        x, loc, scale, *own = F.operands(name, x, loc, scale, *own)
        if kind == "quantile":
            return rule(F, x, *own) * scale + loc
        found = rule(F, (x - loc) / scale, *own)
        return found - F.np.log(scale) if kind == "density" else found

    return function


# -- rules -----------------------------------------------------------------------------------------


def inside(F: Any, within: Any, value: Any, other: Any = -math.inf) -> Any:
    """Return `value` where it is `within` the support, and `other` elsewhere."""
    return F.np.where(within, value, other)


def _log_t(F: Any, y: Any, df: Any) -> Any:
    half = df / 2
    scale = F.sp.gammaln(half) - F.sp.gammaln(half + 0.5) + 0.5 * F.np.log(df * math.pi)
    return -scale - (half + 0.5) * F.np.log1p(y * y / df)


def _t_below(F: Any, y: Any, df: Any) -> Any:
    tail = 0.5 * F.sp.betainc(df / 2, 0.5 * F.np.ones_like(df), df / (df + y * y))
    return F.np.where(y > 0, 1 - tail, tail)


def _log_beta(F: Any, y: Any, a: Any, b: Any) -> Any:
    within = (y >= 0) & (y <= 1)
    y = F.np.where(within, y, 0.5)
    logs = F.sp.xlogy(a - 1, y) + F.sp.xlog1py(b - 1, -y) - F.sp.betaln(a, b)
    return inside(F, within, logs)


def _log_gamma(F: Any, y: Any, a: Any) -> Any:
    within = y >= 0
    y = F.np.where(within, y, 1)
    return inside(F, within, F.sp.xlogy(a - 1, y) - y - F.sp.gammaln(a))


def _log_chi2(F: Any, y: Any, df: Any) -> Any:
    return _log_gamma(F, y / 2, df / 2) - math.log(2)


def _log_truncated(F: Any, y: Any, a: Any, b: Any) -> Any:
    return inside(F, (y >= a) & (y <= b), -(y * y + LOG_2_PI) / 2 - _log_mass(F, a, b))


def _log_mass(F: Any, a: Any, b: Any) -> Any:
    """Return the logarithm of the probability of [a, b] in the normal distribution."""
    # mirror the upper tail to the lower one
    flip = a > 0
    low, high = F.np.where(flip, -b, a), F.np.where(flip, -a, b)
    top, bottom = F.sp.log_ndtr(high), F.sp.log_ndtr(low)
    return top + F.np.log1p(-F.np.exp(bottom - top))


def _truncated_below(F: Any, y: Any, a: Any, b: Any) -> Any:
    within = F.np.exp(_log_mass(F, a, F.np.clip(y, a, b)) - _log_mass(F, a, b))
    return F.np.where(y <= a, 0, F.np.where(y >= b, 1, within))


def _log_vonmises(F: Any, y: Any, kappa: Any) -> Any:
    return kappa * (F.np.cos(y) - 1) - F.np.log(2 * math.pi * F.sp.i0e(kappa))


def _log_wrapcauchy(F: Any, y: Any, c: Any) -> Any:
    logs = F.np.log(1 - c * c) - LOG_2_PI - F.np.log(1 + c * c - 2 * c * F.np.cos(y))
    return inside(F, (y >= 0) & (y <= 2 * math.pi), logs)


def counts(F: Any, k: Any) -> Any:
    """Return `k` where it is a count, and 0 elsewhere."""
    return F.np.where(is_count(F, k), k, 0)


def is_count(F: Any, k: Any) -> Any:
    """Return where `k` is an integer of at least 0."""
    return (k >= 0) & (F.np.floor(k) == k)


def _log_bernoulli(F: Any, k: Any, p: Any) -> Any:
    logs = F.sp.xlogy(k, p) + F.sp.xlog1py(1 - k, -p)
    return F.np.where((k == 0) | (k == 1), logs, -math.inf)


def _log_choices(F: Any, n: Any, k: Any) -> Any:
    return F.sp.gammaln(n + 1) - F.sp.gammaln(k + 1) - F.sp.gammaln(n - k + 1)


def _log_binom(F: Any, k: Any, n: Any, p: Any) -> Any:
    within = is_count(F, k) & (k <= n)
    k = F.np.where(within, k, 0)
    logs = _log_choices(F, n, k) + F.sp.xlogy(k, p) + F.sp.xlog1py(n - k, -p)
    return F.np.where(within, logs, -math.inf)


def _log_nbinom(F: Any, k: Any, n: Any, p: Any) -> Any:
    within, k = is_count(F, k), counts(F, k)
    choices = F.sp.gammaln(k + n) - F.sp.gammaln(n) - F.sp.gammaln(k + 1)
    return F.np.where(within, choices + F.sp.xlogy(n, p) + F.sp.xlog1py(k, -p), -math.inf)


def _log_betabinom(F: Any, k: Any, n: Any, a: Any, b: Any) -> Any:
    within = is_count(F, k) & (k <= n)
    k = F.np.where(within, k, 0)
    logs = _log_choices(F, n, k) + F.sp.betaln(k + a, n - k + b) - F.sp.betaln(a, b)
    return F.np.where(within, logs, -math.inf)


def _log_geom(F: Any, k: Any, p: Any) -> Any:
    within = is_count(F, k) & (k >= 1)
    return F.np.where(
        within, F.sp.xlog1py(F.np.where(within, k, 1) - 1, -p) + F.np.log(p), -math.inf
    )


def _log_poisson(F: Any, k: Any, mu: Any) -> Any:
    within, k = is_count(F, k), counts(F, k)
    return F.np.where(within, F.sp.xlogy(k, mu) - F.sp.gammaln(k + 1) - mu, -math.inf)


def _poisson_below(F: Any, k: Any, mu: Any) -> Any:
    count = F.np.maximum(F.np.floor(k), 0)
    return F.np.where(k >= 0, F.sp.gammaincc(count + 1, mu), 0)


def _share(F: Any, part: Any, rest: Any) -> Any:
    return part / (part + rest)


def positive(F: Any, y: Any) -> Any:
    """Return `y` where it is above 0, and 1 elsewhere."""
    return F.np.where(y > 0, y, 1)


def _log_lognorm(F: Any, y: Any, s: Any) -> Any:
    log = F.np.log(positive(F, y))
    return inside(F, y > 0, -(F.np.square(log / s) + LOG_2_PI) / 2 - log - F.np.log(s))


def _log_weibull(F: Any, y: Any, c: Any) -> Any:
    size = F.np.where(y >= 0, y, 1)
    return inside(F, y >= 0, F.np.log(c) + F.sp.xlogy(c - 1, size) - size**c)


def _log_invgamma(F: Any, y: Any, a: Any) -> Any:
    size = positive(F, y)
    return inside(F, y > 0, -(a + 1) * F.np.log(size) - 1 / size - F.sp.gammaln(a))


def _log_f(F: Any, y: Any, n: Any, m: Any) -> Any:
    size = F.np.where(y >= 0, y, 1)
    logs = (n * F.np.log(n) + m * F.np.log(m) - (n + m) * F.np.log(m + n * size)) / 2
    logs = logs + F.sp.xlogy(n / 2 - 1, size) - F.sp.betaln(n / 2, m / 2)
    return inside(F, y >= 0, logs)


def _log_rayleigh(F: Any, y: Any) -> Any:
    return inside(F, y > 0, F.np.log(positive(F, y)) - y * y / 2)


def _log_powerlaw(F: Any, y: Any, a: Any) -> Any:
    within = (y >= 0) & (y <= 1) & ((y > 0) | (a >= 1))
    return inside(F, within, F.np.log(a) + F.sp.xlogy(a - 1, F.np.where(within, y, 1)))


TABLE: dict[str, Row] = {
    "norm": continuous(
        0,
        lambda F, y: -(y * y + LOG_2_PI) / 2,
        cdf=lambda F, y: F.sp.ndtr(y),
        logcdf=lambda F, y: F.sp.log_ndtr(y),
        sf=lambda F, y: F.sp.ndtr(-y),
        logsf=lambda F, y: F.sp.log_ndtr(-y),
        ppf=lambda F, y: F.sp.ndtri(y),
        isf=lambda F, q: -F.sp.ndtri(q),
    ),
    "beta": continuous(
        2,
        _log_beta,
        cdf=lambda F, y, a, b: F.sp.betainc(a, b, F.np.clip(y, 0, 1)),
        sf=lambda F, y, a, b: F.sp.betainc(b, a, F.np.clip(1 - y, 0, 1)),
    ),
    "cauchy": continuous(
        0,
        lambda F, y: -math.log(math.pi) - F.np.log1p(y * y),
        cdf=lambda F, y: 0.5 + F.np.arctan(y) / math.pi,
        sf=lambda F, y: 0.5 - F.np.arctan(y) / math.pi,
        ppf=lambda F, q: F.np.tan(math.pi * q - math.pi / 2),
        isf=lambda F, q: F.np.tan(math.pi / 2 - math.pi * q),
    ),
    "chi2": continuous(
        1,
        _log_chi2,
        cdf=lambda F, y, df: F.sp.gammainc(df / 2, F.np.maximum(y, 0) / 2),
        sf=lambda F, y, df: F.sp.gammaincc(df / 2, F.np.maximum(y, 0) / 2),
    ),
    "expon": continuous(
        0,
        lambda F, y: inside(F, y >= 0, -y),
        cdf=lambda F, y: -F.np.expm1(-F.np.maximum(y, 0)),
        sf=lambda F, y: F.np.exp(-F.np.maximum(y, 0)),
        logsf=lambda F, y: -F.np.maximum(y, 0),
        ppf=lambda F, q: -F.np.log1p(-q),
        isf=lambda F, q: -F.np.log(q),
    ),
    "gamma": continuous(
        1,
        _log_gamma,
        cdf=lambda F, y, a: F.sp.gammainc(a, F.np.maximum(y, 0)),
        sf=lambda F, y, a: F.sp.gammaincc(a, F.np.maximum(y, 0)),
    ),
    "gennorm": continuous(
        1,
        lambda F, y, p: F.np.log(0.5 * p) - F.sp.gammaln(1 / p) - F.np.abs(y) ** p,
        cdf=lambda F, y, p: 0.5 * (1 + F.np.sign(y) * F.sp.gammainc(1 / p, F.np.abs(y) ** p)),
    ),
    "gumbel_l": continuous(
        0,
        lambda F, y: y - F.np.exp(y),
        cdf=lambda F, y: -F.np.expm1(-F.np.exp(y)),
        sf=lambda F, y: F.np.exp(-F.np.exp(y)),
        logsf=lambda F, y: -F.np.exp(y),
        ppf=lambda F, q: F.np.log(-F.np.log1p(-q)),
    ),
    "gumbel_r": continuous(
        0,
        lambda F, y: -y - F.np.exp(-y),
        cdf=lambda F, y: F.np.exp(-F.np.exp(-y)),
        logcdf=lambda F, y: -F.np.exp(-y),
        sf=lambda F, y: -F.np.expm1(-F.np.exp(-y)),
        ppf=lambda F, q: -F.np.log(-F.np.log(q)),
    ),
    "laplace": continuous(
        0,
        lambda F, y: -F.np.abs(y) - math.log(2),
        cdf=lambda F, y: F.np.where(
            y <= 0, 0.5 * F.np.exp(-F.np.abs(y)), 1 - 0.5 * F.np.exp(-F.np.abs(y))
        ),
    ),
    "logistic": continuous(
        0,
        lambda F, y: -y - 2 * F.np.logaddexp(0, -y),
        cdf=lambda F, y: F.sp.expit(y),
        sf=lambda F, y: F.sp.expit(-y),
        ppf=lambda F, y: F.sp.logit(y),
        isf=lambda F, q: -F.sp.logit(q),
    ),
    "pareto": continuous(
        1,
        lambda F, y, b: inside(
            F, y >= 1, F.np.log(b) - (b + 1) * F.np.log(F.np.where(y >= 1, y, 1))
        ),
        cdf=lambda F, y, b: F.np.where(y >= 1, 1 - F.np.where(y >= 1, y, 1) ** -b, 0),
        sf=lambda F, y, b: F.np.where(y >= 1, F.np.where(y >= 1, y, 1) ** -b, 1),
        ppf=lambda F, q, b: (1 - q) ** (-1 / b),
    ),
    "t": continuous(1, _log_t, cdf=_t_below, sf=lambda F, y, df: _t_below(F, -y, df)),
    "truncnorm": continuous(
        2,
        _log_truncated,
        cdf=_truncated_below,
        sf=lambda F, y, a, b: _truncated_below(F, -y, -b, -a),
    ),
    "uniform": continuous(
        0,
        lambda F, y: inside(F, (y >= 0) & (y <= 1), 0 * y),
        cdf=lambda F, y: F.np.clip(y, 0, 1),
        ppf=lambda F, q: inside(F, (q >= 0) & (q <= 1), q, F.np.nan),
    ),
    "vonmises": continuous(1, _log_vonmises),
    "wrapcauchy": continuous(1, _log_wrapcauchy),
    "lognorm": continuous(
        1,
        _log_lognorm,
        cdf=lambda F, y, s: inside(F, y > 0, F.sp.ndtr(F.np.log(positive(F, y)) / s), 0),
    ),
    "weibull_min": continuous(
        1,
        _log_weibull,
        cdf=lambda F, y, c: -F.np.expm1(-inside(F, y > 0, positive(F, y) ** c, 0)),
    ),
    "halfnorm": continuous(
        0,
        lambda F, y: inside(F, y >= 0, math.log(2) - (y * y + LOG_2_PI) / 2),
    ),
    "invgamma": continuous(
        1,
        _log_invgamma,
        cdf=lambda F, y, a: inside(F, y > 0, F.sp.gammaincc(a, 1 / positive(F, y)), 0),
    ),
    "f": continuous(
        2,
        _log_f,
        cdf=lambda F, y, n, m: F.sp.betainc(n / 2, m / 2, _share(F, n * F.np.maximum(y, 0), m)),
    ),
    "rayleigh": continuous(
        0,
        _log_rayleigh,
    ),
    "powerlaw": continuous(
        1,
        _log_powerlaw,
        cdf=lambda F, y, a: F.np.where(y > 0, F.np.clip(positive(F, y), 0, 1) ** a, 0),
    ),
    "bernoulli": discrete(
        1,
        _log_bernoulli,
        cdf=lambda F, k, p: F.np.where(k < 0, 0, F.np.where(k < 1, 1 - p, 1)),
        ppf=lambda F, q, p: F.np.where(
            (q < 0) | (q > 1), F.np.nan, F.np.where(q <= 1 - p, 0.0, 1.0)
        ),
    ),
    "betabinom": discrete(3, _log_betabinom),
    "binom": discrete(2, _log_binom),
    "geom": discrete(1, _log_geom),
    "nbinom": discrete(2, _log_nbinom),
    "poisson": discrete(1, _log_poisson, cdf=_poisson_below),
}
"""The distributions, by SciPy's names."""
