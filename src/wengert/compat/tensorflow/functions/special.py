"""Layer 9 · compat: TensorFlow's special functions of one tensor."""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert.compat.tensorflow.functions.pointwise import unary
from wengert.compat.tensorflow.functions.values import FLOATING

__all__ = [
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "digamma",
    "erf",
    "erfc",
    "erfcinv",
    "erfinv",
    "lgamma",
    "ndtri",
]


def _erfcinv(x: Any) -> Any:
    return wg.special.erfinv(1 - x)


bessel_i0 = unary(
    "BesselI0",
    wg.special.i0,
    FLOATING,
    "bessel_i0",
    "The modified Bessel function of order 0",
    "[0.0, 1.0]",
    "[1.    1.266]",
)
bessel_i0e = unary(
    "BesselI0e",
    wg.special.i0e,
    FLOATING,
    "bessel_i0e",
    "``exp(-abs(x)) * bessel_i0(x)``",
    "[0.0, 1.0]",
    "[1.    0.466]",
)
bessel_i1 = unary(
    "BesselI1",
    wg.special.i1,
    FLOATING,
    "bessel_i1",
    "The modified Bessel function of order 1",
    "[0.0, 1.0]",
    "[0.    0.565]",
)
bessel_i1e = unary(
    "BesselI1e",
    wg.special.i1e,
    FLOATING,
    "bessel_i1e",
    "``exp(-abs(x)) * bessel_i1(x)``",
    "[0.0, 1.0]",
    "[0.    0.208]",
)
digamma = unary(
    "Digamma",
    wg.special.digamma,
    FLOATING,
    "digamma",
    "The derivative of `lgamma`",
    "[1.0, 2.0]",
    "[-0.577  0.423]",
)
erf = unary("Erf", wg.erf, FLOATING, "erf", "The error function", "[0.0, 1.0]", "[0.    0.843]")
erfc = unary(
    "Erfc",
    wg.erfc,
    FLOATING,
    "erfc",
    "1 minus the error function",
    "[0.0, 1.0]",
    "[1.    0.157]",
)
erfcinv = unary(
    "Erfcinv",
    _erfcinv,
    FLOATING,
    "erfcinv",
    "The inverse of `erfc`",
    "[0.5, 1.0]",
    "[0.477 0.   ]",
)
erfinv = unary(
    "Erfinv",
    wg.special.erfinv,
    FLOATING,
    "erfinv",
    "The inverse of `erf`",
    "[0.0, 0.5]",
    "[0.    0.477]",
)
lgamma = unary(
    "Lgamma",
    wg.special.gammaln,
    FLOATING,
    "lgamma",
    "The logarithm of the absolute value of the gamma function",
    "[1.0, 3.0]",
    "[0.    0.693]",
)
ndtri = unary(
    "Ndtri",
    wg.special.ndtri,
    FLOATING,
    "ndtri",
    "The inverse of the normal distribution function",
    "[0.5, 0.9]",
    "[0.    1.282]",
)
