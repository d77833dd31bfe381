"""Layer 2 · prims: element-wise operations of one argument."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels import elementwise as kernels
from wengert.kernels import single
from wengert.kernels.select import choose
from wengert.prims.families import constant, elementwise, linear, zero
from wengert.prims.record import case

_TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)
_LN2 = math.log(2.0)
_LN10 = math.log(10.0)

elementwise(
    "neg",
    np.negative,
    lin=lambda F, g: -g,
    promote="same",
    refuses={
        "b": RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )
    },
    doc="-self",
)
elementwise("exp", np.exp, lin=lambda F, g, result: g * result, doc="e to the power self")
elementwise("exp2", np.exp2, lin=lambda F, g, result: g * result * _LN2, doc="2 to the power self")
elementwise("expm1", single.expm1, lin=lambda F, g, result: g * (result + 1), doc="exp(self) - 1")
elementwise("log", np.log, lin=lambda F, g, self: g / self, domain="positive", doc="ln(self)")
elementwise(
    "log2",
    np.log2,
    lin=lambda F, g, self: g / (self * _LN2),
    domain="positive",
    doc="logarithm to base 2",
)
elementwise(
    "log10",
    np.log10,
    lin=lambda F, g, self: g / (self * _LN10),
    domain="positive",
    doc="logarithm to base 10",
)
elementwise(
    "log1p",
    single.log1p,
    lin=lambda F, g, self: g / (self + 1),
    node="Log1PBackward0",
    domain="positive",
    doc="ln(1 + self)",
)
elementwise(
    "sqrt",
    np.sqrt,
    lin=lambda F, g, result: g / (2 * result),
    domain="positive",
    doc="square root",
)
elementwise(
    "rsqrt",
    kernels.rsqrt,
    lin=lambda F, g, result: g * (-0.5 * result * (result * result)),
    domain="positive",
    doc="1 / sqrt(self)",
)
elementwise(
    "reciprocal",
    kernels.reciprocal,
    lin=lambda F, g, result: -g * (result * result),
    domain="positive",
    doc="1 / self",
)
elementwise("sin", np.sin, lin=lambda F, g, self: g * F.cos(self), doc="sine")
elementwise("cos", np.cos, lin=lambda F, g, self: g * -F.sin(self), doc="cosine")
elementwise(
    "tan",
    single.tan,
    lin=lambda F, g, result: g * (1 + result * result),
    domain="unit",
    doc="tangent",
)


def _over_circle(F: Any, x: Any, dtype: Any) -> Any:
    """1 / sqrt(1 - x * x), of factors: 1 less a square would lose digits near 1, or overflow."""
    if dtype.kind == "c":
        return F.rsqrt(1 - x) * F.rsqrt(1 + x)
    return F.rsqrt((1 - x) * (1 + x))


def _over_factors(g: Any, first: Any, second: Any, dtype: Any) -> Any:
    # a complex product of large numbers is infinite, or none
    return g / first / second if dtype.kind == "c" else g / (first * second)


def _slope_of_atan(F: Any, g: Any, self: Any, self_dtype: Any) -> Any:
    if self_dtype.kind == "c":
        return _over_factors(g, 1 - 1j * self, 1 + 1j * self, self_dtype)
    return g / (self * self + 1)


def _slope_of_asinh(F: Any, g: Any, self: Any, self_dtype: Any) -> Any:
    if self_dtype.kind == "c":
        return g * (F.rsqrt(1 - 1j * self) * F.rsqrt(1 + 1j * self))
    # the square of a large number would be infinite
    return g / F.hypot(self, F.zeros_like(self) + 1)


elementwise(
    "asin",
    np.arcsin,
    lin=lambda F, g, self, self_dtype: g * _over_circle(F, self, self_dtype),
    domain="unit",
    doc="inverse sine",
)
elementwise(
    "acos",
    np.arccos,
    lin=lambda F, g, self, self_dtype: g * -_over_circle(F, self, self_dtype),
    domain="unit",
    doc="inverse cosine",
)
elementwise("atan", single.atan, lin=_slope_of_atan, doc="inverse tangent")
elementwise("sinh", single.sinh, lin=lambda F, g, self: g * F.cosh(self), doc="hyperbolic sine")
elementwise("cosh", single.cosh, lin=lambda F, g, self: g * F.sinh(self), doc="hyperbolic cosine")
elementwise(
    "tanh", np.tanh, lin=lambda F, g, result: g * (1 - result * result), doc="hyperbolic tangent"
)
elementwise(
    "asinh",
    np.arcsinh,
    lin=_slope_of_asinh,
    doc="inverse hyperbolic sine",
)
elementwise(
    "acosh",
    np.arccosh,
    lin=lambda F, g, self: g * F.rsqrt(self - 1) * F.rsqrt(self + 1),
    domain="above one",
    doc="inverse hyperbolic cosine",
)
elementwise(
    "atanh",
    single.atanh,
    lin=lambda F, g, self, self_dtype: _over_factors(g, 1 - self, 1 + self, self_dtype),
    domain="unit",
    doc="inverse hyperbolic tangent",
)
elementwise(
    "sigmoid",
    kernels.sigmoid,
    lin=lambda F, g, result: g * ((1 - result) * result),
    doc="1 / (1 + exp(-self))",
)
elementwise(
    "erf",
    kernels.erf,
    lin=lambda F, g, self: g * (_TWO_OVER_SQRT_PI * F.exp(-(self * self))),
    refuses={"c": "\"erf_vml_cpu\" not implemented for '{}'"},
    layout="same",
    doc="error function",
)
elementwise(
    "erfc",
    kernels.erfc,
    lin=lambda F, g, self: g * (-_TWO_OVER_SQRT_PI * F.exp(-(self * self))),
    refuses={"c": "\"erfc_vml_cpu\" not implemented for '{}'"},
    layout="same",
    doc="complementary error function",
)
elementwise(
    "relu",
    kernels.relu,
    lin=lambda F, g, result: F.threshold_backward(g, result),
    promote="same",
    domain="nonzero",
    refuses={
        "b": RuntimeError("Boolean inputs not supported for relu"),
        "c": "clamp is not supported for complex types",
    },
    doc="max(self, 0); the derivative at 0 is 0",
)
# an operation of its own, as in PyTorch, so that the gradient of relu has a history that can be
# differentiated, with a derivative of 0
linear(
    "threshold_backward",
    lambda grad_output, self: choose(self <= 0, 0, grad_output),
    args=("grad_output", "self"),
    vjp=(lambda F, g, self: F.threshold_backward(g, self), zero),
    cases=(case((2, 3), (2, 3)), case((), ())),
    doc="0 where self is at most 0, and grad_output elsewhere: also where self is NaN",
)
elementwise(
    "abs",
    np.absolute,
    lin=lambda F, g, self: g * F.sgn(self),
    promote="same",
    domain="nonzero",
    refuses={"b": "\"abs_cpu\" not implemented for '{}'"},
    doc="absolute value; the derivative at 0 is 0",
    conj="explicit",
)
elementwise(
    "sign",
    kernels.sign,
    lin=zero,
    promote="same",
    domain="nonzero",
    refuses={
        "c": "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "
        "torch.sgn instead."
    },
    doc="-1, 0 or 1",
)
elementwise(
    "floor",
    kernels.floor,
    lin=zero,
    promote="same",
    domain="fractional",
    refuses={
        "b": "\"floor_vml_cpu\" not implemented for '{}'",
        "c": "floor is not supported for complex inputs",
    },
    doc="round down",
)
elementwise(
    "ceil",
    kernels.ceil,
    lin=zero,
    promote="same",
    domain="fractional",
    refuses={
        "b": "\"ceil_vml_cpu\" not implemented for '{}'",
        "c": "ceil is not supported for complex inputs",
    },
    doc="round up",
)
elementwise(
    "trunc",
    kernels.trunc,
    lin=zero,
    promote="same",
    domain="fractional",
    refuses={
        "b": "\"trunc_vml_cpu\" not implemented for '{}'",
        "c": "trunc is not supported for complex inputs",
    },
    doc="round to 0",
)
elementwise(
    "round",
    kernels.rint,
    lin=zero,
    promote="same",
    domain="fractional",
    refuses={
        "b": "\"round_vml_cpu\" not implemented for '{}'",
        "c": "\"round_vml_cpu\" not implemented for '{}'",
    },
    doc="round to the nearest integer, halves to even",
)

constant("isnan", np.isnan, doc="whether each element is NaN", raises=False)
constant("isinf", np.isinf, doc="whether each element is infinite", raises=False)
constant("isfinite", np.isfinite, doc="whether each element is finite", raises=False)
constant("logical_not", np.logical_not, doc="whether each element is zero", raises=False)
constant(
    "bitwise_not",
    np.bitwise_not,
    cases=(case(lambda rng: rng.integers(-9, 9, (2, 3))),),
    refuses={
        "f": "\"bitwise_not_cpu\" not implemented for '{}'",
        "c": "\"bitwise_not_cpu\" not implemented for '{}'",
    },
    doc="bitwise complement",
    raises=False,
)
