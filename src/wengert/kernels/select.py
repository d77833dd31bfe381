"""Layer 1 · kernels: bounds, and the choice of elements by a mask."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_BITS = {np.dtype(np.float32): np.uint32, np.dtype(np.float64): np.uint64}
# NumPy takes half the time with these as with a number of Python
_ZERO = {dtype: np.zeros((), dtype) for dtype in _BITS}
# from this size on
_LARGE = 2048


def _is_zero(value: Any) -> bool:
    """Return whether a value is the number whose bits are all 0, which minus 0 is not."""
    return isinstance(value, int | float) and value == 0 and math.copysign(1, value) > 0


def choose(condition: Any, self: Any, other: Any) -> Any:
    """``np.where``, but for large arrays of floats, without a branch for each element.

    Where a mask follows no pattern, branches are predicted wrongly, which takes a dozen times as
    long as to combine the bits of both elements.
    """
    like = self if isinstance(self, np.ndarray) else other
    bits = _BITS.get(getattr(like, "dtype", None))
    if bits is None or condition.size < _LARGE or condition.dtype.kind != "b":
        if self.__class__ is int and not self and bits and other.__class__ is np.ndarray:
            self = _ZERO[other.dtype]
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
    if _is_zero(self):
        # what is left of the other where the condition does not hold; minus 1 sets all bits of 0
        kept -= bits(1)
        into = kept if second.shape == kept.shape else None
        return np.bitwise_and(second, kept, out=into).view(like.dtype)
    np.negative(kept, kept)
    # fresh memory costs as much as the work: as little of it as possible
    if _is_zero(other):
        into = kept if first.shape == kept.shape else None
        return np.bitwise_and(first, kept, out=into).view(like.dtype)
    picked = first ^ second
    into = picked if picked.shape == kept.shape else None
    picked = np.bitwise_and(picked, kept, out=into)
    return np.bitwise_xor(picked, second, out=picked).view(like.dtype)


def clamp(self: Any, min: Any, max: Any) -> Any:
    """Kept between bounds that may be None; NaN stays, and `max` wins where the bounds cross."""
    if self.size > _LARGE and self.dtype.kind == "f" and not (np.ndim(min) or np.ndim(max)):
        # one pass with vector instructions, which NumPy's maximum has for two arrays only
        low, high = -np.inf if min is None else min, np.inf if max is None else max
        if low <= high:
            return np.clip(self, low, high)
    zero = _ZERO.get(self.dtype, 0) if self.__class__ is np.ndarray else 0
    if min is not None:
        self = np.maximum(self, zero if min.__class__ is int and not min else min)
    if max is not None:
        self = np.minimum(self, zero if max.__class__ is int and not max else max)
    return self
