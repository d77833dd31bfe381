"""Layer 1 · kernels: Bessel functions.

NOTE [modified Bessel function]
Near 0 the power series of I_n in x * x / 4 (DLMF 10.25.2) is summed by Horner's rule; its terms are
all positive, so no digits cancel, and their number is chosen for the largest x. Far from 0, I_0 and
I_1 are exp(x) / sqrt(x) times a polynomial in 1 / x, the interpolation at Chebyshev points
(relative errors 2e-16 for float64, 2e-10 for float32), and higher orders follow from I_{n+1} =
I_{n-1} - 2 n I_n / x (DLMF 10.29.1), which is stable there for small n.

NOTE [spherical Bessel function]
j_n is computed by its recurrence from sin(x) / x and cos(x) / x (DLMF 10.51.1) where |x| > n, and
by its power series (DLMF 10.53.1) elsewhere.

References
----------
NIST Digital Library of Mathematical Functions, https://dlmf.nist.gov, sections 10.25 to 10.53.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from wengert.base.extras import scipy_module
from wengert.kernels.protocols import asarray, floats, numbers
from wengert.kernels.scipy import quick, ufunc
from wengert.kernels.single import horner

# the number of elements per block: what its passes touch stays in the cache
_BLOCK = 16384
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_FAR = {_SINGLE: 8.0, _DOUBLE: 12.0}
"""The argument at which the polynomial replaces the series."""
_TAILS = {
    _SINGLE: (
        floats(
            "0.3989422803 0.006233479884 0.0004381499491 5.818541637e-05 6.649472707e-06 "
            "1.137827076e-05 -8.086290319e-06 4.305382686e-06"
        ),
        floats(
            "0.3989422805 -0.01870042714 -0.0007303235063 -8.117193391e-05 -9.179381021e-06 "
            "-1.314210822e-05 9.075710516e-06 -4.845571174e-06"
        ),
    ),
    _DOUBLE: (
        floats(
            "0.39894228040143265 0.004155648754199583 0.00019479603401234381 "
            "1.6909417357049294e-05 2.1571057158652333e-06 3.6963287505138447e-07 "
            "4.36190558819e-08 1.5232242744695514e-07 -3.7054463450502265e-07 "
            "7.521547125291735e-07 -1.0505924920966499e-06 1.0123517438321777e-06 "
            "-6.362781021592094e-07 2.347694316533813e-07 -3.8197870607673084e-08"
        ),
        floats(
            "0.3989422804014327 -0.01246694626256406 -0.0003246600574842109 "
            "-2.3673171389801604e-05 -2.7735509272460694e-06 -4.5093242067951357e-07 "
            "-5.526526929450038e-08 -1.6427170893312588e-07 3.94681401440724e-07 "
            "-8.008675541434458e-07 1.1167268777931634e-06 -1.0743303710464947e-06 "
            "6.740317758008693e-07 -2.4823671025473513e-07 4.0306225946436366e-08"
        ),
    ),
}
"""For I_0 and I_1, the coefficients of the powers of ``_FAR / x``, from the lowest."""

Coefficients = tuple[float, ...]


@cache
def _series(order: int, dtype: np.dtype[Any]) -> Coefficients:
    """Return the coefficients of I_n(x) / (x / 2)**n by the powers of ``(x / 16)**2``."""
    z, eps = (_FAR[dtype] / 16) ** 2, float(np.finfo(dtype).eps)
    terms = [1.0 / math.factorial(order)]
    total, part = terms[0], terms[0]
    while part > 0.1 * eps * total:
        k = len(terms)
        terms.append(terms[-1] * 64.0 / (k * (k + order)))
        part = terms[-1] * z**k
        total += part
    return tuple(terms)


def _near(size: Any, order: int, scaled: bool) -> Any:
    """Compute I_n of small non-negative numbers, by its series."""
    terms = _series(order, size.dtype)
    # a power of 2, so the scaling is exact
    w = size * 0.0625
    w *= w
    # the terms that matter at the largest w
    most, eps = float(w.max()), float(np.finfo(size.dtype).eps)
    count, part, total = 1, terms[0], terms[0]
    while count < len(terms) - 1 and part > 0.1 * eps * total:
        part = terms[count] * most**count
        total += part
        count += 1
    total = horner(w, terms[: count + 1])
    for _ in range(order):
        total *= size
        total *= 0.5
    if scaled:
        total *= np.exp(-size)
    return total


def _far(size: Any, order: int, scaled: bool) -> Any:
    """Compute I_n of large positive numbers."""
    far, tails = _FAR[size.dtype], _TAILS[size.dtype]
    w = far / size
    if order == 0:
        total = horner(w, tails[0])
    else:
        total = horner(w, tails[1])
        below = horner(w, tails[0]) if order > 1 else total
        for n in range(1, order):
            below, total = total, below - (2 * n / far) * w * total
    total /= np.sqrt(size)
    if not scaled:
        total *= np.exp(size)
    return total


def _modified(order: int, scaled: bool) -> Callable[[Any], Any]:
    """Compute I_n, or exp(-|x|) I_n (see NOTE [modified Bessel function])."""

    def block(x: Any, out: Any) -> None:
        size = np.absolute(x)
        far = _FAR[size.dtype]
        near = size <= far
        if near.all():
            out[...] = _near(size, order, scaled)
        else:
            # computing both for all elements is faster than selecting the elements of each
            small = _near(np.fmin(size, far), order, scaled)
            np.copyto(out, _far(np.maximum(size, far), order, scaled))
            np.copyto(out, small, where=near)
        if order % 2:
            np.copysign(out, x, out=out)

    def function(x: Any) -> Any:
        flat = np.ascontiguousarray(x).reshape(-1)
        result = np.empty_like(flat)
        for start in range(0, flat.size, _BLOCK):
            block(flat[start : start + _BLOCK], result[start : start + _BLOCK])
        return result.reshape(x.shape)

    return function


_FEW = 256


def _either(few: Callable[..., Any], many: Callable[[Any], Any]) -> Callable[..., Any]:
    """Use `few` for small arrays of single precision, for which SciPy's functions are accurate."""
    single, double = quick(few, many, _FEW), quick(few, many, -1)

    def kernel(self: Any) -> Any:
        return double(self) if self.dtype == _DOUBLE else single(self)

    return kernel


