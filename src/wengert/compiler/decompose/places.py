"""Layer 8 · compiler: decompositions of what moves, fills, joins and parts elements."""

from __future__ import annotations

import math
from typing import Any

from wengert.compiler.decompose.rules import Dims, rule
from wengert.prims import records

__all__: list[str] = []


# -- parts ----------------------------------------------------------------------------------------


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


def _rolled(F: Any, self: Any, shift: int, dim: int) -> Any:
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
        return F.view(_rolled(F, flat, shifts[0], 0), shape=shape)
    for shift, dim in zip(shifts, dims, strict=True):
        self = _rolled(F, self, shift, dim)
    return self


# -- values that take another's place -------------------------------------------------------------


@rule(records.assign, records.fill_tensor)
def _assign(F: Any, self: Any, src: Any) -> Any:
    if src.dtype != self.dtype:
        src = F.to_copy(src, dtype=self.dtype)
    if src.shape != self.shape:
        src = F.expand(src, shape=tuple(self.shape))
    return F.clone(src)


# -- rows of a table ------------------------------------------------------------------------------


@rule(records.embedding)
def _embedding(
    F: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    flat = F.view(indices, shape=(math.prod(indices.shape),))
    rows = F.index_select(weight, flat, dim=0)
    return F.view(rows, shape=(*indices.shape, *weight.shape[1:]))
