"""Layer 9 · compat: ``jax.scipy.interpolate``: `RegularGridInterpolator`."""

from __future__ import annotations

import math
from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.numpy.calling import as_operands
from wengert.compat.jax.scipy.ndimage import interpolated
from wengert.compat.jax.trees import register
from wengert.compat.jax.typing import Array
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import closed

__all__ = ["RegularGridInterpolator"]
_METHODS = ("linear", "nearest")


def _checked(method: str) -> str:
    if method not in _METHODS:
        raise ValueError(f"method {method!r} is not defined")
    return method


class RegularGridInterpolator:
    """Interpolate values at the points of a rectangular grid; differentiable in values and places.

    Parameters
    ----------
    points : sequence of array_like. The ascending coordinates along each dimension.
    values : array_like. The values at the points, whose shape begins with the numbers of them.
    method : {"linear", "nearest"}
    bounds_error : bool. Only False is there: outside of the grid, values are `fill_value`.
    fill_value : float, optional. If None, values outside are extrapolated.

    Examples
    --------
    >>> interpolate = jax.scipy.interpolate.RegularGridInterpolator
    >>> interpolate([jax.numpy.array([0.0, 2.0, 3.0])], jax.numpy.array([0.0, 4.0, 9.0]))(1.0)
    Array([2.], dtype=float32)
    """

    def __init__(
        self, points, values, method="linear", bounds_error=False, fill_value: Any = math.nan
    ) -> None:
        self.method = _checked(method)
        if bounds_error:
            raise NotImplementedError("bounds_error=True: values decide about an error only here")
        (self.values,) = as_operands("RegularGridInterpolator", values, inexact=True)
        self.grid = tuple(jnp.asarray(p, self.values.real.dtype) for p in points)
        self.fill_value = fill_value
        sizes = self.values.shape
        if len(self.grid) > len(sizes):
            text = (
                f"there are {len(self.grid)} point arrays, but values has {len(sizes)} dimensions"
            )
            raise ValueError(text)
        for i, p in enumerate(self.grid):
            if p.ndim != 1:
                raise ValueError(f"the points in dimension {i} must be 1-dimensional")
            if not (p[1:] > p[:-1]).all():
                raise ValueError(f"the points in dimension {i} must be strictly ascending")
            if p.shape[0] != sizes[i]:
                raise refusal(ValueError, "there are {}", p.shape[0], sizes[i], i)

    def __call__(self, xi, method: str | None = None) -> Array:
        """Return the values at places: an array (..., dimensions), or one for each dimension."""
        linear = _checked(method or self.method) == "linear"
        count = len(self.grid)
        if isinstance(xi, tuple):
            xi = jnp.stack(jnp.broadcast_arrays(*map(jnp.asarray, xi)), -1)
        xi = jnp.asarray(xi, self.grid[0].dtype)
        xi = xi.reshape(-1, 1) if xi.ndim < 2 and count == 1 else jnp.atleast_2d(xi)
        if xi.shape[-1] != count:
            text = f"the requested sample points xi have dimension {xi.shape[-1]}"
            raise ValueError(f"{text}, but this RegularGridInterpolator has dimension {count}")
        parts, outside = [], jnp.array(False)
        wide = (..., *[None] * (self.values.ndim - count))
        for place, points in enumerate(self.grid):
            at = xi[..., place]
            outside = outside | (at < points[0]) | (at > points[-1])
            low = jnp.clip(jnp.searchsorted(points, at) - 1, 0, max(points.shape[0] - 2, 0))
            high = jnp.minimum(low + 1, points.shape[0] - 1)
            weight = (at - points[low]) / jnp.where(high > low, points[high] - points[low], 1)
            if linear:
                weight = weight[wide]
                parts.append([(low, 1 - weight), (high, weight)])
            else:
                parts.append([(jnp.where(weight <= 0.5, low, high), 1)])
        found = interpolated(parts, lambda index: self.values[tuple(index)])
        if self.fill_value is not None:
            found = jnp.where(outside[wide], jnp.asarray(self.fill_value, found.dtype), found)
        return found


def _of_parts(method: str, grid, values, fill_value) -> RegularGridInterpolator:
    found = object.__new__(RegularGridInterpolator)
    found.grid, found.values, found.fill_value, found.method = grid, values, fill_value, method
    return found


__getattr__ = closed(globals())

register(
    RegularGridInterpolator,
    lambda found: ((found.grid, found.values, found.fill_value), found.method),
    lambda method, parts: _of_parts(method, *parts),
)