i0 = quick(ufunc("i0", "i0"), _modified(0, False), _FEW)
i1 = _either(ufunc("i1", "i1"), _modified(1, False))
i0e = quick(ufunc("i0e", "i0e"), _modified(0, True), _FEW)
i1e = _either(ufunc("i1e", "i1e"), _modified(1, True))


@cache
def _of_order(name: str, n: int) -> Callable[[Any], Any]:
    function, scaled = ufunc(name, f"bessel_{name[1:]}"), name == "ive"

    def few(self: Any) -> Any:
        result = function(self.dtype.type(n), self)
        # SciPy's function gives NaN there
        return np.where(np.isinf(self), self.dtype.type(0), result)[()] if scaled else result

    return _either(few, _modified(n, scaled))


def bessel_i(self: Any, n: int) -> Any:
    """Compute I_n, for n >= 0."""
    return _of_order("iv", n)(self)


def bessel_ie(self: Any, n: int) -> Any:
    """Compute exp(-|x|) I_n, for n >= 0."""
    return _of_order("ive", n)(self)


def bessel_j(self: Any, n: int) -> Any:
    """Compute J_n."""
    special = scipy_module("special", f"bessel_j{n}")
    if n in (0, 1):
        result = (special.j1 if n else special.j0)(self)
    else:
        result = special.jv(self.dtype.type(n), self)
    return result.astype(self.dtype, copy=False)


# -- spherical ------------------------------------------------------------------------------------


@cache
def _spherical_terms(n: int, dtype: np.dtype[Any]) -> Coefficients:
    """Return the coefficients of j_n(x) / x**n by the powers of ``x * x``, for |x| <= n."""
    eps = float(np.finfo(dtype).eps)
    terms = [1.0 / math.prod(range(1, 2 * n + 2, 2))]
    while abs(terms[-1]) * n ** (2 * len(terms) - 2) > 0.01 * eps * terms[0]:
        k = len(terms)
        terms.append(terms[-1] * -0.5 / (k * (2 * n + 2 * k + 1)))
    return tuple(terms)


def _spherical_series(x: Any, n: int) -> Any:
    total = horner(x * x, _spherical_terms(n, x.dtype))
    for _ in range(n):
        total *= x
    return total


def _spherical_recurrence(x: Any, n: int) -> Any:
    below = np.sin(x) / x
    total = (below - np.cos(x)) / x
    for k in range(1, n):
        below, total = total, (2 * k + 1) / x * total - below
    return total


def spherical_bessel(self: Any, n: int) -> Any:
    """Compute the spherical Bessel function j_n (see NOTE [spherical Bessel function])."""
    kind = self.dtype.kind
    if kind not in "fc":
        raise TypeError(f"not defined for {self.dtype}")
    if self.dtype == np.float16:
        return spherical_bessel(self.astype(np.float32), n).astype(np.float16)
    if n == 0:
        # sin(x) / x is accurate everywhere but at 0, and 1 wherever x * x underflows
        x = np.where(self, self, 1e-20)
        # avoid the sine of an infinity, where the result is 0
        return np.sin(np.where(np.isinf(x), 0, x)) / x
    x = asarray(self)
    size = np.absolute(x)
    near = size <= n
    count = int(np.count_nonzero(near))
    if count == x.size:
        return _spherical_series(x, n)[()]
    result = np.empty_like(x)
    if count:
        result[near] = _spherical_series(x[near], n)
        np.logical_not(near, out=near)
        result[near] = _spherical_recurrence(x[near], n)
    else:
        result = _spherical_recurrence(x, n)
    if kind == "f":
        # the limit at infinity is 0
        infinite = size == np.inf
        if np.count_nonzero(infinite):
            result = np.where(infinite, result.dtype.type(0), result)
    return result[()]


def sinc(self: Any) -> Any:
    """Compute sin(pi x) / (pi x), which is 1 at 0."""
    if self.dtype.kind != "f" or self.dtype == np.float16:
        return spherical_bessel(self * math.pi, 0)
    half, pi, least = numbers(self, 0.5, math.pi, 1e-20)
    # an even function
    x = np.maximum(np.absolute(self), least)
    # the sine vanishes at integers: reduce to the distance from the nearest one
    whole = np.rint(x)
    sine = np.sin((x - whole) * pi)
    whole *= half
    return np.where(whole == np.rint(whole), sine, -sine)[()] / (x * pi)
