"""Layer 8 · scipy: densities and distribution functions of SciPy's distributions, as a table.

NOTE [densities]
A row of the table defines a distribution by functions of ``y = (x - loc) / scale``, or of a count
``k - loc``, and of its shape parameters:

    name: y, shape on [low, high] | log-density | cdf: distribution function | ppf: quantile ...

The cells are its log-density, its distribution function, functions for which deriving from these
would lose accuracy, and quantiles if there is a formula. A support that is given limits the density
and the distribution function: formulas see elements of it only, with its ends for ``[`` or ``]``.

Formulas are Python's expressions of the variables, of functions of NumPy's and of
``scipy.special``'s, and of the rules below. They become functions of a namespace `F`, whose `F.np`
and `F.sp` have the two libraries' functions, so one table serves `wengert.scipy.stats` and the
idioms. `functions` makes SciPy's functions from a row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cached_property
from math import inf, nan, pi  # noqa: F401  formulas use `nan`
from typing import Any, NamedTuple

import numpy as np

LOG_2, LOG_PI, LOG_2_PI = math.log(2), math.log(pi), math.log(2 * pi)
HALF_ROOT = math.sqrt(0.5)
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


_CALL = re.compile(r"(?<![\w.])([a-z_]\w*)\(")


class Row:
    """One distribution, whose formulas become functions when they are asked for.

    Attributes
    ----------
    own: The number of its shape parameters.
    whole: Whether it is a distribution of integers, without a scale.
    density: Its log-density, or the logarithm of its probabilities.
    rules: Its other functions, by SciPy's names.
    """

    def __init__(self, variables: str, cells: list[str]) -> None:
        self._variables, _, self._support = variables.partition(" on ")
        self._density, *others = cells
        self._others = dict(cell.split(": ") for cell in others)
        self.own, self.whole = self._variables.count(","), self._variables[0] == "k"

    def _compiled(self, formula: str) -> Rule:
        def named(call: re.Match[str]) -> str:
            name = call[1]
            if name in globals():
                return f"{name}(F, "
            return f"F.{'np' if hasattr(np, name) else 'sp'}.{name}("

        text = f"lambda F, {self._variables}: {_CALL.sub(named, formula)}"
        return eval(compile(text, "<wengert scipy.densities>", "eval"), globals())

    def _limited(self, rule: Rule, below: float, above: float) -> Rule:
        low, high = (eval(end, globals()) for end in self._support[1:-1].split(", "))
        closed = below == above and not {"[", "]"}.isdisjoint(self._support)
        middle = low + 1 if high == inf else high - 1 if low == -inf else (low + high) / 2

        def limit(F: Any, y: Any, *own: Any) -> Any:
            known = (y >= low) & (y <= high) if closed else (y > low) & (y < high)
            other = below if below == above else F.np.where(y > low, above, below)
            return inside(F, known, rule(F, F.np.where(known, y, middle), *own), other)

        return limit

    @cached_property
    def density(self) -> Rule:
        """The log-density."""
        rule = self._compiled(self._density)
        return self._limited(rule, -inf, -inf) if self._support else rule

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """The other functions."""
        made = {key: self._compiled(formula) for key, formula in self._others.items()}
        if self._support and "cdf" in made:
            made["cdf"] = self._limited(made["cdf"], 0.0, 1.0)
        return made


def functions(name: str, F: Functions) -> dict[str, Rule]:
    """Return the functions of a distribution, by SciPy's names, computed with those of `F`."""
    row = TABLE[name]
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


def inside(F: Any, within: Any, value: Any, other: Any = -inf) -> Any:
    """Return `value` where it is `within` the support, and `other` elsewhere."""
    return F.np.where(within, value, other)


def is_count(F: Any, k: Any) -> Any:
    """Return whether elements are whole and not negative."""
    return (k >= 0) & (F.np.floor(k) == k)


def counts(F: Any, k: Any) -> Any:
    """Return `k` where it is a count, and 0 elsewhere."""
    return F.np.where(is_count(F, k), k, 0)


def up_to(F: Any, k: Any, n: Any) -> Any:
    """Return `k` where it is a count of at most `n`, and 0 elsewhere."""
    return F.np.where(is_count(F, k) & (k <= n), k, 0)


def log_choices(F: Any, n: Any, k: Any) -> Any:
    """Return the logarithm of the binomial coefficient."""
    return F.sp.gammaln(n + 1) - F.sp.gammaln(k + 1) - F.sp.gammaln(n - k + 1)


