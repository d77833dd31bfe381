"""Layer 8 · compiler: index maps of concatenation, padding, and writes into regions.

NOTE [parts of values]
The result of such a primitive consists of parts, each a value that occupies a region, and of a
background. `PARTS` describes them once. An element that is computed inline is found by testing
which region its place is in (NOTE [index maps] in `wengert.compiler.backends.index_maps`). A stored
result needs no tests: each part is written to its region by loops of its own, in order, so that
later parts may overwrite earlier ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from wengert.compiler.backends.affine import Counter, Index, Place
from wengert.compiler.backends.index_maps import (
    INDEX_MAPS,
    IndexMap,
    Source,
    index_map,
    static,
    zero,
)
from wengert.compiler.backends.nodes import Choice, Literal, Node
from wengert.compiler.backends.view_maps import (
    Box,
    Diagonal,
    Region,
    diagonal,
    selected,
    sliced,
)
from wengert.compiler.ir.programs import Step, Value
from wengert.prims import records
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive

# with more parts than this, to write each part costs less than to test each element
_PARTS = 3


class Parts(NamedTuple):
    """The parts of a result.

    Attributes
    ----------
    parts: The values that occupy regions of it.
    background: What lies between them: a value, a number, or None if they cover the result.
    """

    parts: list[Box | Diagonal]
    background: Any = None


PARTS: Facet[Callable[[Step, Counter | None], Parts] | None] = Facet("consists", lambda prim: None)
"""The parts that a stored result is written from (NOTE [parts of values]), if it has parts."""


def _element(source: Source, place: Place, of: Parts, step: Step) -> Node:
    """The element of a result at a place."""
    found: Node | None = None
    if of.background is not None:
        held = isinstance(of.background, Value)
        found = source(of.background, place) if held else Literal(of.background, step.outs[0].dtype)
    for part in reversed(of.parts):
        at, tests = part.origin(place)
        bounds = [index.bounds() for index, _, _ in tests]
        pairs = list(zip(tests, bounds, strict=True))
        if any(most < low or least >= high for (_, low, high), (least, most) in pairs):
            continue
        open_ = [test for test, (least, most) in pairs if least < test[1] or most >= test[2]]
        inside = source(part.value, at)
        found = Choice(open_, inside, found) if open_ and found is not None else inside
    return zero(step) if found is None else found


def _made_of(*prims: Primitive, stored: bool = True, **how: Any) -> Callable[[Any], Any]:
    """The decorator of what gives the `Parts` of a step's result.

    Parameters
    ----------
    stored: Whether a result that must lie in memory is written part by part.
    """

    def register(parts: Callable[[Step, Counter | None], Parts]) -> Any:
        def node(source: Source, step: Step, place: Place, i: Any) -> Node:
            return _element(source, place, parts(step, i), step)

        INDEX_MAPS.of(*prims)(IndexMap(node, piecewise=True, **how))
        if stored:
            PARTS.of(*prims)(parts)
        return parts

    return register


def _has_few_parts(step: Step) -> bool:
    return len(step.args) <= _PARTS


@_made_of(records.cat, inline=_has_few_parts)
def _joined(step: Step, i: Counter | None) -> Parts:
    dim, start = step.params["dim"], 0
    parts: list[Any] = []
    for value in step.args:
        if value.shape[dim]:
            parts.append(Box(value, {dim: Index(start)}))
            start += value.shape[dim]
    return Parts(parts)


@_made_of(records.stack, inline=_has_few_parts)
def _stacked(step: Step, i: Counter | None) -> Parts:
    dim = step.params["dim"]
    return Parts([Box(value, {dim: Index(k)}, dim) for k, value in enumerate(step.args)])


def _around(region: Region) -> Callable[[Step, Counter | None], Parts]:
    """Return the parts of a value in a region, among zeros or written over the first argument."""

    def parts(step: Step, i: Counter | None) -> Parts:
        part = region(step, step.args[-1], step.outs[0], i)
        return Parts([part], step.args[0] if len(step.args) == 2 else 0)

    return parts


_made_of(records.select_backward, records.select_scatter, stored=False, counted={"index"})(
    _around(selected)
)
_made_of(
    *(records.slice_backward, records.slice_scatter),
    accepts=static("step"),
    inline=lambda step: bool(step.params["step"] == 1),
    counted={"start", "end"},
)(_around(sliced))
_made_of(records.diagonal_backward, records.diagonal_scatter, records.diag_embed)(_around(diagonal))


@_made_of(records.constant_pad_nd, stored=False)
def _padded(step: Step, i: Counter | None) -> Parts:
    starts = {dim: Index(before) for dim, (before, _) in enumerate(step.params["pads"])}
    return Parts([Box(step.args[0], starts)], step.params["value"])


@_made_of(records.shift, stored=False)
def _shifted(step: Step, i: Counter | None) -> Parts:
    (value,), by = step.args, step.params["by"]
    if value.shape:
        return Parts([Box(value, {step.params["dim"]: Index(by)})], step.params["fill"])
    return Parts([] if by else [Box(value, {})], step.params["fill"])


@index_map(records.tril, records.triu, piecewise=True)
def _triangle(source: Source, step: Step, place: Place, i: Any) -> Node:
    away = place[-1].plus(place[-2].times(-1)).moved(-step.params["diagonal"])
    low, high = away.bounds()
    # lower: columns minus rows up to the diagonal; upper: from it on
    test = (away, low, 1) if step.prim.name == "tril" else (away, 0, high + 1)
    if test[1] >= test[2]:
        return zero(step)
    inside = source(step.args[0], place)
    return inside if (low, high + 1) == test[1:] else Choice([test], inside, zero(step))
