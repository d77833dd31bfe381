"""Layer 9 · compat: the functions of `jax.random` that choose and order by chance."""

from __future__ import annotations

import math

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.base.sections import fill_sections
from wengert.compat.jax.array import Array, asarray, promote_inexact
from wengert.compat.jax.dtypes import default_dtype
from wengert.compat.jax.keys import split, words_of
from wengert.compat.jax.numpy.calling import check_arrays, shape_of, static
from wengert.compat.jax.sampling import bits, gumbel, randint, sample, shape_for, uniform


def _order(words, sizes: tuple[int, ...]) -> Array:
    return sample("order", words, sizes, default_dtype("i"))


def permutation(key, x, axis: int = 0, independent: bool = False, *, out_sharding=None) -> Array:
    """An array, or the numbers below `x`, in random order.

    Parameters
    ----------
    x : array_like or int. Differentiable.
    axis : int. Along which slices change places.
    independent : bool. Whether each line along the axis gets an order of its own.

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
    # keys to sort by are drawn in the order of the array itself
    orders = _independent(words, tuple(given.shape), axis)
    return jnp.moveaxis(jnp.take_along_axis(lines, jnp.moveaxis(orders, axis, -1), -1), -1, axis)


def _independent(words, sizes: tuple[int, ...], axis: int) -> Array:
    """The order of the elements of each line along an axis."""
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
    """Elements of an array, or numbers below `a`, by chance.

    Parameters
    ----------
    a : array_like or int
    shape : tuple of int
    replace : bool. Whether an element may be chosen several times.
    p : array_like, optional. The probabilities; by default all are the same.
    axis : int. Along which slices are chosen.
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
    """The numbers of categories that have unnormalised logarithms of probabilities.

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
    kind = given.dtype if given.dtype.kind == "f" else default_dtype("f")
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
