"""Layer 1 · kernels: reductions that NumPy lacks or computes otherwise.

``dim`` is a tuple of axes in reductions and one axis in running ones. A reduction over no axis at
all, as that of an array without dimensions, leaves every element as it is.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.kernels.sums import dots, running_sums, sums

__all__ = [
    "along",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "at_index",
    "count",
    "cumprod",
    "cumsum",
    "logsumexp",
    "maximum",
    "mean",
    "mean_all",
    "minimum",
    "pick",
    "prod",
    "shift",
    "std",
    "std_mean",
    "truth",
    "var",
    "var_mean",
    "vector_norm",
    "widened",
]

Dims = tuple[int, ...]

# NumPy's annotations of `reduce` have no form for a `keepdims` that is not a literal
_product: Any = np.multiply.reduce
_largest: Any = np.maximum.reduce
_smallest: Any = np.minimum.reduce


def widened(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel`, computing in float32 on what has two bytes, where sums lose digits or overflow."""

    @functools.wraps(kernel)
    def wide(self: Any, *args: Any, **params: Any) -> Any:
        dtype = self.dtype
        if dtype.itemsize != 2 or dtype.kind in "iu":
            return kernel(self, *args, **params)
        result = kernel(self.astype(np.float32), *args, **params)
        if isinstance(result, tuple):
            return tuple(part.astype(dtype) for part in result)
        return result.astype(dtype)

    return wide


def _extent(self: Any, dim: Dims) -> int:
    """The number of elements that are combined into one."""
    return math.prod([self.shape[i] for i in dim])


# -- sums and products --------------------------------------------------------------------------


def _divided(self: Any, count: float) -> Any:
    if count > 0:
        return self / count
    # the mean of nothing is NaN, which is no accident
    with np.errstate(divide="ignore", invalid="ignore"):
        return self / self.dtype.type(0)


@widened
def mean_all(self: Any) -> Any:
    """The mean of all elements; NaN over none."""
    return _divided(sums(self, None), self.size)


@widened
def mean(self: Any, dim: Dims, keepdim: bool) -> Any:
    """The means along dimensions; NaN over no elements."""
    return _divided(sums(self, dim, keepdim), _extent(self, dim))


def prod(self: Any, dim: Dims, keepdim: bool) -> Any:
    """The products along dimensions."""
    return _product(self, axis=dim, keepdims=keepdim)


def count(self: Any, dim: Dims) -> Any:
    """The number of elements that are not 0."""
    return np.add.reduce(self != 0, axis=dim, dtype=np.int64)


def truth(self: Any, dim: Dims, keepdim: bool, every: bool) -> Any:
    """Whether all, or any, of the elements are other than 0."""
    combine: Any = (np.logical_and if every else np.logical_or).reduce
    return combine(self, axis=dim, keepdims=keepdim)


# -- extremes -----------------------------------------------------------------------------------


def maximum(self: Any) -> Any:
    """The largest element of all."""
    return _largest(self, axis=None)


def minimum(self: Any) -> Any:
    """The smallest element of all."""
    return _smallest(self, axis=None)


def amax(self: Any, dim: Dims, keepdim: bool) -> Any:
    """The largest elements along dimensions."""
    return _largest(self, axis=dim, keepdims=keepdim)


def amin(self: Any, dim: Dims, keepdim: bool) -> Any:
    """The smallest elements along dimensions."""
    return _smallest(self, axis=dim, keepdims=keepdim)


def argmax(self: Any, dim: int | None, keepdim: bool) -> Any:
    """The first position of the largest element, or of a NaN."""
    if self.ndim == 0:
        return np.zeros((), np.int64)
    return np.argmax(self, axis=dim, keepdims=keepdim)


def argmin(self: Any, dim: int | None, keepdim: bool) -> Any:
    """The first position of the smallest element, or of a NaN."""
    if self.ndim == 0:
        return np.zeros((), np.int64)
    return np.argmin(self, axis=dim, keepdims=keepdim)


def along(indices: Any, dim: int) -> tuple[Any, ...]:
    """What indexes an array with `indices` along `dim`, for each position of the others."""
    ndim = indices.ndim
    if ndim == 0:
        return (indices,)
    places = [np.arange(n).reshape(n, *[1] * (ndim - 1 - i)) for i, n in enumerate(indices.shape)]
    return (*places[:dim], indices, *places[dim:])


def pick(self: Any, indices: Any, dim: int, keepdim: bool) -> Any:
    """One element along `dim` for each position of the others."""
    if self.ndim == 0:
        return self.copy()
    if keepdim:
        indices = indices.squeeze(dim)
    picked = self[along(indices, dim)]
    return np.expand_dims(picked, dim) if keepdim else picked


def at_index(indices: Any, dim: int, shape: Dims, keepdim: bool) -> Any:
    """Of an array of `shape`, the elements that `pick` takes, as a mask."""
    if not shape:
        return np.ones((), np.bool_)
    if not keepdim:
        indices = np.expand_dims(indices, dim)
    places = np.arange(shape[dim]).reshape([-1 if i == dim else 1 for i in range(len(shape))])
    return places == indices


