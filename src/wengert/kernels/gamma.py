"""Layer 1 · kernels: the gamma function's logarithm, its derivatives, and zeta.

NOTE [trigamma]
For x >= 1/2 the recurrence of the trigamma function (DLMF 5.15.5) takes x beyond 7.5, where the
terms of its asymptotic series (DLMF 5.15.8) up to the ninth are below 1e-17. Below 1/2 it is
reflected (DLMF 5.15.6). So is the digamma function of large float32 arrays (DLMF 5.5.2, 5.11.2,
5.5.4), for which SciPy takes a hundred times as long at some negative numbers.

NOTE [zeros of lgamma]
The logarithm of the gamma function vanishes at 1 and 2, where SciPy's function loses all relative
accuracy. From 3/4 to 9/4 it is (x - 1) (x - 2) times a smooth function, here a polynomial of degree
29 in x - 3/2, the interpolation at Chebyshev points (relative error 1e-18). All is computed in
float64.

References
----------
NIST Digital Library of Mathematical Functions, https://dlmf.nist.gov, sections 5.15, 25.11, 35.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.kernels.normal import by_blocks
from wengert.kernels.protocols import floats, is_numpys
from wengert.kernels.scipy import quick, ufunc
from wengert.kernels.single import horner, large

# the Bernoulli numbers B_2, B_4, ..., B_20
_BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
)

_SHARES = [value / (2 * k + 2) for k, value in enumerate(_BERNOULLI)]

_lgamma = ufunc("gammaln", "lgamma")
igamma = ufunc("gammainc", "igamma")
_igammac = ufunc("gammaincc", "igammac")
_zeta = ufunc("zeta", "zeta")


# lowest power first
_AROUND_ZEROS = floats(
    "0.4831289505409809 -0.14595989591430608 0.06291140107456479 -0.0313084875010109 "
    "0.016797098631206975 -0.009425622448482857 0.005446457843502933 -0.0032120740765146025 "
    "0.001922916168817491 -0.0011644144926075692 0.0007115217918006498 -0.0004379948184717815 "
    "0.00027128205638991885 -0.00016889754072071302 0.00010558767415409738 -6.629021703534048e-05 "
    "4.196024945461822e-05 -2.6518599845122198e-05 1.606299058658912e-05 -1.0194523336525692e-05 "
    "8.485460504428284e-06 -5.4316350056244315e-06 -3.6655170852068927e-07 2.608805547635313e-07 "
    "4.973885035899143e-06 -3.2185292058412695e-06 -2.4854385132720083e-06 1.6137352227413749e-06 "
    "1.3587700316604039e-06 -8.801623938650729e-07"
)


def lgamma(self: Any) -> Any:
    """Return the logarithm of the gamma function's absolute value (NOTE [zeros of lgamma])."""
    if not is_numpys(self):
        return _lgamma(self)
    # in single precision the functions of SciPy and `math` are accurate enough
    x = self if self.dtype.char in "fd" else np.asarray(self, np.float64)
    result = np.asarray(_lgamma(x))
    if self.dtype.itemsize == 8:
        near = np.absolute(x - 1.5) < 0.75
        if np.count_nonzero(near):
            # sixty operations are faster on Python floats than on arrays of one element
            y = x[near] if x.size > 1 else x.item()
            # the sign of a zero is lost
            result[near] = horner(y - 1.5, _AROUND_ZEROS) * ((y - 1.0) * (y - 2.0)) + 0.0
    lowest = x == _LOWEST
    if np.count_nonzero(lowest):
        result[lowest] = math.inf
    return result.astype(self.dtype, copy=False)[()]


_LOWEST = np.array(-math.inf)


def igammac(self: Any, other: Any) -> Any:
    """Return the regularised upper incomplete gamma function of shape `self`."""
    if other.dtype.char != "f" or not is_numpys(other):
        return _igammac(self, other)
    # SciPy's lower function takes a fifth of the time, and in double precision the difference from
    # 1 has digits enough where it is not small
    a, x = np.broadcast_arrays(self.astype(np.float64), other.astype(np.float64))
    upper = np.asarray(1.0 - igamma(a, x))
    small = upper < 1e-3
    upper[small] = _igammac(a[small], x[small])
    return upper.astype(np.float32)[()]


def zeta(self: Any, other: Any) -> Any:
    """Compute Hurwitz's zeta function, the sum over k >= 0 of (k + other) ** -self."""
    return _zeta(self.astype(other.dtype), other)


def mvlgamma(self: Any, p: int) -> Any:
    """Return the logarithm of the multivariate gamma function (DLMF 35.3.4)."""
    total = lgamma(self)
    for i in range(1, p):
        total = total + lgamma(self - 0.5 * i)
    return total + 0.25 * p * (p - 1) * math.log(math.pi) if p > 1 else total


def _reflected(x: Any) -> tuple[Any, Any, bool]:
    """Return where x is below 1/2, x reflected there, and whether there is such an element."""
    low = x < 0.5
    reflect = bool(np.count_nonzero(low))
    return low, np.where(low, 1.0 - x, x) if reflect else x.copy(), reflect


def _tail(square: Any, coefficients: Sequence[float]) -> Any:
    """Return the sum of the coefficients times the powers of `square` from the first on."""
    series = square * coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        series += coefficient
        series *= square
    return series


def _digamma_of_block(x: Any) -> Any:
    """Compute digamma of float32 numbers, as NOTE [trigamma] says."""
    x = x.astype(np.float64)
    low, y, reflect = _reflected(x)
    total = np.zeros_like(y)
    for _ in range(7):
        total -= 1.0 / y
        y += 1.0
    # log(y) - 1 / (2 y) - the sum over k of B_2k / (2 k y ** (2 k))
    inverse = 1.0 / y
    total -= _tail(inverse * inverse, _SHARES)
    inverse *= 0.5
    total -= inverse
    total += np.log(y)
    if reflect:
        part = x[low]
        total[low] -= math.pi / np.tan(math.pi * (part - np.rint(part)))
    return total.astype(np.float32)


digamma = large(ufunc("psi", "digamma"), _digamma_of_block)


def _trigamma_of_block(x: Any) -> Any:
    low, y, reflect = _reflected(x)
    total = np.zeros_like(y)
    for _ in range(7):
        total += 1.0 / (y * y)
        y += 1.0
    inverse = 1.0 / y
    square = inverse * inverse
    series = _tail(square, _BERNOULLI)
    # 1 / y + 1 / (2 y * y) + the sum over k of B_2k / y ** (2 k + 1)
    series += 1.0
    series *= inverse
    total += series
    total += 0.5 * square
    if reflect:
        # pi / sin(pi x), with x reduced first, so that it is infinite at the poles
        part = x[low]
        sine = np.sin(math.pi * (part - np.rint(part)))
        total[low] = (math.pi / sine) ** 2 - total[low]
    return total


_many_trigamma = by_blocks(_trigamma_of_block)


def _few_trigamma(self: Any) -> Any:
    return _zeta(self.dtype.type(2), self)


trigamma = quick(_few_trigamma, _many_trigamma, 64)


def polygamma(self: Any, n: int) -> Any:
    """Return the derivative of order n of digamma."""
    if n == 0:
        return digamma(self)
    if n == 1:
        return trigamma(self)
    sign = 1.0 if n % 2 else -1.0
    return _zeta(self.dtype.type(n + 1), self) * (sign * math.gamma(n + 1))
