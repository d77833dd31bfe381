"""Layer 1 · kernels: random numbers by rejection sampling, and the derivatives of samples.

Each number draws as many uniform ones as its proposals need, in PyTorch's order (NOTE [random
streams]), so these are loops in Python, in double precision.

NOTE [derivatives of samples]
A sample is differentiated with respect to its parameter at constant quantile (implicit
reparameterization): with the distribution function P(a, z) and the density p of a gamma sample z of
shape a, dz/da is -(dP/da) / p. The sums for dP/da are those for P, differentiated term by term: a
series up to the mean, a continued fraction for 1 - P beyond it. Where a is large, z is expanded in
powers of a**-1/2 around a normal quantile, which is constant. With respect to its own parameter, an
element of a Dirichlet sample is a beta sample, and the other elements share the remainder.

References
----------
G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26, 2000.
W. Hörmann, "The transformed rejection method for generating Poisson random variables", Insurance:
Mathematics and Economics 12, 1993; "The generation of binomial random variates", Journal of
Statistical Computation and Simulation 46, 1993.
M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients", 2018.
NIST Digital Library of Mathematical Functions, https://dlmf.nist.gov, sections 8.7, 8.9, 8.17.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.base.ports import PORTS
from wengert.kernels.random import Stream, polar, units

_DOUBLE = np.dtype(np.float64)
_MOST_TERMS = 100_000
_LARGE = 1e4
"""The shape from which the expansion around a normal quantile is exact to ten digits."""


class _Draws:
    """Draws uniform doubles from a stream, in batches that never exceed what is certainly needed.

    Attributes
    ----------
    left: The least number of doubles still needed, which the caller updates.
    next: A function that returns the next double.
    """

    def __init__(self, stream: Stream) -> None:
        self.stream, self.left = stream, 1
        self.next = self._doubles().__next__

    def _doubles(self) -> Iterator[float]:
        while True:
            yield from units(self.stream, max(self.left, 1), _DOUBLE).tolist()

    def normal(self) -> float:
        """Draw a standard normal number, one of a pair, of which the other is kept."""
        ahead = self.stream.ahead
        if ahead is not None:
            self.stream.ahead = None
            return ahead
        first, self.stream.ahead = polar(self.next(), self.next())
        return first


# -- gamma -----------------------------------------------------------------------------------------


def gamma(stream: Stream, alpha: Any) -> Any:
    """Draw gamma numbers of the shapes in a flat array, in double precision (Marsaglia, Tsang)."""
    with stream.lock:
        # values that depend only on the shapes are computed in their precision
        small, one = alpha < 1, alpha.dtype.type(1)
        with np.errstate(all="ignore"):
            powers = np.where(small, one / alpha, 0)
            ds = np.where(small, alpha + one, alpha) - alpha.dtype.type(_THIRD)
        made = _native(_gamma, stream, (powers, ds))
        if made is not None:
            return made
        draws = _Draws(stream)
        powers, ds = powers.tolist(), ds.tolist()
        found = np.empty(len(ds))
        draw = [p != math.inf and 0.0 < d < math.inf for p, d in zip(powers, ds, strict=True)]
        left = sum(draw)
        for i, (power, d) in enumerate(zip(powers, ds, strict=True)):
            left -= draw[i]
            # each remaining number takes a normal one, half of a pair of draws, and a uniform one
            draws.left = 2 * left - 1
            found[i] = _gamma(draws, power, d)
        return found


_NATIVE = 4096
"""The count of numbers that a sampler draws until it is made native, if there is a compiler."""
_COUNTS: Counter[Callable[..., float]] = Counter()


def _native(sampler: Callable[..., float], stream: Stream, params: Any) -> Any:
    """Draw by native code (NOTE [native draws] in `wengert.compiler.runtime.drawing`), or None.

    The numbers and the stream are the same either way, so it may depend on what was drawn before.
    """
    _COUNTS[sampler] += params[0].size
    return PORTS.drawn(sampler, stream, params) if _COUNTS[sampler] >= _NATIVE else None


_THIRD, _SQUEEZE = float(np.float32(1 / 3)), float(np.float32(0.0331))
"""Constants in single precision, as in PyTorch."""


def _gamma(draws: _Draws, power: float, d: float) -> float:
    """Draw a gamma number of shape d + 1/3, or of a smaller shape, the inverse of `power`."""
    if power == math.inf:
        return 0.0
    if not 0.0 < d < math.inf:
        return math.inf if d == math.inf else math.nan
    scale = (1.0 - draws.next()) ** power if power else 1.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = draws.normal()
        y = 1.0 + c * x
        if y <= 0.0:
            continue
        v = y * y * y
        u = 1.0 - draws.next()
        xx = x * x
        if u < 1.0 - _SQUEEZE * xx * xx or math.log(u) < 0.5 * xx + d * (1.0 - v + math.log(v)):
            return scale * d * v


def dirichlet(stream: Stream, alpha: Any) -> Any:
    """Draw Dirichlet numbers along the last dimension: gamma numbers divided by their sum."""
    kind, least = alpha.dtype.type, np.finfo(alpha.dtype).tiny
    found = gamma(stream, alpha.reshape(-1).astype(np.float64)).reshape(alpha.shape)
    # numbers of small concentrations underflow, and their sum may be 0; all of it in double
    found = np.maximum(found, np.finfo(found.dtype).tiny)
    with np.errstate(invalid="ignore"):
        found = (found / found.sum(-1, keepdims=True)).astype(alpha.dtype)
    return np.clip(found, least, np.nextafter(kind(1), kind(0)))


# -- counts ----------------------------------------------------------------------------------------


def poisson(stream: Stream, rate: Any) -> Any:
    """Draw Poisson numbers of the rates in a flat array, in its dtype."""
    with stream.lock:
        made = _native(_poisson, stream, (rate,))
        if made is not None:
            return made.astype(rate.dtype)
        draws = _Draws(stream)
        rates = rate.tolist()
        found = np.empty(len(rates))
        left = len(rates) - rates.count(0.0)
        for i, one in enumerate(rates):
            left -= one != 0.0
            draws.left = left
            found[i] = _poisson(draws.next, one)
        return found.astype(rate.dtype)


def _poisson(draw: Any, rate: float) -> float:
    return _poisson_of_large_rate(draw, rate) if rate >= 10 else _poisson_of_small_rate(draw, rate)


def _poisson_of_small_rate(draw: Any, rate: float) -> int:
    """Return the number of uniform draws whose product stays above exp(-rate)."""
    if rate == 0.0:
        return 0
    least, product, count = math.exp(-rate), draw(), 0
    while product > least:
        count += 1
        product *= draw()
    return count


def _poisson_of_large_rate(draw: Any, rate: float) -> int:
    """Draw a Poisson number by Hörmann's transformed rejection, PTRS."""
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    log_inverse = math.log(1.1239 + 1.1328 / (b - 3.4))
    bound = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = draw() - 0.5
        v = draw()
        near = 0.5 - abs(u)
        if near == 0.0:
            continue
        k = math.floor((2.0 * a / near + b) * u + rate + 0.43)
        if near >= 0.07 and v <= bound:
            return k
        if k < 0 or (near < 0.013 and v > near):
            continue
        left = (math.log(v) if v else -math.inf) + log_inverse - math.log(a / (near * near) + b)
        if left <= -rate + k * log_rate - math.lgamma(k + 1.0):
            return k


