"""Layer 2 · prims: element-wise operations of two arguments, and their forms with a Python number.

A binary operation names its forms with a number (``scalar``, ``rscalar``), which are records of
their own, as in PyTorch: a number has no gradient, and it is weaker than any array's dtype.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from wengert.kernels import elementwise as kernels
from wengert.kernels import single
from wengert.prims.families import bilinear, constant, elementwise, linear, zero
from wengert.prims.record import case, not_implemented

_MINUS = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead.",
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead.",
)


_OF_TENSOR = {"other": lambda other: np.asarray(other), "self": lambda: None}
"""The saved attributes of nodes of products, which show a number as a 0-d tensor."""

_PAIR = "wg.tensor([1.0, 4.0]), wg.tensor([2.0, 3.0])"
_SCALAR = (case((), other=2.5), case((3,), other=3.0), case((2, 3), other=-1.5))


def _integers(rng: Any) -> Any:
    return rng.integers(-9, 9, (2, 3))


_sum_of_two = partial(linear, promote="same", broadcasts=True, keeps_nan=True)

_sum_of_two(
    "add",
    np.add,
    overload="Tensor Tensor",
    vjp=(lambda F, g: g, lambda F, g: g),
    infix="{} + {}",
    scalar="add_scalar",
    rscalar="add_scalar",
    shows={"alpha": lambda: 1},
    doc="self + other",
    operator="add",
    maps=True,
    commutes=True,
    takes_numbers=True,
)
_with_number = partial(elementwise, of_number=True, promote="same", raises=False, keeps_nan=True)

_with_number(
    "add_scalar",
    lambda self, other: self + other,
    lin=lambda F, g: g,
    infix="{} + other",
    node="AddBackward0",
    blanks=1,
    cases=_SCALAR,
    shows={"alpha": lambda: 1},
    doc="self + other, a number",
    wraps=True,
)
_sum_of_two(
    "rsub",
    lambda self, other: other - self,
    overload="Tensor Scalar",
    vjp=(lambda F, g: -g, lambda F, g: g),
    refuses={"any b": _MINUS},
    shows={"alpha": lambda: 1},
    doc="other - self",
)
_sum_of_two(
    "add_scaled",
    lambda self, other, alpha: self + other * alpha,
    into=lambda self, other, alpha: np.add(self, other * alpha, out=self),
    vjp=(lambda F, g: g, lambda F, g, alpha: g * alpha),
    node="AddBackward0",
    cases=(case((2, 3), (3,), alpha=2.0), case((), (), alpha=-1.0)),
    doc="self + alpha * other",
)
_sum_of_two(
    "sub_scaled",
    lambda self, other, alpha: self - other * alpha,
    into=lambda self, other, alpha: np.subtract(self, other * alpha, out=self),
    vjp=(lambda F, g: g, lambda F, g, alpha: g * -alpha),
    node="SubBackward0",
    cases=(case((2, 3), (3,), alpha=2.0), case((), (), alpha=-1.0)),
    refuses={"any b": _MINUS},
    doc="self - alpha * other",
)
_sum_of_two(
    "sub",
    np.subtract,
    overload="Tensor Tensor",
    vjp=(lambda F, g: g, lambda F, g: -g),
    infix="{} - {}",
    scalar="sub_scalar",
    rscalar="rsub_scalar",
    refuses={"any b": _MINUS},
    shows={"alpha": lambda: 1},
    doc="self - other",
    operator="sub",
    maps=True,
    takes_numbers=True,
)
_with_number(
    "sub_scalar",
    lambda self, other: self - other,
    lin=lambda F, g: g,
    infix="{} - other",
    node="SubBackward0",
    blanks=1,
    cases=_SCALAR,
    refuses={"any b": _MINUS},
    shows={"alpha": lambda: 1},
    doc="self - other, a number",
    wraps=True,
)
_with_number(
    "rsub_scalar",
    lambda self, other: other - self,
    lin=lambda F, g: -g,
    infix="other - {}",
    node="RsubBackward1",
    cases=_SCALAR,
    refuses={"any b": _MINUS},
    shows={"alpha": lambda: 1},
    doc="other - self, other a number",
    wraps=True,
)
bilinear(
    "mul",
    np.multiply,
    overload="Tensor Tensor",
    vjp=(lambda F, g, other: g * other, lambda F, g, self: g * self),
    infix="{} * {}",
    broadcasts=True,
    scalar="mul_scalar",
    rscalar="mul_scalar",
    doc="self * other",
    example=(_PAIR, "tensor([ 2., 12.])"),
    aliases="multiply",
    operator="mul",
    maps=True,
    commutes=True,
    takes_numbers=True,
)
_with_number(
    "mul_scalar",
    lambda self, other: self * other,
    lin=lambda F, g, other: g * other,
    infix="{} * other",
    node="MulBackward0",
    blanks=1,
    cases=_SCALAR,
    shows=_OF_TENSOR,
    doc="self * other, a number",
    wraps=True,
)
elementwise(
    "div",
    np.true_divide,
    overload="Tensor Tensor",
    lin=(
        lambda F, g, other: g / other,
        lambda F, g, self, other: -g * ((self / other) / other),
    ),
    infix="{} / {}",
    scalar="div_scalar",
    domain=("real", "positive"),
    shows={"rounding_mode": None},
    doc="self / other",
    operator="truediv",
    keeps_nan=True,
    takes_numbers=True,
)
elementwise(
    "div_scalar",
    lambda self, other: self / other,
    of_number=True,
    lin=lambda F, g, other: g / other,
    infix="{} / other",
    node="DivBackward0",
    blanks=1,
    cases=_SCALAR,
    shows={**_OF_TENSOR, "rounding_mode": None},
    doc="self / other, a number",
    keeps_nan=True,
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
    # 0 ** -1 must not meet the exponent 0, nor its derivative the zero cotangent after it; any
    # other base stays, since the derivative of this with respect to the exponent is its reciprocal
    # there
    lost = F.logical_and(exponent == 0, F.logical_or(self == 0, F.isnan(self)))
    return g * (exponent * F.pow(F.where(lost, 1, self), exponent - 1))


def _slope_of_exponent(
    F: Any, g: Any, self: Any, exponent: Any, result: Any, self_dtype: Any, exponent_dtype: Any
) -> Any:
    flat = F.logical_and(self == 0, F.ge(F.real(exponent), 0))
    base = F.where(flat, 1, self)
    if exponent_dtype.kind == "c" and self_dtype.kind != "c":
        # the base may be negative
        base = F.to_copy(base, dtype=exponent_dtype)
    return g * (result * F.log(base))


def _slope_of_power_of_number(F: Any, g: Any, result: Any, base: Any, self_dtype: Any) -> Any:
    if base == 0:
        # where the result is 0 it is constant, and where it is infinite it decreases
        return g * F.where(F.isinf(F.abs(result)), -result, 0)
    if self_dtype.kind == "c" or isinstance(base, complex):
        # not by `cmath`, an extension module that would be loaded for this alone
        size, angle = math.hypot(base.real, base.imag), math.atan2(base.imag, base.real)
        return g * (result * complex(math.log(size), angle))
    return g * (result * (math.log(base) if base > 0 else math.nan))


elementwise(
    "pow",
    kernels.power,
    overload="Tensor_Tensor Tensor_Scalar",
    lin=(_slope_of_base, _slope_of_exponent),
    promote="same",
    node="PowBackward1",
    scalar="pow_scalar",
    rscalar="rpow_scalar",
    domain=("positive", "real"),
    doc="self to the power exponent; at self = 0 the derivative with respect to exponent is 0",
    in_place=True,
    numpy="power float_power",
    operator="pow",
    cycles=20,
)
elementwise(
    "pow_scalar",
    kernels.power_scalar,
    of_number=True,
    lin=_slope,
    promote="same",
    node="PowBackward0",
    domain="positive",
    cases=tuple(
        case(shape, exponent=e) for shape in ((), (2, 3)) for e in (2, 3.0, 0.5, -1, 1, 0, -2.5)
    ),
    formula="{} ** exponent",
    doc="self to the power exponent, a number",
)
elementwise(
    "rpow_scalar",
    kernels.rpower_scalar,
    overload="pow.Scalar",
    of_number=True,
    lin=_slope_of_power_of_number,
    promote="same",
    node="PowBackward2",
    cases=(case((), base=2.0), case((2, 3), base=0.5)),
    shows={"self": "base"},
    formula="base ** {}",
    doc="base, a number, to the power self",
)


def _over_square_of_radius(F: Any, side: Any, y: Any, x: Any) -> Any:
    # 1 at the origin, where the derivative is taken to be 0
    origin = F.logical_and(y == 0, x == 0)
    radius = F.hypot(F.where(origin, 1, y), x)
    # divide twice: the square might underflow or overflow
    return side / radius / radius


elementwise(
    "atan2",
    single.atan2,
    lin=(
        lambda F, g, self, other: g * _over_square_of_radius(F, other, self, other),
        lambda F, g, self, other: -g * _over_square_of_radius(F, self, self, other),
    ),
    domain=("positive", "positive"),
    refuses=not_implemented("atan2_cpu", "c"),
    doc="the angle of the point (other, self)",
    example=(_PAIR, "tensor([0.4636, 0.9273])"),
    aliases="arctan2",
    numpy="arctan2",
    cycles=12,
    fused="elements",
)
elementwise(
    "hypot",
    np.hypot,
    lin=(
        lambda F, g, self, result: g * (self / result),
        lambda F, g, other, result: g * (other / result),
    ),
    domain=("positive", "positive"),
    refuses=not_implemented("hypot_cpu", "bic"),
    formula="F.sqrt({} ** 2 + {} ** 2)",
    doc="sqrt(self ** 2 + other ** 2)",
    raises=False,
    example=(_PAIR, "tensor([2.2361, 5.0000])"),
    cycles=12,
    fused="elements",
)
elementwise(
    "fmod",
    kernels.fmod,
    overload="Tensor Scalar",
    lin=(lambda F, g: g, lambda F, g, self, other: -g * F.div_trunc(self, other)),
    promote="same",
    scalar="fmod_scalar",
    domain=("fractional", "whole"),
    node="FmodBackward1",
    refuses=not_implemented("fmod_cpu", "bc"),
    doc="the remainder with the sign of self",
    example=("wg.tensor([5.0, -5.0]), wg.tensor([3.0, 3.0])", "tensor([ 2., -2.])"),
    numpy="fmod",
    fused="elements",
)
elementwise(
    "fmod_scalar",
    kernels.fmod,
    of_number=True,
    lin=lambda F, g: g,
    promote="same",
    domain="fractional",
    node="FmodBackward0",
    cases=(case((2, 3), other=2.0),),
    doc="the remainder by a number, with the sign of self",
    refuses=not_implemented("fmod_cpu"),
    fused="elements",
    wraps=True,
)
elementwise(
    "remainder",
    kernels.remainder,
    overload="Tensor Scalar",
    lin=(lambda F, g: g, lambda F, g, self, other: -g * F.div_floor(self, other)),
    promote="same",
    scalar="remainder_scalar",
    domain=("fractional", "whole"),
    node="RemainderBackward1",
    refuses=not_implemented("remainder_cpu", "bc"),
    doc="the remainder with the sign of other",
    example=("wg.tensor([5.0, -5.0]), wg.tensor([3.0, 3.0])", "tensor([2., 1.])"),
    numpy="remainder",
    operator="mod",
    fused="elements",
)
elementwise(
    "remainder_scalar",
    kernels.remainder,
    of_number=True,
    lin=lambda F, g: g,
    promote="same",
    domain="fractional",
    node="RemainderBackward0",
    cases=(case((2, 3), other=2.0),),
    formula="{} % other",
    doc="the remainder by a number, with the number's sign",
    refuses=not_implemented("remainder_cpu"),
    fused="elements",
    wraps=True,
)


def _larger(F: Any, g: Any, self: Any, other: Any) -> Any:
    # where either is NaN, so is the result, and each receives the whole gradient
    return F.where(self < other, 0, F.where(self == other, g * 0.5, g))


elementwise(
    "maximum",
    np.maximum,
    lin=(_larger, lambda F, g, self, other: _larger(F, g, other, self)),
    promote="same",
    refuses={"c": RuntimeError("maximum not implemented for complex tensors.")},
    masks=True,
    doc="the larger of two, NaN if either is; ties share the gradient",
    raises=False,
    example=(_PAIR, "tensor([2., 4.])"),
    in_place=False,
)
elementwise(
    "minimum",
    np.minimum,
    lin=(lambda F, g, self, other: _larger(F, g, other, self), _larger),
    promote="same",
    refuses={"c": RuntimeError("minimum not implemented for complex tensors.")},
    masks=True,
    doc="the smaller of two, NaN if either is; ties share the gradient",
    raises=False,
    example=(_PAIR, "tensor([1., 3.])"),
    in_place=False,
)


def _comparison(name: str, kernel: Any, sign: str, result: str, aliases: str = "") -> None:
    constant(
        name,
        kernel,
        args=("self", "other"),
        overload="Tensor Scalar",
        promote="same",
        broadcasts=True,
        infix=f"{{}} {sign} {{}}",
        refuses=not_implemented(f"{name}_cpu", "" if name in ("eq", "ne") else "c"),
        raises=False,
        doc=f"self {sign} other",
        example=(_PAIR, f"tensor({result})"),
        aliases=aliases,
        operator=name,
        maps=True,
        commutes=name in ("eq", "ne"),
    )


_comparison("eq", np.equal, "==", "[False, False]")
_comparison("ne", np.not_equal, "!=", "[True, True]", "not_equal")
_comparison("lt", np.less, "<", "[ True, False]", "less")
_comparison("le", np.less_equal, "<=", "[ True, False]", "less_equal")
_comparison("gt", np.greater, ">", "[False,  True]", "greater")
_comparison("ge", np.greater_equal, ">=", "[False,  True]", "greater_equal")


def _logical(name: str, kernel: Any, sign: str, doc: str, result: str) -> None:
    constant(
        name,
        kernel,
        args=("self", "other"),
        broadcasts=True,
        raises=False,
        formula=f"{{}} {sign} {{}}",
        doc=doc,
        example=("wg.tensor([True, False]), wg.tensor([True, True])", f"tensor({result})"),
        maps=True,
        commutes=True,
    )


_logical("logical_and", np.logical_and, "&", "whether both are non-zero", "[ True, False]")
_logical("logical_or", np.logical_or, "|", "whether either is non-zero", "[True, True]")
_logical("logical_xor", np.logical_xor, "^", "whether exactly one is non-zero", "[False,  True]")


def _bitwise(name: str, kernel: Any, doc: str, result: str) -> None:
    constant(
        name,
        kernel,
        args=("self", "other"),
        overload="Tensor Scalar",
        promote="same",
        broadcasts=True,
        cases=(case(_integers, _integers),),
        refuses=not_implemented(f"{name}_cpu", "fc"),
        raises=False,
        doc=doc,
        example=("wg.tensor([3, 5]), wg.tensor([1, 4])", f"tensor({result})"),
        operator=name.removeprefix("bitwise_"),
        maps=True,
        commutes=True,
    )


_bitwise("bitwise_and", np.bitwise_and, "bitwise and", "[1, 4]")
_bitwise("bitwise_or", np.bitwise_or, "bitwise or", "[3, 5]")
_bitwise("bitwise_xor", np.bitwise_xor, "bitwise exclusive or", "[2, 1]")

elementwise(
    "floor_divide",
    kernels.floor_divide,
    lin=(zero, zero),
    promote="same",
    domain=("fractional", "whole"),
    refuses=not_implemented("div_floor_cpu", "bc"),
    doc="the quotient rounded down; its derivative is 0",
    example=("wg.tensor([5.0, -5.0]), wg.tensor([3.0, 3.0])", "tensor([ 1., -2.])"),
    numpy="floor_divide",
    operator="floordiv",
    scalar="floor_divide_scalar",
    takes_numbers=True,
    fused="elements",
)
elementwise(
    "floor_divide_scalar",
    kernels.floor_divide,
    of_number=True,
    lin=zero,
    promote="same",
    domain="fractional",
    node="FloorDivideBackward0",
    cases=(case((2, 3), other=2.0),),
    doc="the quotient with a number, rounded down; its derivative is 0",
    refuses=not_implemented("div_floor_cpu"),
    fused="elements",
    wraps=True,
)
elementwise(
    "div_floor",
    kernels.floor_divide,
    lin=(zero, zero),
    promote="same",
    node="DivBackward2",
    shows={"rounding_mode": lambda: "floor"},
    domain=("fractional", "whole"),
    refuses=not_implemented("div_floor_cpu", "bc"),
    doc="the quotient rounded down, as a mode of division",
    takes_numbers=True,
)
elementwise(
    "div_trunc",
    kernels.trunc_divide,
    lin=(zero, zero),
    promote="same",
    node="DivBackward2",
    shows={"rounding_mode": lambda: "trunc"},
    domain=("fractional", "whole"),
    refuses=not_implemented("div_trunc_cpu", "bc"),
    doc="the quotient rounded towards zero, as a mode of division",
    takes_numbers=True,
)
