"""Layer 8 · compiler: index maps of gathers, of small products, and of filled arrays.

See NOTE [index maps] in `wengert.compiler.backends.index_maps`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compiler.backends.affine import ZERO, Index, Looked, Place, of
from wengert.compiler.backends.index_maps import (
    Source,
    aligned,
    at_dim,
    index_map,
    zero,
)
from wengert.compiler.backends.nodes import Apply, Literal, Node, Position
from wengert.compiler.ir.programs import Step, Value
from wengert.prims import records

__all__: list[str] = []

# products with at most this many terms are inlined as sums, unless they have very few elements
_TERMS = 4
_TINY = 64


def _looked(source: Source, indices: Value, place: Place, extent: int) -> Index:
    if indices.constant is not None and not any(index.terms for index in place):
        number = int(indices.constant[tuple([index.constant for index in place])])
        return Index(number + extent if number < 0 else number)
    return of(Looked(source(indices, place), extent))


def _along(step: Step) -> list[tuple[Value, int]]:
    """Return the index array, the second argument, with the size of the indexed dimension."""
    value, indices = step.args
    return [(indices, value.shape[step.params.get("dim", 0)])] if value.shape else []


@index_map(records.gather, looked=_along)
def _gathered(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, indices = step.args
    if not value.shape:
        return source(value, ())
    dim = step.params["dim"]
    return source(value, at_dim(place, dim, _looked(source, indices, place, value.shape[dim])))


@index_map(records.index_select, accepts=lambda step: len(step.args[1].shape) <= 1, looked=_along)
def _index_selected(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, indices = step.args
    if not value.shape:
        return source(value, ())
    dim = step.params["dim"]
    at = (place[dim],) if indices.shape else ()
    return source(value, at_dim(place, dim, _looked(source, indices, at, value.shape[dim])))


@index_map(records.take, accepts=lambda step: len(step.args[0].shape) == 1, looked=_along)
def _taken(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, indices = step.args
    return source(value, (_looked(source, indices, place, value.shape[0]),))


def _can_index(step: Step) -> bool:
    return all(
        index is None or (isinstance(index, Value) and index.dtype.kind == "i")
        for index in step.params["indices"]
    )


def _indices(step: Step) -> list[tuple[Value, int]]:
    pairs = zip(step.params["indices"], step.args[0].shape, strict=False)
    return [(index, size) for index, size in pairs if index is not None]


@index_map(records.index, accepts=_can_index, looked=_indices)
def _indexed(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value = step.args[0]
    indices = [*step.params["indices"]]
    indices += [None] * (len(value.shape) - len(indices))
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    shape = np.broadcast_shapes(*[index.shape for index in indices if index is not None])
    # index arrays side by side take the place of their dimensions, others go to the front
    front = dims[0] if dims[-1] - dims[0] == len(dims) - 1 else 0
    at = place[front : front + len(shape)]
    rest = iter((*place[:front], *place[front + len(shape) :]))
    found = [
        next(rest)
        if index is None
        else _looked(source, index, aligned(at, index.shape), value.shape[dim])
        for dim, index in enumerate(indices)
    ]
    return source(value, tuple(found))


def _can_compare(step: Step) -> bool:
    return step.args[0].dtype == np.int64


@index_map(records.at_index, accepts=_can_compare)
def _at_index(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim, indices = step.params["dim"], step.args[0]
    if not place:
        return Literal(True, np.dtype(np.bool_))
    at = at_dim(place, dim, ZERO) if step.params["keepdim"] else (*place[:dim], *place[dim + 1 :])
    named = source(indices, at)
    return Apply(records.eq, [Position(place[dim]), named], np.dtype(np.bool_), step=step)


# -- short products --------------------------------------------------------------------------------


def _is_short(step: Step) -> bool:
    """Whether a product sums so few terms that it is best computed where it is used."""
    a, b = step.args
    # tiny ones are calls of one function, which is less for LLVM to work on
    size = step.outs[0].size
    few = 0 < a.shape[-1] <= _TERMS and (size >= _TINY or not step.outs[0].shape)
    return few and a.dtype == b.dtype and a.dtype.kind in "fi"


@index_map(
    *(records.mm, records.mv, records.dot, records.bmm),
    accepts=_is_short,
    cost=lambda step: 2 * step.args[0].shape[-1],
    # each element is read for a whole row, or column
    often=lambda step: bool(step.outs[0].shape),
)
def _product(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    a, b = step.args
    dtype = step.outs[0].dtype
    by_column = len(b.shape) > 1
    column = place[-1:] if by_column else ()
    lead = place[: len(place) - 1] if by_column else place
    rows = lead[-1:] if len(a.shape) > 1 else ()
    outer = lead[: len(lead) - len(rows)]
    total: Node | None = None
    for term in range(a.shape[-1]):
        summed = (Index(term),)
        first = source(a, aligned((*outer, *rows, *summed), a.shape))
        second = source(b, aligned((*outer, *summed, *column), b.shape))
        product = Apply(records.mul, [first, second], dtype, step=step)
        total = product if total is None else Apply(records.add, [total, product], dtype, step=step)
    assert total is not None
    return total


# -- numbers --------------------------------------------------------------------------------------


@index_map(records.zeros, records.zeros_like, records.zero_tangent, records.zero)
def _zeros(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    return zero(step)


def _has_number(step: Step) -> bool:
    return isinstance(step.params["value"], bool | int | float)


@index_map(records.fill_scalar, accepts=_has_number)
def _filled(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    return Literal(step.params["value"], step.outs[0].dtype)
