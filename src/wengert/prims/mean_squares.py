"""Layer 2 · prims: RMS normalisation."""

from __future__ import annotations

import math
from typing import Any

from wengert.kernels import normalisation as kernels
from wengert.prims.families import general
from wengert.prims.record import case

Dims = tuple[int, ...]


def _mean(F: Any, values: Any, shape: Dims, dim: Dims) -> Any:
    return F.sum_dim(values, dim=dim, keepdim=True) / max(math.prod([shape[i] for i in dim]), 1)


def _steepness(F: Any, self: Any, shape: Dims, dim: Dims, eps: float) -> Any:
    """Return 1 / sqrt(mean of the squares)."""
    return F.rsqrt(_mean(F, self * self, shape, dim) + eps)


def _slope_of_rms_norm(
    F: Any, g: Any, self: Any, weight: Any, self_shape: Dims, dim: Dims, eps: float
) -> Any:
    weighed = g * weight
    scale = _steepness(F, self, self_shape, dim, eps)
    part = _mean(F, weighed * self, self_shape, dim) * (scale * scale)
    return (weighed - self * part) * scale


general(
    "rms_norm",
    kernels.rms_norm,
    vjp=(
        _slope_of_rms_norm,
        lambda F, g, self, self_shape, weight_shape, dim, eps: F.sum_to(
            g * self * _steepness(F, self, self_shape, dim, eps), shape=weight_shape
        ),
    ),
    node="MulBackward0",
    cases=(
        case((2, 3), (3,), dim=(1,), eps=0.1),
        case((2, 3, 2), (3, 2), dim=(1, 2), eps=0.1),
        case((2, 3), (), dim=(1,), eps=0.1),
        case((0, 3), (3,), dim=(1,), eps=0.1),
        case((2, 0), (0,), dim=(1,), eps=0.1),
    ),
    doc="self over the root of the mean of its squares along the last dimensions, times weights",
    raises=False,
    sparsity="normalised",
    tangents="parts",
)
