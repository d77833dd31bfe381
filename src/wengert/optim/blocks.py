"""Layer 9 · optim: the memory of parameters, and running update rules over it in blocks.

NOTE [blocks]
A rule makes about ten passes over its arrays. Over large parameters it runs block by block, so that
all passes but the first hit the cache. Small parameters, where a pass costs less than its call, are
gathered: their elements are copied into one array, the rule runs on that, and the results are
copied back. Half precision is copied to single precision for the rule and rounded once, at the end;
rules treat complex numbers as pairs of real ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.optim.rules import Scratch

BLOCK = 65536
"""The number of elements that a rule runs over at once."""
SMALL = 1024
"""Parameters of up to this many elements are gathered."""


class _Row(NamedTuple):
    """A parameter and its state, as arrays of one dimension.

    Attributes
    ----------
    arrays: The views, or None if there is no such view.
    turned: Whether they are in column-major order.
    real: The dtype of the parts of complex elements, or None.
    """

    arrays: tuple[Any, ...] | None
    turned: bool
    real: np.dtype[Any] | None

    def flat(self, array: Any) -> Any:
        """Return an array of the parameter's shape in the same order; a view where possible."""
        if self.arrays is None:
            return array
        array = (array.T if self.turned else array).reshape(-1)
        if self.real is None:
            return array
        # a gradient need not be contiguous
        return np.ascontiguousarray(array).view(self.real)


class _Piece(NamedTuple):
    """A part of a row.

    Attributes
    ----------
    row: The index of the row.
    size: The number of elements.
    part: The slice of the row, or None for all of it.
    arrays: The arrays of the parameter and its state.
    """

    row: int
    size: int
    part: slice | None
    arrays: tuple[Any, ...]


class _Gathered(NamedTuple):
    """Pieces that are gathered, for a rule to run over them at once.

    Attributes
    ----------
    key: The key of their coefficients.
    pieces: The pieces.
    memory: For each array of the rule but the gradient, the array that its pieces are copied to.
    views: For each of these, the views of the pieces in it.
    gradient: The array that the gradients are copied to.
    """

    key: int
    pieces: list[_Piece]
    memory: list[Any]
    views: list[list[Any]]
    gradient: Any

    def run(
        self, rule: Any, scratch: Scratch, options: dict[str, Any], c: Any, flat: list[Any]
    ) -> None:
        """Gather the pieces, update them, and copy them back."""
        parts = [flat[p.row][p.part] if p.part else flat[p.row] for p in self.pieces]
        np.concatenate(parts, out=self.gradient, casting="same_kind")
        columns = list(zip(*[piece.arrays for piece in self.pieces], strict=True))
        for memory, arrays in zip(self.memory, columns, strict=True):
            np.concatenate(arrays, out=memory, casting="same_kind")
        scratch.begin(self.gradient.size)
        p, *kept = self.memory
        rule(scratch, options, c, p, self.gradient, *kept)
        for arrays, views in zip(columns, self.views, strict=True):
            for array, view in zip(arrays, views, strict=True):
                array[...] = view


