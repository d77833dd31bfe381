"""Layer 1 · kernels: transcendental functions of large arrays of float32, in passes of NumPy.

Where it has no AVX-512, NumPy vectorises only exp, log, sin, cos and tanh of float32, and computes
all other functions with scalar code, ten times slower. The functions here are composed of those
five and of polynomials. They process a block at a time, so that it stays in the cache, and
are accurate to 2 units in the last place, or to 4 if they use NumPy's logarithm, which is accurate
to 3. A block with a value that is not finite is computed by the general function, so infinities,
NaN and NumPy's warnings are the same.

NOTE [coefficients]
Those of expm1 (argument reduction by ln 2 as in Cody and Waite) and of the arc tangent are
interpolations at Chebyshev points. erf(x) / x is a rational function of x * x of degree 5 / 5 for
|x| <= 4, the minimax fit for the relative error (2.5e-8), which weighted least squares approach;
beyond, erf is 1 in float32. For y >= 0, (1 + 2 y) exp(y * y) erfc(y) is a smooth function of
u = (y - 3) / (y + 3) (Shepherd and Laframboise), here a polynomial of degree 11, the interpolation
at Chebyshev points (7e-9). erf and erfc are computed in float64. The normal distribution function
of `gelu` is computed in float32: what PyTorch makes of erf has fewer digits in the left tail.

References
----------
W. J. Cody and W. Waite, "Software manual for the elementary functions", Prentice-Hall (1980).
N. J. Higham, "Accuracy and stability of numerical algorithms", 2nd edition, SIAM (2002), 1.14.1
(log1p from log).
M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x**2) erfc x in
0 <= x < oo", Mathematics of Computation 36 (1981), 249-253.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.kernels.protocols import floats, numbers

SINGLE = np.dtype(np.float32)
_BLOCK = 16384
_LARGE = 2048
_SIMD: Any = np.show_config(mode="dicts").get("SIMD Extensions", {})
IS_WIDE = sys.platform == "linux" and not {"AVX512_SKX", "X86_V4"}.isdisjoint(
    [*_SIMD.get("baseline", ()), *_SIMD.get("found", ())]
)
"""Whether NumPy vectorises all functions of float32: it has names for AVX-512 by its release."""

Function = Callable[..., Any]
"""A function of arrays, which returns one."""


def _dense(self: Any) -> tuple[Any, Any, Any]:
    """Return the elements in memory order, where to write results, and what to return."""
    result = np.empty_like(self)
    if self.flags.c_contiguous:
        return self.reshape(-1), result.reshape(-1), result
    order = sorted(range(self.ndim), key=result.strides.__getitem__, reverse=True)
    laid = result.transpose(order)
    flat = np.ascontiguousarray(self.transpose(order)).reshape(-1)
    # dimensions of size 1 have arbitrary strides: where they hide the order, results use another
    if laid.flags.c_contiguous:
        return flat, laid.reshape(-1), result
    result = np.empty_like(self, order="C")
    return np.ascontiguousarray(self).reshape(-1), result.reshape(-1), result


def _by_blocks(general: Function, block: Function, *flat: Any, out: Any) -> None:
    """Write `block` of flat arrays into `out`, or `general` for blocks that are not finite.

    Parameters
    ----------
    general: The function of arrays that `block` replaces.
    block: The function of a block of finite numbers.
    """
    odd = []
    with np.errstate(all="ignore"):
        for start in range(0, out.size, _BLOCK):
            at = slice(start, start + _BLOCK)
            part = block(*[array[at] for array in flat])
            out[at] = part
            # the fastest sum, and not finite if an element is not
            if not math.isfinite(part.dot(part)):
                odd.append(at)
    for at in odd:
        out[at] = general(*[array[at] for array in flat])


def large(general: Function, block: Function, least: int = _LARGE) -> Function:
    """Wrap `general`, a function of one array, to use `block` for large arrays of float32."""

    def kernel(self: Any) -> Any:
        if self.size < least or self.dtype != SINGLE:
            return general(self)
        flat, out, result = _dense(self)
        _by_blocks(general, block, flat, out=out)
        return result

    return kernel


def large_pair(general: Function, block: Function) -> Function:
    """Wrap `general`, a function of two arrays, to use `block` for large ones of one shape."""

    def kernel(self: Any, other: Any) -> Any:
        if (
            self.size < _LARGE
            or self.dtype != SINGLE
            or not isinstance(other, np.ndarray)
            or other.dtype != SINGLE
            or self.shape != other.shape
            or not self.flags.c_contiguous
            or not other.flags.c_contiguous
        ):
            return general(self, other)
        result = np.empty_like(self)
        _by_blocks(general, block, self.reshape(-1), other.reshape(-1), out=result.reshape(-1))
        return result

    return kernel


def unless_wide(general: Function, block: Function, wrap: Function = large) -> Function:
    """Return `general`, a function of NumPy, wrapped where NumPy does not vectorise it."""
    return general if IS_WIDE else wrap(general, block)


def horner(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Evaluate the polynomial with the coefficients, lowest power first, at x."""
    first, *more, last = numbers(x, *coefficients)
    total = x * last
    for coefficient in reversed(more):
        total += coefficient
        total *= x
    total += first
    return total


