"""Layer 5 · ops · products: sums of products written with subscripts, Einstein's convention.

NOTE [plans]
The plan for an equation and operands of given shapes is made once and cached. It first reduces each
operand to distinct subscripts that occur elsewhere (by diagonals, sums, dropped dimensions of size
1), and then contracts two operands at a time. Each contraction is one operation of the graph, whose
derivatives are contractions, too.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from wengert.base.dtypes import joined
from wengert.base.errors import not_implemented, wrong_type
from wengert.base.export import export
from wengert.ops.coerce import dtype_name, operand
from wengert.ops.reduce import sum
from wengert.prims import contraction as contraction
from wengert.tape.base import TensorBase
from wengert.tape.modes import mixes_dtypes
from wengert.tape.operands import cast
from wengert.tape.record import T

Labels = tuple[int, ...]
Shapes = tuple[tuple[int, ...], ...]
Step = tuple[str, dict[str, Any]]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NUMBERS = {letter: i for i, letter in enumerate(_LETTERS)}
# labels of the dimensions that ellipses stand for, the last dimension first
_ELLIPSIS = len(_LETTERS)


@export("wengert")
def einsum(*args: Any) -> Any:
    """Return the sums of products given by an equation of subscripts.

    Parameters
    ----------
    equation : str. Subscripts a-z and A-Z, one for each dimension, of each operand, with commas
        between; then ``->`` and those of the result. A subscript that the result lacks is summed
        over; one that an operand has twice is its diagonal; sizes of 1 broadcast. ``...`` stands
        for further dimensions, which broadcast from the last one on. Without ``->`` the result has
        the ellipsis, and the subscripts that come once, in alphabetical order.
    *operands : Tensor. One for each group of subscripts. Or, instead of an equation, each operand
        followed by a list of numbers below 52 (or ``...``), and finally the list of the result.

    Returns
    -------
    Tensor: Differentiable with respect to all operands, to any order. A rearranged single operand
        is a view.

    Raises
    ------
    RuntimeError: If the equation is wrong, shapes do not fit, or two operands of different dtypes
        have a subscript that is summed over; plain products promote.
    ValueError: If there is no operand, or a number is out of range.

    Examples
    --------
    >>> x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> wg.einsum("ij,kj->ik", x, x)
    tensor([[ 5., 11.],
            [11., 25.]])
    >>> wg.einsum(x, [0, 0], [])
    tensor(5.)
    """
    equation, *operands = _handed(args)
    found = []
    for i, value in enumerate(operands):
        if not isinstance(value, TensorBase):
            try:
                value = operand(value, "einsum")
            except TypeError:
                raise TypeError(
                    f"expected Tensor as element {i} in argument 1, but got {type(value).__name__}"
                ) from None
        found.append(value)
    return _plan(equation, tuple([x._payload.shape for x in found])).run(found)


def _handed(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the equation and the operands one by one, whichever form they were given in."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    equation, operands = args[0], args[1:]
    if isinstance(equation, TensorBase):
        equation, operands = _from_lists(args)
    elif not isinstance(equation, str):
        raise wrong_type("einsum", "equation", "str", equation, 1)
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    if not operands:
        raise ValueError("einsum(): must provide at least one operand beside the equation")
    return equation, *operands


einsum.__handed__ = _handed  # type: ignore[attr-defined]  # the arguments that overrides receive


def _from_lists(args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return the equation and operands, given operands that alternate with lists of numbers."""
    groups = [_letters(numbers) for numbers in args[1::2]]
    equation = ",".join(groups)
    if len(args) % 2:
        equation = f"{equation}->{_letters(args[-1])}"
    return equation, args[: len(args) - len(args) % 2 : 2]


def _letters(numbers: Any) -> str:
    if not isinstance(numbers, list | tuple):
        raise TypeError(
            "einsum(): an operand must be followed by the list of its subscripts, not by "
            f"{type(numbers).__name__}"
        )
    letters = []
    for number in numbers:
        if number is Ellipsis:
            letters.append("...")
        elif not hasattr(number, "__index__"):
            raise TypeError(
                f"einsum(): subscripts must be numbers or ..., not {type(number).__name__}"
            )
        elif not 0 <= number < len(_LETTERS):
            raise ValueError(
                "einsum(): subscript in subscript list is not within the valid range [0, 52): "
                f"{number}"
            )
        else:
            letters.append(_LETTERS[number])
    return "".join(letters)


