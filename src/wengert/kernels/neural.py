"""Layer 1 · kernels: activations and losses of neural networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.kernels import single
from wengert.kernels.elementwise import exp_of_minus_plus_one
from wengert.kernels.protocols import numbers
from wengert.kernels.reduce import along, are_within
from wengert.kernels.reducing import largest as _largest
from wengert.kernels.select import choose, clamp
from wengert.kernels.shape import split
from wengert.kernels.special import FEW, erfc
from wengert.kernels.sums import are_few, repeated_sums, row_sums, sums

Dims = tuple[int, ...]


def _size(self: Any) -> Any:
    # fabs is slower, but refuses complex numbers, as functions that order elements must
    return np.absolute(self) if self.dtype.kind == "f" else np.fabs(self)


# -- over a dimension -----------------------------------------------------------------------------


def _below_top(self: Any, dim: Dims) -> Any:
    return self - _largest(self, dim, True)


_SAFE, _CLOSE = 80.0, 6.0
"""The length of an array as a vector below which no exponential or sum of them leaves the range of
single precision, and the distance between numbers up to which subtracting the largest of all,
instead of that of each row, costs the logarithms no digits."""


def softmax(self: Any, dim: Dims) -> Any:
    """Compute exponentials scaled to a sum of 1 along dimensions."""
    # False for NaN
    if not (are_few(self, dim) and np.vdot(self, self) < _SAFE**2):
        return _scaled_softmax(self, dim)
    powers = np.exp(self)
    powers /= repeated_sums(powers, dim)
    return powers


def log_softmax(self: Any, dim: Dims) -> Any:
    """Compute the logarithm of `softmax`."""
    if not are_few(self, dim):
        return _scaled_log_softmax(self, dim)
    top = self.item(self.argmax())
    # False for NaN, and for infinities
    if not top - self.item(self.argmin()) < _CLOSE:
        return _scaled_log_softmax(self, dim)
    below = self - np.array(top, self.dtype)
    below -= np.log(repeated_sums(np.exp(below), dim))
    return below


# as a decorator `errstate` takes a tenth of the time of a block
# invalid: where all elements are infinite, NaN is the defined result
@errstate(invalid="ignore")
def _scaled_softmax(self: Any, dim: Dims) -> Any:
    if self.size == 0:
        return self.copy()
    powers = np.exp(_below_top(self, dim))
    powers /= sums(powers, dim, True)
    return powers


@errstate(invalid="ignore", divide="ignore")
def _scaled_log_softmax(self: Any, dim: Dims) -> Any:
    if self.size == 0:
        return self.copy()
    below = _below_top(self, dim)
    return below - np.log(sums(np.exp(below), dim, True))


# -- activations ----------------------------------------------------------------------------------


def _log1p_exp_of_many(x: Any) -> Any:
    grown = single.log1p(np.exp(-np.absolute(x)))
    grown += np.maximum(x, 0)
    return grown


_log1p_exp = single.large(lambda x: np.logaddexp(x, numbers(x, 0)[0]), _log1p_exp_of_many, 256)
"""log(1 + exp(x)): one function of NumPy, or vectorised ones for many elements."""


def softplus(self: Any, beta: float, threshold: float) -> Any:
    """Compute log(1 + exp(beta * self)) / beta; self above the threshold."""
    scaled = self if beta == 1 else self * beta
    result = _log1p_exp(scaled)
    if beta != 1:
        result = result / beta
    elif threshold >= _NO_DIGITS and self.dtype.char == "f":
        return result
    above = np.greater(scaled, *numbers(self, threshold))
    return choose(above, self, result)[()] if np.count_nonzero(above) else result


_NO_DIGITS = 17.0
"""The number x beyond which log(1 + exp(x)) rounds to x in single precision."""


def log_sigmoid(self: Any) -> Any:
    """Return the logarithm of the sigmoid function."""
    return numbers(self, 0)[0] - _log1p_exp(-self)


def silu(self: Any) -> Any:
    """Compute self * sigmoid(self)."""
    if self.dtype.kind == "c":
        return self / (1 + np.exp(-self))
    return self / exp_of_minus_plus_one(self)


def glu(self: Any, dim: int) -> Any:
    """Return the first half along a dimension times the sigmoid of the second."""
    first, second = split(self, (self.shape[dim] // 2,) * 2, dim)
    return first / exp_of_minus_plus_one(second)


def mish(self: Any) -> Any:
    """Compute self * tanh(log(1 + exp(self)))."""
    # tanh(log(1 + e)) is e (e + 2) / (e (e + 2) + 2), which is 1 long before that overflows
    most, two = numbers(self, 40, 2)
    grown = np.exp(clamp(self, None, most))
    grown *= grown + two
    return self * (grown / (grown + two))


def _gelu(self: Any) -> Any:
    return 0.5 * self * erfc(self * -math.sqrt(0.5))


def _gelu_slope(self: Any) -> Any:
    bell = np.exp(self * self * -0.5)
    return 0.5 * erfc(self * -math.sqrt(0.5)) + self * bell * (1 / math.sqrt(2 * math.pi))


_exact_gelu = single.large(_gelu, single.gelu_of_block, FEW + 1)
gelu_slope = single.large(_gelu_slope, single.gelu_slope_of_block, FEW + 1)


def gelu(self: Any, approximate: str) -> Any:
    """Compute self times the normal distribution function, or its approximation by tanh."""
    if approximate == "tanh":
        root = math.sqrt(2 / math.pi)
        half, one, root, cubic = numbers(self, 0.5, 1, root, 0.044715 * root)
        result = self * self
        result *= cubic
        result += root
        result = np.tanh(result * self)
        result += one
        result *= half
        result *= self
        return result
    return _exact_gelu(self)


def leaky_relu(self: Any, negative_slope: float) -> Any:
    """Return self where positive, a multiple of it elsewhere."""
    if 0 < negative_slope <= 1:
        return np.maximum(self, self * negative_slope)
    return choose(self > 0, self, self * negative_slope)[()]


def elu(self: Any, alpha: float, scale: float, input_scale: float) -> Any:
    """Compute scale * self where positive, an exponential tending to -alpha * scale elsewhere."""
    below = clamp(self, None, 0)
    below = single.expm1(below if input_scale == 1 else below * input_scale)
    above = clamp(self, 0, None)
    if scale != 1:
        factor, rate = numbers(self, scale, alpha * scale)
        above *= factor
        below *= rate
    elif alpha != 1:
        below *= alpha
    below += above
    return below


def hardsigmoid(self: Any) -> Any:
    """Compute (self + 3) / 6, clamped to [0, 1]."""
    three, six = numbers(self, 3, 6)
    return clamp(self + three, 0, six) / six


def hardtanh(self: Any, min_val: float, max_val: float, out: Any = None) -> Any:
    """Clamp self between two bounds."""
    return clamp(self, min_val, max_val, out)


# -- losses ---------------------------------------------------------------------------------------


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction == "none":
        return losses
    total = sums(losses, None)
    if reduction == "sum":
        return total
    if losses.size:
        return total / losses.size
    return losses.dtype.type(np.nan)


def mse_loss(self: Any, target: Any, reduction: str) -> Any:
    """Compute squared differences."""
    apart = self - target
    return _reduced(apart * apart, reduction)


def smooth_l1_loss(self: Any, target: Any, reduction: str, beta: float) -> Any:
    """Compute absolute differences, smoothed by a parabola below beta."""
    size = _size(self - target)
    near = clamp(size, None, beta)
    return _reduced(near * (size - 0.5 * near) * (1 / beta), reduction)


def huber_loss(self: Any, target: Any, reduction: str, delta: float) -> Any:
    """Compute half the squared differences, continued linearly above delta."""
    size = _size(self - target)
    near = clamp(size, None, delta)
    return _reduced(near * (size - 0.5 * near), reduction)


# divide: a wrong prediction made with certainty costs 100, not infinity
@errstate(divide="ignore")
def _logs(self: Any) -> tuple[Any, Any]:
    return np.maximum(np.log(self), -100), np.maximum(np.log1p(-self), -100)


def binary_cross_entropy(self: Any, target: Any, reduction: str) -> Any:
    """Compute cross entropies of probabilities and target probabilities."""
    for name, given in (("target", target), ("input", self)):
        if np.count_nonzero(np.logical_and(given >= 0, given <= 1)) != given.size:
            raise RuntimeError(
                f"all elements of {name} should be between 0 and 1: binary_cross_entropy takes "
                "probabilities; binary_cross_entropy_with_logits takes any numbers"
            )
    yes, no = _logs(self)
    return _reduced((target - 1) * no - target * yes, reduction)


def binary_cross_entropy_with_logits(self: Any, target: Any, reduction: str) -> Any:
    """Compute cross entropies of sigmoid(self) and target probabilities."""
    losses = (1 - target) * self
    losses -= clamp(self, None, 0)
    losses += single.log1p(np.exp(-_size(self)))
    return _reduced(losses, reduction)


def _weighed(target: Any, weight: Any, classes: int, ignore_index: int) -> tuple[Any, Any, Any]:
    """Return the targets' classes (0 for ignored ones), and the weights of the targets.

    The weights are one number if all targets have the same. The third result marks the targets that
    count, and is None if all do: a weight of 0 would not remove a NaN.
    """
    counted = index = target
    if not (target.size and not 0 <= ignore_index < classes and are_within(target, classes)):
        counted = target != ignore_index
        if np.count_nonzero(counted) < target.size:
            index = np.where(counted, target, 0)
        if target.size and not are_within(index, classes):
            outside = np.logical_or(index < 0, index >= classes)
            raise IndexError(
                f"Target {np.asarray(index)[outside].flat[0]} is out of bounds. The input has "
                f"{classes} classes, 0 to {classes - 1}."
            )
    weights = weight[index] if weight.ndim else weight
    return (index, weights, None) if index is target else (index, weights * counted, counted)


def _total(weights: Any, count: int) -> Any:
    return sums(weights, None) if weights.ndim else weights * count


def _named(ndim: int, index: Any, axis: int) -> Any:
    """Return the index of the target classes; a single sample may have a target of shape (1,)."""
    return index if ndim == 1 else along(index, axis)


def nll_loss(self: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> Any:
    """Return minus the elements at the targets, weighted by class; the mean is weighted, too.

    A 0-d weight applies to every class.
    """
    axis = 0 if self.ndim == 1 else 1
    index, weights, counted = _weighed(target, weight, self.shape[axis], ignore_index)
    losses = self[_named(self.ndim, index, axis)]
    if reduction == "mean" and counted is None and target.size and not weights.ndim:
        # the weight cancels
        return row_sums(losses if losses.ndim == 1 else losses.reshape(-1)) / -target.size
    weights = weights.astype(self.dtype, copy=False)
    losses = losses * -weights
    if counted is not None:
        losses = np.where(counted, losses, 0)[()]
    if reduction == "none":
        return losses
    total = sums(losses, None)
    if reduction == "sum":
        return total
    count = _total(weights, target.size)
    # the mean over no target is NaN by definition
    return total / count if count != 0 else self.dtype.type(np.nan)


def nll_loss_backward(
    self: Any, target: Any, weight: Any, shape: Dims, reduction: str, ignore_index: int
) -> Any:
    """Compute the transpose of `nll_loss`: place the cotangent at the targets' elements."""
    weight = weight.astype(self.dtype, copy=False)
    axis = 0 if len(shape) == 1 else 1
    index, weights, counted = _weighed(target, weight, shape[axis], ignore_index)
    if reduction == "mean":
        total = _total(weights, target.size)
        # without targets no element contributes to the NaN
        weights = weights / total if total != 0 else weights
    result = np.zeros(shape, self.dtype)
    shares = self * -weights
    if counted is not None:
        shares = np.where(counted, shares, 0)
    result[_named(len(shape), index, axis)] = shares
    return result
