"""Layer 1 · kernels: bounds, and the choice of elements by a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["choose", "clamp"]

_BITS = {np.dtype(np.float32): np.uint32, np.dtype(np.float64): np.uint64}
# from this size on
_LARGE = 2048


def choose(condition: Any, self: Any, other: Any) -> Any:
    """``np.where``, but for large arrays of floats, without a branch for each element.

    Where a mask follows no pattern, branches are predicted wrongly, which takes a dozen times as
    long as to combine the bits of both elements.
    """
    like = self if isinstance(self, np.ndarray) else other
    bits = _BITS.get(getattr(like, "dtype", None))
    if bits is None or np.size(condition) < _LARGE or condition.dtype.kind != "b":
        return np.where(condition, self, other)
    views = []
    for value in (self, other):
        if isinstance(value, int | float):
            value = np.asarray(value, like.dtype)
        if not isinstance(value, np.ndarray) or value.dtype != like.dtype:
            return np.where(condition, self, other)
        views.append(value.view(bits))
    first, second = views
    kept = condition.astype(bits)
    np.negative(kept, kept)
    # fresh memory costs as much as the work: as little of it as possible
    if isinstance(other, int | float) and not other:
        into = kept if first.shape == kept.shape else None
        return np.bitwise_and(first, kept, out=into).view(like.dtype)
    picked = first ^ second
    into = picked if picked.shape == kept.shape else None
    picked = np.bitwise_and(picked, kept, out=into)
    return np.bitwise_xor(picked, second, out=picked).view(like.dtype)


def clamp(self: Any, min: Any, max: Any) -> Any:
    """Kept between bounds that may be None; NaN stays, and `max` wins where the bounds cross."""
    if min is not None:
        self = np.maximum(self, min)
    return self if max is None else np.minimum(self, max)