def _of_one_dtype(x: Any, y: Any, sums: bool) -> tuple[Any, Any]:
    """Return two factors in one dtype: plain products promote, and sums of products refuse."""
    kinds = x._payload.dtype, y._payload.dtype
    if not sums:
        return cast(x, joined(*kinds)), cast(y, joined(*kinds))
    if kinds[0].kind == "b":
        raise not_implemented("bmm", kinds[0], "convert the operands to a number type")
    if kinds[0] != kinds[1] and not mixes_dtypes():
        raise RuntimeError(
            f"expected scalar type {dtype_name(x._payload)} but found {dtype_name(y._payload)}: "
            "einsum() takes operands of one dtype; convert with .to(dtype)"
        )
    return x, y


# -- equations ------------------------------------------------------------------------------------


def _group(text: str, what: str, start: int) -> list[int | None]:
    """Return the numbers of a group's subscripts, None for an ellipsis; `text` is at `start`."""
    labels: list[int | None] = []
    i = 0
    while i < len(text):
        letter = text[i]
        if letter == ".":
            if None in labels:
                raise RuntimeError(
                    f"einsum(): found '.' for {what} for which an ellipsis was already found"
                    if what != "output"
                    else "einsum(): found '.' for output but an ellipsis (...) was already found"
                )
            if text[i : i + 3] != "...":
                raise RuntimeError(
                    f"einsum(): found '.' for {what} that is not part of any ellipsis"
                    + (" (...)" if what == "output" else "")
                )
            labels.append(None)
            i += 2
        elif letter in _NUMBERS:
            labels.append(_NUMBERS[letter])
        elif letter != " ":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {start + i} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
        i += 1
    return labels


def _parse(equation: str, ranks: list[int]) -> tuple[list[Labels], Labels]:
    """Return the labels of each operand and of the result."""
    left, arrow, right = equation.partition("->")
    texts, start, groups = left.split(","), 0, []
    for i, text in enumerate(texts):
        groups.append(_group(text, f"operand {i}", start))
        start += len(text) + 1
    if len(texts) != len(ranks):
        raise RuntimeError(
            f"einsum(): {'fewer' if len(texts) > len(ranks) else 'more'} operands were provided "
            f"than specified in the equation: {len(ranks)} for {len(texts)}"
        )
    pairs = zip(groups, ranks, strict=True)
    extents = [_extent(i, group, rank) for i, (group, rank) in enumerate(pairs)]
    widest = max(extents)
    operands = [_expanded(group, extent) for group, extent in zip(groups, extents, strict=True)]
    if not arrow:
        named = [x for labels in operands for x in labels if x < _ELLIPSIS]
        once = sorted(x for x in set(named) if named.count(x) == 1)
        return operands, (*_ellipsis(widest), *once)
    group = _group(right, "output", len(left) + 2)
    known = {x for labels in operands for x in labels}
    for number in group:
        if number is not None and group.count(number) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {_LETTERS[number]} appears more than once in the "
                "output"
            )
        if number is not None and number not in known:
            raise RuntimeError(
                f"einsum(): output subscript {_LETTERS[number]} does not appear in the equation "
                "for any input operand"
            )
    return operands, _expanded(group, widest)


def _extent(i: int, group: list[int | None], rank: int) -> int:
    """Return the number of dimensions that the ellipsis of operand i stands for."""
    count = len(group) - (None in group)
    if None in group:
        if count > rank:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({count}) is more than the "
                f"number of dimensions ({rank}) for operand {i}"
            )
    elif count != rank:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({count}) does not match the "
            f"number of dimensions ({rank}) for operand {i} and no ellipsis was given"
        )
    return rank - count


def _ellipsis(extent: int) -> Labels:
    return tuple(range(_ELLIPSIS + extent - 1, _ELLIPSIS - 1, -1))


def _expanded(group: list[int | None], extent: int) -> Labels:
    labels: list[int] = []
    for number in group:
        labels += _ellipsis(extent) if number is None else (number,)
    return tuple(labels)


def _sizes(operands: list[Labels], shapes: Shapes) -> dict[int, int]:
    """Return the size of each label, where 1 broadcasts to any other."""
    sizes: dict[int, int] = {}
    for i, (labels, shape) in enumerate(zip(operands, shapes, strict=True)):
        own: dict[int, int] = {}
        for place, (label, size) in enumerate(zip(labels, shape, strict=True)):
            if own.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {_LETTERS[label]} is repeated for operand {i} but the "
                    f"sizes don't match, {size} != {own[label]}"
                )
            seen = sizes.setdefault(label, size)
            if seen == 1:
                sizes[label] = size
            elif size not in (1, seen):
                if label >= _ELLIPSIS:
                    raise RuntimeError(
                        f"einsum(): dimension {place} covered by ellipsis in operand {i} has size "
                        f"{size} which does not broadcast with previously seen ellipsis with size "
                        f"{seen} for the respective dimension"
                    )
                raise RuntimeError(
                    f"einsum(): subscript {_LETTERS[label]} has size {size} for operand {i} which "
                    f"does not broadcast with previously seen size {seen}"
                )
    return sizes


