"""Layer 2 · prims: piecewise activations, of straight and curved pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.protocols import numbers
from wengert.kernels.select import choose, clamp
from wengert.prims.families import elementwise
from wengert.prims.record import case, not_implemented


def _hardswish(self: Any) -> Any:
    zero, three, six = numbers(self, 0, 3, 6)
    result = self + three
    if not result.ndim:
        return self * np.clip(result, 0, 6) / 6
    # reuse the memory of the first step, since fresh memory costs more than arithmetic
    np.maximum(result, zero, out=result)
    np.minimum(result, six, out=result)
    result *= self
    result /= six
    return result


def _slope_of_hardswish(F: Any, g: Any, self: Any) -> Any:
    inside = F.where(self < 3, g * (self / 3 + 0.5), g)
    return F.where(self <= -3, 0, inside)


elementwise(
    "hardswish",
    _hardswish,
    lin=_slope_of_hardswish,
    promote="same",
    refuses=not_implemented("hardswish_cpu", "bic"),
    doc="self * relu6(self + 3) / 6",
    fused="elements",
)
elementwise(
    "hardshrink",
    lambda self, lambd: choose(np.less_equal(np.absolute(self), *numbers(self, lambd)), 0, self),
    lin=lambda F, g, self, lambd: F.where(F.abs(self) <= lambd, 0, g),
    promote="same",
    refuses=not_implemented("hardshrink_cpu", "bic"),
    cases=(case((), lambd=0.5), case((3, 4), lambd=0.5), case((0,), lambd=0.5)),
    flat=True,
    doc="self, or 0 where it is at most lambd from 0",
    fused="elements",
)
elementwise(
    "softshrink",
    # the sign of a zero is that of self
    lambda self, lambd: np.copysign(self - clamp(self, -lambd, lambd), self),
    lin=lambda F, g, self, lambd: F.where(F.abs(self) <= lambd, 0, g),
    promote="same",
    refuses=not_implemented("softshrink_cpu", "bic"),
    cases=(case((), lambd=0.5), case((3, 4), lambd=0.5), case((0,), lambd=0.5)),
    flat=True,
    doc="self moved towards 0 by lambd, at most to 0",
    fused="elements",
)


def _real(number: Any) -> Any:
    """Return a real number, also if it is given as a complex one."""
    return number.real if isinstance(number, complex) else number


elementwise(
    "threshold",
    lambda self, threshold, value: choose(np.less_equal(self, _real(threshold)), value, self),
    lin=lambda F, g, self, threshold: F.threshold_backward(
        g, F.logical_not(self <= _real(threshold))
    ),
    promote="same",
    refuses=not_implemented("threshold_cpu", "bc"),
    cases=(
        case((), threshold=0.25, value=20.0),
        case((3, 4), threshold=0.25, value=-1.0),
        case((0,), threshold=0.25, value=0.0),
    ),
    flat=True,
    doc="self, or another value where it is at most a threshold",
    fused="elements",
)
elementwise(
    "prelu",
    lambda self, weight: choose(np.greater(self, 0), self, weight * self),
    lin=(
        lambda F, g, self, weight: F.where(self > 0, g, weight * g),
        lambda F, g, self: F.where(self > 0, 0, self * g),
    ),
    promote="same",
    node="PreluKernelBackward0",
    autocast="lower",
    refuses=not_implemented("prelu_cpu", "bic"),
    domain=("nonzero", "real"),
    flat=True,
    doc="self, or a multiple of it where it is negative",
    fused="elements",
)
