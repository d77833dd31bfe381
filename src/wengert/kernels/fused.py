"""Layer 1 · kernels: multiply and add with one rounding, and evenly spaced numbers made with it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_SPLIT = 134217729.0
"""2**27 + 1, which splits a double's significand in two."""


def fused(x: Any, factor: Any, term: Any) -> Any:
    """Compute ``x * factor + term``, rounded once, like a fused multiply-add.

    `x` is an array of floats in single or double precision.
    """
    if x.dtype == _SINGLE:
        return (x.astype(_DOUBLE) * float(factor) + float(term)).astype(_SINGLE)
    product = x * factor
    total = product + term
    if math.frexp(factor)[0] in (0.5, -0.5):
        # a product with a power of two is exact
        return total
    # Dekker's product and Knuth's sum (Numerische Mathematik 18, 1971) give both rounding errors
    with np.errstate(over="ignore", invalid="ignore"):
        high = x * _SPLIT - (x * _SPLIT - x)
        low = x - high
        top = factor * _SPLIT - (factor * _SPLIT - factor)
        rest = factor - top
        error = ((high * top - product) + high * rest + low * top) + low * rest
        back = total - product
        exact = total + (((product - (total - back)) + (term - back)) + error)
    # splitting overflows near the largest numbers
    return np.where(np.isfinite(exact), exact, total)


def progression(start: float, step: float, count: int, dtype: Any) -> Any:
    """Compute ``start, start + step, ...`` in double precision."""
    values = np.arange(count, dtype=_DOUBLE)
    values *= step
    values += start
    return values.astype(dtype, copy=False)


def linspace(start: Any, end: Any, count: int, dtype: Any) -> Any:
    """Return `count` numbers from `start` to `end`, each half computed from its own end."""
    first = count // 2
    index = np.arange(count - first)
    if dtype.kind in "iu":
        start, end = int(start), int(end)
        step = (end - start) / max(count - 1, 1)
    else:
        kind = dtype.type
        start, end = kind(start), kind(end)
        step = (end - start) / kind(max(count - 1, 1))
        index = index.astype(dtype)
    index, back = index[:first], index[::-1]
    if count == 1:
        return np.full(1, start, dtype)
    if dtype in (_SINGLE, _DOUBLE):
        low, high = fused(index, step, start), fused(back, -step, end)
    else:
        low, high = start + step * index, end - step * back
    return np.concatenate((low, high)).astype(dtype, copy=False)


def logspace(start: Any, end: Any, count: int, base: float, dtype: Any) -> Any:
    """Compute `base` to the powers of `linspace`."""
    wide = np.dtype(np.complex128) if dtype.kind == "c" else _DOUBLE
    with np.errstate(over="ignore", invalid="ignore"):
        return np.power(base, linspace(start, end, count, wide)).astype(dtype)