def normal(F: Any, y: Any) -> Any:
    """Return the logarithm of the normal density."""
    return -(y * y + LOG_2_PI) / 2


def log_cosh(F: Any, y: Any) -> Any:
    """Return ``log(cosh(y))``."""
    return F.np.logaddexp(y, -y) - LOG_2


def share(F: Any, part: Any, rest: Any) -> Any:
    """Return the share of `part` in the sum of both."""
    return part / (part + rest)


def ratio(F: Any, c: Any, y: Any) -> Any:
    """Compute ``log1p(c y) / c``, or `y` for `c` = 0."""
    return y / F.sp.exprel(F.np.log1p(c * y))


def bounded(F: Any, y: Any, c: Any) -> tuple[Any, Any]:
    """Return where ``1 + c y`` is positive, and `y` there, 0 elsewhere."""
    known = 1 + c * y > 0
    return known, F.np.where(known, y, 0)


def t_below(F: Any, y: Any, df: Any) -> Any:
    """Student's t: the distribution function."""
    tail = 0.5 * F.sp.betainc(df / 2, 0.5 * F.np.ones_like(df), df / (df + y * y))
    return F.np.where(y > 0, 1 - tail, tail)


def log_beta(F: Any, y: Any, a: Any, b: Any) -> Any:
    """Beta: the log-density."""
    within = (y >= 0) & (y <= 1)
    y = F.np.where(within, y, 0.5)
    return inside(F, within, F.sp.xlogy(a - 1, y) + F.sp.xlog1py(b - 1, -y) - F.sp.betaln(a, b))


def log_gamma(F: Any, y: Any, a: Any) -> Any:
    """Gamma: the log-density."""
    within = y >= 0
    y = F.np.where(within, y, 1)
    return inside(F, within, F.sp.xlogy(a - 1, y) - y - F.sp.gammaln(a))


def log_mass(F: Any, a: Any, b: Any) -> Any:
    """Return the logarithm of the normal distribution's mass between `a` and `b`."""
    flip = a > 0  # the tail with small numbers
    low, high = F.np.where(flip, -b, a), F.np.where(flip, -a, b)
    top, bottom = F.sp.log_ndtr(high), F.sp.log_ndtr(low)
    return top + F.np.log1p(-F.np.exp(bottom - top))


def truncated_below(F: Any, y: Any, a: Any, b: Any) -> Any:
    """Truncated normal: the distribution function."""
    within = F.np.exp(log_mass(F, a, F.np.clip(y, a, b)) - log_mass(F, a, b))
    return F.np.where(y <= a, 0, F.np.where(y >= b, 1, within))


def genpareto_above(F: Any, y: Any, c: Any) -> Any:
    """Generalised Pareto: 1 minus the distribution function."""
    known, y = bounded(F, y, c)
    return inside(F, known, F.np.exp(-ratio(F, c, y)), 0)


def log_genpareto(F: Any, y: Any, c: Any) -> Any:
    """Generalised Pareto: the log-density."""
    known, y = bounded(F, y, c)
    return inside(F, known, -ratio(F, c, y) - F.np.log1p(c * y))


def log_genextreme(F: Any, y: Any, c: Any) -> Any:
    """Generalised extreme values: the log-density."""
    known, y = bounded(F, y, -c)
    t = -ratio(F, -c, y)
    return inside(F, known, t - F.np.exp(t) - F.np.log1p(-c * y))


def genextreme_below(F: Any, y: Any, c: Any) -> Any:
    """Generalised extreme values: the distribution function."""
    known, x = bounded(F, y, -c)
    found = F.np.exp(-F.np.exp(-ratio(F, -c, x)))
    return inside(F, known, found, F.np.where(c > 0, 1.0, 0.0))


def exponnorm_tail(F: Any, y: Any, k: Any) -> Any:
    """Exponentially modified normal: the logarithm of the tail's share."""
    return 1 / (2 * k * k) - y / k + F.sp.log_ndtr(y - 1 / k)


def invgauss_below(F: Any, y: Any, mu: Any) -> Any:
    """Inverse Gaussian: the distribution function."""
    root = F.np.sqrt(y)
    far = F.np.exp(2 / mu + F.sp.log_ndtr(-(y / mu + 1) / root))
    return F.sp.ndtr((y / mu - 1) / root) + far


