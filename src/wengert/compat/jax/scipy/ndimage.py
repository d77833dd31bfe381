"""Layer 9 · compat: ``jax.scipy.ndimage``: `map_coordinates`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.array import asarray
from wengert.compat.jax.lax_elementwise import round as rounded
from wengert.compat.jax.numpy.calling import operands
from wengert.compat.jax.typing import Array
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import closed

__all__ = ["map_coordinates"]


def _mirror(index, size: int) -> Any:
    """Reflect positions at the ends, without repeating the edge elements."""
    period = max(2 * size - 2, 1)
    index = jnp.abs(index) % period
    return jnp.where(index >= size, period - index, index)


def _reflect(index, size: int) -> Any:
    """Reflect positions at the ends, repeating the edge elements."""
    index = jnp.where(index < 0, -index - 1, index) % (2 * size)
    return jnp.where(index >= size, 2 * size - 1 - index, index)


_INSIDE = {
    "constant": lambda index, size: jnp.clip(index, 0, size - 1),
    "mirror": _mirror,
    "nearest": lambda index, size: jnp.clip(index, 0, size - 1),
    "reflect": _reflect,
    "wrap": lambda index, size: index % size,
}


def interpolated(parts: list[list[tuple[Any, Any]]], element: Callable[[list[Any]], Any]) -> Any:
    """Return the sum of elements at the corners around positions, by their weights.

    Parameters
    ----------
    parts: For each dimension, the indices near the positions, each with its weight.
    element: Returns the elements at the indices of one corner.
    """
    total: Any = 0
    for corner in itertools.product(*parts):
        value = element([place for place, _ in corner])
        for _, weight in corner:
            value = value * weight
        total = total + value
    return total


def map_coordinates(
    input, coordinates: Sequence[Any], order: int, mode: str = "constant", cval=0.0
) -> Array:
    """Interpolate an array at fractional positions; differentiable in both.

    Parameters
    ----------
    input : array_like
    coordinates : sequence of array_like. The positions, one array for each dimension of `input`.
    order : int. 0 takes the nearest element; 1 interpolates linearly.
    mode : str. The extension beyond the ends: ``"constant"`` (`cval`), ``"nearest"``, ``"wrap"``,
        ``"mirror"`` or ``"reflect"``.

    Examples
    --------
    >>> jax.scipy.ndimage.map_coordinates(jax.numpy.arange(4.0), [jax.numpy.array([0.5, 2.0])], 1)
    Array([0.5, 2. ], dtype=float32)
    """
    (x,) = operands("map_coordinates", input)
    places = operands("map_coordinates", *coordinates)
    if len(places) != x.ndim:
        raise refusal(ValueError, "coordinates must be a sequence", len(places), x)
    if mode not in _INSIDE:
        raise refusal(NotImplementedError, "jax.scipy.ndimage.map_coordinates", mode, set(_INSIDE))
    if order not in (0, 1):
        raise NotImplementedError("jax.scipy.ndimage.map_coordinates currently requires order<=1")
    parts = []
    for at in places:
        if order == 0:
            nearest = rounded(at) if at.dtype.kind == "f" else at
            parts.append([(nearest.astype(int), 1)])
            continue
        low = jnp.floor(at)
        weight = at - low
        first = low.astype(int)
        parts.append([(first, 1 - weight), (first + 1, weight)])

    def element(places) -> Any:
        index = [_INSIDE[mode](place, size) for place, size in zip(places, x.shape, strict=True)]
        value = x[tuple(index)]
        if mode != "constant":
            return value
        there: Any = True
        for place, size in zip(places, x.shape, strict=True):
            there = there & (place >= 0) & (place < size)
        return jnp.where(there, value, asarray(cval, x.dtype))

    total = interpolated(parts, element)
    if x.dtype.kind in "iu":
        total = rounded(total * 1.0)
    return total.astype(x.dtype)


__getattr__ = closed(globals())