def binomial(stream: Stream, count: Any, prob: Any) -> Any:
    """Draw binomial numbers of the counts and probabilities in two flat arrays of one dtype."""
    with stream.lock:
        params = _of_trials(count, prob)
        made = _native(_binomial, stream, params)
        if made is not None:
            drawn = (params[0] != 0) & (prob > 0.5)
            return np.where(drawn, params[2] - made, made).astype(count.dtype)
        draws = _Draws(stream)
        found = np.empty(count.shape, count.dtype)
        columns = [column.tolist() for column in params]
        draws.left = sum(map(bool, columns[0]))
        for i, values in enumerate(zip(*columns, strict=True)):
            draws.left -= bool(values[0])
            made = _binomial(draws.next, *values)
            found[i] = values[2] - made if values[0] and prob[i] > 0.5 else made
        return found


def _of_trials(count: Any, prob: Any) -> list[Any]:
    """Return the parameters of `_binomial` for some counts and probabilities."""
    kind = count.dtype.type
    open_ = (count > 0) & (prob > 0) & (prob < 1)
    known = np.where((count <= 0) | (prob <= 0), 0, np.where(prob >= 1, count, math.nan))
    n, p = np.where(open_, count, kind(1)), np.where(open_, prob, kind(0.5))
    rare = np.where(p <= 0.5, p, kind(1) - p)
    few = n * rare < 10
    log_miss = np.log1p(-rare)
    return [open_ * 1.0, known, n, few * 1.0, log_miss, *_btrs(n, rare)]


def _binomial(
    draw: Any, open_: float, known: float, n: float, few: float, log_miss: float,
    b: float, a: float, c: float, bound: float, odds: float, alpha: float, m: float,
) -> float:  # fmt: skip
    """Draw the number of successes in n trials; return `known` if that is given."""
    if not open_:
        return known
    if few:
        return _by_gaps(draw, n, log_miss)
    return _by_rejection(draw, n, b, a, c, bound, odds, alpha, m)


