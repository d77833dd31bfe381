"""Layer 9 · compat: the samplers, which draw NumPy arrays from keys.

A sampler takes keys of shape ``(..., 2)``, the shape to draw from each, and a dtype; parameters are
arrays of shape ``(..., *shape)``, and so is the result. The numbers are JAX's (see NOTE [streams of
JAX]): to the last bit in float32, if the sampler needs no functions other than logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax import single
from wengert.compat.jax.dtypes import finfo
from wengert.compat.jax.threefry import random_bits, split, uniforms
from wengert.kernels import normal

Shape = tuple[int, ...]
_LOG_FACTORIALS = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 20)))])


def _in_single(rule: Callable[[Any], Any], other: Callable[[Any], Any], x) -> Any:
    """Compute a function as XLA does: in single precision for bfloat16, too."""
    if x.dtype.kind == "V":
        return rule(x.astype(np.float32)).astype(x.dtype)
    return rule(x) if x.dtype == np.float32 else other(x)


def _log(x) -> Any:
    return _in_single(single.log, np.log, x)


def _log1p(x) -> Any:
    return _in_single(single.log1p, np.log1p, x)


def between(key, shape: Shape, kind, low=0.0, high=1.0) -> Any:
    """Draw uniform numbers in [low, high)."""
    kind = np.dtype(kind)
    low, high = kind.type(low), kind.type(high)
    spread = uniforms(key, shape, kind)
    if low == 0 and high == 1:
        return spread
    if kind == np.float32:  # rounded once, as XLA does
        spread = (spread.astype(np.float64) * (high - low) + low).astype(kind)
    else:
        spread = spread * (high - low) + low
    return np.maximum(low, spread)


def _normal(key, shape: Shape, kind) -> Any:
    u = between(key, shape, kind, np.nextafter(kind.type(-1), kind.type(0)), 1)
    inverse = _in_single(single.erfinv, normal.erfinv, u)
    return (kind.type(math.sqrt(2)) * inverse).astype(kind, copy=False)


def _exponential(key, shape: Shape, kind) -> Any:
    return -_log1p(-uniforms(key, shape, kind))


def _gumbel(key, shape: Shape, kind) -> Any:
    return -_log(-_log(between(key, shape, kind, finfo(kind).tiny, 1)))


def _fine_gumbel(key, shape: Shape, kind) -> Any:
    """Like `_gumbel`, but with twice the bits, so that large values are as fine as small ones."""
    both = uniforms(key, (2, *shape), kind)
    lead = key.ndim - 1
    high, low = np.take(both, 0, lead), np.take(both, 1, lead)
    info = finfo(kind)
    small = high + kind.type(2.0**-info.nmant) * low + info.tiny
    return -_log(-_log1p(-np.where(high >= 0.5, high, small)))


def _laplace(key, shape: Shape, kind) -> Any:
    u = between(key, shape, kind, -1 + finfo(kind).epsneg, 1)
    return np.sign(u) * _log1p(-np.abs(u))


def _logistic(key, shape: Shape, kind) -> Any:
    u = between(key, shape, kind, finfo(kind).tiny, 1)
    return _log(u) - _log1p(-u)


def _cauchy(key, shape: Shape, kind) -> Any:
    u = between(key, shape, kind, finfo(kind).eps, 1)
    return np.tan(kind.type(np.pi) * (u - kind.type(0.5)))


def _bits(key, shape: Shape, kind) -> Any:
    return random_bits(key, shape, 8 * kind.itemsize)


def integers(key, shape: Shape, kind, low, high, whole) -> Any:
    """Draw integers in [low, high); `whole` marks ranges up to the largest integer."""
    unsigned: Any = np.dtype(f"u{kind.itemsize}").type
    keys = split(key, (2,))
    first, second = (_bits(keys[..., i, :], shape, kind) for i in range(2))
    span = (high - low).astype(unsigned)
    span = np.where(high <= low, unsigned(1), span)
    span = np.where(whole & (high > low), span + unsigned(1), span)
    # a span of 2**32 wraps to 0; the remainder is then the number itself
    safe = np.where(span == 0, unsigned(1), span)

    def rest(x) -> Any:
        return np.where(span == 0, x, x % safe)

    factor = rest(unsigned(2 ** (4 * kind.itemsize)))
    factor = rest(factor * factor)
    return low + rest(rest(first) * factor + rest(second)).astype(kind)


def _order(key, shape: Shape, kind) -> Any:
    """Return the positions of a shuffled array, along the last axis of `shape`."""
    axis = key.ndim - 2 + len(shape)
    full = key.shape[:-1] + shape
    order = np.broadcast_to(np.arange(shape[-1], dtype=kind), full)
    size = max(1, math.prod(shape))
    for _ in range(int(np.ceil(3 * np.log(size) / np.log(np.iinfo(np.uint32).max)))):
        keys = split(key, (2,))
        key = keys[..., 0, :]
        places = np.argsort(random_bits(keys[..., 1, :], shape, 32), axis=axis, kind="stable")
        order = np.take_along_axis(order, places, axis)
    return order


# -- by rejection ----------------------------------------------------------------------------------


def _gammas(key, shape: Shape, kind, alpha, logs: bool) -> Any:
    """Draw gamma numbers by Marsaglia and Tsang's method, or their logarithms for `logs`."""
    keys = split(key, shape).reshape(-1, 2)
    alpha = np.ravel(np.broadcast_to(alpha, key.shape[:-1] + shape))
    one, half = kind.type(1), kind.type(0.5)
    large = alpha >= 1
    d = np.where(large, alpha, alpha + one) - kind.type(1 / 3)
    with np.errstate(invalid="ignore"):
        c = kind.type(1 / 3) / np.sqrt(d)
    keys = split(keys, (2,))
    keys, last = keys[:, 0].copy(), keys[:, 1]
    v = np.ones_like(alpha)
    left = np.flatnonzero(alpha > 0)
    while left.size:
        three = split(keys[left], (3,))
        keys[left] = three[:, 0]
        x, cube = _of_normals(three[:, 1].copy(), c[left], kind)
        x, cube = x * x, cube * cube * cube
        u = uniforms(three[:, 2], (), kind)
        v[left] = cube
        with np.errstate(divide="ignore"):
            bound = x * half + d[left] * ((one - cube) + np.log(cube))
            again = (u >= one - kind.type(0.0331) * (x * x)) & (np.log(u) >= bound)
        left = left[again]
    with np.errstate(divide="ignore", over="ignore"):
        if logs:
            drawn = _log1p(-uniforms(last, (), kind))
            boost = np.where(large | (drawn == 0), kind.type(0), drawn * (one / alpha))
            result = (_log(d) + _log(v)) + boost
        else:
            boost = np.where(large, one, (one - uniforms(last, (), kind)) ** (one / alpha))
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
        two = split(keys[left], (2,))
        keys[left] = two[:, 0]
        x[left] = _normal(two[:, 1], (), kind)
        v[left] = kind.type(1) + x[left] * c[left]
        left = left[v[left] <= 0]
    return x, v


