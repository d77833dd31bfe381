"""Layer 8 · scipy: further distributions of `scipy.stats`, as rows like those of `densities`."""

from __future__ import annotations

import math
from typing import Any

from wengert.scipy.densities import (
    LOG_2_PI,
    TABLE,
    Row,
    Rule,
    continuous,
    counts,
    discrete,
    inside,
    is_count,
)

_HALF = math.sqrt(0.5)


def _within(low: float, high: float, ends: bool, count: int, density: Rule, **rules: Rule) -> Row:
    """Define a distribution on an interval; the density's rule sees its `ends` if they are set."""
    middle = low + 1 if high == math.inf else (low + high) / 2

    def limited(rule: Rule, closed: bool, below: float, above: float) -> Rule:
        def limit(F: Any, y: Any, *own: Any) -> Any:
            known = (y >= low) & (y <= high) if closed else (y > low) & (y < high)
            other = below if below == above else F.np.where(y > low, above, below)
            return inside(F, known, rule(F, F.np.where(known, y, middle), *own), other)

        return limit

    made = {key: limited(rule, False, 0.0, 1.0) for key, rule in rules.items()}
    return continuous(count, limited(density, ends, -math.inf, -math.inf), **made)


def _above(count: int, density: Rule, **rules: Rule) -> Row:
    return _within(0.0, math.inf, False, count, density, **rules)


def _from(count: int, density: Rule, **rules: Rule) -> Row:
    return _within(0.0, math.inf, True, count, density, **rules)


def _normal(y: Any) -> Any:
    """Return the logarithm of the normal density."""
    return -(y * y + LOG_2_PI) / 2


def _ratio(F: Any, c: Any, y: Any) -> Any:
    """Compute ``log1p(c y) / c``, or `y` for `c` = 0."""
    return y / F.sp.exprel(F.np.log1p(c * y))


def _powers(F: Any, c: Any, x: Any) -> Any:
    """Compute ``expm1(c x) / c``, or `x` for `c` = 0."""
    return x * F.sp.exprel(c * x)


def _bounded(F: Any, y: Any, c: Any) -> tuple[Any, Any]:
    """Return where ``1 + c y`` is positive, and `y` there, 0 elsewhere."""
    known = 1 + c * y > 0
    return known, F.np.where(known, y, 0)


def _log_genpareto(F: Any, y: Any, c: Any) -> Any:
    known, y = _bounded(F, y, c)
    return inside(F, known, -_ratio(F, c, y) - F.np.log1p(c * y))


def _genpareto_above(F: Any, y: Any, c: Any) -> Any:
    known, y = _bounded(F, y, c)
    return inside(F, known, F.np.exp(-_ratio(F, c, y)), 0)


def _log_genextreme(F: Any, y: Any, c: Any) -> Any:
    known, y = _bounded(F, y, -c)
    t = -_ratio(F, -c, y)
    return inside(F, known, t - F.np.exp(t) - F.np.log1p(-c * y))


def _genextreme_below(F: Any, y: Any, c: Any) -> Any:
    known, x = _bounded(F, y, -c)
    found = F.np.exp(-F.np.exp(-_ratio(F, -c, x)))
    return inside(F, known, found, F.np.where(c > 0, 1.0, 0.0))


def _log_cosh(F: Any, y: Any) -> Any:
    return F.np.logaddexp(y, -y) - math.log(2)


def _exponnorm_tail(F: Any, y: Any, k: Any) -> Any:
    """Return the exponential component's part of a sum of normal and exponential numbers."""
    return 1 / (2 * k * k) - y / k + F.sp.log_ndtr(y - 1 / k)


def _log_rice(F: Any, y: Any, b: Any) -> Any:
    return F.np.log(y) - F.np.square(y - b) / 2 + F.np.log(F.sp.i0e(y * b))


def _invgauss_below(F: Any, y: Any, mu: Any) -> Any:
    root = F.np.sqrt(y)
    far = F.np.exp(2 / mu + F.sp.log_ndtr(-(y / mu + 1) / root))
    return F.sp.ndtr((y / mu - 1) / root) + far


