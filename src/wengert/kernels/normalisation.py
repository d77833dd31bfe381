"""Layer 1 · kernels: values brought to mean 0 and variance 1, or to a mean square of 1.

NOTE [three axes]
Elements that share a mean lie along dimensions at the end (a layer, a group) or along all but the
second (a batch). Either way the array is seen as one of three axes (a, k, b), in which k counts
the means, and the sums over the first and the last are products with ones, which BLAS computes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np

__all__ = [
    "batch_norm",
    "batch_norm_fixed",
    "group_norm",
    "layer_norm",
    "moments",
    "rms_norm",
    "standardise",
    "standardise_backward",
    "standardised_sum",
]

Dims = tuple[int, ...]

_PART = 1 << 17
"""The number of elements that are taken at a time, so that what is made of them stays close by."""
_SHORT = 64
"""Rows up to this length are summed sooner than BLAS is called."""


def _widened(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel`, computing in float32 on what has two bytes."""

    @functools.wraps(kernel)
    def wide(self: Any, *others: Any, **params: Any) -> Any:
        dtype = self.dtype
        if dtype.itemsize != 2:
            return kernel(self, *others, **params)
        arrays = [array.astype(np.float32) for array in (self, *others)]
        return kernel(*arrays, **params).astype(dtype)

    return wide


def _three(shape: Dims, dim: Dims) -> Dims:
    """`shape` as the three axes of which the first and the last are those of `dim`."""
    first = len(shape) - len(dim)
    if not dim or dim[0] == first:
        return 1, math.prod(shape[:first]), math.prod(shape[first:])
    return shape[0], shape[1], math.prod(shape[2:])


def _sums(self: Any) -> Any:
    """The sums over the first and the last of three axes."""
    a, k, b = self.shape
    if a == 1 and b < _SHORT:
        return np.add.reduce(self[0], 1)
    if b == 1:
        return np.ones(a, self.dtype).dot(self.reshape(a, k))
    rows = self.reshape(a * k, b).dot(np.ones(b, self.dtype))
    return rows if a == 1 else np.add.reduce(rows.reshape(a, k), 0)


def _dots(self: Any, other: Any) -> Any:
    """The sums of the products over the first and the last of three axes."""
    a, k, b = self.shape
    if a == 1:
        return np.vecdot(self[0], other[0])
    if b == 1:
        return np.einsum("ij,ij->j", self.reshape(a, k), other.reshape(a, k))
    return np.add.reduce(np.vecdot(self, other), 0)


