"""Layer 9 · compat: the samplers, which draw NumPy arrays from keys.

A sampler takes a namespace (NOTE [samplers]), keys of shape ``(..., 2)``, parameters of shape
``(..., *shape)``, and the shape and dtype to draw; the result has the parameters' shape. The
numbers are JAX's (see NOTE [streams of JAX]): to the last bit in float32, if the sampler needs no
functions other than logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax.dtypes import finfo
from wengert.compat.jax.threefry import random_bits, split, uniforms
from wengert.interp.eager import K

Shape = tuple[int, ...]
_LOG_FACTORIALS = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 20)))])


def _in_single(F, name: str, x) -> Any:
    """Compute a function as XLA does: in single precision for bfloat16, too."""
    if x.dtype.kind == "V":
        wide = F.to_copy(x, dtype=np.dtype(np.float32))
        return F.to_copy(_in_single(F, name, wide), dtype=x.dtype)
    return getattr(F, f"xla_{name}" if x.dtype == np.float32 else name)(x)


def _number(kind, value) -> Any:
    """Return a number of a dtype: a Python number has none, which bfloat16 arrays do not keep."""
    return float(kind.type(value)) if kind.kind == "f" else np.asarray(value, kind)


def between(F, key, *, shape: Shape, kind, low=0.0, high=1.0) -> Any:
    """Draw uniform numbers in [low, high)."""
    kind = np.dtype(kind)
    spread = uniforms(F, key, shape, kind)
    if low == 0 and high == 1:
        return spread
    low, high = kind.type(low), kind.type(high)
    least, range = _number(kind, low), _number(kind, high - low)
    # rounded once in single precision, as XLA does
    inside = np.dtype(np.float64) if kind == np.float32 else kind
    spread = F.to_copy(F.to_copy(spread, dtype=inside) * range + least, dtype=kind)
    return F.where(spread > least, spread, least)


def normal(F, key, *, shape: Shape, kind) -> Any:
    """Return standard normal numbers."""
    below = np.nextafter(kind.type(-1), kind.type(0))
    u = between(F, key, shape=shape, kind=kind, low=below, high=1)
    return _in_single(F, "erfinv", u) * _number(kind, math.sqrt(2))


def exponential(F, key, *, shape: Shape, kind) -> Any:
    """Return exponential numbers of mean 1."""
    return -_in_single(F, "log1p", -uniforms(F, key, shape, kind))


def gumbel(F, key, *, shape: Shape, kind) -> Any:
    """Return standard Gumbel numbers."""
    u = between(F, key, shape=shape, kind=kind, low=finfo(kind).tiny)
    return -_in_single(F, "log", -_in_single(F, "log", u))


def fine_gumbel(F, key, *, shape: Shape, kind) -> Any:
    """Like `_gumbel`, but with twice the bits, so that large values are as fine as small ones."""
    both = uniforms(F, key, (2, *shape), kind)
    high, low = (F.select(both, dim=len(key.shape) - 1, index=i) for i in range(2))
    info = finfo(kind)
    small = high + low * _number(kind, 2.0**-info.nmant) + _number(kind, info.tiny)
    whole = F.where(high >= 0.5, high, small)
    return -_in_single(F, "log", -_in_single(F, "log1p", -whole))


def laplace(F, key, *, shape: Shape, kind) -> Any:
    """Return standard Laplace numbers."""
    u = between(F, key, shape=shape, kind=kind, low=-1 + finfo(kind).epsneg)
    return F.sign(u) * _in_single(F, "log1p", -F.abs(u))


def logistic(F, key, *, shape: Shape, kind) -> Any:
    """Return standard logistic numbers."""
    u = between(F, key, shape=shape, kind=kind, low=finfo(kind).tiny)
    return _in_single(F, "log", u) - _in_single(F, "log1p", -u)


def cauchy(F, key, *, shape: Shape, kind) -> Any:
    """Return standard Cauchy numbers."""
    u = between(F, key, shape=shape, kind=kind, low=finfo(kind).eps)
    return F.tan((u - _number(kind, 0.5)) * _number(kind, np.pi))


def bits(F, key, *, shape: Shape, kind) -> Any:
    """Return random bits as integers of the dtype."""
    return random_bits(F, key, shape, 8 * kind.itemsize)


def integers(F, key, low, high, *, shape: Shape, kind, whole: bool) -> Any:
    """Draw integers in [low, high); `whole` marks ranges up to the largest integer."""
    unsigned = np.dtype(f"u{kind.itemsize}")
    low, high = (F.to_copy(end, dtype=kind) for end in (low, high))
    keys, lead = split(F, key, (2,)), len(key.shape) - 1
    first, second = (
        bits(F, F.select(keys, dim=lead, index=i), shape=shape, kind=kind) for i in range(2)
    )
    span = F.to_copy(high - low, dtype=unsigned)
    span = F.where(high > low, span + 1 if whole else span, 1)
    # a span of 2**32 wraps to 0; the remainder is then the number itself
    is_all = span == 0
    safe = F.where(is_all, 1, span)

    def rest(x) -> Any:
        return F.where(is_all, x, F.remainder(x, safe))

    factor = rest(np.full((), 2 ** (4 * kind.itemsize), unsigned))
    factor = rest(factor * factor)
    return low + F.to_copy(rest(rest(first) * factor + rest(second)), dtype=kind)


def order(F, key, *, shape: Shape, kind) -> Any:
    """Return the positions of a shuffled array, along the last axis of `shape`."""
    lead = len(key.shape) - 1
    dim, full = lead + len(shape) - 1, (*key.shape[:-1], *shape)
    found = F.expand(np.arange(shape[-1]), shape=full)
    size = max(1, math.prod(shape))
    for _ in range(int(np.ceil(3 * np.log(size) / np.log(np.iinfo(np.uint32).max)))):
        keys = split(F, key, (2,))
        key, last = (F.select(keys, dim=lead, index=i) for i in range(2))
        bits = random_bits(F, last, shape, 32)
        places = F.argsort(bits, dim=dim, descending=False)
        found = F.gather(found, places, dim=dim)
    return F.to_copy(found, dtype=kind)


# -- by numbers drawn ------------------------------------------------------------------------------


def gammas(F, key, alpha, *, shape: Shape, kind, logs: bool) -> Any:
    """Draw gamma numbers by Marsaglia and Tsang's method, or their logarithms for `logs`."""
    keys = split(K, key, shape).reshape(-1, 2)
    alpha = np.ravel(np.broadcast_to(alpha, key.shape[:-1] + shape))
    one, half = kind.type(1), kind.type(0.5)
    large = alpha >= 1
    d = np.where(large, alpha, alpha + one) - kind.type(1 / 3)
    with np.errstate(invalid="ignore"):
        c = kind.type(1 / 3) / np.sqrt(d)
    keys = split(K, keys, (2,))
    keys, last = keys[:, 0].copy(), keys[:, 1]
    v = np.ones_like(alpha)
    left = np.flatnonzero(alpha > 0)
    while left.size:
        three = split(K, keys[left], (3,))
        keys[left] = three[:, 0]
        x, cube = _of_normals(three[:, 1].copy(), c[left], kind)
        x, cube = x * x, cube * cube * cube
        u = uniforms(K, three[:, 2], (), kind)
        v[left] = cube
        with np.errstate(divide="ignore"):
            bound = x * half + d[left] * ((one - cube) + np.log(cube))
            again = (u >= one - kind.type(0.0331) * (x * x)) & (np.log(u) >= bound)
        left = left[again]
    with np.errstate(divide="ignore", over="ignore"):
        if logs:
            drawn = _in_single(K, "log1p", -uniforms(K, last, (), kind))
            boost = np.where(large | (drawn == 0), kind.type(0), drawn * (one / alpha))
            result = (_in_single(K, "log", d) + _in_single(K, "log", v)) + boost
        else:
            boost = np.where(large, one, (one - uniforms(K, last, (), kind)) ** (one / alpha))
            result = d * v * boost
    bad = ~(alpha > 0)
    if bad.any():
        result[bad] = np.where(alpha[bad] == 0, -np.inf if logs else 0, np.nan)
    return result.reshape(key.shape[:-1] + shape)