def _log_invgauss(F: Any, y: Any, mu: Any) -> Any:
    return -(LOG_2_PI + 3 * F.np.log(y) + F.np.square(y / mu - 1) / y) / 2


def _log_triang(F: Any, y: Any, c: Any) -> Any:
    rising = y <= c
    up = F.np.log(F.np.where(rising, y, 1)) - F.np.log(c)
    down = F.np.log1p(-F.np.where(rising, 0, y)) - F.np.log1p(-c)
    return math.log(2) + F.np.where(rising, up, down)


def _triang_below(F: Any, y: Any, c: Any) -> Any:
    return F.np.where(y <= c, y * y / c, 1 - F.np.square(1 - y) / (1 - c))


def _log_tukey(F: Any, y: Any, lam: Any) -> Any:
    known = lam * F.np.abs(y) < 1
    below = F.sp.tklmbda(F.np.where(known, y, 0), lam)
    return inside(F, known, -F.np.log(below ** (lam - 1) + (1 - below) ** (lam - 1)))


def _log_loguniform(F: Any, y: Any, a: Any, b: Any) -> Any:
    known = (y >= a) & (y <= b)
    return inside(F, known, -F.np.log(F.np.where(known, y, a)) - F.np.log(F.np.log(b / a)))


def _loguniform_below(F: Any, y: Any, a: Any, b: Any) -> Any:
    return F.np.log(F.np.clip(y, a, b) / a) / F.np.log(b / a)


def _log_truncexpon(F: Any, y: Any, b: Any) -> Any:
    return inside(F, y <= b, -y - F.np.log(-F.np.expm1(-b)))


def _reflected(row: Row) -> Row:
    """Return the distribution of the negated variable."""
    cdf = row.rules.get("cdf")
    return continuous(
        row.own,
        lambda F, y, *own: row.density(F, -y, *own),
        **({"cdf": lambda F, y, *own: 1 - cdf(F, -y, *own)} if cdf and row.own else {}),
    )


def _log_rest(F: Any, y: Any, c: Any) -> Any:
    """Compute ``log(1 - c y) / c`` for y up to 1 / c."""
    return F.np.log1p(-c * F.np.where(c * y <= 1, y, 0)) / c


def _log_norminvgauss(F: Any, y: Any, a: Any, b: Any) -> Any:
    far = F.np.sqrt(1 + y * y)
    bessel = F.np.log(F.sp.k1e(a * far)) - a * far
    return F.np.log(a / (math.pi * far)) + bessel + F.np.sqrt((a - b) * (a + b)) + b * y


def _log_skellam(F: Any, k: Any, a: Any, b: Any) -> Any:
    root = F.np.sqrt(a) - F.np.sqrt(b)
    bessel = F.np.log(F.sp.ive(F.np.abs(k), 2 * F.np.sqrt(a * b)))
    return inside(F, F.np.floor(k) == k, bessel - root * root + k / 2 * F.np.log(a / b))


def _genexpon_hazard(F: Any, y: Any, a: Any, b: Any, c: Any) -> Any:
    """Return the negative logarithm of what lies above."""
    return (a + b) * y + b * F.np.expm1(-c * y) / c


def _log_pearson3(F: Any, y: Any, skew: Any) -> Any:
    bent = F.np.abs(skew) >= 1.6e-5
    shape = 4 / F.np.square(F.np.where(bent, skew, 1))
    place = shape + 2 * y / F.np.where(bent, skew, 1)
    logs = TABLE["gamma"].density(F, place, shape) + F.np.log(2 / F.np.abs(skew))
    return F.np.where(bent, logs, _normal(y) + skew * (y**3 - 3 * y) / 6)


def _log_kappa4(F: Any, y: Any, h: Any, k: Any) -> Any:
    known, logs, below = _kappa4(F, y, h, k)
    return inside(F, known, (1 - k) * logs + below - F.np.log1p(-h * F.np.exp(logs)))


