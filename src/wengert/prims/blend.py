"""Layer 2 · prims: element-wise operations of three arrays, with in-place forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.prims.families import elementwise
from wengert.prims.record import case

_THREE = (
    case((), (), (), value=1),
    case((2, 3), (3,), (2, 1), value=-2.0),
    case((3,), (3,), (), value=0.5),
    case((0,), (1,), (1,), value=1),
)

elementwise(
    "addcmul",
    lambda self, tensor1, tensor2, value: self + tensor1 * tensor2 * value,
    lin=(
        lambda F, g: g,
        lambda F, g, tensor2, value: g * tensor2 * value,
        lambda F, g, tensor1, value: g * tensor1 * value,
    ),
    promote="same",
    cases=_THREE,
    doc="self plus the product of two tensors and a number",
    fused="elements",
)
elementwise(
    "addcdiv",
    lambda self, tensor1, tensor2, value: self + value * (tensor1 / tensor2),
    lin=(
        lambda F, g: g,
        lambda F, g, tensor2, value: g * value / tensor2,
        lambda F, g, tensor1, tensor2, value: -g * value * tensor1 / (tensor2 * tensor2),
    ),
    promote="same",
    domain=("real", "real", "nonzero"),
    cases=_THREE,
    doc="self plus a number times the quotient of two tensors",
    fused="elements",
)


def _lerp(self: Any, end: Any, weight: Any) -> Any:
    # interpolate from the nearer end, as PyTorch does, so that both ends are exact
    if abs(weight) < 0.5:
        return self + weight * (end - self)
    return end - (end - self) * (1 - weight)


def _lerp_tensor(self: Any, end: Any, weight: Any) -> Any:
    step = end - self
    return np.where(np.abs(weight) < 0.5, self + weight * step, end - step * (1 - weight))


elementwise(
    "lerp",
    _lerp,
    overload="Tensor Scalar",
    lin=(lambda F, g, weight: g * (1 - weight), lambda F, g, weight: g * weight),
    promote="same",
    cases=(
        case((), (), weight=0.25),
        case((2, 3), (3,), weight=0.75),
        case((0,), (1,), weight=2.0),
    ),
    doc="the point between self and end that a number says",
    fused="elements",
)
elementwise(
    "lerp_tensor",
    _lerp_tensor,
    lin=(
        lambda F, g, weight: g * (1 - weight),
        lambda F, g, weight: g * weight,
        lambda F, g, self, end: g * (end - self),
    ),
    promote="same",
    node="LerpBackward1",
    cases=(case((), (), ()), case((2, 3), (3,), (2, 1))),
    doc="the points between self and end that a tensor says",
    fused="elements",
)
