"""Layer 3 · interp: batching rules of products, convolutions, solutions and losses of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.interp.batched import RULES, Call, Slot, aligned, each, spread
from wengert.interp.batching import among_channels, from_channels, leading
from wengert.prims import records


@RULES.of(records.mm)
def _mm(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    a, b = slots
    F = call.F
    if b.batched:
        return F.bmm(spread(F, a, call.size), b.value)
    n, m, k = a.value.shape
    rows = F.mm(F.unsafe_view(a.value, shape=(n * m, k)), b.value)
    return F.unsafe_view(rows, shape=(n, m, rows.shape[1]))


@RULES.of(records.mv)
def _mv(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    a, v = slots
    F = call.F
    if not a.batched:
        return F.mm(v.value, F.t(a.value))
    if v.batched:
        return F.squeeze_dim(F.bmm(a.value, F.unsqueeze(v.value, dim=2)), dim=2)
    n, m, k = a.value.shape
    return F.unsafe_view(F.mv(F.unsafe_view(a.value, shape=(n * m, k)), v.value), shape=(n, m))


@RULES.of(records.dot)
def _dot(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    a, b = slots
    F = call.F
    if a.batched and b.batched:
        return F.sum_dim(a.value * b.value, dim=(1,), keepdim=False)
    return F.mv(a.value, b.value) if a.batched else F.mv(b.value, a.value)


@RULES.of(records.bmm)
def _bmm(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    return call.F.bmm(*call.spread(slots))


@RULES.of(records.contract)
def _contract(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    label = 1 + max((*params["a"], *params["b"], *params["out"]), default=-1)
    labels = [
        (label, *params[name]) if slot.batched else params[name]
        for name, slot in zip("ab", slots, strict=True)
    ]
    values = [slot.value for slot in slots]
    return call(*values, a=labels[0], b=labels[1], out=(label, *params["out"]))


@RULES.of(records.convolution, records.convolution_without_bias)
def _convolution(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Fold a batch of inputs into the convolution's own; turn a batch of weights into groups."""
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
        inputs, kernels = call.spread(bare)
        kernels = F.unsafe_view(kernels, shape=(n * kernels.shape[1], *kernels.shape[2:]))
        groups = n * params["groups"]
        result = plain(among_channels(call, inputs), kernels, **{**params, "groups": groups})
        made = from_channels(call, result)
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


