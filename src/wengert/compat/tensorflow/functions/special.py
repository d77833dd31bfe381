"""Layer 9 · compat: TensorFlow's special functions of one tensor."""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.functions.templates import rows, unary


def _erfcinv(x) -> Any:
    return wg.special.erfinv(1 - x)


__all__ = rows(
    globals(),
    unary,
    """
    math.bessel_i0 | BesselI0 | =wg.special.i0 | =FLOATING
        | The modified Bessel function of order 0 | [0.0, 1.0] | [1.    1.266]
    math.bessel_i0e | BesselI0e | =wg.special.i0e | =FLOATING | ``exp(-abs(x)) * bessel_i0(x)``
        | [0.0, 1.0] | [1.    0.466]
    math.bessel_i1 | BesselI1 | =wg.special.i1 | =FLOATING
        | The modified Bessel function of order 1 | [0.0, 1.0] | [0.    0.565]
    math.bessel_i1e | BesselI1e | =wg.special.i1e | =FLOATING | ``exp(-abs(x)) * bessel_i1(x)``
        | [0.0, 1.0] | [0.    0.208]
    math.digamma | Digamma | =wg.special.digamma | =FLOATING | The derivative of `lgamma`
        | [1.0, 2.0] | [-0.577  0.423]
    math.erf | Erf | =wg.erf | =FLOATING | The error function | [0.0, 1.0] | [0.    0.843]
    math.erfc | Erfc | =wg.erfc | =FLOATING | 1 minus the error function | [0.0, 1.0]
        | [1.    0.157]
    math.erfcinv | Erfcinv | =_erfcinv | =FLOATING | The inverse of `erfc` | [0.5, 1.0]
        | [0.477 0.   ]
    math.erfinv | Erfinv | =wg.special.erfinv | =FLOATING | The inverse of `erf` | [0.0, 0.5]
        | [0.    0.477]
    math.lgamma | Lgamma | =wg.special.gammaln | =FLOATING
        | The logarithm of the absolute value of the gamma function | [1.0, 3.0] | [0.    0.693]
    math.ndtri | Ndtri | =wg.special.ndtri | =FLOATING
        | The inverse of the normal distribution function | [0.5, 0.9] | [0.    1.282]
    """,
)
fill_sections(globals())
