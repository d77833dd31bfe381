"""Layer 8 · sparse: which elements of an argument the elements of a result depend on.

A pattern is a set of pairs (element of a value, row), kept as two arrays of integers: that row of
the Jacobian depends on that element. A `Link` carries the pairs of an operation's result to those
of one of its arguments. Elements count in row-major order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Ints = np.ndarray[Any, np.dtype[np.int64]]


class Link:
    """The links from the elements of a result to those of an argument.

    Parameters
    ----------
    first: For each element of the result, the number of an element of the argument or of a group of
        them, or -1 for none; None stands for its own number.
    start, members: For each group, where its members, elements of the argument, start in `members`;
        None if the numbers are elements themselves.
    """

    __slots__ = ("first", "members", "partial", "start")

    def __init__(
        self, first: Ints | None, start: Ints | None = None, members: Ints | None = None
    ) -> None:
        self.first = first
        self.start = start
        self.members = members
        self.partial = first is not None and first.size > 0 and bool(first.min() < 0)

    def carry(self, elements: Ints, rows: Ints, height: int) -> tuple[Ints, Ints]:
        """Return the pairs of the argument from those of the result; there may be duplicates."""
        if self.first is not None:
            elements = self.first[elements]
            if self.partial:
                there = elements >= 0
                elements, rows = elements[there], rows[there]
        if self.start is None or self.members is None:
            return elements, rows
        if self.first is not None:
            # pairs that meet in a group continue as one
            elements, rows = merged(elements, rows, height)
        begin = self.start[elements]
        counts = self.start[elements + 1] - begin
        total = int(counts.sum())
        before = np.cumsum(counts) - counts
        places = np.arange(total) + np.repeat(begin - before, counts)
        return self.members[places], np.repeat(rows, counts)


def merged(elements: Ints, rows: Ints, height: int) -> tuple[Ints, Ints]:
    """Return the pairs without duplicates, sorted by element and row."""
    if elements.size < 2:
        return elements, rows
    keys = np.unique(elements * np.int64(height) + rows)
    elements, rows = np.divmod(keys, np.int64(height))
    return elements, rows


def moved(source: Ints) -> Link | None:
    """Link each element of the result to the argument's element of that number, or none (-1)."""
    if source.size == 0 or source.max() < 0:
        return None
    same = source[-1] == source.size - 1 and np.array_equal(source, np.arange(source.size))
    # elements in their own places, of an argument that may have more
    return Link(None if same else source)


def collected(target: Ints, size: int) -> Link | None:
    """Link each element of the argument to the result's element of that number, or none (-1).

    Parameters
    ----------
    size: The number of elements of the result.
    """
    there = np.flatnonzero(target >= 0)
    if not there.size:
        return None
    to = target[there]
    counts = np.bincount(to, minlength=size)
    if counts.max() <= 1:
        source = np.full(size, -1)
        source[to] = there
        return moved(source)
    order = np.argsort(to, kind="stable")
    return Link(None, np.concatenate([[0], np.cumsum(counts)]), there[order])


def broadcast(shape: tuple[int, ...], result: tuple[int, ...]) -> Link | None:
    """Link elements one by one, for an argument of a `shape` that is broadcast to the result's."""
    if shape == result:
        return Link(None)
    elements = np.arange(math.prod(shape)).reshape(shape)
    return moved(np.broadcast_to(elements, result).reshape(-1))


def dense(shape: tuple[int, ...], result: tuple[int, ...]) -> Link | None:
    """Link each element of the result to all elements of the argument."""
    size = math.prod(shape)
    if not size:
        return None
    return Link(np.zeros(math.prod(result), np.int64), np.array([0, size]), np.arange(size))


def along(
    shape: tuple[int, ...], result: tuple[int, ...], dims: Sequence[int], like: Sequence[int] = ()
) -> Link | None:
    """Link elements to those of the argument that differ only in some dimensions.

    Parameters
    ----------
    dims: These dimensions of the argument, including those that the result does not have.
    like: The position of each other dimension in the result; by default their order, with the
        `dims` left out or of any size.
    """
    dims = [dim % len(shape) for dim in dims] if shape else []
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    sizes = [shape[dim] for dim in kept]
    numbers = np.arange(math.prod(sizes)).reshape(sizes)
    wide = [shape[dim] if dim in kept else 1 for dim in range(len(shape))]
    group = np.broadcast_to(numbers.reshape(wide), shape).reshape(-1)
    if like:
        places = list(like)
    elif len(result) == len(shape):
        places = kept
    elif len(result) == len(kept):
        places = list(range(len(kept)))
    else:
        return dense(shape, result)
    if [result[place] for place in places] != sizes:
        return dense(shape, result)
    wide = [result[place] if place in places else 1 for place in range(len(result))]
    order = np.argsort(places, kind="stable")
    first = np.broadcast_to(numbers.transpose(order).reshape(wide), result).reshape(-1)
    if not group.size:
        return None
    start = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=numbers.size))])
    return Link(first, start, np.argsort(group, kind="stable"))


def listed(sources: Ints) -> Link | None:
    """Link each element of the result to a list of elements, a row of `sources`; -1 for none."""
    there = sources >= 0
    if not there.any():
        return None
    return Link(None, np.concatenate([[0], np.cumsum(there.sum(1))]), sources[there])


def listed_back(targets: Ints, size: int) -> Link | None:
    """Link each element of the argument to a list of elements of the result, which has `size`."""
    there = targets >= 0
    if not there.any():
        return None
    to = targets[there]
    of = np.repeat(np.arange(targets.shape[0]), there.sum(1))
    start = np.concatenate([[0], np.cumsum(np.bincount(to, minlength=size))])
    return Link(None, start, of[np.argsort(to, kind="stable")])
