"""Layer 1 · kernels: sums that ignore NaNs."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.kernels.sums import sums


# invalid: infinities of both signs
@errstate(invalid="ignore")
def nansum(self: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """Return the sums along dimensions, with each NaN counted as 0."""
    total = sums(self, dim, keepdim)
    if np.count_nonzero(total != total):
        total = sums(np.where(self == self, self, 0), dim, keepdim)
    return total