def _kappa4(F: Any, y: Any, h: Any, k: Any) -> tuple[Any, Any, Any]:
    """Return where there is a density, ``log(1 - k y) / k`` and the logarithm of the share."""
    known, y = _bounded(F, y, -k)
    logs = -_ratio(F, -k, y)
    inner, power = _bounded(F, F.np.exp(logs), -h)
    return known & inner, F.np.where(inner, logs, 0), -_ratio(F, -h, power)


def _log_ncx2(F: Any, y: Any, df: Any, nc: Any) -> Any:
    size = nc * y
    few = size < 1e4
    series = F.np.log(F.sp.hyp0f1(df / 2, F.np.where(few, size, 0) / 4)) - nc / 2
    root = F.np.sqrt(F.np.where(few, 1, size))
    ratio = F.np.log(F.np.where(few, 1, y / F.np.where(few, 1, nc)))
    bessel = F.np.log(F.sp.ive(df / 2 - 1, root)) + root - (y + nc) / 2
    many = bessel + (df / 4 - 0.5) * ratio - math.log(2)
    return F.np.where(few, TABLE["chi2"].density(F, y, df) + series, many)


def _log_mills(F: Any, y: Any) -> Any:
    """Return the logarithm of the normal share above, over the density."""
    return F.sp.log_ndtr(-y) - _normal(y)


