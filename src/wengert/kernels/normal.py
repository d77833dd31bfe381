"""Layer 1 · kernels: the normal distribution and the inverse of the error function.

NOTE [quantile]
The quantile of the normal distribution is algorithm AS 241 (PPND16): rational functions of degree
7 / 7, one of (p - 1/2)**2 in the centre and two of sqrt(-ln min(p, 1 - p)) in the tails. The
inverse of the error function is the same function of (x + 1) / 2, with its argument given by x
itself so that no digits are lost near x = 0 and near x = 1.

NOTE [slope of erfcx]
For x >= 0 the derivative 2 x erfcx(x) - 2 / sqrt(pi) is a difference of nearly equal numbers. Times
-(1 + 2 x)**2 it is a smooth function of u = (x - 3) / (x + 3) (see below), here a polynomial of
degree 27, the interpolation at Chebyshev points (relative error 1e-17).

NOTE [tail in single precision]
For y >= 0, (1 + 2 y) exp(y * y) erfc(y) is a smooth function of u = (y - 3) / (y + 3), as M. M.
Shepherd and J. G. Laframboise found (Mathematics of Computation 36 (1981), 249-253). Here it is a
polynomial of degree 11, the interpolation at Chebyshev points (relative error 7e-9).

References
----------
M. J. Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied
Statistics 37 (1988), 477-484.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.kernels.protocols import asarray, floats
from wengert.kernels.scipy import quick, ufunc
from wengert.kernels.single import SHEPHERD, horner
from wengert.kernels.special import erfc, ratio

_HALF_SQRT = math.sqrt(0.5)
_TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)
_BLOCK = 16384
_FEW = 2048


# numerator and denominator of each rational function, highest power first
_CENTRE = (
    floats(
        "2509.0809287301226727 33430.575583588128105 67265.770927008700853 45921.953931549871457 "
        "13731.693765509461125 1971.5909503065514427 133.14166789178437745 3.387132872796366608"
    ),
    floats(
        "5226.495278852545925 28729.085735721942674 39307.89580009271061 21213.794301586595867 "
        "5394.1960214247511077 687.1870074920579083 42.313330701600911252 1.0"
    ),
)
_TAIL = (
    floats(
        "7.7454501427834140764e-4 0.0227238449892691845833 0.24178072517745061177 "
        "1.27045825245236838258 3.64784832476320460504 5.7694972214606914055 "
        "4.6303378461565452959 1.42343711074968357734"
    ),
    floats(
        "1.05075007164441684324e-9 5.475938084995344946e-4 0.0151986665636164571966 "
        "0.14810397642748007459 0.68976733498510000455 1.6763848301838038494 "
        "2.05319162663775882187 1.0"
    ),
)
_FAR_TAIL = (
    floats(
        "2.01033439929228813265e-7 2.71155556874348757815e-5 0.0012426609473880784386 "
        "0.026532189526576123093 0.29656057182850489123 1.7848265399172913358 "
        "5.4637849111641143699 6.6579046435011037772"
    ),
    floats(
        "2.04426310338993978564e-15 1.4215117583164458887e-7 1.8463183175100546818e-5 "
        "7.868691311456132591e-4 0.0148753612908506148525 0.13692988092273580531 "
        "0.59983220655588793769 1.0"
    ),
)


def _quantile(q: Any, tail_of: Callable[[Any], Any]) -> Any:
    """Return the quantile at 1/2 + q; `tail_of` maps indices to min(p, 1 - p) there."""
    r = q * q
    np.subtract(0.180625, r, out=r)
    result = ratio(r, _CENTRE)
    result *= q
    outer = np.flatnonzero(r < 0)
    if outer.size:
        result[outer] = np.copysign(_outer(tail_of(outer)), q[outer])
    return result


def _outer(tail: Any) -> Any:
    """Return minus the quantile at small probabilities."""
    r = np.log(tail)
    np.negative(r, out=r)
    np.sqrt(r, out=r)
    far = r > 5.0
    if not np.count_nonzero(far):
        r -= 1.6
        return ratio(r, _TAIL)
    result = np.empty_like(r)
    near = ~far
    result[near] = ratio(r[near] - 1.6, _TAIL)
    result[far] = ratio(r[far] - 5.0, _FAR_TAIL)
    result[r == np.inf] = np.inf
    return result


def by_blocks(function: Any) -> Any:
    """Return a function that applies `function` to blocks that fit into the cache."""

    def many(x: Any) -> Any:
        flat = np.ascontiguousarray(x).reshape(-1)
        result = np.empty_like(flat)
        for start in range(0, flat.size, _BLOCK):
            result[start : start + _BLOCK] = function(flat[start : start + _BLOCK])
        return result.reshape(x.shape)

    return many


def _erfinv(x: Any) -> Any:
    result = _quantile(0.5 * x, lambda at: 0.5 * (1.0 - np.absolute(x[at])))
    result *= _HALF_SQRT
    return result


def _ndtri(p: Any) -> Any:
    return _quantile(p - 0.5, lambda at: np.minimum(p[at], 1.0 - p[at]))


def _ndtr(x: Any) -> Any:
    """Compute the distribution function in single precision (NOTE [tail in single precision])."""
    # beyond 20 it is 0 in this precision
    size = np.minimum(np.absolute(x), 20.0)
    y = size * _HALF_SQRT
    u = (y - 3.0) / (y + 3.0)
    tail = horner(u, SHEPHERD)
    y += 0.5
    tail /= y
    # exp(-x * x / 2), with x split into an exact part and a small rest
    exact = np.floor(size * 16.0)
    exact *= 0.0625
    rest = size - exact
    rest *= size + exact
    rest *= -0.5
    exact *= exact
    exact *= -0.5
    tail *= np.exp(exact)
    tail *= np.exp(rest)
    # half of erfc(y), where the factor of a half is the one that the division above left out
    tail *= 0.25
    return np.where(x > 0, 1.0 - tail, tail)


_scipy_ndtr = ufunc("ndtr", "ndtr")
_single_ndtr = by_blocks(_ndtr)
_SINGLE = np.dtype(np.float32)

erfinv = quick(ufunc("erfinv", "erfinv"), by_blocks(_erfinv), _FEW, np.float64, True)
ndtri = quick(ufunc("ndtri", "ndtri"), by_blocks(_ndtri), _FEW, np.float64, True)


def ndtr(self: Any) -> Any:
    """Return the distribution function of the normal distribution."""
    if self.dtype == _SINGLE and self.size > 1024:
        with np.errstate(under="ignore"):
            return _single_ndtr(self)
    try:
        return _scipy_ndtr(self)
    except ImportError:
        # use erfc, not erf, which is 1 long before the left tail is 0
        return 0.5 * erfc(self * -_HALF_SQRT)


_erfcx = ufunc("erfcx", "log_ndtr")


# lowest power first
_SLOPE = floats(
    "2.6642407403514707 -0.20547056079930334 -0.6936084288393596 0.8662754147904836 "
    "-0.47192947413336483 0.019277493314295246 0.1688780210795645 -0.12551965354366634 "
    "0.031756912968817 0.009918973430643964 -0.008015037255298249 -0.00023673687304834906 "
    "0.0014813054184791689 -6.582541061883532e-05 -0.00028341824941415796 9.015658236779854e-06 "
    "5.8290695675056284e-05 3.1826284374127443e-06 -1.2182920661073097e-05 "
    "-2.4796031842605004e-06 2.3569903558598866e-06 9.93094476145211e-07 -3.740757009939152e-07 "
    "-2.8159321223126665e-07 4.0713053535483716e-08 5.360100681677567e-08 -2.1003480390347113e-09 "
    "-5.146790368269974e-09"
)


def erfcx_slope(self: Any) -> Any:
    """Return the derivative of exp(x * x) erfc(x) (see NOTE [slope of erfcx])."""
    x = asarray(self, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        right = np.maximum(x, 0.0)
        slope = horner((right - 3.0) / (right + 3.0), _SLOPE)
        # divided twice: the square might overflow
        slope = -(slope / (1.0 + 2.0 * right)) / (1.0 + 2.0 * right)
        slope = np.where(right == np.inf, -0.0, slope)
        if (x < 0).any():
            left = np.minimum(x, 0.0)
            slope = np.where(x < 0, 2.0 * left * _erfcx(left) - _TWO_OVER_SQRT_PI, slope)
    return slope.astype(self.dtype)[()]


def normal_hazard(self: Any) -> Any:
    """Return the density of the normal distribution over its distribution function."""
    # use erfcx, which stays accurate where both of them vanish
    return math.sqrt(2.0 / math.pi) / _erfcx(self * -_HALF_SQRT)
