"""Layer 8 · compiler: steps whose elements are elements of their arguments, found by their place.

NOTE [pulling]
A step that moves elements, or repeats them, needs no loop of its own and no memory: where an
element of its result is wanted, the element of its argument is computed in its stead. `PULLS` has
an entry for each such primitive, which says for a place of the result what node stands there. So
views of any kind, concatenations, gathers and their transposes dissolve in the loops that use them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.compiler.backends.affine import (
    ZERO,
    Counter,
    Index,
    Looked,
    Place,
    linear,
    of,
    place_of,
)
from wengert.compiler.backends.nodes import Apply, Choice, Literal, Node, Position
from wengert.compiler.ir import Affine, Step, Value

__all__ = ["PULLS", "Pull", "Source", "aligned", "at_dim", "splits", "whole"]

_PARTS = 3
_TERMS = 4
_TINY = 64

Source = Callable[[Value, Place], Node]
Rule = Callable[[Source, "Step", int, Place, Any], Node]


class Pull:
    """How a primitive's elements are found.

    Attributes
    ----------
    node
        ``node(source, step, k, place, i)``: the element of output `k` at `place`, where
        ``source(value, place)`` gives elements of arguments, and `i` is the counter of the loop
        among whose steps this is one, if any.
    accepts
        Whether this holds for the step at hand.
    piecewise
        Whether elements come from several places, so that tests are made for each.
    view
        Whether the elements are those of one argument at places that `Index`es of the loops say.
    inline
        Whether elements can be found one by one; else the value must be stored, by regions.
    cost
        Rough cycles for one element, besides those of the arguments' elements.
    """

    __slots__ = ("accepts", "cost", "inline", "node", "piecewise", "view")

    def __init__(
        self,
        node: Rule,
        accepts: Callable[[Step], bool] | None = None,
        piecewise: bool = False,
        view: bool = False,
        inline: Callable[[Step], bool] | None = None,
        cost: Callable[[Step], int] | None = None,
    ) -> None:
        self.cost = cost or (lambda step: int(piecewise))
        self.view = view
        self.inline = inline or (lambda step: True)
        self.node = node
        self.accepts = accepts or (lambda step: True)
        self.piecewise = piecewise


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


def _zero(step: Step) -> Literal:
    return Literal(0, step.outs[0].dtype)


def _static(*names: str) -> Callable[[Step], bool]:
    """Whether parameters are plain integers rather than counted ones."""
    return lambda step: not any(isinstance(step.params[name], Affine) for name in names)


# -- views ----------------------------------------------------------------------------------------


def _same(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    return source(step.args[0], place)


def _reshaped(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value = step.args[0]
    found = place_of(linear(place, step.outs[0].shape), value.shape)
    assert found is not None
    return source(value, found)


def _can_reshape(step: Step) -> bool:
    return splits(step.args[0].shape, step.outs[0].shape)


def _expanded(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value = step.args[0]
    return source(value, aligned(place, value.shape))


def _permuted(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    found = [ZERO] * len(place)
    for index, dim in zip(place, step.params["dims"], strict=True):
        found[dim] = index
    return source(step.args[0], tuple(found))


def _transposed(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    found = list(place)
    one, two = step.params["dim0"], step.params["dim1"]
    if found:
        found[one], found[two] = found[two], found[one]
    return source(step.args[0], tuple(found))


def _t(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    return source(step.args[0], tuple(reversed(place)))


def _selected(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, dim = step.args[0], step.params["dim"]
    index = whole(step.params["index"], i, value.shape[dim])
    return source(value, (*place[:dim], index, *place[dim:]))


def _sliced(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, dim = step.args[0], step.params["dim"]
    start, by = step.params["start"], step.params["step"]
    if isinstance(start, int):
        start, _, by = slice(start, step.params["end"], by).indices(value.shape[dim])
    index = place[dim].times(by).plus(whole(start, i))
    return source(value, at_dim(place, dim, index))


def _unbound(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim = step.params["dim"]
    return source(step.args[0], (*place[:dim], Index(k), *place[dim:]))


def _split(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim = step.params["dim"]
    return source(step.args[0], at_dim(place, dim, place[dim].moved(sum(step.params["sizes"][:k]))))


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


def _unfolded(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim = step.params["dimension"]
    index = place[dim].times(step.params["step"]).plus(place[-1])
    return source(step.args[0], at_dim(place[:-1], dim, index))


def _flipped(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value = step.args[0]
    dims = [dim % len(value.shape) for dim in step.params["dims"]]
    found = [
        index.times(-1).moved(size - 1) if dim in dims else index
        for dim, (index, size) in enumerate(zip(place, value.shape, strict=True))
    ]
    return source(value, tuple(found))


# -- several sources ------------------------------------------------------------------------------


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
    inside = source(value, place)
    return Choice(tests, inside, outside) if tests else inside


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
            node = source(value, part) if low >= 0 else None
            node = node or Choice([(part[dim], 0, size)], source(value, part), _zero(step))
        else:
            node = _within(source, value, part, {dim: size}, node)
    return node or _zero(step)


def _stacked(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim = step.params["dim"]
    rest = (*place[:dim], *place[dim + 1 :])
    low, high = place[dim].bounds()
    node = source(step.args[high], rest)
    for number in range(high - 1, low - 1, -1):
        test = (place[dim], number, number + 1)
        node = Choice([test], source(step.args[number], rest), node)
    return node


def _behind(source: Source, step: Step, place: Place) -> tuple[Node, Value]:
    """What is there where a part has not been written, and the part."""
    if len(step.args) == 2:
        return source(step.args[0], place), step.args[1]
    return _zero(step), step.args[0]


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


def _slice_backward(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim = step.params["dim"]
    behind, value = _behind(source, step, place)
    start = step.params["start"]
    if isinstance(start, int):
        size = step.outs[0].shape[dim]
        start, _, _ = slice(start, step.params["end"], 1).indices(size)
    part = at_dim(place, dim, place[dim].plus(whole(start, i).times(-1)))
    return _within(source, value, part, {dim: value.shape[dim]}, behind)


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


def _triangle(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    away = place[-1].plus(place[-2].times(-1)).moved(-step.params["diagonal"])
    low, high = away.bounds()
    # lower: columns minus rows up to the diagonal; upper: from it on
    test = (away, low, 1) if step.prim.name == "tril" else (away, 0, high + 1)
    if test[1] >= test[2]:
        return _zero(step)
    inside = source(step.args[0], place)
    return inside if (low, high + 1) == test[1:] else Choice([test], inside, _zero(step))


def _rolled(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value = step.args[0]
    found: list[tuple[list[tuple[Index, int, int]], Place]] = [([], place)]
    for shift, dim in zip(step.params["shifts"], step.params["dims"], strict=True):
        size = value.shape[dim]
        shift %= size
        if not shift:
            continue
        parts = []
        for tests, at in found:
            moved = at[dim].moved(-shift)
            parts.append(([*tests, (moved, 0, size)], at_dim(at, dim, moved)))
            parts.append((tests, at_dim(at, dim, moved.moved(size))))
        found = parts
    node = source(value, found[-1][1])
    for tests, at in reversed(found[:-1]):
        # earlier pieces have at least the tests of later ones, so the first that holds is right
        node = Choice(tests, source(value, at), node)
    return node


def _cornered(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value = step.args[0]
    return _within(source, value, place, dict(enumerate(value.shape)), _zero(step))


def _padded(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, pads = step.args[0], step.params["pads"]
    inner = tuple([index.moved(-before) for index, (before, _) in zip(place, pads, strict=True)])
    fill = Literal(step.params["value"], value.dtype)
    return _within(source, value, inner, dict(enumerate(value.shape)), fill)


def _shifted(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, dim, by = step.args[0], step.params["dim"], step.params["by"]
    fill = Literal(step.params["fill"], value.dtype)
    if not value.shape:
        return fill if by else source(value, place)
    part = at_dim(place, dim, place[dim].moved(-by))
    return _within(source, value, part, {dim: value.shape[dim]}, fill)


def _has_few_parts(step: Step) -> bool:
    # a test for each part of each element takes longer than to write them first
    return len(step.args) <= _PARTS


def _is_dense(step: Step) -> bool:
    return bool(step.params["step"] == 1)


# -- gathers --------------------------------------------------------------------------------------


def _looked(source: Source, indices: Value, place: Place, extent: int) -> Index:
    if indices.constant is not None and not any(index.terms for index in place):
        number = int(indices.constant[tuple([index.constant for index in place])])
        return Index(number + extent if number < 0 else number)
    return of(Looked(source(indices, place), extent))


def _gathered(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, indices = step.args
    if not value.shape:
        return source(value, ())
    dim = step.params["dim"]
    return source(value, at_dim(place, dim, _looked(source, indices, place, value.shape[dim])))


def _index_selected(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, indices = step.args
    if not value.shape:
        return source(value, ())
    dim = step.params["dim"]
    at = (place[dim],) if indices.shape else ()
    return source(value, at_dim(place, dim, _looked(source, indices, at, value.shape[dim])))


def _picked(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, indices = step.args
    if not value.shape:
        return source(value, ())
    dim = step.params["dim"]
    rest = (*place[:dim], *place[dim + 1 :]) if step.params["keepdim"] else place
    at = at_dim(place, dim, ZERO) if step.params["keepdim"] else place
    looked = _looked(source, indices, at, value.shape[dim])
    return source(value, (*rest[:dim], looked, *rest[dim:]))


def _embedded(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    weight, indices = step.args
    row = _looked(source, indices, place[:-1], weight.shape[0])
    return source(weight, (row, place[-1]))


def _taken(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, indices = step.args
    return source(value, (_looked(source, indices, place, value.shape[0]),))


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


def _can_index(step: Step) -> bool:
    return all(
        index is None or (isinstance(index, Value) and index.dtype.kind == "i")
        for index in step.params["indices"]
    )


def _at_index(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    dim, indices = step.params["dim"], step.args[0]
    if not place:
        return Literal(True, np.dtype(np.bool_))
    at = at_dim(place, dim, ZERO) if step.params["keepdim"] else (*place[:dim], *place[dim + 1 :])
    named = source(indices, at)
    return Apply("eq", [Position(place[dim]), named], np.dtype(np.bool_), step=step)


def _can_compare(step: Step) -> bool:
    return step.args[0].dtype == np.int64


# -- short products --------------------------------------------------------------------------------


def _is_short(step: Step) -> bool:
    """Whether a product sums so few terms that it is best computed where it is used."""
    a, b = step.args
    # tiny ones are calls of one function, which is less for LLVM to work on
    size = step.outs[0].size
    few = 0 < a.shape[-1] <= _TERMS and (size >= _TINY or not step.outs[0].shape)
    return few and a.dtype == b.dtype and a.dtype.kind in "fi"


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
        product = Apply("mul", [first, second], dtype, step=step)
        total = product if total is None else Apply("add", [total, product], dtype, step=step)
    assert total is not None
    return total


# -- numbers --------------------------------------------------------------------------------------


def _zeros(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    return _zero(step)


def _filled(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    return Literal(step.params["value"], step.outs[0].dtype)


def _has_number(step: Step) -> bool:
    return isinstance(step.params["value"], bool | int | float)


def _assigned(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    node = source(step.args[1], aligned(place, step.args[1].shape))
    if node.dtype == step.outs[0].dtype:
        return node
    return Apply("to_copy", [node], step.outs[0].dtype, {"dtype": step.outs[0].dtype}, step=step)


PULLS: dict[str, Pull] = {
    **dict.fromkeys(
        ("mm", "mv", "dot", "bmm"),
        Pull(_product, _is_short, cost=lambda step: 2 * step.args[0].shape[-1]),
    ),
    **dict.fromkeys(("alias", "clone", "contiguous", "corner"), Pull(_same, view=True)),
    **dict.fromkeys(
        (
            "view",
            "unsafe_view",
            "squeeze",
            "squeeze_dim",
            "squeeze_dims",
            "squeeze_dim_",
            "unsqueeze",
        ),
        Pull(_reshaped, _can_reshape, view=True),
    ),
    "expand": Pull(_expanded, view=True),
    "permute": Pull(_permuted, view=True),
    "transpose": Pull(_transposed, view=True),
    "t": Pull(_t, view=True),
    "select": Pull(_selected, view=True),
    "slice": Pull(_sliced, _static("step"), view=True),
    "unbind": Pull(_unbound, view=True),
    "split": Pull(_split, view=True),
    "split_with_sizes": Pull(_split, view=True),
    "diagonal": Pull(_diagonal, view=True),
    "diagonal_copy": Pull(_diagonal, view=True),
    "unfold": Pull(_unfolded, lambda step: bool(step.args[0].shape), view=True),
    "flip": Pull(_flipped, view=True),
    "cat": Pull(_joined, piecewise=True, inline=_has_few_parts),
    "stack": Pull(_stacked, piecewise=True, inline=_has_few_parts),
    "select_backward": Pull(_select_backward, piecewise=True),
    "select_scatter": Pull(_select_backward, piecewise=True),
    "slice_backward": Pull(_slice_backward, _static("step"), piecewise=True, inline=_is_dense),
    "slice_scatter": Pull(_slice_backward, _static("step"), piecewise=True, inline=_is_dense),
    "diagonal_backward": Pull(_diagonal_backward, piecewise=True),
    "diagonal_scatter": Pull(_diagonal_backward, piecewise=True),
    "diag_embed": Pull(_diagonal_backward, piecewise=True),
    "constant_pad_nd": Pull(_padded, piecewise=True),
    "repeat": Pull(_same, inline=lambda step: False),
    "tril": Pull(_triangle, piecewise=True),
    "triu": Pull(_triangle, piecewise=True),
    "roll": Pull(_rolled, lambda step: bool(step.params["dims"]), piecewise=True),
    "corner_backward": Pull(_cornered, piecewise=True),
    "shift": Pull(_shifted, piecewise=True),
    "gather": Pull(_gathered),
    "index_select": Pull(_index_selected, lambda step: len(step.args[1].shape) <= 1),
    "index": Pull(_indexed, _can_index),
    "max_dim": Pull(_picked),
    "min_dim": Pull(_picked),
    "embedding": Pull(_embedded, lambda step: step.args[1].dtype.kind == "i"),
    "take": Pull(_taken, lambda step: len(step.args[0].shape) == 1),
    "at_index": Pull(_at_index, _can_compare),
    "zeros": Pull(_zeros),
    "zeros_like": Pull(_zeros),
    "zero": Pull(_zeros),
    "fill_scalar": Pull(_filled, _has_number),
    "assign": Pull(_assigned),
    "fill_tensor": Pull(_assigned),
}
"""How elements of movements are found, by the name of the primitive."""
