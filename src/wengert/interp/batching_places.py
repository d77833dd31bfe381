"""Layer 3 · interp: batching rules of indexed writes and of embeddings.

`_offset` offsets the positions in each array of a batch to positions in their concatenation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.interp.batched import RULES, Call, Slot, aligned, each, spread
from wengert.interp.batching import dims
from wengert.prims import records
from wengert.prims.table import TABLE


def _rows(call: Call, ndim: int) -> Any:
    """Return the numbers of the batch elements, shaped for values of `ndim` dimensions."""
    return np.arange(call.size).reshape(-1, *(1,) * ndim)


def _offset(call: Call, index: Slot, size: int) -> Any:
    """Offset positions in arrays of `size` elements to positions in their concatenation."""
    F = call.F
    value = spread(F, index, call.size)
    return F.where(value < 0, value + size, value) + _rows(call, index.ndim) * size


def _count(slot: Slot) -> int:
    return math.prod(slot.value.shape[1:] if slot.batched else slot.value.shape)


@RULES.of(records.take)
def _take(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, index = slots
    if not self.batched:
        return call(self.value, index.value)
    return call(self.value, _offset(call, index, _count(self)))


@RULES.of(records.take_backward)
def _take_backward(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    g, index = slots
    shape = params["shape"]
    places = _offset(call, index, math.prod(shape))
    return call(spread(call.F, g, call.size), places, shape=(call.size, *shape))


@RULES.of(records.put)
def _put(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, index, source = slots
    places = _offset(call, index, _count(self))
    values, whole = call.spread([source, self])
    return call(whole, places, values, **params)


def _along(call: Call, index: Slot, ndim: int, dim: int, shape: tuple[int, ...]) -> Any:
    """Return positions along a dimension that differ between elements of the batch."""
    F = call.F
    count = _count(index)
    line = (call.size, *(1,) * dim, count, *(1,) * (ndim - dim - 1))
    value = F.unsafe_view(index.value, shape=line)
    return F.expand(value, shape=(*shape[: dim + 1], count, *shape[dim + 2 :]))


@RULES.of(records.index_select)
def _index_select(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, index = slots
    F, dim = call.F, params["dim"]
    if not index.batched and self.ndim:
        return call(self.value, index.value, dim=dim + 1)
    whole = spread(F, self, call.size)
    if not self.ndim:
        return whole
    places = _along(call, index, self.ndim, dim, tuple(whole.shape))
    return F.gather(whole, places, dim=dim + 1)


@RULES.of(records.index_add)
def _index_add(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, index, source = slots
    if not self.ndim or source.ndim != self.ndim:
        return each(call, slots, params)
    F, dim, alpha = call.F, params["dim"], params["alpha"]
    whole, values = call.spread([self, source])
    if not index.batched:
        return call(whole, index.value, values, dim=dim + 1, alpha=alpha)
    places = _along(call, index, self.ndim, dim, tuple(whole.shape))
    values = values if alpha == 1 else values * alpha
    return F.scatter_add(whole, places, values, dim=dim + 1)


@RULES.of(records.bin_numbers)
def _bin_numbers(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    numbers = call(slots[0].value, **params)
    return call.F.unsafe_view(numbers, shape=(call.size, numbers.shape[0] // call.size))


@RULES.of(records.index_copy)
def _index_copy(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, index, source = slots
    F, dim = call.F, params["dim"]
    whole, values = call.spread([self, source])
    if not self.ndim:
        return F.unsafe_view(values, shape=(call.size,))
    if source.ndim < self.ndim:
        values = F.unsqueeze(values, dim=1)
    if not index.batched:
        return call(whole, index.value, values, dim=dim + 1)
    places = _along(call, index, self.ndim, dim, tuple(whole.shape))
    return F.scatter(whole, places, values, dim=dim + 1)


@RULES.of(records.index_fill)
def _index_fill(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, index = slots
    F, dim, value = call.F, params["dim"], params["value"]
    whole = spread(F, self, call.size)
    if not self.ndim:
        line = Slot(F.unsqueeze(whole, dim=1), True)
        return F.squeeze_dim(_index_fill(call, [line, index], {**params, "dim": 0}), dim=1)
    if not index.batched:
        return call(whole, index.value, dim=dim + 1, value=value)
    places = _along(call, index, self.ndim, dim, tuple(whole.shape))
    return F.scatter_value(whole, places, dim=dim + 1, value=value)


@RULES.of(records.index_fill_tensor)
def _index_fill_tensor(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, index, value = slots
    F = call.F
    shape = tuple(spread(F, self, call.size).shape)
    none = Slot(F.zeros(shape=shape, dtype=np.dtype(bool)), True)
    filled = Slot(
        _index_fill(_of(call, "index_fill"), [none, index], {**params, "value": True}), True
    )
    return F.where(*aligned(F, [filled, value, self]))


def _of(call: Call, name: str) -> Call:
    """Call another primitive."""
    return call._replace(prim=TABLE[name])


def _placed(like: int) -> Any:
    """Return a rule for positions of a dimension; argument `like` has the result's shape.

    A value without dimensions counts as one with a single element.
    """

    def rule(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
        if all(slot.ndim for slot in slots):
            return dims(call, slots, params)
        F = call.F
        values = call.spread(slots)
        for i, slot in enumerate(slots):
            if not slot.ndim:
                values[i] = F.unsqueeze(values[i], dim=1)
        result = call(*values, **{**params, "dim": 1})
        return result if slots[like].ndim else F.unsafe_view(result, shape=(call.size,))

    return rule


@RULES.of(records.index_reduce)
def _index_reduce(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, index, source = slots
    if not self.ndim or source.ndim != self.ndim:
        return each(call, slots, params)
    dim = params["dim"]
    whole, values = call.spread([self, source])
    if not index.batched:
        return call(whole, index.value, values, **{**params, "dim": dim + 1})
    places = _along(call, index, self.ndim, dim, tuple(whole.shape))
    return call.F.scatter_reduce(whole, places, values, **{**params, "dim": dim + 1})


# -- masks ----------------------------------------------------------------------------------------


def _ranks(call: Call, mask: Slot, most: int) -> Any:
    """Return, for each position in a row, how many before it are selected, at most `most`."""
    F = call.F
    value = spread(F, mask, call.size)
    flat = F.unsafe_view(value, shape=(call.size, _count(mask)))
    ranks = F.cumsum(F.to_copy(flat, dtype=np.dtype(np.int64)), dim=1, reverse=False) - 1
    return F.clamp(ranks, min=0, max=max(most - 1, 0))


@RULES.of(records.masked_scatter)
def _masked_scatter(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    _, mask, source = slots
    F = call.F
    whole, chosen, values = call.spread(slots)
    if not _count(source):
        return F.clone(whole)
    flat = F.unsafe_view(values, shape=(call.size, _count(source)))
    given = F.gather(flat, _ranks(call, mask, _count(source)), dim=1)
    return F.where(chosen, F.unsafe_view(given, shape=tuple(chosen.shape)), whole)


@RULES.of(records.masked_scatter_backward)
def _masked_scatter_backward(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    mask = slots[1]
    F, shape = call.F, params["shape"]
    values, chosen = call.spread(slots)
    count = math.prod(shape)
    zeros = F.zeros(shape=(call.size, count), dtype=values.dtype)
    if count:
        kept = F.unsafe_view(F.where(chosen, values, 0), shape=(call.size, _count(mask)))
        zeros = F.scatter_add(zeros, _ranks(call, mask, count), kept, dim=1)
    return F.unsafe_view(zeros, shape=(call.size, *shape))


@RULES.of(records.masked_select)
def _masked_select(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    self, mask = slots
    if mask.batched or not isinstance(mask.value, np.ndarray) or mask.ndim == 0:
        return each(call, slots, params)
    return call.F.index(self.value, indices=(None, mask.value))


@RULES.of(records.masked_select_backward)
def _masked_select_backward(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    g, mask = slots
    shape = tuple(mask.value.shape[1:] if mask.batched else mask.value.shape)
    zeros = Slot(call.F.zeros(shape=shape, dtype=g.value.dtype), False)
    return _masked_scatter(call, [zeros, mask, g], {})


# -- tables ---------------------------------------------------------------------------------------


@RULES.of(records.embedding)
def _embedding(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    weight, indices = slots
    if not weight.batched:
        return call(weight.value, indices.value, **params)
    n, count, width = weight.value.shape
    table = call.F.unsafe_view(weight.value, shape=(n * count, width))
    return call(table, _offset(call, indices, count), **params)


@RULES.of(records.embedding_factors)
def _factors(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    (indices,) = slots
    if not params["scale_grad_by_freq"] or not indices.value.size:
        return call(indices.value, **params)
    # so far apart that each element of the batch counts only its own
    size = int(indices.value.max()) + 1
    factors = call(_offset(call, indices, size), **{**params, "padding_idx": -1})
    kept = indices.value != params["padding_idx"]
    return factors * call.F.unsqueeze(kept, dim=kept.ndim)


@RULES.of(records.embedding_backward)
def _embedding_backward(call: Call, slots: list[Slot], params: dict[str, Any]) -> Any:
    g, indices = slots
    F, rows = call.F, params["num_weights"]
    values = spread(F, g, call.size)
    if params["padding_idx"] >= 0 or params["scale_grad_by_freq"]:
        how = {name: params[name] for name in ("padding_idx", "scale_grad_by_freq")}
        spread_indices = Slot(spread(F, indices, call.size), True)
        values = values * _factors(
            _of(call, "embedding_factors"), [spread_indices], {"dtype": values.dtype, **how}
        )
    places = _offset(call, indices, rows)
    how = {"padding_idx": -1, "scale_grad_by_freq": False}
    result = call(values, places, num_weights=rows * call.size, **how)
    return F.unsafe_view(result, shape=(call.size, rows, *result.shape[1:]))


RULES.of(records.gather)(_placed(1))
RULES.of(records.scatter, records.scatter_add, records.scatter_value, records.scatter_reduce)(
    _placed(0)
)
