"""det: the determinant by expansion by minors.

The minors of the last k rows follow from those of the last k - 1, all choices of k columns at once:
for each choice and each of its columns, the product of an element of the next row and the minor
without that column, with alternating signs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

import wengert as wg

from ._types import Compile, Functions


def arguments(input: Mapping[str, Any]) -> tuple[Any, int]:
    return wg.tensor(input["A"], dtype=wg.float64), input["ell"]


@cache
def choices(ell: int, k: int) -> tuple[Any, Any]:
    """All choices of k columns, and for each of its columns the number of the choice without it."""
    smaller = {columns: number for number, columns in enumerate(combinations(range(ell), k - 1))}
    chosen = list(combinations(range(ell), k))
    without = [[smaller[c[:j] + c[j + 1 :]] for j in range(k)] for c in chosen]
    return np.array(chosen), np.array(without)


@cache
def tables(ell: int, k: int) -> tuple[Any, Any]:
    """The choices as tensors, which a compiled function need not compare in each call."""
    columns, without = choices(ell, k)
    return wg.tensor(columns), wg.tensor(without)


def objective(a: Any, ell: int) -> Any:
    a = a.reshape(ell, ell)
    minors = a[-1]
    for k in range(2, ell + 1):
        columns, without = tables(ell, k)
        signs = wg.tensor([1.0, -1.0] * ell, dtype=wg.float64)[:k]
        minors = (signs * a[ell - k][columns] * minors[without]).sum(1)
    return minors[0]


gradient = wg.func.grad(objective)


def functions(compile: Compile) -> Functions:
    return {"primal": compile(objective), "gradient": compile(gradient)}
