"""Layer 3 · interp: tangents of primitives that no family covers (see NOTE [tangents])."""

from __future__ import annotations

from typing import Any

from wengert.interp.dual import TANGENTS, WAYS, Pushforward, expanded, through_parts
from wengert.prims import records
from wengert.prims.record import Primitive


def _sum(terms: list[Any]) -> Any:
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total


@TANGENTS.of(records.log_softmax)
def _log_softmax(push: Pushforward) -> Any:
    (t,), F, dim = push.tangents, push.F, push.params["dim"]
    if not t.ndim:
        return F.zeros_like(t)
    dims = dim if isinstance(dim, tuple) else (dim,)
    return t - F.sum_dim(F.exp(push.result) * t, dim=dims, keepdim=True)


def _with_product(product: Primitive) -> Any:
    """Return the rule of ``beta * self + alpha * product(a, b)``."""

    def rule(push: Pushforward) -> Any:
        beta, alpha = push.params["beta"], push.params["alpha"]
        (_, a, b), (own, t_a, t_b) = push.primals, push.tangents
        call = getattr(push.F, product.name)
        made = _sum([None if t_a is None else call(t_a, b), None if t_b is None else call(a, t_b)])
        if made is not None and alpha != 1:
            made = made * alpha
        if own is not None and beta != 1:
            own = own * beta
        return expanded(push.F, _sum([own, made]), push.result)

    return rule


@TANGENTS.of(records.convolution)
def _convolution(push: Pushforward) -> Any:
    (x, weight, _), (t_x, t_weight, t_bias) = push.primals, push.tangents
    F, params = push.F, push.params
    parts = [
        None if t_x is None else F.convolution_without_bias(t_x, weight, **params),
        None if t_weight is None else F.convolution_without_bias(x, t_weight, **params),
    ]
    if t_bias is not None:
        column = F.unsafe_view(t_bias, shape=(t_bias.shape[0], *(1,) * (x.ndim - 2)))
        parts.append(F.expand(column, shape=tuple(push.result.shape)))
    return _sum(parts)


@TANGENTS.of(records.batch_norm_fixed)
def _batch_norm_fixed(push: Pushforward) -> Any:
    if any(part is not None for part in push.tangents[3:]):
        raise RuntimeError(
            "batch_norm is not differentiable wrt running_mean and running_var, they cannot have "
            "forward grad defined"
        )
    return through_parts(push)


# -- sums of slopes times tangents -----------------------------------------------------------------


def _slope(push: Pushforward, at: int, g: Any) -> Any:
    """Return the reverse rule of one argument, applied to the cotangent `g`."""
    prim, primals = push.prim, push.primals
    known = {**push.params, "result": push.result, **dict(zip(prim.args, primals, strict=True))}
    for arg, primal in zip(prim.args, primals, strict=True):
        known[f"{arg}_shape"], known[f"{arg}_dtype"] = tuple(primal.shape), primal.dtype
        known[f"{arg}_ordered"] = True
    rule = prim.rules[at]
    assert rule is not None
    return rule.call(push.F, g, *[known[name] for name in rule.names])


def _ones(F: Any, like: Any) -> Any:
    return F.zeros_like(like) + 1


def _reduced(push: Pushforward) -> Any:
    """Sum slopes, for a cotangent of 1, times tangents: each element affects one result."""
    return _summed(push, _slope(push, 0, _ones(push.F, push.result)))


def _summed(push: Pushforward, slope: Any) -> Any:
    (t,), F, params = push.tangents, push.F, push.params
    if push.prim.conj == "explicit" and t.dtype.kind == "c":
        # the slope of a real result is a gradient
        terms = F.real(F.conj(slope) * t)
    else:
        terms = slope * t
    dim = params.get("dim", tuple(range(t.ndim)))
    return F.sum_dim(terms, dim=dim, keepdim=params.get("keepdim", False)) if dim else terms


@TANGENTS.of(records.var_mean, records.std_mean)
def _with_mean(push: Pushforward) -> Any:
    (t,), (spread, mean), F = push.tangents, push.result, push.F
    dim, keepdim = push.params["dim"], push.params["keepdim"]
    slope = _slope(push._replace(result=spread), 0, (_ones(F, spread), F.zeros_like(mean)))
    return _summed(push, slope), F.mean_dim(t, dim=dim, keepdim=keepdim) if dim else t


def _loss(push: Pushforward) -> Any:
    """Compute the tangent of a pairwise loss: element by element, then summed or averaged."""
    reduction = push.params["reduction"]
    single = push._replace(params={**push.params, "reduction": "none"})
    total = _sum([_slope(single, i, t) for i, t in enumerate(push.tangents) if t is not None])
    if reduction == "none" or not total.ndim:
        return total
    reduce = push.F.sum_dim if reduction == "sum" else push.F.mean_dim
    return reduce(total, dim=tuple(range(total.ndim)), keepdim=False)


def _pooled(push: Pushforward) -> Any:
    (t,), (x,), F, params = push.tangents, push.primals, push.F, push.params
    adaptive = "output_size" in params
    find = F.adaptive_max_pool_indices if adaptive else F.max_pool_indices
    dims = len(params["output_size"] if adaptive else params["kernel_size"])
    return F.pool_pick(t, find(x, **params), dims=dims)


# -- systems of equations --------------------------------------------------------------------------


@TANGENTS.of(records.linalg_inv, records.linalg_inv_ex)
def _inverse(push: Pushforward) -> Any:
    (t,), result = push.tangents, push.result
    if isinstance(result, tuple):
        return (-(result[0] @ t @ result[0]),)
    return -(result @ t @ result)


@TANGENTS.of(records.linalg_solve, records.linalg_solve_ex, records.linalg_solve_triangular)
def _solution(push: Pushforward) -> Any:
    """Solve ``A X' = B' - A' X``, or ``X' A = B' - X A'``."""
    a, (t_a, t_b) = push.primals[0], push.tangents
    F, name, result, params = push.F, push.prim.name, push.result, push.params
    several = isinstance(result, tuple)
    x = result[0] if several else result
    if t_a is not None and name == "linalg_solve_triangular":
        shift = int(params["unitriangular"])
        t_a = F.triu(t_a, diagonal=shift) if params["upper"] else F.tril(t_a, diagonal=-shift)
    parts = [] if t_b is None else [expanded(F, t_b, x)]
    if t_a is not None and params.get("vector"):
        parts.append(-F.squeeze_dim(t_a @ F.unsqueeze(x, dim=x.ndim), dim=x.ndim))
    elif t_a is not None:
        parts.append(-(t_a @ x if params["left"] else x @ t_a))
    found = getattr(F, name)(a, _sum(parts), **params)
    return found[:1] if several else found


@TANGENTS.of(records.linalg_det)
def _determinant(push: Pushforward) -> Any:
    (t,), (x,), F = push.tangents, push.primals, push.F
    return F.sum_dim(F.cofactor(x) * t, dim=(t.ndim - 2, t.ndim - 1), keepdim=False)


TANGENTS.of(records.addmm)(_with_product(records.mm))
TANGENTS.of(records.addmv)(_with_product(records.mv))
TANGENTS.of(records.baddbmm)(_with_product(records.bmm))
WAYS.update(reduced=_reduced, loss=_loss, pooled=_pooled)
