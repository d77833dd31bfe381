"""Layer 2 · prims: signs, parts, neighbours and rounding of numbers; integers and bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels import numbers as kernels
from wengert.prims.families import constant, elementwise, general, zero
from wengert.prims.record import case, not_implemented

_LN2 = math.log(2.0)


def _whole(low: int, high: int) -> Any:
    return case(*[lambda rng: rng.integers(low, high, (2, 3))] * 2)


# -- signs and angles -----------------------------------------------------------------------------

elementwise(
    "copysign",
    np.copysign,
    lin=(
        lambda F, g, self, result: g * (F.sign(self) * F.sign(result)),
        zero,
    ),
    domain=("nonzero", "nonzero"),
    refuses=not_implemented("copysign_cpu"),
    doc="the size of self with the sign of other; at self = 0 the derivative is 0",
    fused="elements",
    raises=False,
)
constant(
    "signbit",
    np.signbit,
    refuses={"c": "signbit is not implemented for complex tensors."},
    doc="whether each element has a minus sign, -0.0 included",
    raises=False,
    maps=True,
    casts=False,
)
constant(
    "isposinf",
    lambda self: self == math.inf,
    refuses={"c": RuntimeError("isposinf does not support complex inputs.")},
    doc="whether each element is plus infinity",
    raises=False,
    batching="pointwise",
)
constant(
    "isneginf",
    lambda self: self == -math.inf,
    refuses={"c": RuntimeError("isneginf does not support complex inputs.")},
    doc="whether each element is minus infinity",
    raises=False,
    batching="pointwise",
)
constant(
    "isreal",
    lambda self: self.imag == 0 if self.dtype.kind == "c" else np.ones_like(self, bool),
    doc="whether the imaginary part of each element is 0",
    raises=False,
    batching="pointwise",
)
elementwise(
    "heaviside",
    kernels.heaviside,
    lin=(zero, lambda F, g, self: F.where(self == 0, g, 0)),
    promote="same",
    domain=("nonzero", "real"),
    refuses={"c": RuntimeError("heaviside is not yet implemented for complex tensors.")},
    doc="0 below 0, 1 above, values at 0",
    numpy="heaviside",
    casts=False,
)


def _angle(name: str, factor: float, doc: str, numpy: str) -> None:
    elementwise(
        name,
        lambda self: self * factor,
        lin=lambda F, g: g * factor,
        refuses={"c": RuntimeError(f"{name} is not supported for complex tensors.")},
        doc=doc,
        numpy=numpy,
    )


_angle("deg2rad", math.pi / 180.0, "degrees in radians", "deg2rad radians")
_angle("rad2deg", 180.0 / math.pi, "radians in degrees", "rad2deg degrees")

# -- maximum and minimum, ignoring NaN ------------------------------------------------------------


def _first_of_max(F: Any, g: Any, self: Any, other: Any) -> Any:
    return F.where(F.logical_or(self >= other, F.isnan(other)), g, 0)


def _second_of_max(F: Any, g: Any, self: Any, other: Any) -> Any:
    return F.where(F.logical_or(self >= other, F.isnan(other)), 0, g)


def _first_of_min(F: Any, g: Any, self: Any, other: Any) -> Any:
    return F.where(F.logical_or(self <= other, F.isnan(other)), g, 0)


def _second_of_min(F: Any, g: Any, self: Any, other: Any) -> Any:
    return F.where(F.logical_or(self <= other, F.isnan(other)), 0, g)


elementwise(
    "fmax",
    np.fmax,
    lin=(_first_of_max, _second_of_max),
    promote="same",
    refuses={"c": RuntimeError("fmax not implemented for complex tensors.")},
    masks="numbers",
    doc="the larger of two, the other where one is NaN; ties give the gradient to self",
    raises=False,
)
elementwise(
    "fmin",
    np.fmin,
    lin=(_first_of_min, _second_of_min),
    promote="same",
    refuses={"c": RuntimeError("fmin not implemented for complex tensors.")},
    masks="numbers",
    doc="the smaller of two, the other where one is NaN; ties give the gradient to self",
    raises=False,
)

# -- parts ----------------------------------------------------------------------------------------

elementwise(
    "frac",
    kernels.frac,
    lin=lambda F, g: g,
    promote="same",
    domain="fractional",
    refuses=not_implemented("frac_cpu", "bic"),
    doc="fractional part, with the sign of self",
)
constant(
    "frexp_scale",
    kernels.frexp_scale,
    refuses=dict.fromkeys("bic", RuntimeError("torch.frexp() only supports floating-point dtypes")),
    doc="the power of 2 by which self is multiplied to be its mantissa",
    raises=False,
    batching="pointwise",
)
general(
    "frexp",
    kernels.frexp,
    vjp=(lambda F, g, self: g * F.frexp_scale(self),),
    outputs=2,
    differentiable=1,
    domain="positive",
    cases=(case(()), case((3,)), case((2, 3)), case((0,))),
    refuses=dict.fromkeys("bic", RuntimeError("torch.frexp() only supports floating-point dtypes")),
    doc="mantissas in [1/2, 1) and exponents of 2",
    raises=False,
    batching="pointwise",
    sparsity="dense",
)
elementwise(
    "ldexp",
    kernels.ldexp,
    lin=(
        lambda F, g, other, self_dtype: (
            g * (F.exp(other * _LN2) if self_dtype.kind == "c" else F.exp2(other))
        ),
        lambda F, g, result: g * result * _LN2,
    ),
    doc="self * 2 ** other",
    numpy="ldexp",
)
elementwise(
    "nan_to_num",
    kernels.nan_to_num,
    lin=lambda F, g, self: F.where(F.isfinite(self), g, 0),
    promote=None,
    cases=(
        case((2, 3), nan=0.0, posinf=None, neginf=None),
        case((), nan=1.0, posinf=2.0, neginf=-2.0),
        case((0,), nan=0.0, posinf=None, neginf=None),
    ),
    conj="explicit",
    masks="numbers",
    doc="self with numbers in place of NaN and the infinities, where the derivative is 0",
    fused="elements",
)
elementwise(
    "nextafter",
    kernels.nextafter,
    lin=(
        lambda F, g, self, other: F.where(self == other, 0, g),
        zero,
    ),
    promote="same",
    refuses=not_implemented("nextafter_cpu", "bic"),
    doc="the number next to self in the direction of other",
    numpy="nextafter",
)
elementwise(
    "round_decimals",
    kernels.round_decimals,
    lin=zero,
    promote="same",
    node="RoundBackward1",
    domain="fractional",
    cases=(case((2, 3), decimals=0), case((), decimals=-1), case((0,), decimals=1)),
    refuses=not_implemented("round_cpu", "bic"),
    doc="self rounded to a number of decimal places, halves to even",
)

# -- integers and bits ----------------------------------------------------------------------------

_kernel: Any
for _name, _kernel, _doc in (
    ("gcd", np.gcd, "greatest common divisor"),
    ("lcm", np.lcm, "least common multiple"),
):
    constant(
        _name,
        _kernel,
        args=("self", "other"),
        promote="same",
        broadcasts=True,
        cases=(_whole(-30, 30),),
        refuses=not_implemented(f"{_name}_cpu", "bfc"),
        doc=_doc,
    )
for _name, _kernel, _error, _doc in (
    ("bitwise_left_shift", np.left_shift, "lshift_cpu", "self * 2 ** other, bits moved up"),
    ("bitwise_right_shift", np.right_shift, "rshift_cpu", "self / 2 ** other, rounded down"),
):
    constant(
        _name,
        _kernel,
        args=("self", "other"),
        promote="same",
        broadcasts=True,
        cases=(_whole(0, 6),),
        refuses=not_implemented(_error, "bfc"),
        doc=_doc,
    )
