"""Layer 1 · kernels: elimination for many small matrices at once.

NOTE [matrices last]
For small matrices most of the time goes into calling LAPACK once for each. But a loop over the
steps of elimination is quick, too, if each step works on long contiguous vectors. So the dimensions
of the batch are moved behind those of rows and columns first: a step then is arithmetic between
rows, each element of which stands for all matrices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Shape = tuple[int, ...]


def many(count: int, size: int) -> bool:
    """Whether to take `count` matrices together, step by step, instead of one after the other."""
    return 0 < 4 * size < count and size <= 8


def last(self: Any, shape: Shape) -> Any:
    """A copy, broadcast to `shape`, with the batch as one dimension after rows and columns."""
    full = np.broadcast_to(self, shape).reshape(math.prod(shape[:-2]), *shape[-2:])
    return np.array(full.transpose(1, 2, 0), order="C")


def first(self: Any, shape: Shape) -> Any:
    """Return the inverse of `last`."""
    return np.ascontiguousarray(self.transpose(2, 0, 1)).reshape(shape)


def exchange(rows: Any, j: int, at: Any) -> None:
    """Exchange row j of each matrix with its row `at`, which is none before j, in place."""
    row = rows[j]
    old = row.copy()
    for i in range(j + 1, len(rows)):
        here = at == i
        if here.any():
            np.copyto(row, rows[i], where=here)
            np.copyto(rows[i], old, where=here)


def eliminate(a: Any) -> tuple[Any, Any]:
    """LU factors in place of matrices.

    Returns
    -------
    pivots : array of int32. With which row each row was exchanged, counted from 1; the batch last.
    info : array of int32. Where U has its first 0, counted from 1, or 0.
    """
    m, n, count = a.shape
    k = min(m, n)
    pivots, info = np.empty((k, count), np.int32), np.zeros(count, np.int32)
    with np.errstate(all="ignore"):
        for j in range(k):
            column = a[j:, j]
            # LAPACK's measure of complex numbers
            size = abs(column.real) + abs(column.imag) if a.dtype.kind == "c" else abs(column)
            at = j + size.argmax(0)
            pivots[j] = at + 1
            exchange(a, j, at)
            pivot = a[j, j]
            if not pivot.all():
                zero = pivot == 0
                info[zero & (info == 0)] = j + 1
                pivot = np.where(zero, 1, pivot)
            factors = a[j + 1 :, j]
            factors /= pivot
            a[j + 1 :, j + 1 :] -= factors[:, None] * a[j, j + 1 :]
    return pivots, info


def substitute(a: Any, x: Any, upper: bool, unitriangular: bool) -> None:
    """Solve triangular systems in place of the right-hand sides `x`."""
    size = len(a)
    with np.errstate(all="ignore"):
        for i in reversed(range(size)) if upper else range(size):
            if not unitriangular:
                x[i] /= a[i, i]
            rest = slice(0, i) if upper else slice(i + 1, size)
            x[rest] -= a[rest, i, None] * x[i]