def log_invgauss(F: Any, y: Any, mu: Any) -> Any:
    """Inverse Gaussian: the log-density."""
    return -(LOG_2_PI + 3 * F.np.log(y) + F.np.square(y / mu - 1) / y) / 2


def log_triang(F: Any, y: Any, c: Any) -> Any:
    """Triangular: the log-density."""
    rising = y <= c
    up = F.np.log(F.np.where(rising, y, 1)) - F.np.log(c)
    down = F.np.log1p(-F.np.where(rising, 0, y)) - F.np.log1p(-c)
    return LOG_2 + F.np.where(rising, up, down)


def log_tukey(F: Any, y: Any, lam: Any) -> Any:
    """Tukey's lambda: the log-density."""
    known = lam * F.np.abs(y) < 1
    below = F.sp.tklmbda(F.np.where(known, y, 0), lam)
    return inside(F, known, -F.np.log(below ** (lam - 1) + (1 - below) ** (lam - 1)))


def log_rest(F: Any, y: Any, c: Any) -> Any:
    """Generalised half-logistic: ``log(1 - c y) / c``."""
    return F.np.log1p(-c * F.np.where(c * y <= 1, y, 0)) / c


def log_norminvgauss(F: Any, y: Any, a: Any, b: Any) -> Any:
    """Normal inverse Gaussian: the log-density."""
    far = F.np.sqrt(1 + y * y)
    bessel = F.np.log(F.sp.k1e(a * far)) - a * far
    return F.np.log(a / (pi * far)) + bessel + F.np.sqrt((a - b) * (a + b)) + b * y


def genexpon_hazard(F: Any, y: Any, a: Any, b: Any, c: Any) -> Any:
    """Generalised exponential: the cumulative hazard."""
    return (a + b) * y + b * F.np.expm1(-c * y) / c


def log_pearson3(F: Any, y: Any, skew: Any) -> Any:
    """Pearson's third: the log-density."""
    bent = F.np.abs(skew) >= 1.6e-5
    shape = 4 / F.np.square(F.np.where(bent, skew, 1))
    place = shape + 2 * y / F.np.where(bent, skew, 1)
    logs = log_gamma(F, place, shape) + F.np.log(2 / F.np.abs(skew))
    return F.np.where(bent, logs, normal(F, y) + skew * (y**3 - 3 * y) / 6)


def log_kappa4(F: Any, y: Any, h: Any, k: Any) -> Any:
    """Kappa of four parameters: the log-density."""
    known, logs, below = kappa4(F, y, h, k)
    return inside(F, known, (1 - k) * logs + below - F.np.log1p(-h * F.np.exp(logs)))


def kappa4(F: Any, y: Any, h: Any, k: Any) -> tuple[Any, Any, Any]:
    """Return where the density is known, and logarithms of the inner and the outer function."""
    known, y = bounded(F, y, -k)
    logs = -ratio(F, -k, y)
    inner, power = bounded(F, F.np.exp(logs), -h)
    return known & inner, F.np.where(inner, logs, 0), -ratio(F, -h, power)


def log_ncx2(F: Any, y: Any, df: Any, nc: Any) -> Any:
    """Noncentral chi-squared: the log-density."""
    size = nc * y
    few = size < 1e4  # beyond, the series overflows
    chi2 = log_gamma(F, y / 2, df / 2) - LOG_2
    series = F.np.log(F.sp.hyp0f1(df / 2, F.np.where(few, size, 0) / 4)) - nc / 2
    root = F.np.sqrt(F.np.where(few, 1, size))
    far = F.np.log(F.np.where(few, 1, y / F.np.where(few, 1, nc)))
    bessel = F.np.log(F.sp.ive(df / 2 - 1, root)) + root - (y + nc) / 2
    return F.np.where(few, chi2 + series, bessel + (df / 4 - 0.5) * far - LOG_2)


def log_mills(F: Any, y: Any) -> Any:
    """Return the logarithm of Mills' ratio."""
    return F.sp.log_ndtr(-y) - normal(F, y)


