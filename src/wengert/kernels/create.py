"""Layer 1 · kernels: copies and casts."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base import ports
from wengert.kernels.protocols import copied


def clone(self: Any) -> Any:
    """Return a copy with the same memory order."""
    return np.copy(self, order=dense_order(self))


def dense_order(array: Any) -> Any:
    """Return NumPy's name of a dense copy's order: "K", keep, where that is well defined."""
    # a broadcast dimension has no order of its own: NumPy would make it the fastest
    if 0 in array.strides and array.size:
        sizes = zip(array.shape, array.strides, strict=True)
        return "C" if any(size > 1 and not step for size, step in sizes) else "K"
    return "K"


def to_copy(self: Any, dtype: np.dtype[Any]) -> Any:
    """Return a copy in another dtype; complex to real drops the imaginary part, as PyTorch does."""
    if self.dtype.kind == "c" and dtype.kind not in "cb":
        self = self.real
    made = _converted(self, dtype)
    return made if made is not None else self.astype(dtype, order=dense_order(self))


_LARGE, _MANY = 4096, 1 << 25
"""The size of arrays that native code converts, and the number of elements until it is loaded."""
_PRECISIONS = frozenset({"fe", "ef", "fE", "Ef"})
"""The pairs of dtypes, by character: single precision, float16 and bfloat16."""
_CONVERTED = [0]


def _converted(self: Any, dtype: np.dtype[Any]) -> Any:
    """Return a large array in another precision by native code, or None."""
    if self.size < _LARGE or self.dtype.char + dtype.char not in _PRECISIONS:
        return None
    _CONVERTED[0] += self.size
    # loading takes as long as converting so many without it; the results are the same
    used = ports.filled("fused") or _CONVERTED[0] >= _MANY
    whole = self.__class__ is np.ndarray and self.flags.c_contiguous and self.flags.aligned
    return ports.PORTS.converted(self, dtype) if used and whole else None


def saturate(self: Any, dtype: np.dtype[Any]) -> Any:
    """Return real parts as integers: truncated, at most the limits of the dtype, 0 for NaN."""
    self = self.real
    if self.dtype.kind in "biu":
        return self.astype(dtype)
    limits = np.iinfo(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = self.dtype.type(limits.min), self.dtype.type(limits.max)
        found = self.astype(dtype)
    fits = (self > low) & (self < high)
    if fits.all():
        return found
    least, most = dtype.type(limits.min), dtype.type(limits.max)
    edges = np.where(self >= high, most, np.where(self <= low, least, dtype.type(0)))
    return np.where(fits, found, edges)


def to_device(self: Any, device: Any) -> Any:
    """Return a copy on a device."""
    return ports.PORTS.sent(self, device)


def copy_into(self: Any, src: Any) -> None:
    """Write `src`, which may share memory with `self`, over `self`."""
    if self.strides != src.strides and np.may_share_memory(self, src):
        # NumPy copies a single dimension element by element, overwriting what it has yet to read
        src = src.copy()
    if self.__class__ is np.ndarray and self.dtype is src.dtype:
        # faster, since it does not dispatch to other libraries
        self[...] = src
    else:
        made = _converted(src, self.dtype)
        np.copyto(self, src if made is None else made)


def assign(self: Any, src: Any) -> Any:
    """Return a copy of `src`, broadcast to the shape of `self`."""
    return copied(np.broadcast_to(src, self.shape), dtype=self.dtype)


def filled(self: Any, value: Any) -> Any:
    """Return an array like `self`, filled with one value."""
    return np.full_like(self, value)