# -- plans ----------------------------------------------------------------------------------------


class _Plan:
    """The steps of an einsum for operands of given shapes (see NOTE [plans])."""

    __slots__ = ("contractions", "order", "preparations")

    def __init__(self, equation: str, shapes: Shapes) -> None:
        operands, out = _parse(equation, [len(shape) for shape in shapes])
        sizes = _sizes(operands, shapes)
        self.preparations: list[list[Step]] = []
        labels = []
        for own, shape in zip(operands, shapes, strict=True):
            steps, kept = _differing(own, shape, sizes)
            self.preparations.append(steps)
            labels.append(kept)
        for i, own in enumerate(labels):
            wanted = {x for group in (*labels[:i], *labels[i + 1 :], out) for x in group}
            alone = tuple(place for place, x in enumerate(own) if x not in wanted)
            if alone:
                self.preparations[i].append(("sum", {"dim": alone}))
                labels[i] = tuple(x for x in own if x in wanted)
        self.contractions: list[tuple[int, int, bool, dict[str, Labels]]] = []
        self.order: Labels | None = None
        if len(labels) == 1:
            self.order = tuple(labels[0].index(x) for x in out)
            return
        for i, j in _path(labels, out, sizes):
            b, a = labels.pop(j), labels.pop(i)
            needed = {x for rest in (*labels, out) for x in rest}
            made = out if not labels else tuple(x for x in dict.fromkeys((*a, *b)) if x in needed)
            sums = any(sizes[x] > 1 for x in {*a, *b}.difference(made))
            self.contractions.append((i, j, sums, {"a": a, "b": b, "out": made}))
            labels.append(made)

    def run(self, tensors: list[Any]) -> Any:
        """The result for these operands."""
        for i, steps in enumerate(self.preparations):
            for name, params in steps:
                step = sum if name == "sum" else getattr(T, name)
                tensors[i] = step(tensors[i], **params)
        for i, j, sums, params in self.contractions:
            y, x = tensors.pop(j), tensors.pop(i)
            if (kind := x._payload.dtype) != y._payload.dtype or kind.kind == "b":
                x, y = _of_one_dtype(x, y, sums)
            tensors.append(T.contract(x, y, **params))
        if self.order is not None:
            return T.permute(tensors[0], dims=self.order)
        return tensors[0]


_plan = lru_cache(maxsize=2048)(_Plan)


def _differing(
    labels: Labels, shape: tuple[int, ...], sizes: dict[int, int]
) -> tuple[list[Step], Labels]:
    """Return the steps that reduce an operand to distinct labels of their full sizes, and these."""
    steps: list[Step] = []
    rest = list(labels)
    for label in labels:
        while rest.count(label) > 1:
            first = rest.index(label)
            second = rest.index(label, first + 1)
            steps.append(("diagonal", {"offset": 0, "dim1": first, "dim2": second}))
            del rest[second], rest[first]
            rest.append(label)
    extents = dict(zip(labels, shape, strict=True))
    single = tuple(i for i, x in enumerate(rest) if extents[x] == 1 and sizes[x] != 1)
    if single:
        steps.append(("squeeze_dims", {"dim": single}))
        rest = [x for i, x in enumerate(rest) if i not in single]
    return steps, tuple(rest)


def _path(labels: list[Labels], out: Labels, sizes: dict[int, int]) -> list[tuple[int, int]]:
    """Return the pairs of operands to contract in order; each result is appended to the operands.

    Each step takes the cheapest pair, or the first two operands if that is cheaper overall.
    """
    if len(labels) == 2:
        return [(0, 1)]
    greedy = _cost(labels, out, sizes, greedy=True)
    plain = _cost(labels, out, sizes, greedy=False)
    return min(plain, greedy)[1] if plain[0] != greedy[0] else plain[1]


def _cost(
    labels: list[Labels], out: Labels, sizes: dict[int, int], greedy: bool
) -> tuple[int, list[tuple[int, int]]]:
    left = [frozenset(x) for x in labels]
    total, path = 0, []

    def work(i: int, j: int) -> int:
        return math.prod([sizes[x] for x in left[i] | left[j]])

    last = len(left) - 1
    while len(left) > 1:
        pairs = [(i, j) for j in range(len(left)) for i in range(j)]
        # from the left: the latest result comes first
        first = (0, 1) if len(left) - 1 == last else (0, len(left) - 1)
        i, j = min(pairs, key=lambda pair: work(*pair)) if greedy else first
        total += work(i, j)
        path.append((i, j))
        both = left[i] | left[j]
        del left[j], left[i]
        left.append(both & frozenset(out).union(*left))
    return total, path
