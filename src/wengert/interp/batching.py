"""Layer 3 · interp: batching rules that many primitives share (see NOTE [batching rules])."""

from __future__ import annotations

import math
from typing import Any

from wengert.base.ports import PORTS
from wengert.interp.batched import (
    DIMENSIONS,
    B,
    Batched,
    Call,
    Slot,
    aligned,
    each,
    shared,
    spread,
)


def _behind(dim: Any) -> Any:
    """Shift a dimension, or several, past the batch dimension."""
    if isinstance(dim, tuple):
        return tuple(map(_behind, dim))
    return dim + 1 if dim is not None and dim >= 0 else dim


def shifted(call: Call, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a call whose arguments have an additional leading dimension."""
    made = dict(params)
    for name, value in params.items():
        if name in DIMENSIONS:
            made[name] = _behind(value)
        elif name == "shape":
            made[name] = (call.size, *value)
    return made


def among_channels(call: Call, value: Any) -> Any:
    """Reshape (batch, sample, channel, ...) to (sample, batch * channel, ...)."""
    F = call.F
    value = F.permute(value, dims=(1, 0, *range(2, value.ndim)))
    shape = value.shape
    return F.unsafe_view(value, shape=(shape[0], shape[1] * shape[2], *shape[3:]))


def from_channels(call: Call, value: Any) -> Any:
    """Invert `among_channels`, for any number of channels."""
    F, shape = call.F, value.shape
    value = F.unsafe_view(value, shape=(shape[0], call.size, shape[1] // call.size, *shape[2:]))
    return F.permute(value, dims=(1, 0, *range(2, value.ndim)))


@shared
def pointwise(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Apply element by element: the arguments need only broadcast as they did."""
    return call(*aligned(call.F, slots), **params)


@shared
def leading(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Call the primitive on the whole batch: it batches over leading dimensions itself."""
    return call(*call.spread(slots), **params)


@shared
def dims(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Shift dimensions and shapes among the parameters past the batch dimension."""
    return call(*call.spread(slots), **shifted(call, params))


@shared
def along(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Like `dims`; a value without dimensions counts as one with a single element."""
    if any(slot.ndim for slot in slots):
        return dims(call, slots, params)
    F = call.F
    values = [F.unsqueeze(value, dim=1) for value in call.spread(slots)]
    dim = 1 if isinstance(params["dim"], int) else (1,)
    return F.unsafe_view(call(*values, **{**params, "dim": dim}), shape=(call.size,))


@shared
def chosen(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Like `dims`, for selection by position; a value without dimensions has one element."""
    if not slots[0].ndim and not params.get("shape"):
        return spread(call.F, slots[0], call.size)
    if 0 in slots[0].value.shape:
        return each(call, slots, params)
    return dims(call, slots, params)


@shared
def fold(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Fold the batch into the primitive's own batch, its first dimension."""
    if not all(slot.batched for slot in slots if slot.ndim):
        slots = [Slot(value, True) for value in call.spread(slots)]
    F = call.F
    inner = slots[0].value.shape[1]
    joined = [F.unsafe_view(s.value, shape=(call.size * inner, *s.value.shape[2:])) for s in slots]
    return _parted(call, call(*joined, **params), inner)


def _parted(call: Call, result: Any, inner: int) -> Any:
    if isinstance(result, tuple):
        return tuple(_parted(call, part, inner) for part in result)
    return call.F.unsafe_view(result, shape=(call.size, inner, *result.shape[1:]))


def _every(slot: Slot) -> tuple[int, ...]:
    return tuple(range(1, slot.ndim + 1))


def whole(by_dims: str) -> Any:
    """Return the rule of a full reduction, given the primitive that reduces some dimensions."""

    def rule(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
        (slot,) = slots
        if not slot.ndim:
            return call.F.clone(slot.value)
        return getattr(call.F, by_dims)(slot.value, dim=_every(slot), keepdim=False)

    return rule


@shared
def flattened(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Reduce one dimension, or the flattened value if ``dim`` is None."""
    if params["dim"] is not None:
        return along(call, slots, params)
    (slot,) = slots
    count = math.prod(slot.value.shape[1:])
    flat = call.F.unsafe_view(slot.value, shape=(call.size, count))
    keep = {"keepdim": False} if "keepdim" in params else {}
    found = call(flat, **{**params, "dim": 1, **keep})
    if params.get("keepdim"):
        found = call.F.unsafe_view(found, shape=(call.size, *(1,) * slot.ndim))
    return found


@shared
def reduced(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Compute a loss element by element, and reduce it per element of the batch."""
    losses = call(*aligned(call.F, slots), **{**params, "reduction": "none"})
    axes = tuple(range(1, losses.ndim))
    if params["reduction"] == "none" or not axes:
        return losses
    reduce = call.F.sum_dim if params["reduction"] == "sum" else call.F.mean_dim
    return reduce(losses, dim=axes, keepdim=False)


@shared
def parts(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    """Run the decomposition of the primitive on the batches."""
    values = [Batched(slot.value, call.owner) if slot.batched else slot.value for slot in slots]
    made = PORTS.parts(call.prim)(B, *values, **params)
    if made is NotImplemented:
        return each(call, slots, params)
    return made.value if isinstance(made, Batched) else spread(call.F, Slot(made, False), call.size)