# -- exponentials and logarithms ------------------------------------------------------------------

_LN2 = (0.693359375, -2.12194440e-4)
_EXPM1 = floats(
    "0.5 0.16666667163372 0.041666463017464 0.0083333104848862 0.0013933751033619 "
    "0.00019891103147529"
)


def _expm1(x: Any) -> Any:
    # beyond these bounds the result is -1 or infinity
    x = np.clip(x, -20.0, 89.0)
    power = x * (1.0 / math.log(2.0))
    np.rint(power, out=power)
    r = x
    r -= power * _LN2[0]
    r -= power * _LN2[1]
    result = horner(r, _EXPM1)
    result *= r
    result *= r
    result += r
    # 2 to the power: write the exponent into the bits of a number
    bits = power.astype(np.int32)
    bits += 127
    bits <<= 23
    scale = bits.view(SINGLE)
    result *= scale
    scale -= 1.0
    result += scale
    return result


def _log1p(x: Any) -> Any:
    rounded = x + 1.0
    result = np.log(rounded)
    # the rounding error of adding 1
    lost = rounded - 1.0
    np.subtract(x, lost, out=lost)
    lost /= rounded
    result += lost
    return result


def _signed(size: Any, like: Any) -> Any:
    """Return `size` with the signs of `like`: a vectorised copysign."""
    bits = like.view(np.uint32) & np.uint32(0x80000000)
    bits |= size.view(np.uint32)
    return bits.view(SINGLE)


def _sinh(x: Any) -> Any:
    grown = _expm1(np.absolute(x))
    grown += grown / (grown + 1.0)
    grown *= 0.5
    return _signed(grown, x)


def _cosh(x: Any) -> Any:
    grown = np.exp(x)
    grown += 1.0 / grown
    grown *= 0.5
    return grown


def _atanh(x: Any) -> Any:
    size = np.absolute(x)
    rest = 1.0 - size
    size += size
    size /= rest
    grown = _log1p(size)
    grown *= 0.5
    return _signed(grown, x)


expm1 = unless_wide(np.expm1, _expm1)
log1p = unless_wide(np.log1p, _log1p)
sinh = unless_wide(np.sinh, _sinh)
cosh = unless_wide(np.cosh, _cosh)
atanh = unless_wide(np.arctanh, _atanh)


# -- angles ---------------------------------------------------------------------------------------

_ARC = floats(
    "-0.3333333134651184 0.19999739527702332 -0.1427856832742691 0.11033764481544495 "
    "-0.08656880259513855 0.0625016912817955 -0.035871539264917374 0.01350777130573988 "
    "-0.0023869972210377455"
)


def _arc(ratio: Any, swapped: Any) -> Any:
    """Return the arc tangent of a ratio in [0, 1], or of its inverse where `swapped` is 1."""
    square = ratio * ratio
    angle = horner(square, _ARC)
    angle *= square
    angle *= ratio
    angle += ratio
    angle *= 1.0 - 2.0 * swapped
    angle += swapped * np.float32(math.pi / 2)
    return angle


def _atan(x: Any) -> Any:
    size = np.absolute(x)
    ones = np.ones_like(size)
    ratio = np.minimum(size, ones)
    ratio /= np.maximum(size, ones)
    return _signed(_arc(ratio, (size > 1.0).astype(SINGLE)), x)


def _atan2(y: Any, x: Any) -> Any:
    high, wide = np.absolute(y), np.absolute(x)
    ratio = np.minimum(high, wide)
    ratio /= np.maximum(high, wide)
    angle = _arc(ratio, (high > wide).astype(SINGLE))
    left = (x < 0.0).astype(SINGLE)
    angle *= 1.0 - 2.0 * left
    left *= np.float32(math.pi)
    angle += left
    return _signed(angle, y)


def _tan(x: Any) -> Any:
    result = np.sin(x)
    result /= np.cos(x)
    return result


