"""Layer 8 · compiler: decompositions of element-wise primitives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.compiler.decompose.rules import COMPLEX, REAL, Rule, rule
from wengert.kernels.protocols import floats
from wengert.kernels.single import SHEPHERD
from wengert.prims import records

_ANY = REAL + COMPLEX
_SQRT_HALF = math.sqrt(0.5)
_INV_SQRT_2PI = 1 / math.sqrt(2 * math.pi)
_LN2 = math.log(2.0)

# -- arithmetic -----------------------------------------------------------------------------------


rule(records.rsub)(lambda F, self, other: other - self)
rule(records.add_scaled)(lambda F, self, other, alpha: self + other * alpha)
rule(records.sub_scaled)(lambda F, self, other, alpha: self - other * alpha)


def _scale(array: Any, factor: Any) -> Any:
    return array if type(factor) is int and factor == 1 else array * factor


@rule(records.addcmul)
def _addcmul(F: Any, self: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    return self + _scale(tensor1 * tensor2, value)


@rule(records.addcdiv, kinds=_ANY)
def _addcdiv(F: Any, self: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    return self + _scale(tensor1 / tensor2, value)


@rule(records.lerp, kinds=_ANY)
def _lerp(F: Any, self: Any, end: Any, weight: Any) -> Any:
    if abs(weight) < 0.5:
        return self + (end - self) * weight
    return end - (end - self) * (1 - weight)


@rule(records.lerp_tensor, kinds=REAL)
def _lerp_tensor(F: Any, self: Any, end: Any, weight: Any) -> Any:
    step = end - self
    return F.where(F.abs(weight) < 0.5, self + weight * step, end - step * (1 - weight))


@rule(records.pow_scalar, kinds=_ANY)
def _pow_scalar(F: Any, self: Any, exponent: Any) -> Any:
    if exponent == 2:
        return self * self
    if exponent == 3:
        return self * self * self
    if exponent == 1:
        return F.clone(self)
    if exponent == 0.5:
        return F.sqrt(self)
    if exponent == -1:
        return F.reciprocal(self)
    if exponent == -0.5:
        return F.reciprocal(F.sqrt(self))
    if exponent == -2:
        return F.reciprocal(self * self)
    if exponent == 4 and self.dtype.kind == "f":
        square = self * self
        return square * square
    return NotImplemented


rule(records.rsqrt, kinds=_ANY)(lambda F, self: F.reciprocal(F.sqrt(self)))


@rule(records.ldexp, kinds=REAL)
def _ldexp(F: Any, self: Any, other: Any) -> Any:
    return self * F.exp2(other) if self.dtype == other.dtype else NotImplemented


rule(records.deg2rad, kinds=REAL)(lambda F, self: self * (math.pi / 180.0))
rule(records.rad2deg, kinds=REAL)(lambda F, self: self * (180.0 / math.pi))
rule(records.frac, kinds=REAL)(lambda F, self: self - F.trunc(self))


@rule(records.round_decimals, kinds=REAL)
def _round_decimals(F: Any, self: Any, decimals: int) -> Any:
    power = 10.0 ** abs(decimals)
    return F.round(self / power) * power if decimals < 0 else F.round(self * power) / power


# -- clamps and selection -------------------------------------------------------------------------


rule(records.relu, kinds=REAL, whole=True)(lambda F, self: F.maximum(self, 0))


@rule(records.threshold_backward, kinds=REAL)
def _threshold_backward(F: Any, grad_output: Any, self: Any) -> Any:
    if self.dtype == np.bool_:
        return F.where(self, grad_output, 0)
    return F.where(self <= 0, 0, grad_output)


rule(records.constant_in)(lambda F, grad_output, self: F.alias(grad_output))


@rule(records.clamp, records.clamp_tensor, kinds=REAL, whole=True)
def _clamp(F: Any, self: Any, min: Any, max: Any) -> Any:
    if min is not None:
        self = F.maximum(self, min)
    return self if max is None else F.minimum(self, max)


@rule(records.hardtanh, kinds=REAL)
def _hardtanh(F: Any, self: Any, min_val: float, max_val: float) -> Any:
    return F.minimum(F.maximum(self, min_val), max_val)


rule(records.clamp_min, kinds=REAL, whole=True)(lambda F, self, min: F.maximum(self, min))
rule(records.clamp_max, kinds=REAL, whole=True)(lambda F, self, max: F.minimum(self, max))
rule(records.clamp_min_tensor)(lambda F, self, min: F.maximum(self, min))
rule(records.clamp_max_tensor)(lambda F, self, max: F.minimum(self, max))


@rule(records.fmax, kinds=REAL)
def _fmax(F: Any, self: Any, other: Any) -> Any:
    return F.where(F.logical_or(self >= other, F.isnan(other)), self, other)


@rule(records.fmin, kinds=REAL)
def _fmin(F: Any, self: Any, other: Any) -> Any:
    return F.where(F.logical_or(self <= other, F.isnan(other)), self, other)


rule(records.masked_fill, kinds=_ANY)(lambda F, self, mask, value: F.where(mask, value, self))


@rule(records.masked_fill_tensor, kinds=_ANY)
def _masked_fill_tensor(F: Any, self: Any, mask: Any, value: Any) -> Any:
    return F.where(mask, value, self) if value.dtype == self.dtype else NotImplemented


@rule(records.heaviside, kinds=REAL)
def _heaviside(F: Any, self: Any, values: Any) -> Any:
    return F.where(self == 0, values, F.to_copy(self > 0, dtype=self.dtype))


rule(records.isposinf, kinds=REAL)(lambda F, self: self == math.inf)
rule(records.isneginf, kinds=REAL)(lambda F, self: self == -math.inf)


@rule(records.nan_to_num, kinds=REAL)
def _nan_to_num(F: Any, self: Any, nan: float, posinf: float | None, neginf: float | None) -> Any:
    limits = np.finfo(self.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    finite = F.where(self == -math.inf, low, F.where(self == math.inf, high, self))
    return F.where(F.isnan(self), nan, finite)


# -- activations ----------------------------------------------------------------------------------


rule(records.sigmoid, kinds=_ANY)(lambda F, self: F.reciprocal(F.exp(-self) + 1))
rule(records.silu, kinds=_ANY)(lambda F, self: self / (F.exp(-self) + 1))


@rule(records.glu, kinds=REAL)
def _glu(F: Any, self: Any, dim: int) -> Any:
    size = self.shape[dim]
    first = F.slice(self, dim=dim, start=0, end=size // 2, step=1)
    second = F.slice(self, dim=dim, start=size // 2, end=size, step=1)
    return first / (F.exp(-second) + 1)


def _log1p_exp(F: Any, self: Any) -> Any:
    """Return log(1 + exp(-\\|self\\|)), which never overflows."""
    return F.log1p(F.exp(-F.abs(self)))


@rule(records.softplus, kinds=REAL)
def _softplus(F: Any, self: Any, beta: float, threshold: float) -> Any:
    scaled = self * beta
    return F.where(scaled > threshold, self, (_log1p_exp(F, scaled) + F.maximum(scaled, 0)) / beta)


rule(records.log_sigmoid, kinds=REAL)(lambda F, self: F.minimum(self, 0) - _log1p_exp(F, self))


@rule(records.mish, kinds=REAL)
def _mish(F: Any, self: Any) -> Any:
    exponential = F.exp(F.minimum(self, 40))
    square = exponential * (exponential + 2)
    return self * (square / (square + 2))


@rule(records.gelu, kinds=REAL)
def _gelu(F: Any, self: Any, approximate: str) -> Any:
    if approximate == "tanh":
        inner = (self + self * self * self * 0.044715) * math.sqrt(2 / math.pi)
        return self * 0.5 * (F.tanh(inner) + 1)
    return self * 0.5 * F.erfc(self * -_SQRT_HALF)


@rule(records.gelu_slope, kinds=REAL)
def _gelu_slope(F: Any, self: Any) -> Any:
    gaussian = F.exp(self * self * -0.5)
    return F.erfc(self * -_SQRT_HALF) * 0.5 + self * gaussian * _INV_SQRT_2PI


@rule(records.leaky_relu, kinds=REAL)
def _leaky_relu(F: Any, self: Any, negative_slope: float) -> Any:
    negative = self * negative_slope
    return (
        F.maximum(self, negative) if 0 < negative_slope <= 1 else F.where(self > 0, self, negative)
    )


@rule(records.elu, kinds=REAL)
def _elu(F: Any, self: Any, alpha: float, scale: float, input_scale: float) -> Any:
    negative = F.expm1(_scale(F.minimum(self, 0), input_scale)) * (alpha * scale)
    return negative + _scale(F.maximum(self, 0), scale)


rule(records.hardsigmoid, kinds=REAL)(lambda F, self: F.minimum(F.maximum(self + 3, 0), 6) / 6)
rule(records.hardswish, kinds=REAL)(lambda F, self: F.minimum(F.maximum(self + 3, 0), 6) * self / 6)
rule(records.hardshrink, kinds=REAL)(lambda F, self, lambd: F.where(F.abs(self) <= lambd, 0, self))


@rule(records.softshrink, kinds=REAL)
def _softshrink(F: Any, self: Any, lambd: float) -> Any:
    return F.copysign(self - F.minimum(F.maximum(self, -lambd), lambd), self)


@rule(records.threshold, kinds=REAL)
def _threshold(F: Any, self: Any, threshold: float, value: float) -> Any:
    limit = threshold.real if isinstance(threshold, complex) else threshold
    return F.where(self <= limit, value, self)


rule(records.prelu, kinds=REAL)(lambda F, self, weight: F.where(self > 0, self, weight * self))


# -- logarithms -----------------------------------------------------------------------------------


@rule(records.xlogy, kinds=REAL)
def _xlogy(F: Any, self: Any, other: Any) -> Any:
    is_zero = F.logical_and(self == 0, other == other)
    return self * F.log(F.where(is_zero, 1, other))


@rule(records.special_xlog1py, kinds=REAL)
def _xlog1py(F: Any, self: Any, other: Any) -> Any:
    is_zero = F.logical_and(self == 0, other == other)
    return self * F.log1p(F.where(is_zero, 0, other))


@rule(records.special_entr, kinds=REAL)
def _entr(F: Any, self: Any) -> Any:
    positive = self > 0
    clipped = F.where(positive, self, 1)
    otherwise = F.where(self < 0, -math.inf, F.where(self == self, 0, self))
    return F.where(positive, clipped * -F.log(clipped), otherwise)


@rule(records.logaddexp, kinds=REAL)
def _logaddexp(F: Any, self: Any, other: Any) -> Any:
    # the difference of two equal infinities is NaN
    gap = F.where(self == other, 0, F.abs(self - other))
    return F.maximum(self, other) + F.log1p(F.exp(-gap))


@rule(records.logaddexp2, kinds=REAL)
def _logaddexp2(F: Any, self: Any, other: Any) -> Any:
    gap = F.where(self == other, 0, F.abs(self - other))
    return F.maximum(self, other) + F.log1p(F.exp2(-gap)) * (1 / _LN2)


# -- complex numbers ------------------------------------------------------------------------------


@rule(records.polar, kinds=REAL)
def _polar(F: Any, abs: Any, angle: Any) -> Any:
    return F.complex(abs * F.cos(angle), abs * F.sin(angle))


# -- single precision, computed in double ---------------------------------------------------------

# NOTE [erfinv in single precision]
# erfinv(x) / x is a smooth function of w = -log(1 - x * x), here a rational function of degree
# 6 / 5, fitted by least squares at Chebyshev points up to the number next to 1 (relative error
# 3e-9). In double precision 1 - x * x is exact for x of single precision.

# highest power first
_ERFINV = (
    floats(
        "9.520027918878559e-08 3.6571361426162066e-05 0.0007569539719303998 0.008536693947944598 "
        "0.06298451661755052 0.3136817708440126 0.8862269232199858"
    ),
    floats(
        "3.00275784368624e-06 0.00022737249863670643 0.002187455018549597 0.03391326739370018 "
        "0.09215251198984233 1.0"
    ),
)


# B_2k / (2k (2k - 1)), highest first
_STIRLING = (1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_LOG_PI = math.log(math.pi)


def _in_double(rule_of: Rule) -> Rule:
    """Decorate a rule to compute float32 in float64, and leave other dtypes to the kernel."""

    def computed(F: Any, self: Any, **params: Any) -> Any:
        if self.dtype != np.float32:
            return NotImplemented
        wide = F.to_copy(self, dtype=np.dtype(np.float64))
        return F.to_copy(rule_of(F, wide, **params), dtype=self.dtype)

    return computed


def _horner(x: Any, coefficients: Any) -> Any:
    total = x * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        total = total * x + coefficient
    return total


@rule(records.erf)
@_in_double
def _erf(F: Any, self: Any) -> Any:
    # the C library's vector functions err by up to four units in the last place
    return F.erf(self)


@rule(records.erfinv)
@_in_double
def _erfinv(F: Any, self: Any) -> Any:
    w = -F.log(1 - self * self)
    numerator, denominator = (_horner(w, coefficients) for coefficients in _ERFINV)
    return F.where(F.abs(self) == 1, self * math.inf, self * (numerator / denominator))


def _erfcx(F: Any, y: Any) -> Any:
    """Return exp(y * y) erfc(y), y >= 0 (NOTE [tail in single precision] in `kernels.normal`)."""
    return _horner(1 - 6 / (y + 3), SHEPHERD[::-1]) / (y * 2 + 1)


@rule(records.lgamma)
@_in_double
def _lgamma(F: Any, self: Any) -> Any:
    # the recurrence takes the size beyond 8, where seven terms of Stirling's series (DLMF 5.11.1)
    # err by 1e-15; reflection (5.5.3) shares the logarithm of the recurrence's product
    size = F.abs(self)
    low = size < 8
    shifted = F.where(low, size + 8, size)
    product = size * (size + 7)
    # (size + k) (size + 7 - k)
    pair = product
    product = product * (pair + 6) * (pair + 10) * (pair + 12)
    product = F.where(low, product, 1.0)
    inverse = 1 / shifted
    series = _horner(inverse * inverse, _STIRLING) * inverse
    grown = (shifted - 0.5) * (F.log(shifted) - 1) + (series + (_HALF_LOG_2PI - 0.5))
    negative = self < 0
    wave = F.sin((self - F.round(self)) * math.pi) * size
    rest = F.log(F.where(negative, F.abs(wave) / product, product))
    found = F.where(negative, _LOG_PI - grown - rest, grown - rest)
    # rounded, the zeros at 1 and 2 would not be zero
    found = F.where((self - 1) * (self - 2) == 0, 0.0, found)
    return F.where(self == -math.inf, math.inf, found)


@rule(records.special_log_ndtr)
@_in_double
def _log_ndtr(F: Any, self: Any) -> Any:
    y = F.abs(self) * _SQRT_HALF
    half = _erfcx(F, y) * 0.5
    square = self * self * -0.5
    return F.where(self < 0, F.log(half) + square, F.log1p(-(half * F.exp(square))))


@rule(records.normal_hazard)
@_in_double
def _normal_hazard(F: Any, self: Any) -> Any:
    tail = _erfcx(F, F.abs(self) * _SQRT_HALF)
    scaled = F.where(self > 0, F.exp(self * self * 0.5) * 2 - tail, tail)
    return math.sqrt(2 / math.pi) / scaled


@_in_double
def _single_ndtr(F: Any, self: Any) -> Any:
    tail = _erfcx(F, F.abs(self) * _SQRT_HALF) * F.exp(self * self * -0.5) * 0.5
    return F.where(self > 0, 1 - tail, tail)


@rule(records.special_ndtr, kinds=REAL)
def _ndtr(F: Any, self: Any) -> Any:
    return _single_ndtr(F, self) if self.dtype == np.float32 else F.erfc(self * -_SQRT_HALF) * 0.5


@_in_double
def _single_logit(F: Any, self: Any) -> Any:
    return F.log(self / (1 - self))


@rule(records.logit, kinds=REAL)
def _logit(F: Any, self: Any, eps: float | None) -> Any:
    if eps is not None:
        self = F.minimum(F.maximum(self, eps), 1 - eps)
    if self.dtype == np.float32:
        return _single_logit(F, self)
    # logit vanishes at 1/2, near which the quotient rounds to 1
    complement, centred = 1 - self, self - 0.5
    near = F.log1p(centred * 2 / complement)
    return F.where(F.abs(centred) < 0.25, near, F.log(self / complement))
