"""Layer 2 · prims: element-wise operations of two arguments, and their forms with a Python number.

A binary operation names its forms with a number (``scalar``, ``rscalar``), which are records of
their own, as in PyTorch: a number has no gradient, and it is weaker than any array's dtype.
"""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from wengert.kernels import elementwise as kernels
from wengert.kernels import single
from wengert.prims.families import bilinear, constant, elementwise, linear, zero
from wengert.prims.record import case

_MINUS = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead.",
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead.",
)


def _refused(kernel: str, kinds: str) -> dict[str, str]:
    """The message of PyTorch's kernels for dtypes that they do not take."""
    return dict.fromkeys(kinds, f"\"{kernel}\" not implemented for '{{}}'")


_SCALAR = (case((), other=2.5), case((3,), other=3.0), case((2, 3), other=-1.5))
_BINARY = (
    case((), ()),
    case((3,), (3,)),
    case((2, 3), (3,)),
    case((), (2, 3)),
    case((2, 1), (1, 3)),
    case((0,), (1,)),
)


def _integers(rng: Any) -> Any:
    return rng.integers(-9, 9, (2, 3))


linear(
    "add",
    np.add,
    args=("self", "other"),
    vjp=(lambda F, g: g, lambda F, g: g),
    infix="{} + {}",
    promote="same",
    broadcasts=True,
    scalar="add_scalar",
    rscalar="add_scalar",
    cases=_BINARY,
    doc="self + other",
)
elementwise(
    "add_scalar",
    lambda self, other: self + other,
    params=("other",),
    of_number=True,
    lin=lambda F, g: g,
    infix="{} + other",
    promote="same",
    node="AddBackward0",
    blanks=1,
    cases=_SCALAR,
    doc="self + other, a number",
    raises=False,
)
linear(
    "rsub",
    lambda self, other: other - self,
    args=("self", "other"),
    vjp=(lambda F, g: -g, lambda F, g: g),
    promote="same",
    broadcasts=True,
    cases=_BINARY,
    refuses={"any b": _MINUS},
    doc="other - self",
)
linear(
    "add_scaled",
    lambda self, other, alpha: self + other * alpha,
    args=("self", "other"),
    params=("alpha",),
    vjp=(lambda F, g: g, lambda F, g, alpha: g * alpha),
    promote="same",
    broadcasts=True,
    node="AddBackward0",
    cases=(case((2, 3), (3,), alpha=2.0), case((), (), alpha=-1.0)),
    doc="self + alpha * other",
)
linear(
    "sub_scaled",
    lambda self, other, alpha: self - other * alpha,
    args=("self", "other"),
    params=("alpha",),
    vjp=(lambda F, g: g, lambda F, g, alpha: g * -alpha),
    promote="same",
    broadcasts=True,
    node="SubBackward0",
    cases=(case((2, 3), (3,), alpha=2.0), case((), (), alpha=-1.0)),
    refuses={"any b": _MINUS},
    doc="self - alpha * other",
)
linear(
    "sub",
    np.subtract,
    args=("self", "other"),
    vjp=(lambda F, g: g, lambda F, g: -g),
    infix="{} - {}",
    promote="same",
    broadcasts=True,
    scalar="sub_scalar",
    rscalar="rsub_scalar",
    cases=_BINARY,
    refuses={"any b": _MINUS},
    doc="self - other",
)
elementwise(
    "sub_scalar",
    lambda self, other: self - other,
    params=("other",),
    of_number=True,
    lin=lambda F, g: g,
    infix="{} - other",
    promote="same",
    node="SubBackward0",
    blanks=1,
    cases=_SCALAR,
    refuses={"any b": _MINUS},
    doc="self - other, a number",
    raises=False,
)
elementwise(
    "rsub_scalar",
    lambda self, other: other - self,
    params=("other",),
    of_number=True,
    lin=lambda F, g: -g,
    infix="other - {}",
    promote="same",
    node="RsubBackward1",
    cases=_SCALAR,
    refuses={"any b": _MINUS},
    doc="other - self, other a number",
    raises=False,
)
bilinear(
    "mul",
    np.multiply,
    vjp=(lambda F, g, other: g * other, lambda F, g, self: g * self),
    infix="{} * {}",
    broadcasts=True,
    scalar="mul_scalar",
    rscalar="mul_scalar",
    doc="self * other",
)
elementwise(
    "mul_scalar",
    lambda self, other: self * other,
    params=("other",),
    of_number=True,
    lin=lambda F, g, other: g * other,
    infix="{} * other",
    promote="same",
    node="MulBackward0",
    blanks=1,
    cases=_SCALAR,
    doc="self * other, a number",
    raises=False,
)
elementwise(
    "div",
    np.true_divide,
    args=("self", "other"),
    lin=(
        lambda F, g, other: g / other,
        lambda F, g, self, other: -g * ((self / other) / other),
    ),
    infix="{} / {}",
    scalar="div_scalar",
    domain=("real", "positive"),
    doc="self / other",
)
elementwise(
    "div_scalar",
    lambda self, other: self / other,
    params=("other",),
    of_number=True,
    lin=lambda F, g, other: g / other,
    infix="{} / other",
    node="DivBackward0",
    blanks=1,
    cases=_SCALAR,
    doc="self / other, a number",
)


