"""Layer 2 · prims: normalisation of layers, groups and batches.

A 0-d weight or bias applies to all elements: 1 and 0 if there is none.

The derivative of `standardise` is ``(I - 1 1ᵀ / n - y yᵀ / n) / s`` for a result y of n elements
and the standard deviation s: a symmetric matrix, so that `standardise_backward` is its own
transpose.

NOTE [known moments]
Means and variances are functions of the input, and the derivatives account for that. An argument
`known` (the result of `moments`, or an empty array) only saves recomputing them: it has no
derivative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels import normalisation as kernels
from wengert.kernels import normalisation_slopes as slopes
from wengert.prims import moments as moments
from wengert.prims.families import constant, general
from wengert.prims.pull import are_raw
from wengert.prims.record import case, not_implemented

Dims = tuple[int, ...]


def _positive(*shape: int) -> Any:
    return lambda rng: rng.uniform(0.5, 2.0, shape)


_NOTHING = np.empty((3, 0))
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


def _unknown(rng: Any) -> Any:
    return _NOTHING


constant(
    "channel_sums",
    kernels.channel_sums,
    cases=tuple(case(shape) for shape in ((4, 3), (2, 3, 2), (2, 2, 1, 2), (0, 3), (2, 3, 0))),
    doc="sums over all dimensions but the second, on raw arrays",
    raises=False,
)
constant(
    "moments",
    kernels.moments,
    cases=tuple(case(shape, dim=dim, eps=0.1) for shape, dim in _STANDARDISED),
    doc="means, variances and one over standard deviations along dimensions, in three rows",
    raises=False,
    fused="kernel",
)


def _weighed(F: Any, values: Any, weight: Any, shape: Dims, dim: Dims, ndim: int) -> Any:
    """Multiply values by the weights, of `shape`, of `standardise_backward`."""
    if shape and dim[0] != ndim - len(dim):
        weight = _column(F, weight, shape, ndim)
    return values * weight


def _down(F: Any, values: Any, shape: Dims, dim: Dims, ndim: int) -> Any:
    """Compute the transpose of `_weighed`: the sums of the values of each weight."""
    if shape and dim[0] != ndim - len(dim):
        return F.sum_dim(values, dim=dim, keepdim=False)
    return F.sum_to(values, shape=shape)


def _column(F: Any, values: Any, shape: Dims, ndim: int) -> Any:
    """Reshape numbers per channel to broadcast with an array of `ndim` dimensions."""
    return F.unsafe_view(values, shape=(*shape, *[1] * (ndim - 2))) if shape else values


def _unweighed(F: Any, g: Any, input: Any, known: Any, dtype: Any, dim: Dims, eps: float) -> Any:
    one = F.zeros(shape=(), dtype=dtype) + 1
    return F.standardise_backward(g, input, one, known, dim=dim, eps=eps)


def _transposed(
    F: Any,
    g: Any,
    input: Any,
    weight: Any,
    known: Any,
    self_shape: Dims,
    self_dtype: Any,
    weight_shape: Dims,
    dim: Dims,
    eps: float,
) -> Any:
    slope = _unweighed(F, g, input, known, self_dtype, dim, eps)
    return _weighed(F, slope, weight, weight_shape, dim, len(self_shape))


def _slope_by_weight(
    F: Any,
    g: Any,
    self: Any,
    input: Any,
    known: Any,
    self_shape: Dims,
    self_dtype: Any,
    weight_shape: Dims,
    dim: Dims,
    eps: float,
) -> Any:
    slope = _unweighed(F, g, input, known, self_dtype, dim, eps)
    return _down(F, self * slope, weight_shape, dim, len(self_shape))


def _curvature(
    F: Any,
    g: Any,
    self: Any,
    input: Any,
    weight: Any,
    known: Any,
    result: Any,
    self_shape: Dims,
    self_dtype: Any,
    weight_shape: Dims,
    dim: Dims,
    eps: float,
) -> Any:
    """Return the gradient of the input of ``<g, standardise_backward(self, input)>``."""
    scale = F.rsqrt(F.var(input, dim=dim, correction=0, keepdim=True) + eps)
    standard = F.standardise(input, known, dim=dim, eps=eps)
    other = _unweighed(F, g, input, known, self_dtype, dim, eps)
    weighed = _weighed(F, self, weight, weight_shape, dim, len(self_shape))
    total = standard * F.mean_dim(g * result, dim=dim, keepdim=True)
    total = total + other * F.mean_dim(weighed * standard, dim=dim, keepdim=True)
    total = total + result * F.mean_dim(g * standard, dim=dim, keepdim=True)
    return -scale * total


general(
    "standardise",
    kernels.standardise,
    refuses=not_implemented("LayerNormKernelImpl"),
    vjp=(
        lambda F, g, self, known, self_dtype, dim, eps: _unweighed(
            F, g, self, known, self_dtype, dim, eps
        ),
        None,
    ),
    cases=tuple(case(shape, _unknown, dim=dim, eps=0.1) for shape, dim in _STANDARDISED),
    doc="distances from means along dimensions, over standard deviations",
    raises=False,
    sparsity="normalised",
    fused="kernel",
    tangents="diagonal",
)
general(
    "standardise_backward",
    slopes.standardise_backward,
    refuses=not_implemented("LayerNormKernelImpl"),
    vjp=(_transposed, _curvature, _slope_by_weight, None),
    cases=(
        *[case(shape, shape, (), _unknown, dim=dim, eps=0.1) for shape, dim in _STANDARDISED],
        case((2, 3, 2), (2, 3, 2), (3, 2), _unknown, dim=(1, 2), eps=0.1),
        case((2, 3, 2), (2, 3, 2), (3,), _unknown, dim=(0, 2), eps=0.1),
        case((1, 3, 2), (1, 3, 2), (3,), _unknown, dim=(0, 2), eps=0.1),
    ),
    doc="the derivative of standardise, a symmetric matrix, times self and weights",
    raises=False,
    fused="kernel",
)


def _spread(F: Any, g: Any, shape: Dims, dim: Dims, over: str) -> Any:
    """Return the cotangent of each of the products that `standardised_sum` adds up."""
    if over == "across":
        return g
    if over == "last":
        return F.unsqueeze(g, dim=2)
    return F.unsafe_view(g, shape=tuple([1 if i in dim else n for i, n in enumerate(shape)]))


def _slope_of_sum(
    F: Any,
    g: Any,
    self: Any,
    input: Any,
    known: Any,
    self_shape: Dims,
    self_dtype: Any,
    dim: Dims,
    eps: float,
    over: str,
) -> Any:
    spread = _spread(F, g, self_shape, dim, over)
    return _unweighed(F, self * spread, input, known, self_dtype, dim, eps)


general(
    "standardised_sum",
    slopes.standardised_sum,
    refuses=not_implemented("LayerNormKernelImpl"),
    vjp=(
        lambda F, g, input, known, self_shape, dim, eps, over: (
            F.standardise(input, known, dim=dim, eps=eps) * _spread(F, g, self_shape, dim, over)
        ),
        _slope_of_sum,
        None,
    ),
    cases=tuple(
        case(shape, shape, _unknown, dim=dim, eps=0.1, over=over)
        for shape, dim, over in (
            ((3,), (0,), "across"),
            ((2, 3, 2), (1, 2), "across"),
            ((2, 3), (1,), "within"),
            ((4, 2), (0,), "within"),
            ((2, 2, 1, 2), (0, 2, 3), "within"),
            ((0, 3), (0,), "within"),
            ((0, 3), (1,), "across"),
            ((2, 2, 3), (1, 2), "last"),
            ((0, 2, 3), (1, 2), "last"),
        )
    ),
    doc="sums of the products of self and the standardised input",
    raises=False,
    fused="kernel",
)

# -- layers ---------------------------------------------------------------------------------------


def _slope_of_layer_norm(
    F: Any, g: Any, self: Any, weight: Any, known: Any, dim: Dims, eps: float
) -> Any:
    return F.standardise_backward(g, self, weight, known, dim=dim, eps=eps)


def _weights_of_layer_norm(
    F: Any, g: Any, self: Any, known: Any, weight_shape: Dims, dim: Dims, eps: float
) -> Any:
    sums = F.standardised_sum(g, self, known, dim=dim, eps=eps, over="across")
    return sums if weight_shape else F.sum(sums)


general(
    "layer_norm",
    kernels.layer_norm,
    overload="native_layer_norm.default",
    refuses=not_implemented("LayerNormKernelImpl"),
    vjp=(
        _slope_of_layer_norm,
        _weights_of_layer_norm,
        lambda F, g, bias_shape: F.sum_to(g, shape=bias_shape),
        None,
    ),
    node="NativeLayerNormBackward0",
    cases=(
        case((2, 3), (3,), (3,), _unknown, dim=(1,), eps=0.1),
        case((3,), (3,), (), _unknown, dim=(0,), eps=0.1),
        case((2, 3, 2), (3, 2), (3, 2), _unknown, dim=(1, 2), eps=0.1),
        case((2, 1, 3), (), (3,), _unknown, dim=(2,), eps=0.1),
        case((0, 3), (3,), (3,), _unknown, dim=(1,), eps=0.1),
        case((2, 0), (0,), (0,), _unknown, dim=(1,), eps=0.1),
    ),
    shows={
        "known": None,
        "input": "self",
        "dim": None,
        "eps": None,
        "bias_sym_sizes": None,
    },
    doc="standardise along the last dimensions, times weights, plus biases",
    raises=False,
    tangents="parts",
    sparsity="normalised",
    fused="kernel",
)

# -- batches --------------------------------------------------------------------------------------


def _apart_from_channels(ndim: int) -> Dims:
    return (0, *range(2, ndim))


def _slope_of_batch_norm(
    F: Any, g: Any, self: Any, weight: Any, known: Any, self_shape: Dims, eps: float
) -> Any:
    dim = _apart_from_channels(len(self_shape))
    return F.standardise_backward(g, self, weight, known, dim=dim, eps=eps)


def _by_channel(F: Any, values: Any, shape: Dims, ndim: int) -> Any:
    """Return the sums over all dimensions but the second, or over all if `shape` has none."""
    if not shape:
        return F.sum(values)
    if are_raw(values):
        return F.channel_sums(values)
    return F.sum_dim(values, dim=_apart_from_channels(ndim), keepdim=False)


def _weights_of_batch_norm(
    F: Any, g: Any, self: Any, known: Any, self_shape: Dims, weight_shape: Dims, eps: float
) -> Any:
    dim = _apart_from_channels(len(self_shape))
    sums = F.standardised_sum(g, self, known, dim=dim, eps=eps, over="within")
    return sums if weight_shape else F.sum(sums)


def _biases(F: Any, g: Any, self_shape: Dims, bias_shape: Dims) -> Any:
    return _by_channel(F, g, bias_shape, len(self_shape))


general(
    "batch_norm",
    kernels.batch_norm,
    refuses=not_implemented("batch_norm"),
    vjp=(_slope_of_batch_norm, _weights_of_batch_norm, _biases, None),
    node="NativeBatchNormBackward0",
    cases=(
        case((4, 3), (3,), (3,), _unknown, eps=0.1),
        case((3, 2, 2), (2,), (), _unknown, eps=0.1),
        case((2, 3, 1, 2), (), (3,), _unknown, eps=0.1),
        case((0, 3), (3,), (3,), _unknown, eps=0.1),
    ),
    layout="suggested",
    shows={
        "known": None,
        "input": "self",
        "training": lambda: True,
        "bias_sym_sizes": None,
    },
    doc="standardise along all dimensions but the second, times weights, plus biases",
    raises=False,
    tangents="parts",
    batching="parts",
    sparsity="normalised",
    fused="kernel",
)


def _slope_of_fixed(
    F: Any, g: Any, weight: Any, var: Any, self_shape: Dims, var_shape: Dims, eps: float
) -> Any:
    scale = F.rsqrt(var + eps) * weight
    return g * _column(F, scale, var_shape, len(self_shape))


def _weights_of_fixed(
    F: Any,
    g: Any,
    self: Any,
    mean: Any,
    var: Any,
    self_shape: Dims,
    weight_shape: Dims,
    var_shape: Dims,
    eps: float,
) -> Any:
    apart = self - _column(F, mean, var_shape, len(self_shape))
    sums = _by_channel(F, g * apart, var_shape, len(self_shape)) * F.rsqrt(var + eps)
    return F.sum_to(sums, shape=weight_shape)


general(
    "batch_norm_fixed",
    kernels.batch_norm_fixed,
    refuses=not_implemented("batch_norm"),
    vjp=(_slope_of_fixed, _weights_of_fixed, _biases, None, None),
    node="NativeBatchNormBackward0",
    cases=(
        case((4, 3), (3,), (3,), _positive(3), _positive(3), eps=0.1),
        case((3, 2, 2), (2,), (), _positive(2), _positive(2), eps=0.1),
        case((0, 3), (), (3,), _positive(3), _positive(3), eps=0.1),
    ),
    layout="suggested",
    doc="batch_norm with means and variances that are given",
    raises=False,
    batching="parts",
    sparsity="normalised",
)

# -- groups ---------------------------------------------------------------------------------------


def _rows(shape: Dims, groups: int) -> Dims:
    """Return the shape of an array with a row for each group."""
    return shape[0] * groups, math.prod(shape[1:]) // groups


def _slope_of_group_norm(
    F: Any,
    g: Any,
    self: Any,
    weight: Any,
    known: Any,
    self_shape: Dims,
    self_dtype: Any,
    weight_shape: Dims,
    groups: int,
    eps: float,
) -> Any:
    if are_raw(g, self, weight, known):
        return F.group_norm_backward(g, self, weight, known, groups=groups, eps=eps)
    weighed = g * _column(F, weight, weight_shape, len(self_shape))
    rows = _rows(self_shape, groups)
    flat = F.unsafe_view(weighed, shape=rows), F.unsafe_view(self, shape=rows)
    slope = _unweighed(F, *flat, known, self_dtype, (1,), eps)
    return F.unsafe_view(slope, shape=self_shape)


def _weights_of_group_norm(
    F: Any,
    g: Any,
    self: Any,
    known: Any,
    self_shape: Dims,
    weight_shape: Dims,
    groups: int,
    eps: float,
) -> Any:
    n, channels = self_shape[:2]
    parts = (n * groups, channels // groups, math.prod(self_shape[2:]))
    sums = F.standardised_sum(
        F.unsafe_view(g, shape=parts),
        F.unsafe_view(self, shape=parts),
        known,
        dim=(1, 2),
        eps=eps,
        over="last",
    )
    if not weight_shape:
        return F.sum(sums)
    return F.sum_dim(F.unsafe_view(sums, shape=(n, channels)), dim=(0,), keepdim=False)


general(
    "group_norm",
    kernels.group_norm,
    refuses=not_implemented("GroupNormKernelImpl"),
    vjp=(_slope_of_group_norm, _weights_of_group_norm, _biases, None),
    node="NativeGroupNormBackward0",
    cases=(
        case((2, 4, 3), (4,), (4,), _unknown, groups=2, eps=0.1),
        case((2, 2), (2,), (), _unknown, groups=1, eps=0.1),
        case((1, 2, 2, 2), (), (2,), _unknown, groups=2, eps=0.1),
        case((0, 4, 3), (4,), (4,), _unknown, groups=2, eps=0.1),
        case((2, 4, 0), (4,), (4,), _unknown, groups=2, eps=0.1),
    ),
    layout="suggested",
    shows={
        "known": None,
        "input": "self",
        "group": "groups",
        "N": lambda self: self.shape[0],
        "C": lambda self: self.shape[1],
        "HxW": lambda self: math.prod(self.shape[2:]),
        "bias_sym_sizes": None,
    },
    doc="standardise over groups of channels, times weights, plus biases",
    raises=False,
    tangents="parts",
    fused="kernel",
)
constant(
    "group_norm_backward",
    slopes.group_norm_backward,
    refuses=not_implemented("GroupNormKernelImpl"),
    args=("self", "input", "weight", "known"),
    cases=(
        case((2, 4, 3), (2, 4, 3), (4,), _unknown, groups=2, eps=0.1),
        case((2, 2), (2, 2), (), _unknown, groups=1, eps=0.1),
        case((0, 4, 3), (0, 4, 3), (4,), _unknown, groups=2, eps=0.1),
    ),
    doc="the cotangent of the input of group_norm, on raw arrays",
    raises=False,
    fused="kernel",
)
