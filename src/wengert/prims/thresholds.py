"""Layer 2 · prims: activations that are put together of straight and curved pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.select import choose
from wengert.prims.families import elementwise
from wengert.prims.record import case


def _refused(kernel: str) -> dict[str, str]:
    return dict.fromkeys("bic", f"\"{kernel}\" not implemented for '{{}}'")


def _hardswish(self: Any) -> Any:
    result = self + 3
    if not result.ndim:
        return self * np.clip(result, 0, 6) / 6
    # in the memory of the first step, since fresh memory costs more than arithmetic
    np.maximum(result, 0, out=result)
    np.minimum(result, 6, out=result)
    result *= self
    result /= 6
    return result


def _slope_of_hardswish(F: Any, g: Any, self: Any) -> Any:
    inside = F.where(self < 3, g * (self / 3 + 0.5), g)
    return F.where(self <= -3, 0, inside)


elementwise(
    "hardswish",
    _hardswish,
    lin=_slope_of_hardswish,
    promote="same",
    refuses=_refused("hardswish_cpu"),
    doc="self * relu6(self + 3) / 6",
)
elementwise(
    "hardshrink",
    lambda self, lambd: choose(np.less_equal(np.absolute(self), lambd), 0, self),
    lin=lambda F, g, self, lambd: F.where(F.abs(self) > lambd, g, 0),
    params=("lambd",),
    promote="same",
    node="HardshrinkBackward0",
    refuses=_refused("hardshrink_cpu"),
    cases=(case((), lambd=0.5), case((3, 4), lambd=0.5), case((0,), lambd=0.5)),
    doc="self, or 0 where it is at most lambd from 0",
)
elementwise(
    "softshrink",
    lambda self, lambd: self - np.clip(self, -lambd, lambd),
    lin=lambda F, g, self, lambd: F.where(F.abs(self) > lambd, g, 0),
    params=("lambd",),
    promote="same",
    refuses=_refused("softshrink_cpu"),
    cases=(case((), lambd=0.5), case((3, 4), lambd=0.5), case((0,), lambd=0.5)),
    doc="self moved towards 0 by lambd, at most to 0",
)
elementwise(
    "threshold",
    lambda self, threshold, value: choose(np.less_equal(self, threshold), value, self),
    lin=lambda F, g, self, threshold: F.where(self <= threshold, 0, g),
    params=("threshold", "value"),
    promote="same",
    refuses={
        "c": "\"threshold_cpu\" not implemented for '{}'",
        "b": "\"threshold_cpu\" not implemented for '{}'",
    },
    cases=(
        case((), threshold=0.25, value=20.0),
        case((3, 4), threshold=0.25, value=-1.0),
        case((0,), threshold=0.25, value=0.0),
    ),
    doc="self, or another value where it is at most a threshold",
)
elementwise(
    "prelu",
    lambda self, weight: choose(np.greater(self, 0), self, weight * self),
    args=("self", "weight"),
    lin=(
        lambda F, g, self, weight: F.where(self > 0, g, weight * g),
        lambda F, g, self: F.where(self > 0, 0, self * g),
    ),
    promote="same",
    node="PreluKernelBackward0",
    refuses=_refused("prelu_cpu"),
    domain=("nonzero", "real"),
    doc="self, or a multiple of it where it is negative",
)
