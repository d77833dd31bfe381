"""Layer 1 · kernels: sums of products of two arrays over some of their dimensions.

NOTE [labels]
Each dimension of two arrays and of the result has a label, a small number. A label of one array
also occurs in the other, in the result, or in both, and at most once in each. Labels of both arrays
that the result lacks are summed over. So each label is of one of four kinds: *batch* (in all
three), *left* and *right* (in one array and the result), and *sum* (in both arrays alone), and with
the dimensions in the order batch, left, sum and batch, sum, right the result is a product of
matrices.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels.matmul import bmm, mm

Labels = tuple[int, ...]


class _Plan:
    """The plan for contracting two arrays with given labels."""

    __slots__ = (
        "batch",
        "first",
        "left",
        "plain",
        "product",
        "restore",
        "right",
        "second",
        "stacked",
        "sum",
    )

    def __init__(self, a: Labels, b: Labels, out: Labels, by_second: bool) -> None:
        batch = [x for x in out if x in a and x in b]
        left = [x for x in out if x in a and x not in b]
        right = [x for x in out if x in b and x not in a]
        # in the order of the array that would take longer to permute
        summed = [x for x in (b if by_second else a) if x not in out]
        self.batch, self.left, self.right = len(batch), len(left), len(right)
        self.sum = len(summed)
        self.product = not summed
        order = out if self.product else [*batch, *left, *summed]
        self.first = tuple([a.index(x) if x in a else -1 for x in order])
        order = out if self.product else [*batch, *summed, *right]
        self.second = tuple([b.index(x) if x in b else -1 for x in order])
        made = [*batch, *left, *right]
        self.restore = tuple([made.index(x) for x in out])
        if self.restore == tuple(range(len(out))):
            self.restore = ()
        # two matrices, or a matrix and a vector: no need to merge dimensions
        self.plain = not batch and len(left) == len(summed) == 1 and len(right) <= 1
        # batches of matrices
        self.stacked = len(left) == len(summed) == len(right) == 1


plan_of = lru_cache(maxsize=1024)(_Plan)


def contract(self: Any, other: Any, a: Labels, b: Labels, out: Labels) -> Any:
    """Return the sums of the products of two arrays (see NOTE [labels])."""
    plan = plan_of(a, b, out, other.size > self.size)
    if plan.product:
        return _spread(self, plan.first) * _spread(other, plan.second)
    x, y = self.transpose(plan.first), other.transpose(plan.second)
    if plan.plain:
        result = mm(x, y)
        return result.T if plan.restore else result
    nb = plan.batch
    if plan.stacked:
        result = bmm(x, y)
        return result.transpose(plan.restore) if plan.restore else result
    n, k = nb + plan.left, nb + plan.sum
    batch, left, summed, right = x.shape[:nb], x.shape[nb:n], x.shape[n:], y.shape[k:]
    if not nb:
        size = math.prod(summed)
        result = mm(x.reshape(math.prod(left), size), y.reshape(size, math.prod(right)))
        result = result.reshape(left + right)
    elif not (left or right):
        result = _dots(x, y, batch, summed)
    else:
        if plan.left != 1 or plan.sum != 1:
            x = x.reshape(*batch, math.prod(left), math.prod(summed))
        if plan.right != 1 or plan.sum != 1:
            y = y.reshape(*batch, math.prod(summed), math.prod(right))
        result = bmm(x, y)
        if plan.left != 1 or plan.right != 1:
            result = result.reshape(batch + left + right)
    return result.transpose(plan.restore) if plan.restore else result


def _spread(self: Any, order: Labels) -> Any:
    """Permute the dimensions, and insert new ones of size 1 where the order says -1."""
    kept = tuple([i for i in order if i >= 0])
    if len(kept) > 1:
        self = self.transpose(kept)
    if len(kept) == len(order):
        return self
    return self[tuple([slice(None) if i >= 0 else None for i in order])]


def _dots(x: Any, y: Any, batch: tuple[int, ...], summed: tuple[int, ...]) -> Any:
    """Compute sums of products that leave only batch dimensions."""
    if len(summed) != 1:
        size = math.prod(summed)
        x, y = x.reshape(*batch, size), y.reshape(*batch, size)
    if x.dtype.itemsize == 2 and x.dtype.kind not in "iub":
        return _dots(x.astype(np.float32), y.astype(np.float32), batch, x.shape[-1:]).astype(
            x.dtype
        )
    return np.einsum("...i,...i->...", x, y, order="C")