tan = unless_wide(np.tan, _tan)
atan = unless_wide(np.arctan, _atan)
atan2 = unless_wide(np.arctan2, _atan2, large_pair)

# -- remainders -----------------------------------------------------------------------------------

# up to this quotient, it and its product with a float32 are exact in float64
_EXACT = 2.0**28


def _left_over(rounding: Any, sign_of_other: bool) -> Function:
    def block(self: Any, other: Any) -> Any:
        wide, by = self.astype(np.float64), other.astype(np.float64)
        quotient = wide / by
        if not (quotient.max() < _EXACT and quotient.min() > -_EXACT):
            return np.full_like(self, np.nan)
        rounding(quotient, out=quotient)
        quotient *= by
        wide -= quotient
        # the remainder is zero or already has that sign
        return _signed(np.absolute(wide.astype(SINGLE)), other if sign_of_other else self)

    return block


fmod = large_pair(np.fmod, _left_over(np.trunc, False))
remainder = large_pair(np.remainder, _left_over(np.floor, True))

# -- the error function ---------------------------------------------------------------------------

_ABOVE = floats(
    "1.1283791393593654 0.1935462191252934 0.0531018716128633 0.0038833783555876577 "
    "0.0002845640125041781 1.986743286790934e-06"
)
_BELOW = floats(
    "1.0 0.5048584272956944 0.11535045036726531 0.015207332762313458 0.0011855738846266604 "
    "3.741966120466953e-05"
)


def erf_of_block(x: Any) -> Any:
    """Compute the error function of a flat array of float32."""
    wide = x.astype(np.float64)
    np.clip(wide, -4.0, 4.0, out=wide)
    square = wide * wide
    wide *= horner(square, _ABOVE)
    wide /= horner(square, _BELOW)
    return wide.astype(SINGLE)


# lowest power first: NOTE [tail in single precision] in `wengert.kernels.normal`
SHEPHERD = floats(
    "1.25300806 -0.1356211 -0.0475621561 0.129644721 -0.119275281 0.0683131967 -0.0237635597 "
    "0.00250677867 0.00187506025 -0.00073408205 -9.25376913e-05 8.00745497e-05"
)
_EXP = floats(
    "1.0 1.00000003799577 0.5000000047466716 0.16666414274656854 0.04166635134863246 "
    "0.008375229517731415 0.0013941237189008034"
)


def _scaled_tail(y: Any) -> Any:
    """Compute exp(y * y) erfc(y) of non-negative numbers; `y` is overwritten."""
    one, three = numbers(y, 1.0, 3.0)
    u = y - three
    u /= y + three
    tail = horner(u, SHEPHERD)
    y += y
    y += one
    tail /= y
    return tail


def _exp(x: Any) -> Any:
    """Compute the exponential of float64 numbers above -700, to the accuracy of float32."""
    power = x * (1.0 / math.log(2.0))
    np.rint(power, out=power)
    result = horner(x - power * math.log(2.0), _EXP)
    bits = power.astype(np.int64)
    bits += 1023
    bits <<= 52
    result *= bits.view(np.float64)
    return result


def erfc_of_block(x: Any) -> Any:
    """Compute 1 - erf(x) of a flat array of float32, without cancellation where erf is near 1."""
    # beyond this bound the result is 0
    y = np.clip(np.absolute(x), 0.0, 12.0).astype(np.float64)
    square = y * y
    np.negative(square, out=square)
    tail = _scaled_tail(y)
    tail *= _exp(square)
    left = (x < 0.0).astype(np.float64)
    left *= 2.0
    tail *= 1.0 - left
    tail += left
    return tail.astype(SINGLE)


def _normal(x: Any) -> tuple[Any, Any]:
    """Return the normal distribution function, and exp(-x * x / 2)."""
    minus_half, root, zero, half = numbers(x, -0.5, math.sqrt(0.5), 0.0, 0.5)
    bell = x * x
    bell *= minus_half
    np.exp(bell, out=bell)
    y = np.absolute(x)
    y *= root
    share = _scaled_tail(y)
    share *= bell
    # minus half of it for negative x; 1 minus half of it for positive x
    right = (x > zero).astype(SINGLE)
    share *= half - right
    share += right
    return share, bell


def gelu_of_block(x: Any) -> Any:
    """Compute x times the normal distribution function, of a flat array of float32."""
    result = _normal(x)[0]
    result *= x
    return result


def gelu_slope_of_block(x: Any) -> Any:
    """Return the derivative of `gelu_of_block`."""
    share, bell = _normal(x)
    bell *= x
    bell *= 1.0 / math.sqrt(2.0 * math.pi)
    share += bell
    return share
