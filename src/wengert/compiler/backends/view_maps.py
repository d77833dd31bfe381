"""Layer 8 · compiler: index maps of views.

See NOTE [index maps] in `wengert.compiler.backends.index_maps`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from wengert.compiler.backends.affine import ZERO, Counter, Index, Place, linear, of, place_of
from wengert.compiler.backends.index_maps import (
    Rule,
    Source,
    aligned,
    at,
    at_dim,
    index_map,
    splits,
    static,
)
from wengert.compiler.backends.nodes import Node
from wengert.compiler.ir.facets import REARRANGES, having, permutation
from wengert.compiler.ir.programs import Step, Value
from wengert.prims import records

Test = tuple[Index, int, int]

_RESHAPES, _ORDERS = (
    [prim for prim in having(REARRANGES) if REARRANGES[prim] == how and prim is not records.alias]
    for how in ("shape", "order")
)


@index_map(records.alias, records.clone, records.contiguous, view=True)
def _same(source: Source, step: Step, place: Place, i: Any) -> Node:
    return source(step.args[0], place)


@index_map(
    *_RESHAPES, accepts=lambda step: splits(step.args[0].shape, step.outs[0].shape), view=True
)
def _reshaped(source: Source, step: Step, place: Place, i: Any) -> Node:
    value, shape = step.args[0], step.outs[0].shape
    counters = [Counter(n) for n in shape]
    found = place_of(linear(tuple(map(of, counters)), shape), value.shape)
    assert found is not None
    # the same affine functions, also at places outside of the value (see `join_maps`)
    known = dict(zip(counters, place, strict=True))
    return source(value, tuple([index.put(known) for index in found]))


@index_map(records.expand, view=True)
def _expanded(source: Source, step: Step, place: Place, i: Any) -> Node:
    value = step.args[0]
    return source(value, aligned(place, value.shape))


@index_map(*_ORDERS, view=True)
def _permuted(source: Source, step: Step, place: Place, i: Any) -> Node:
    found = [ZERO] * len(place)
    order = permutation(step.prim.name, step.params, len(place))
    for index, dim in zip(place, order, strict=True):
        found[dim] = index
    return source(step.args[0], tuple(found))


@index_map(records.unfold, accepts=lambda step: bool(step.args[0].shape), view=True)
def _unfolded(source: Source, step: Step, place: Place, i: Any) -> Node:
    dim = step.params["dimension"]
    index = place[dim].times(step.params["step"]).plus(place[-1])
    return source(step.args[0], at_dim(place[:-1], dim, index))


@index_map(records.flip, view=True)
def _flipped(source: Source, step: Step, place: Place, i: Any) -> Node:
    value = step.args[0]
    dims = [dim % len(value.shape) for dim in step.params["dims"]]
    found = [
        index.times(-1).moved(size - 1) if dim in dims else index
        for dim, (index, size) in enumerate(zip(place, value.shape, strict=True))
    ]
    return source(value, tuple(found))


# -- regions --------------------------------------------------------------------------------------


class Box(NamedTuple):
    """A value that occupies a box of the result.

    Attributes
    ----------
    starts: Where the value begins along dimensions of the result; 0 along all others.
    lacks: The dimension of the result that the value lacks; it occupies one position of it.
    step: The distance of its elements along the dimensions in `starts`.
    """

    value: Value
    starts: dict[int, Index]
    lacks: int | None = None
    step: int = 1

    def target(self, place: Place) -> Place:
        """Return the place in the result of an element of the value."""
        at = list(place)
        if self.lacks is not None:
            at.insert(self.lacks, ZERO)
        for dim, start in self.starts.items():
            at[dim] = at[dim].times(self.step).plus(start)
        return tuple(at)

    def origin(self, place: Place) -> tuple[Place, list[Test]]:
        """Return the place in the value of an element of the result, and when it is valid."""
        at, tests = list(place), []
        shape = list(self.value.shape)
        if self.lacks is not None:
            shape.insert(self.lacks, 1)
        for dim, start in self.starts.items():
            at[dim] = place[dim].plus(start.times(-1))
            tests.append((at[dim], 0, shape[dim]))
        # a dimension of size 1 has the one index 0
        pairs = enumerate(zip(shape, at, strict=True))
        return tuple([ZERO if n == 1 else i for d, (n, i) in pairs if d != self.lacks]), tests


class Diagonal(NamedTuple):
    """A value whose last dimension occupies a diagonal of the result."""

    value: Value
    one: int
    two: int
    offset: int

    def target(self, place: Place) -> Place:
        """Return where an element of the value lies on the diagonal of the result."""
        *rest, last = place
        ends = {self.one: max(-self.offset, 0), self.two: max(self.offset, 0)}
        for dim in sorted(ends):
            rest.insert(dim, last.moved(ends[dim]))
        return tuple(rest)

    def origin(self, place: Place) -> tuple[Place, list[Test]]:
        """Return the place in the value, and when the place is on the diagonal."""
        away = place[self.two].plus(place[self.one].times(-1)).moved(-self.offset)
        last = place[self.one].moved(min(self.offset, 0))
        rest = [index for dim, index in enumerate(place) if dim not in (self.one, self.two)]
        return (*rest, last), [(away, 0, 1), (last, 0, self.value.shape[-1])]


Region = Callable[[Step, Value, Value, Counter | None], Box | Diagonal]
"""``region(step, part, whole, i)``: where the part lies that a step reads, or writes."""


def selected(step: Step, part: Value, whole: Value, i: Counter | None) -> Box:
    """Return the region of a part at one position."""
    dim = step.params["dim"]
    return Box(part, {dim: at(step.params["index"], i, whole.shape[dim])}, dim)


def sliced(step: Step, part: Value, whole: Value, i: Counter | None) -> Box:
    """Return the region of a part at evenly spaced positions."""
    dim, start, by = (step.params[name] for name in ("dim", "start", "step"))
    if isinstance(start, int):
        start, _, by = slice(start, step.params["end"], by).indices(whole.shape[dim])
    return Box(part, {dim: at(start, i)}, step=by)


def diagonal(step: Step, part: Value, whole: Value, i: Counter | None) -> Diagonal:
    """Return the region of a part on a diagonal."""
    rank, params = len(whole.shape), step.params
    return Diagonal(part, params["dim1"] % rank, params["dim2"] % rank, params["offset"])


def _read(region: Region) -> Rule:
    def node(source: Source, step: Step, place: Place, i: Any) -> Node:
        (value,) = step.args
        return source(value, region(step, step.outs[0], value, i).target(place))

    return node


index_map(records.select, view=True, counted={"index"})(_read(selected))
index_map(records.slice, accepts=static("step"), view=True, counted={"start", "end"})(_read(sliced))
index_map(records.diagonal, view=True)(_read(diagonal))