def log_dpareto_lognorm(F: Any, y: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    """Double Pareto lognormal: the log-density."""
    z = (F.np.log(y) - u) / s
    mills = F.np.logaddexp(log_mills(F, a * s - z), log_mills(F, b * s + z))
    return F.np.log(a * b / (a + b)) - F.np.log(y) + normal(F, z) + mills


def log_crystalball(F: Any, y: Any, beta: Any, m: Any) -> Any:
    """Crystal ball: the log-density."""
    tail = F.np.exp(-F.np.square(beta) / 2) * m / beta / (m - 1)
    total = F.np.log(tail + math.sqrt(2 * pi) * F.sp.ndtr(beta))
    far = m / beta - beta - F.np.where(y > -beta, -beta, y)
    power = m * F.np.log(m / beta) - F.np.square(beta) / 2 - m * F.np.log(far)
    return F.np.where(y > -beta, -y * y / 2, power) - total


def log_jf_skew_t(F: Any, y: Any, a: Any, b: Any) -> Any:
    """Skew t of Jones and Faddy: the log-density."""
    total = a + b
    part = y / F.np.sqrt(total + y * y)
    powers = (a + 0.5) * F.np.log1p(part) + (b + 0.5) * F.np.log1p(-part)
    return powers - (total - 1) * LOG_2 - F.sp.betaln(a, b) - F.np.log(total) / 2


def log_trapezoid(F: Any, y: Any, c: Any, d: Any) -> Any:
    """Trapezoidal: the log-density."""
    up = F.np.where(y < c, y / F.np.where(c > 0, c, 1), 1)
    down = F.np.where(y > d, (1 - y) / F.np.where(d < 1, 1 - d, 1), 1)
    return LOG_2 - F.np.log(d - c + 1) + F.np.log(up * down)


def log_genhyperbolic(F: Any, y: Any, p: Any, a: Any, b: Any) -> Any:
    """Generalised hyperbolic: the log-density."""
    far, root = F.np.sqrt(1 + y * y), F.np.sqrt((a - b) * (a + b))
    scale = p * F.np.log(root) - LOG_2_PI / 2 - (p - 0.5) * F.np.log(a)
    logs = F.np.log(F.sp.kve(p - 0.5, a * far)) - a * far + (p - 0.5) * F.np.log(far)
    return scale - F.np.log(F.sp.kve(p, root)) + root + b * y + logs


# -- the table -------------------------------------------------------------------------------------

_TEXT = """
norm: y | normal(y) | cdf: ndtr(y) | logcdf: log_ndtr(y) | sf: ndtr(-y) | logsf: log_ndtr(-y)
  | ppf: ndtri(y) | isf: -ndtri(y)
beta: y, a, b | log_beta(y, a, b) | cdf: betainc(a, b, clip(y, 0, 1))
  | sf: betainc(b, a, clip(1 - y, 0, 1))
cauchy: y | -LOG_PI - log1p(y * y) | cdf: 0.5 + arctan(y) / pi | sf: 0.5 - arctan(y) / pi
  | ppf: tan(pi * y - pi / 2) | isf: tan(pi / 2 - pi * y)
chi2: y, df | log_gamma(y / 2, df / 2) - LOG_2 | cdf: gammainc(df / 2, maximum(y, 0) / 2)
  | sf: gammaincc(df / 2, maximum(y, 0) / 2)
expon: y | inside(y >= 0, -y) | cdf: -expm1(-maximum(y, 0)) | sf: exp(-maximum(y, 0))
  | logsf: -maximum(y, 0) | ppf: -log1p(-y) | isf: -log(y)
gamma erlang: y, a | log_gamma(y, a) | cdf: gammainc(a, maximum(y, 0))
  | sf: gammaincc(a, maximum(y, 0))
gennorm: y, p | log(0.5 * p) - gammaln(1 / p) - abs(y) ** p
  | cdf: 0.5 * (1 + sign(y) * gammainc(1 / p, abs(y) ** p))
gumbel_l: y | y - exp(y) | cdf: -expm1(-exp(y)) | sf: exp(-exp(y)) | logsf: -exp(y)
  | ppf: log(-log1p(-y))
gumbel_r: y | -y - exp(-y) | cdf: exp(-exp(-y)) | logcdf: -exp(-y) | sf: -expm1(-exp(-y))
  | ppf: -log(-log(y))
laplace: y | -abs(y) - LOG_2 | cdf: where(y <= 0, 0.5 * exp(-abs(y)), 1 - 0.5 * exp(-abs(y)))
logistic: y | -y - 2 * logaddexp(0, -y) | cdf: expit(y) | sf: expit(-y) | ppf: logit(y)
  | isf: -logit(y)
pareto: y, b | inside(y >= 1, log(b) - (b + 1) * log(where(y >= 1, y, 1)))
  | cdf: where(y >= 1, 1 - where(y >= 1, y, 1) ** (-b), 0)
  | sf: where(y >= 1, where(y >= 1, y, 1) ** (-b), 1) | ppf: (1 - y) ** (-1 / b)
t: y, df
  | gammaln(df / 2 + 0.5) - gammaln(df / 2) - 0.5 * log(df * pi) - (df / 2 + 0.5) * log1p(y * y /
    df) | cdf: t_below(y, df) | sf: t_below(-y, df)
truncnorm: y, a, b | inside((y >= a) & (y <= b), normal(y) - log_mass(a, b))
  | cdf: truncated_below(y, a, b) | sf: truncated_below(-y, -b, -a)
uniform: y | inside((y >= 0) & (y <= 1), 0 * y) | cdf: clip(y, 0, 1)
  | ppf: inside((y >= 0) & (y <= 1), y, nan)
vonmises: y, kappa | kappa * (cos(y) - 1) - log(2 * pi * i0e(kappa))
wrapcauchy: y, c
  | inside((y >= 0) & (y <= 2 * pi), log(1 - c * c) - LOG_2_PI - log(1 + c * c - 2 * c * cos(y)))
lognorm: y, s on (0, inf) | -(square(log(y) / s) + LOG_2_PI) / 2 - log(y) - log(s)
  | cdf: ndtr(log(y) / s)
weibull_min: y, c on [0, inf) | log(c) + xlogy(c - 1, y) - y**c | cdf: -expm1(-(y**c))
halfnorm: y on [0, inf) | LOG_2 + normal(y)
invgamma: y, a on (0, inf) | -(a + 1) * log(y) - 1 / y - gammaln(a) | cdf: gammaincc(a, 1 / y)
f: y, n, m on [0, inf)
  | (n * log(n) + m * log(m) - (n + m) * log(m + n * y)) / 2 + xlogy(n / 2 - 1, y) - betaln(n / 2,
    m / 2) | cdf: betainc(n / 2, m / 2, share(n * y, m))
rayleigh: y on (0, inf) | log(y) - y * y / 2
powerlaw: y, a on [0, 1] | inside(logical_or(y > 0, a >= 1), log(a) + xlogy(a - 1, y)) | cdf: y**a
bernoulli: k, p | inside(abs(k - 0.5) == 0.5, xlogy(k, p) + xlog1py(1 - k, -p))
  | cdf: where(k < 0, 0, where(k < 1, 1 - p, 1))
  | ppf: where(abs(k - 0.5) > 0.5, nan, where(k <= 1 - p, 0.0, 1.0))
betabinom: k, n, a, b
  | inside(is_count(k) & (k <= n), log_choices(n, up_to(k, n)) + betaln(up_to(k, n) + a, n -
    up_to(k, n) + b) - betaln(a, b))
binom: k, n, p
  | inside(is_count(k) & (k <= n), log_choices(n, up_to(k, n)) + xlogy(up_to(k, n), p) + xlog1py(n
    - up_to(k, n), -p))
geom: k, p | inside(is_count(k) & (k >= 1), xlog1py(maximum(k, 1) - 1, -p) + log(p))
nbinom: k, n, p
  | inside(is_count(k), gammaln(counts(k) + n) - gammaln(n) - gammaln(counts(k) + 1) + xlogy(n, p)
    + xlog1py(counts(k), -p))
poisson: k, mu | inside(is_count(k), xlogy(counts(k), mu) - gammaln(counts(k) + 1) - mu)
  | cdf: where(k >= 0, gammaincc(maximum(floor(k), 0) + 1, mu), 0)
crystalball: y, beta, m | log_crystalball(y, beta, m)
dpareto_lognorm: y, u, s, a, b on (0, inf) | log_dpareto_lognorm(y, u, s, a, b)
gausshyper: y, a, b, c, z on [0, 1]
  | xlogy(a - 1, y) + xlog1py(b - 1, -y) - c * log1p(z * y) - betaln(a, b) - log(hyp2f1(c, a, a +
    b, -z))
genhyperbolic: y, p, a, b | log_genhyperbolic(y, p, a, b)
geninvgauss: y, p, b on (0, inf)
  | xlogy(p - 1, y) - b * square(y - 1) / (2 * y) - log(2 * kve(p, b))
jf_skew_t: y, a, b | log_jf_skew_t(y, a, b)
kappa4: y, h, k | log_kappa4(y, h, k) | cdf: exp(kappa4(y, h, k)[2])
ncx2: y, df, nc on [0, inf) | log_ncx2(y, df, nc) | cdf: chndtr(y, df, nc)
pearson3: y, skew | log_pearson3(y, skew)
trapezoid: y, c, d on [0, 1] | log_trapezoid(y, c, d)
vonmises_line: y, kappa on [-pi, pi] | kappa * (cos(y) - 1) - log(2 * pi * i0e(kappa))
argus: y, chi on (0, 1)
  | LOG_2 + 3 * log(chi) - LOG_2_PI / 2 - log(gammainc(1.5, chi * chi / 2)) + log(y) + (log1p(-y *
    y) - chi * chi * (1 - y * y)) / 2
  | cdf: 1 - gammainc(1.5, chi * chi * (1 - y * y) / 2) / gammainc(1.5, chi * chi / 2)
exponpow: y, b on [0, inf) | log(b) + xlogy(b - 1, y) + y**b - expm1(y**b)
  | cdf: -expm1(-expm1(y**b))
fatiguelife: y, c on (0, inf)
  | log1p(y) - square(y - 1) / (2 * y * c * c) - log(2 * c) - (LOG_2_PI + 3 * log(y)) / 2
  | cdf: ndtr((sqrt(y) - 1 / sqrt(y)) / c)
genexpon: y, a, b, c on [0, inf) | log(a - b * expm1(-c * y)) - genexpon_hazard(y, a, b, c)
  | cdf: -expm1(-genexpon_hazard(y, a, b, c))
genhalflogistic: y, c on [0, inf)
  | inside(c * y <= 1, LOG_2 + xlog1py((1 - c) / c, -c * where(c * y <= 1, y, 0)) - 2 *
    log1p(exp(log_rest(y, c)))) | cdf: inside(c * y < 1, -tanh(log_rest(y, c) / 2), 1.0)
levy_l: y on (-inf, 0) | -(LOG_2_PI + 3 * log(-y) - 1 / y) / 2
norminvgauss: y, a, b | log_norminvgauss(y, a, b)
randint: k, low, high | inside((floor(k) == k) & (k >= low) & (k < high), -log(high - low))
recipinvgauss: y, mu on (0, inf) | -(LOG_2_PI + log(y) + square(1 / mu - y) / y) / 2
  | cdf: 1 - invgauss_below(1 / y, mu)
rel_breitwigner: y, rho on [0, inf)
  | 1.5 * LOG_2 - LOG_PI + log1p(1 / (rho * rho)) / 2 - log1p(sqrt(1 + 1 / (rho * rho))) / 2 -
    log1p(square((y - rho) * (y + rho) / rho))
skellam: k, a, b
  | inside(floor(k) == k, log(ive(abs(k), 2 * sqrt(a * b))) - square(sqrt(a) - sqrt(b)) + k / 2 *
    log(a / b))
truncpareto: y, b, c on [1, inf) | inside(y <= c, log(b / -expm1(-b * log(c))) - (b + 1) * log(y))
  | cdf: expm1(-b * log(minimum(y, c))) / expm1(-b * log(c))
truncweibull_min: y, c, a, b on [0, inf)
  | inside((y >= a) & (y <= b), log(c) + xlogy(c - 1, y) - y**c - log(exp(-a**c) - exp(-b**c)))
  | cdf: (exp(-a**c) - exp(-clip(y, a, b) ** c)) / (exp(-a**c) - exp(-b**c))
alpha: y, a on (0, inf) | normal(a - 1 / y) - 2 * log(y) - log_ndtr(a)
  | cdf: ndtr(a - 1 / y) / ndtr(a)
anglit: y on [-pi / 4, pi / 4] | log(cos(2 * y))
arcsine: y on [0, 1] | -LOG_PI - log(y * (1 - y)) / 2
betaprime: y, a, b on (0, inf) | xlogy(a - 1, y) - (a + b) * log1p(y) - betaln(a, b)
  | cdf: betainc(a, b, y / (1 + y))
bradford: y, c on [0, 1] | log(c) - log1p(c * y) - log(log1p(c)) | cdf: log1p(c * y) / log1p(c)
burr: y, c, d on (0, inf) | log(c * d) - (c + 1) * log(y) - (d + 1) * log1p(y ** (-c))
  | cdf: (1 + y ** (-c)) ** (-d)
burr12: y, c, d on [0, inf) | log(c * d) + xlogy(c - 1, y) - (d + 1) * log1p(y**c)
  | cdf: -expm1(-d * log1p(y**c))
chi: y, df on [0, inf) | (1 - df / 2) * LOG_2 - gammaln(df / 2) + xlogy(df - 1, y) - y * y / 2
  | cdf: gammainc(df / 2, y * y / 2)
cosine: y on [-pi, pi] | log1p(cos(y)) - LOG_2_PI
dgamma: y, a | xlogy(a - 1, abs(y)) - abs(y) - gammaln(a) - LOG_2
  | cdf: (1 + sign(y) * gammainc(a, abs(y))) / 2
dweibull: y, c | log(c / 2) + xlogy(c - 1, abs(y)) - abs(y) ** c
  | cdf: (1 - sign(y) * expm1(-abs(y) ** c)) / 2
exponnorm: y, k | exponnorm_tail(y, k) - log(k) | cdf: ndtr(y) - exp(exponnorm_tail(y, k))
exponweib: y, a, c on (0, inf) | log(a * c) + xlogy(a - 1, -expm1(-y**c)) - y**c + xlogy(c - 1, y)
  | cdf: (-expm1(-y**c)) ** a
fisk: y, c on [0, inf) | log(c) + xlogy(c - 1, y) - 2 * log1p(y**c) | cdf: expit(c * log(y))
foldcauchy: y, c on [0, inf) | log((1 / (1 + square(y - c)) + 1 / (1 + square(y + c))) / pi)
  | cdf: (arctan(y - c) + arctan(y + c)) / pi
foldnorm: y, c on [0, inf) | (LOG_2 - LOG_PI - y * y - c * c) / 2 + log_cosh(c * y)
  | cdf: (erf((y - c) * HALF_ROOT) + erf((y + c) * HALF_ROOT)) / 2
genextreme: y, c | log_genextreme(y, c) | cdf: genextreme_below(y, c)
gengamma: y, a, c on (0, inf) | log(abs(c)) - gammaln(a) + xlogy(c * a - 1, y) - y**c
  | cdf: where(c > 0, gammainc(a, y**c), gammaincc(a, y**c))
genlogistic: y, c | log(c) - y - (c + 1) * logaddexp(0, -y) | cdf: exp(-c * logaddexp(0, -y))
genpareto: y, c on [0, inf) | log_genpareto(y, c) | cdf: 1 - genpareto_above(y, c)
gibrat: y on (0, inf) | normal(log(y)) - log(y)
gompertz: y, c on [0, inf) | log(c) + y - c * expm1(y) | cdf: -expm1(-c * expm1(y))
halfcauchy: y on [0, inf) | LOG_2 - LOG_PI - log1p(y * y)
halfgennorm: y, b on [0, inf) | log(b) - gammaln(1 / b) - y**b | cdf: gammainc(1 / b, y**b)
halflogistic: y on [0, inf) | LOG_2 - y - 2 * log1p(exp(-y))
hypsecant: y | -LOG_PI - log_cosh(y)
invgauss: y, mu on (0, inf) | log_invgauss(y, mu) | cdf: invgauss_below(y, mu)
invweibull: y, c on (0, inf) | log(c) - (c + 1) * log(y) - y ** (-c) | cdf: exp(-y ** (-c))
johnsonsb: y, a, b on (0, 1) | log(b) - log(y * (1 - y)) + normal(a + b * logit(y))
  | cdf: ndtr(a + b * logit(y))
johnsonsu: y, a, b | log(b) - log1p(y * y) / 2 + normal(a + b * arcsinh(y))
  | cdf: ndtr(a + b * arcsinh(y))
kappa3: y, a on [0, inf) | log(a) - (a + 1) / a * log(a + y**a) | cdf: y * (a + y**a) ** (-1 / a)
laplace_asymmetric: y, k | where(y >= 0, -k * y, y / k) - log(k + 1 / k)
  | cdf: where(y >= 0, 1 - exp(-k * maximum(y, 0)) / (1 + k * k), exp(minimum(y, 0) / k) * k * k /
    (1 + k * k))
levy: y on (0, inf) | -(LOG_2_PI + 3 * log(y) + 1 / y) / 2
loggamma: y, c | c * y - exp(y) - gammaln(c) | cdf: gammainc(c, exp(y))
loglaplace: y, c on [0, inf) | log(c / 2) + xlogy(where(y < 1, c, -c) - 1, y)
  | cdf: where(y < 1, y**c / 2, 1 - y ** (-c) / 2)
loguniform reciprocal: y, a, b | inside((y >= a) & (y <= b), -log(clip(y, a, b)) - log(log(b / a)))
  | cdf: log(clip(y, a, b) / a) / log(b / a)
lomax: y, c on [0, inf) | log(c) - (c + 1) * log1p(y) | cdf: -expm1(-c * log1p(y))
maxwell: y on (0, inf) | (LOG_2 - LOG_PI) / 2 + 2 * log(y) - y * y / 2
mielke: y, k, s on [0, inf) | log(k) + xlogy(k - 1, y) - (1 + k / s) * log1p(y**s)
  | cdf: y**k * (1 + y**s) ** (-k / s)
moyal: y | -(y + exp(-y) + LOG_2_PI) / 2
nakagami: y, nu on [0, inf)
  | LOG_2 + xlogy(nu, nu) - gammaln(nu) + xlogy(2 * nu - 1, y) - nu * y * y
  | cdf: gammainc(nu, nu * y * y)
powerlognorm: y, c, s on (0, inf)
  | log(c / (y * s)) + normal(log(y) / s) + (c - 1) * log_ndtr(-log(y) / s)
  | cdf: -expm1(c * log_ndtr(-log(y) / s))
powernorm: y, c | log(c) + normal(y) + (c - 1) * log_ndtr(-y) | cdf: -expm1(c * log_ndtr(-y))
rdist: y, c on [-1, 1] | xlog1py(c / 2 - 1, -y * y) - betaln(c / 2, 0 * c + 0.5)
rice: y, b on (0, inf) | log(y) - square(y - b) / 2 + log(i0e(y * b))
  | cdf: chndtr(y * y, 2.0, b * b)
semicircular: y on [-1, 1] | LOG_2 - LOG_PI + log1p(-y * y) / 2
skewcauchy: y, a | -LOG_PI - log1p(square(y / (1 + a * sign(y))))
  | cdf: (1 - a) / 2 + (1 + sign(y) * a) / pi * arctan(y / (1 + sign(y) * a))
skewnorm: y, a | LOG_2 + normal(y) + log_ndtr(a * y) | cdf: ndtr(y) - 2 * owens_t(y, a)
triang: y, c on [0, 1] | log_triang(y, c)
  | cdf: where(y <= c, y * y / c, 1 - square(1 - y) / (1 - c))
truncexpon: y, b on [0, inf) | inside(y <= b, -y - log(-expm1(-b)))
  | cdf: expm1(-minimum(y, b)) / expm1(-b)
tukeylambda: y, lam | log_tukey(y, lam) | cdf: tklmbda(y, lam)
wald: y on (0, inf) | log_invgauss(y, 1.0)
weibull_max: y, c on (-inf, 0] | log(c) + xlogy(c - 1, -y) - (-y) ** c | cdf: exp(-((-y) ** c))
betanbinom: k, n, a, b
  | inside(is_count(k), betaln(a + n, b + counts(k)) - betaln(a, b) - log(n + counts(k)) -
    betaln(n, counts(k) + 1))
boltzmann: k, lam, n
  | inside(is_count(k) & (k < n), log(-expm1(-lam)) - lam * k - log(-expm1(-lam * n)))
dlaplace: k, a | inside(floor(k) == k, log(tanh(a / 2)) - a * abs(k))
logser: k, p | inside(is_count(k) & (k >= 1), xlogy(k, p) - log(maximum(k, 1)) - log(-log1p(-p)))
planck: k, lam | inside(is_count(k), log(-expm1(-lam)) - lam * k)
  | cdf: inside(k >= 0, -expm1(-lam * (floor(k) + 1)), 0)
yulesimon: k, a | inside(is_count(k) & (k >= 1), log(a) + betaln(maximum(k, 1), a + 1))
"""


def _read(text: str) -> dict[str, Row]:
    rows = {}
    for line in re.sub(r"\n +", " ", text).strip().splitlines():
        head, *cells = line.split(" | ")
        names, _, variables = head.partition(": ")
        rows.update(dict.fromkeys(names.split(), Row(variables, cells)))
    return rows


TABLE = _read(_TEXT)
"""The distributions, by SciPy's names."""