def _log_dpareto_lognorm(F: Any, y: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    z = (F.np.log(y) - u) / s
    mills = F.np.logaddexp(_log_mills(F, a * s - z), _log_mills(F, b * s + z))
    return F.np.log(a * b / (a + b)) - F.np.log(y) + _normal(z) + mills


def _log_crystalball(F: Any, y: Any, beta: Any, m: Any) -> Any:
    tail = F.np.exp(-F.np.square(beta) / 2) * m / beta / (m - 1)
    total = F.np.log(tail + math.sqrt(2 * math.pi) * F.sp.ndtr(beta))
    far = m / beta - beta - F.np.where(y > -beta, -beta, y)
    power = m * F.np.log(m / beta) - F.np.square(beta) / 2 - m * F.np.log(far)
    return F.np.where(y > -beta, -y * y / 2, power) - total


def _log_jf_skew_t(F: Any, y: Any, a: Any, b: Any) -> Any:
    total = a + b
    part = y / F.np.sqrt(total + y * y)
    powers = (a + 0.5) * F.np.log1p(part) + (b + 0.5) * F.np.log1p(-part)
    return powers - (total - 1) * math.log(2) - F.sp.betaln(a, b) - F.np.log(total) / 2


def _log_trapezoid(F: Any, y: Any, c: Any, d: Any) -> Any:
    up = F.np.where(y < c, y / F.np.where(c > 0, c, 1), 1)
    down = F.np.where(y > d, (1 - y) / F.np.where(d < 1, 1 - d, 1), 1)
    return math.log(2) - F.np.log(d - c + 1) + F.np.log(up * down)


def _log_genhyperbolic(F: Any, y: Any, p: Any, a: Any, b: Any) -> Any:
    far, root = F.np.sqrt(1 + y * y), F.np.sqrt((a - b) * (a + b))
    scale = p * F.np.log(root) - LOG_2_PI / 2 - (p - 0.5) * F.np.log(a)
    logs = F.np.log(F.sp.kve(p - 0.5, a * far)) - a * far + (p - 0.5) * F.np.log(far)
    return scale - F.np.log(F.sp.kve(p, root)) + root + b * y + logs


def _skewcauchy_below(F: Any, y: Any, a: Any) -> Any:
    side = 1 + F.np.sign(y) * a
    return (1 - a) / 2 + side / math.pi * F.np.arctan(y / side)


_LOGNORM = TABLE["lognorm"]
_LEVY = _above(
    0,
    lambda F, y: -(LOG_2_PI + 3 * F.np.log(y) + 1 / y) / 2,
)
_INVGAUSS = _above(1, _log_invgauss, cdf=_invgauss_below)

FURTHER: dict[str, Row] = {
    "crystalball": continuous(2, _log_crystalball),
    "dpareto_lognorm": _above(4, _log_dpareto_lognorm),
    "gausshyper": _within(
        0.0,
        1.0,
        True,
        4,
        lambda F, y, a, b, c, z: (
            F.sp.xlogy(a - 1, y)
            + F.sp.xlog1py(b - 1, -y)
            - c * F.np.log1p(z * y)
            - F.sp.betaln(a, b)
            - F.np.log(F.sp.hyp2f1(c, a, a + b, -z))
        ),
    ),
    "genhyperbolic": continuous(3, _log_genhyperbolic),
    "geninvgauss": _above(
        2,
        lambda F, y, p, b: (
            F.sp.xlogy(p - 1, y) - b * F.np.square(y - 1) / (2 * y) - F.np.log(2 * F.sp.kve(p, b))
        ),
    ),
    "jf_skew_t": continuous(2, _log_jf_skew_t),
    "kappa4": continuous(2, _log_kappa4, cdf=lambda F, y, h, k: F.np.exp(_kappa4(F, y, h, k)[2])),
    "ncx2": _from(2, _log_ncx2, cdf=lambda F, y, df, nc: F.sp.chndtr(y, df, nc)),
    "pearson3": continuous(1, _log_pearson3),
    "trapezoid": _within(0.0, 1.0, True, 2, _log_trapezoid),
    "vonmises_line": _within(-math.pi, math.pi, True, 1, TABLE["vonmises"].density),
    "argus": _within(
        0.0,
        1.0,
        False,
        1,
        lambda F, y, chi: (
            math.log(2)
            + 3 * F.np.log(chi)
            - LOG_2_PI / 2
            - F.np.log(F.sp.gammainc(1.5, chi * chi / 2))
            + F.np.log(y)
            + (F.np.log1p(-y * y) - chi * chi * (1 - y * y)) / 2
        ),
        cdf=lambda F, y, chi: (
            1 - F.sp.gammainc(1.5, chi * chi * (1 - y * y) / 2) / F.sp.gammainc(1.5, chi * chi / 2)
        ),
    ),
    "erlang": TABLE["gamma"],
    "exponpow": _from(
        1,
        lambda F, y, b: F.np.log(b) + F.sp.xlogy(b - 1, y) + y**b - F.np.expm1(y**b),
        cdf=lambda F, y, b: -F.np.expm1(-F.np.expm1(y**b)),
    ),
    "fatiguelife": _above(
        1,
        lambda F, y, c: (
            F.np.log1p(y)
            - F.np.square(y - 1) / (2 * y * c * c)
            - F.np.log(2 * c)
            - (LOG_2_PI + 3 * F.np.log(y)) / 2
        ),
        cdf=lambda F, y, c: F.sp.ndtr((F.np.sqrt(y) - 1 / F.np.sqrt(y)) / c),
    ),
    "genexpon": _from(
        3,
        lambda F, y, a, b, c: (
            F.np.log(a - b * F.np.expm1(-c * y)) - _genexpon_hazard(F, y, a, b, c)
        ),
        cdf=lambda F, y, a, b, c: -F.np.expm1(-_genexpon_hazard(F, y, a, b, c)),
    ),
    "genhalflogistic": _from(
        1,
        lambda F, y, c: inside(
            F,
            c * y <= 1,
            math.log(2)
            + F.sp.xlog1py((1 - c) / c, -c * F.np.where(c * y <= 1, y, 0))
            - 2 * F.np.log1p(F.np.exp(_log_rest(F, y, c))),
        ),
        cdf=lambda F, y, c: inside(F, c * y < 1, -F.np.tanh(_log_rest(F, y, c) / 2), 1.0),
    ),
    "levy_l": _reflected(_LEVY),
    "norminvgauss": continuous(2, _log_norminvgauss),
    "randint": discrete(
        2,
        lambda F, k, low, high: inside(
            F, (F.np.floor(k) == k) & (k >= low) & (k < high), -F.np.log(high - low)
        ),
    ),
    "recipinvgauss": _above(
        1,
        lambda F, y, mu: -(LOG_2_PI + F.np.log(y) + F.np.square(1 / mu - y) / y) / 2,
        cdf=lambda F, y, mu: 1 - _invgauss_below(F, 1 / y, mu),
    ),
    "reciprocal": continuous(2, _log_loguniform, cdf=_loguniform_below),
    "rel_breitwigner": _from(
        1,
        lambda F, y, rho: (
            F.np.log(2 * math.sqrt(2) / math.pi)
            + F.np.log1p(1 / (rho * rho)) / 2
            - F.np.log1p(F.np.sqrt(1 + 1 / (rho * rho))) / 2
            - F.np.log1p(F.np.square((y - rho) * (y + rho) / rho))
        ),
    ),
    "skellam": discrete(2, _log_skellam),
    "truncpareto": _within(
        1.0,
        math.inf,
        True,
        2,
        lambda F, y, b, c: inside(
            F, y <= c, F.np.log(b / -F.np.expm1(-b * F.np.log(c))) - (b + 1) * F.np.log(y)
        ),
        cdf=lambda F, y, b, c: (
            F.np.expm1(-b * F.np.log(F.np.minimum(y, c))) / F.np.expm1(-b * F.np.log(c))
        ),
    ),
    "truncweibull_min": _from(
        3,
        lambda F, y, c, a, b: inside(
            F,
            (y >= a) & (y <= b),
            F.np.log(c)
            + F.sp.xlogy(c - 1, y)
            - y**c
            - F.np.log(F.np.exp(-(a**c)) - F.np.exp(-(b**c))),
        ),
        cdf=lambda F, y, c, a, b: (
            (F.np.exp(-(a**c)) - F.np.exp(-(F.np.clip(y, a, b) ** c)))
            / (F.np.exp(-(a**c)) - F.np.exp(-(b**c)))
        ),
    ),
    "alpha": _above(
        1,
        lambda F, y, a: _normal(a - 1 / y) - 2 * F.np.log(y) - F.sp.log_ndtr(a),
        cdf=lambda F, y, a: F.sp.ndtr(a - 1 / y) / F.sp.ndtr(a),
    ),
    "anglit": _within(
        -math.pi / 4,
        math.pi / 4,
        True,
        0,
        lambda F, y: F.np.log(F.np.cos(2 * y)),
    ),
    "arcsine": _within(
        0.0,
        1.0,
        True,
        0,
        lambda F, y: -math.log(math.pi) - F.np.log(y * (1 - y)) / 2,
    ),
    "betaprime": _above(
        2,
        lambda F, y, a, b: F.sp.xlogy(a - 1, y) - (a + b) * F.np.log1p(y) - F.sp.betaln(a, b),
        cdf=lambda F, y, a, b: F.sp.betainc(a, b, y / (1 + y)),
    ),
    "bradford": _within(
        0.0,
        1.0,
        True,
        1,
        lambda F, y, c: F.np.log(c) - F.np.log1p(c * y) - F.np.log(F.np.log1p(c)),
        cdf=lambda F, y, c: F.np.log1p(c * y) / F.np.log1p(c),
    ),
    "burr": _above(
        2,
        lambda F, y, c, d: F.np.log(c * d) - (c + 1) * F.np.log(y) - (d + 1) * F.np.log1p(y**-c),
        cdf=lambda F, y, c, d: (1 + y**-c) ** -d,
    ),
    "burr12": _from(
        2,
        lambda F, y, c, d: F.np.log(c * d) + F.sp.xlogy(c - 1, y) - (d + 1) * F.np.log1p(y**c),
        cdf=lambda F, y, c, d: -F.np.expm1(-d * F.np.log1p(y**c)),
    ),
    "chi": _from(
        1,
        lambda F, y, df: (
            (1 - df / 2) * math.log(2) - F.sp.gammaln(df / 2) + F.sp.xlogy(df - 1, y) - y * y / 2
        ),
        cdf=lambda F, y, df: F.sp.gammainc(df / 2, y * y / 2),
    ),
    "cosine": _within(
        -math.pi,
        math.pi,
        True,
        0,
        lambda F, y: F.np.log1p(F.np.cos(y)) - LOG_2_PI,
    ),
    "dgamma": continuous(
        1,
        lambda F, y, a: (
            F.sp.xlogy(a - 1, F.np.abs(y)) - F.np.abs(y) - F.sp.gammaln(a) - math.log(2)
        ),
        cdf=lambda F, y, a: (1 + F.np.sign(y) * F.sp.gammainc(a, F.np.abs(y))) / 2,
    ),
    "dweibull": continuous(
        1,
        lambda F, y, c: F.np.log(c / 2) + F.sp.xlogy(c - 1, F.np.abs(y)) - F.np.abs(y) ** c,
        cdf=lambda F, y, c: (1 - F.np.sign(y) * F.np.expm1(-(F.np.abs(y) ** c))) / 2,
    ),
    "exponnorm": continuous(
        1,
        lambda F, y, k: _exponnorm_tail(F, y, k) - F.np.log(k),
        cdf=lambda F, y, k: F.sp.ndtr(y) - F.np.exp(_exponnorm_tail(F, y, k)),
    ),
    "exponweib": _above(
        2,
        lambda F, y, a, c: (
            F.np.log(a * c) + F.sp.xlogy(a - 1, -F.np.expm1(-(y**c))) - y**c + F.sp.xlogy(c - 1, y)
        ),
        cdf=lambda F, y, a, c: (-F.np.expm1(-(y**c))) ** a,
    ),
    "fisk": _from(
        1,
        lambda F, y, c: F.np.log(c) + F.sp.xlogy(c - 1, y) - 2 * F.np.log1p(y**c),
        cdf=lambda F, y, c: F.sp.expit(c * F.np.log(y)),
    ),
    "foldcauchy": _from(
        1,
        lambda F, y, c: F.np.log(
            (1 / (1 + F.np.square(y - c)) + 1 / (1 + F.np.square(y + c))) / math.pi
        ),
        cdf=lambda F, y, c: (F.np.arctan(y - c) + F.np.arctan(y + c)) / math.pi,
    ),
    "foldnorm": _from(
        1,
        lambda F, y, c: (math.log(2 / math.pi) - y * y - c * c) / 2 + _log_cosh(F, c * y),
        cdf=lambda F, y, c: (F.sp.erf((y - c) * _HALF) + F.sp.erf((y + c) * _HALF)) / 2,
    ),
    "genextreme": continuous(
        1,
        _log_genextreme,
        cdf=_genextreme_below,
    ),
    "gengamma": _above(
        2,
        lambda F, y, a, c: (
            F.np.log(F.np.abs(c)) - F.sp.gammaln(a) + F.sp.xlogy(c * a - 1, y) - y**c
        ),
        cdf=lambda F, y, a, c: F.np.where(c > 0, F.sp.gammainc(a, y**c), F.sp.gammaincc(a, y**c)),
    ),
    "genlogistic": continuous(
        1,
        lambda F, y, c: F.np.log(c) - y - (c + 1) * F.np.logaddexp(0, -y),
        cdf=lambda F, y, c: F.np.exp(-c * F.np.logaddexp(0, -y)),
    ),
    "genpareto": _from(
        1,
        _log_genpareto,
        cdf=lambda F, y, c: 1 - _genpareto_above(F, y, c),
    ),
    "gibrat": continuous(
        0,
        lambda F, y: _LOGNORM.density(F, y, 1.0),
    ),
    "gompertz": _from(
        1,
        lambda F, y, c: F.np.log(c) + y - c * F.np.expm1(y),
        cdf=lambda F, y, c: -F.np.expm1(-c * F.np.expm1(y)),
    ),
    "halfcauchy": _from(
        0,
        lambda F, y: math.log(2 / math.pi) - F.np.log1p(y * y),
    ),
    "halfgennorm": _from(
        1,
        lambda F, y, b: F.np.log(b) - F.sp.gammaln(1 / b) - y**b,
        cdf=lambda F, y, b: F.sp.gammainc(1 / b, y**b),
    ),
    "halflogistic": _from(
        0,
        lambda F, y: math.log(2) - y - 2 * F.np.log1p(F.np.exp(-y)),
    ),
    "hypsecant": continuous(
        0,
        lambda F, y: -math.log(math.pi) - _log_cosh(F, y),
    ),
    "invgauss": _INVGAUSS,
    "invweibull": _above(
        1,
        lambda F, y, c: F.np.log(c) - (c + 1) * F.np.log(y) - y**-c,
        cdf=lambda F, y, c: F.np.exp(-(y**-c)),
    ),
    "johnsonsb": _within(
        0.0,
        1.0,
        False,
        2,
        lambda F, y, a, b: F.np.log(b) - F.np.log(y * (1 - y)) + _normal(a + b * F.sp.logit(y)),
        cdf=lambda F, y, a, b: F.sp.ndtr(a + b * F.sp.logit(y)),
    ),
    "johnsonsu": continuous(
        2,
        lambda F, y, a, b: F.np.log(b) - F.np.log1p(y * y) / 2 + _normal(a + b * F.np.arcsinh(y)),
        cdf=lambda F, y, a, b: F.sp.ndtr(a + b * F.np.arcsinh(y)),
    ),
    "kappa3": _from(
        1,
        lambda F, y, a: F.np.log(a) - (a + 1) / a * F.np.log(a + y**a),
        cdf=lambda F, y, a: y * (a + y**a) ** (-1 / a),
    ),
    "laplace_asymmetric": continuous(
        1,
        lambda F, y, k: F.np.where(y >= 0, -k * y, y / k) - F.np.log(k + 1 / k),
        cdf=lambda F, y, k: F.np.where(
            y >= 0,
            1 - F.np.exp(-k * F.np.maximum(y, 0)) / (1 + k * k),
            F.np.exp(F.np.minimum(y, 0) / k) * k * k / (1 + k * k),
        ),
    ),
    "levy": _LEVY,
    "loggamma": continuous(
        1,
        lambda F, y, c: c * y - F.np.exp(y) - F.sp.gammaln(c),
        cdf=lambda F, y, c: F.sp.gammainc(c, F.np.exp(y)),
    ),
    "loglaplace": _from(
        1,
        lambda F, y, c: F.np.log(c / 2) + F.sp.xlogy(F.np.where(y < 1, c, -c) - 1, y),
        cdf=lambda F, y, c: F.np.where(y < 1, y**c / 2, 1 - y**-c / 2),
    ),
    "loguniform": continuous(2, _log_loguniform, cdf=_loguniform_below),
    "lomax": _from(
        1,
        lambda F, y, c: F.np.log(c) - (c + 1) * F.np.log1p(y),
        cdf=lambda F, y, c: -F.np.expm1(-c * F.np.log1p(y)),
    ),
    "maxwell": _above(
        0,
        lambda F, y: math.log(2 / math.pi) / 2 + 2 * F.np.log(y) - y * y / 2,
    ),
    "mielke": _from(
        2,
        lambda F, y, k, s: F.np.log(k) + F.sp.xlogy(k - 1, y) - (1 + k / s) * F.np.log1p(y**s),
        cdf=lambda F, y, k, s: y**k * (1 + y**s) ** (-k / s),
    ),
    "moyal": continuous(
        0,
        lambda F, y: -(y + F.np.exp(-y) + LOG_2_PI) / 2,
    ),
    "nakagami": _from(
        1,
        lambda F, y, nu: (
            math.log(2)
            + F.sp.xlogy(nu, nu)
            - F.sp.gammaln(nu)
            + F.sp.xlogy(2 * nu - 1, y)
            - nu * y * y
        ),
        cdf=lambda F, y, nu: F.sp.gammainc(nu, nu * y * y),
    ),
    "powerlognorm": _above(
        2,
        lambda F, y, c, s: (
            F.np.log(c / (y * s))
            + _normal(F.np.log(y) / s)
            + (c - 1) * F.sp.log_ndtr(-F.np.log(y) / s)
        ),
        cdf=lambda F, y, c, s: -F.np.expm1(c * F.sp.log_ndtr(-F.np.log(y) / s)),
    ),
    "powernorm": continuous(
        1,
        lambda F, y, c: F.np.log(c) + _normal(y) + (c - 1) * F.sp.log_ndtr(-y),
        cdf=lambda F, y, c: -F.np.expm1(c * F.sp.log_ndtr(-y)),
    ),
    "rdist": _within(
        -1.0,
        1.0,
        True,
        1,
        lambda F, y, c: F.sp.xlog1py(c / 2 - 1, -y * y) - F.sp.betaln(c / 2, 0 * c + 0.5),
    ),
    "rice": _above(1, _log_rice, cdf=lambda F, y, b: F.sp.chndtr(y * y, 2.0, b * b)),
    "semicircular": _within(
        -1.0,
        1.0,
        True,
        0,
        lambda F, y: math.log(2 / math.pi) + F.np.log1p(-y * y) / 2,
    ),
    "skewcauchy": continuous(
        1,
        lambda F, y, a: -math.log(math.pi) - F.np.log1p(F.np.square(y / (1 + a * F.np.sign(y)))),
        cdf=_skewcauchy_below,
    ),
    "skewnorm": continuous(
        1,
        lambda F, y, a: math.log(2) + _normal(y) + F.sp.log_ndtr(a * y),
        cdf=lambda F, y, a: F.sp.ndtr(y) - 2 * F.sp.owens_t(y, a),
    ),
    "triang": _within(0.0, 1.0, True, 1, _log_triang, cdf=_triang_below),
    "truncexpon": _from(
        1,
        _log_truncexpon,
        cdf=lambda F, y, b: F.np.expm1(-F.np.minimum(y, b)) / F.np.expm1(-b),
    ),
    "tukeylambda": continuous(1, _log_tukey, cdf=lambda F, y, lam: F.sp.tklmbda(y, lam)),
    "wald": _above(
        0,
        lambda F, y: _log_invgauss(F, y, 1.0),
    ),
    "weibull_max": _reflected(TABLE["weibull_min"]),
    "betanbinom": discrete(
        3,
        lambda F, k, n, a, b: inside(
            F,
            is_count(F, k),
            F.sp.betaln(a + n, b + counts(F, k))
            - F.sp.betaln(a, b)
            - F.np.log(n + counts(F, k))
            - F.sp.betaln(n, counts(F, k) + 1),
        ),
    ),
    "boltzmann": discrete(
        2,
        lambda F, k, lam, n: inside(
            F,
            is_count(F, k) & (k < n),
            F.np.log(-F.np.expm1(-lam)) - lam * k - F.np.log(-F.np.expm1(-lam * n)),
        ),
    ),
    "dlaplace": discrete(
        1,
        lambda F, k, a: inside(F, F.np.floor(k) == k, F.np.log(F.np.tanh(a / 2)) - a * F.np.abs(k)),
    ),
    "logser": discrete(
        1,
        lambda F, k, p: inside(
            F,
            is_count(F, k) & (k >= 1),
            F.sp.xlogy(k, p) - F.np.log(F.np.maximum(k, 1)) - F.np.log(-F.np.log1p(-p)),
        ),
    ),
    "planck": discrete(
        1,
        lambda F, k, lam: inside(F, is_count(F, k), F.np.log(-F.np.expm1(-lam)) - lam * k),
        cdf=lambda F, k, lam: inside(F, k >= 0, -F.np.expm1(-lam * (F.np.floor(k) + 1)), 0),
    ),
    "yulesimon": discrete(
        1,
        lambda F, k, a: inside(
            F,
            is_count(F, k) & (k >= 1),
            F.np.log(a) + F.sp.betaln(F.np.maximum(k, 1), a + 1),
        ),
    ),
}
"""The distributions, by SciPy's names."""
