"""Layer 8 · compiler: stored values that are written region by region.

A concatenation of many parts that must lie in memory needs no test for each of its elements: each
part is written to where it belongs, in loops of its own. So are zeros with something on a diagonal,
or at every other place. A later region may write over what an earlier one has written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from wengert.compiler.backends.affine import Counter, Index, Place
from wengert.compiler.backends.nodes import Node
from wengert.compiler.backends.pull import Source, at_dim, whole, zero
from wengert.compiler.ir.programs import Step, Value
from wengert.prims import records
from wengert.prims.facet import Facet

__all__ = ["REGIONS", "Region"]


class Region(NamedTuple):
    """Part of a value.

    Attributes
    ----------
    shape: The shape of the loops that write it.
    target: Where in the value an element of the loops is written.
    node: ``node(source, place)``: what is written there.
    """

    shape: tuple[int, ...]
    target: Callable[[Place], Place]
    node: Callable[[Source, Place], Node]


Regions = Callable[[Step, "Counter | None"], Iterator[Region]]
REGIONS: Facet[Regions | None] = Facet("regions", lambda prim: None)
"""The regions of its result where that is stored, if it is written so."""


def _same(place: Place) -> Place:
    return place


def _all_of(value: Value, target: Callable[[Place], Place] = _same) -> Region:
    return Region(value.shape, target, lambda source, place: source(value, place))


def _zeros(step: Step) -> Region:
    out = step.outs[0]
    literal = zero(step)
    return Region(out.shape, _same, lambda source, place: literal)


def _moved(dim: int, start: Index, by: int = 1) -> Callable[[Place], Place]:
    return lambda place: at_dim(place, dim, place[dim].times(by).plus(start))


def _inserted(dim: int, index: Index) -> Callable[[Place], Place]:
    return lambda place: (*place[:dim], index, *place[dim:])


@REGIONS.of(records.cat)
def _joined(step: Step, i: Counter | None) -> Iterator[Region]:
    dim, start = step.params["dim"], 0
    for value in step.args:
        yield _all_of(value, _moved(dim, Index(start)))
        start += value.shape[dim]


@REGIONS.of(records.stack)
def _stacked(step: Step, i: Counter | None) -> Iterator[Region]:
    for k, value in enumerate(step.args):
        yield _all_of(value, _inserted(step.params["dim"], Index(k)))


def _around(step: Step) -> tuple[Region, Value]:
    """What is behind the region of a step, and what is written into it."""
    if len(step.args) == 2:
        return _all_of(step.args[0]), step.args[1]
    return _zeros(step), step.args[0]


@REGIONS.of(records.slice_backward, records.slice_scatter)
def _sliced(step: Step, i: Counter | None) -> Iterator[Region]:
    behind, value = _around(step)
    dim = step.params["dim"]
    start, by = step.params["start"], step.params["step"]
    if isinstance(start, int):
        start, _, by = slice(start, step.params["end"], by).indices(step.outs[0].shape[dim])
    yield behind
    yield _all_of(value, _moved(dim, whole(start, i), by))


@REGIONS.of(records.diagonal_backward, records.diag_embed, records.diagonal_scatter)
def _diagonal(step: Step, i: Counter | None) -> Iterator[Region]:
    behind, value = _around(step)
    rank = len(step.outs[0].shape)
    offset = step.params["offset"]
    one, two = step.params["dim1"] % rank, step.params["dim2"] % rank

    def target(place: Place) -> Place:
        rest = iter(place[:-1])
        ends = {one: place[-1].moved(max(-offset, 0)), two: place[-1].moved(max(offset, 0))}
        return tuple([ends[dim] if dim in ends else next(rest) for dim in range(rank)])

    yield behind
    yield _all_of(value, target)
