"""Layer 9 · compat: the distributions of `jax.random` that have parameters.

Samples are functions of the parameters and of draws from a standard distribution, and are
differentiated as such. For samples drawn by rejection, see NOTE [derivatives of samples].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.autograd.function import Function
from wengert.base.sections import fill_sections
from wengert.compat.jax.array import Array, asarray, made, promote_inexact
from wengert.compat.jax.dtypes import default_dtype, requested_dtype
from wengert.compat.jax.keys import aligned, split, words_of
from wengert.compat.jax.numpy.calling import check_arrays, plain, shape_of, static
from wengert.compat.jax.sampling import (
    bits,
    exponential,
    gumbel,
    kind_of,
    normal,
    rademacher,
    randint,
    sample,
    shape_for,
    uniform,
)
from wengert.kernels.samplers import gamma_slope
from wengert.tape.base import new_tensor

# -- gamma -----------------------------------------------------------------------------------------


class _Slope(Function):
    """The derivative dz/da of a gamma sample, or d(ln z)/da."""

    @staticmethod
    def forward(ctx, alpha, drawn_, logs: bool) -> Any:
        a, z = np.asarray(alpha._payload), np.asarray(drawn_._payload)
        if not logs:
            return new_tensor(gamma_slope(a, z))
        z = np.maximum(np.exp(z), np.finfo(z.dtype).tiny)
        return new_tensor((gamma_slope(a, z) / z).astype(a.dtype))

    @staticmethod
    def backward(ctx, *grads) -> Any:
        raise NotImplementedError(
            "the second derivative of a gamma sample by its shape parameter is not there: "
            "jax.random.gamma, beta, dirichlet, t, ... are differentiable once"
        )

    @staticmethod
    def vmap(info, in_dims, alpha, drawn_, logs: bool) -> Any:
        return _Slope.apply(*aligned(info, in_dims[:2], (alpha, drawn_)), logs), 0


class _Sample(Function):
    """A gamma sample as a function of its shape parameter."""

    @staticmethod
    def forward(ctx, alpha, drawn_, logs: bool) -> Any:
        ctx.save_for_backward(alpha, drawn_)
        ctx.logs = logs
        return drawn_.clone()

    @staticmethod
    def backward(ctx, grad) -> Any:
        alpha, drawn_ = ctx.saved_tensors
        return grad * _Slope.apply(alpha, drawn_, ctx.logs), None, None

    @staticmethod
    def vmap(info, in_dims, alpha, drawn_, logs: bool) -> Any:
        return _Sample.apply(*aligned(info, in_dims[:2], (alpha, drawn_)), logs), 0


def _gamma(name: str, key, a, shape, dtype) -> Array:
    words = words_of(name, key)
    kind = kind_of("gamma", dtype)
    check_arrays(name, a)
    alpha = asarray(a, kind)
    sizes = shape_for("gamma", shape, alpha)
    alpha = jnp.broadcast_to(alpha, sizes)
    found = sample(name, words, sizes, kind, alpha)
    return made(_Sample.apply(plain(alpha), plain(found), name == "loggamma"))


def gamma(key, a, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw from the gamma distribution with shape `a` and scale 1; differentiable in `a`, once.

    Examples
    --------
    >>> jax.random.gamma(jax.random.PRNGKey(0), 2.0).shape
    ()
    """
    return _gamma("gamma", key, a, shape, dtype)