def _for_each(sampler: Callable[..., Any]) -> Callable[..., Any]:
    """Extend a sampler from one key to keys of any shape."""

    def several(key, shape: Shape, kind, *parameters) -> Any:
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
        key, sub = split(key, (2,))
        count += total > -lam
        with np.errstate(divide="ignore"):
            total = total + np.log(uniforms(sub, shape, np.float32))
    return count - 1


def _poisson_by_rejection(key, shape: Shape, lam) -> Any:
    """Draw Poisson numbers by Hörmann's transformed rejection, for means above 10."""
    b = 0.931 + 2.53 * np.sqrt(lam)
    a = -0.059 + 0.02483 * b
    alpha, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    result, done = np.full(shape, -1.0, np.float32), np.zeros(shape, bool)
    while not done.all():
        key, first, second = split(key, (3,))
        u = uniforms(first, shape, np.float32) - np.float32(0.5)
        v = uniforms(second, shape, np.float32)
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
def _poisson(key, shape: Shape, kind, lam) -> Any:
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
def _binomial(key, shape: Shape, kind, count, p) -> Any:
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
                first, inner = split(inner, (2,))
                successes += total <= fewer
                step = np.ceil(np.log(uniforms(first, shape, kind)) / slope)
                total = total + np.where(np.isnan(step), np.inf, step)
        successes -= 1
    if not few.all():
        words = [int(word) for word in random_bits(key, (4,), 32)]
        many = np.random.Generator(np.random.Philox(words)).binomial(n, np.where(bad, 0.01, q))
        successes = np.where(few, successes, many)
    drawn = np.where(p < 0.5, successes, n - successes).astype(kind)
    drawn = np.where(np.isinf(count) & (q > 0), kind.type(np.inf), drawn)
    return np.where(bad, kind.type(np.nan), drawn)


SAMPLERS: dict[str, Callable[..., Any]] = {
    "between": between,
    "binomial": _binomial,
    "bits": _bits,
    "cauchy": _cauchy,
    "exponential": _exponential,
    "fine_gumbel": _fine_gumbel,
    "gamma": lambda key, shape, kind, alpha: _gammas(key, shape, kind, alpha, False),
    "gumbel": _gumbel,
    "integers": integers,
    "laplace": _laplace,
    "loggamma": lambda key, shape, kind, alpha: _gammas(key, shape, kind, alpha, True),
    "logistic": _logistic,
    "normal": _normal,
    "order": _order,
    "poisson": _poisson,
}
"""The samplers by name."""
