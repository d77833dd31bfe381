"""Layer 2 · prims: operations that select elements by a mask or by bounds."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from wengert.kernels import select as kernels
from wengert.prims.families import general, linear, zero
from wengert.prims.record import case

linear(
    "where",
    kernels.choose,
    overload="self",
    vjp=(
        None,
        lambda F, g, condition: F.where(condition, g, 0),
        lambda F, g, condition: F.where(condition, 0, g),
    ),
    promote="same",
    broadcasts=True,
    cases=tuple(
        case(lambda rng, n=n: rng.random(n) > 0.5, *shapes)
        for n, shapes in (((3,), ((3,), (3,))), ((2, 3), ((3,), ())), ((), ((2, 3), (2, 1))))
    ),
    masks=True,
    layout="elements",
    doc="self where the condition holds, other elsewhere",
    maps=True,
    keeps_nan=True,
    casts=False,
)


def _nothing(F: Any, g: Any, cotangent_dtype: Any) -> Any:
    # complex for a complex cotangent, of which the gradient may be real
    none = zero(F, g)
    return F.to_copy(none, dtype=cotangent_dtype) if cotangent_dtype.kind == "c" else none


linear(
    "strong_zero",
    kernels.strong_zero,
    vjp=(
        lambda F, g, self, cotangent: F.where(
            F.logical_and(F.isnan(self), F.eq(cotangent, 0)), 0, g
        ),
        _nothing,
    ),
    broadcasts=True,
    masks="numbers",
    layout="elements",
    doc="self, which a rule made of a cotangent, with 0 where it is NaN and the cotangent is 0",
    tangents="diagonal",
    batching="pointwise",
)


def _within(F: Any, g: Any, self: Any, min: Any, max: Any) -> Any:
    if max is None:
        inside = self >= min
    elif min is None:
        inside = self <= max
    else:
        inside = F.logical_and(self >= min, self <= max)
    return F.where(inside, g, 0)


_clamped = partial(
    general,
    refuses={"c": "clamp is not supported for complex types"},
    masks=True,
    raises=False,
    tangents="diagonal",
    batching="pointwise",
    quick="fd",
)
_clamped_by_tensors = partial(
    _clamped, promote="same", broadcasts=True, node="ClampBackward0", layout="elements"
)

_clamped(
    "clamp",
    kernels.clamp,
    into=lambda self, min, max: kernels.clamp(self, min, max, self),
    vjp=(_within,),
    node="ClampBackward1",
    cases=(
        case((2, 3), min=-0.5, max=0.5),
        case((), min=None, max=0.25),
        case((5,), min=0.1, max=None),
        case((4,), min=0.5, max=-0.5),
        case((0,), min=0, max=1),
    ),
    doc="self kept between two numbers; at a bound the derivative is 1",
    casts=True,
)
_clamped(
    "clamp_min",
    lambda self, min: kernels.clamp(self, min, None),
    into=lambda self, min: kernels.clamp(self, min, None, self),
    vjp=(lambda F, g, self, min: F.where(self >= min, g, 0),),
    cases=(case((2, 3), min=0.1), case((), min=0)),
    doc="self, but at least a number; at the number the derivative is 1",
    casts=True,
)
_clamped(
    "clamp_max",
    lambda self, max: kernels.clamp(self, None, max),
    into=lambda self, max: kernels.clamp(self, None, max, self),
    vjp=(lambda F, g, self, max: F.where(self <= max, g, 0),),
    cases=(case((2, 3), max=0.1), case((), max=0)),
    doc="self, but at most a number; at the number the derivative is 1",
    casts=True,
)
_BOUNDED = (case((2, 3), (3,)), case((), (2,)), case((3,), ()), case((0,), (1,)))
_clamped_by_tensors(
    "clamp_min_tensor",
    np.maximum,
    args=("self", "min"),
    vjp=(
        lambda F, g, self, min: F.where(self >= min, g, 0),
        lambda F, g, self, min: F.where(self < min, g, 0),
    ),
    blanks=1,
    cases=_BOUNDED,
    doc="self, but at least min; where they are equal the gradient is self's",
    numpy="",
)
_clamped_by_tensors(
    "clamp_max_tensor",
    np.minimum,
    args=("self", "max"),
    vjp=(
        lambda F, g, self, max: F.where(self <= max, g, 0),
        lambda F, g, self, max: F.where(self > max, g, 0),
    ),
    blanks=1,
    cases=_BOUNDED,
    doc="self, but at most max; where they are equal the gradient is self's",
    numpy="",
)
_clamped_by_tensors(
    "clamp_tensor",
    kernels.clamp,
    vjp=(
        _within,
        lambda F, g, self, min, max: F.where(F.logical_and(min < max, self < min), g, 0),
        lambda F, g, self, min, max: F.where(F.logical_or(self > max, max < min), g, 0),
    ),
    cases=(case((2, 3), (3,), ()), case((), (), ()), case((3,), (2, 1), (3,))),
    doc="self kept between min and max; where min > max it is max",
)
