"""Layer 1 · kernels: elimination for many small matrices at once.

NOTE [matrices last]
For small matrices, most of the time goes into one LAPACK call per matrix. A loop over the steps of
elimination is fast, too, if each step works on long contiguous vectors. So the batch dimensions are
first moved after those of rows and columns: each step is then arithmetic between rows whose every
element holds one value per matrix.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Shape = tuple[int, ...]


def many(count: int, size: int) -> bool:
    """Return whether to eliminate `count` matrices step by step together, not one by one."""
    return 0 < 4 * size < count and size <= 8


def last(self: Any, shape: Shape) -> Any:
    """Return a copy, broadcast to `shape`, with the batch as the last dimension."""
    full = np.broadcast_to(self, shape).reshape(math.prod(shape[:-2]), *shape[-2:])
    return np.array(full.transpose(1, 2, 0), order="C")


def first(self: Any, shape: Shape) -> Any:
    """Return the inverse of `last`."""
    return np.ascontiguousarray(self.transpose(2, 0, 1)).reshape(shape)


def exchange(rows: Any, j: int, at: Any) -> None:
    """Exchange row j of each matrix, in place, with its row `at`, which is j or later."""
    row = rows[j]
    old = row.copy()
    for i in range(j + 1, len(rows)):
        here = at == i
        if here.any():
            np.copyto(row, rows[i], where=here)
            np.copyto(rows[i], old, where=here)


def eliminate(a: Any) -> tuple[Any, Any]:
    """Replace matrices by their LU factors.

    Returns
    -------
    pivots : array of int32. The row that each row was exchanged with, from 1; the batch comes last.
    info : array of int32. The position of the first 0 on the diagonal of U, from 1; 0 for none.
    """
    m, n, count = a.shape
    k = min(m, n)
    pivots, info = np.empty((k, count), np.int32), np.zeros(count, np.int32)
    with np.errstate(all="ignore"):
        for j in range(k):
            column = a[j:, j]
            # LAPACK's measure of a complex number
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
    """Solve triangular systems, overwriting the right-hand sides `x` with the solutions."""
    size = len(a)
    with np.errstate(all="ignore"):
        for i in reversed(range(size)) if upper else range(size):
            if not unitriangular:
                x[i] /= a[i, i]
            rest = slice(0, i) if upper else slice(i + 1, size)
            x[rest] -= a[rest, i, None] * x[i]
