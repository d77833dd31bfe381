"""Layer 1 · kernels: variances, standard deviations and norms, and sums of exponentials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.kernels.protocols import largest, numbers, smallest
from wengert.kernels.reduce import Dims, divided, extent
from wengert.kernels.reducing import add as _sum
from wengert.kernels.reducing import largest as _largest
from wengert.kernels.sums import dots, sums

_FEW = 1024
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_TINY = np.finfo(np.float32).tiny / np.finfo(np.float32).eps
"""Smaller variances of float32 may have lost digits to underflow."""


def _squares(self: Any) -> Any:
    """Return the squares of absolute values."""
    if self.dtype.kind == "c":
        return np.square(self.real) + np.square(self.imag)
    return self * self


def _parts(self: Any) -> Any:
    """Return complex numbers as pairs of real ones: products of infinite ones are NaN."""
    return self.view(self.real.dtype) if self.dtype.kind == "c" else self


def _spread(self: Any, centre: Any, dim: Dims, keepdim: bool, n: int) -> Any:
    apart = self - centre
    spread = sums(_squares(apart), dim, keepdim)
    # correct for the rounding error of the mean: T. F. Chan, G. H. Golub, R. J. LeVeque,
    # "Algorithms for computing the sample variance", The American Statistician 37 (1983), 242-247
    return np.maximum(spread - _squares(sums(apart, dim, keepdim)) / n, 0) if n else spread


# invalid: the distance of an infinity from its mean is NaN
# over: the variance of large numbers is infinite
@errstate(invalid="ignore", over="ignore")
def _moments(
    self: Any, dim: Dims, correction: float, keepdim: bool, root: bool = False
) -> tuple[Any, Any]:
    """Return variances, or their roots, and means in any precision, with dimensions kept."""
    n = extent(self, dim)
    single = self.dtype.char == "f" and n - correction > 0
    if not single or self.size > _FEW:
        # two passes: the one-pass formula cancels where the mean is large
        centre = divided(sums(self, dim, True), n)
        spread = divided(_spread(self, centre, dim, keepdim, n), n - correction)
        if not single or (spread.size and spread.min() > _TINY and spread.max() < np.inf):
            return np.sqrt(spread) if root else spread, centre
    # few numbers cost nothing in double precision, which is more accurate; squares fit in it
    wide = self.astype(_DOUBLE)
    count, rest = numbers(wide, n, n - correction)
    centre = _sum(wide, dim, None, None, True) / count
    wide -= centre
    wide *= wide
    spread = _sum(wide, dim, None, None, keepdim) / rest
    return (np.sqrt(spread) if root else spread).astype(_SINGLE), centre


def var(self: Any, dim: Dims, correction: float, keepdim: bool) -> Any:
    """Return the variances along dimensions, by two passes."""
    return _moments(self, dim, correction, keepdim)[0]


def std(self: Any, dim: Dims, correction: float, keepdim: bool) -> Any:
    """Return the standard deviations along dimensions, by two passes."""
    return _moments(self, dim, correction, keepdim, True)[0]


def var_mean(self: Any, dim: Dims, correction: float, keepdim: bool) -> tuple[Any, Any]:
    """Return the variances and means along dimensions."""
    return _with_mean(self, _moments(self, dim, correction, keepdim), keepdim)


def std_mean(self: Any, dim: Dims, correction: float, keepdim: bool) -> tuple[Any, Any]:
    """Return the standard deviations and means along dimensions."""
    return _with_mean(self, _moments(self, dim, correction, keepdim, True), keepdim)


def _with_mean(self: Any, moments: tuple[Any, Any], keepdim: bool) -> tuple[Any, Any]:
    spread, centre = moments
    centre = centre.astype(self.dtype, copy=False)
    return spread, centre if keepdim else centre.reshape(spread.shape)[()]


def vector_norm(self: Any, ord: float, dim: Dims, keepdim: bool) -> Any:
    """Return (sum of abs(self) ** ord) ** (1 / ord), and its limits for `ord` 0 and infinity."""
    if ord == 2:
        if len(dim) == self.ndim and self.flags.c_contiguous and not keepdim:
            flat = _parts(self.reshape(-1))
            return np.sqrt(dots(flat, flat))
        is_plain = self.__class__ is np.ndarray and (
            self.dtype.kind != "c" or self.flags.c_contiguous
        )
        if dim == (self.ndim - 1,) and self.dtype.itemsize > 2 and is_plain:
            rows = _parts(self)
            norm = np.sqrt(dots(rows, rows))
            return norm[..., None] if keepdim else norm
        return np.sqrt(sums(_squares(self), dim, keepdim))
    if ord == 0:
        return sums((self != 0).astype(self.real.dtype), dim, keepdim)
    size = np.absolute(self)
    if ord == math.inf:
        return largest(size, dim, keepdim)
    if ord == -math.inf:
        return smallest(size, dim, keepdim)
    if ord == 1:
        return sums(size, dim, keepdim)
    return _power_norm(size, ord, dim, keepdim)


# divide: 0 to a negative power is infinite
@errstate(divide="ignore")
def _power_norm(size: Any, ord: float, dim: Dims, keepdim: bool) -> Any:
    return np.power(sums(np.power(size, ord), dim, keepdim), 1 / ord)


# divide: the logarithm of an empty sum; invalid: infinite elements
@errstate(divide="ignore", invalid="ignore", over="ignore")
def _log_of_sum(self: Any, top: Any, dim: Dims, keepdim: bool) -> Any:
    return np.log(sums(np.exp(self - top), dim, keepdim))


def logsumexp(self: Any, dim: Dims, keepdim: bool) -> Any:
    """Return the logarithm of a sum of exponentials, without overflow."""
    empty = {} if self.size else {"initial": -np.inf}
    top = _largest(self.real if self.dtype.kind == "c" else self, dim, True, **empty)
    # infinite elements: take exp of themselves, since their distance is NaN
    top = np.where(np.isfinite(top), top, top.dtype.type(0))
    result = _log_of_sum(self, top, dim, keepdim)
    return result + (top if keepdim else top.reshape(result.shape))
