"""Layer 9 · compat: TensorFlow's element-wise functions of one tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.templates import rows, unary


def _erfcinv(x) -> Any:
    return wg.special.erfinv(1 - x)


def _reciprocal(x) -> Any:
    if x._payload.dtype.kind in "iu":
        return wg.floor_divide(wg.ones_like(x), x)
    return wg.reciprocal(x)


def _inverse_or_zero(x) -> Any:
    zero = x == 0
    return wg.where(zero, wg.zeros_like(x), wg.reciprocal(wg.where(zero, wg.ones_like(x), x)))


def _round(x) -> Any:
    return wg.round(x.detach()) if V.is_floating(x) else wg.clone(x)


def _stepwise(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(x.detach())


_ceil, _floor, _rint = map(_stepwise, (wg.ceil, wg.floor, wg.round))
rows(
    globals(),
    unary,
    """
    math.abs | Abs | =wg.abs | =NUMBERS | The absolute value | [-1.0, 2.0] | [1. 2.]
    math.acos | Acos | =wg.acos | =COMPLEX | The inverse cosine | [0.0, 0.5] | [1.571 1.047]
    math.acosh | Acosh | =wg.acosh | =COMPLEX | The inverse hyperbolic cosine | [1.0, 2.0]
        | [0.    1.317]
    math.asin | Asin | =wg.asin | =COMPLEX | The inverse sine | [0.0, 0.5] | [0.    0.524]
    math.asinh | Asinh | =wg.asinh | =COMPLEX | The inverse hyperbolic sine | [0.0, 1.0]
        | [0.    0.881]
    math.atan | Atan | =wg.atan | =COMPLEX | The inverse tangent | [0.0, 1.0] | [0.    0.785]
    math.atanh | Atanh | =wg.atanh | =COMPLEX | The inverse hyperbolic tangent | [0.0, 0.5]
        | [0.    0.549]
    math.cos | Cos | =wg.cos | =COMPLEX | The cosine | [0.0, 1.0] | [1.   0.54]
    math.cosh | Cosh | =wg.cosh | =COMPLEX | The hyperbolic cosine | [0.0, 1.0] | [1.    1.543]
    math.exp | Exp | =wg.exp | =COMPLEX | The exponential | [0.0, 1.0] | [1.    2.718]
    math.expm1 | Expm1 | =wg.expm1 | =COMPLEX | ``exp(x) - 1``, exact for small `x` | [0.0, 1.0]
        | [0.    1.718]
    math.log | Log | =wg.log | =COMPLEX | The natural logarithm | [1.0, 2.0] | [0.    0.693]
    math.log1p | Log1p | =wg.log1p | =COMPLEX | ``log(1 + x)``, exact for small `x` | [0.0, 1.0]
        | [0.    0.693]
    math.log_sigmoid | Softplus | =wg.nn.functional.logsigmoid | =FLOATING
        | The logarithm of `sigmoid` | [0.0, 1.0] | [-0.693 -0.313]
    math.negative | Neg | =wg.neg | =NUMBERS | Minus the elements | [1.0, -2.0] | [-1.  2.]
    math.reciprocal | Reciprocal | =_reciprocal | =NUMBERS | ``1 / x`` | [1.0, 4.0] | [1.   0.25]
    math.rsqrt | Rsqrt | =wg.rsqrt | =COMPLEX | ``1 / sqrt(x)`` | [1.0, 4.0] | [1.  0.5]
    math.sigmoid | Sigmoid | =wg.sigmoid | =COMPLEX | ``1 / (1 + exp(-x))`` | [0.0, 1.0]
        | [0.5   0.731]
    math.sign | Sign | =wg.sgn | =NUMBERS
        | The sign; of a complex number, the number divided by its absolute value | [-2.0, 0.0]
        | [-1.  0.]
    math.sin | Sin | =wg.sin | =COMPLEX | The sine | [0.0, 1.0] | [0.    0.841]
    math.sinh | Sinh | =wg.sinh | =COMPLEX | The hyperbolic sine | [0.0, 1.0] | [0.    1.175]
    math.sqrt | Sqrt | =wg.sqrt | =COMPLEX | The square root | [1.0, 4.0] | [1. 2.]
    math.square | Square | =wg.square | =NUMBERS | The square | [2, -3] | [4 9]
    math.tan | Tan | =wg.tan | =COMPLEX | The tangent | [0.0, 1.0] | [0.    1.557]
    math.tanh | Tanh | =wg.tanh | =COMPLEX | The hyperbolic tangent | [0.0, 1.0] | [0.    0.762]
    math.is_finite | IsFinite | =wg.isfinite | =FLOATING
        | Whether the elements are neither infinite nor NaN | [1.0, float('inf')] | [ True False]
        | =TRUTH
    math.is_inf | IsInf | =wg.isinf | =FLOATING | Whether the elements are infinite
        | [1.0, float('inf')] | [False  True] | =TRUTH
    math.is_nan | IsNan | =wg.isnan | =FLOATING | Whether the elements are NaN
        | [1.0, float('nan')] | [False  True] | =TRUTH
    math.ceil | Ceil | =_ceil | =FLOATING | The next whole number above | [0.5, -0.5] | [ 1. -0.]
        | =FLAT
    floor | Floor | =_floor | =FLOATING | The next whole number below | [0.5, -0.5] | [ 0. -1.]
        | =FLAT
    math.rint | Rint | =_rint | =FLOATING | The nearest whole number, halves to even ones
        | [0.5, 1.5] | [0. 2.] | =FLAT
    round | Round | =_round | =NUMBERS
        | The nearest whole number, halves to even ones; whole numbers as they are
        | [0.5, 1.5, 1.6] | [0. 2. 2.] | =FLAT
    math.reciprocal_no_nan | DivNoNan | =_inverse_or_zero | =COMPLEX
        | ``1 / x``, and 0 where `x` is 0 | [0.0, 4.0] | [0.   0.25]
    nn.softplus(features) | Softplus | =wg.nn.functional.softplus | =FLOATING
        | ``log(1 + exp(features))``, without overflow | [0.0, 1.0] | [0.693 1.313]
    nn.softsign(features) | Softsign | =wg.nn.functional.softsign | =FLOATING
        | ``features / (1 + abs(features))`` | [0.0, 1.0] | [0.  0.5]
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


