"""Layer 2 · prims: products and sums with logarithms.

Where a product vanishes, its derivatives are 0, so that no 0 meets an infinite logarithm: ``xlogy``
and ``xlog1py`` have the derivative 0 with respect to both arguments where the first is 0 and the
logarithm is not finite. Two equal arguments of ``logaddexp`` share the gradient, also if they are
infinite.
"""

from __future__ import annotations

import math
from typing import Any

from wengert.kernels import logarithms as kernels
from wengert.prims.families import elementwise
from wengert.prims.record import case, not_implemented

_LN2 = math.log(2.0)


def _slope_of_xlogy(F: Any, g: Any, self: Any, other: Any) -> Any:
    return F.xlogy(g, F.where(F.logical_and(self == 0, other <= 0), 1, other))


def _slope_of_xlogy_other(F: Any, g: Any, self: Any, other: Any) -> Any:
    return g * (self / F.where(F.logical_and(self == 0, other == 0), 1, other))


def _slope_of_xlog1py(F: Any, g: Any, self: Any, other: Any) -> Any:
    return F.special_xlog1py(g, F.where(F.logical_and(self == 0, other <= -1), 0, other))


def _slope_of_xlog1py_other(F: Any, g: Any, self: Any, other: Any) -> Any:
    return g * (self / (1 + F.where(F.logical_and(self == 0, other == -1), 0, other)))


elementwise(
    "xlogy",
    kernels.xlogy,
    lin=(_slope_of_xlogy, _slope_of_xlogy_other),
    domain=("real", "positive"),
    refuses=not_implemented("xlogy_cpu"),
    doc="self * log(other), which is 0 where self is 0",
)
elementwise(
    "special_xlog1py",
    kernels.xlog1py,
    lin=(_slope_of_xlog1py, _slope_of_xlog1py_other),
    domain=("real", "positive"),
    refuses=not_implemented("xlog1py_cpu"),
    doc="self * log(1 + other), which is 0 where self is 0",
)
elementwise(
    "special_entr",
    kernels.entr,
    lin=lambda F, g, self: -g * (F.log(self) + 1),
    domain="positive",
    refuses=not_implemented("entr_cpu"),
    doc="-self * log(self), the entropy of a probability; 0 at 0, minus infinity below",
)


def _slope_of_logit(F: Any, g: Any, self: Any, eps: float | None) -> Any:
    if eps is None:
        x = F.where(F.logical_and(self >= 0, self <= 1), self, math.nan)
        return g / (x * (1 - x))
    outside = F.logical_or(self < eps, self > 1 - eps)
    x = F.clamp(self, min=eps, max=1 - eps)
    return F.where(outside, 0, g / (x * (1 - x)))


def _probabilities(shape: tuple[int, ...]) -> Any:
    def drawn(rng: Any) -> Any:
        return rng.uniform(0.15, 0.85, shape)

    return drawn


elementwise(
    "logit",
    kernels.logit,
    lin=_slope_of_logit,
    cases=tuple(
        case(_probabilities(shape), eps=eps)
        for shape in ((), (2, 3), (0,))
        for eps in (None, 0.1, 0.4)
    ),
    refuses=not_implemented("logit_cpu"),
    doc="log(self / (1 - self)), of self kept within [eps, 1 - eps]",
    fused="elements",
)


def _difference(F: Any, self: Any, other: Any) -> Any:
    """Return the difference, 0 for equal infinities."""
    alike = F.logical_and(self == other, F.isinf(self))
    return F.where(alike, 0, self - other)


elementwise(
    "logaddexp",
    kernels.logaddexp,
    lin=(
        lambda F, g, self, other: g * F.sigmoid(_difference(F, self, other)),
        lambda F, g, self, other: g * F.sigmoid(_difference(F, other, self)),
    ),
    promote="same",
    refuses=not_implemented("logaddexp_cpu", "bi"),
    doc="log(exp(self) + exp(other))",
    numpy="logaddexp",
    fused="elements",
)


def _share(F: Any, g: Any, self: Any, other: Any) -> Any:
    difference = _difference(F, self, other)
    # far below the other, the share is the power itself: a product with ln 2 would be rounded
    power = F.exp2(F.minimum(difference, 0))
    return g * F.where(difference < -60, power, F.sigmoid(difference * _LN2))


elementwise(
    "logaddexp2",
    kernels.logaddexp2,
    lin=(_share, lambda F, g, self, other: _share(F, g, other, self)),
    promote="same",
    refuses=not_implemented("logaddexp2_cpu", "bic"),
    doc="log2(2 ** self + 2 ** other)",
    numpy="logaddexp2",
    fused="elements",
)
