"""Layer 1 · kernels: logarithms, their products and sums, without NaN where a limit exists."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels import single
from wengert.kernels.protocols import asarray


def log1p(self: Any) -> Any:
    """Compute log(1 + self), of complex numbers near 0 also where the sum rounds to 1."""
    if self.dtype.kind != "c":
        return np.log1p(self) if self.size <= _FEW else single.log1p(self)
    result = asarray(np.log1p(self))
    # log |1 + z| is log(|1 + z| ** 2) / 2
    near = np.maximum(np.absolute(self.real), np.absolute(self.imag)) < 0.5
    x, y = self.real[near], self.imag[near]
    result.real[near] = 0.5 * np.log1p(x * (2 + x) + y * y)
    return result[()]


def xlogy(self: Any, other: Any) -> Any:
    """Compute self * log(other), which is 0 where self is 0, unless other is NaN."""
    return _times(self, other, np.log, 1)


def xlog1py(self: Any, other: Any) -> Any:
    """Compute self * log1p(other), which is 0 where self is 0, unless other is NaN."""
    return _times(self, other, np.log1p, 0)


def _times(self: Any, other: Any, log: Any, root: int) -> Any:
    if self.dtype.kind == "c":
        raise TypeError(f"not defined for {self.dtype}")
    if np.count_nonzero(self) != self.size:
        # the logarithm vanishes at its root
        other = np.where((self == 0) & (other == other), root, other)
    return self * log(other)


def entr(self: Any) -> Any:
    """Compute -self * log(self), which is 0 at 0 and minus infinity below."""
    if self.dtype.kind == "c":
        raise TypeError(f"not defined for {self.dtype}")
    inside = self > 0
    if np.count_nonzero(inside) == self.size:
        return self * -np.log(self)
    # log(1) is 0
    size = np.where(inside, self, 1)
    below = np.where(self < 0, -math.inf, np.where(self == self, 0, self))
    return np.where(inside, size * -np.log(size), below)[()]


def logit(self: Any, eps: float | None) -> Any:
    """Compute log(self / (1 - self)), with self clamped to [eps, 1 - eps] if eps is given."""
    if self.dtype.kind == "c":
        raise TypeError(f"not defined for {self.dtype}")
    if eps is not None:
        # of ends that are crossed, the lower one counts for what is below it
        self = np.where(self < eps, self.dtype.type(eps), np.minimum(self, 1 - eps))
    result = np.log(self / (1 - self))
    # the result vanishes at 1/2, near which the quotient rounds to 1
    middle = np.absolute(self - 0.5) < 0.25
    if not np.count_nonzero(middle):
        return result
    x = self[middle]
    result = asarray(result)
    result[middle] = np.log1p((2 * x - 1) / (1 - x))
    return result[()]


def logaddexp(self: Any, other: Any) -> Any:
    """Compute log(exp(self) + exp(other)); factor out the complex number of larger real part."""
    if self.dtype.kind == "c":
        first = self.real >= other.real
        high, low = np.where(first, self, other), np.where(first, other, self)
        # both infinite, their difference is not a number
        same = np.isinf(low.real) & (low.real == high.real)
        apart = np.where(same, 0, low) - np.where(same, 0, high)
        result = high + log1p(np.exp(apart))
        result = np.where(same, np.where(high.real < 0, self, result), result)
        # exp() of a negative infinity forgets a part that is not a number
        return np.where(np.isnan(low), complex(math.nan, math.nan), result)[()].astype(self.dtype)
    if self.dtype != np.float32 or max(self.size, other.size) <= _FEW:
        return np.logaddexp(self, other)
    return _single_sum(self, other)


def logaddexp2(self: Any, other: Any) -> Any:
    """Compute log2(2 ** self + 2 ** other)."""
    if self.dtype != np.float32 or max(self.size, other.size) <= _FEW:
        return np.logaddexp2(self, other)
    return _single_sum(self, other, math.log(2.0))


_FEW = 2048


def _single_sum(self: Any, other: Any, scale: float = 1.0) -> Any:
    """Add to the larger of two logarithms the contribution of the smaller, faster than NumPy."""
    high = np.maximum(self, other)
    with np.errstate(invalid="ignore", under="ignore"):
        gap = np.absolute(self - other)
        gap *= -scale
        np.exp(gap, out=gap)
        # ln(1 + y) is ln(u) y / (u - 1), where u is 1 + y rounded: D. Goldberg, "What every
        # computer scientist should know about floating-point arithmetic", theorem 4
        u = gap + 1.0
        rest = u - 1.0
        flat = rest == 0
        rest[flat] = 1
        added = np.log(u)
        added *= gap
        added /= rest
        np.copyto(added, gap, where=flat)
        added *= 1.0 / scale
    # the difference of equal infinities is NaN; their sum is the infinity itself
    added[np.isinf(high)] = 0
    high += added
    return high