def _of_normals(keys, c, kind) -> tuple[Any, Any]:
    """Draw normal numbers x with ``1 + c * x`` positive, and return both."""
    x, v = np.zeros_like(c), np.full_like(c, -1)
    left = np.arange(len(c))
    while left.size:
        two = split(K, keys[left], (2,))
        keys[left] = two[:, 0]
        x[left] = normal(K, two[:, 1], shape=(), kind=kind)
        v[left] = kind.type(1) + x[left] * c[left]
        left = left[v[left] <= 0]
    return x, v


def _for_each(sampler: Callable[..., Any]) -> Callable[..., Any]:
    """Extend a sampler from one key to keys of any shape."""

    def several(F, key, *parameters, shape: Shape, kind) -> Any:
        lead = key.shape[:-1]
        result = np.empty(lead + shape, kind)
        given = [np.broadcast_to(p, lead + shape) for p in parameters]
        for place in np.ndindex(*lead):
            result[place] = sampler(key[place], shape, kind, *[p[place] for p in given])
        return result

    return several


def _log_factorial(k) -> Any:
    """Return ln k! for nonnegative integers k."""
    few = k < len(_LOG_FACTORIALS)
    n = np.where(few, 1.0, k) + 1.0
    large = (n - 0.5) * np.log(n) - n + math.log(2 * math.pi) / 2 + 1 / (12 * n) - n**-3 / 360
    return np.where(few, _LOG_FACTORIALS[np.where(few, k, 0).astype(int)], large)


