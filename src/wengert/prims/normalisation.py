"""Layer 2 · prims: normalisation of layers, groups and batches.

A weight or bias without dimensions stands for none. The derivative of `standardise` is
``(I - 1 1ᵀ / n - y yᵀ / n) / s`` for a result y, n elements and the standard deviation s; so it is
symmetric, and its transpose is it itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels import normalisation as kernels
from wengert.prims.families import general
from wengert.prims.record import case

Dims = tuple[int, ...]

_ONE = np.ones(())


def _none(rng: Any) -> Any:
    return _ONE


def _positive(*shape: int) -> Any:
    return lambda rng: rng.uniform(0.5, 2.0, shape)


_STANDARDISED: tuple[tuple[Dims, Dims], ...] = (
    ((3,), (0,)),
    ((2, 3), (1,)),
    ((4, 2), (0,)),
    ((2, 3, 2), (1, 2)),
    ((3, 2, 2), (0, 2)),
    ((2, 2, 1, 2), (0, 2, 3)),
    ((0, 3), (1,)),
    ((3, 0), (1,)),
)


def _curvature(F: Any, g: Any, self: Any, input: Any, result: Any, dim: Dims, eps: float) -> Any:
    """The derivative of ``<g, standardise_backward(self, input)>`` by the input."""
    scale = F.rsqrt(F.var(input, dim=dim, correction=0, keepdim=True) + eps)
    standard = F.standardise(input, dim=dim, eps=eps)
    other = F.standardise_backward(g, input, dim=dim, eps=eps)
    total = standard * F.mean_dim(g * result, dim=dim, keepdim=True)
    total = total + other * F.mean_dim(self * standard, dim=dim, keepdim=True)
    total = total + result * F.mean_dim(g * standard, dim=dim, keepdim=True)
    return -scale * total


general(
    "standardise",
    kernels.standardise,
    params=("dim", "eps"),
    vjp=(lambda F, g, self, dim, eps: F.standardise_backward(g, self, dim=dim, eps=eps),),
    cases=tuple(case(shape, dim=dim, eps=0.1) for shape, dim in _STANDARDISED),
    doc="distances from means along dimensions, over standard deviations",
)
general(
    "standardise_backward",
    kernels.standardise_backward,
    args=("self", "input"),
    params=("dim", "eps"),
    vjp=(
        lambda F, g, input, dim, eps: F.standardise_backward(g, input, dim=dim, eps=eps),
        _curvature,
    ),
    cases=tuple(case(shape, shape, dim=dim, eps=0.1) for shape, dim in _STANDARDISED),
    doc="the derivative of standardise, which is symmetric, times self",
)

# -- layers ---------------------------------------------------------------------------------------


def _slope_of_layer_norm(
    F: Any, g: Any, self: Any, weight: Any, weight_shape: Dims, dim: Dims, eps: float
) -> Any:
    weighed = g * weight if weight_shape else g
    return F.standardise_backward(weighed, self, dim=dim, eps=eps)


general(
    "layer_norm",
    kernels.layer_norm,
    args=("self", "weight", "bias"),
    params=("dim", "eps"),
    vjp=(
        _slope_of_layer_norm,
        lambda F, g, self, weight_shape, dim, eps: F.sum_to(
            g * F.standardise(self, dim=dim, eps=eps), shape=weight_shape
        ),
        lambda F, g, bias_shape: F.sum_to(g, shape=bias_shape),
    ),
    node="NativeLayerNormBackward0",
    cases=(
        case((2, 3), (3,), (3,), dim=(1,), eps=0.1),
        case((3,), (3,), _none, dim=(0,), eps=0.1),
        case((2, 3, 2), (3, 2), (3, 2), dim=(1, 2), eps=0.1),
        case((2, 1, 3), _none, (3,), dim=(2,), eps=0.1),
        case((0, 3), (3,), (3,), dim=(1,), eps=0.1),
        case((2, 0), (0,), (0,), dim=(1,), eps=0.1),
    ),
    doc="standardise along the last dimensions, times weights, plus biases",
)

# -- batches --------------------------------------------------------------------------------------


def _column(values: Any, F: Any, shape: Dims, ndim: int) -> Any:
    """Numbers of the channels in a shape that broadcasts with an array of `ndim` dimensions."""
    return F.unsafe_view(values, shape=(*shape, *[1] * (ndim - 2))) if shape else values


def _apart_from_channels(shape: Dims) -> Dims:
    return (0, *range(2, len(shape)))


def _slope_of_batch_norm(
    F: Any, g: Any, self: Any, weight: Any, self_shape: Dims, weight_shape: Dims, eps: float
) -> Any:
    weighed = g * _column(weight, F, weight_shape, len(self_shape)) if weight_shape else g
    return F.standardise_backward(weighed, self, dim=_apart_from_channels(self_shape), eps=eps)


def _weights_of_batch_norm(F: Any, g: Any, self: Any, self_shape: Dims, eps: float) -> Any:
    dim = _apart_from_channels(self_shape)
    return F.sum_dim(g * F.standardise(self, dim=dim, eps=eps), dim=dim, keepdim=False)


def _sum_by_channel(F: Any, g: Any, self_shape: Dims) -> Any:
    return F.sum_dim(g, dim=_apart_from_channels(self_shape), keepdim=False)


general(
    "batch_norm",
    kernels.batch_norm,
    args=("self", "weight", "bias"),
    params=("eps",),
    vjp=(_slope_of_batch_norm, _weights_of_batch_norm, _sum_by_channel),
    node="NativeBatchNormBackward0",
    cases=(
        case((4, 3), (3,), (3,), eps=0.1),
        case((3, 2, 2), (2,), _none, eps=0.1),
        case((2, 3, 1, 2), _none, (3,), eps=0.1),
        case((0, 3), (3,), (3,), eps=0.1),
    ),
    doc="standardise along all dimensions but the second, times weights, plus biases",
)


def _slope_of_fixed(
    F: Any, g: Any, weight: Any, var: Any, self_shape: Dims, weight_shape: Dims,
    var_shape: Dims, eps: float,
) -> Any:
    scale = F.rsqrt(var + eps)
    if weight_shape:
        scale = scale * weight
    return g * _column(scale, F, var_shape, len(self_shape))


def _weights_of_fixed(
    F: Any, g: Any, self: Any, mean: Any, var: Any, self_shape: Dims, var_shape: Dims, eps: float
) -> Any:
    apart = self - _column(mean, F, var_shape, len(self_shape))
    sums = F.sum_dim(g * apart, dim=_apart_from_channels(self_shape), keepdim=False)
    return sums * F.rsqrt(var + eps)


general(
    "batch_norm_fixed",
    kernels.batch_norm_fixed,
    args=("self", "weight", "bias", "mean", "var"),
    params=("eps",),
    vjp=(_slope_of_fixed, _weights_of_fixed, _sum_by_channel, None, None),
    fixed=("mean", "var"),
    node="NativeBatchNormBackward0",
    cases=(
        case((4, 3), (3,), (3,), _positive(3), _positive(3), eps=0.1),
        case((3, 2, 2), (2,), _none, _positive(2), _positive(2), eps=0.1),
        case((0, 3), _none, (3,), _positive(3), _positive(3), eps=0.1),
    ),
    doc="batch_norm with means and variances that are given",
)

# -- groups ---------------------------------------------------------------------------------------


def _rows(shape: Dims, groups: int) -> Dims:
    """The shape of an array with a row for each group."""
    return shape[0] * groups, math.prod(shape[1:]) // groups


def _slope_of_group_norm(
    F: Any,
    g: Any,
    self: Any,
    weight: Any,
    self_shape: Dims,
    weight_shape: Dims,
    groups: int,
    eps: float,
) -> Any:
    weighed = g * _column(weight, F, weight_shape, len(self_shape)) if weight_shape else g
    rows = _rows(self_shape, groups)
    slope = F.standardise_backward(
        F.unsafe_view(weighed, shape=rows), F.unsafe_view(self, shape=rows), dim=(1,), eps=eps
    )
    return F.unsafe_view(slope, shape=self_shape)


def _weights_of_group_norm(
    F: Any, g: Any, self: Any, self_shape: Dims, groups: int, eps: float
) -> Any:
    rows = F.unsafe_view(self, shape=_rows(self_shape, groups))
    standard = F.unsafe_view(F.standardise(rows, dim=(1,), eps=eps), shape=self_shape)
    return F.sum_dim(g * standard, dim=_apart_from_channels(self_shape), keepdim=False)


general(
    "group_norm",
    kernels.group_norm,
    args=("self", "weight", "bias"),
    params=("groups", "eps"),
    vjp=(_slope_of_group_norm, _weights_of_group_norm, _sum_by_channel),
    node="NativeGroupNormBackward0",
    cases=(
        case((2, 4, 3), (4,), (4,), groups=2, eps=0.1),
        case((2, 2), (2,), _none, groups=1, eps=0.1),
        case((1, 2, 2, 2), _none, (2,), groups=2, eps=0.1),
        case((0, 4, 3), (4,), (4,), groups=2, eps=0.1),
        case((2, 4, 0), (4,), (4,), groups=2, eps=0.1),
    ),
    doc="standardise over groups of channels, times weights, plus biases",
)

# -- mean squares ---------------------------------------------------------------------------------


def _steepness(F: Any, self: Any, dim: Dims, eps: float) -> Any:
    """One over the root of the mean of the squares."""
    return F.rsqrt(F.mean_dim(self * self, dim=dim, keepdim=True) + eps)


def _slope_of_rms_norm(
    F: Any, g: Any, self: Any, weight: Any, weight_shape: Dims, dim: Dims, eps: float
) -> Any:
    weighed = g * weight if weight_shape else g
    scale = _steepness(F, self, dim, eps)
    part = F.mean_dim(weighed * self, dim=dim, keepdim=True) * (scale * scale)
    return (weighed - self * part) * scale


general(
    "rms_norm",
    kernels.rms_norm,
    args=("self", "weight"),
    params=("dim", "eps"),
    vjp=(
        _slope_of_rms_norm,
        lambda F, g, self, weight_shape, dim, eps: F.sum_to(
            g * self * _steepness(F, self, dim, eps), shape=weight_shape
        ),
    ),
    node="MulBackward0",
    cases=(
        case((2, 3), (3,), dim=(1,), eps=0.1),
        case((2, 3, 2), (3, 2), dim=(1, 2), eps=0.1),
        case((2, 3), _none, dim=(1,), eps=0.1),
        case((0, 3), (3,), dim=(1,), eps=0.1),
        case((2, 0), (0,), dim=(1,), eps=0.1),
    ),
    doc="self over the root of the mean of its squares along the last dimensions, times weights",
)
