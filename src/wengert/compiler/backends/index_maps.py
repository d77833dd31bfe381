"""Layer 8 · compiler: index maps, from places of a step's result to elements of its arguments.

NOTE [index maps]
A step that only moves or repeats elements needs no loop and no buffer of its own. Where a loop
reads an element of its result, the loop computes the element of the argument instead. The facet
`INDEX_MAPS` gives the node at each place of the result. So views, concatenations, gathers and their
transposes are fused into the loops that read them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from wengert.compiler.backends.affine import (
    ZERO,
    Counter,
    Index,
    Place,
    linear,
    of,
    place_of,
)
from wengert.compiler.backends.nodes import Literal, Node
from wengert.compiler.ir.programs import Affine, Step, Value
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive

Source = Callable[[Value, Place], Node]
Rule = Callable[[Source, "Step", Place, Any], Node]


class IndexMap(NamedTuple):
    """The index map of a primitive.

    Attributes
    ----------
    node
        ``node(source, step, place, i)``: the element of the result at `place`. The callback
        ``source(value, place)`` gives elements of arguments; `i` is the counter of the loop whose
        body holds the step, if any.
    accepts: Whether the map applies to a step.
    piecewise: Whether elements come from several arguments or regions, by tests of their place.
    view: Whether the elements are those of one argument at affine indices.
    inline: Whether single elements can be computed; if not, the value is stored region by region.
    cost: Rough cycles per element, without those of the arguments' elements.
    counted: The integer parameters that may depend on a loop's counter.
    looked: ``looked(step)``: the index arrays of a step, with the sizes of what they index.
    often: Whether many elements of the result read the same element of an argument.
    """

    node: Rule
    accepts: Callable[[Step], bool] = lambda step: True
    piecewise: bool = False
    view: bool = False
    inline: Callable[[Step], bool] = lambda step: True
    cost: Callable[[Step], int] = lambda step: 0
    counted: Collection[str] = ()
    looked: Callable[[Step], list[tuple[Value, int]]] = lambda step: []
    often: Callable[[Step], bool] = lambda step: False


INDEX_MAPS: Facet[IndexMap | None] = Facet("index_map", lambda prim: None)
"""The index map of a primitive, or None (NOTE [index maps])."""


def index_map(*prims: Primitive, **how: Any) -> Callable[[Rule], Rule]:
    """Decorate the rule `node` of primitives; keywords are the other fields of `IndexMap`."""

    def register(node: Rule) -> Rule:
        INDEX_MAPS.of(*prims)(IndexMap(node, **how))
        return node

    return register


def aligned(place: Place, shape: Sequence[int]) -> Place:
    """Return the place in `shape` that broadcasting maps to a place of the result."""
    lead = len(place) - len(shape)
    return tuple(
        [ZERO if size == 1 else index for index, size in zip(place[lead:], shape, strict=True)]
    )


def splits(inner: Sequence[int], outer: Sequence[int]) -> bool:
    """Return whether the reshape from `inner` to `outer` has affine indices."""
    place = tuple([of(Counter(size)) for size in outer])
    return place_of(linear(place, outer), inner) is not None


def at(param: Any, i: Counter | None, size: int = 0) -> Index:
    """An integer parameter as an index; negative ones count from the end of `size`."""
    if isinstance(param, Affine):
        assert i is not None
        return Index(param.start).plus(of(i).times(param.step))
    return Index(param + size if param < 0 else param)


def at_dim(place: Place, dim: int, index: Index) -> Place:
    """Return the place with the index along one dimension replaced."""
    return (*place[:dim], index, *place[dim + 1 :])


def zero(step: Step) -> Literal:
    """A zero of the dtype of a step's result."""
    return Literal(0, step.outs[0].dtype)


def static(*names: str) -> Callable[[Step], bool]:
    """Return a test that parameters are plain integers, independent of loop counters."""
    return lambda step: not any(isinstance(step.params[name], Affine) for name in names)