# -- moments and norms --------------------------------------------------------------------------


def _squares(self: Any) -> Any:
    """The squares of absolute values."""
    if self.dtype.kind == "c":
        return np.square(self.real) + np.square(self.imag)
    return self * self


def _moments(self: Any, dim: Dims, correction: float, keepdim: bool) -> tuple[Any, Any]:
    n = _extent(self, dim)
    # two passes: the one-pass formula cancels where the mean is large
    centre = _divided(sums(self, dim, True), n)
    # invalid: infinities have no distance from their mean
    with np.errstate(invalid="ignore"):
        apart = self - centre
        spread = sums(_squares(apart), dim, keepdim)
        if n:
            # what the mean was rounded by: T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for
            # computing the sample variance", The American Statistician 37 (1983), 242-247
            spread = spread - _squares(sums(apart, dim, keepdim)) / n
            spread = np.maximum(spread, 0)
    spread = _divided(spread, n - correction)
    if not keepdim:
        centre = centre.reshape(spread.shape)[()]
    return spread, centre


@widened
def var(self: Any, dim: Dims, correction: float, keepdim: bool) -> Any:
    """The variances along dimensions, by two passes."""
    return _moments(self, dim, correction, keepdim)[0]


@widened
def std(self: Any, dim: Dims, correction: float, keepdim: bool) -> Any:
    """The standard deviations along dimensions, by two passes."""
    return np.sqrt(_moments(self, dim, correction, keepdim)[0])


@widened
def var_mean(self: Any, dim: Dims, correction: float, keepdim: bool) -> tuple[Any, Any]:
    """The variances and means along dimensions."""
    return _moments(self, dim, correction, keepdim)


@widened
def std_mean(self: Any, dim: Dims, correction: float, keepdim: bool) -> tuple[Any, Any]:
    """The standard deviations and means along dimensions."""
    spread, centre = _moments(self, dim, correction, keepdim)
    return np.sqrt(spread), centre


@widened
def vector_norm(self: Any, ord: float, dim: Dims, keepdim: bool) -> Any:
    """(sum of \\|self\\| ** ord) ** (1 / ord), and its limits for an `ord` of 0 or infinity."""
    if ord == 2:
        if len(dim) == self.ndim and self.flags.c_contiguous and not keepdim:
            flat = self.reshape(-1)
            return np.sqrt(dots(flat, flat).real)
        return np.sqrt(sums(_squares(self), dim, keepdim))
    if ord == 0:
        return sums((self != 0).astype(self.real.dtype), dim, keepdim)
    size = np.absolute(self)
    if ord == math.inf:
        return _largest(size, axis=dim, keepdims=keepdim)
    if ord == -math.inf:
        return _smallest(size, axis=dim, keepdims=keepdim)
    if ord == 1:
        return sums(size, dim, keepdim)
    # divide: 0 has an infinite power below 0
    with np.errstate(divide="ignore"):
        powers = np.power(size, ord)
        return np.power(sums(powers, dim, keepdim), 1 / ord)


@widened
def logsumexp(self: Any, dim: Dims, keepdim: bool) -> Any:
    """The logarithm of a sum of exponentials, which never overflows."""
    if self.dtype.kind == "c":
        top = _largest(self.real, axis=dim, keepdims=True, initial=-np.inf)
    else:
        top = _largest(self, axis=dim, keepdims=True, initial=-np.inf)
    # infinite elements: exp of themselves, not of their NaN distance
    top = np.where(np.isfinite(top), top, top.dtype.type(0))
    # divide: the logarithm of an empty sum; invalid: infinite elements
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        result = np.log(sums(np.exp(self - top), dim, keepdim))
    return result + (top if keepdim else top.reshape(result.shape))


# -- running reductions ---------------------------------------------------------------------------


def _flipped(self: Any, dim: int) -> Any:
    return self[(slice(None),) * dim + (slice(None, None, -1),)]


def _accumulated(accumulate: Any, self: Any, dim: int, reverse: bool) -> Any:
    if self.ndim == 0:
        return self.copy()
    if not reverse:
        return accumulate(self, dim)
    return _flipped(accumulate(_flipped(self, dim), dim), dim)


@widened
def cumsum(self: Any, dim: int, reverse: bool) -> Any:
    """Sums of all elements up to each one, or with `reverse` from each one on."""
    return _accumulated(running_sums, self, dim, reverse)


def cumprod(self: Any, dim: int, reverse: bool) -> Any:
    """Products of all elements up to each one, or with `reverse` from each one on."""
    return _accumulated(np.multiply.accumulate, self, dim, reverse)


def shift(self: Any, dim: int, by: int, fill: float) -> Any:
    """The elements moved on by `by` places; `fill` in those that become free."""
    result = np.full_like(self, fill)
    n = self.shape[dim] if self.ndim else 1
    if abs(by) >= n:
        return result
    lead = (slice(None),) * dim
    ahead, behind = slice(max(by, 0), n + min(by, 0)), slice(max(-by, 0), n - max(by, 0))
    result[(*lead, ahead)] = self[(*lead, behind)]
    return result
