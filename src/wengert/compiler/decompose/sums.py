"""Layer 8 · compiler: decompositions of reductions, and of primitives built on them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.compiler.decompose.rules import COMPLEX, REAL, Dims, everywhere, extent, rule
from wengert.prims import records

_ANY = REAL + COMPLEX

# -- sums and means -------------------------------------------------------------------------------


rule(records.sum)(lambda F, self: F.sum_dim(self, dim=everywhere(self), keepdim=False))


@rule(records.sum_to)
def _sum_to(F: Any, self: Any, shape: Dims) -> Any:
    own = tuple(self.shape)
    if own == shape:
        return self
    lead = len(own) - len(shape)
    within = [i + lead for i, n in enumerate(shape) if n == 1 != own[i + lead]]
    if not within:
        return F.sum_dim(self, dim=tuple(range(lead)), keepdim=False)
    total = F.sum_dim(self, dim=(*range(lead), *within), keepdim=True)
    return F.view(total, shape=shape) if lead else total


def mean(F: Any, self: Any, dim: Dims, keepdim: bool) -> Any:
    """Return the means along dimensions; NaN over no elements."""
    # 0.0 rather than 0: the quotient is NaN, not an error
    return F.sum_dim(self, dim=dim, keepdim=keepdim) / (extent(self.shape, dim) or 0.0)


rule(records.mean, kinds=_ANY)(lambda F, self: mean(F, self, everywhere(self), False))
rule(records.mean_dim, kinds=_ANY)(lambda F, self, dim, keepdim: mean(F, self, dim, keepdim))


@rule(records.nansum, kinds=REAL)
def _nansum(F: Any, self: Any, dim: Dims, keepdim: bool) -> Any:
    return F.sum_dim(F.where(self == self, self, 0), dim=dim, keepdim=keepdim)


@rule(records.count_nonzero)
def _count_nonzero(F: Any, self: Any, dim: Dims) -> Any:
    return F.sum_dim(F.to_copy(self != 0, dtype=np.dtype(np.int64)), dim=dim, keepdim=False)


@rule(records.prod, kinds=_ANY)
def _prod(F: Any, self: Any) -> Any:
    return F.prod_dim(self, dim=everywhere(self), keepdim=False)


# -- extremes -------------------------------------------------------------------------------------


rule(records.max, kinds=REAL)(lambda F, self: F.amax(self, dim=everywhere(self), keepdim=False))
rule(records.min, kinds=REAL)(lambda F, self: F.amin(self, dim=everywhere(self), keepdim=False))


@rule(records.max_dim, records.min_dim)
def _picked(F: Any, self: Any, indices: Any, dim: int, keepdim: bool) -> Any:
    if not self.shape:
        return F.clone(self)
    if keepdim:
        return F.gather(self, indices, dim=dim)
    picked = F.gather(self, F.unsqueeze(indices, dim=dim), dim=dim)
    return F.squeeze_dim(picked, dim=dim)


# -- moments and norms ----------------------------------------------------------------------------


def _moments(F: Any, self: Any, dim: Dims, correction: float, keepdim: bool) -> tuple[Any, Any]:
    centre = mean(F, self, dim, True)
    centred = self - centre
    divisor = extent(self.shape, dim) - correction
    variance = F.sum_dim(centred * centred, dim=dim, keepdim=keepdim)
    return variance / (divisor if divisor > 0 else 0.0), centre


@rule(records.var, kinds=REAL)
def _var(F: Any, self: Any, dim: Dims, correction: float, keepdim: bool) -> Any:
    return _moments(F, self, dim, correction, keepdim)[0]


@rule(records.std, kinds=REAL)
def _std(F: Any, self: Any, dim: Dims, correction: float, keepdim: bool) -> Any:
    return _std_mean(F, self, dim, correction, keepdim)[0]


@rule(records.var_mean, kinds=REAL)
def _var_mean(F: Any, self: Any, dim: Dims, correction: float, keepdim: bool) -> Any:
    variance, centre = _moments(F, self, dim, correction, keepdim)
    return variance, centre if keepdim else F.view(centre, shape=tuple(variance.shape))


@rule(records.std_mean, kinds=REAL)
def _std_mean(F: Any, self: Any, dim: Dims, correction: float, keepdim: bool) -> Any:
    if self.dtype == np.float32:
        # the square of a deviation that float32 holds may be beyond its range
        wide = F.to_copy(self, dtype=np.dtype(np.float64))
        found = _std_mean(F, wide, dim, correction, keepdim)
        return tuple(F.to_copy(value, dtype=self.dtype) for value in found)
    variance, centre = _var_mean(F, self, dim, correction, keepdim)
    return F.sqrt(variance), centre


@rule(records.vector_norm, kinds=REAL)
def _vector_norm(F: Any, self: Any, ord: float, dim: Dims, keepdim: bool) -> Any:
    along: dict[str, Any] = {"dim": dim, "keepdim": keepdim}
    if ord == 2:
        return F.sqrt(F.sum_dim(self * self, **along))
    if ord == 0:
        return F.sum_dim(F.to_copy(self != 0, dtype=self.dtype), **along)
    magnitude = F.abs(self)
    if ord == math.inf:
        return F.amax(magnitude, **along)
    if ord == -math.inf:
        return F.amin(magnitude, **along)
    if ord == 1:
        return F.sum_dim(magnitude, **along)
    powers = F.sum_dim(F.pow_scalar(magnitude, exponent=ord), **along)
    return F.pow_scalar(powers, exponent=1 / ord)


# -- exponentials ---------------------------------------------------------------------------------


@rule(records.softmax, kinds=REAL)
def _softmax(F: Any, self: Any, dim: Dims) -> Any:
    if 0 in self.shape:
        return F.clone(self)
    exponentials = F.exp(self - F.amax(self, dim=dim, keepdim=True))
    return exponentials / F.sum_dim(exponentials, dim=dim, keepdim=True)


@rule(records.log_softmax, kinds=REAL)
def _log_softmax(F: Any, self: Any, dim: Dims) -> Any:
    if 0 in self.shape:
        return F.clone(self)
    shifted = self - F.amax(self, dim=dim, keepdim=True)
    return shifted - F.log(F.sum_dim(F.exp(shifted), dim=dim, keepdim=True))


@rule(records.logsumexp, kinds=REAL)
def _logsumexp(F: Any, self: Any, dim: Dims, keepdim: bool) -> Any:
    if 0 in self.shape:
        return NotImplemented
    largest = F.amax(self, dim=dim, keepdim=True)
    # infinite elements are not shifted, since inf - inf is NaN
    largest = F.where(F.isfinite(largest), largest, 0)
    result = F.log(F.sum_dim(F.exp(self - largest), dim=dim, keepdim=keepdim))
    return result + (largest if keepdim else F.view(largest, shape=tuple(result.shape)))
