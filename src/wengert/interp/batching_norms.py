"""Layer 3 · interp: batching rules of normalisation.

A batch of arrays is reshaped to one array for the primitives: the batch leads if means are along
the last dimensions, and joins the channels if they are per channel. The `known` moments (NOTE
[known moments] in `wengert.prims.normalisation`) have a column for each mean, in the same order.
"""

from __future__ import annotations

from typing import Any

from wengert.interp.batched import RULES, Call, Slot, aligned, spread
from wengert.interp.batching import among_channels, from_channels, parts
from wengert.prims import records

Dims = tuple[int, ...]


def _is_trailing(dim: Dims, ndim: int) -> bool:
    return dim[0] == ndim - len(dim)


def _merged(call: Call, slot: Slot, dim: Dims) -> tuple[Any, Dims]:
    """Return the batch as one array, and the dimensions of its means."""
    value = spread(call.F, slot, call.size)
    ndim = value.ndim - 1
    if _is_trailing(dim, ndim):
        return value, tuple(d + 1 for d in dim)
    return among_channels(call, value), dim


def _parted(call: Call, value: Any, dim: Dims, ndim: int) -> Any:
    """Invert `_merged`, for an array of the same shape."""
    return value if _is_trailing(dim, ndim) else from_channels(call, value)


def _known(call: Call, slot: Slot) -> Any:
    """Return the known moments of the batch, in three rows, which are empty if unknown."""
    F = call.F
    value = spread(F, slot, call.size)
    n, rows, columns = value.shape
    return F.unsafe_view(F.permute(value, dims=(1, 0, 2)), shape=(rows, n * columns))


def _weighed(call: Call, value: Any, weight: Slot, trailing: bool) -> Any:
    """Multiply values of the batch by weights."""
    if not trailing and weight.ndim:
        shape = (*weight.value.shape, *(1,) * (value.ndim - 3))
        weight = Slot(call.F.unsafe_view(weight.value, shape=shape), weight.batched)
    x, y = aligned(call.F, [Slot(value, True), weight])
    return x * y


def _one(F: Any, like: Any) -> Any:
    return F.zeros(shape=(), dtype=like.dtype) + 1


@RULES.of(records.moments)
def _moments(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    F = call.F
    value, dim = _merged(call, slots[0], params["dim"])
    rows = F.moments(value, dim=dim, eps=params["eps"])
    parted = F.unsafe_view(rows, shape=(3, call.size, rows.shape[1] // call.size))
    return F.permute(parted, dims=(1, 0, 2))


def _standard(call: Call, self: Slot, known: Slot, dim: Dims, eps: float) -> Any:
    value, merged = _merged(call, self, dim)
    result = call.F.standardise(value, _known(call, known), dim=merged, eps=eps)
    return _parted(call, result, dim, self.ndim)


@RULES.of(records.standardise)
def _standardise(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, known = slots
    return _standard(call, self, known, params["dim"], params["eps"])


@RULES.of(records.standardise_backward)
def _standardise_backward(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, input, weight, known = slots
    dim, ndim = params["dim"], self.ndim
    g = _weighed(call, spread(call.F, self, call.size), weight, _is_trailing(dim, ndim))
    arrays = [_merged(call, slot, dim)[0] for slot in (Slot(g, True), input)]
    merged = _merged(call, input, dim)[1]
    result = call(*arrays, _one(call.F, g), _known(call, known), dim=merged, eps=params["eps"])
    return _parted(call, result, dim, ndim)


@RULES.of(records.standardised_sum)
def _standardised_sum(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, input, known = slots
    F, dim = call.F, params["dim"]
    standard = _standard(call, input, known, dim, params["eps"])
    product = spread(F, self, call.size) * standard
    if params["over"] == "across":
        over = tuple(range(1, product.ndim - len(dim)))
    else:
        over = (3,) if params["over"] == "last" else tuple(d + 1 for d in dim)
    return F.sum_dim(product, dim=over, keepdim=False) if over else product


@RULES.of(records.layer_norm)
def _layer_norm(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, weight, bias, known = slots
    if weight.batched or bias.batched:
        return parts(call, slots, params)
    value, merged = _merged(call, self, params["dim"])
    return call(value, weight.value, bias.value, _known(call, known), dim=merged, eps=params["eps"])


@RULES.of(records.group_norm)
def _group_norm(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, weight, bias, known = slots
    if weight.batched or bias.batched:
        return parts(call, slots, params)
    F = call.F
    value = spread(F, self, call.size)
    joined = F.unsafe_view(value, shape=(value.shape[0] * value.shape[1], *value.shape[2:]))
    result = call(joined, weight.value, bias.value, _known(call, known), **params)
    return F.unsafe_view(result, shape=tuple(value.shape))


@RULES.of(records.rms_norm)
def _rms_norm(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, weight = slots
    if weight.batched:
        return parts(call, slots, params)
    value, dim = _merged(call, self, params["dim"])
    return call(value, weight.value, **{**params, "dim": dim})
