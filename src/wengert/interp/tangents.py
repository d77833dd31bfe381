"""Layer 3 · interp: tangents of primitives that no family explains (see NOTE [tangents])."""

from __future__ import annotations

from typing import Any

from wengert.interp.dual import TANGENTS, expanded
from wengert.prims.record import Primitive

__all__ = ["TANGENTS"]


def _sum(terms: list[Any]) -> Any:
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total


def _log_softmax(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    (t,) = tangents
    dim = params["dim"]
    dims = dim if isinstance(dim, tuple) else (dim,)
    return t - F.sum_dim(F.exp(result) * t, dim=dims, keepdim=True) if t.ndim else F.zeros_like(t)


def _logsumexp(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    (t,), (x,) = tangents, primals
    weights = F.softmax(x, dim=params["dim"])
    return F.sum_dim(weights * t, dim=params["dim"], keepdim=params["keepdim"])


def _with_product(product: str) -> Any:
    """The rule of ``beta * self + alpha * product(a, b)``."""

    def rule(
        F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
    ) -> Any:
        beta, alpha = params["beta"], params["alpha"]
        _, a, b = primals
        own, t_a, t_b = tangents
        call = getattr(F, product)
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


def _inverse(
    F: Any, prim: Primitive, primals: list[Any], tangents: list[Any], result: Any, params: Any
) -> Any:
    (t,) = tangents
    return -_matmul(F, _matmul(F, result, t), result)


def _matmul(F: Any, a: Any, b: Any) -> Any:
    return F.mm(a, b) if a.ndim == b.ndim == 2 else F.bmm(a, b)


TANGENTS.update(
    log_softmax=_log_softmax,
    logsumexp=_logsumexp,
    addmm=_with_product("mm"),
    addmv=_with_product("mv"),
    baddbmm=_with_product("bmm"),
    convolution=_convolution,
    linalg_inv=_inverse,
)
