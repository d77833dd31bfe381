"""Layer 8 · compiler: decompositions of normalisations and losses."""

from __future__ import annotations

import math
from typing import Any

from wengert.compiler.decompose.rules import REAL, Dims, everywhere, extent, kept, rule
from wengert.compiler.decompose.sums import mean
from wengert.prims import records

# -- normalisation --------------------------------------------------------------------------------


def _statistics(F: Any, self: Any, dim: Dims, eps: float) -> tuple[Any, Any, Any]:
    """Return means, variances, and reciprocal square roots of the variances plus `eps`."""
    centre = mean(F, self, dim, True)
    centred = self - centre
    # a second pass over centred elements: the variance of equal elements is then exactly 0
    residual = mean(F, centred, dim, True)
    variance = F.maximum(mean(F, centred * centred, dim, True) - residual * residual, 0)
    return centre + residual, variance, F.rsqrt(variance + eps)


def _mean_and_scale(F: Any, self: Any, known: Any, dim: Dims, eps: float) -> tuple[Any, Any]:
    """Return mean and scale, in shapes that broadcast with `self` (see NOTE [known moments])."""
    if math.prod(known.shape):
        shape = kept(tuple(self.shape), dim)
        rows = [F.view(F.select(known, dim=0, index=i), shape=shape) for i in (0, 2)]
        return rows[0], rows[1]
    centre, _, scale = _statistics(F, self, dim, eps)
    return centre, scale


def _per_channel(F: Any, values: Any, ndim: int) -> Any:
    """Reshape values per channel to broadcast with an array of `ndim` dimensions."""
    if not values.shape:
        return values
    return F.view(values, shape=(*values.shape, *[1] * (ndim - 2)))