def _by_gaps(draw: Any, most: float, log_miss: float) -> float:
    """Return the number of geometric gaps that fit into `most` trials."""
    trials, found = 0.0, 0.0
    while True:
        u = draw()
        trials += math.ceil(math.log(u) / log_miss) if u > 0 else math.inf
        if trials > most:
            return found
        found += 1.0


_TAILS = (
    *(0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.0207906721037650),
    *(0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720),
    *(0.00925546218271273, 0.00833056343336287),
)
"""The error of Stirling's approximation of ln k!, for k up to 9."""


def _tail(k: float) -> float:
    if k <= 9:
        return _TAILS[int(k)]
    square = (k + 1.0) * (k + 1.0)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1.0)


def _by_rejection(
    draw: Any, n: float,
    b: float, a: float, c: float, bound: float, odds: float, alpha: float, m: float,
) -> float:  # fmt: skip
    """Draw a binomial number by Hörmann's transformed rejection, BTRS."""
    while True:
        u = draw() - 0.5
        v = draw()
        near = 0.5 - abs(u)
        if near == 0.0:
            continue
        k = math.floor((2.0 * a / near + b) * u + c)
        if near >= 0.07 and v <= bound:
            return k
        if k < 0.0 or k > n:
            continue
        if v == 0.0:
            return k
        if math.log(v * alpha / (a / (near * near) + b)) <= _height(k, n, odds, m):
            return k


def _height(k: float, n: float, odds: float, m: float) -> float:
    most = (m + 0.5) * math.log((m + 1.0) / (odds * (n - m + 1.0)))
    most += (n + 1.0) * math.log((n - m + 1.0) / (n - k + 1.0))
    most += (k + 0.5) * math.log(odds * (n - k + 1.0) / (k + 1.0))
    return most + (_tail(m) + _tail(n - m)) - (_tail(k) + _tail(n - k))


def _btrs(count: Any, prob: Any) -> tuple[Any, ...]:
    """Return the constants of proposal and acceptance: b, a, c, bound, odds, alpha, m.

    Values that depend only on the parameters are computed in the parameters' precision.
    """
    kind = prob.dtype.type

    def rounded(values: Any) -> Any:
        return np.asarray(values, kind).astype(np.float64)

    wide = np.float64
    spread = rounded(np.sqrt(count * prob * (kind(1) - prob)))
    b = rounded(1.15 + 2.53 * spread)
    a = rounded(-0.0873 + 0.0248 * b + 0.01 * rounded(prob))
    c = rounded(rounded(count * prob) + wide(0.5))
    bound = rounded(0.92 - 4.2 / b)
    odds = rounded(prob / (kind(1) - prob))
    alpha = rounded((2.83 + 5.1 / b) * spread)
    return b, a, c, bound, odds, alpha, rounded(np.floor((count + kind(1)) * prob))


# -- slopes ----------------------------------------------------------------------------------------


def gamma_slope(alpha: Any, z: Any) -> Any:
    """Return dz/da of gamma samples z of shape a (see NOTE [derivatives of samples])."""
    alpha, z = np.asarray(alpha), np.asarray(z)
    a, x = np.broadcast_arrays(alpha.astype(np.float64), z.astype(np.float64))
    shape = a.shape
    a, x = a.reshape(-1), np.maximum(x.reshape(-1), np.finfo(np.float64).tiny)
    found = np.full(a.shape, math.nan)
    known = (a > 0) & (x < math.inf) & (a < math.inf)
    low = known & (x <= a + 1)
    deviation = np.zeros_like(a)
    with np.errstate(all="ignore"):
        large = known & (a >= _LARGE)
        deviation[large] = _normal_quantile(a[large], x[large])
    # the expansion does not hold far from the middle
    large &= np.absolute(deviation) < 8
    for where, slope in ((low & ~large, _below), (known & ~low & ~large, _above)):
        if where.any():
            found[where] = slope(a[where], x[where])
    found[large] = _expanded(a[large], deviation[large])
    return found.reshape(shape).astype(alpha.dtype)[()]


def _below(a: Any, x: Any) -> Any:
    # P = x**a exp(-x) / gamma(a + 1) * sum(t), t[n] = x**n / ((a + 1) ... (a + n)); p without x**a
    # exp(-x) / gamma(a) is 1 / x, so the ratio needs the derivative of gamma, but not gamma itself
    term, total = np.ones_like(x), np.ones_like(x)
    change, changes = np.zeros_like(x), np.zeros_like(x)
    for n in range(1, _MOST_TERMS):
        factor = x / (a + n)
        change = change * factor - term * factor / (a + n)
        term = term * factor
        total += term
        changes += change
        if not (np.absolute(change) > 1e-17 * np.absolute(changes)).any() and (factor < 1).all():
            break
    return -((np.log(x) - _digamma(a + 1)) * total + changes) * x / a


