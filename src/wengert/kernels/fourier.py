"""Layer 1 · kernels: discrete Fourier transforms along several dimensions.

NOTE [directions and norms]
The forward direction uses ``exp(-2j * pi * ...)``. `norm` names, as in PyTorch, the direction that
is divided by the number of elements: "backward", "forward", or "ortho" for both, by its square
root. So the adjoint of a transform is the transform in the other direction with the other norm.

NOTE [half spectra]
The spectrum of real values is determined by its first half along the last of the dimensions: all
frequencies but the first and, for an even number of values, the last stand for two. The adjoint of
the transform from real values to a half spectrum counts each frequency once, that of the transform
back doubles them: hence `doubled` and `halved`.

NOTE [short transforms]
A product with the matrix of a short transform takes a fraction of the time that the transform takes
to be set up, and is as accurate: BLAS adds a few products in several accumulators. An infinite
element would spoil results that do not depend on it, so those that are not finite are transformed.
"""

from __future__ import annotations

import functools
import itertools
from math import isfinite
from typing import Any

import numpy as np

from wengert.base.extras import scipy_module
from wengert.kernels.protocols import empty, zeros

Dims = tuple[int, ...]

_OTHER = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


_LARGE = 2**14
_SHORT = 16
"""The number of elements up to which a transform is a matrix product."""
_KINDS = frozenset("fdFD")


@functools.cache
def _quicker() -> Any:
    """Return SciPy's transforms, which vectorise over rows; NumPy's if SciPy is missing."""
    try:
        return scipy_module("fft", "fft")
    except ImportError:
        return np.fft


@functools.lru_cache(256)
def _matrix(name: str, size: int, norm: str, n: int | None, char: str) -> Any:
    """Return the matrix of a transform of `size` elements, in the precision of a dtype."""
    basis = np.eye(2 * size).view(np.complex128) if name == "irfft" else np.eye(size)
    matrix = getattr(np.fft, name)(basis, n, -1, norm)
    if char in "fd" and name != "irfft":
        # a pair of columns for each complex number
        matrix = matrix.view(np.float64)
    matrix = matrix.astype(char.lower() if name == "irfft" else char)
    matrix.flags.writeable = False
    return matrix


def _short(name: str, self: Any, axis: int, norm: str, n: int | None = None) -> Any:
    """Apply a transform as a matrix product (NOTE [short transforms]); None if it is no use."""
    size, behind, char = self.shape[axis], self.ndim - axis, self.dtype.char
    if (
        (n or size) > _SHORT
        or not self.size
        or self.__class__ is not np.ndarray
        or char not in _KINDS
    ):
        return None
    back = name == "irfft"
    if back and char in "fd":
        return None
    if behind == 1 and (not back or self.flags.c_contiguous):
        numbers = self.view(char.lower()) if back else self
        result = numbers.reshape(-1, numbers.shape[-1]).dot(_matrix(name, size, norm, n, char))
        result = result.reshape(*self.shape[:-1], result.shape[1])
    elif behind == 2 and char in "FD" and not back:
        # the matrix is symmetric
        product = np.dot if self.ndim == 2 else np.matmul
        result = product(_matrix(name, size, norm, n, char), self)
    else:
        return None
    reals = result.view(char.lower()).reshape(-1)
    # products with 0 have signs
    reals += 0.0
    return (result if back else result.view(char.upper())) if isfinite(reals.dot(reals)) else None


def _along(
    name: str, self: Any, axis: int, norm: str, unscaled: str, size: int, n: int | None = None
) -> Any:
    """Apply a transform along one dimension.

    Without a scale factor of single precision, NumPy computes in double precision, at up to ten
    times the cost. So large arrays are scaled by a factor that is undone, and so are arrays for
    which this is exact.

    Parameters
    ----------
    unscaled: The norm that applies no factor.
    size: The number of elements that the other norm divides by.
    n: The number of elements of the result, if the input does not determine it.
    """
    made = _short(name, self, axis, norm, n)
    if made is not None:
        return made
    kind, library = self.dtype.char, np.fft
    if self.size >= _LARGE and self.__class__ is np.ndarray and kind in _KINDS:
        library = _quicker()
    function = getattr(library, name)
    undone = norm == unscaled and kind in "fF" and not (size & (size - 1) and self.size < _LARGE)
    if not undone or library is not np.fft:
        return function(self, n, axis, norm)
    result = function(self, n, axis, _OTHER[norm])
    result *= np.float32(size)
    return result


