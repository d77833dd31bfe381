"""Layer 8 · compiler: index maps of gathers, of small products, and of filled arrays; scatters.

See NOTE [index maps] in `wengert.compiler.backends.index_maps`.

NOTE [scatters]
A scatter writes to the places that the gather with the same indices reads. So `SCATTERS` holds the
same places as the index maps of gathers. It is lowered to a loop that fills the result, and a loop
over what is written, in order: of several elements for one place the last one remains, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.backends.affine import ZERO, Index, Looked, Place, of
from wengert.compiler.backends.index_maps import (
    Rule,
    Source,
    aligned,
    at_dim,
    index_map,
    zero,
)
from wengert.compiler.backends.nodes import Apply, Literal, Node, Position
from wengert.compiler.codegen.code import is_native
from wengert.compiler.ir.programs import Step, Value
from wengert.prims import records
from wengert.prims.facet import Facet

Shape = tuple[int, ...]
Target = Callable[[Source, Step, Place, Shape], Place]
"""``target(source, step, place, shape)``: the place in `shape` that indices name."""

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
    value, indices = step.args[:2]
    return [(indices, value.shape[step.params.get("dim", 0)])] if value.shape else []


def _by_element(source: Source, step: Step, place: Place, shape: Shape) -> Place:
    """Return the place in `shape` that the index at a place names, along one dimension."""
    dim = step.params["dim"]
    return at_dim(place, dim, _looked(source, step.args[1], place, shape[dim]))


def _by_row(source: Source, step: Step, place: Place, shape: Shape) -> Place:
    """Return the place in `shape` that the index of its row names, along one dimension."""
    dim, indices = step.params["dim"], step.args[1]
    at = (place[dim],) if indices.shape else ()
    return at_dim(place, dim, _looked(source, indices, at, shape[dim]))


def _by_arrays(source: Source, step: Step, place: Place, shape: Shape) -> Place:
    """Return the place in `shape` that index arrays name, None for dimensions without one."""
    selected = _Selected(step, shape)
    front, rank = selected.front, len(selected.picked)
    at = place[front : front + rank]
    rest = iter((*place[:front], *place[front + rank :]))
    found = [
        next(rest)
        if index is None
        else _looked(source, index, aligned(at, index.shape), shape[dim])
        for dim, index in enumerate(selected.indices)
    ]
    return tuple(found)


class _Selected:
    """The selection ``x[indices]``, with an integer array or None for each dimension.

    Attributes
    ----------
    indices: The index array of each dimension of `x`, or None.
    picked, front: The broadcast shape of index arrays, and its first dimension in the selection.
    shape: The shape of the selection.
    """

    def __init__(self, step: Step, shape: Shape) -> None:
        indices = step.params["indices"]
        self.indices = [*indices, *[None] * (len(shape) - len(indices))]
        dims = [dim for dim, index in enumerate(indices) if index is not None]
        self.picked = np.broadcast_shapes(*[indices[dim].shape for dim in dims])
        # index arrays side by side take the place of their dimensions, others go to the front
        self.front = dims[0] if dims[-1] - dims[0] == len(dims) - 1 else 0
        rest = [n for n, index in zip(shape, self.indices, strict=True) if index is None]
        self.shape = (*rest[: self.front], *self.picked, *rest[self.front :])


@index_map(records.take, accepts=lambda step: len(step.args[0].shape) == 1, looked=_along)
def _taken(source: Source, step: Step, place: Place, i: Any) -> Node:
    value, indices = step.args
    return source(value, (_looked(source, indices, place, value.shape[0]),))


def _can_index(step: Step) -> bool:
    indices = step.params["indices"]
    held = [index for index in indices if index is not None] if isinstance(indices, tuple) else []
    return bool(held) and all(isinstance(i, Value) and i.dtype.kind in "iu" for i in held)


def _indices(shape: Shape, step: Step) -> list[tuple[Value, int]]:
    pairs = zip(step.params["indices"], shape, strict=False)
    return [(index, size) for index, size in pairs if index is not None]


def _gathering(target: Target) -> Rule:
    """Return the rule of a gather, which reads the elements that a scatter writes."""

    def node(source: Source, step: Step, place: Place, i: Any) -> Node:
        value = step.args[0]
        return source(value, target(source, step, place, value.shape) if value.shape else ())

    return node


index_map(records.gather, looked=_along)(_gathering(_by_element))
index_map(records.index_select, accepts=lambda step: len(step.args[1].shape) <= 1, looked=_along)(
    _gathering(_by_row)
)
index_map(
    records.index, accepts=_can_index, looked=lambda step: _indices(step.args[0].shape, step)
)(_gathering(_by_arrays))


@index_map(records.at_index, accepts=lambda step: step.args[0].dtype == np.int64)
def _at_index(source: Source, step: Step, place: Place, i: Any) -> Node:
    dim, indices = step.params["dim"], step.args[0]
    if not place:
        return Literal(True, np.dtype(np.bool_))
    at = at_dim(place, dim, ZERO) if step.params["keepdim"] else (*place[:dim], *place[dim + 1 :])
    named = source(indices, at)
    return Apply(records.eq, [Position(place[dim]), named], np.dtype(np.bool_), step=step)


# -- scatters -------------------------------------------------------------------------------------


class Scatter(NamedTuple):
    """A scatter (NOTE [scatters]).

    Attributes
    ----------
    target: The place in the result of an element.
    accepts: Whether it applies to a step, besides the dtypes.
    shape: The shape of what is written.
    looked: The index arrays, with the sizes of what they index.
    adds: Whether elements for one place add up.
    """

    target: Target
    accepts: Callable[[Step], bool]
    shape: Callable[[Step], Shape]
    looked: Callable[[Step], list[tuple[Value, int]]]
    adds: Callable[[Step], bool]

    def takes(self, step: Step) -> bool:
        """Return whether the scatter applies to a step."""
        out, values = step.outs[0], written(step)
        if not all(out.shape) or not is_native(out.dtype):
            return False
        if isinstance(values, Value):
            castable = np.can_cast(values.dtype, out.dtype, "same_kind")
            return is_native(values.dtype) and castable and self.accepts(step)
        return isinstance(values, int | float) and self.accepts(step)


def written(step: Step) -> Any:
    """Return the value, or the number, that a scatter writes."""
    return step.params["value"] if "value" in step.params else step.args[-1]


SCATTERS: Facet[Scatter | None] = Facet("scatters", lambda prim: None)
"""How a primitive writes to places that indices name, or None."""


def _is_selection(step: Step) -> bool:
    if not _can_index(step):
        return False
    shape = _selection_of(step)
    try:
        return np.broadcast_shapes(step.args[-1].shape, shape) == shape
    except ValueError:
        return False


def _selection_of(step: Step) -> Shape:
    return _Selected(step, step.outs[0].shape).shape


SCATTERS.of(records.index_backward, records.index_put)(
    Scatter(
        _by_arrays,
        _is_selection,
        _selection_of,
        lambda step: _indices(step.outs[0].shape, step),
        lambda step: bool(step.params.get("accumulate", True)),
    )
)


def _has_rows(step: Step) -> bool:
    (self, index, source), dim = step.args, step.params["dim"]
    chosen = (*self.shape[:dim], *index.shape, *self.shape[dim + 1 :])
    number = step.params["alpha"] == 1 and len(index.shape) == 1 and index.dtype.kind in "iu"
    return number and bool(self.shape) and source.shape == chosen


def _has_elements(step: Step) -> bool:
    self, index, *values = step.args
    if not self.shape or index.dtype.kind not in "iu" or len(index.shape) != len(self.shape):
        return False
    dim = step.params["dim"]
    inside = [d == dim or n <= self.shape[d] for d, n in enumerate(index.shape)]
    return all(inside) and all(
        n <= m for value in values for n, m in zip(index.shape, value.shape, strict=True)
    )


SCATTERS.of(records.index_add)(
    Scatter(_by_row, _has_rows, lambda step: step.args[2].shape, _along, lambda step: True)
)
SCATTERS.of(records.scatter_add)(
    Scatter(_by_element, _has_elements, lambda step: step.args[1].shape, _along, lambda step: True)
)
SCATTERS.of(records.scatter, records.scatter_value)(
    Scatter(_by_element, _has_elements, lambda step: step.args[1].shape, _along, lambda step: False)
)


def background_of(step: Step) -> Value | int:
    """Return what the result of a scatter holds before."""
    return 0 if step.prim is records.index_backward else step.args[0]


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
def _product(source: Source, step: Step, place: Place, i: Any) -> Node:
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
def _zeros(source: Source, step: Step, place: Place, i: Any) -> Node:
    return zero(step)


@index_map(
    records.fill_scalar, accepts=lambda step: isinstance(step.params["value"], bool | int | float)
)
def _filled(source: Source, step: Step, place: Place, i: Any) -> Node:
    return Literal(step.params["value"], step.outs[0].dtype)