def _parts(axes: Dims) -> Iterator[tuple[Any, slice]]:
    """What selects parts of an array of three axes that fit into the cache, and of its means."""
    a, k, b = axes
    if a * k * b <= _PART:
        yield slice(None), slice(None)
    elif a == 1:
        step = max(1, _PART // b)
        for i in range(0, k, step):
            yield (slice(None), slice(i, i + step)), slice(i, i + step)
    else:
        step = max(1, _PART // (k * b))
        for i in range(0, a, step):
            yield slice(i, i + step), slice(None)


def _moments(self: Any, eps: float) -> Any:
    """Means, variances, and one over the roots of the variances plus `eps`, as three rows."""
    count = self.shape[0] * self.shape[2]
    result = np.empty((3, self.shape[1]), self.dtype)
    if self.size == 0:
        result.fill(np.nan)
        return result
    mean, var, scale = result
    np.divide(_sums(self), count, out=mean)
    rest, squares = _around(self, mean)
    # once more, from close by: so no digits are lost where elements are close to each other, and
    # those that are all equal have no variance
    rest /= count
    np.divide(squares, count, out=var)
    var -= rest * rest
    np.maximum(var, 0, out=var)
    mean += rest
    np.add(var, eps, out=scale)
    if eps or scale.all():
        np.divide(1, np.sqrt(scale, out=scale), out=scale)
    else:
        # without eps, elements that are all equal give 0 / 0 by definition
        with np.errstate(divide="ignore"):
            np.divide(1, np.sqrt(scale, out=scale), out=scale)
    return result


def _around(self: Any, mean: Any) -> tuple[Any, Any]:
    """The sums of the distances from the means, and of their squares."""
    if self.size <= _PART:
        apart = np.subtract(self, mean[:, None], order="C")
        return _sums(apart), _dots(apart, apart)
    rest, squares = np.zeros_like(mean), np.zeros_like(mean)
    memory = np.empty(0, self.dtype)
    for part, of in _parts(self.shape):
        values = self[part]
        if memory.size < values.size:
            memory = np.empty(values.size, self.dtype)
        apart = memory[: values.size].reshape(values.shape)
        np.subtract(values, mean[of, None], out=apart)
        rest[of] += _sums(apart)
        squares[of] += _dots(apart, apart)
    return rest, squares


@_widened
def moments(self: Any, dim: Dims, eps: float) -> Any:
    """Means, variances without correction, and 1 / sqrt(variance + eps) along `dim`, in rows."""
    return _moments(self.reshape(_three(self.shape, dim)), eps)


def _degenerate(eps: float) -> Any:
    # where elements are all equal and there is no eps, the result is 0 / 0 by definition
    return nullcontext() if eps else np.errstate(invalid="ignore")


def _standard(self: Any, known: Any, eps: float) -> Any:
    mean, _, scale = known if known.size else _moments(self, eps)
    result = self - mean[:, None]
    with _degenerate(eps):
        result *= scale[:, None]
    return result


@_widened
def standardise(self: Any, known: Any, dim: Dims, eps: float) -> Any:
    """Distances from the means of the elements along `dim`, over standard deviations."""
    return _standard(self.reshape(_three(self.shape, dim)), known, eps).reshape(self.shape)


@_widened
def standardise_backward(
    self: Any, input: Any, weight: Any, known: Any, dim: Dims, eps: float
) -> Any:
    """The derivative of `standardise` at `input`, a symmetric matrix, times self and weights.

    The weights are those of the last dimensions, or of the second if `dim` is all but that.
    """
    if self.size == 0:
        return self.copy()
    axes = _three(input.shape, dim)
    g, x = self.reshape(axes), input.reshape(axes)
    count = axes[0] * axes[2]
    mean, _, scale = known if known.size else _moments(x, eps)
    result = np.empty(axes, self.dtype)
    memory = np.empty(0, self.dtype)
    inside = axes[0] == 1 and weight.ndim > 0 and dim[0] == input.ndim - len(dim)
    row = weight.reshape(-1)
    factor = 1 if inside else weight
    sums, dots = (_sums(g), _dots(g, x)) if axes[0] > 1 else (None, None)
    for part, of in _parts(axes):
        h, y, out = g[part], x[part], result[part]
        if memory.size < h.size:
            memory = np.empty(h.size, self.dtype)
        scaled = memory[: h.size].reshape(h.shape)
        if inside:
            h = np.multiply(h, row, out=scaled)
        if axes[0] == 1:
            sums, dots = _sums(h), _dots(h, y)
        with _degenerate(eps):
            m, s = mean[of], scale[of]
            along = (m * sums - dots) * (factor * s * s * s / count)
            s = s * factor
            np.multiply(y, along[:, None], out=out)
            out -= (m * along + s * sums / count)[:, None]
            out += np.multiply(h, s[:, None], out=scaled)
    return result.reshape(self.shape)


@_widened
def standardised_sum(self: Any, input: Any, known: Any, dim: Dims, eps: float, over: str) -> Any:
    """The sums of the products of self and the standardised input.

    They are `over` what the moments are taken over ("within"), over all else ("across"), or over
    the last dimension of three, where the moments are over the last two ("last").
    """
    axes = _three(input.shape, dim)
    if self.size == 0:
        sizes = {"across": input.shape[dim[0] :], "within": axes[1:2], "last": input.shape[:2]}
        return np.zeros(sizes[over], self.dtype)
    mean, _, scale = known if known.size else _moments(input.reshape(axes), eps)
    with _degenerate(eps):
        if over == "across":
            return _across(self.reshape(axes), input.reshape(axes), mean, scale).reshape(
                input.shape[dim[0] :]
            )
        if over == "within":
            g, x = self.reshape(axes), input.reshape(axes)
            return scale * (_dots(g, x) - mean * _sums(g))
        sums = self.dot(np.ones(input.shape[2], self.dtype))
        return scale[:, None] * (np.vecdot(self, input) - mean[:, None] * sums)


def _across(self: Any, input: Any, mean: Any, scale: Any) -> Any:
    """The sums over all rows of the products of self and the standardised input."""
    total = np.zeros(self.shape[2], self.dtype)
    memory = np.empty(0, self.dtype)
    for part, of in _parts(self.shape):
        g, x = self[part][0], input[part][0]
        if memory.size < g.size:
            memory = np.empty(g.size, self.dtype)
        product = np.multiply(g, x, out=memory[: g.size].reshape(g.shape))
        total += scale[of].dot(product)
        total -= (scale[of] * mean[of]).dot(g)
    return total


def _affine(result: Any, weight: Any, bias: Any, shape: Dims) -> None:
    """Multiply by weights and add biases, of `shape` or one for all."""
    if weight.ndim:
        result *= weight.reshape(shape)
    elif weight != 1:
        result *= weight
    if bias.ndim:
        result += bias.reshape(shape)
    elif bias != 0:
        result += bias


@_widened
def layer_norm(self: Any, weight: Any, bias: Any, known: Any, dim: Dims, eps: float) -> Any:
    """`standardise` along the last dimensions, times weights, plus biases of their shape."""
    axes = _three(self.shape, dim)
    result = _standard(self.reshape(axes), known, eps)
    _affine(result, weight, bias, axes[2:])
    return result.reshape(self.shape)


@_widened
def group_norm(self: Any, weight: Any, bias: Any, known: Any, groups: int, eps: float) -> Any:
    """`standardise` over groups of channels, times weights, plus biases of the channels."""
    n, channels = self.shape[:2]
    within = math.prod(self.shape[2:])
    rows = self.reshape(1, n * groups, channels // groups * within)
    result = _standard(rows, known, eps).reshape(n, channels, within)
    _affine(result, weight, bias, (channels, 1))
    return result.reshape(self.shape)


@_widened
def batch_norm(self: Any, weight: Any, bias: Any, known: Any, eps: float) -> Any:
    """`standardise` along all dimensions but the second, times weights, plus biases."""
    axes = self.shape[0], self.shape[1], math.prod(self.shape[2:])
    result = _standard(self.reshape(axes), known, eps)
    _affine(result, weight, bias, (axes[1], 1))
    return result.reshape(self.shape)


@_widened
def batch_norm_fixed(self: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    """`batch_norm` with means and variances that are given."""
    column = (self.shape[1], *[1] * (self.ndim - 2))
    scale = weight / np.sqrt(var + eps)
    shift = bias - mean * scale
    result = self * scale.reshape(column)
    result += shift.reshape(column)
    return result


@_widened
def rms_norm(self: Any, weight: Any, dim: Dims, eps: float) -> Any:
    """Self over the root of the mean of its squares along the last dimensions, times weights."""
    _, k, count = _three(self.shape, dim)
    if self.size == 0:
        return self.copy()
    rows = self.reshape(k, count)
    # conj: vecdot conjugates its first argument, and the square does not
    squares = np.vecdot(rows.conj() if rows.dtype.kind == "c" else rows, rows)
    # divide, invalid: without eps, zeros give 0 / 0 by definition
    with np.errstate(divide="ignore", invalid="ignore"):
        result = rows * (1 / np.sqrt(squares / count + eps))[:, None]
    if weight.ndim or weight != 1:
        result *= weight.reshape(-1)
    return result.reshape(self.shape)
