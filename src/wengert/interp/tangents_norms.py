"""Layer 3 · interp: tangents of normalisation.

The derivative of `standardise` is a symmetric matrix, so its reverse rule serves both modes. The
`known` means and variances do not affect derivatives.
"""

from __future__ import annotations

import math
from typing import Any

from wengert.interp.dual import TANGENTS
from wengert.prims import records
from wengert.prims.record import Primitive

__all__ = ["TANGENTS"]

Dims = tuple[int, ...]


def _column(F: Any, values: Any, ndim: int) -> Any:
    """Reshape numbers per channel so that they broadcast with an array of `ndim` dimensions."""
    if values is None or not values.ndim:
        return values
    return F.unsafe_view(values, shape=(*values.shape, *(1,) * (ndim - 2)))


def _one(F: Any, like: Any) -> Any:
    return F.zeros(shape=(), dtype=like.dtype) + 1


def _slopes(F: Any, t: Any, x: Any, known: Any, dim: Dims, eps: float) -> Any:
    return F.standardise_backward(t, x, _one(F, x), known, dim=dim, eps=eps)


def _combined(F: Any, weight: Any, slope: Any, standard: Any, tangents: Any, result: Any) -> Any:
    """Return the tangent of ``standard * weight + bias``."""
    _, t_weight, t_bias = tangents
    total: Any = None if slope is None else slope * weight
    for part in (None if t_weight is None else standard() * t_weight, t_bias):
        if part is not None:
            total = part if total is None else total + part
    if total is None:  # only if no argument has a derivative
        return F.zeros(shape=tuple(result.shape), dtype=result.dtype)
    if tuple(total.shape) != tuple(result.shape):
        total = F.expand(total, shape=tuple(result.shape))
    return total


@TANGENTS.of(records.standardise)
def _standardise(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    x, known = primals
    return _slopes(F, tangents[0], x, known, params["dim"], params["eps"])


@TANGENTS.of(records.layer_norm)
def _layer_norm(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    x, weight, _, known = primals
    dim, eps = params["dim"], params["eps"]
    t = tangents[0]
    slope = None if t is None else _slopes(F, t, x, known, dim, eps)
    return _combined(
        F,
        weight,
        slope,
        lambda: F.standardise(x, known, dim=dim, eps=eps),
        tangents[:3],
        result,
    )


@TANGENTS.of(records.batch_norm)
def _batch_norm(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    x, weight, _, known = primals
    dim, eps = (0, *range(2, x.ndim)), params["eps"]
    t = tangents[0]
    slope = None if t is None else _slopes(F, t, x, known, dim, eps)
    return _combined(
        F,
        _column(F, weight, x.ndim),
        slope,
        lambda: F.standardise(x, known, dim=dim, eps=eps),
        [t, *[_column(F, part, x.ndim) for part in tangents[1:3]]],
        result,
    )


@TANGENTS.of(records.batch_norm_fixed)
def _batch_norm_fixed(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    x, weight, _, mean, var = primals
    if any(part is not None for part in tangents[3:]):
        raise RuntimeError(
            "batch_norm is not differentiable wrt running_mean and running_var, they cannot have "
            "forward grad defined"
        )
    t, ndim = tangents[0], x.ndim
    scale = _column(F, F.rsqrt(var + params["eps"]), ndim)
    return _combined(
        F,
        _column(F, weight, ndim),
        None if t is None else t * scale,
        lambda: (x - _column(F, mean, ndim)) * scale,
        [t, *[_column(F, part, ndim) for part in tangents[1:3]]],
        result,
    )


@TANGENTS.of(records.group_norm)
def _group_norm(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    x, weight, _, known = primals
    t, shape, eps = tangents[0], tuple(x.shape), params["eps"]
    rows = shape[0] * params["groups"], math.prod(shape[1:]) // params["groups"]
    flat = F.unsafe_view(x, shape=rows)
    slope = None
    if t is not None:
        slope = _slopes(F, F.unsafe_view(t, shape=rows), flat, known, (1,), eps)
        slope = F.unsafe_view(slope, shape=shape)
    return _combined(
        F,
        _column(F, weight, x.ndim),
        slope,
        lambda: F.unsafe_view(F.standardise(flat, known, dim=(1,), eps=eps), shape=shape),
        [t, *[_column(F, part, x.ndim) for part in tangents[1:3]]],
        result,
    )


@TANGENTS.of(records.rms_norm)
def _rms_norm(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    (x, weight), (t, t_weight), dim = primals, tangents, params["dim"]
    count = max(math.prod([x.shape[i] for i in dim]), 1)

    def mean(values: Any) -> Any:
        return F.sum_dim(values, dim=dim, keepdim=True) / count

    scale = F.rsqrt(mean(x * x) + params["eps"])
    slope = None if t is None else (t - x * (mean(x * t) * (scale * scale))) * scale
    return _combined(F, weight, slope, lambda: x * scale, [t, t_weight, None], result)
