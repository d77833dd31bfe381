"""Layer 2 · prims: element-wise operations of one argument."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from wengert.kernels import elementwise as kernels
from wengert.kernels import logarithms, single
from wengert.kernels.select import choose
from wengert.prims.families import constant, elementwise, linear, zero
from wengert.prims.record import case, not_implemented

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
    example=("wg.tensor([0.5, -1.0])", "tensor([-0.5000,  1.0000])"),
    aliases="negative",
    operator="neg",
    keeps_nan=True,
)
elementwise(
    "exp",
    np.exp,
    lin=lambda F, g, result: g * result,
    doc="e ** self",
    example=("wg.tensor([0.5, 1.0])", "tensor([1.6487, 2.7183])"),
    cycles=8,
)
elementwise(
    "exp2",
    np.exp2,
    lin=lambda F, g, result: g * result * _LN2,
    doc="2 ** self",
    example=("wg.tensor([0.5, 1.0])", "tensor([1.4142, 2.0000])"),
    cycles=8,
)
elementwise(
    "expm1",
    single.expm1,
    lin=lambda F, g, result: g * (result + 1),
    doc="exp(self) - 1",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.6487, 1.7183])"),
    numpy="expm1",
    cycles=12,
    fused="elements",
)
elementwise(
    "log",
    np.log,
    lin=lambda F, g, self: g / self,
    domain="positive",
    doc="natural logarithm",
    example=("wg.tensor([0.5, 1.0])", "tensor([-0.6931,  0.0000])"),
    cycles=8,
)
elementwise(
    "log2",
    np.log2,
    lin=lambda F, g, self: g / (self * _LN2),
    domain="positive",
    doc="logarithm to base 2",
    example=("wg.tensor([0.5, 1.0])", "tensor([-1.,  0.])"),
    cycles=8,
)
elementwise(
    "log10",
    np.log10,
    lin=lambda F, g, self: g / (self * _LN10),
    domain="positive",
    doc="logarithm to base 10",
    example=("wg.tensor([0.5, 1.0])", "tensor([-0.3010,  0.0000])"),
    cycles=12,
)
elementwise(
    "log1p",
    logarithms.log1p,
    lin=lambda F, g, self: g / (self + 1),
    domain="positive",
    doc="log(1 + self)",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.4055, 0.6931])"),
    numpy="log1p",
    cycles=12,
    fused="elements",
)
elementwise(
    "sqrt",
    np.sqrt,
    lin=lambda F, g, result: g / (2 * result),
    domain="positive",
    doc="square root",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.7071, 1.0000])"),
)
elementwise(
    "rsqrt",
    kernels.rsqrt,
    lin=lambda F, g, result: g * (-0.5 * result * (result * result)),
    domain="positive",
    formula="1 / F.sqrt({})",
    doc="1 / sqrt(self)",
    fused="elements",
    example=("wg.tensor([0.5, 1.0])", "tensor([1.4142, 1.0000])"),
)
elementwise(
    "reciprocal",
    kernels.reciprocal,
    lin=lambda F, g, result: -g * (result * result),
    domain="positive",
    doc="1 / self",
    example=("wg.tensor([0.5, 1.0])", "tensor([2., 1.])"),
    numpy="reciprocal",
)
elementwise(
    "sin",
    np.sin,
    lin=lambda F, g, self: g * F.cos(self),
    doc="sine",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.4794, 0.8415])"),
    cycles=12,
)
elementwise(
    "cos",
    np.cos,
    lin=lambda F, g, self: g * -F.sin(self),
    doc="cosine",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.8776, 0.5403])"),
    cycles=12,
)
elementwise(
    "tan",
    single.tan,
    lin=lambda F, g, result: g * (1 + result * result),
    domain="unit",
    doc="tangent",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.5463, 1.5574])"),
    numpy="tan",
    cycles=20,
    fused="elements",
)


def _over_circle(F: Any, x: Any, dtype: Any) -> Any:
    """Return 1 / sqrt(1 - x * x), by factors: 1 - x * x loses digits near 1, and may overflow."""
    if dtype.kind == "c":
        # a difference keeps the sign of an imaginary zero, which tells the sides of a branch cut
        return F.rsqrt(-(x - 1)) * F.rsqrt(x - -1)
    return F.rsqrt((1 - x) * (1 + x))


def _over_factors(g: Any, first: Any, second: Any, dtype: Any) -> Any:
    # a complex product of large numbers may be infinite or NaN
    return g / first / second if dtype.kind == "c" else g / (first * second)


def _slope_of_atan(F: Any, g: Any, self: Any, self_dtype: Any) -> Any:
    if self_dtype.kind == "c":
        return _over_factors(g, 1 - 1j * self, 1 + 1j * self, self_dtype)
    return g / (self * self + 1)


def _slope_of_asinh(F: Any, g: Any, self: Any, self_dtype: Any) -> Any:
    if self_dtype.kind == "c":
        return g / F.cosh(F.asinh(self))  # on the same side of a branch cut
    # the square of a large number would overflow
    return g / F.hypot(self, F.zeros_like(self) + 1)


elementwise(
    "asin",
    np.arcsin,
    lin=lambda F, g, self, self_dtype: g * _over_circle(F, self, self_dtype),
    domain="unit",
    doc="inverse sine",
    example=("wg.tensor([0.0, 0.5])", "tensor([0.0000, 0.5236])"),
    aliases="arcsin",
    cycles=12,
)
elementwise(
    "acos",
    np.arccos,
    lin=lambda F, g, self, self_dtype: g * -_over_circle(F, self, self_dtype),
    domain="unit",
    doc="inverse cosine",
    example=("wg.tensor([0.0, 0.5])", "tensor([1.5708, 1.0472])"),
    aliases="arccos",
    cycles=12,
)
elementwise(
    "atan",
    single.atan,
    lin=_slope_of_atan,
    doc="inverse tangent",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.4636, 0.7854])"),
    aliases="arctan",
    numpy="arctan",
    cycles=12,
    fused="elements",
)
elementwise(
    "sinh",
    single.sinh,
    lin=lambda F, g, self: g * F.cosh(self),
    doc="hyperbolic sine",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.5211, 1.1752])"),
    numpy="sinh",
    cycles=20,
    fused="elements",
)
elementwise(
    "cosh",
    single.cosh,
    lin=lambda F, g, self: g * F.sinh(self),
    doc="hyperbolic cosine",
    example=("wg.tensor([0.5, 1.0])", "tensor([1.1276, 1.5431])"),
    numpy="cosh",
    cycles=12,
    fused="elements",
)
elementwise(
    "tanh",
    np.tanh,
    lin=lambda F, g, result: g * (1 - result * result),
    doc="hyperbolic tangent",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.4621, 0.7616])"),
    cycles=20,
)
elementwise(
    "asinh",
    np.arcsinh,
    lin=_slope_of_asinh,
    doc="inverse hyperbolic sine",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.4812, 0.8814])"),
    aliases="arcsinh",
    cycles=20,
)
elementwise(
    "acosh",
    np.arccosh,
    lin=lambda F, g, self: g * F.rsqrt(self - 1) * F.rsqrt(self - -1),
    domain="above one",
    doc="inverse hyperbolic cosine",
    example=("wg.tensor([1.5, 2.0])", "tensor([0.9624, 1.3170])"),
    aliases="arccosh",
    cycles=20,
)
elementwise(
    "atanh",
    single.atanh,
    lin=lambda F, g, self, self_dtype: _over_factors(g, 1 - self, 1 + self, self_dtype),
    domain="unit",
    doc="inverse hyperbolic tangent",
    example=("wg.tensor([0.0, 0.5])", "tensor([0.0000, 0.5493])"),
    aliases="arctanh",
    numpy="arctanh",
    cycles=20,
    fused="elements",
)
elementwise(
    "sigmoid",
    kernels.sigmoid,
    lin=lambda F, g, result: g * ((1 - result) * result),
    doc="1 / (1 + exp(-self))",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.6225, 0.7311])"),
    fused="elements",
)
elementwise(
    "erf",
    kernels.erf,
    lin=lambda F, g, self: g * (_TWO_OVER_SQRT_PI * F.exp(-(self * self))),
    refuses=not_implemented("erf_vml_cpu"),
    layout="same",
    doc="error function",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.5205, 0.8427])"),
    cycles=12,
    fused="elements",
)
elementwise(
    "erfc",
    kernels.erfc,
    lin=lambda F, g, self: g * (-_TWO_OVER_SQRT_PI * F.exp(-(self * self))),
    refuses=not_implemented("erfc_vml_cpu"),
    layout="same",
    doc="complementary error function",
    example=("wg.tensor([0.5, 1.0])", "tensor([0.4795, 0.1573])"),
    cycles=12,
    fused="elements",
)
elementwise(
    "relu",
    kernels.relu,
    into=lambda self: kernels.relu(self, self),
    lin=lambda F, g, result: F.threshold_backward(g, result),
    promote="same",
    domain="nonzero",
    refuses={
        "b": RuntimeError("Boolean inputs not supported for relu"),
        "c": "clamp is not supported for complex types",
    },
    doc="max(self, 0); the derivative at 0 is 0",
    example=("wg.tensor([0.5, -1.0])", "tensor([0.5000, 0.0000])"),
)
# a primitive of its own, as in PyTorch, so that the gradient of relu has a history, with a
# derivative of 0
linear(
    "threshold_backward",
    lambda grad_output, self: choose(self <= 0, 0, grad_output),
    vjp=(lambda F, g, self: F.threshold_backward(g, self), zero),
    cases=(case((2, 3), (2, 3)), case((), ())),
    formula="F.where({1} <= 0, 0, {0})",
    doc="0 where self is at most 0, and grad_output elsewhere: also where self is NaN",
    tangents="diagonal",
    batching="pointwise",
)
linear(
    "constant_in",
    lambda grad_output, self: grad_output,
    vjp=(lambda F, g: g, zero),
    cases=(case((2, 3), (2, 3)), case((), ())),
    formula="{0}",
    doc="grad_output, with a history in self that gives it a derivative of 0",
    tangents="diagonal",
    batching="leading",
)
elementwise(
    "abs",
    np.absolute,
    lin=lambda F, g, self: g * F.sgn(self),
    promote="same",
    domain="nonzero",
    refuses=not_implemented("abs_cpu", "b"),
    doc="absolute value; the derivative at 0 is 0",
    conj="explicit",
    example=("wg.tensor([0.5, -1.0])", "tensor([0.5000, 1.0000])"),
    aliases="absolute",
    in_place=False,
    numpy="absolute fabs",
    operator="abs",
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
    fused="elements",
    example=("wg.tensor([0.5, -1.0])", "tensor([ 1., -1.])"),
)
_rounding = partial(elementwise, lin=zero, promote="same", domain="fractional")


def _unrounded(name: str) -> dict[str, str]:
    refused = not_implemented(f"{name}_vml_cpu", "b")
    return {**refused, "c": f"{name} is not supported for complex inputs"}


_rounding(
    "floor",
    kernels.floor,
    refuses=_unrounded("floor"),
    doc="round down",
    example=("wg.tensor([0.4, -1.5])", "tensor([ 0., -2.])"),
    numpy="floor",
)
_rounding(
    "ceil",
    kernels.ceil,
    refuses=_unrounded("ceil"),
    doc="round up",
    example=("wg.tensor([0.4, -1.5])", "tensor([ 1., -1.])"),
    numpy="ceil",
)
_rounding(
    "trunc",
    kernels.trunc,
    refuses=_unrounded("trunc"),
    doc="round towards zero",
    example=("wg.tensor([0.4, -1.5])", "tensor([ 0., -1.])"),
    aliases="fix",
    numpy="trunc",
)
_rounding(
    "round",
    kernels.rint,
    refuses=not_implemented("round_vml_cpu", "bc"),
    doc="round to the nearest integer, halves to even",
    numpy="rint",
)

for _name, _what, _value, _found in (
    ("isnan", "NaN", "nan", "tensor([False,  True])"),
    ("isinf", "infinite", "inf", "tensor([False,  True])"),
    ("isfinite", "finite", "inf", "tensor([ True, False])"),
):
    constant(
        _name,
        getattr(np, _name),
        doc=f"whether each element is {_what}",
        raises=False,
        example=(f'wg.tensor([1.0, float("{_value}")])', _found),
        in_place=False,
        maps=True,
    )
constant(
    "logical_not",
    np.logical_not,
    formula="~{}",
    doc="whether each element is zero",
    raises=False,
    example=("wg.tensor([0.0, 2.0])", "tensor([ True, False])"),
    maps=True,
)
constant(
    "bitwise_not",
    np.bitwise_not,
    cases=(case(lambda rng: rng.integers(-9, 9, (2, 3))),),
    refuses=not_implemented("bitwise_not_cpu", "cf"),
    doc="bitwise complement",
    raises=False,
    example=("wg.tensor([1, 2])", "tensor([-2, -3])"),
    operator="invert",
    maps=True,
)
