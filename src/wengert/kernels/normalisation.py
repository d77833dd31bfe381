"""Layer 1 · kernels: normalisation to mean 0 and variance 1, or to a mean square of 1.

NOTE [three axes]
A mean is taken along trailing dimensions (a layer, a group) or along all but the second (a batch).
Either way the array is reshaped to three axes (a, k, b), where k counts the means, and the sums
over the first and the last axis are products with ones, which BLAS computes. A chain of operations
is applied to one part of the array at a time, while that part is in the cache.

NOTE [few numbers]
For a few dozen numbers the overhead of NumPy's calls dominates, and calls that broadcast or reduce
take three times as long as calls on matrices of one shape. So small float32 arrays are converted to
a float64 matrix, in which the mean of equal numbers is exact, and every intermediate value is a
matrix of that shape, too (`repeated` sums).

The slopes are in `wengert.kernels.normalisation_slopes`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from wengert.kernels.protocols import full, numbers
from wengert.kernels.sums import column_sums, dots, repeated, row_sums, sums

Dims = tuple[int, ...]

PART = 1 << 17
"""The number of elements per part, so that intermediate values stay in the cache."""
_READ = 1 << 20
"""The number of elements per part where only sums are computed."""
FEW = 1 << 15
"""The number of elements up to which a second pass costs less than deciding whether to make it."""
_LONG = 1 << 13
"""The length of rows from which NumPy broadcasts along them without copying to a buffer."""
_BUFFER = 256
"""A buffer size so small that NumPy does not use it for rows of twice as many elements."""
_WORK = 1 << 13
"""The most multiplications in one product of a small array with a `repeated` matrix."""
_SHORT = 64
"""The length of rows up to which summing them is faster than a call of BLAS."""


def three_axes(shape: Dims, dim: Dims) -> Dims:
    """Return `shape` as three axes, of which the first and the last comprise `dim`."""
    first = len(shape) - len(dim)
    if not dim or dim[0] == first:
        return 1, math.prod(shape[:first]), math.prod(shape[first:])
    return shape[0], shape[1], math.prod(shape[2:])


def sums_of(self: Any) -> Any:
    """Return the sums over the first and the last of three axes."""
    a, k, b = self.shape
    if a == 1 and b < _SHORT and k < _SHORT:
        return np.add.reduce(self[0], 1)
    if b == 1:
        return column_sums(self.reshape(a, k))
    rows = row_sums(self.reshape(a * k, b))
    return rows if a == 1 else sums(rows.reshape(a, k), (0,))


def dots_of(self: Any, other: Any) -> Any:
    """Return the sums of the products over the first and the last of three axes."""
    a, k, b = self.shape
    if a == 1:
        return dots(self[0], other[0])
    if b == 1:
        return column_sums((self * other).reshape(a, k))
    return sums(dots(self, other), (0,))


def parts_of(axes: Dims, limit: int = PART) -> Iterator[tuple[Any, slice]]:
    """Iterate over cache-sized parts of an array of three axes, as indices of it and its means."""
    a, k, b = axes
    if a * k * b <= limit:
        yield slice(None), slice(None)
    elif a == 1:
        step = max(1, limit // b)
        for i in range(0, k, step):
            yield (slice(None), slice(i, i + step)), slice(i, i + step)
    else:
        step = max(1, limit // (k * b))
        for i in range(0, a, step):
            yield slice(i, i + step), slice(None)


_NOTHING = nullcontext()


def degenerate(eps: float) -> Any:
    """Return a context that allows 0 / 0, the result for equal elements without `eps`."""
    return _NOTHING if eps else np.errstate(invalid="ignore")


@contextmanager
def _small_buffer() -> Iterator[None]:
    usual = np.setbufsize(_BUFFER)
    try:
        yield
    finally:
        np.setbufsize(usual)


def unbuffered(axes: Dims) -> Any:
    """Return a context in which NumPy does not buffer values broadcast along the last axis."""
    pays = axes[2] >= 2 * _BUFFER and math.prod(axes) > PART
    return _small_buffer() if pays else _NOTHING


def lengthened(row: Any, size: int) -> Any:
    """Repeat `row` until it is long, if that pays for an array of `size` elements."""
    times = -(-_LONG // row.size)
    return np.concatenate([row] * times) if times > 1 < size // (times * row.size) else row


def applied(function: Any, self: Any, values: Any, out: Any, of: slice) -> None:
    """Apply `function` to a part of three axes and a number, a row, or a column of the means.

    A row is for the last axis and may be `lengthened`; then the arrays are contiguous.
    """
    if values.ndim == 2:
        function(self, values[of], out=out)
        return
    size, whole = values.size, self.size - self.size % values.size
    if not values.ndim or size == 1:
        function(self, values, out=out)
    elif whole == self.size:
        function(self.reshape(-1, size), values, out=out.reshape(-1, size))
    else:
        flat, results = self.reshape(-1), out.reshape(-1)
        function(flat[:whole].reshape(-1, size), values, out=results[:whole].reshape(-1, size))
        function(flat[whole:], values[: self.size - whole], out=results[whole:])


# -- moments --------------------------------------------------------------------------------------


def sums_and_dots(self: Any, other: Any) -> tuple[Any, Any]:
    """Return the sums of self, and of its products with other, over the first and the last axis."""
    if self.size <= _READ:
        return sums_of(self), dots_of(self, other)
    sums, dots = np.zeros((2, self.shape[1]), self.dtype)
    for part, of in parts_of(self.shape, _READ):
        sums[of] += sums_of(self[part])
        dots[of] += dots_of(self[part], other[part])
    return sums, dots


def are_near(mean: Any, var: Any) -> bool:
    """Return whether all means are within a standard deviation of 0; False if any is NaN."""
    return bool((np.abs(mean) <= np.sqrt(var)).all())


def moments_of(self: Any, eps: float) -> Any:
    """Return means, variances, and 1 / sqrt(variance + eps), as three rows."""
    k, count = self.shape[1], self.shape[0] * self.shape[2]
    if are_few(self, self.shape):
        return few_of(self.shape).moments(self, eps)
    if self.size == 0:
        return full(self, (3, k), np.nan, self.dtype)
    known = np.empty((3, k), self.dtype)
    mean = known[0]
    if eps and self.size > FEW:
        mean.fill(0)
        # floating-point errors are reported below
        with np.errstate(over="ignore", invalid="ignore"):
            _settle(known, *sums_and_dots(self, self), count, eps)
            # far from 0, the squares would have lost the digits of the variance
            if are_near(mean, known[1]):
                return known
    else:
        np.divide(sums_of(self), count, out=mean)
    _settle(known, *_around(self, mean), count, eps)
    return known


def _around(self: Any, mean: Any) -> tuple[Any, Any]:
    """Return the sums of the deviations from the means, and of their squares."""
    if self.size <= PART:
        apart = self - mean[:, None]
        return sums_of(apart), dots_of(apart, apart)
    rest, squares = np.zeros((2, mean.size), self.dtype)
    memory = np.empty(0, self.dtype)
    for part, of in parts_of(self.shape):
        values = self[part]
        memory, apart = room(memory, values)
        np.subtract(values, mean[of, None], out=apart)
        rest[of] += sums_of(apart)
        squares[of] += dots_of(apart, apart)
    return rest, squares


def room(memory: Any, like: Any) -> tuple[Any, Any]:
    """Return a buffer large enough for `like`, and a part of it in the shape of `like`."""
    if memory.size < like.size:
        memory = np.empty(like.size, like.dtype)
    return memory, memory[: like.size].reshape(like.shape)


def _settle(known: Any, rest: Any, squares: Any, count: int, eps: float) -> None:
    """Compute moments in place, from first means and the sums of deviations and their squares.

    Deviations are from a value close by, so no digits cancel where elements are close to each
    other, and equal elements have a variance of exactly 0.
    """
    mean, var, scale = known
    number, zero, one, least = numbers(var, count, 0, 1, eps)
    rest /= number
    np.divide(squares, number, out=var)
    var -= rest * rest
    np.maximum(var, zero, out=var)
    mean += rest
    np.add(var, least, out=scale)
    np.sqrt(scale, out=scale)
    # without eps, equal elements give 0 / 0 by definition
    with _NOTHING if eps else np.errstate(divide="ignore"):
        np.divide(one, scale, out=scale)


def moments(self: Any, dim: Dims, eps: float) -> Any:
    """Return the moments, as `moments_of` does."""
    return moments_of(self.reshape(three_axes(self.shape, dim)), eps)


def channel_sums(self: Any) -> Any:
    """Return the sums over all dimensions but the second."""
    return sums_of(self.reshape(self.shape[0], self.shape[1], math.prod(self.shape[2:])))


# -- few numbers ----------------------------------------------------------------------------------


def are_few(self: Any, axes: Dims) -> bool:
    """Return whether an array is small enough for NOTE [few numbers]."""
    size = self.size
    plain = self.__class__ is np.ndarray and self.dtype.char == "f"
    return plain and 0 < size * size <= _WORK * axes[1]


def _quotient(self: Any, other: Any, eps: float) -> Any:
    """Compute ``self /= other``."""
    if eps:
        self /= other
    else:
        with degenerate(eps):
            self /= other
    return self


_WIDE = np.dtype(np.float64)


class Few:
    """A small array of three axes as a matrix, with means along rows or columns."""

    __slots__ = ("axes", "axis", "count", "once", "share")

    def __init__(self, axes: Dims) -> None:
        a, _, b = self.axes = axes
        self.axis = 0 if b == 1 < a else 1
        self.count = np.array(a * b, _WIDE)
        # cached with this object
        self.once = repeated(a * b, 1, _WIDE)
        self.share = repeated(a * b, 1 / (a * b), _WIDE)

    def matrix(self, values: Any) -> Any:
        """Return an array as a matrix in memory of its own."""
        a, k, b = self.axes
        if not self.axis:
            return values.reshape(a, k).astype(_WIDE)
        if a > 1:
            values = values.reshape(self.axes).transpose(1, 0, 2)
        return values.reshape(k, a * b).astype(_WIDE)

    def array(self, matrix: Any) -> Any:
        """Return a matrix as an array of three axes in single precision."""
        a, k, b = self.axes
        if self.axis and a > 1:
            matrix = matrix.reshape(k, a, b).transpose(1, 0, 2)
        return matrix.astype(np.float32, order="C").reshape(self.axes)

    def summed(self, matrix: Any, square: Any) -> Any:
        """Return the sums times a factor, repeated."""
        return matrix.dot(square) if self.axis else square.dot(matrix)

    def along(self, matrix: Any) -> Any:
        """Return the sums, in single precision."""
        sums = row_sums(matrix) if self.axis else column_sums(matrix)
        return sums.astype(np.float32)

    def apart(self, values: Any) -> tuple[Any, Any, Any]:
        """Return the means, the deviations from them, and the variances."""
        mean = self.summed(apart := self.matrix(values), self.once)
        # divide rather than multiply: exact where all numbers are equal
        mean /= self.count
        apart -= mean
        return mean, apart, self.summed(apart * apart, self.share)

    def moments(self, values: Any, eps: float) -> Any:
        """Return the moments, as `moments_of` does."""
        mean, _, var = self.apart(values)
        known = np.array((mean, var, mean))
        known = known[:, :, 0] if self.axis else known[:, 0]
        with degenerate(eps):
            np.divide(1, np.sqrt(known[1] + eps), known[2])
        return known.astype(np.float32)

    def standard(self, values: Any, eps: float) -> tuple[Any, Any]:
        """Return the standardised matrix, and the standard deviations, repeated."""
        _, apart, spread = self.apart(values)
        spread += eps
        np.sqrt(spread, spread)
        return _quotient(apart, spread, eps), spread

    def slope(self, g: Any, values: Any, eps: float) -> Any:
        """Compute ``(g - mean(g) - y * mean(g * y)) / spread`` for standardised values y."""
        standard, spread = self.standard(values, eps)
        result = self.matrix(g)
        along = self.summed(result * standard, self.share)
        along *= standard
        along += self.summed(result, self.share)
        result -= along
        return self.array(_quotient(result, spread, eps))


few_of = functools.lru_cache(maxsize=128)(Few)


# -- standardised values --------------------------------------------------------------------------


def _is(value: Any, number: int) -> bool:
    """Return whether `value` is the 0-d `number`."""
    return not value.ndim and bool(value == number)


def _stepwise(self: Any, steps: Sequence[tuple[Any, Any]]) -> Any:
    """Apply functions with their second arguments to an array of three axes, part by part."""
    if self.size <= FEW:
        (first, other), *more = steps
        result = first(self, other)
        for function, other in more:
            function(result, other, result)
        return result
    result = np.empty(self.shape, self.dtype)
    with unbuffered(self.shape):
        for part, of in parts_of(self.shape):
            values, out = self[part], result[part]
            for function, other in steps:
                applied(function, values, other, out, of)
                values = out
    return result


_ONE, _ZERO = np.float64(1), np.float64(0)


def _column(values: Any) -> Any:
    return values[:, None]


def _row(values: Any) -> Any:
    return values.reshape(-1)


def _affine(self: Any, weight: Any, bias: Any, shaped: Any) -> Any:
    """Compute ``self *= weight; self += bias``, skipping a weight of 1 and a bias of 0.

    Parameters
    ----------
    shaped: Reshapes a weight or bias that is not 0-d so that it broadcasts.
    """
    if not _is(weight, 1):
        self *= shaped(weight) if weight.ndim else weight
    if not _is(bias, 0):
        self += shaped(bias) if bias.ndim else bias
    return self


def _standard(self: Any, known: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Compute ``(self - mean) * scale * weight + bias``, with a number per mean, or one for all."""
    if are_few(self, self.shape):
        few = few_of(self.shape)
        return _affine(few.array(few.standard(self, eps)[0]), weight, bias, _column)
    return _moved(self, known if known.size else moments_of(self, eps), weight, bias, eps)


