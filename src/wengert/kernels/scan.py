"""Layer 1 · kernels: running sums, products and extremes, and linear recurrences.

Each runs along one dimension, ``dim``; an array without dimensions counts as one element.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.kernels.protocols import contiguous, empty, is_numpys, zeros
from wengert.kernels.reduce import places_of
from wengert.kernels.sums import running

_TURN = 2 * math.pi


# -- sums and products ----------------------------------------------------------------------------


def _flipped(self: Any, dim: int) -> Any:
    return self[(slice(None),) * dim + (slice(None, None, -1),)]


def _accumulated(ufunc: Any, self: Any, dim: int, reverse: bool) -> Any:
    if self.ndim == 0:
        return self.copy()
    if not reverse:
        return running(ufunc, self, dim)
    result = _flipped(running(ufunc, _flipped(self, dim), dim), dim)
    # as PyTorch's tensors, results have no negative strides
    return result.copy("K") if result.strides[dim] < 0 else result


def cumsum(self: Any, dim: int, reverse: bool) -> Any:
    """Return the sums of all elements up to each one, or with `reverse` from each one on."""
    return _accumulated(np.add, self, dim, reverse)


def cumprod(self: Any, dim: int, reverse: bool) -> Any:
    """Return the products of all elements up to each one, or with `reverse` from each one on."""
    return _accumulated(np.multiply, self, dim, reverse)


def shift(self: Any, dim: int, by: int, fill: float) -> Any:
    """Shift the elements by `by` positions; `fill` the vacated ones."""
    result = np.full_like(self, fill)
    n = self.shape[dim] if self.ndim else 1
    if abs(by) >= n:
        return result
    lead = (slice(None),) * dim
    ahead, behind = slice(max(by, 0), n + min(by, 0)), slice(max(-by, 0), n - max(by, 0))
    result[(*lead, ahead)] = self[(*lead, behind)]
    return result


# -- extremes -------------------------------------------------------------------------------------


def running_of(ufunc: Any, self: Any, dim: int, over: bool = False) -> Any:
    """Return the running results of a ufunc that may join elements in any order.

    With `over`, they may be written over the array.
    """
    if is_numpys(self):
        return ufunc.accumulate(self, dim, None, self if over else None)
    # another library accumulates sums and products only: double the reach until it is all
    reach, lead = 1, (slice(None),) * dim
    while reach < self.shape[dim]:
        made = self.copy()
        made[(*lead, slice(reach, None))] = ufunc(
            self[(*lead, slice(None, -reach))], self[(*lead, slice(reach, None))]
        )
        self, reach = made, 2 * reach
    return self


def cummax(self: Any, dim: int) -> Any:
    """Return the positions of running maxima, the last in a tie; a NaN is above every number."""
    return _extremes(np.maximum, self, dim)


def cummin(self: Any, dim: int) -> Any:
    """Return the positions of running minima, like `cummax`; a NaN is below every number."""
    return _extremes(np.minimum, self, dim)


def _extremes(ufunc: Any, self: Any, dim: int) -> Any:
    if not self.ndim or not self.size:
        return zeros(self, self.shape, np.int64)
    values = running_of(ufunc, self, dim)
    new = self == values
    if self.dtype.kind == "f" and self.size:
        # elements after a NaN are NaN
        last = values[(slice(None),) * dim + (-1,)]
        if np.count_nonzero(last != last):
            new |= self != self
    positions = places_of(self, self.shape)[dim]
    # np.where would branch, and mispredict, at each element
    return running_of(np.maximum, new * positions, dim, over=True)


# -- sums of exponentials -------------------------------------------------------------------------


def logcumsumexp(self: Any, dim: int) -> Any:
    """Return the logarithms of the running sums of exponentials, without overflow."""
    if self.ndim == 0:
        return self.copy()
    if self.dtype.kind == "c":
        return np.moveaxis(_complex_logcumsumexp(np.moveaxis(self, dim, 0)), 0, dim)
    # the errors of the steps add up
    wide = self.astype(np.promote_types(self.dtype, np.float64), copy=False)
    return _log_sums(wide, dim).astype(self.dtype, copy=False)


@errstate(invalid="ignore")  # elements that are not a number
def _log_sums(self: Any, dim: int) -> Any:
    return running_of(np.logaddexp, self, dim)


def _complex_logcumsumexp(x: Any) -> Any:
    """Accumulate along the first dimension, on a continuous branch of the logarithm.

    Each logarithm is the one closest to the larger of the previous result and the new element.
    """
    if not len(x):
        return x.copy()
    top = np.maximum.accumulate(x.real, axis=0)
    finite = np.isfinite(top)
    level = np.where(finite, top, 0)
    # invalid: infinite elements
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        decay = np.ones_like(level)
        decay[1:] = np.where(finite[:-1], np.exp(level[:-1] - level[1:]), 0)
        sums = linear_recurrence(decay.astype(x.dtype), np.exp(x - level), 0, False)
        y = np.log(sums) + level
        y[0] = x[0]
        # each value differs from the principal one by multiples of 2 pi, like its predecessor or,
        # if that is larger, the element itself
        renewed = np.ones(x.shape, np.bool_)
        renewed[1:] = x.real[1:] >= y.real[:-1]
        own = np.rint((x.imag - y.imag) / _TURN)
        steps = np.zeros_like(own)
        steps[1:] = np.rint((y.imag[:-1] - y.imag[1:]) / _TURN)
    own, steps = np.nan_to_num(own), np.nan_to_num(steps).cumsum(0)
    places = np.arange(len(x)).reshape((-1,) + (1,) * (x.ndim - 1))
    last = np.maximum.accumulate(np.where(renewed, places, 0), axis=0)
    turns = np.take_along_axis(own - steps, last, 0) + steps
    y += (turns * (1j * _TURN)).astype(x.dtype)
    # an infinite sum keeps the value of its first infinite element
    first = np.isposinf(x.real).argmax(0)[None]
    y = np.where(np.isposinf(top), np.take_along_axis(x, first, 0), y)
    y[np.logical_or.accumulate(np.isnan(x), axis=0)] = complex(math.nan, math.nan)
    return y


# -- recurrences ----------------------------------------------------------------------------------

# steps of fewer elements are faster as Python numbers than as arrays
_NARROW = 24
# recurrences of more elements are faster in blocks
_LONG = 8192


def linear_recurrence(factor: Any, term: Any, dim: int, reverse: bool) -> Any:
    """Compute y[k] = factor[k] * y[k - 1] + term[k], or with `reverse` from y[k + 1]."""
    if term.ndim == 0:
        return term.copy()
    # make each step contiguous: strided access costs more than the copy
    a, b = (contiguous(np.moveaxis(values, dim, 0)) for values in (factor, term))
    y = empty(b, b.shape, b.dtype)
    if not b.size:
        return y.reshape(term.shape)
    # the order in which to go through them
    way = slice(None, None, -1 if reverse else 1)
    _run(y[way], a[way], b[way])
    return contiguous(np.moveaxis(y, 0, dim))


def _run(y: Any, factor: Any, term: Any) -> None:
    """Write the recurrence along the first dimension into `y`."""
    n, width = len(term), term[0].size
    if width > _NARROW or not is_numpys(y):
        y[0] = term[0]
        for k in range(1, n):
            own = slice(k, k + 1)
            np.multiply(factor[own], y[k - 1 : k], out=y[own])
            y[own] += term[own]
    elif term.size <= _LONG or not _in_blocks(y, factor, term):
        factors, terms = (values.reshape(n, width).T.tolist() for values in (factor, term))
        columns = [_numbers(*column) for column in zip(factors, terms, strict=True)]
        with np.errstate(over="ignore"):
            y[...] = np.array(columns).T.reshape(y.shape)


def _numbers(factors: list[Any], terms: list[Any]) -> list[Any]:
    last = terms[0]
    found = [last]
    for a, b in zip(factors[1:], terms[1:], strict=True):
        last = last * a + b
        found.append(last)
    return found


def _in_blocks(y: Any, factor: Any, term: Any) -> bool:
    """Write a long recurrence into `y`: all blocks at once, then the carries between them.

    Returns
    -------
    bool: False if a product of factors is not finite; then nothing is written.
    """
    n, rest = len(term), term.shape[1:]
    length = math.isqrt(n)
    blocks = -(-n // length)
    wide = np.result_type(term.dtype, np.float64)

    def parted(values: Any) -> Any:
        # each step of all blocks is contiguous
        filled = np.zeros((blocks * length, *rest), wide)
        filled[:n] = values
        return np.ascontiguousarray(filled.reshape(blocks, length, *rest).swapaxes(0, 1))

    products, sums = parted(factor), parted(term)
    products[0, 0] = 0
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for k in range(1, length):
            sums[k] += products[k] * sums[k - 1]
            products[k] *= products[k - 1]
    if not (np.isfinite(products[-1]).all() and np.isfinite(sums[-1]).all()):
        return False
    carry = sums[-1]
    carries = np.zeros_like(carry)
    for block in range(1, blocks):
        carries[block] = carry[block - 1]
        carry[block] += products[-1, block] * carries[block]
    sums[:-1] += products[:-1] * carries
    y[...] = sums.swapaxes(0, 1).reshape(blocks * length, *rest)[:n]
    return True