@rule(records.moments, kinds=REAL)
def _moments(F: Any, self: Any, dim: Dims, eps: float) -> Any:
    if 0 in self.shape:
        return NotImplemented
    rows = _statistics(F, self, dim, eps)
    shape = (math.prod(self.shape) // extent(self.shape, dim),)
    return F.stack(*[F.view(row, shape=shape) for row in rows], dim=0)


@rule(records.standardise, kinds=REAL)
def _standardise(F: Any, self: Any, known: Any, dim: Dims, eps: float) -> Any:
    centre, scale = _mean_and_scale(F, self, known, dim, eps)
    return (self - centre) * scale


@rule(records.standardise_backward, kinds=REAL)
def _standardise_backward(
    F: Any, self: Any, input: Any, weight: Any, known: Any, dim: Dims, eps: float
) -> Any:
    if 0 in self.shape:
        return F.clone(self)
    n = len(self.shape)
    centre, scale = _mean_and_scale(F, input, known, dim, eps)
    standard = (input - centre) * scale
    trailing = not dim or dim[0] == n - len(dim)
    weighted = self
    if type(weight) is not int:
        weighted = self * (weight if trailing else _per_channel(F, weight, n))
    projection = mean(F, weighted * standard, dim, True)
    return (weighted - mean(F, weighted, dim, True) - standard * projection) * scale


@rule(records.standardised_sum, kinds=REAL)
def _standardised_sum(
    F: Any, self: Any, input: Any, known: Any, dim: Dims, eps: float, over: str
) -> Any:
    products = self * F.standardise(input, known, dim=dim, eps=eps)
    if over == "across":
        return F.sum_dim(products, dim=tuple(range(dim[0])), keepdim=False)
    if over == "last":
        return F.sum_dim(products, dim=(2,), keepdim=False)
    sums = F.sum_dim(products, dim=dim, keepdim=False)
    return F.view(sums, shape=(math.prod(sums.shape),)) if len(sums.shape) != 1 else sums


@rule(records.layer_norm, kinds=REAL)
def _layer_norm(
    F: Any, self: Any, weight: Any, bias: Any, known: Any, dim: Dims, eps: float
) -> Any:
    return F.standardise(self, known, dim=dim, eps=eps) * weight + bias


@rule(records.batch_norm, kinds=REAL)
def _batch_norm(F: Any, self: Any, weight: Any, bias: Any, known: Any, eps: float) -> Any:
    n = len(self.shape)
    result = F.standardise(self, known, dim=(0, *range(2, n)), eps=eps)
    return result * _per_channel(F, weight, n) + _per_channel(F, bias, n)


@rule(records.group_norm, kinds=REAL)
def _group_norm(
    F: Any, self: Any, weight: Any, bias: Any, known: Any, groups: int, eps: float
) -> Any:
    values, weight, bias = _in_groups(F, groups, self, weight, bias)
    result = F.standardise(values, known, dim=(2, 3), eps=eps) * weight + bias
    return F.view(result, shape=tuple(self.shape))


def _in_groups(F: Any, groups: int, self: Any, *per_channel: Any) -> tuple[Any, ...]:
    """Return elements and values per channel in shapes in which no loop divides an index."""
    shape = tuple(self.shape)
    channels = groups, shape[1] // groups
    values = F.view(self, shape=(shape[0], *channels, math.prod(shape[2:])))
    return values, *[F.view(v, shape=(*channels, 1)) if v.shape else v for v in per_channel]


@rule(records.group_norm_backward, kinds=REAL)
def _group_norm_backward(
    F: Any, self: Any, input: Any, weight: Any, known: Any, groups: int, eps: float
) -> Any:
    shape = tuple(self.shape)
    if 0 in shape:
        return F.clone(self)
    g, weight = _in_groups(F, groups, self, weight)
    (x,) = _in_groups(F, groups, input)
    gradient = F.standardise_backward(g * weight, x, 1, known, dim=(2, 3), eps=eps)
    return F.view(gradient, shape=shape)


@rule(records.batch_norm_fixed, kinds=REAL)
def _batch_norm_fixed(
    F: Any, self: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float
) -> Any:
    n = len(self.shape)
    scale = weight / F.sqrt(var + eps)
    return self * _per_channel(F, scale, n) + _per_channel(F, bias - mean * scale, n)


@rule(records.rms_norm, kinds=REAL)
def _rms_norm(F: Any, self: Any, weight: Any, dim: Dims, eps: float) -> Any:
    if 0 in self.shape:
        return F.clone(self)
    return self * F.rsqrt(mean(F, self * self, dim, True) + eps) * weight


# -- losses of pairs ------------------------------------------------------------------------------


def _reduce(F: Any, losses: Any, reduction: str) -> Any:
    if reduction == "none":
        return losses
    if reduction == "sum":
        return F.sum_dim(losses, dim=everywhere(losses), keepdim=False)
    return mean(F, losses, everywhere(losses), False)


@rule(records.mse_loss, kinds=REAL)
def _mse_loss(F: Any, self: Any, target: Any, reduction: str) -> Any:
    difference = self - target
    return _reduce(F, difference * difference, reduction)


@rule(records.smooth_l1_loss, kinds=REAL)
def _smooth_l1_loss(F: Any, self: Any, target: Any, reduction: str, beta: float) -> Any:
    distance = F.abs(self - target)
    clipped = F.minimum(distance, beta)
    return _reduce(F, clipped * (distance - clipped * 0.5) * (1 / beta), reduction)


@rule(records.huber_loss, kinds=REAL)
def _huber_loss(F: Any, self: Any, target: Any, reduction: str, delta: float) -> Any:
    distance = F.abs(self - target)
    clipped = F.minimum(distance, delta)
    return _reduce(F, clipped * (distance - clipped * 0.5), reduction)


@rule(records.binary_cross_entropy_with_logits, kinds=REAL)
def _binary_cross_entropy_with_logits(F: Any, self: Any, target: Any, reduction: str) -> Any:
    losses = (1 - target) * self - F.minimum(self, 0) + F.log1p(F.exp(-F.abs(self)))
    return _reduce(F, losses, reduction)


# -- losses of classes ----------------------------------------------------------------------------


def _class_weights(
    F: Any, target: Any, weight: Any, dtype: Any, classes: int, ignore_index: int
) -> tuple[Any, Any, Any]:
    """Return class indices (0 where ignored), weights of the targets, and which targets count."""
    counted = target != ignore_index
    index = F.where(counted, target, 0)
    # a negative class is out of range; a negative index would count from the end
    index = F.where(index < 0, classes, index)
    if weight.dtype != dtype:
        weight = F.to_copy(weight, dtype=dtype)
    if weight.shape:
        flat = F.view(index, shape=(math.prod(index.shape),))
        weight = F.view(F.gather(weight, flat, dim=0), shape=tuple(index.shape))
    return index, F.where(counted, weight, 0), counted


@rule(records.nll_loss, records.nll_loss2d)
def _nll_loss(
    F: Any, self: Any, target: Any, weight: Any, reduction: str, ignore_index: int
) -> Any:
    if self.dtype.char not in REAL:
        return NotImplemented
    classes = self.shape[0 if len(self.shape) == 1 else 1]
    index, weights, counted = _class_weights(F, target, weight, self.dtype, classes, ignore_index)
    if len(self.shape) == 1:
        picked = F.gather(self, F.view(index, shape=(1,)), dim=0)
    else:
        shape = (target.shape[0], 1, *target.shape[1:])
        picked = F.gather(self, F.view(index, shape=shape), dim=1)
    losses = F.where(counted, F.view(picked, shape=tuple(target.shape)) * -weights, 0)
    if reduction != "mean":
        return _reduce(F, losses, reduction)
    return _reduce(F, losses, "sum") / _reduce(F, weights, "sum")


@rule(records.nll_loss_backward)
def _nll_loss_backward(
    F: Any,
    self: Any,
    target: Any,
    weight: Any,
    shape: Dims,
    reduction: str,
    ignore_index: int,
) -> Any:
    if self.dtype.char not in REAL:
        return NotImplemented
    dim = 0 if len(shape) == 1 else 1
    index, weights, counted = _class_weights(
        F, target, weight, self.dtype, shape[dim], ignore_index
    )
    if reduction == "mean":
        total = _reduce(F, weights, "sum")
        # if no target counts, the loss is NaN but its gradient is 0
        weights = weights / F.where(total == 0, 1, total)
    place = (1,) if len(shape) == 1 else (target.shape[0], 1, *target.shape[1:])
    # compare with each position rather than scatter: a comparison fuses with what follows
    one_hot = F.at_index(F.view(index, shape=place), dim=dim, shape=shape, keepdim=True)
    return F.where(one_hot, F.view(F.where(counted, self * -weights, 0), shape=place), 0)
