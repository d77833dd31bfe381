"""Layer 8 · compiler: decompositions of functions of one element, or of elements at one place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.compiler.decompose_rules import COMPLEX, REAL, Rules

__all__ = ["POINTWISE"]

POINTWISE = Rules()
_rule = POINTWISE.rule
_ANY = REAL + COMPLEX
_SQRT_HALF = math.sqrt(0.5)
_BELL = 1 / math.sqrt(2 * math.pi)
_LN2 = math.log(2.0)

# -- arithmetic -----------------------------------------------------------------------------------


@_rule("rsub")
def _rsub(F: Any, self: Any, other: Any) -> Any:
    return other - self


@_rule("add_scaled")
def _add_scaled(F: Any, self: Any, other: Any, alpha: Any) -> Any:
    return self + other * alpha


@_rule("sub_scaled")
def _sub_scaled(F: Any, self: Any, other: Any, alpha: Any) -> Any:
    return self - other * alpha


def _times(array: Any, factor: Any) -> Any:
    return array if type(factor) is int and factor == 1 else array * factor


@_rule("addcmul")
def _addcmul(F: Any, self: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    return self + _times(tensor1 * tensor2, value)


@_rule("addcdiv", kinds=_ANY)
def _addcdiv(F: Any, self: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    return self + _times(tensor1 / tensor2, value)


@_rule("lerp", kinds=_ANY)
def _lerp(F: Any, self: Any, end: Any, weight: Any) -> Any:
    if abs(weight) < 0.5:
        return self + (end - self) * weight
    return end - (end - self) * (1 - weight)


@_rule("lerp_tensor", kinds=REAL)
def _lerp_tensor(F: Any, self: Any, end: Any, weight: Any) -> Any:
    step = end - self
    return F.where(F.abs(weight) < 0.5, self + weight * step, end - step * (1 - weight))


@_rule("pow_scalar", kinds=_ANY)
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


@_rule("rsqrt", kinds=_ANY)
def _rsqrt(F: Any, self: Any) -> Any:
    return F.reciprocal(F.sqrt(self))


@_rule("ldexp", kinds=REAL)
def _ldexp(F: Any, self: Any, other: Any) -> Any:
    return self * F.exp2(other) if self.dtype == other.dtype else NotImplemented


@_rule("deg2rad", kinds=REAL)
def _deg2rad(F: Any, self: Any) -> Any:
    return self * (math.pi / 180.0)


@_rule("rad2deg", kinds=REAL)
def _rad2deg(F: Any, self: Any) -> Any:
    return self * (180.0 / math.pi)


@_rule("frac", kinds=REAL)
def _frac(F: Any, self: Any) -> Any:
    return self - F.trunc(self)


@_rule("round_decimals", kinds=REAL)
def _round_decimals(F: Any, self: Any, decimals: int) -> Any:
    power = 10.0 ** abs(decimals)
    return F.round(self / power) * power if decimals < 0 else F.round(self * power) / power


# -- choices --------------------------------------------------------------------------------------


@_rule("relu", kinds=REAL)
def _relu(F: Any, self: Any) -> Any:
    return F.maximum(self, 0)


@_rule("threshold_backward", kinds=REAL)
def _threshold_backward(F: Any, grad_output: Any, self: Any) -> Any:
    return F.where(self <= 0, 0, grad_output)


@_rule("clamp", "clamp_tensor", kinds=REAL)
def _clamp(F: Any, self: Any, min: Any, max: Any) -> Any:
    if min is not None:
        self = F.maximum(self, min)
    return self if max is None else F.minimum(self, max)


@_rule("hardtanh", kinds=REAL)
def _hardtanh(F: Any, self: Any, min_val: float, max_val: float) -> Any:
    return F.minimum(F.maximum(self, min_val), max_val)


@_rule("clamp_min", kinds=REAL)
def _clamp_min(F: Any, self: Any, min: Any) -> Any:
    return F.maximum(self, min)


@_rule("clamp_max", kinds=REAL)
def _clamp_max(F: Any, self: Any, max: Any) -> Any:
    return F.minimum(self, max)


@_rule("clamp_min_tensor")
def _clamp_min_tensor(F: Any, self: Any, min: Any) -> Any:
    return F.maximum(self, min)


@_rule("clamp_max_tensor")
def _clamp_max_tensor(F: Any, self: Any, max: Any) -> Any:
    return F.minimum(self, max)


@_rule("fmax", kinds=REAL)
def _fmax(F: Any, self: Any, other: Any) -> Any:
    return F.where(F.logical_or(self >= other, F.isnan(other)), self, other)


@_rule("fmin", kinds=REAL)
def _fmin(F: Any, self: Any, other: Any) -> Any:
    return F.where(F.logical_or(self <= other, F.isnan(other)), self, other)


@_rule("masked_fill", kinds=_ANY)
def _masked_fill(F: Any, self: Any, mask: Any, value: Any) -> Any:
    return F.where(mask, value, self)


@_rule("masked_fill_tensor", kinds=_ANY)
def _masked_fill_tensor(F: Any, self: Any, mask: Any, value: Any) -> Any:
    return F.where(mask, value, self) if value.dtype == self.dtype else NotImplemented


@_rule("heaviside", kinds=REAL)
def _heaviside(F: Any, self: Any, values: Any) -> Any:
    return F.where(self == 0, values, F.to_copy(self > 0, dtype=self.dtype))


@_rule("isposinf", kinds=REAL)
def _isposinf(F: Any, self: Any) -> Any:
    return self == math.inf


@_rule("isneginf", kinds=REAL)
def _isneginf(F: Any, self: Any) -> Any:
    return self == -math.inf


@_rule("nan_to_num", kinds=REAL)
def _nan_to_num(F: Any, self: Any, nan: float, posinf: float | None, neginf: float | None) -> Any:
    limits = np.finfo(self.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    finite = F.where(self == -math.inf, low, F.where(self == math.inf, high, self))
    return F.where(F.isnan(self), nan, finite)


# -- activations ----------------------------------------------------------------------------------


@_rule("sigmoid", kinds=_ANY)
def _sigmoid(F: Any, self: Any) -> Any:
    return F.reciprocal(F.exp(-self) + 1)


@_rule("silu", kinds=_ANY)
def _silu(F: Any, self: Any) -> Any:
    return self / (F.exp(-self) + 1)


def _decay(F: Any, self: Any) -> Any:
    """log(1 + exp(-\\|self\\|)), which never overflows."""
    return F.log1p(F.exp(-F.abs(self)))


@_rule("softplus", kinds=REAL)
def _softplus(F: Any, self: Any, beta: float, threshold: float) -> Any:
    scaled = self * beta
    return F.where(scaled > threshold, self, (_decay(F, scaled) + F.maximum(scaled, 0)) / beta)


@_rule("log_sigmoid", kinds=REAL)
def _log_sigmoid(F: Any, self: Any) -> Any:
    return F.minimum(self, 0) - _decay(F, self)


@_rule("mish", kinds=REAL)
def _mish(F: Any, self: Any) -> Any:
    grown = F.exp(F.minimum(self, 40))
    square = grown * (grown + 2)
    return self * (square / (square + 2))


@_rule("gelu", kinds=REAL)
def _gelu(F: Any, self: Any, approximate: str) -> Any:
    if approximate == "tanh":
        inner = (self + self * self * self * 0.044715) * math.sqrt(2 / math.pi)
        return self * 0.5 * (F.tanh(inner) + 1)
    return self * 0.5 * F.erfc(self * -_SQRT_HALF)


@_rule("gelu_slope", kinds=REAL)
def _gelu_slope(F: Any, self: Any) -> Any:
    bell = F.exp(self * self * -0.5)
    return F.erfc(self * -_SQRT_HALF) * 0.5 + self * bell * _BELL


@_rule("leaky_relu", kinds=REAL)
def _leaky_relu(F: Any, self: Any, negative_slope: float) -> Any:
    below = self * negative_slope
    return F.maximum(self, below) if 0 < negative_slope <= 1 else F.where(self > 0, self, below)


@_rule("elu", kinds=REAL)
def _elu(F: Any, self: Any, alpha: float, scale: float, input_scale: float) -> Any:
    below = F.expm1(_times(F.minimum(self, 0), input_scale)) * (alpha * scale)
    return below + _times(F.maximum(self, 0), scale)


@_rule("hardsigmoid", kinds=REAL)
def _hardsigmoid(F: Any, self: Any) -> Any:
    return F.minimum(F.maximum(self + 3, 0), 6) / 6


@_rule("hardswish", kinds=REAL)
def _hardswish(F: Any, self: Any) -> Any:
    return F.minimum(F.maximum(self + 3, 0), 6) * self / 6


@_rule("hardshrink", kinds=REAL)
def _hardshrink(F: Any, self: Any, lambd: float) -> Any:
    return F.where(F.abs(self) <= lambd, 0, self)


@_rule("softshrink", kinds=REAL)
def _softshrink(F: Any, self: Any, lambd: float) -> Any:
    return self - F.minimum(F.maximum(self, -lambd), lambd)


@_rule("threshold", kinds=REAL)
def _threshold(F: Any, self: Any, threshold: float, value: float) -> Any:
    return F.where(self <= threshold, value, self)


@_rule("prelu", kinds=REAL)
def _prelu(F: Any, self: Any, weight: Any) -> Any:
    return F.where(self > 0, self, weight * self)


# -- logarithms -----------------------------------------------------------------------------------


@_rule("xlogy", kinds=REAL)
def _xlogy(F: Any, self: Any, other: Any) -> Any:
    nothing = F.logical_and(self == 0, other == other)
    return self * F.log(F.where(nothing, 1, other))


@_rule("special_xlog1py", kinds=REAL)
def _xlog1py(F: Any, self: Any, other: Any) -> Any:
    nothing = F.logical_and(self == 0, other == other)
    return self * F.log1p(F.where(nothing, 0, other))


@_rule("special_entr", kinds=REAL)
def _entr(F: Any, self: Any) -> Any:
    inside = self > 0
    size = F.where(inside, self, 1)
    below = F.where(self < 0, -math.inf, F.where(self == self, 0, self))
    return F.where(inside, size * -F.log(size), below)


@_rule("logit", kinds=REAL)
def _logit(F: Any, self: Any, eps: float | None) -> Any:
    if eps is not None:
        self = F.minimum(F.maximum(self, eps), 1 - eps)
    return F.log(self / (1 - self))


@_rule("logaddexp", kinds=REAL)
def _logaddexp(F: Any, self: Any, other: Any) -> Any:
    # two equal infinities have no difference
    gap = F.where(self == other, 0, F.abs(self - other))
    return F.maximum(self, other) + F.log1p(F.exp(-gap))


@_rule("logaddexp2", kinds=REAL)
def _logaddexp2(F: Any, self: Any, other: Any) -> Any:
    gap = F.where(self == other, 0, F.abs(self - other))
    return F.maximum(self, other) + F.log1p(F.exp2(-gap)) * (1 / _LN2)


@_rule("special_ndtr", kinds=REAL)
def _ndtr(F: Any, self: Any) -> Any:
    return F.erfc(self * -_SQRT_HALF) * 0.5


# -- complex numbers ------------------------------------------------------------------------------


@_rule("polar", kinds=REAL)
def _polar(F: Any, abs: Any, angle: Any) -> Any:
    return F.complex(abs * F.cos(angle), abs * F.sin(angle))