class Plan:
    """The plan of a rule's run over a set of parameters.

    Parameters
    ----------
    rows: For each parameter its array and its state arrays, all of one dtype and shape.
    keys: For each parameter the key of its coefficients.
    """

    def __init__(self, rows: Sequence[Sequence[Any]], keys: Sequence[int]) -> None:
        self._rows = [_row(arrays) for arrays in rows]
        self._simple = all(
            row.arrays is not None and not row.turned and row.real is None for row in self._rows
        )
        self._odd = [(i, list(rows[i])) for i, row in enumerate(self._rows) if row.arrays is None]
        self._keys = list(keys)
        self._memory: dict[tuple[Any, int], Any] = {}
        sizes = [row.arrays[0].size for row in self._rows if row.arrays]
        self._most = min(BLOCK, max([sum([n for n in sizes if n <= SMALL]), *sizes]))
        # the pieces updated in place, and those that are gathered, by the dtype of the rule
        self._chunks: dict[Any, tuple[Scratch, list[Any], list[_Gathered]]] = {}
        apart = not _overlap([arrays[0] for arrays in rows])
        waiting: dict[tuple[int, Any], list[_Piece]] = {}
        for i, row in enumerate(self._rows):
            if row.arrays is None:
                continue
            size, own = row.arrays[0].size, row.arrays[0].dtype
            kind = own if own.itemsize > 2 else np.dtype(np.float32)
            if apart and size <= SMALL:
                pieces = waiting.setdefault((keys[i], kind), [])
                if pieces and sum(p.size for p in pieces) + size > BLOCK:
                    self._add(keys[i], kind, pieces)
                    pieces = waiting[keys[i], kind] = []
                pieces.append(_Piece(i, size, None, row.arrays))
                continue
            for start in range(0, size, BLOCK):
                part = slice(start, min(start + BLOCK, size)) if size > BLOCK else None
                arrays = tuple(array[part] for array in row.arrays) if part else row.arrays
                self._add(keys[i], kind, [_Piece(i, arrays[0].size, part, arrays)])
        for (key, kind), pieces in waiting.items():
            self._add(key, kind, pieces)

    def _add(self, key: int, kind: np.dtype[Any], pieces: list[_Piece]) -> None:
        pieces = [piece for piece in pieces if piece.size]
        if not pieces:
            return
        if kind not in self._chunks:
            self._chunks[kind] = Scratch(kind, self._most), [], []
        _, direct, gathered = self._chunks[kind]
        row, size, part, arrays = pieces[0]
        if len(pieces) == 1 and arrays[0].dtype == kind:
            direct.append((key, size, row, part, arrays[0], arrays[1:]))
            return
        ends = np.cumsum([piece.size for piece in pieces]).tolist()
        memory = [self._part(kind, i, ends[-1]) for i in range(len(arrays))]
        views = [[one[a:b] for a, b in zip([0, *ends], ends, strict=False)] for one in memory]
        gradient = self._part(kind, -1, ends[-1])
        gathered.append(_Gathered(key, pieces, memory, views, gradient))

    def _part(self, kind: np.dtype[Any], place: int, count: int) -> Any:
        """Return the first elements of the memory that pieces are copied to."""
        memory = self._memory.get((kind, place))
        if memory is None or memory.size < count:
            memory = self._memory[kind, place] = np.empty(count, kind)
        return memory[:count]

    def run(
        self,
        rule: Callable[..., Any],
        options: dict[str, Any],
        grads: Sequence[Any],
        coefficients: Sequence[Any],
    ) -> None:
        """Update all parameters.

        Parameters
        ----------
        rule: Called as ``rule(U, options, c, p, g, *kept)`` (see NOTE [update rules]).
        options: The options that the rule takes.
        grads: The gradients, of the shapes and dtypes of the parameters.
        coefficients: For each key a tuple of numbers, which may contain None.
        """
        if self._simple:
            flat = [grad.reshape(-1) for grad in grads]
        else:
            flat = [row.flat(grad) for row, grad in zip(self._rows, grads, strict=True)]
        for dtype, (scratch, direct, gathered) in self._chunks.items():
            # numbers of the arrays' dtype need no conversion in each pass
            fitted = [
                tuple(None if c is None else np.array(c, dtype) for c in numbers)
                for numbers in coefficients
            ]
            for key, count, row, part, p, kept in direct:
                grad = flat[row]
                scratch.begin(count)
                rule(scratch, options, fitted[key], p, grad[part] if part else grad, *kept)
            for chunk in gathered:
                chunk.run(rule, scratch, options, fitted[chunk.key], flat)
        for i, arrays in self._odd:
            # contiguous in neither order: the rule runs on copies
            copies = [np.ascontiguousarray(array) for array in arrays]
            Plan([copies], [0]).run(rule, options, [grads[i]], [coefficients[self._keys[i]]])
            for array, copy in zip(arrays, copies, strict=True):
                array[...] = copy


def _row(arrays: Sequence[Any]) -> _Row:
    """Return the one-dimensional views of arrays of one shape."""
    dtype = arrays[0].dtype
    real = np.dtype(dtype.char.lower()) if dtype.kind == "c" else None
    for turned in (False, True):
        lie = [array.flags.f_contiguous if turned else array.flags.c_contiguous for array in arrays]
        if all(lie):
            row = _Row((), turned, real)
            return _Row(tuple(row.flat(array) for array in arrays), turned, real)
    return _Row(None, False, real)


def _overlap(arrays: Sequence[Any]) -> bool:
    """Return whether any of the arrays overlap in memory, judging by their first and last bytes."""
    spans = sorted(np.lib.array_utils.byte_bounds(array) for array in arrays if array.size)
    return any(a[1] > b[0] for a, b in itertools.pairwise(spans))
