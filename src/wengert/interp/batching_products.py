"""Layer 3 · interp: batching rules of products, convolutions, solutions and losses of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.interp.batched import RULES, Call, Slot, aligned, each, spread
from wengert.interp.batching import leading

__all__ = ["RULES"]


def _mm(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    a, b = slots
    F = call.F
    if b.batched:
        return F.bmm(spread(F, a, call.size), b.value)
    n, m, k = a.value.shape
    rows = F.mm(F.unsafe_view(a.value, shape=(n * m, k)), b.value)
    return F.unsafe_view(rows, shape=(n, m, rows.shape[1]))


def _mv(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    a, v = slots
    F = call.F
    if not a.batched:
        return F.mm(v.value, F.t(a.value))
    if v.batched:
        return F.squeeze_dim(F.bmm(a.value, F.unsqueeze(v.value, dim=2)), dim=2)
    n, m, k = a.value.shape
    return F.unsafe_view(F.mv(F.unsafe_view(a.value, shape=(n * m, k)), v.value), shape=(n, m))


def _dot(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    a, b = slots
    F = call.F
    if a.batched and b.batched:
        return F.sum_dim(a.value * b.value, dim=(1,), keepdim=False)
    return F.mv(a.value, b.value) if a.batched else F.mv(b.value, a.value)


def _vdot(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    a, b = slots
    conjugate = Slot(call.F.conj(a.value), a.batched)
    return _dot(call, [conjugate, b], params)


def _added(product: str) -> Any:
    """The rule of ``beta * self + alpha * product(a, b)``."""

    def rule(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
        own, a, b = slots
        F = call.F
        made = Slot(a.value, a.batched), Slot(b.value, b.batched)
        if a.batched or b.batched:
            inner = Call(call.prim, F, call.size)
            result = Slot(RULES[product](inner, list(made), {}), True)
        else:
            result = Slot(getattr(F, product)(a.value, b.value), False)
        x, y = aligned(F, [own, result])
        y = y if params["alpha"] == 1 else y * params["alpha"]
        if params["beta"] == 0:
            return spread(F, Slot(y, result.batched), call.size)
        return y + (x if params["beta"] == 1 else x * params["beta"])

    return rule


def _bmm(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    return call.F.bmm(*call.spread(slots))


def _outer(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    a, b = call.spread(slots)
    return call.F.unsqueeze(a, dim=2) * call.F.unsqueeze(b, dim=1)


def _contract(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    label = 1 + max((*params["a"], *params["b"], *params["out"]), default=-1)
    labels = [
        (label, *params[name]) if slot.batched else params[name]
        for name, slot in zip("ab", slots, strict=True)
    ]
    values = [slot.value for slot in slots]
    return call(*values, a=labels[0], b=labels[1], out=(label, *params["out"]))


def _convolution(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """A batch of inputs joins the convolution's own; a batch of weights makes groups."""
    F, n = call.F, call.size
    x, weight = slots[:2]
    if len(slots) > 2:
        bare = [x, weight]
        plain = F.convolution_without_bias
    else:
        bare, plain = slots, call
    if not weight.batched:
        if not x.batched:
            made = spread(F, Slot(plain(x.value, weight.value, **params), False), n)
        else:
            inner = x.value.shape[1]
            joined = F.unsafe_view(x.value, shape=(n * inner, *x.value.shape[2:]))
            result = plain(joined, weight.value, **params)
            made = F.unsafe_view(result, shape=(n, inner, *result.shape[1:]))
    else:
        values = [spread(F, slot, n) for slot in bare]
        across = F.permute(values[0], dims=(1, 0, *range(2, values[0].ndim)))
        inner = across.shape[0]
        channels = F.unsafe_view(across, shape=(inner, n * across.shape[2], *across.shape[3:]))
        kernels = values[1]
        kernels = F.unsafe_view(kernels, shape=(n * kernels.shape[1], *kernels.shape[2:]))
        result = plain(channels, kernels, **{**params, "groups": n * params["groups"]})
        parted = F.unsafe_view(result, shape=(inner, n, result.shape[1] // n, *result.shape[2:]))
        made = F.permute(parted, dims=(1, 0, *range(2, parted.ndim)))
    if len(slots) > 2 and slots[2].value is not None:
        bias = spread(F, slots[2], n)
        shape = (n, 1, bias.shape[1], *(1,) * (made.ndim - 3))
        made = made + F.unsafe_view(bias, shape=shape)
    return made


def _first_only(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    if any(slot.batched for slot in slots[1:]):
        return each(call, slots, params)
    F, n = call.F, call.size
    inner = slots[0].value.shape[1]
    joined = F.unsafe_view(slots[0].value, shape=(n * inner, *slots[0].value.shape[2:]))
    result = call(joined, slots[1].value, **params)
    return F.unsafe_view(result, shape=(n, inner, *result.shape[1:]))


def _solve(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    a, b = slots
    F = call.F
    if not params["vector"]:
        return call(*aligned(F, slots), **params)
    columns = Slot(F.unsqueeze(b.value, dim=b.value.ndim), b.batched)
    result = call(*aligned(F, [a, columns]), **{**params, "vector": False})
    return F.squeeze_dim(result, dim=result.ndim - 1)


def _searched(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    edges, values = slots
    if not edges.batched and edges.ndim == 1:
        return call(edges.value, values.value, **params)
    if values.ndim == edges.ndim:
        return leading(call, slots, params)
    return each(call, slots, params)


def _is_absent(slot: Slot) -> bool:
    """Whether weights were not given: a single 1 without dimensions stands for them."""
    return slot.value is None or slot.value.ndim == 0


def _counts_all(slots: list[Slot], params: dict[str, Any]) -> bool:
    """Whether the losses of all samples count alike, so that they may be computed one by one."""
    _, target, weight = slots
    if weight.batched:
        return False
    if params["reduction"] != "mean":
        return True
    return _is_absent(weight) and not bool((target.value == params["ignore_index"]).any())


def _of_class(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """The samples of all values of the batch are a batch of samples."""
    scores, _, weight = slots
    F = call.F
    floating = scores.value.dtype.kind == "f"
    if scores.ndim > 2 or not floating or not _counts_all(slots, params):
        return each(call, slots, params)
    values, target = call.spread(slots[:2])
    rows = F.unsafe_view(values, shape=(target.size, values.shape[-1]))
    places = F.unsafe_view(target, shape=(target.size,))
    losses = call(rows, places, weight.value, **{**params, "reduction": "none"})
    losses = F.unsafe_view(losses, shape=tuple(target.shape))
    if params["reduction"] == "none" or losses.ndim == 1:
        return losses
    reduce = F.sum_dim if params["reduction"] == "sum" else F.mean_dim
    return reduce(losses, dim=(1,), keepdim=False)


def _of_class_backward(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    g, _, weight = slots
    F, shape = call.F, params["shape"]
    if len(shape) > 2 or not _counts_all(slots, params):
        return each(call, slots, params)
    values, target = call.spread(slots[:2])
    count = target.size
    if params["reduction"] == "mean" and len(shape) == 2:
        values = values / shape[0]
    if g.ndim < target.ndim - 1:
        values = F.expand(F.unsqueeze(values, dim=1), shape=tuple(target.shape))
    made = call(
        F.unsafe_view(values, shape=(count,)),
        F.unsafe_view(target, shape=(count,)),
        weight.value,
        **{**params, "shape": (count, shape[-1]), "reduction": "none"},
    )
    return F.unsafe_view(made, shape=(call.size, *shape))


def _embedding_backward(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    g, indices = slots
    rows = params["num_weights"]
    if params["padding_idx"] >= 0 or params["scale_grad_by_freq"]:
        return each(call, slots, params)
    values = call.spread(slots)
    # every value of the batch has rows of its own
    first = np.arange(call.size).reshape(-1, *(1,) * indices.ndim) * rows
    result = call(values[0], values[1] + first, **{**params, "num_weights": rows * call.size})
    return call.F.unsafe_view(result, shape=(call.size, rows, *result.shape[1:]))


RULES.update(
    mm=_mm,
    mv=_mv,
    dot=_dot,
    vdot=_vdot,
    bmm=_bmm,
    addmm=_added("mm"),
    addmv=_added("mv"),
    baddbmm=_added("bmm"),
    contract=_contract,
    convolution=_convolution,
    convolution_without_bias=_convolution,
    correlate=_first_only,
    correlate_input=_first_only,
    linalg_solve=_solve,
    searchsorted=_searched,
    nll_loss=_of_class,
    nll_loss_backward=_of_class_backward,
    embedding_backward=_embedding_backward,
)
