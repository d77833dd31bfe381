"""Layer 1 · kernels: bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["clamp"]


def clamp(self: Any, min: Any, max: Any) -> Any:
    """Kept between bounds that may be None; NaN stays, and `max` wins where the bounds cross."""
    if min is not None:
        self = np.maximum(self, min)
    return self if max is None else np.minimum(self, max)
