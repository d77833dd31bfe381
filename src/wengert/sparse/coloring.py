"""Layer 8 · sparse: colourings: the rows or columns that can be computed in one pass.

Rows of one colour have no column in common, so one backward pass computes them all: each entry of
its result belongs to one of them. Colours are assigned greedily, to the rows with most neighbours
first [1]_. For a symmetric matrix a star colouring needs fewer: neighbours differ, and no path of
four has only two colours, so each entry can be read from one of its two places [2]_.

References
----------
.. [1] A. R. Curtis, M. J. D. Powell, J. K. Reid, *On the estimation of sparse Jacobian matrices*,
   J. Inst. Maths Applics 13 (1974).
.. [2] A. H. Gebremedhin, F. Manne, A. Pothen, *What color is your Jacobian? Graph coloring for
   computing derivatives*, SIAM Review 47 (2005).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from wengert.base.extras import scipy_module

_MODES = ("auto", "columns", "rows", "star")


class Coloring:
    """The rows or columns that are computed together; made by `color`, and valid at any point.

    Attributes
    ----------
    mode : {"columns", "rows", "star"}. What is coloured: columns (by products with vectors from the
        right), rows (from the left), or both alike for a symmetric matrix.
    colors : ndarray of int. The colour of each column or row.
    passes : int. The number of colours, and of passes for a Jacobian or Hessian.
    pattern : scipy.sparse.csr_array of bool. The pattern.
    """

    __slots__ = ("_plan", "colors", "mode", "passes", "pattern")

    def __init__(self, pattern: Any, mode: str, colors: Any) -> None:
        self.pattern = pattern
        self.mode = mode
        self.colors = colors
        self.passes = int(colors.max()) + 1 if colors.size else 0
        self._plan: Any = None

    def seed(self, number: int) -> Any:
        """Return the vector of a pass: the sum of the unit vectors of its colour."""
        return (self.colors == number).astype(np.float64)

    def assembled(self, products: Iterable[Any]) -> Any:
        """Assemble the matrix from the results of the passes, in order, as a CSR array."""
        sparse = scipy_module("sparse", "wengert.sparse")
        pattern = self.pattern
        if self._plan is None:
            which, where = self._places()
            order = np.argsort(which, kind="stable")
            ends = np.cumsum(np.bincount(which, minlength=self.passes))
            self._plan = np.split(order, ends[:-1]) if self.passes else [], where
        parts, where = self._plan
        data = np.zeros(pattern.nnz)
        for entries, product in zip(parts, products, strict=True):
            if data.dtype != product.dtype:
                data = data.astype(product.dtype)
            data[entries] = product[where[entries]]
        return sparse.csr_array(
            (data, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape
        )

    def _places(self) -> tuple[Any, Any]:
        """Return, for each entry of the pattern, its pass and its position in the result."""
        pattern = self.pattern
        row = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        column = pattern.indices
        if self.mode == "rows":
            return self.colors[row], column
        if self.mode == "columns":
            return self.colors[column], row
        # of the two places (row, colour of column) and (column, colour of row) one is unshared
        width = pattern.shape[0]
        keys = row.astype(np.int64) * max(self.passes, 1) + self.colors[column]
        shared = np.bincount(keys, minlength=width * max(self.passes, 1))[keys] > 1
        return (
            np.where(shared, self.colors[row], self.colors[column]),
            np.where(shared, column, row),
        )

    def __repr__(self) -> str:
        height, width = self.pattern.shape
        return (
            f"Coloring({height}x{width}, {self.pattern.nnz} entries, {self.mode}, "
            f"passes={self.passes})"
        )


def as_pattern(matrix: Any) -> Any:
    """Convert any matrix to a pattern: a sorted CSR array of bools; explicit zeros count."""
    sparse = scipy_module("sparse", "wengert.sparse")
    found = sparse.csr_array(matrix)
    pattern = sparse.csr_array(
        (np.ones(found.nnz, bool), found.indices.copy(), found.indptr.copy()), shape=found.shape
    )
    pattern.sum_duplicates()
    pattern.sort_indices()
    return pattern


def color(pattern: Any, mode: str = "auto") -> Coloring:
    """Colour a pattern, so that the matrix can be computed in few passes.

    Parameters
    ----------
    pattern : sparse or dense matrix. The result of `pattern` or `hessian_pattern`, or any matrix
        with nonzeros (in a sparse one, entries) where the derivative may be nonzero.
    mode : {"auto", "rows", "columns", "star"}. What to colour: rows of the Jacobian, its columns,
        or both alike for a symmetric matrix, as `hessian` needs. ``"auto"``: rows or columns,
        whichever need fewer passes.

    Returns
    -------
    Coloring: For `jacobian` or `hessian`, at any point; ``passes`` is the number of passes.

    Raises
    ------
    ValueError: For another mode; for ``"star"`` if the pattern is not symmetric.

    Examples
    --------
    >>> band = np.tri(8, k=1) - np.tri(8, k=-2)
    >>> sparse.color(band)
    Coloring(8x8, 22 entries, rows, passes=3)
    >>> sparse.color(band, mode="star").passes
    3
    """
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(map(repr, _MODES))}; got {mode!r}")
    pattern = as_pattern(pattern)
    if mode == "star":
        return Coloring(pattern, mode, _star(pattern))
    if mode != "auto":
        return Coloring(pattern, mode, _distance_one(pattern, mode))
    both = [Coloring(pattern, m, _distance_one(pattern, m)) for m in ("rows", "columns")]
    return min(both, key=lambda coloring: coloring.passes)


def _lowest_free(taken: int) -> int:
    """Return the lowest bit that is not set."""
    return (~taken & (taken + 1)).bit_length() - 1


def _distance_one(pattern: Any, mode: str) -> Any:
    """Colour rows or columns so that no two of one colour have an entry in the same line.

    Sets of colours are the bits of integers, here and below.
    """
    lines = pattern if mode == "rows" else pattern.T.tocsr()
    height, width = lines.shape
    start, members = lines.indptr.tolist(), lines.indices.tolist()
    crowds = np.bincount(lines.indices, minlength=width)
    if height and width and crowds.max() == height:
        # an entry in every line: all colours differ
        return np.arange(height)
    # the maximum number of neighbours of a line
    sums = np.concatenate([[0], np.cumsum(crowds[lines.indices])])
    degree = sums[lines.indptr[1:]] - sums[lines.indptr[:-1]]
    seen = [0] * width
    colors = np.zeros(height, np.int64)
    for line in np.argsort(-degree, kind="stable").tolist():
        crossed = members[start[line] : start[line + 1]]
        taken = 0
        for crossing in crossed:
            taken |= seen[crossing]
        chosen = _lowest_free(taken)
        colors[line] = chosen
        bit = 1 << chosen
        for crossing in crossed:
            seen[crossing] |= bit
    return colors


def _star(pattern: Any) -> Any:
    """Colour the lines of a symmetric pattern so that no path of four has only two colours.

    Such a path would be ``v - w - x - y`` or ``w' - v - w - x`` with equal colours of `v` and `x`,
    and of the other two. So where `x` (or `v`) has two neighbours of the colour of `w`, lines
    beyond them must have another colour.
    """
    flipped = pattern.T.tocsr()
    flipped.sort_indices()
    if pattern.shape[0] != pattern.shape[1] or (
        not np.array_equal(pattern.indptr, flipped.indptr)
        or not np.array_equal(pattern.indices, flipped.indices)
    ):
        raise ValueError(
            "a star colouring is for symmetric patterns; this one is not. For a Hessian take the "
            "pattern that hessian_pattern gives"
        )
    start, members = pattern.indptr.tolist(), pattern.indices.tolist()
    count = pattern.shape[0]
    around = [[j for j in members[start[i] : start[i + 1]] if j != i] for i in range(count)]
    colors = [-1] * count
    near = [0] * count  # the colours of a line's neighbours
    beyond = [0] * count  # those of neighbours with several neighbours of the line's colour
    having: list[dict[int, list[int]]] = [{} for _ in range(count)]  # neighbours, by colour
    for v in sorted(range(count), key=lambda i: -len(around[i])):
        taken = near[v]
        for alike in having[v].values():
            if len(alike) == 1:
                taken |= beyond[alike[0]]
            else:
                for w in alike:
                    taken |= near[w]
        chosen = _lowest_free(taken)
        colors[v] = chosen
        bit = 1 << chosen
        for alike in having[v].values():
            if len(alike) > 1:
                for w in alike:
                    beyond[w] |= bit
        for u in around[v]:
            near[u] |= bit
            alike = having[u].setdefault(chosen, [])
            alike.append(v)
            if colors[u] >= 0 and len(alike) > 1:
                for w in alike if len(alike) == 2 else (v,):
                    beyond[w] |= 1 << colors[u]
    return np.array(colors, np.int64)
