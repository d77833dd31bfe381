"""Layer 8 · compiler: steps whose elements are elements of their arguments, found by their place.

NOTE [pulling]
A step that moves elements, or repeats them, needs no loop of its own and no memory: where an
element of its result is wanted, the element of its argument is computed in its stead. The facet
`PULLS` of such a primitive says for a place of the result what node stands there. So
views of any kind, concatenations, gathers and their transposes dissolve in the loops that use them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

__all__ = [
    "PULLS",
    "Pull",
    "Source",
    "aligned",
    "at_dim",
    "pulled",
    "splits",
    "static",
    "whole",
    "zero",
]


Source = Callable[[Value, Place], Node]
Rule = Callable[[Source, "Step", int, Place, Any], Node]


class Pull(NamedTuple):
    """The way in which a primitive's elements are located.

    Attributes
    ----------
    node
        ``node(source, step, k, place, i)``: the element of output `k` at `place`, where
        ``source(value, place)`` gives elements of arguments, and `i` is the counter of the loop
        among whose steps this is one, if any.
    accepts: Whether this holds for the step at hand.
    piecewise: Whether elements come from several places, so that tests are made for each.
    view: Whether the elements are those of one argument at places that `Index`es of the loops say.
    inline: Whether elements can be found one by one; else the value must be stored, by regions.
    cost: Rough cycles for one element, besides those of the arguments' elements.
    counted: The integer parameters that may depend on a loop's counter.
    looked: ``looked(step)``: the index arrays of a step, with the sizes of what they index.
    often: Whether each element of an argument is read for many elements of the result.
    """

    node: Rule
    accepts: Callable[[Step], bool] = lambda step: True
    piecewise: bool = False
    view: bool = False
    inline: Callable[[Step], bool] = lambda step: True
    cost: Callable[[Step], int] = lambda step: 0
    counted: frozenset[str] = frozenset()
    looked: Callable[[Step], list[tuple[Value, int]]] = lambda step: []
    often: Callable[[Step], bool] = lambda step: False


PULLS: Facet[Pull | None] = Facet("pulled", lambda prim: None)
"""The pull that locates elements (NOTE [pulling]), where there is one."""


def pulled(*prims: Primitive, **how: Any) -> Callable[[Rule], Rule]:
    """The decorator of the rule `node` of primitives, with what else there is to a `Pull`."""

    def register(node: Rule) -> Rule:
        PULLS.of(*prims)(Pull(node, **how))
        return node

    return register


def aligned(place: Place, shape: Sequence[int]) -> Place:
    """A place of what `shape` was broadcast to, as a place in `shape`."""
    lead = len(place) - len(shape)
    return tuple(
        [ZERO if size == 1 else index for index, size in zip(place[lead:], shape, strict=True)]
    )


def splits(inner: Sequence[int], outer: Sequence[int]) -> bool:
    """Whether every place of a value reshaped to `outer` has a place in `inner`."""
    place = tuple([of(Counter(size)) for size in outer])
    return place_of(linear(place, outer), inner) is not None


def whole(param: Any, i: Counter | None, size: int = 0) -> Index:
    """An integer parameter as an index; negative ones count from the end of `size`."""
    if isinstance(param, Affine):
        assert i is not None
        return Index(param.start).plus(of(i).times(param.step))
    return Index(param + size if param < 0 else param)


def at_dim(place: Place, dim: int, index: Index) -> Place:
    """A place with another index along one dimension."""
    return (*place[:dim], index, *place[dim + 1 :])


def zero(step: Step) -> Literal:
    """A zero of the dtype of a step's result."""
    return Literal(0, step.outs[0].dtype)


def static(*names: str) -> Callable[[Step], bool]:
    """Whether parameters are plain integers rather than counted ones."""
    return lambda step: not any(isinstance(step.params[name], Affine) for name in names)