def _moved(self: Any, known: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Compute `_standard` with known moments, which may be those of other values."""
    mean, var, scale = known
    with degenerate(eps):
        factor = scale if _is(weight, 1) else scale * weight
        steps: list[tuple[Any, Any]] = [(np.subtract, mean), (np.multiply, factor)]
        if not _is(bias, 0):
            if self.size > FEW and are_near(mean, var):
                steps = [(np.multiply, factor), (np.add, bias - mean * factor)]
            else:
                steps.append((np.add, bias if bias.ndim else bias.repeat(mean.size)))
        if self.shape[2] == 1 < self.shape[0] and self.size > FEW:
            self = np.ascontiguousarray(self)
            steps = [(function, lengthened(values, self.size)) for function, values in steps]
        else:
            steps = [(f, values[:, None] if values.ndim else values) for f, values in steps]
        return _stepwise(self, steps)


def standardise(self: Any, known: Any, dim: Dims, eps: float) -> Any:
    """Subtract the means along `dim`, and divide by the standard deviations."""
    values = self.reshape(three_axes(self.shape, dim))
    return _standard(values, known, _ONE, _ZERO, eps).reshape(self.shape)


# -- layers, groups and batches -------------------------------------------------------------------


def layer_norm(self: Any, weight: Any, bias: Any, known: Any, dim: Dims, eps: float) -> Any:
    """Compute `standardise` along the last dimensions, and apply weights and biases."""
    axes = three_axes(self.shape, dim)
    if are_few(self, axes):
        few = few_of(axes)
        result = few.array(few.standard(self, eps)[0])
        return _affine(result, weight, bias, _row).reshape(self.shape)
    values = np.ascontiguousarray(self).reshape(axes)
    mean, _, scale = known if known.size else moments_of(values, eps)
    steps: list[tuple[Any, Any]] = [
        (np.subtract, mean[:, None]),
        (np.multiply, scale[:, None]),
    ]
    for function, other, nothing in ((np.multiply, weight, 1), (np.add, bias, 0)):
        if not _is(other, nothing):
            row = other.reshape(-1)
            steps.append((function, row if self.size <= FEW else lengthened(row, self.size)))
    with degenerate(eps):
        return _stepwise(values, steps).reshape(self.shape)


def group_norm(self: Any, weight: Any, bias: Any, known: Any, groups: int, eps: float) -> Any:
    """Compute `standardise` over groups of channels, and apply weights and biases per channel."""
    if self.size == 0:
        return self.copy()
    n, channels = self.shape[:2]
    axes = 1, n * groups, self.size // (n * groups)
    if are_few(self, axes):
        few = few_of(axes)
        result = few.array(few.standard(self, eps)[0]).reshape(n, channels, -1)
        return _affine(result, weight, bias, _column).reshape(self.shape)
    if not known.size:
        known = moments_of(self.reshape(axes), eps)
    values = self.reshape(1, n * channels, math.prod(self.shape[2:]))
    if channels != groups:
        known = known.repeat(channels // groups, axis=1)
    weight, bias = (np.concatenate([v] * n) if v.ndim else v for v in (weight, bias))
    return _moved(values, known, weight, bias, eps).reshape(self.shape)


def batch_norm(self: Any, weight: Any, bias: Any, known: Any, eps: float) -> Any:
    """Compute `standardise` along all dimensions but the second, and apply weights and biases."""
    values = self.reshape(self.shape[0], self.shape[1], math.prod(self.shape[2:]))
    return _standard(values, known, weight, bias, eps).reshape(self.shape)


def batch_norm_fixed(self: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    """Compute `batch_norm` with given means and variances."""
    column = (self.shape[1], *[1] * (self.ndim - 2))
    scale = weight / np.sqrt(var + eps)
    shift = bias - mean * scale
    result = self * scale.reshape(column)
    result += shift.reshape(column)
    return result


def rms_norm(self: Any, weight: Any, dim: Dims, eps: float) -> Any:
    """Divide self by the root mean square along the last dimensions, and apply weights."""
    _, k, count = three_axes(self.shape, dim)
    if self.size == 0:
        return self.copy()
    rows = self.reshape(k, count)
    # `dots` conjugates its first argument; the square must not be conjugated
    squares = dots(rows.conj() if rows.dtype.kind == "c" else rows, rows)
    # divide, invalid: without eps, zeros give 0 / 0 by definition
    with np.errstate(divide="ignore", invalid="ignore"):
        result = rows * (1 / np.sqrt(squares / count + eps))[:, None]
    if weight.ndim or weight != 1:
        result *= weight.reshape(-1)
    return result.reshape(self.shape)
