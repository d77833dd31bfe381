"""Layer 1 · kernels: random numbers by rejection sampling, and the derivatives of samples.

Each number draws as many uniform ones as its proposals need, in PyTorch's order (NOTE [random
streams]), so these are loops in Python, in double precision.

NOTE [samples of one distribution]
If all numbers have the same parameters, whether a proposal is accepted does not depend on the
number that it is for. So as many proposals as numbers are missing, which are certainly needed, are
tested together, until none is missing: the result and the draws from the stream are those of the
loop. A test that rounding could decide uses the functions of `math`, as the loop does.

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
        if alpha.size < _NATIVE and _is_one(alpha) and 1 <= alpha[0] < math.inf:
            d = float(alpha[0] - alpha.dtype.type(_THIRD))
            parts = [
                _gammas(stream, d, min(alpha.size - i, _PART)) for i in range(0, alpha.size, _PART)
            ]
            return np.concatenate(parts)
        draws = _Draws(stream)
        # values that depend only on the shapes are computed in their precision
        small, one = alpha < 1, alpha.dtype.type(1)
        with np.errstate(all="ignore"):
            powers = np.where(small, one / alpha, 0)
            ds = np.where(small, alpha + one, alpha) - alpha.dtype.type(_THIRD)
        if alpha.size >= _NATIVE:
            made = PORTS.drawn(_gamma, stream, (powers, ds))
            if made is not None:
                return made
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


def _is_one(*arrays: Any) -> bool:
    """Return whether many numbers share their parameters (NOTE [samples of one distribution])."""
    return arrays[0].size >= _MANY and all(bool((array == array[0]).all()) for array in arrays)


_NATIVE = 4096
"""The count from which native code, if available, draws numbers (NOTE [native draws] in
`wengert.compiler.runtime.drawing`)."""
_MANY = 32
"""The number of samples from which they are drawn together."""
_AT_ONCE = 4096
"""The number of uniform numbers per block, which stays in the cache."""
_PART = 2048
"""So few gamma numbers per block that seldom one of them needs more draws than most."""


def _decide(
    accepted: Any, open_: Any, margin: Any, size: Any, decided: Callable[[int], bool]
) -> None:
    """Accept undecided proposals of positive margin; if within `size` of rounding, ask exactly."""
    accepted |= open_ & (margin > 0)
    unsure = open_ & ~(np.absolute(margin) > 1e-9 * (1.0 + np.absolute(size)))
    for i in np.flatnonzero(unsure).tolist():
        accepted[i] = decided(i)


def _listed(function: Callable[[float], float], array: Any) -> Any:
    """Apply a function of `math` to each element."""
    return np.array([*map(function, array.tolist())])


def _of_counts(function: Callable[[float], float], counts: Any) -> Any:
    """Apply a function to integers that are few or close together."""
    least, most = counts.min(), counts.max()
    if most - least > counts.size:
        found, which = np.unique(counts, return_inverse=True)
        return _listed(function, found)[which]
    return _listed(function, np.arange(least, most + 1))[(counts - least).astype(np.int64)]


def _gammas(stream: Stream, d: float, count: int) -> Any:
    """Draw gamma numbers of the shape d + 1/3."""
    before, ahead = stream.state(), stream.ahead
    c = 1.0 / math.sqrt(9.0 * d)
    found: list[Any] = []
    missing = count
    while missing:
        normals = [] if stream.ahead is None else [stream.ahead]
        odd = len(normals)
        pairs = (missing - odd + 1) // 2
        # two normal numbers precede the first of their two uniform ones
        unit = units(stream, 2 * pairs + missing, _DOUBLE)
        blocks = np.concatenate([unit[odd:], np.zeros(4 * pairs + odd - unit.size)])
        blocks = blocks.reshape(pairs, 4)
        # in the order of `polar`
        angle, radius = (
            2.0 * math.pi * blocks[:, 0],
            np.sqrt(-2.0 * _listed(math.log1p, -blocks[:, 1])),
        )
        both = np.empty((pairs, 2))
        both[:, 0] = radius * _listed(math.cos, angle)
        both[:, 1] = radius * _listed(math.sin, angle)
        normals += both.reshape(-1).tolist()
        stream.ahead = normals.pop() if len(normals) > missing else None
        x = np.array(normals)
        u = 1.0 - np.concatenate([unit[:odd], blocks[:, 2:].reshape(-1)])[:missing]
        y = 1.0 + c * x
        if y.min() <= 0.0:
            # accepted without a uniform number
            stream.restore(before)
            stream.ahead = ahead
            draws = _Draws(stream)
            made = np.empty(count)
            for i in range(count):
                draws.left = 2 * (count - i - 1) - 1
                made[i] = _gamma(draws, 0.0, d)
            return made
        v, xx = y * y * y, x * x
        taken = u < 1.0 - _SQUEEZE * xx * xx
        bound = 0.5 * xx + d * (1.0 - v + np.log(v))

        def decided(i: int, v: Any = v, u: Any = u, xx: Any = xx) -> bool:
            own = v[i].item()
            return math.log(u[i]) < 0.5 * xx[i].item() + d * (1.0 - own + math.log(own))

        _decide(taken, ~taken, bound - np.log(u), d * (1.0 + v), decided)
        found.append(d * v[taken])
        missing -= int(taken.sum())
    return np.concatenate(found)


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
    # numbers of small concentrations underflow, and their sum may be 0
    found = np.maximum(found, least)
    with np.errstate(invalid="ignore"):
        found = (found / found.sum(-1, keepdims=True)).astype(alpha.dtype)
    return np.clip(found, least, np.nextafter(kind(1), kind(0)))


# -- counts ----------------------------------------------------------------------------------------


def poisson(stream: Stream, rate: Any) -> Any:
    """Draw Poisson numbers of the rates in a flat array, in its dtype."""
    with stream.lock:
        if rate.size >= _NATIVE:
            made = PORTS.drawn(_poisson, stream, (rate,))
            if made is not None:
                return made.astype(rate.dtype)
        if _is_one(rate) and rate[0] > 0:
            one = float(rate[0])
            several = (
                _manies(stream, one, rate.size) if one >= 10 else _fews(stream, one, rate.size)
            )
            return several.astype(rate.dtype)
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


def _runs(stream: Stream, count: int, mean: float, lengths: Callable[[Any], Any]) -> Any:
    """Return the number of consecutive uniform draws that each of `count` numbers takes.

    Parameters
    ----------
    mean: The approximate average number of draws.
    lengths
        Maps uniform numbers to the number of draws of a result that begins with each of them; if
        it is not known yet, to more than there are.
    """
    before = stream.state()
    found: list[int] = []
    left, used = np.empty(0), 0
    while len(found) < count:
        more = min(int((count - len(found)) * (mean + 0.5)) + 64, _AT_ONCE)
        left = np.concatenate([left, units(stream, more, _DOUBLE)])
        known, place = lengths(left).tolist(), 0
        size = len(known)
        for _ in range(count - len(found)):
            step = known[place] if place < size else size + 1
            if place + step > size:
                break
            found.append(step)
            place += step
        left = left[place:]
        used += place
    # no more of the stream than was used
    stream.restore(before)
    for start in range(0, used, _AT_ONCE):
        stream.raw(2 * min(used - start, _AT_ONCE))
    return np.array(found)


def _fews(stream: Stream, rate: float, count: int) -> Any:
    """Draw numbers of one rate, as `_poisson_of_small_rate` does."""
    least = math.exp(-rate)

    def counted(unit: list[float]) -> int:
        product = 1.0
        for n, u in enumerate(unit, 1):
            product *= u
            if product <= least:
                return n
        return len(unit) + 1

    def lengths(unit: Any) -> Any:
        # by sums of logarithms, except where a product is close to the bound
        with np.errstate(divide="ignore"):
            ends = np.cumsum(np.minimum(-np.log(unit), rate + 1.0))
        goals = np.concatenate([[0.0], ends[:-1]]) + rate
        last = np.searchsorted(ends, goals)
        made = last - np.arange(unit.size) + 1
        close = 1e-9 * (1.0 + ends[-1])
        beside = np.minimum(last, unit.size - 1), np.maximum(last - 1, 0)
        unsure = np.absolute(ends[beside[0]] - goals) < close
        unsure |= np.absolute(ends[beside[1]] - goals) < close
        values = unit.tolist()
        for i in np.flatnonzero(unsure).tolist():
            made[i] = counted(values[i:])
            if made[i] > unit.size - i:
                made[i] = unit.size + 1
        return made

    return _runs(stream, count, rate + 1, lengths) - 1


def _proposed(stream: Stream, count: int, taken: Callable[[Any, Any, Any], Any]) -> Any:
    """Draw numbers of one distribution by transformed rejection.

    Parameters
    ----------
    taken
        Maps u, v and 1/2 - abs(u) of proposals to the proposed numbers and a mask of those that
        are accepted.
    """
    found: list[Any] = []
    missing = count
    while missing:
        unit = units(stream, 2 * missing, _DOUBLE)
        u, v = unit[0::2] - 0.5, unit[1::2]
        near = 0.5 - np.absolute(u)
        with np.errstate(all="ignore"):
            k, accepted = taken(u, v, near)
        accepted &= near != 0.0
        found.append(k[accepted])
        missing -= found[-1].size
    return np.concatenate(found)


def _manies(stream: Stream, rate: float, count: int) -> Any:
    """Draw numbers of one rate, as `_poisson_of_large_rate` does."""
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    log_inverse = math.log(1.1239 + 1.1328 / (b - 3.4))
    bound = 0.9277 - 3.6224 / (b - 2.0)

    def taken(u: Any, v: Any, near: Any) -> Any:
        k = np.floor((2.0 * a / near + b) * u + rate + 0.43)
        accepted = (near >= 0.07) & (v <= bound)
        open_ = ~accepted & (k >= 0) & ~((near < 0.013) & (v > near)) & (near != 0.0)

        def decided(i: int) -> bool:
            one, place, height = near[i].item(), k[i].item(), v[i].item()
            left = (math.log(height) if height else -math.inf) + log_inverse
            left -= math.log(a / (one * one) + b)
            return left <= -rate + place * log_rate - math.lgamma(place + 1.0)

        factorials = _of_counts(
            lambda count: math.lgamma(count + 1.0), np.where(open_, k, rate // 1)
        )
        right = k * log_rate - rate - factorials
        margin = right - (np.log(v) + log_inverse - np.log(a / (near * near) + b))
        _decide(accepted, open_, margin, rate + np.absolute(k * log_rate), decided)
        return k, accepted

    return _proposed(stream, count, taken)


def _gaps(stream: Stream, trials: float, prob: Any, count: int) -> Any:
    """Draw numbers of one distribution, as `_by_gaps` does."""
    log_miss = float(np.log1p(-prob))

    def lengths(unit: Any) -> Any:
        with np.errstate(divide="ignore"):
            exact = np.log(unit) / log_miss
        gaps = np.ceil(exact)
        unsure = np.absolute(exact - np.rint(exact)) <= 1e-9 * (1.0 + exact)
        for i in np.flatnonzero(unsure & (unit > 0)).tolist():
            gaps[i] = math.ceil(math.log(unit[i]) / log_miss)
        # integers, whose sums are exact
        ends = np.cumsum(np.minimum(gaps, math.floor(trials) + 1.0))
        begins = np.concatenate([[0.0], ends[:-1]])
        return np.searchsorted(ends, begins + trials, "right") - np.arange(unit.size) + 1

    return _runs(stream, count, trials * float(prob) + 1, lengths) - 1


def binomial(stream: Stream, count: Any, prob: Any) -> Any:
    """Draw binomial numbers of the counts and probabilities in two flat arrays of one dtype."""
    kind = count.dtype.type
    with stream.lock:
        if count.size >= _NATIVE:
            params = _of_trials(count, prob)
            made = PORTS.drawn(_binomial, stream, params)
            if made is not None:
                drawn = (params[0] != 0) & (prob > 0.5)
                return np.where(drawn, params[2] - made, made).astype(count.dtype)
        if _is_one(count, prob) and count[0] > 0 and 0 < prob[0] < 1:
            n, p = count[0], prob[0]
            rare = p if p <= 0.5 else kind(1) - p
            if n * rare < 10:
                several = _gaps(stream, float(n), rare, count.size)
            else:
                several = _proposed(stream, count.size, _transformed(n, rare))
            several = several.astype(count.dtype)
            return several if p <= 0.5 else n - several
        draws = _Draws(stream)
        found = np.empty(count.shape, count.dtype)
        columns = [column.tolist() for column in _of_trials(count, prob)]
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


def _transformed(count: Any, prob: Any) -> Callable[[Any, Any, Any], Any]:
    """Draw many proposals of `_by_rejection` at once (see `_proposed`)."""
    b, a, c, bound, odds, alpha, m = map(float, _btrs(count, prob))
    n = float(count)

    def taken(u: Any, v: Any, near: Any) -> Any:
        k = np.floor((2.0 * a / near + b) * u + c)
        accepted = (near >= 0.07) & (v <= bound)
        open_ = ~accepted & (k >= 0) & (k <= n) & (near != 0.0)
        most = _of_counts(lambda one: _height(one, n, odds, m), np.where(open_, k, n // 2))
        margin = most - np.log(v * alpha / (a / (near * near) + b))

        def decided(i: int) -> bool:
            one, v_i = near[i].item(), v[i].item()
            height = _height(k[i].item(), n, odds, m)
            return not v_i or math.log(v_i * alpha / (a / (one * one) + b)) <= height

        _decide(accepted, open_, margin, n * 40.0, decided)
        return k, accepted

    return taken


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
    # each factor with its logarithmic derivative by a; p without the same factors is 1 / x
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


def beta_slope(x: Any, a: Any, b: Any) -> Any:
    """Return dx/da of beta samples x of parameters a and b, in double precision."""
    y = 1 - x
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
        if not (np.absolute(change) > 1e-17 * np.absolute(changes)).any() and (factor < 1).all():
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
        return (beta_slope(x, alpha, total - alpha) / (1 - x)).astype(kind)[()]
