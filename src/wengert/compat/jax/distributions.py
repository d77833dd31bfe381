"""Layer 9 · compat: the distributions of `jax.random` that have parameters.

Samples are functions of the parameters and of draws from a standard distribution, and are
differentiated as such. For samples drawn by rejection, see NOTE [derivatives of samples].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.autograd.function import Function
from wengert.compat.jax.array import asarray, made, promote_inexact
from wengert.compat.jax.checks import axis_in
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
from wengert.compat.jax.typing import Array
from wengert.compat.jax.words import refusal
from wengert.compat.kit.signatures import signed
from wengert.tape.record import T

# -- gamma -----------------------------------------------------------------------------------------


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
        if not ctx.logs:
            return grad * T._standard_gamma_grad(alpha, drawn_), None, None
        z = drawn_.exp().clamp_min(float(np.finfo(drawn_._payload.dtype).tiny))
        return grad * T._standard_gamma_grad(alpha, z) / z, None, None

    @staticmethod
    def vmap(info, in_dims, alpha, drawn_, logs: bool) -> Any:
        return _Sample.apply(*aligned(info, in_dims[:2], (alpha, drawn_)), logs), 0


def _drawn(parameters: str, kinds: str = "f", shape: str = "None", rest=", *, out_sharding=None"):
    """Make a function of a key: the decorated one takes its words, the sizes and dtype, and arrays.

    The arrays are the parameters in that dtype. Unless the default `shape` is ``()``, the sizes are
    those of the parameters, broadcast.
    """
    text = f"key, {parameters}{', ' * bool(parameters)}shape={shape}, dtype=None{rest}"
    names = [part.partition("=")[0] for part in parameters.split(", ") if part]

    def decorate(function: Callable[..., Array]) -> Callable[..., Array]:
        name = function.__name__

        def compute(given: dict[str, Any]) -> Array:
            words, kind = words_of(name, given["key"]), kind_of(name, given["dtype"], kinds)
            values = [given[one] for one in names]
            check_arrays(name, *values)
            arrays = [asarray(value, kind) for value in values]
            if shape == "()":
                return function(words, shape_of(given["shape"]), kind, *arrays)
            return function(words, shape_for(name, given["shape"], *arrays), kind, *arrays)

        made = signed(name, text, compute, function.__doc__ or "")
        made.__module__ = __name__
        return made

    return decorate


def _gamma(words, sizes, kind, alpha, logs: bool) -> Array:
    alpha = jnp.broadcast_to(alpha, sizes)
    found = sample("gammas", words, sizes, kind, alpha, logs=logs)
    return made(_Sample.apply(plain(alpha), plain(found), logs))


@_drawn("a")
def gamma(words, sizes, kind, a) -> Array:
    """Draw from the gamma distribution with shape `a` and scale 1; differentiable in `a`, once.

    Examples
    --------
    >>> jax.random.gamma(jax.random.PRNGKey(0), 2.0).shape
    ()
    """
    return _gamma(words, sizes, kind, a, False)


@_drawn("a")
def loggamma(words, sizes, kind, a) -> Array:
    """Draw logarithms of gamma samples; accurate where `a` is tiny."""
    return _gamma(words, sizes, kind, a, True)


@_drawn("a, b")
def beta(words, sizes, kind, a, b) -> Array:
    """Draw from the beta distribution; differentiable in `a` and `b`, once."""
    keys = split(words)
    of_a, of_b = (loggamma(key, p, sizes, kind) for key, p in zip(keys, (a, b), strict=True))
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


@_drawn("df")
def chisquare(words, sizes, kind, df) -> Array:
    """Draw from the chi-square distribution with `df` degrees of freedom."""
    return jnp.exp(loggamma(words, df / 2, sizes, kind)) * 2


@_drawn("dfnum, dfden")
def f(words, sizes, kind, dfnum, dfden) -> Array:
    """Draw from the F distribution."""
    of_den, of_num = split(words)
    numerator = chisquare(of_num, dfnum, sizes, kind) / dfnum
    return numerator / (chisquare(of_den, dfden, sizes, kind) / dfden)


@_drawn("df")
def t(words, sizes, kind, df) -> Array:
    """Draw from Student's t distribution with `df` degrees of freedom."""
    of_normal, of_gamma = split(words)
    half = df / 2
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


@_drawn("n, p", rest="")
def binomial(words, sizes, kind, n, p) -> Array:
    """Draw the number of successes in `n` trials with success probability `p`."""
    return sample("binomial", words, sizes, kind, n, p)


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


