"""Layer 2 · prims: variances, norms and sums of exponentials along dimensions."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from wengert.kernels import moments as kernels
from wengert.prims.families import reduction
from wengert.prims.record import case
from wengert.prims.reduce import spread

Dims = tuple[int, ...]

# -- variances ------------------------------------------------------------------------------------

_SAMPLES = tuple(
    case(shape, dim=dim, correction=correction, keepdim=keepdim)
    for shape, dim, correction, keepdim in (
        ((4,), (0,), 1, False),
        ((2, 3), (1,), 1, True),
        ((2, 3), (0, 1), 0, False),
        ((2, 3, 4), (0, 2), 1.5, False),
        ((0, 3), (1,), 1, False),
    )
)


def _slope_of_var(
    F: Any, g: Any, self: Any, shape: Dims, dim: Dims, correction: float, keepdim: bool
) -> Any:
    freedom = math.prod([shape[i] for i in dim]) - correction
    apart = self - F.mean_dim(self, dim=dim, keepdim=True)
    return spread(F, g, shape, dim, keepdim) * (apart * (2 / freedom if freedom > 0 else math.inf))


def _slope_of_root(F: Any, g: Any, result: Any) -> Any:
    """Return g / (2 * result), and 0 where the result is 0, in derivatives of every order."""
    flat = result == 0
    return F.where(flat, 0, g / (F.where(flat, 1, result) * 2))


def _slope_beside_mean(
    F: Any,
    g: Any,
    result: Any,
    self: Any,
    shape: Dims,
    dim: Dims,
    correction: float,
    keepdim: bool,
) -> Any:
    """Return the slope of a variance, or of the deviation `result`, next to a mean's.

    For too few elements it is NaN, or 0 where `g` is 0.
    """
    if math.prod([shape[i] for i in dim]) > correction:
        root = g if result is None else _slope_of_root(F, g, result)
        return _slope_of_var(F, root, self, shape, dim, correction, keepdim)
    unasked = g == 0
    root = g if result is None else _slope_of_root(F, g, F.where(unasked, 1, result))
    apart = self - F.mean_dim(self, dim=dim, keepdim=True)
    infinite = F.where(unasked, g, math.inf)
    return spread(F, root, shape, dim, keepdim) * (apart * spread(F, infinite, shape, dim, keepdim))


def _slope_of_mean(F: Any, g: Any, shape: Dims, dim: Dims, keepdim: bool) -> Any:
    return spread(F, g / math.prod([shape[i] for i in dim]), shape, dim, keepdim)


# an empty tuple means all dimensions
_ALL = {"dim": lambda self, dim: None if len(dim) == self.ndim else dim}

_moment = partial(reduction, conj="explicit", shows=_ALL, overloaded=True)

_moment(
    "var",
    kernels.var,
    overload="correction",
    vjp=lambda F, g, self, self_shape, dim, correction, keepdim: _slope_of_var(
        F, g, self, self_shape, dim, correction, keepdim
    ),
    cases=_SAMPLES,
    doc="the variance along dimensions",
    fused="whole",
    casts=True,
)
_moment(
    "std",
    kernels.std,
    overload="correction",
    vjp=lambda F, g, self, result, self_shape, dim, correction, keepdim: _slope_of_var(
        F, _slope_of_root(F, g, result), self, self_shape, dim, correction, keepdim
    ),
    cases=_SAMPLES,
    doc="the standard deviation along dimensions; where it is 0, so is its derivative",
    fused="whole",
    casts=True,
)
_moment(
    "var_mean",
    kernels.var_mean,
    vjp=lambda F, g, self, self_shape, dim, correction, keepdim: (
        _slope_beside_mean(F, g[0], None, self, self_shape, dim, correction, keepdim)
        + _slope_of_mean(F, g[1], self_shape, dim, keepdim)
    ),
    outputs=2,
    cases=_SAMPLES,
    doc="the variance and the mean along dimensions",
)
_moment(
    "std_mean",
    kernels.std_mean,
    vjp=lambda F, g, self, result, self_shape, dim, correction, keepdim: (
        _slope_beside_mean(F, g[0], result, self, self_shape, dim, correction, keepdim)
        + _slope_of_mean(F, g[1], self_shape, dim, keepdim)
    ),
    outputs=2,
    cases=_SAMPLES,
    doc="the standard deviation and the mean along dimensions",
)

# -- norms ----------------------------------------------------------------------------------------


def _slope_of_norm(
    F: Any,
    g: Any,
    self: Any,
    result: Any,
    self_shape: Dims,
    ord: float,
    dim: Dims,
    keepdim: bool,
) -> Any:
    if ord == 0:
        return F.zeros_like(self)
    if ord == 1:
        return F.sgn(self) * spread(F, g, self_shape, dim, keepdim)
    size = F.abs(self)
    if abs(ord) == math.inf:
        mask = size == spread(F, result, self_shape, dim, keepdim)
        share = F.to_copy(mask, dtype=result.dtype)
        share = share / F.sum_dim(share, dim=dim, keepdim=True)
        return F.sgn(self) * (share * spread(F, g, self_shape, dim, keepdim))
    # where the norm or an element is 0, replace each infinite factor by 0, computed from 1 in the
    # branch not taken: its derivatives must be finite
    flat = result == 0
    steep = F.pow_scalar(F.where(flat, 1, result), exponent=1 - ord)
    slope = self * spread(F, F.where(flat, 0, g * steep), self_shape, dim, keepdim)
    if ord == 2:
        return slope
    none = size == 0
    return slope * F.where(none, 0, F.pow_scalar(F.where(none, 1, size), exponent=ord - 2))


reduction(
    "vector_norm",
    kernels.vector_norm,
    vjp=_slope_of_norm,
    node="LinalgVectorNormBackward0",
    cases=tuple(
        case(shape, ord=ord, dim=dim, keepdim=keepdim)
        for shape, dim, keepdim in (
            ((), (), False),
            ((3,), (0,), False),
            ((2, 3), (0, 1), False),
            ((2, 3), (1,), True),
            ((2, 3, 4), (0, 2), False),
        )
        for ord in (2, 1, 3, 0.5, 2.5, math.inf, -math.inf, -1, 0)
    ),
    domain="nonzero",
    conj="explicit",
    shows=_ALL,
    doc="the norm along dimensions; where it has no derivative, 0 stands for it",
)

# -- exponentials ---------------------------------------------------------------------------------

reduction(
    "logsumexp",
    kernels.logsumexp,
    vjp=lambda F, g, self, result, self_shape, dim, keepdim: (
        spread(F, g, self_shape, dim, keepdim)
        * F.exp(self - spread(F, result, self_shape, dim, keepdim))
    ),
    promote="float",
    doc="the logarithm of the sum of the exponentials along dimensions",
    lacks="complex",
    fused="rows",
)
