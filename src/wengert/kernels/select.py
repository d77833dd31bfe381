"""Layer 1 · kernels: clamping, and selection of elements by a mask."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels.protocols import numbers

_BITS = {np.dtype(np.float32): np.uint32, np.dtype(np.float64): np.uint64}
# the size from which bits are combined
_LARGE = 2048
# NumPy's function is two methods in Python around its ufunc
_clip: Any = getattr(getattr(getattr(np, "_core", None), "umath", None), "clip", np.clip)


def choose(condition: Any, self: Any, other: Any) -> Any:
    """Compute ``np.where``, but without a branch per element for large arrays of floats.

    If a mask follows no pattern, branches are mispredicted, which takes a dozen times as long as
    combining the bits of both elements.
    """
    like = self if isinstance(self, np.ndarray) else other
    bits = _BITS.get(getattr(like, "dtype", None))
    if bits is None or condition.size < _LARGE or condition.dtype.kind != "b":
        if bits and _is_known(self):
            (self,) = numbers(other, self)
        return np.where(condition, self, other)
    views = []
    for value in (self, other):
        if isinstance(value, int | float):
            value = np.asarray(value, like.dtype)
        if not isinstance(value, np.ndarray | np.generic) or value.dtype != like.dtype:
            return np.where(condition, self, other)
        views.append(value.view(bits))
    first, second = views
    kept = condition.astype(bits)
    # a number without any bit, unlike -0, needs no copy
    if not (first.ndim or first):
        # keep the other's bits where the condition does not hold; minus 1 has all bits set
        kept -= bits(1)
        into = kept if second.shape == kept.shape else None
        return np.bitwise_and(second, kept, out=into).view(like.dtype)
    np.negative(kept, kept)
    # fresh memory costs as much as the arithmetic, so use little of it
    if not (second.ndim or second):
        into = kept if first.shape == kept.shape else None
        return np.bitwise_and(first, kept, out=into).view(like.dtype)
    picked = first ^ second
    into = picked if picked.shape == kept.shape else None
    picked = np.bitwise_and(picked, kept, out=into)
    return np.bitwise_xor(picked, second, out=picked).view(like.dtype)


def strong_zero(self: Any, cotangent: Any) -> Any:
    """Return `self` with 0 where it is NaN and the cotangent that it was made of is 0."""
    return choose(np.isnan(self) & np.equal(cotangent, 0), 0, self)


def clamp(self: Any, min: Any, max: Any, out: Any = None) -> Any:
    """Clamp to bounds that may be None; NaN stays, and `max` wins where the bounds cross.

    `out`, if given, receives the result.
    """
    large = self.size > _LARGE and self.dtype.kind == "f"
    if large and not (getattr(min, "ndim", 0) or getattr(max, "ndim", 0)):
        # one vectorised pass; NumPy vectorises maximum only for two arrays
        low, high = -math.inf if min is None else min, math.inf if max is None else max
        if low <= high:
            return _clip(self, _bound(self, low), _bound(self, high), out)
    if min is not None:
        self = np.maximum(self, _bound(self, min), out=out)
    if max is not None:
        self = np.minimum(self, _bound(self, max), out=out)
    return self


def _bound(self: Any, bound: Any) -> Any:
    return numbers(self, bound)[0] if _is_known(bound) else bound


def _is_known(value: Any) -> bool:
    """Return whether a value is a number that equals no other, as 0.0 does -0.0."""
    return value.__class__ is int or (value.__class__ is float and value != 0)