def loggamma(key, a, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw logarithms of gamma samples; accurate where `a` is tiny."""
    return _gamma("loggamma", key, a, shape, dtype)


def beta(key, a, b, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw from the beta distribution; differentiable in `a` and `b`, once."""
    words = words_of("beta", key)
    kind = kind_of("beta", dtype)
    sizes = shape_for("beta", shape, asarray(a), asarray(b))
    first, second = split(words)
    of_a, of_b = (
        loggamma(part, jnp.broadcast_to(asarray(p, kind), sizes), sizes, kind)
        for part, p in ((first, a), (second, b))
    )
    most = jnp.maximum(of_a, of_b)
    scaled_a, scaled_b = jnp.exp(of_a - most), jnp.exp(of_b - most)
    return scaled_a / (scaled_a + scaled_b)


def dirichlet(key, alpha, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw vectors from the Dirichlet distribution; differentiable in `alpha`, once."""
    words = words_of("dirichlet", key)
    kind = kind_of("dirichlet", dtype)
    given = asarray(alpha, kind)
    if given.ndim < 1:
        raise ValueError("dirichlet requires alpha.ndim >= 1, got alpha.ndim == 0")
    sizes = shape_for("dirichlet", shape, np.broadcast_to(0, given.shape[:-1]))
    logs = loggamma(words, given, (*sizes, given.shape[-1]), kind)
    parts = jnp.exp(logs - logs.max(-1, keepdims=True))
    return parts / parts.sum(-1, keepdims=True)


def chisquare(key, df, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw from the chi-square distribution with `df` degrees of freedom."""
    kind = kind_of("chisquare", dtype)
    half = asarray(df, kind) / 2
    sizes = shape_for("chisquare", shape, half)
    return jnp.exp(loggamma(words_of("chisquare", key), half, sizes, kind)) * 2


def f(key, dfnum, dfden, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw from the F distribution."""
    kind = kind_of("f", dtype)
    above, below = asarray(dfnum, kind), asarray(dfden, kind)
    sizes = shape_for("f", shape, above, below)
    of_den, of_num = split(words_of("f", key))
    numerator = chisquare(of_num, above, sizes, kind) / above
    return numerator / (chisquare(of_den, below, sizes, kind) / below)


def t(key, df, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw from Student's t distribution with `df` degrees of freedom."""
    kind = kind_of("t", dtype)
    half = asarray(df, kind) / 2
    sizes = shape_for("t", shape, half)
    of_normal, of_gamma = split(words_of("t", key))
    return normal(of_normal, sizes, kind) * jnp.sqrt(half / gamma(of_gamma, half, sizes, kind))


# -- counts ----------------------------------------------------------------------------------------


def poisson(key, lam, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw integers from the Poisson distribution with mean `lam`."""
    words = words_of("poisson", key)
    kind = default_dtype("i") if dtype is None else requested_dtype(dtype, "poisson")
    mean = asarray(lam, np.float32)
    sizes = shape_for("poisson", shape, mean)
    return sample("poisson", words, sizes, kind, mean)


def geometric(key, p, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw the number of trials, each with success probability `p`, until the first success."""
    words = words_of("geometric", key)
    kind = kind_of("geometric", dtype, "iu", "i")
    check_arrays("geometric", p)
    (chance,) = promote_inexact(p)
    sizes = shape_for("geometric", shape, chance)
    u = uniform(words, sizes, chance.dtype)
    u = jnp.where(u == 0, 1, u)
    return (jnp.floor(jnp.log(u) / jnp.log1p(-chance)) + 1).astype(kind)


def binomial(key, n, p, shape=None, dtype=None) -> Array:
    """Draw the number of successes in `n` trials with success probability `p`."""
    words = words_of("binomial", key)
    kind = kind_of("binomial", dtype)
    check_arrays("binomial", n, p)
    count, chance = asarray(n, kind), asarray(p, kind)
    sizes = shape_for("binomial", shape, count, chance)
    return sample("binomial", words, sizes, kind, count, chance)


def multinomial(key, n, p, *, shape=None, dtype=None, unroll=1) -> Array:
    """Draw the number of outcomes in each category, of `n` trials with probabilities `p`."""
    words = words_of("multinomial", key)
    kind = kind_of("multinomial", dtype)
    check_arrays("multinomial", n, p)
    left, chances = promote_inexact(n, p)
    sizes = tuple(chances.shape) if shape is None else shape_of(shape)
    left = jnp.broadcast_to(left, sizes[:-1])
    chances = jnp.moveaxis(jnp.broadcast_to(chances, sizes), -1, 0)
    rest = jnp.cumsum(chances[::-1], 0)[::-1]
    ratios = chances / jnp.where(rest == 0, 1, rest)
    counts = []
    for ratio, key_ in zip(ratios, split(words, len(ratios)), strict=True):
        counts.append(binomial(key_, left, jnp.clip(ratio, 0, 1), dtype=left.dtype))
        left = left - counts[-1]
    return jnp.stack(counts, -1).astype(kind)


# -- transforms of standard distributions ----------------------------------------------------------


def lognormal(key, sigma=1.0, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw from the log-normal distribution with standard deviation `sigma` of the logarithm."""
    kind = kind_of("lognormal", dtype, "fc")
    scale = asarray(sigma, kind)
    sizes = shape_for("lognormal", shape, scale)
    return jnp.exp(normal(words_of("lognormal", key), sizes, kind) * scale)


def pareto(key, b, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw from the Pareto distribution with exponent `b`."""
    kind = kind_of("pareto", dtype)
    power = asarray(b, kind)
    sizes = shape_for("pareto", shape, power)
    return jnp.exp(exponential(words_of("pareto", key), sizes, kind) / power)


def rayleigh(key, scale, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw from the Rayleigh distribution."""
    kind = kind_of("rayleigh", dtype)
    width = asarray(scale, kind)
    sizes = shape_for("rayleigh", shape, width)
    return width * jnp.sqrt(-2 * jnp.log(uniform(words_of("rayleigh", key), sizes, kind)))


def weibull_min(key, scale, concentration, shape=(), dtype=None) -> Array:
    """Draw from the Weibull distribution."""
    kind = kind_of("weibull_min", dtype)
    u = exponential(words_of("weibull_min", key), shape_of(shape), kind)
    return jnp.power(u, 1.0 / asarray(concentration, kind)) * asarray(scale, kind)


def wald(key, mean, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw from the Wald (inverse Gaussian) distribution with scale 1."""
    kind = kind_of("wald", dtype)
    m = asarray(mean, kind)
    sizes = shape_for("wald", shape, m)
    first, second = split(words_of("wald", key))
    y = normal(first, sizes, kind) ** 2
    z = uniform(second, sizes, kind)
    x = m + m**2 * y / 2 - m / 2 * jnp.sqrt(4 * m * y + m**2 * y**2)
    return jnp.where(z <= m / (m + x), x, m**2 / x)


def triangular(key, left, mode, right, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draw from the triangular distribution."""
    kind = kind_of("triangular", dtype)
    low, top, high = (asarray(value, kind) for value in (left, mode, right))
    sizes = shape_for("triangular", shape, low, top, high)
    u = uniform(words_of("triangular", key), sizes, kind)
    rising = low + jnp.sqrt(u * (high - low) * (top - low))
    falling = high - jnp.sqrt((1 - u) * (high - low) * (high - top))
    return jnp.where(u < (top - low) / (high - low), rising, falling)


def maxwell(key, shape=(), dtype=None, *, out_sharding=None) -> Array:
    """Draw from the Maxwell distribution with scale 1."""
    kind = kind_of("maxwell", dtype)
    return jnp.linalg.norm(normal(words_of("maxwell", key), (*shape_of(shape), 3), kind), axis=-1)


def double_sided_maxwell(key, loc, scale, shape=(), dtype=None) -> Array:
    """Draw from the double-sided Maxwell distribution, with a location and a scale."""
    kind = kind_of("double_sided_maxwell", dtype)
    centre, width = asarray(loc, kind), asarray(scale, kind)
    own = jnp.broadcast_shapes(tuple(centre.shape), tuple(width.shape))
    sizes = (*(shape_of(shape) or own), *own)
    first, second = split(words_of("double_sided_maxwell", key))
    return rademacher(second, sizes, kind) * maxwell(first, sizes, kind) * width + centre


def generalized_normal(key, p, shape=(), dtype=None, *, out_sharding=None) -> Array:
    """Draw from the generalized normal distribution: density proportional to exp(-abs(x)**p)."""
    kind = kind_of("generalized_normal", dtype)
    power, sizes = asarray(p, kind), shape_of(shape)
    first, second = split(words_of("generalized_normal", key))
    size = gamma(first, 1 / power, sizes, kind) ** (1 / power)
    return rademacher(second, sizes, kind) * size


def ball(key, d, p=2, shape=(), dtype=None, *, out_sharding=None) -> Array:
    """Draw vectors uniformly from the unit ball of the `p`-norm in `d` dimensions."""
    kind = kind_of("ball", dtype)
    power, sizes = asarray(p, kind), shape_of(shape)
    first, second = split(words_of("ball", key))
    g = generalized_normal(first, power, (*sizes, int(d)), kind)
    e = exponential(second, sizes, kind)
    return g / ((jnp.abs(g) ** power).sum(-1) + e)[..., None] ** (1 / power)


# -- shuffles and choices --------------------------------------------------------------------------


def _order(words, sizes: tuple[int, ...]) -> Array:
    return sample("order", words, sizes, default_dtype("i"))


def permutation(key, x, axis: int = 0, independent: bool = False, *, out_sharding=None) -> Array:
    """Shuffle an array, or the integers below `x`.

    Parameters
    ----------
    x : array_like or int. Differentiable.
    axis : int. The axis to shuffle along.
    independent : bool. Whether to shuffle each line along the axis independently.

    Examples
    --------
    >>> jax.random.permutation(jax.random.PRNGKey(0), 5)
    Array([0, 1, 4, 3, 2], dtype=int32)
    """
    words = words_of("permutation", key)
    check_arrays("permutation", x)
    given = asarray(x)
    if not given.ndim:
        if given.dtype.kind not in "iu":
            raise TypeError("x must be an integer or at least 1-dimensional")
        return _order(words, (static(x, "x of permutation"),))
    if not -given.ndim <= axis < given.ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {given.ndim}")
    axis %= given.ndim
    if not independent or given.ndim == 1:
        return jnp.take(given, _order(words, (given.shape[axis],)), axis)
    lines = jnp.moveaxis(given, axis, -1)
    # sort keys are drawn in the array's own axis order
    orders = _independent(words, tuple(given.shape), axis)
    return jnp.moveaxis(jnp.take_along_axis(lines, jnp.moveaxis(orders, axis, -1), -1), -1, axis)


def _independent(words, sizes: tuple[int, ...], axis: int) -> Array:
    """Return an independent order of the elements of each line along an axis."""
    order = jnp.moveaxis(
        jnp.broadcast_to(jnp.arange(sizes[axis]), (*sizes[:axis], *sizes[axis + 1 :], sizes[axis])),
        -1,
        axis,
    )
    size = max(1, math.prod(sizes))
    for _ in range(int(np.ceil(3 * np.log(size) / np.log(np.iinfo(np.uint32).max)))):
        words, sub = split(words)
        places = jnp.argsort(bits(sub, sizes, np.uint32), axis)
        order = jnp.take_along_axis(order, places, axis)
    return order


def choice(
    key, a, shape=(), replace: bool = True, p=None, axis: int = 0, mode: str | None = None
) -> Array:
    """Draw elements of an array, or integers below `a`.

    Parameters
    ----------
    a : array_like or int
    shape : tuple of int
    replace : bool. Whether an element may be chosen several times.
    p : array_like, optional. The probabilities; default: uniform.
    axis : int. The axis along which to choose slices.
    """
    words = words_of("choice", key)
    if not isinstance(shape, tuple | list):
        raise TypeError(f"shape argument of jax.random.choice must be a sequence, got {shape}")
    check_arrays("choice", a)
    given, sizes = asarray(a), shape_of(shape)
    of_range = not given.ndim
    count = static(a, "a of choice") if of_range else given.shape[axis]
    axis = axis if of_range else axis % given.ndim
    draws = math.prod(sizes)
    if not draws:
        return jnp.zeros(sizes, given.dtype)
    if count <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if not replace and draws > count:
        raise ValueError(
            f"Cannot take a larger sample (size {draws}) than population (size {count}) when "
            "'replace=False'"
        )
    if p is None:
        drawn = randint(words, sizes, 0, count) if replace else _order(words, (count,))
        places = drawn if replace else drawn[:draws]
    else:
        check_arrays("choice", p)
        (weights,) = promote_inexact(p)
        if tuple(weights.shape) != (count,):
            raise ValueError(
                "p must be None or a 1D vector with the same size as a.shape[axis]. p has shape "
                f"{tuple(weights.shape)} and a.shape[axis] is {count}."
            )
        if replace:
            sums = jnp.cumsum(weights)
            at = sums[-1] * (1 - uniform(words, sizes, sums.dtype))
            places = jnp.searchsorted(sums, at)
        else:
            scores = gumbel(words, (count,), weights.dtype, mode) + jnp.log(weights)
            places = jnp.argsort(-scores)[:draws]
    places = places.reshape(sizes)
    return places.astype(given.dtype) if of_range else jnp.take(given, places, axis)


def categorical(
    key,
    logits,
    axis: int = -1,
    shape=None,
    replace: bool = True,
    mode: str | None = None,
    *,
    out_sharding=None,
) -> Array:
    """Draw categories with the given unnormalized log-probabilities.

    Examples
    --------
    >>> jax.random.categorical(jax.random.PRNGKey(0), jax.numpy.zeros(3))
    Array(1, dtype=int32)
    """
    words = words_of("categorical", key)
    check_arrays("categorical", logits)
    given = asarray(logits)
    rest = tuple(n for i, n in enumerate(given.shape) if i != axis % given.ndim)
    sizes = rest if shape is None else shape_for("categorical", shape, np.broadcast_to(0, rest))
    lead = sizes[: len(sizes) - len(rest)]
    kind = given.dtype if given.dtype.kind in "fV" else default_dtype("f")
    if replace:
        axis = axis - given.ndim if axis >= 0 else axis
        wide = list(sizes[len(lead) :])
        wide.insert(axis % given.ndim, given.shape[axis])
        return jnp.argmax(gumbel(words, (*lead, *wide), kind, mode) + given, axis=axis)
    scores = given + gumbel(words, tuple(given.shape), kind, mode)
    count = math.prod(lead)
    if count > given.shape[axis]:
        raise ValueError(
            f"Number of samples without replacement ({count}) cannot exceed number of categories "
            f"({given.shape[axis]})."
        )
    places = jnp.argsort(-jnp.moveaxis(scores, axis, -1), -1)[..., :count]
    return jnp.moveaxis(places, -1, 0).reshape(sizes)


fill_sections(globals())