def fft_c2c(self: Any, dim: Dims, norm: str, forward: bool) -> Any:
    """Transform complex values."""
    name, unscaled = ("fft", "backward") if forward else ("ifft", "forward")
    for axis in reversed(dim):
        self = _along(name, self, axis, norm, unscaled, self.shape[axis])
    return self if dim else self.copy()


def fft_r2c(self: Any, dim: Dims, norm: str, forward: bool, onesided: bool, doubled: bool) -> Any:
    """Transform real values: half of the spectrum along the last of `dim`, or all of it."""
    if self.dtype.kind != "f" or self.dtype.itemsize < 4:
        raise TypeError(f"the transform of real values of single or double precision: {self.dtype}")
    norm = norm if forward else _OTHER[norm]
    last, size = dim[-1], self.shape[dim[-1]]
    whole = None
    if not (onesided or doubled) and (len(dim) == 1 or self.size < _LARGE):
        whole = _short("fft", self, last, norm)
    result = _along("rfft", self, last, norm, "backward", size) if whole is None else whole
    for axis in reversed(dim[:-1]):
        result = _along("fft", result, axis, norm, "backward", self.shape[axis])
    if doubled:
        result[_twofold(result.ndim, last, size)] *= 2
    if not onesided and whole is None:
        result = _both_halves(result, dim, size)
    return result if forward else np.conjugate(result, out=result)


def fft_c2r(
    self: Any, dim: Dims, norm: str, forward: bool, last_dim_size: int, halved: bool
) -> Any:
    """Return the real values of a half spectrum along the last of `dim`."""
    norm = norm if not forward else _OTHER[norm]
    if forward:
        self = np.conjugate(self)
    last = dim[-1]
    for axis in dim[:-1]:
        self = _along("ifft", self, axis, norm, "forward", self.shape[axis])
    if halved:
        self = self.copy() if len(dim) == 1 and not forward else self
        self[_twofold(self.ndim, last, last_dim_size)] *= 0.5
    return _along("irfft", self, last, norm, "forward", last_dim_size, last_dim_size)


def _twofold(ndim: int, axis: int, size: int) -> tuple[slice, ...]:
    """Return the slice of the frequencies that stand for two."""
    where = [slice(None)] * ndim
    where[axis] = slice(1, (size - 1) // 2 + 1)
    return tuple(where)


def _both_halves(half: Any, dim: Dims, size: int) -> Any:
    """Return the whole spectrum of real values: conjugates at the negative frequencies."""
    last = dim[-1]
    shape = list(half.shape)
    shape[last] = size
    whole = empty(half, shape, half.dtype)
    place: list[Any] = [slice(None)] * half.ndim
    known = half.shape[last]
    place[last] = slice(known)
    whole[tuple(place)] = half
    source = place.copy()
    place[last], source[last] = slice(known, None), slice(size - known, 0, -1)
    # reverse the other dimensions, except for frequency 0
    for signs in itertools.product((False, True), repeat=len(dim) - 1):
        for axis, negated in zip(dim[:-1], signs, strict=True):
            place[axis] = slice(1, None) if negated else slice(1)
            source[axis] = slice(None, 0, -1) if negated else slice(1)
        np.conjugate(half[tuple(source)], out=whole[tuple(place)])
    return whole


def overlap_add(self: Any, step: int) -> Any:
    """Sum the parts self[:, t, :], which begin `step` elements apart, into signals."""
    batch, count, size = self.shape
    # split into pieces of `step` elements: piece j of part t belongs to piece t + j of the signal
    pieces = -(-size // step)
    result = zeros(self, (batch, count - 1 + pieces, step), self.dtype)
    for j in range(pieces):
        piece = self[:, :, j * step : (j + 1) * step]
        result[:, j : j + count, : piece.shape[2]] += piece
    return result.reshape(batch, result.shape[1] * step)[:, : (count - 1) * step + size]
