"""Layer 3 · interp: tangents of primitives that no family covers (see NOTE [tangents])."""

from __future__ import annotations

from typing import Any

from wengert.interp import tangents_norms
from wengert.interp.dual import TANGENTS, WAYS, expanded
from wengert.prims import records
from wengert.prims.record import Primitive

__all__ = ["TANGENTS"]

# the module whose rules are registered on import
ENTERED = (tangents_norms,)


def _sum(terms: list[Any]) -> Any:
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total


@TANGENTS.of(records.log_softmax)
def _log_softmax(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    (t,) = tangents
    dim = params["dim"]
    dims = dim if isinstance(dim, tuple) else (dim,)
    return t - F.sum_dim(F.exp(result) * t, dim=dims, keepdim=True) if t.ndim else F.zeros_like(t)


def _with_product(product: Primitive) -> Any:
    """Return the rule of ``beta * self + alpha * product(a, b)``."""

    def rule(
        F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
    ) -> Any:
        beta, alpha = params["beta"], params["alpha"]
        _, a, b = primals
        own, t_a, t_b = tangents
        call = getattr(F, product.name)
        parts = [
            None if t_a is None else call(t_a, b),
            None if t_b is None else call(a, t_b),
        ]
        made = _sum(parts)
        if made is not None and alpha != 1:
            made = made * alpha
        if own is not None and beta != 1:
            own = own * beta
        return expanded(F, _sum([own, made]), result)

    return rule


@TANGENTS.of(records.convolution)
def _convolution(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    x, weight, _ = primals
    t_x, t_weight, t_bias = tangents
    parts = [
        None if t_x is None else F.convolution_without_bias(t_x, weight, **params),
        None if t_weight is None else F.convolution_without_bias(x, t_weight, **params),
    ]
    if t_bias is not None:
        column = F.unsafe_view(t_bias, shape=(t_bias.shape[0], *(1,) * (x.ndim - 2)))
        parts.append(F.expand(column, shape=tuple(result.shape)))
    return _sum(parts)


# -- sums of slopes times tangents -----------------------------------------------------------------


def _slope(
    F: Any, prim: Primitive, at: int, g: Any, primals: list[Any], result: Any, params: Any
) -> Any:
    """Return the reverse rule of one argument, applied to the cotangent `g`."""
    known = {**params, "result": result, **dict(zip(prim.args, primals, strict=True))}
    for arg, primal in zip(prim.args, primals, strict=True):
        known[f"{arg}_shape"], known[f"{arg}_dtype"] = tuple(primal.shape), primal.dtype
        known[f"{arg}_ordered"] = True
    rule = prim.rules[at]
    assert rule is not None
    return rule.call(F, g, *[known[name] for name in rule.names])


def _ones(F: Any, like: Any) -> Any:
    return F.zeros_like(like) + 1


def _reduced(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    """Sum slopes, for a cotangent of 1, times tangents: each element affects one result."""
    (t,) = tangents
    slope = _slope(F, prim, 0, _ones(F, result), primals, result, params)
    return _summed(F, prim, slope, t, params)


def _summed(F: Any, prim: Primitive, slope: Any, t: Any, params: Any) -> Any:
    if prim.conj == "explicit" and t.dtype.kind == "c":
        # the slope of a real result is a gradient
        terms = F.real(F.conj(slope) * t)
    else:
        terms = slope * t
    dim = params.get("dim", tuple(range(t.ndim)))
    return F.sum_dim(terms, dim=dim, keepdim=params.get("keepdim", False)) if dim else terms


@TANGENTS.of(records.var_mean, records.std_mean)
def _with_mean(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    (t,) = tangents
    spread, mean = result
    g = (_ones(F, spread), F.zeros_like(mean))
    slope = _slope(F, prim, 0, g, primals, spread, params)
    moved = F.mean_dim(t, dim=params["dim"], keepdim=params["keepdim"]) if params["dim"] else t
    return _summed(F, prim, slope, t, params), moved


def _loss(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    """Compute the tangent of a pairwise loss: element by element, then summed or averaged."""
    single = {**params, "reduction": "none"}
    parts = []
    for at, t in enumerate(tangents):
        if t is not None:
            parts.append(_slope(F, prim, at, t, primals, result, single))
    total = _sum(parts)
    if params["reduction"] == "none" or not total.ndim:
        return total
    reduce = F.sum_dim if params["reduction"] == "sum" else F.mean_dim
    return reduce(total, dim=tuple(range(total.ndim)), keepdim=False)


def _pooled(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    (t,), (x,) = tangents, primals
    adaptive = "output_size" in params
    find = F.adaptive_max_pool_indices if adaptive else F.max_pool_indices
    dims = len(params["output_size"] if adaptive else params["kernel_size"])
    return F.pool_pick(t, find(x, **params), dims=dims)


@TANGENTS.of(records.polar)
def _polar(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    (size, angle), (t_size, t_angle) = primals, tangents
    parts = []
    if t_size is not None:
        parts.append(F.polar(F.zeros_like(size) + 1, angle) * t_size)
    if t_angle is not None:
        parts.append(result * F.complex(F.zeros_like(t_angle), t_angle))
    return expanded(F, _sum(parts), result)


# -- systems of equations --------------------------------------------------------------------------


@TANGENTS.of(records.linalg_inv, records.linalg_inv_ex)
def _inverse(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    (t,) = tangents
    if isinstance(result, tuple):
        return (-(result[0] @ t @ result[0]),)
    return -(result @ t @ result)


@TANGENTS.of(records.linalg_solve, records.linalg_solve_ex, records.linalg_solve_triangular)
def _solution(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    """Solve ``A X' = B' - A' X``, or ``X' A = B' - X A'``."""
    a, (t_a, t_b) = primals[0], tangents
    several = isinstance(result, tuple)
    x = result[0] if several else result
    if t_a is not None and prim.name == "linalg_solve_triangular":
        shift = int(params["unitriangular"])
        t_a = F.triu(t_a, diagonal=shift) if params["upper"] else F.tril(t_a, diagonal=-shift)
    parts = [] if t_b is None else [expanded(F, t_b, x)]
    if t_a is not None and params.get("vector"):
        parts.append(-F.squeeze_dim(t_a @ F.unsqueeze(x, dim=x.ndim), dim=x.ndim))
    elif t_a is not None:
        parts.append(-(t_a @ x if params["left"] else x @ t_a))
    found = getattr(F, prim.name)(a, _sum(parts), **params)
    return found[:1] if several else found


@TANGENTS.of(records.linalg_det)
def _determinant(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    (t,), (x,) = tangents, primals
    return F.sum_dim(F.cofactor(x) * t, dim=(t.ndim - 2, t.ndim - 1), keepdim=False)


TANGENTS.of(records.addmm)(_with_product(records.mm))
TANGENTS.of(records.addmv)(_with_product(records.mv))
TANGENTS.of(records.baddbmm)(_with_product(records.bmm))
WAYS.update(reduced=_reduced, loss=_loss, pooled=_pooled)
