"""Layer 8 · compiler: views, whose elements are those of one argument.

See NOTE [pulling] in `wengert.compiler.backends.pull`.
"""

from __future__ import annotations

from typing import Any

from wengert.compiler.backends.affine import ZERO, Index, Place, linear, place_of
from wengert.compiler.backends.nodes import Node
from wengert.compiler.backends.pull import (
    Pull,
    Source,
    aligned,
    at_dim,
    splits,
    static,
    whole,
)
from wengert.compiler.ir import Step

__all__ = ["VIEWS"]


def _same(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    return source(step.args[0], place)


def _reshaped(source: Source, step: Step, k: int, place: Place, i: Any) -> Node:
    value, shape = step.args[0], step.outs[0].shape
    if [n for n in value.shape if n != 1] == [n for n in shape if n != 1]:
        # also of places outside, where pieces of other values are
        rest = iter([at for at, n in zip(place, shape, strict=True) if n != 1])
        return source(value, tuple([ZERO if n == 1 else next(rest) for n in value.shape]))
    found = place_of(linear(place, shape), value.shape)
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


VIEWS: dict[str, Pull] = {
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
    "slice": Pull(_sliced, static("step"), view=True),
    "unbind": Pull(_unbound, view=True),
    "split": Pull(_split, view=True),
    "split_with_sizes": Pull(_split, view=True),
    "diagonal": Pull(_diagonal, view=True),
    "diagonal_copy": Pull(_diagonal, view=True),
    "unfold": Pull(_unfolded, lambda step: bool(step.args[0].shape), view=True),
    "flip": Pull(_flipped, view=True),
}
"""How elements of views are found."""