@RULES.of(records.linalg_solve)
def _solve(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    a, b = slots
    F = call.F
    if not params["vector"]:
        return call(*aligned(F, slots), **params)
    columns = Slot(F.unsqueeze(b.value, dim=b.value.ndim), b.batched)
    result = call(*aligned(F, [a, columns]), **{**params, "vector": False})
    return F.squeeze_dim(result, dim=result.ndim - 1)


@RULES.of(records.searchsorted)
def _searched(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    edges, values = slots
    if not edges.batched and edges.ndim == 1:
        return call(edges.value, values.value, **params)
    if values.ndim == edges.ndim:
        return leading(call, slots, params)
    return each(call, slots, params)


def _losses(call: Call, target: Slot, weight: Slot, ignored: int) -> tuple[Any, Any, Any]:
    """Return whether each target counts, its class (or 0), and its weight (or 0)."""
    F = call.F
    value = spread(F, target, call.size)
    valid = value != ignored
    index = F.where(valid, value, 0)
    if not weight.ndim:
        weights = weight.value
        weights = (
            F.unsafe_view(weights, shape=(call.size, *(1,) * target.ndim))
            if (weight.batched)
            else weights
        )
        weights = F.where(valid, weights, 0)
    elif weight.batched:
        flat = F.unsafe_view(index, shape=(call.size, index.size // call.size))
        named = F.gather(weight.value, flat, dim=1)
        weights = F.where(valid, F.unsafe_view(named, shape=tuple(index.shape)), 0)
    else:
        weights = F.where(valid, F.take(weight.value, index), 0)
    return valid, index, weights


@RULES.of(records.nll_loss, records.nll_loss2d)
def _of_class(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    scores, target, weight = slots
    F = call.F
    whole = spread(F, scores, call.size)
    axis = 1 if scores.ndim == 1 else 2
    valid, index, weights = _losses(call, target, weight, params["ignore_index"])
    weights = F.to_copy(weights, dtype=whole.dtype)
    picked = F.gather(whole, F.unsqueeze(index, dim=axis), dim=axis)
    losses = -F.where(valid, F.squeeze_dim(picked, dim=axis) * weights, 0)
    if params["reduction"] == "none":
        return losses
    dims = tuple(range(1, losses.ndim))
    total = F.sum_dim(losses, dim=dims, keepdim=False) if dims else losses
    if params["reduction"] == "sum":
        return total
    return total / (F.sum_dim(weights, dim=dims, keepdim=False) if dims else weights)


@RULES.of(records.nll_loss_backward)
def _of_class_backward(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    g, target, weight = slots
    F, shape = call.F, params["shape"]
    axis = 1 if len(shape) == 1 else 2
    _, index, weights = _losses(call, target, weight, params["ignore_index"])
    dims = tuple(range(1, weights.ndim))
    if params["reduction"] == "mean" and dims:
        total = F.sum_dim(weights, dim=dims, keepdim=True)
        weights = weights / F.where(total == 0, 1, total)
    elif params["reduction"] == "mean":
        weights = weights / F.where(weights == 0, 1, weights)
    x, y = aligned(F, [g, Slot(F.to_copy(weights, dtype=g.value.dtype), True)])
    zeros = F.zeros(shape=(call.size, *shape), dtype=g.value.dtype)
    values = F.unsqueeze(-(x * y), dim=axis)
    return F.scatter_add(zeros, F.unsqueeze(index, dim=axis), values, dim=axis)


@RULES.of(records.correlate, records.correlate_input)
def _correlate(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Fold a batch of samples into the samples; turn a batch of weights into groups."""
    if not slots[1].batched:
        return _first_only(call, slots, params)
    F, n = call.F, call.size
    x, weight = call.spread(slots)
    weight = F.unsafe_view(weight, shape=(n * weight.shape[1], *weight.shape[2:]))
    result = call(among_channels(call, x), weight, **{**params, "groups": n * params["groups"]})
    return from_channels(call, result)


@RULES.of(records.correlate_weight)
def _correlate_weight(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    F, n = call.F, call.size
    x, g = [among_channels(call, value) for value in call.spread(slots)]
    result = call(x, g, **{**params, "groups": n * params["groups"]})
    return F.unsafe_view(result, shape=(n, result.shape[0] // n, *result.shape[1:]))


@RULES.of(records.linalg_solve_ex)
def _solve_ex(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    F = call.F
    values = call.spread(slots)
    if params["vector"]:
        values[1] = F.unsqueeze(values[1], dim=values[1].ndim)
    made = [Slot(value, True) for value in values]
    result, info = call(*aligned(F, made), **{**params, "vector": False})
    return (F.squeeze_dim(result, dim=result.ndim - 1) if params["vector"] else result), info


@RULES.of(records.linalg_pinv)
def _pinv(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, *tolerances = slots
    F = call.F
    lead = self.ndim - 2
    made = []
    for slot in tolerances:
        value = slot.value
        for _ in range(lead - slot.ndim if slot.batched else 0):
            value = F.unsqueeze(value, dim=1)
        made.append(value)
    return call(spread(F, self, call.size), *made, **params)


@RULES.of(records.pdist)
def _pdist(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    F = call.F
    return _upper(F, F.cdist(slot.value, slot.value, p=params["p"], mm=False))


def _upper(F: Any, square: Any) -> Any:
    n = square.shape[1]
    return F.index(square, indices=(None, *np.triu_indices(n, 1)))


@RULES.of(records.pairs_of_square)
def _pairs_of_square(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    return _upper(call.F, slots[0].value)


@RULES.of(records.square_of_pairs)
def _square_of_pairs(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    F, n = call.F, params["size"]
    upper = F.index_backward(
        slot.value, shape=(call.size, n, n), indices=(None, *np.triu_indices(n, 1))
    )
    return upper + F.transpose(upper, dim0=1, dim1=2)


def _median(by_position: str) -> Any:
    """Compute a full median by the position of the median along one dimension."""

    def rule(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
        (slot,) = slots
        F = call.F
        if not slot.value.size:
            return each(call, slots, params)
        flat = F.unsafe_view(slot.value, shape=(call.size, slot.value.size // call.size))
        return F.taken(flat, getattr(F, by_position)(flat, dim=1, keepdim=False), dim=1)

    return rule


RULES.of(records.median)(_median("argmedian"))
RULES.of(records.nanmedian)(_median("argnanmedian"))
