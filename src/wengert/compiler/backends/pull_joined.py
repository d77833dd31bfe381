"""Layer 8 · compiler: joined and padded arrays, whose elements come from several places.

See NOTE [pulling] in `wengert.compiler.backends.pull`.
"""

from __future__ import annotations

from typing import Any

from wengert.compiler.backends.affine import ZERO, Place
from wengert.compiler.backends.nodes import Choice, Literal, Node
from wengert.compiler.backends.pull import (
    Source,
    at_dim,
    pulled,
    static,
    whole,
    zero,
)
from wengert.compiler.ir.programs import Step, Value
from wengert.prims import records

__all__: list[str] = []

# a test for each part of each element takes longer than to write many parts first
_PARTS = 3


def _within(
    source: Source, value: Value, place: Place, limits: dict[int, int], outside: Node
) -> Node:
    """The element where the indices lie in the value along `limits`, `outside` elsewhere."""
    tests = []
    for dim, size in limits.items():
        low, high = place[dim].bounds()
        if high < 0 or low >= size:
            return outside
        if low < 0 or high >= size:
            tests.append((place[dim], 0, size))
    inside = source(value, _only(value, place))
    return Choice(tests, inside, outside) if tests else inside


def _only(value: Value, place: Place) -> Place:
    """A place that lies in a value: along dimensions of size 1 it is the only one."""
    return tuple([ZERO if n == 1 else at for n, at in zip(value.shape, place, strict=True)])


def _has_few_parts(step: Step) -> bool:
    return len(step.args) <= _PARTS


@pulled(records.cat, piecewise=True, inline=_has_few_parts)
def _joined(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim = step.params["dim"]
    start = step.outs[0].shape[dim]
    node: Node | None = None
    for value in reversed(step.args):
        size = value.shape[dim]
        if not size:
            continue
        start -= size
        part = at_dim(place, dim, place[dim].moved(-start))
        if node is None:
            low, _ = part[dim].bounds()
            # whatever lies behind all others is in the last
            inside = source(value, _only(value, part))
            node = inside if low >= 0 else Choice([(part[dim], 0, size)], inside, zero(step))
        else:
            node = _within(source, value, part, {dim: size}, node)
    return node or zero(step)


@pulled(records.stack, piecewise=True, inline=_has_few_parts)
def _stacked(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim = step.params["dim"]
    rest = (*place[:dim], *place[dim + 1 :])
    low, high = place[dim].bounds()
    # places outside are not read: a test that they are is around this
    low, high = max(low, 0), min(high, len(step.args) - 1)
    node = source(step.args[high], rest)
    for number in range(high - 1, low - 1, -1):
        test = (place[dim], number, number + 1)
        node = Choice([test], source(step.args[number], rest), node)
    return node


def _behind(source: Source, step: Step, place: Place) -> tuple[Node, Value]:
    """What is there where a part has not been written, and the part."""
    if len(step.args) == 2:
        return source(step.args[0], place), step.args[1]
    return zero(step), step.args[0]


@pulled(
    *(records.select_backward, records.select_scatter),
    piecewise=True,
    counted=frozenset({"index"}),
)
def _select_backward(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim = step.params["dim"]
    behind, value = _behind(source, step, place)
    away = place[dim].plus(whole(step.params["index"], i, step.outs[0].shape[dim]).times(-1))
    low, high = away.bounds()
    rest = (*place[:dim], *place[dim + 1 :])
    if high < 0 or low > 0:
        return behind
    if low == high == 0:
        return source(value, rest)
    return Choice([(away, 0, 1)], source(value, rest), behind)


def _is_dense(step: Step) -> bool:
    return bool(step.params["step"] == 1)


@pulled(
    *(records.slice_backward, records.slice_scatter),
    accepts=static("step"),
    piecewise=True,
    inline=_is_dense,
    counted=frozenset({"start", "end"}),
)
def _slice_backward(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim = step.params["dim"]
    behind, value = _behind(source, step, place)
    start = step.params["start"]
    if isinstance(start, int):
        size = step.outs[0].shape[dim]
        start, _, _ = slice(start, step.params["end"], 1).indices(size)
    part = at_dim(place, dim, place[dim].plus(whole(start, i).times(-1)))
    return _within(source, value, part, {dim: value.shape[dim]}, behind)


@pulled(*(records.diagonal_backward, records.diagonal_scatter, records.diag_embed), piecewise=True)
def _diagonal_backward(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    offset = step.params["offset"]
    one, two = step.params["dim1"] % len(place), step.params["dim2"] % len(place)
    behind, value = _behind(source, step, place)
    away = place[two].plus(place[one].times(-1)).moved(-offset)
    last = place[one].moved(min(offset, 0))
    rest = [index for dim, index in enumerate(place) if dim not in (one, two)]
    low, high = last.bounds()
    tests = [(away, 0, 1)]
    if low < 0 or high >= value.shape[-1]:
        tests.append((last, 0, value.shape[-1]))
    if not value.shape[-1]:
        return behind
    return Choice(tests, source(value, (*rest, last)), behind)


@pulled(records.tril, records.triu, piecewise=True)
def _triangle(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    away = place[-1].plus(place[-2].times(-1)).moved(-step.params["diagonal"])
    low, high = away.bounds()
    # lower: columns minus rows up to the diagonal; upper: from it on
    test = (away, low, 1) if step.prim.name == "tril" else (away, 0, high + 1)
    if test[1] >= test[2]:
        return zero(step)
    inside = source(step.args[0], place)
    return inside if (low, high + 1) == test[1:] else Choice([test], inside, zero(step))


@pulled(records.constant_pad_nd, piecewise=True)
def _padded(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, pads = step.args[0], step.params["pads"]
    inner = tuple([index.moved(-before) for index, (before, _) in zip(place, pads, strict=True)])
    fill = Literal(step.params["value"], value.dtype)
    return _within(source, value, inner, dict(enumerate(value.shape)), fill)


@pulled(records.shift, piecewise=True)
def _shifted(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, dim, by = step.args[0], step.params["dim"], step.params["by"]
    fill = Literal(step.params["fill"], value.dtype)
    if not value.shape:
        return fill if by else source(value, place)
    part = at_dim(place, dim, place[dim].moved(-by))
    return _within(source, value, part, {dim: value.shape[dim]}, fill)
