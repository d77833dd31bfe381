"""Layer 1 · kernels: the windows of arrays, laid out as the columns of matrices.

Arrays are of shape (N, C, *sizes); windows are taken along the last dimensions.

NOTE [columns]
A convolution is a product of matrices once the windows of the input are stored as columns, "im2col"
[1]. The columns are larger than the input by the number of elements of a window ("taps"), so they
are copied in blocks that stay in the cache. With stride 1, the elements at one tap of consecutive
windows are consecutive in memory: one long run is copied in a third of the time of single rows.
Within a run, the elements of windows that cross the left or right edge come from the neighbouring
row, and are set to 0 (`Grid.wrapped`).

[1] K. Chellapilla, S. Puri, P. Simard, "High Performance Convolutional Neural Networks for Document
    Processing", Tenth International Workshop on Frontiers in Handwriting Recognition, 2006.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

Shape = tuple[int, ...]
_BLOCK = 1 << 21
"""The bytes of a block of columns."""
_FEW = 4
"""The number of results per column up to which columns that are not windows may be copied."""
_MANY = 500
"""The number of rows up to which copying row by row is cheaper than setting up long runs."""


class Part(NamedTuple):
    """Some of the windows of an array: a range of the first dimension, or of the second, ..."""

    at: Shape
    """The first window in each dimension."""
    size: Shape
    """The number of windows in each dimension."""
    places: slice
    """Their slice of all windows."""


@lru_cache(maxsize=512)
def parts_of(size: Shape, stride: Shape, unit: int) -> tuple[Part, ...]:
    """Split all windows into parts of `_BLOCK` bytes, at `unit` bytes copied for each."""
    chunk = list(size)
    rest = math.prod(size) * unit
    for axis, n in enumerate(size):
        if rest <= _BLOCK:
            break
        rest //= n
        chunk[axis] = max(1, min(n, _BLOCK // max(rest, 1)))
    parts = []
    stop = 0
    for first in product(*[range(0, n, m) for n, m in zip(size, chunk, strict=True)]):
        count = tuple([min(m, n - i) for i, m, n in zip(first, chunk, size, strict=True)])
        start, stop = stop, stop + math.prod(count)
        at = tuple([i * step for i, step in zip(first, stride, strict=True)])
        parts.append(Part(at, count, slice(start, stop)))
    return tuple(parts)


def blocks(count: int, groups: int, each: int) -> tuple[int, int]:
    """Return how many of `count` arrays, and of their groups of `each` bytes, make a block."""
    images = max(1, min(count, _BLOCK // max(each * groups, 1)))
    return images, groups if images > 1 else max(1, min(groups, _BLOCK // max(each, 1)))


@lru_cache(maxsize=512)
def reach(size: Shape, kernel: Shape, stride: Shape, dilation: Shape) -> Shape:
    """Return the extent from the first window's first element to the last window's last."""
    geometry = zip(size, kernel, stride, dilation, strict=True)
    return tuple([(n - 1) * step + gap * (k - 1) + 1 for n, k, step, gap in geometry])


@lru_cache(maxsize=512)
def result_size(
    size: Shape,
    kernel: Shape,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    transposed: bool,
    output_padding: Shape,
) -> Shape:
    """Return the sizes of a convolution's result, which are not positive if it is empty."""
    geometry = zip(size, kernel, stride, padding, dilation, output_padding, strict=True)
    if transposed:
        return tuple(
            [
                (n - 1) * step - 2 * pad + gap * (k - 1) + more + 1
                for n, k, step, pad, gap, more in geometry
            ]
        )
    return tuple(
        [(n + 2 * pad - gap * (k - 1) - 1) // step + 1 for n, k, step, pad, gap, _ in geometry]
    )


@lru_cache(maxsize=512)
def overlap(
    sizes: Shape, padding: Shape, reached: Shape
) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return the part of an array that windows reach, as slices of the array and of the part."""
    outer, inner = [], []
    for n, before, m in zip(sizes, padding, reached, strict=True):
        start = max(0, -before)
        stop = max(start, min(n, m - before))
        outer.append(slice(start, stop))
        inner.append(slice(start + before, stop + before))
    return tuple(outer), tuple(inner)


def _strides(shape: Shape) -> Shape:
    """Return the strides, in elements, of an array of `shape` without gaps."""
    return tuple([math.prod(shape[i + 1 :]) for i in range(len(shape))])


class Grid:
    """The positions of the windows of an array, and how they are copied to columns.

    Parameters
    ----------
    shape: The shape of the array.
    kernel: The shape of a window.
    results: The number of results computed from each column.
    size: The number of windows along each dimension.
    stride, padding, dilation
        The distance between windows, between the first window's start and the array, and between
        the elements of a window.
    groups: The number of groups of planes, each with its own columns.
    itemsize: The item size of the array.
    exact: Whether every column must be a window.

    Attributes
    ----------
    pitch: The length of the rows in memory if runs go from row to row, or 0; see NOTE [columns].
    wrapped: For each tap of the last dimension, the elements of a run that belong to another row.
    copied
        Whether the part of the array that windows reach is first copied to a padded box of shape
        `box`: the slices `outer` of the array, to the slices `inner` of the box.
    images, some: The numbers of arrays, and of their groups, in a block.
    alone: Whether there is one block only.
    plain: Whether the array itself is the matrix of columns.
    """

    __slots__ = (
        "alone",
        "before",
        "box",
        "copied",
        "images",
        "inner",
        "kernel",
        "length",
        "offset",
        "outer",
        "parts",
        "pitch",
        "plain",
        "planes",
        "room",
        "some",
        "steps",
        "strides",
        "taps",
        "views",
        "wrapped",
    )

    def __init__(
        self,
        shape: Shape,
        kernel: Shape,
        results: int,
        size: Shape,
        stride: Shape,
        padding: Shape,
        dilation: Shape,
        groups: int,
        itemsize: int,
        exact: bool,
    ) -> None:
        sizes, last = shape[2:], size[-1]
        self.kernel = kernel
        self.planes = shape[1] // groups
        self.taps = self.planes * math.prod(kernel)
        self.views: dict[Any, _View] = {}
        unit = self.taps * itemsize
        reached = reach(size, kernel, stride, dilation)
        self.outer, self.inner = overlap(sizes, padding, reached)
        self.wrapped: list[tuple[int, slice]] = []
        self.pitch = self.offset = self.before = after = 0
        runs = shape[0] * shape[1] * math.prod(kernel) * math.prod(size[:-1])
        if (
            stride[-2:] == (1, 1)
            and math.prod(kernel) > 1
            and runs > _MANY
            and (last >= sizes[-1] or (results <= _FEW and not exact))
        ):
            self.pitch = max(last, sizes[-1])
            reached = (*reached[:-1], self.pitch)
            self.outer = (*self.outer[:-1], slice(None))
            self.inner = (*self.inner[:-1], slice(0, sizes[-1]))
            self._wrap(last, kernel[-1], padding[-1], dilation[-1])
            self.before = max(0, padding[-1])
            self.offset = self.before - padding[-1]
            after = max(0, dilation[-1] * (kernel[-1] - 1) - padding[-1])
            self.parts = tuple(
                [
                    Part((*at, 0), (*count, last), slice(rows.start * last, rows.stop * last))
                    for at, count, rows in parts_of(size[:-1], stride[:-1], unit * self.pitch)
                ]
            )
        else:
            self.parts = parts_of(size, stride, unit)
        self.copied = bool(self.pitch) or sizes != reached or any(padding)
        self.plain = not self.copied and math.prod(kernel) == 1 and set(stride) == {1}
        each = math.prod(size[:-1]) * (self.pitch or last) * unit
        self.images, self.some = blocks(shape[0], groups, each)
        self.alone = self.images == shape[0] and self.some == groups and len(self.parts) == 1
        longest = max([math.prod(self.runs(part)) for part in self.parts])
        self.length = self.images * self.some * self.taps * longest
        self.box = (self.images, self.some * self.planes, *reached) if self.copied else shape
        self.room = self.before + math.prod(self.box) + after
        self.strides = _strides(self.box)
        windows = [s * step for s, step in zip(self.strides[2:], stride, strict=True)]
        if self.pitch:
            del windows[-2]
        taps = [s * gap for s, gap in zip(self.strides[2:], dilation, strict=True)]
        self.steps = tuple([s * itemsize for s in (*self.strides[:2], *taps, *windows)])

    def _wrap(self, count: int, kernel: int, before: int, gap: int) -> None:
        for tap in range(kernel):
            shift = tap * gap - before
            if shift < 0:
                self.wrapped.append((tap, slice(0, min(count, -shift))))
            elif count + shift > self.pitch:
                self.wrapped.append((tap, slice(max(0, self.pitch - shift), count)))

    def runs(self, part: Part) -> Shape:
        """Return the windows of a part as the runs in which they are copied."""
        if not self.pitch:
            return part.size
        return (*part.size[:-2], part.size[-2] * self.pitch)

    def view(self, count: Shape, part: Part, together: bool) -> _View:
        """Return the layout of the windows of `count` arrays and planes, and of the columns."""
        key = (count, part.places.start, together)
        view = self.views.get(key)
        if view is None:
            offset = self.offset
            for i, step in zip(part.at, self.strides[2:], strict=True):
                offset += i * step
            shape, steps = (*count, *self.kernel, *self.runs(part)), self.steps
            some, axis = count[1] // self.planes, len(self.kernel) + 1
            matrices: Shape = (count[0], some, self.taps, -1)
            if together:
                shape = (*shape[1 : axis + 1], shape[0], *shape[axis + 1 :])
                steps = (*steps[1 : axis + 1], steps[0], *steps[axis + 1 :])
                matrices, axis = (some, self.taps, -1), axis - 1
            rows = (*shape[:-1], part.size[-2], self.pitch) if self.pitch else ()
            before = (slice(None),) * axis
            wrapped = [(*before, tap, ..., beside) for tap, beside in self.wrapped]
            view = _View(shape, offset, steps, matrices, rows, wrapped)
            self.views[key] = view
        return view


class _View(NamedTuple):
    """The memory layout of windows, with `steps` from `offset` in elements, and of columns."""

    shape: Shape
    offset: int
    steps: Shape
    matrices: Shape
    rows: Shape
    """The shape of the columns in which what is wrapped is found by these indices:"""
    wrapped: list[Any]


grid_of = lru_cache(maxsize=512)(Grid)


def columns(
    x: Any, grid: Grid, groups: int, together: bool = False
) -> Iterator[tuple[slice, slice, Part, Any]]:
    """Iterate over blocks of columns: the arrays, groups and windows of each, and the matrices.

    The matrices are of shape (images, groups, taps, columns); each overwrites the previous one.

    Parameters
    ----------
    together
        Whether the columns of several arrays are joined: (groups, taps, images * columns).
    """
    memory = np.empty(grid.length, x.dtype)
    room, box = x, None
    if grid.copied:
        room = np.zeros(grid.room, x.dtype)
        box = np.ndarray(grid.box, x.dtype, room, grid.before * x.itemsize)
    made: dict[Any, tuple[Any, ...]] = {}
    for n in range(0, x.shape[0], grid.images):
        images = slice(n, min(n + grid.images, x.shape[0]))
        for g in range(0, groups, grid.some):
            chosen = slice(g, min(g + grid.some, groups))
            planes = slice(g * grid.planes, chosen.stop * grid.planes)
            count = (images.stop - n, planes.stop - planes.start)
            first = 0
            if box is None:
                made.clear()
                first = n * grid.strides[0] + planes.start * grid.strides[1]
            else:
                given = x[(images, planes, *grid.outer)]
                box[(slice(count[0]), slice(count[1]), *grid.inner)] = given
            for part in grid.parts:
                key = (count, part.places.start)
                if key not in made:
                    made[key] = _made(room, memory, first, grid.view(count, part, together))
                target, source, wrapped, matrices = made[key]
                np.copyto(target, source)
                for beside in wrapped:
                    beside.fill(0)
                yield images, chosen, part, matrices


def _made(room: Any, memory: Any, first: int, view: _View) -> tuple[Any, Any, list[Any], Any]:
    """Return the columns as windows, the windows, the padding, and the columns as matrices."""
    shape, offset, steps, matrices, rows, beside = view
    source = np.ndarray(shape, room.dtype, room, (first + offset) * room.itemsize, steps)
    used = memory[: source.size]
    wrapped = []
    if beside:
        laid = used.reshape(rows)
        wrapped = [laid[index] for index in beside]
    return used.reshape(shape), source, wrapped, used.reshape(matrices)


def all_columns(x: Any, grid: Grid, together: bool = False) -> Any:
    """Return the columns if they are one block: what `columns` yields, without its loop."""
    room = x
    if grid.copied:
        room = np.zeros(grid.room, x.dtype)
        box = np.ndarray(grid.box, x.dtype, room, grid.before * x.itemsize)
        inner: Any = (..., *grid.inner)
        box[inner] = x[(..., *grid.outer)]
    view = grid.view(grid.box[:2], grid.parts[0], together)
    shape, offset, steps, matrices, rows, beside = view
    source = np.ndarray(shape, x.dtype, room, offset * x.itemsize, steps)
    # the copy is in the order of the dimensions, not of memory
    laid = source.copy()
    if beside:
        rows_of = laid.reshape(rows)
        for index in beside:
            rows_of[index] = 0
    return laid.reshape(matrices)
