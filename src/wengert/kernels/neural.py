"""Layer 1 · kernels: activations and losses of neural networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels.reduce import widened
from wengert.kernels.special import erfc

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "elu",
    "gelu",
    "hardtanh",
    "huber_loss",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "mse_loss",
    "nll_loss",
    "nll_loss_backward",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softplus",
]

Dims = tuple[int, ...]

# NOTE [fabs]
# `np.fabs` is the absolute value that complex numbers do not have: a function that orders its
# elements must not accept them.


# -- over a dimension -------------------------------------------------------------------------------


def _below_top(self: Any, dim: Dims) -> Any:
    # initial: an empty dimension has no largest element, and needs none
    return self - np.maximum.reduce(self, axis=dim, keepdims=True, initial=-np.inf)


@widened
def softmax(self: Any, dim: Dims) -> Any:
    # invalid: where all elements are infinite, the result is NaN by definition
    with np.errstate(invalid="ignore"):
        powers = np.exp(_below_top(self, dim))
        return powers / np.add.reduce(powers, axis=dim, keepdims=True)


@widened
def log_softmax(self: Any, dim: Dims) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        below = _below_top(self, dim)
        return below - np.log(np.add.reduce(np.exp(below), axis=dim, keepdims=True))


# -- activations ------------------------------------------------------------------------------------


def softplus(self: Any, beta: float, threshold: float) -> Any:
    scaled = self * beta
    return np.where(scaled > threshold, self, np.logaddexp(scaled, 0) / beta)[()]


def log_sigmoid(self: Any) -> Any:
    return np.minimum(self, 0) - np.log1p(np.exp(-np.fabs(self)))


def silu(self: Any) -> Any:
    if self.dtype.kind == "c":
        return self / (1 + np.exp(-self))
    # the exponential of what is not positive never overflows
    small = np.exp(-np.absolute(self))
    return self * (np.where(self >= 0, 1, small)[()] / (1 + small))


def mish(self: Any) -> Any:
    return self * np.tanh(np.logaddexp(self, 0))


@widened
def gelu(self: Any, approximate: str) -> Any:
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (self + 0.044715 * (self * self * self))
        return 0.5 * self * (1 + np.tanh(inner))
    return 0.5 * self * erfc(self * -math.sqrt(0.5))


def leaky_relu(self: Any, negative_slope: float) -> Any:
    return np.where(self > 0, self, self * negative_slope)[()]


def elu(self: Any, alpha: float, scale: float, input_scale: float) -> Any:
    below = np.expm1(np.minimum(self, 0) * input_scale) * (alpha * scale)
    return np.where(self > 0, self * scale, below)[()]


def hardtanh(self: Any, min_val: float, max_val: float) -> Any:
    return np.minimum(np.maximum(self, min_val), max_val)


# -- losses -----------------------------------------------------------------------------------------


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction == "none":
        return losses
    total = np.add.reduce(losses, axis=None)
    if reduction == "sum":
        return total
    if losses.size:
        return total / losses.size
    return losses.dtype.type(np.nan)


@widened
def mse_loss(self: Any, target: Any, reduction: str) -> Any:
    apart = self - target
    return _reduced(apart * apart, reduction)


@widened
def smooth_l1_loss(self: Any, target: Any, reduction: str, beta: float) -> Any:
    size = np.fabs(self - target)
    near = 0.5 / beta * (size * size)
    return _reduced(np.where(size < beta, near, size - 0.5 * beta)[()], reduction)


@widened
def huber_loss(self: Any, target: Any, reduction: str, delta: float) -> Any:
    size = np.fabs(self - target)
    near = 0.5 * (size * size)
    return _reduced(np.where(size <= delta, near, delta * (size - 0.5 * delta))[()], reduction)


@widened
def binary_cross_entropy(self: Any, target: Any, reduction: str) -> Any:
    if not np.logical_and(self >= 0, self <= 1).all():
        raise RuntimeError(
            "all elements of input should be between 0 and 1: binary_cross_entropy takes "
            "probabilities; binary_cross_entropy_with_logits takes any numbers"
        )
    # a certainty that proves wrong costs 100, not infinity
    with np.errstate(divide="ignore"):
        yes, no = np.maximum(np.log(self), -100), np.maximum(np.log1p(-self), -100)
    return _reduced((target - 1) * no - target * yes, reduction)


@widened
def binary_cross_entropy_with_logits(self: Any, target: Any, reduction: str) -> Any:
    losses = (1 - target) * self + np.maximum(-self, 0) + np.log1p(np.exp(-np.fabs(self)))
    return _reduced(losses, reduction)


def _weighed(
    target: Any, weight: Any, classes: int, ignore_index: int, dtype: Any
) -> tuple[Any, Any]:
    """The classes that targets name (0 for those to ignore) and the weights of the targets."""
    counted = target != ignore_index
    index = np.where(counted, target, 0)
    outside = np.logical_or(index < 0, index >= classes)
    if outside.any():
        raise IndexError(
            f"Target {np.asarray(target)[outside].flat[0]} is out of bounds: the input has "
            f"{classes} classes, 0 to {classes - 1}."
        )
    if weight.ndim == 0:
        return index, (counted * weight).astype(dtype)
    return index, np.where(counted, weight[index], 0).astype(dtype)


def _axis(ndim: int) -> int:
    return 0 if ndim == 1 else 1


@widened
def nll_loss(self: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> Any:
    """Minus the elements that targets name, weighed by class; the mean is by the weights' sum."""
    axis = _axis(self.ndim)
    index, weights = _weighed(target, weight, self.shape[axis], ignore_index, self.dtype)
    if self.ndim == 2:
        named = self[np.arange(len(self)), index]
    else:
        index = np.expand_dims(index.reshape(self.shape[:axis] + self.shape[axis + 1 :]), axis)
        named = np.take_along_axis(self, index, axis).reshape(target.shape)
    losses = -named * weights
    if reduction == "none":
        return losses
    total = np.add.reduce(losses, axis=None)
    if reduction == "sum":
        return total
    # the mean over no target at all is NaN
    with np.errstate(invalid="ignore"):
        return total / np.add.reduce(weights, axis=None)


@widened
def nll_loss_backward(
    g: Any, target: Any, weight: Any, shape: Dims, reduction: str, ignore_index: int
) -> Any:
    """The transpose of `nll_loss`: the cotangent at the elements that targets name."""
    axis = _axis(len(shape))
    index, weights = _weighed(target, weight, shape[axis], ignore_index, g.dtype)
    result = np.zeros(shape, g.dtype)
    if reduction == "mean":
        total = np.add.reduce(weights, axis=None)
        # with no target at all nothing has a share in the NaN
        weights = weights / total if total != 0 else weights
    parts = -weights * g
    if len(shape) == 2:
        result[np.arange(shape[0]), index] = parts
    else:
        places = shape[:axis] + shape[axis + 1 :]
        index, parts = index.reshape(places), parts.reshape(places)
        np.put_along_axis(result, np.expand_dims(index, axis), np.expand_dims(parts, axis), axis)
    return result