def _slope(F: Any, g: Any, self: Any, exponent: Any) -> Any:
    if exponent == 0:
        return F.zeros_like(g)
    if exponent == 1:
        return g
    if exponent == 2:
        return g * (self * 2)
    return g * (F.pow_scalar(self, exponent=exponent - 1) * exponent)


def _slope_of_base(F: Any, g: Any, self: Any, exponent: Any) -> Any:
    # 0 ** -1 must not meet the exponent 0, nor its derivative the zero cotangent behind it; any
    # other base stays, since the derivative of this by the exponent is its reciprocal there
    lost = F.logical_and(exponent == 0, F.logical_or(self == 0, F.isnan(self)))
    return g * (exponent * F.pow(F.where(lost, 1, self), exponent - 1))


def _slope_of_exponent(
    F: Any, g: Any, self: Any, exponent: Any, result: Any, self_dtype: Any, exponent_dtype: Any
) -> Any:
    flat = F.logical_and(self == 0, F.ge(F.real(exponent), 0))
    base = F.where(flat, 1, self)
    if exponent_dtype.kind == "c" and self_dtype.kind != "c":
        # of a negative number, too
        base = F.to_copy(base, dtype=exponent_dtype)
    return g * (result * F.log(base))


def _slope_of_power_of_number(F: Any, g: Any, result: Any, base: Any, self_dtype: Any) -> Any:
    if base == 0:
        # what falls to 0 is flat, and what is infinite falls
        return g * F.where(F.isinf(F.abs(result)), -result, 0)
    if self_dtype.kind == "c" or isinstance(base, complex):
        return g * (result * cmath.log(base))
    return g * (result * (math.log(base) if base > 0 else math.nan))


elementwise(
    "pow",
    kernels.power,
    args=("self", "exponent"),
    lin=(_slope_of_base, _slope_of_exponent),
    promote="same",
    node="PowBackward1",
    scalar="pow_scalar",
    rscalar="rpow_scalar",
    domain=("positive", "real"),
    doc="self to the power exponent; at self = 0 the derivative by the exponent is 0",
)
elementwise(
    "pow_scalar",
    kernels.power_scalar,
    params=("exponent",),
    of_number=True,
    lin=_slope,
    promote="same",
    node="PowBackward0",
    domain="positive",
    cases=tuple(
        case(shape, exponent=e) for shape in ((), (2, 3)) for e in (2, 3.0, 0.5, -1, 1, 0, -2.5)
    ),
    doc="self to the power exponent, a number",
)
elementwise(
    "rpow_scalar",
    kernels.rpower_scalar,
    params=("base",),
    of_number=True,
    lin=_slope_of_power_of_number,
    promote="same",
    node="PowBackward2",
    cases=(case((), base=2.0), case((2, 3), base=0.5)),
    doc="base, a number, to the power self",
)


def _over_square_of_radius(F: Any, side: Any, y: Any, x: Any) -> Any:
    # 1 at the origin, so that the derivative there is 0
    origin = F.logical_and(y == 0, x == 0)
    radius = F.hypot(F.where(origin, 1, y), x)
    # divided twice: the square might be 0, or infinite
    return side / radius / radius