def _poisson_by_products(key, shape: Shape, lam) -> Any:
    """Draw Poisson numbers by Knuth's method: multiply uniforms until they drop below exp(-lam)."""
    count, total = np.zeros(shape, np.int64), np.zeros(shape, np.float32)
    while (total > -lam).any():
        key, sub = split(K, key, (2,))
        count += total > -lam
        with np.errstate(divide="ignore"):
            total = total + np.log(uniforms(K, sub, shape, np.float32))
    return count - 1


def _poisson_by_rejection(key, shape: Shape, lam) -> Any:
    """Draw Poisson numbers by Hörmann's transformed rejection, for means above 10."""
    b = 0.931 + 2.53 * np.sqrt(lam)
    a = -0.059 + 0.02483 * b
    alpha, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    result, done = np.full(shape, -1.0, np.float32), np.zeros(shape, bool)
    while not done.all():
        key, first, second = split(K, key, (3,))
        u = uniforms(K, first, shape, np.float32) - np.float32(0.5)
        v = uniforms(K, second, shape, np.float32)
        near = np.float32(0.5) - np.abs(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            k = np.floor((2 * a / near + b) * u + lam + np.float32(0.43))
            s = np.log(v * alpha / (a / (near * near) + b))
            t = -lam + k * np.log(lam) - _log_factorial(np.maximum(k, 0))
        sure = (near >= 0.07) & (v <= v_r)
        refused = (k < 0) | ((near < 0.013) & (v > near))
        accepted = sure | (~refused & (s <= t))
        result = np.where(accepted, k, result)
        done |= accepted
    return result


@_for_each
def poisson(key, shape: Shape, kind, lam) -> Any:
    """Draw Poisson numbers of mean `lam`."""
    lam = lam.astype(np.float32)
    few = np.isnan(lam) | (lam < 10)
    result = np.zeros(shape, np.int64)
    if few.any():
        result = _poisson_by_products(key, shape, np.where(few, lam, np.float32(0)))
    if not few.all():
        many = _poisson_by_rejection(key, shape, np.where(few, np.float32(1e5), lam))
        result = np.where(few, result, many.astype(np.int64))
    return np.where(lam == 0, 0, result).astype(kind)


@_for_each
def binomial(key, shape: Shape, kind, count, p) -> Any:
    """Draw sums of geometric numbers where few successes are expected, else use seeded NumPy."""
    q = np.where(p < 0.5, p, 1 - p)
    bad = np.isnan(count) | (count < 0) | np.isnan(q) | (q < 0)
    n = np.where(bad | np.isinf(count), 0, np.floor(count)).astype(np.int64)
    few = n * np.where(bad, 0.01, q) <= 10
    successes = np.zeros(shape)
    if few.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.log1p(-np.where(bad, kind.type(0.01), q))
            total, fewer = np.zeros(shape, kind), np.where(few, n, 0)
            inner = key
            while (total <= fewer).any():
                first, inner = split(K, inner, (2,))
                successes += total <= fewer
                step = np.ceil(np.log(uniforms(K, first, shape, kind)) / slope)
                total = total + np.where(np.isnan(step), np.inf, step)
        successes -= 1
    if not few.all():
        words = [int(word) for word in random_bits(K, key, (4,), 32)]
        many = np.random.Generator(np.random.Philox(words)).binomial(n, np.where(bad, 0.01, q))
        successes = np.where(few, successes, many)
    drawn = np.where(p < 0.5, successes, n - successes).astype(kind)
    drawn = np.where(np.isinf(count) & (q > 0), kind.type(np.inf), drawn)
    return np.where(bad, kind.type(np.nan), drawn)


BY_NUMBERS = frozenset({binomial, gammas, poisson})
"""The samplers that need arrays (NOTE [samplers])."""