def _above(a: Any, x: Any) -> Any:
    # 1 - P = x**a exp(-x) / gamma(a) * h with Legendre's continued fraction h, by Lentz's method,
    # each factor with its logarithmic derivative d/da; p without the same factors is 1 / x
    step = x + 1 - a
    d, d_slope = 1 / step, 1 / (step * step)
    c, c_slope = np.full_like(x, math.inf), np.zeros_like(x)
    h, log_slope = d.copy(), d_slope / d
    for n in range(1, _MOST_TERMS):
        weight, step = -n * (n - a), step + 2
        below = 1 / (step + weight * d)
        d_slope = -below * below * (n * d + weight * d_slope - 1)
        c_next = step + weight / c
        c_slope = n / c - weight * c_slope / (c * c) - 1
        d, c = below, c_next
        factor = c * d
        change = c_slope / c + d_slope / d
        h *= factor
        log_slope += change
        settled = np.absolute(factor - 1) <= 1e-15
        if (settled & (np.absolute(change) <= 1e-15 * np.absolute(log_slope))).all():
            break
    return x * h * (np.log(x) - _digamma(a) + log_slope)


def _expanded(a: Any, w: Any) -> Any:
    # z = a + w a**1/2 + (w² - 1) / 3 + (w³ - 7 w) / (36 a**1/2) - (3 w⁴ + 7 w² - 16) / (810 a) ...
    root, square = np.sqrt(a), w * w
    third = (square - 7) * w / (72 * a * root)
    return 1 + w / (2 * root) - third + ((3 * square + 7) * square - 16) / (810 * a * a)


def _normal_quantile(a: Any, x: Any) -> Any:
    """Solve the expansion above for the w at which z is `x`, by Newton's method."""
    root = np.sqrt(a)
    w = (x - a) / root
    for _ in range(8):
        square = w * w
        z = a + w * root + (square - 1) / 3 + (square - 7) * w / (36 * root)
        z -= ((3 * square + 7) * square - 16) / (810 * a)
        w = w - (z - x) / (root + 2 * w / 3 + (3 * square - 7) / (36 * root))
    return w


def _digamma(x: Any) -> Any:
    """Return the derivative of ln gamma, for x > 0."""
    result = np.zeros_like(x)
    for i in range(8):
        result -= 1 / (x + i)
    x = x + 8
    r = 1 / (x * x)
    series = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132)))))
    return result + np.log(x) - 0.5 / x - series


def beta_slope(x: Any, y: Any, a: Any, b: Any) -> Any:
    """Return dx/da of beta samples x = 1 - y of parameters a and b, in double precision."""
    # use the tail that is below the mean, or whose series is short
    upper = (x * (a + b + 2) > a + 1) | ((y * (a + b) < 3 * (b + 1)) & (x > 0.5))
    near, far = np.where(upper, y, x), np.where(upper, b, a)
    # I = x**a y**b / (a B(a, b)) * sum(t), t[n] = (a + b)...(a + b + n - 1) x**n / ((a + 1)...)
    term, total = np.ones_like(x), np.ones_like(x)
    change, changes = np.zeros_like(x), np.zeros_like(x)
    moves = ~upper
    for n in range(_MOST_TERMS):
        top, bottom = a + b + n, far + 1 + n
        factor = top / bottom * near
        slope = (near - factor * moves) / bottom
        change = change * factor + term * slope
        term = term * factor
        total += term
        changes += change
        # every change of the terms may be 0, as for b = 1
        small = (np.absolute(change) <= 1e-17 * np.absolute(changes)) & (term <= 1e-17 * total)
        if (small & (factor < 1)).all():
            break
    by_power = np.log(x) - _digamma(np.where(upper, a, a + 1)) + _digamma(a + b)
    return (x * y / far) * np.where(upper, 1, -1) * (by_power * total + changes)


def dirichlet_slope(x: Any, alpha: Any, total: Any) -> Any:
    """Return dx/da of Dirichlet samples for their own parameters, divided by 1 - x."""
    kind = x.dtype
    x, alpha, total = (np.asarray(v, np.float64) for v in (x, alpha, total))
    x, alpha, total = np.broadcast_arrays(x, alpha, total)
    x = np.clip(x, np.finfo(np.float64).tiny, np.nextafter(1.0, 0.0))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return (beta_slope(x, 1 - x, alpha, total - alpha) / (1 - x)).astype(kind)[()]
