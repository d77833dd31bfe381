"""Layer 8 · compiler: decompositions of primitives that move, fill, join and split."""

from __future__ import annotations

import math
from typing import Any

from wengert.compiler.decompose.rules import REAL, Dims, rule
from wengert.prims import records

# -- splits and slices ----------------------------------------------------------------------------


@rule(records.split, records.split_with_sizes)
def _split(F: Any, self: Any, sizes: Dims, dim: int) -> Any:
    parts, start = [], 0
    for size in sizes:
        parts.append(F.slice(self, dim=dim, start=start, end=start + size, step=1))
        start += size
    return tuple(parts)


@rule(records.unbind)
def _unbind(F: Any, self: Any, dim: int) -> Any:
    return tuple([F.select(self, dim=dim, index=i) for i in range(self.shape[dim])])


@rule(records.corner)
def _corner(F: Any, self: Any, shape: Dims) -> Any:
    result = self
    for dim, size in enumerate(shape):
        if self.shape[dim] != size:
            result = F.slice(result, dim=dim, start=0, end=size, step=1)
    return F.clone(result)


@rule(records.corner_backward)
def _corner_backward(F: Any, self: Any, shape: Dims) -> Any:
    result = self
    for dim, size in enumerate(shape):
        own = self.shape[dim]
        if own != size:
            larger = (*shape[: dim + 1], *self.shape[dim + 1 :])
            result = F.slice_backward(result, shape=larger, dim=dim, start=0, end=own, step=1)
    return F.alias(self) if result is self else result


@rule(records.diagonal_copy)
def _diagonal_copy(F: Any, self: Any, offset: int, dim1: int, dim2: int) -> Any:
    return F.clone(F.diagonal(self, offset=offset, dim1=dim1, dim2=dim2))


# -- copies ---------------------------------------------------------------------------------------


@rule(records.repeat)
def _repeat(F: Any, self: Any, repeats: Dims) -> Any:
    own = (*[1] * (len(repeats) - len(self.shape)), *self.shape)
    if not own:
        return F.clone(self)
    single = tuple([size for n in own for size in (1, n)])
    wide = tuple([size for pair in zip(repeats, own, strict=True) for size in pair])
    shape = tuple([count * n for count, n in zip(repeats, own, strict=True)])
    return F.clone(F.view(F.expand(F.view(self, shape=single), shape=wide), shape=shape))


def _roll_along(F: Any, self: Any, shift: int, dim: int) -> Any:
    size = self.shape[dim]
    shift %= size
    if not shift:
        return F.clone(self)
    back = F.slice(self, dim=dim, start=size - shift, end=size, step=1)
    front = F.slice(self, dim=dim, start=0, end=size - shift, step=1)
    return F.cat(back, front, dim=dim)


@rule(records.roll)
def _roll(F: Any, self: Any, shifts: Dims, dims: Dims) -> Any:
    shape = tuple(self.shape)
    if 0 in shape:
        return F.clone(self)
    if not dims:
        flat = F.view(self, shape=(math.prod(shape),))
        return F.view(_roll_along(F, flat, shifts[0], 0), shape=shape)
    for shift, dim in zip(shifts, dims, strict=True):
        self = _roll_along(F, self, shift, dim)
    return self


# -- elements at positions ------------------------------------------------------------------------

_TAKEN = records.taken, records.sort, records.topk, records.cummax, records.cummin


@rule(*_TAKEN, records.kthvalue, records.median_dim, records.nanmedian_dim, records.mode)
def _elements(F: Any, self: Any, indices: Any, dim: int) -> Any:
    # a position for each row has no dimension of its own
    if not 0 < len(self.shape) == len(indices.shape):
        return NotImplemented
    return F.gather(self, indices, dim=dim)


@rule(records.placed, kinds=REAL)
def _placed(F: Any, self: Any, indices: Any, shape: Dims, dim: int) -> Any:
    if not shape or len(indices.shape) != len(shape):
        return NotImplemented
    return F.scatter_add(F.zeros(shape=shape, dtype=self.dtype), indices, self, dim=dim)


# -- assignment -----------------------------------------------------------------------------------


@rule(records.assign, records.fill_tensor)
def _assign(F: Any, self: Any, src: Any) -> Any:
    if src.dtype != self.dtype:
        src = F.to_copy(src, dtype=self.dtype)
    if src.shape != self.shape:
        src = F.expand(src, shape=tuple(self.shape))
    return F.clone(src)


# -- embedding ------------------------------------------------------------------------------------


@rule(records.embedding)
def _embedding(
    F: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    rows = F.index_select(weight, _flatten(F, indices), dim=0)
    return F.view(rows, shape=(*indices.shape, *weight.shape[1:]))


# -- scatter-add ----------------------------------------------------------------------------------


def _flatten(F: Any, array: Any) -> Any:
    return F.view(array, shape=(math.prod(array.shape),))


@rule(records.index_add, kinds=REAL)
def _index_add(F: Any, self: Any, index: Any, source: Any, dim: int, alpha: Any) -> Any:
    if type(alpha) is int and alpha == 1:
        return NotImplemented
    return F.index_add(self, index, source * alpha, dim=dim, alpha=1)


@rule(records.embedding_backward, kinds=REAL)
def _embedding_backward(
    F: Any, self: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    if padding_idx >= 0 or scale_grad_by_freq:
        return NotImplemented
    width = self.shape[-1]
    table = F.zeros(shape=(num_weights, width), dtype=self.dtype)
    rows = F.view(self, shape=(math.prod(indices.shape), width))
    return F.index_add(table, _flatten(F, indices), rows, dim=0, alpha=1)


@rule(records.take_backward, kinds=REAL)
def _take_backward(F: Any, self: Any, index: Any, shape: Dims) -> Any:
    flat = F.zeros(shape=(math.prod(shape),), dtype=self.dtype)
    return F.view(
        F.index_add(flat, _flatten(F, index), _flatten(F, self), dim=0, alpha=1), shape=shape
    )


@rule(records.pool_scatter, kinds=REAL)
def _pool_scatter(F: Any, self: Any, indices: Any, shape: Dims) -> Any:
    # the primitive that found the indices, or gathered at them, has checked that they are in range
    lead = self.shape[: len(self.shape) - len(shape)]
    planes, size = math.prod(lead), math.prod(shape)
    if not planes or not size or not math.prod(self.shape) or indices.shape != self.shape:
        return NotImplemented
    each = (planes, math.prod(self.shape) // planes)
    flat = F.zeros(shape=(planes, size), dtype=self.dtype)
    places, values = F.view(indices, shape=each), F.view(self, shape=each)
    return F.view(F.scatter_add(flat, places, values, dim=1), shape=(*lead, *shape))