@_drawn("sigma=1.0", "fc")
def lognormal(words, sizes, kind, sigma) -> Array:
    """Draw from the log-normal distribution with standard deviation `sigma` of the logarithm."""
    return jnp.exp(normal(words, sizes, kind) * sigma)


@_drawn("b")
def pareto(words, sizes, kind, b) -> Array:
    """Draw from the Pareto distribution with exponent `b`."""
    return jnp.exp(exponential(words, sizes, kind) / b)


@_drawn("scale")
def rayleigh(words, sizes, kind, scale) -> Array:
    """Draw from the Rayleigh distribution."""
    return scale * jnp.sqrt(-2 * jnp.log(uniform(words, sizes, kind)))


@_drawn("scale, concentration", shape="()", rest="")
def weibull_min(words, sizes, kind, scale, concentration) -> Array:
    """Draw from the Weibull distribution."""
    return jnp.power(exponential(words, sizes, kind), 1.0 / concentration) * scale


@_drawn("mean")
def wald(words, sizes, kind, mean) -> Array:
    """Draw from the Wald (inverse Gaussian) distribution with scale 1."""
    first, second = split(words)
    y = normal(first, sizes, kind) ** 2
    z = uniform(second, sizes, kind)
    x = mean + mean**2 * y / 2 - mean / 2 * jnp.sqrt(4 * mean * y + mean**2 * y**2)
    return jnp.where(z <= mean / (mean + x), x, mean**2 / x)


@_drawn("left, mode, right")
def triangular(words, sizes, kind, left, mode, right) -> Array:
    """Draw from the triangular distribution."""
    u = uniform(words, sizes, kind)
    rising = left + jnp.sqrt(u * (right - left) * (mode - left))
    falling = right - jnp.sqrt((1 - u) * (right - left) * (right - mode))
    return jnp.where(u < (mode - left) / (right - left), rising, falling)


@_drawn("", shape="()")
def maxwell(words, sizes, kind) -> Array:
    """Draw from the Maxwell distribution with scale 1."""
    return jnp.linalg.norm(normal(words, (*sizes, 3), kind), axis=-1)


@_drawn("loc, scale", shape="()", rest="")
def double_sided_maxwell(words, sizes, kind, loc, scale) -> Array:
    """Draw from the double-sided Maxwell distribution, with a location and a scale."""
    own = jnp.broadcast_shapes(loc.shape, scale.shape)
    sizes = (*(sizes or own), *own)
    first, second = split(words)
    return rademacher(second, sizes, kind) * maxwell(first, sizes, kind) * scale + loc


@_drawn("p", shape="()")
def generalized_normal(words, sizes, kind, p) -> Array:
    """Draw from the generalized normal distribution: density proportional to exp(-abs(x)**p)."""
    first, second = split(words)
    size = gamma(first, 1 / p, sizes, kind) ** (1 / p)
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
    axis = axis_in(axis, given.ndim)
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
        raise refusal(ValueError, "Cannot take a larger sample", draws, count)
    if p is None:
        drawn = randint(words, sizes, 0, count) if replace else _order(words, (count,))
        places = drawn if replace else drawn[:draws]
    else:
        check_arrays("choice", p)
        (weights,) = promote_inexact(p)
        if tuple(weights.shape) != (count,):
            raise refusal(ValueError, "p must be None or a 1D", weights, count)
        if replace:
            sums = jnp.cumsum(weights)
            at = sums[-1] * (1 - uniform(words, sizes, sums.dtype))
            places = jnp.searchsorted(sums, at)
        else:
            scores = gumbel(words, (count,), weights.dtype, mode) + jnp.log(weights)
            places = jnp.argsort(-scores)[:draws]
    places = places.reshape(sizes)
    return places if of_range else jnp.take(given, places, axis)


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
    axis = axis_in(axis, given.ndim)
    rest = tuple(n for i, n in enumerate(given.shape) if i != axis)
    sizes = rest if shape is None else shape_for("categorical", shape, np.broadcast_to(0, rest))
    lead = sizes[: len(sizes) - len(rest)]
    kind = given.dtype if given.dtype.kind in "fV" else default_dtype("f")
    if replace:
        wide = list(sizes[len(lead) :])
        wide.insert(axis, given.shape[axis])
        scores = gumbel(words, (*lead, *wide), kind, mode) + given
        return jnp.argmax(scores, axis=axis - given.ndim)
    scores = given + gumbel(words, tuple(given.shape), kind, mode)
    count = math.prod(lead)
    if count > given.shape[axis]:
        raise refusal(ValueError, "Number of samples without", count, given.shape[axis])
    places = jnp.argsort(-jnp.moveaxis(scores, axis, -1), -1)[..., :count]
    return jnp.moveaxis(places, -1, 0).reshape(sizes)
