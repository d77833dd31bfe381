"""Layer 1 · kernels: sums that leave out what is not a number."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["nansum"]

_sum: Any = np.add.reduce


def nansum(self: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The sums along dimensions, in which a NaN counts as 0."""
    # invalid: infinities of both signs
    with np.errstate(invalid="ignore"):
        total = _sum(self, axis=dim, keepdims=keepdim)
        if np.isnan(total).any():
            total = _sum(np.where(self == self, self, 0), axis=dim, keepdims=keepdim)
    return total
