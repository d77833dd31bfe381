"""Layer 8 · compiler: index maps of views.

See NOTE [index maps] in `wengert.compiler.backends.index_maps`.
"""

from __future__ import annotations

from typing import Any

from wengert.compiler.backends.affine import ZERO, Counter, Place, linear, of, place_of
from wengert.compiler.backends.index_maps import (
    Source,
    aligned,
    at_dim,
    index_map,
    splits,
    static,
    whole,
)
from wengert.compiler.backends.nodes import Node
from wengert.compiler.ir.facets import REARRANGES, having, permutation
from wengert.compiler.ir.programs import Step
from wengert.prims import records

_RESHAPES, _ORDERS = (
    [prim for prim in having(REARRANGES) if REARRANGES[prim] == how and prim is not records.alias]
    for how in ("shape", "order")
)


@index_map(records.alias, records.clone, records.contiguous, view=True)
def _same(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    return source(step.args[0], place)


def _can_reshape(step: Step) -> bool:
    return splits(step.args[0].shape, step.outs[0].shape)


@index_map(*_RESHAPES, accepts=_can_reshape, view=True)
def _reshaped(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, shape = step.args[0], step.outs[0].shape
    counters = [Counter(n) for n in shape]
    found = place_of(linear(tuple(map(of, counters)), shape), value.shape)
    assert found is not None
    # the same affine functions, also at places outside of the value (see `join_maps`)
    known = dict(zip(counters, place, strict=True))
    return source(value, tuple([index.put(known) for index in found]))


@index_map(records.expand, view=True)
def _expanded(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value = step.args[0]
    return source(value, aligned(place, value.shape))


@index_map(*_ORDERS, view=True)
def _permuted(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    found = [ZERO] * len(place)
    order = permutation(step.prim.name, step.params, len(place))
    for index, dim in zip(place, order, strict=True):
        found[dim] = index
    return source(step.args[0], tuple(found))


@index_map(records.select, view=True, counted=frozenset({"index"}))
def _selected(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, dim = step.args[0], step.params["dim"]
    index = whole(step.params["index"], i, value.shape[dim])
    return source(value, (*place[:dim], index, *place[dim:]))


@index_map(records.slice, accepts=static("step"), view=True, counted=frozenset({"start", "end"}))
def _sliced(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, dim = step.args[0], step.params["dim"]
    start, by = step.params["start"], step.params["step"]
    if isinstance(start, int):
        start, _, by = slice(start, step.params["end"], by).indices(value.shape[dim])
    index = place[dim].times(by).plus(whole(start, i))
    return source(value, at_dim(place, dim, index))


@index_map(records.diagonal, view=True)
def _diagonal(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    offset = step.params["offset"]
    value = step.args[0]
    one, two = step.params["dim1"] % len(value.shape), step.params["dim2"] % len(value.shape)
    rest = iter(place[:-1])
    last = place[-1]
    found = [
        last.moved(max(-offset, 0))
        if dim == one
        else last.moved(max(offset, 0))
        if dim == two
        else next(rest)
        for dim in range(len(value.shape))
    ]
    return source(value, tuple(found))


@index_map(records.unfold, accepts=lambda step: bool(step.args[0].shape), view=True)
def _unfolded(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim = step.params["dimension"]
    index = place[dim].times(step.params["step"]).plus(place[-1])
    return source(step.args[0], at_dim(place[:-1], dim, index))


@index_map(records.flip, view=True)
def _flipped(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value = step.args[0]
    dims = [dim % len(value.shape) for dim in step.params["dims"]]
    found = [
        index.times(-1).moved(size - 1) if dim in dims else index
        for dim, (index, size) in enumerate(zip(place, value.shape, strict=True))
    ]
    return source(value, tuple(found))
