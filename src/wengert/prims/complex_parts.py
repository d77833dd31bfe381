"""Layer 2 · prims: the angle of complex numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels.protocols import asarray
from wengert.prims.families import elementwise


def _angle(self: Any) -> Any:
    if self.dtype.kind == "c":
        return np.arctan2(self.imag, self.real, order="C")
    result = asarray(np.less(self, 0).astype(self.dtype))
    result *= self.dtype.type(math.pi)
    unknown = np.isnan(self)
    if unknown.any():
        result[unknown] = math.nan
    return result


def _turning(F: Any, g: Any, self: Any, self_dtype: Any) -> Any:
    """Return the slope of an angle: across the direction of a number, over its absolute value."""
    if self_dtype.kind != "c":
        return F.zeros_like(g)
    none = self == 0
    return F.where(none, 0, g * 1j / F.conj(F.where(none, 1, self)))


elementwise(
    "angle",
    _angle,
    lin=_turning,
    conj="explicit",
    domain="nonzero",
    doc="the angle of complex numbers, 0 or pi for real ones",
)
