"""Layer 3 · interp: batching rules of views, joins and selections."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.interp.batched import RULES, Call, Slot, Within, each, spread
from wengert.interp.batching import dims
from wengert.prims import records


@RULES.of(records.expand)
def _expand(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    value, shape = slot.value, params["shape"]
    for _ in range(len(shape) - slot.ndim):
        value = call.F.unsqueeze(value, dim=1)
    return call(value, shape=(call.size, *shape))


@RULES.of(records.permute)
def _permute(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    return call(slots[0].value, dims=(0, *[d + 1 for d in params["dims"]]))


@RULES.of(records.t)
def _t(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    return call.F.transpose(slot.value, dim0=1, dim1=2) if slot.ndim == 2 else slot.value


@RULES.of(records.squeeze)
def _squeeze(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    return call.F.squeeze_dims(slot.value, dim=tuple(range(1, slot.ndim + 1)))


@RULES.of(records.squeeze_dim, records.squeeze_dim_)
def _squeeze_dim(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    return call(slot.value, dim=params["dim"] + 1) if slot.ndim else slot.value


@RULES.of(records.squeeze_dims)
def _squeeze_dims(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    return call(slot.value, dim=tuple(d + 1 for d in params["dim"])) if slot.ndim else slot.value


@RULES.of(records.unfold)
def _unfold(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    if slot.ndim:
        return dims(call, slots, params)
    # a 0-d value has one window, of zero or one elements
    line = call.F.unsqueeze(slot.value, dim=1)
    return call.F.slice(line, dim=1, start=0, end=params["size"], step=1)


@RULES.of(records.unfold_backward)
def _unfold_backward(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    if params["shape"]:
        return dims(call, slots, params)
    return call.F.sum_dim(slots[0].value, dim=(1,), keepdim=False)


@RULES.of(records.roll)
def _roll(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    if params["dims"]:
        return dims(call, slots, params)
    F, shape = call.F, slot.value.shape
    flat = F.unsafe_view(slot.value, shape=(call.size, -1) if slot.value.size else (*shape[:1], 0))
    return F.unsafe_view(call(flat, shifts=params["shifts"], dims=(1,)), shape=shape)


@RULES.of(records.repeat)
def _repeat(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    value, repeats = slot.value, params["repeats"]
    for _ in range(len(repeats) - slot.ndim):
        value = call.F.unsqueeze(value, dim=1)
    return call(value, repeats=(1, *repeats))


@RULES.of(records.sum_to)
def _sum_to(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    F, value, shape = call.F, slot.value, params["shape"]
    lead = slot.ndim - len(shape)
    axes = list(range(1, lead + 1))
    axes += [
        i + lead + 1 for i, size in enumerate(shape) if size == 1 and value.shape[i + lead + 1] != 1
    ]
    if not axes:
        return value
    return F.unsafe_view(
        F.sum_dim(value, dim=tuple(axes), keepdim=False), shape=(call.size, *shape)
    )


@RULES.of(
    records.constant_pad_nd,
    records.reflection_pad,
    records.replication_pad,
    records.circular_pad,
    records.unframed,
)
def _pads(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    return call(slots[0].value, **{**params, "pads": ((0, 0), *params["pads"])})


@RULES.of(records.assign)
def _assign(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    target, source = slots
    F = call.F
    value = source.value
    extra = source.ndim - target.ndim
    if source.batched:
        if extra > 0:
            # extra leading dimensions of size 1
            value = F.unsafe_view(value, shape=(call.size, *value.shape[1 + extra :]))
        for _ in range(-extra):
            value = F.unsqueeze(value, dim=1)
    return call(spread(F, target, call.size), value)


@RULES.of(records.fill_tensor)
def _fill_tensor(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    target, source = slots
    value = source.value
    if source.batched:
        for _ in range(target.ndim):
            value = call.F.unsqueeze(value, dim=1)
    whole = spread(call.F, target, call.size)
    return call.F.expand(value, shape=whole.shape) if source.batched else call(whole, value)


# -- selection by index ---------------------------------------------------------------------------


def _with_batch(call: Call, indices: tuple[Any, ...], batched: bool) -> tuple[Any, ...]:
    """Add the batch index to the indices of a batch of values, if these differ between values."""
    within = [i for i in indices if isinstance(i, Within)]
    if not within:
        return (None, *indices)
    ndim = max([i.value.ndim - 1 for i in within], default=0)
    ndim = max([ndim, *[np.ndim(i) for i in indices if i is not None and not _held(i)]])
    rows = np.arange(call.size).reshape(-1, *(1,) * ndim)
    made: list[Any] = [rows] if batched else []
    for index in indices:
        if isinstance(index, Within):
            index = index.value.reshape(
                call.size, *(1,) * (ndim - index.value.ndim + 1), *index.value.shape[1:]
            )
        made.append(index)
    return tuple(made)


def _held(index: Any) -> bool:
    return isinstance(index, Within)


def _is_simple(indices: tuple[Any, ...]) -> bool:
    """Return whether the batch can be one more index array: adjacent integer arrays, in front."""
    arrays = [i.value if _held(i) else i for i in indices]
    if any(isinstance(i, Within) and not isinstance(i.value, np.ndarray) for i in indices):
        return False
    named = [i is not None for i in arrays]
    first = named.index(True)
    last = len(named) - named[::-1].index(True)
    return (
        first == 0
        and all(named[:last])
        and all(a.dtype.kind in "iu" for a in arrays if a is not None)
    )


@RULES.of(records.index)
def _index(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    indices = params["indices"]
    if not any(map(_held, indices)):
        made = (None, *indices)
        if sum(i is not None for i in indices) > 1 and not _in_a_row(indices):
            return each(call, slots, params)
        return call(slot.value, indices=made)
    if not _is_simple(indices):
        return each(call, slots, params)
    return call(slot.value, indices=_with_batch(call, indices, slot.batched))


def _in_a_row(indices: tuple[Any, ...]) -> bool:
    """Return whether the indexed dimensions are adjacent, so the result keeps their position."""
    named = [i for i, index in enumerate(indices) if index is not None]
    return named[-1] - named[0] == len(named) - 1


@RULES.of(records.index_backward)
def _index_backward(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (slot,) = slots
    indices, shape = params["indices"], params["shape"]
    if any(map(_held, indices)):
        if not _is_simple(indices):
            return each(call, slots, params)
        made = _with_batch(call, indices, True)
    elif _in_a_row(indices):
        made = (None, *indices)
    else:
        return each(call, slots, params)
    return call(spread(call.F, slot, call.size), shape=(call.size, *shape), indices=made)


@RULES.of(records.index_put)
def _index_put(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    target, source = slots
    indices = params["indices"]
    F = call.F
    if not call.size:
        return spread(F, target, 0)
    simple = all(i is None or (i.__class__ is np.ndarray and i.dtype.kind in "iu") for i in indices)
    if not simple or not _in_a_row(indices):
        return each(call, slots, params)
    whole = spread(F, target, call.size)
    value = source.value
    if source.batched:
        shown = len(np.broadcast_shapes(*[i.shape for i in indices if i is not None]))
        shown += target.ndim - sum(i is not None for i in indices)
        if source.ndim > shown:
            return each(call, slots, params)
        for _ in range(shown - source.ndim):
            value = F.unsqueeze(value, dim=1)
    return call(whole, value, **{**params, "indices": (None, *indices)})


@RULES.of(records.cat, records.stack)
def _cat(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    return call(*call.spread(slots), dim=params["dim"] + 1)