@V.operation("LogicalNot", x=bool)
def logical_not(x, name=None) -> Any:
    """Return the logical negation.

    Raises
    ------
    TypeError, InvalidArgumentError: If `x` is not a bool, or not a tensor of bools.

    Examples
    --------
    >>> print(tf.logical_not([True, False]).numpy())
    [False  True]
    """
    return wg.logical_not(x)


@V.operation("Real", input=V.ANY)
def real(input, name=None) -> Any:
    """Return the real part of each element; real tensors are returned unchanged.

    Examples
    --------
    >>> print(tf.math.real([1 + 2j]).numpy())
    [1.]
    """
    return wg.real(input) if V.is_complex(input) else input


@V.operation("Imag", input=V.ANY)
def imag(input, name=None) -> Any:
    """Return the imaginary part of each element; 0 for real tensors.

    Examples
    --------
    >>> print(tf.math.imag([1 + 2j]).numpy())
    [2.]
    """
    return wg.imag(input) if V.is_complex(input) else wg.zeros_like(input)


@V.operation("Conj", x=V.ANY)
def conj(x, name=None) -> Any:
    """Return the complex conjugate of each element; real tensors are returned unchanged.

    Raises
    ------
    TypeError: If the elements are not numbers.

    Examples
    --------
    >>> print(tf.math.conj([1 + 2j]).numpy())
    [1.-2.j]
    """
    if x._payload.dtype.kind == "b":
        raise TypeError(f"Expected numeric or variant tensor, got dtype {V.type_of(x)}")
    # wengert's own conjugate is lazy: a view that is conjugated when it is read
    return wg.conj_physical(x) if V.is_complex(x) else x


@V.operation("Angle", input=V.ANY)
def angle(input, name=None) -> Any:
    """Return the angle of each element in the complex plane: 0 or pi for real numbers.

    Examples
    --------
    >>> print(tf.math.angle([1j]).numpy())
    [1.57079633]
    """
    if V.is_complex(input):
        return wg.angle(input)
    return V.converted(wg.where(input < 0, math.pi, 0.0), input._payload.dtype)


__all__ = defined(globals())
