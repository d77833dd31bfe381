"""Layer 9 · compat: TensorFlow's special functions of one tensor."""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert.compat.kit.rows import of_rows
from wengert.compat.tensorflow.functions.pointwise import unary
from wengert.compat.tensorflow.functions.values import FLOATING

__all__ = []


def _erfcinv(x) -> Any:
    return wg.special.erfinv(1 - x)


__all__ += of_rows(
    globals(),
    unary,
    """
    bessel_i0 | BesselI0 | =wg.special.i0 | =FLOATING | .
        | The modified Bessel function of order 0 | [0.0, 1.0] | [1.    1.266]
    bessel_i0e | BesselI0e | =wg.special.i0e | =FLOATING | . | ``exp(-abs(x)) * bessel_i0(x)``
        | [0.0, 1.0] | [1.    0.466]
    bessel_i1 | BesselI1 | =wg.special.i1 | =FLOATING | .
        | The modified Bessel function of order 1 | [0.0, 1.0] | [0.    0.565]
    bessel_i1e | BesselI1e | =wg.special.i1e | =FLOATING | . | ``exp(-abs(x)) * bessel_i1(x)``
        | [0.0, 1.0] | [0.    0.208]
    digamma | Digamma | =wg.special.digamma | =FLOATING | . | The derivative of `lgamma`
        | [1.0, 2.0] | [-0.577  0.423]
    erf | Erf | =wg.erf | =FLOATING | . | The error function | [0.0, 1.0] | [0.    0.843]
    erfc | Erfc | =wg.erfc | =FLOATING | . | 1 minus the error function | [0.0, 1.0] | [1.    0.157]
    erfcinv | Erfcinv | =_erfcinv | =FLOATING | . | The inverse of `erfc` | [0.5, 1.0]
        | [0.477 0.   ]
    erfinv | Erfinv | =wg.special.erfinv | =FLOATING | . | The inverse of `erf` | [0.0, 0.5]
        | [0.    0.477]
    lgamma | Lgamma | =wg.special.gammaln | =FLOATING | .
        | The logarithm of the absolute value of the gamma function | [1.0, 3.0] | [0.    0.693]
    ndtri | Ndtri | =wg.special.ndtri | =FLOATING | .
        | The inverse of the normal distribution function | [0.5, 0.9] | [0.    1.282]
    """,
    FLOATING=FLOATING,
    _erfcinv=_erfcinv,
    wg=wg,
)
