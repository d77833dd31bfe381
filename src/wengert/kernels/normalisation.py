"""Layer 1 · kernels: values brought to mean 0 and variance 1, or to a mean square of 1.

NOTE [three axes]
Elements that share a mean lie along dimensions at the end (a layer, a group) or along all but the
second (a batch). Either way the array is seen as one of three axes (a, k, b), in which k counts
the means, and the sums over the first and the last are products with ones, which BLAS computes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "batch_moments",
    "batch_norm",
    "batch_norm_fixed",
    "group_norm",
    "layer_norm",
    "rms_norm",
    "standardise",
    "standardise_backward",
]

Dims = tuple[int, ...]


def _widened(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel`, computing in float32 where all arrays have two bytes."""

    @functools.wraps(kernel)
    def wide(*arrays: Any, **params: Any) -> Any:
        dtype = arrays[0].dtype
        if dtype.itemsize != 2:
            return kernel(*arrays, **params)
        return kernel(*[array.astype(np.float32) for array in arrays], **params).astype(dtype)

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
    if b == 1:
        return np.ones(a, self.dtype).dot(self.reshape(a, k))
    rows = self.reshape(a * k, b).dot(np.ones(b, self.dtype))
    return rows if a == 1 else np.add.reduce(rows.reshape(a, k), 0)


def _dots(self: Any, other: Any) -> Any:
    """The sums of the products over the first and the last of three axes."""
    if self.shape[0] == 1:
        return np.vecdot(self[0], other[0])
    if self.shape[2] == 1:
        return np.einsum("ikj,ikj->k", self, other)
    return np.add.reduce(np.vecdot(self, other), 0)


def _aligned(sums: Any) -> Any:
    """One number for each of the middle axis, in a shape that broadcasts with all three."""
    return sums[:, None]


def _moments(self: Any) -> tuple[Any, Any]:
    """The distances from the means, and the sums of their squares."""
    # counted from one of the elements: exact where all are equal, and no digits are lost where
    # they are close to each other
    apart = self - self[:1, :, :1]
    count = self.shape[0] * self.shape[2]
    apart -= _aligned(_sums(apart) / count)
    return apart, _dots(apart, apart)


def _scale(squares: Any, count: int, eps: float) -> Any:
    # divide: without eps, elements that are all equal are 0 / 0 by definition
    with np.errstate(divide="ignore"):
        return 1 / np.sqrt(squares / count + eps)


def _standard(self: Any, eps: float) -> Any:
    if self.size == 0:
        return self.copy()
    apart, squares = _moments(self)
    with np.errstate(invalid="ignore"):
        apart *= _aligned(_scale(squares, self.shape[0] * self.shape[2], eps))
    return apart


@_widened
def standardise(self: Any, dim: Dims, eps: float) -> Any:
    """Distances from the means of the elements along `dim`, over standard deviations."""
    return _standard(self.reshape(_three(self.shape, dim)), eps).reshape(self.shape)


@_widened
def standardise_backward(self: Any, input: Any, dim: Dims, eps: float) -> Any:
    """The derivative of `standardise` at `input`, a symmetric matrix, times self."""
    if self.size == 0:
        return self.copy()
    axes = _three(input.shape, dim)
    g, x = self.reshape(axes), input.reshape(axes)
    count = axes[0] * axes[2]
    apart, squares = _moments(x)
    with np.errstate(invalid="ignore", over="ignore"):
        scale = _scale(squares, count, eps)
        apart *= _aligned(_dots(g, apart) * (scale * scale / -count))
        apart += g
        apart -= _aligned(_sums(g) / count)
        apart *= _aligned(scale)
    return apart.reshape(self.shape)


def _affine(result: Any, weight: Any, bias: Any, shape: Dims) -> None:
    """Multiply by weights and add biases of a shape that broadcasts; those of none do nothing."""
    if weight.ndim:
        result *= weight.reshape(shape)
    if bias.ndim:
        result += bias.reshape(shape)


@_widened
def layer_norm(self: Any, weight: Any, bias: Any, dim: Dims, eps: float) -> Any:
    """`standardise` along the last dimensions, times weights, plus biases of their shape."""
    axes = _three(self.shape, dim)
    result = _standard(self.reshape(axes), eps)
    _affine(result, weight, bias, axes[2:])
    return result.reshape(self.shape)


@_widened
def group_norm(self: Any, weight: Any, bias: Any, groups: int, eps: float) -> Any:
    """`standardise` over groups of channels, times weights, plus biases of the channels."""
    n, channels = self.shape[:2]
    result = _standard(
        self.reshape(1, n * groups, math.prod(self.shape[1:]) // groups), eps
    ).reshape(n, channels, -1 if self.size else 0)
    _affine(result, weight, bias, (channels, 1))
    return result.reshape(self.shape)


@_widened
def batch_norm(self: Any, weight: Any, bias: Any, eps: float) -> Any:
    """`standardise` along all dimensions but the second, times weights, plus biases."""
    axes = self.shape[0], self.shape[1], math.prod(self.shape[2:])
    result = _standard(self.reshape(axes), eps)
    _affine(result, weight, bias, (axes[1], 1))
    return result.reshape(self.shape)


@_widened
def batch_norm_fixed(
    self: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float
) -> Any:
    """`batch_norm` with means and variances that are given."""
    column = (self.shape[1], *[1] * (self.ndim - 2))
    scale = 1 / np.sqrt(var + eps)
    if weight.ndim:
        scale = scale * weight
    shift = (bias if bias.ndim else 0) - mean * scale
    result = self * scale.reshape(column)
    result += shift.reshape(column)
    return result


def batch_moments(self: Any) -> tuple[Any, Any]:
    """The means along all dimensions but the second, and the variances without bias."""
    wide = self.astype(np.float32) if self.dtype.itemsize == 2 else self
    x = wide.reshape(self.shape[0], self.shape[1], math.prod(self.shape[2:]))
    count = x.shape[0] * x.shape[2]
    start = x[0, :, 0]
    apart = x - _aligned(start)
    shift = _sums(apart) / count
    apart -= _aligned(shift)
    # invalid: the variance of a single element is 0 / 0 by definition
    with np.errstate(invalid="ignore", divide="ignore"):
        return start + shift, np.divide(_dots(apart, apart), count - 1)


@_widened
def rms_norm(self: Any, weight: Any, dim: Dims, eps: float) -> Any:
    """Self over the root of the mean of its squares along the last dimensions, times weights."""
    _, k, count = _three(self.shape, dim)
    if self.size == 0:
        return self.copy()
    rows = self.reshape(k, count)
    if rows.dtype.kind == "c":
        squares = np.einsum("ij,ij->i", rows, rows)
    else:
        squares = np.vecdot(rows, rows)
    result = rows * _aligned(_scale(squares, count, eps))
    _affine(result, weight, np.zeros(()), (count,))
    return result.reshape(self.shape)