elementwise(
    "atan2",
    single.atan2,
    args=("self", "other"),
    lin=(
        lambda F, g, self, other: g * _over_square_of_radius(F, other, self, other),
        lambda F, g, self, other: -g * _over_square_of_radius(F, self, self, other),
    ),
    domain=("positive", "positive"),
    refuses=_refused("atan2_cpu", "c"),
    doc="the angle of the point (other, self)",
)
elementwise(
    "hypot",
    np.hypot,
    args=("self", "other"),
    lin=(
        lambda F, g, self, result: g * (self / result),
        lambda F, g, other, result: g * (other / result),
    ),
    domain=("positive", "positive"),
    refuses=_refused("hypot_cpu", "bic"),
    doc="sqrt(self ** 2 + other ** 2)",
    raises=False,
)
elementwise(
    "fmod",
    kernels.fmod,
    args=("self", "other"),
    lin=(lambda F, g: g, lambda F, g, self, other: -g * F.trunc(self / other)),
    promote="same",
    scalar="fmod_scalar",
    domain=("fractional", "whole"),
    node="FmodBackward1",
    refuses=_refused("fmod_cpu", "bc"),
    doc="the remainder with the sign of self",
)
elementwise(
    "fmod_scalar",
    kernels.fmod,
    params=("other",),
    of_number=True,
    lin=lambda F, g: g,
    promote="same",
    domain="fractional",
    node="FmodBackward0",
    cases=(case((2, 3), other=2.0),),
    doc="the remainder by a number, with the sign of self",
)
elementwise(
    "remainder",
    kernels.remainder,
    args=("self", "other"),
    lin=(lambda F, g: g, lambda F, g, self, other: -g * F.floor(self / other)),
    promote="same",
    scalar="remainder_scalar",
    domain=("fractional", "whole"),
    node="RemainderBackward1",
    refuses=_refused("remainder_cpu", "bc"),
    doc="the remainder with the sign of other",
)
elementwise(
    "remainder_scalar",
    kernels.remainder,
    params=("other",),
    of_number=True,
    lin=lambda F, g: g,
    promote="same",
    domain="fractional",
    node="RemainderBackward0",
    cases=(case((2, 3), other=2.0),),
    doc="the remainder by a number, with the number's sign",
)


def _larger(F: Any, g: Any, self: Any, other: Any) -> Any:
    # where either is NaN, so is the result, and each has all of the gradient
    return F.where(self < other, 0, F.where(self == other, g * 0.5, g))


elementwise(
    "maximum",
    np.maximum,
    args=("self", "other"),
    lin=(_larger, lambda F, g, self, other: _larger(F, g, other, self)),
    promote="same",
    refuses={"c": RuntimeError("maximum not implemented for complex tensors.")},
    masks=True,
    doc="the larger of two, NaN if either is; ties share the gradient",
    raises=False,
)
elementwise(
    "minimum",
    np.minimum,
    args=("self", "other"),
    lin=(lambda F, g, self, other: _larger(F, g, other, self), _larger),
    promote="same",
    refuses={"c": RuntimeError("minimum not implemented for complex tensors.")},
    masks=True,
    doc="the smaller of two, NaN if either is; ties share the gradient",
    raises=False,
)

_kernel: Any
for _name, _kernel, _infix, _doc in (
    ("eq", np.equal, "{} == {}", "self == other"),
    ("ne", np.not_equal, "{} != {}", "self != other"),
    ("lt", np.less, "{} < {}", "self < other"),
    ("le", np.less_equal, "{} <= {}", "self <= other"),
    ("gt", np.greater, "{} > {}", "self > other"),
    ("ge", np.greater_equal, "{} >= {}", "self >= other"),
):
    constant(
        _name,
        _kernel,
        args=("self", "other"),
        promote="same",
        broadcasts=True,
        infix=_infix,
        refuses=_refused(f"{_name}_cpu", "" if _name in ("eq", "ne") else "c"),
        raises=False,
        doc=_doc,
    )

for _name, _kernel, _doc in (
    ("logical_and", np.logical_and, "whether both are non-zero"),
    ("logical_or", np.logical_or, "whether either is non-zero"),
    ("logical_xor", np.logical_xor, "whether just one is non-zero"),
):
    constant(_name, _kernel, args=("self", "other"), broadcasts=True, raises=False, doc=_doc)

for _name, _kernel, _doc in (
    ("bitwise_and", np.bitwise_and, "bitwise and"),
    ("bitwise_or", np.bitwise_or, "bitwise or"),
    ("bitwise_xor", np.bitwise_xor, "bitwise exclusive or"),
):
    constant(
        _name,
        _kernel,
        args=("self", "other"),
        promote="same",
        broadcasts=True,
        cases=(case(_integers, _integers),),
        refuses=_refused(f"{_name}_cpu", "fc"),
        raises=False,
        doc=_doc,
    )

elementwise(
    "floor_divide",
    kernels.floor_divide,
    args=("self", "other"),
    lin=(zero, zero),
    promote="same",
    domain=("fractional", "whole"),
    refuses=_refused("div_floor_cpu", "bc"),
    doc="the quotient rounded down; its derivative is 0",
)
elementwise(
    "div_floor",
    kernels.floor_divide,
    args=("self", "other"),
    lin=(zero, zero),
    promote="same",
    node="DivBackward2",
    domain=("fractional", "whole"),
    refuses=_refused("div_floor_cpu", "bc"),
    doc="the quotient rounded down, as a mode of division",
)
elementwise(
    "div_trunc",
    kernels.trunc_divide,
    args=("self", "other"),
    lin=(zero, zero),
    promote="same",
    node="DivBackward2",
    domain=("fractional", "whole"),
    refuses=_refused("div_trunc_cpu", "bc"),
    doc="the quotient rounded towards zero, as a mode of division",
)
