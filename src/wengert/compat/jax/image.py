"""Layer 9 · compat: `jax.image`: images at other sizes, as products with matrices of weights."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.array import asarray, promote_inexact
from wengert.compat.jax.tracing import argument
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined


class ResizeMethod(enum.Enum):
    """How `resize` weighs the pixels around a position."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """Return the method of a name.

        Raises
        ------
        ValueError: If there is no such method.
        """
        for method, names in _NAMES.items():
            if s in names.split():
                return method
        raise ValueError(f'Unknown resize method "{s}"')


_NAMES = {
    ResizeMethod.NEAREST: "nearest",
    ResizeMethod.LINEAR: "linear bilinear trilinear triangle",
    ResizeMethod.LANCZOS3: "lanczos3",
    ResizeMethod.LANCZOS5: "lanczos5",
    ResizeMethod.CUBIC: "cubic bicubic tricubic",
    ResizeMethod.CUBIC_PYTORCH: "cubic-pytorch bicubic-pytorch",
    ResizeMethod.AREA: "area",
}


def _cubic(a: float) -> Callable[[Any], Any]:
    """Return the cubic kernel whose slope at distance 1 is `a`."""

    def kernel(x) -> Any:
        near = 1 - (a + 3) * x**2 + (a + 2) * x**3
        far = a * (x - 1) * (x - 2) ** 2
        return jnp.where(x < 1, near, jnp.where(x < 2, far, 0))

    return kernel


def _lanczos(radius: int) -> Callable[[Any], Any]:
    return lambda x: jnp.where(x <= radius, jnp.sinc(x) * jnp.sinc(x / radius), 0)


_KERNELS = {
    ResizeMethod.LINEAR: lambda x: jnp.maximum(0, 1 - x),
    ResizeMethod.LANCZOS3: _lanczos(3),
    ResizeMethod.LANCZOS5: _lanczos(5),
    ResizeMethod.CUBIC: _cubic(-0.5),
    ResizeMethod.CUBIC_PYTORCH: _cubic(-0.75),
}


def _weights(size: int, count: int, scale, shift, method: ResizeMethod, antialias: bool) -> Any:
    """Return the weights of `size` pixels in each of `count` pixels of the result."""
    step = 1 / scale
    middles = (jnp.arange(count, dtype=step.dtype) + 0.5 - shift) * step - 0.5
    beyond = 2 if method is ResizeMethod.CUBIC_PYTORCH else 0
    pixels = jnp.arange(-beyond, size + beyond, dtype=step.dtype)
    away = jnp.abs(middles - pixels[:, None])
    if method is ResizeMethod.AREA:
        # The overlap of two intervals, of lengths `step` and 1, whose middles are so far apart.
        weights = jnp.clip((step + 1) / 2 - away, 0, jnp.minimum(step, 1))
    else:
        weights = _KERNELS[method](away / (jnp.maximum(step, 1) if antialias else 1))
    if beyond:
        before, weights, after = jnp.split(weights, (beyond, beyond + size))
        weights = weights.at[0].add(before.sum(0)).at[-1].add(after.sum(0))
    total = weights.sum(0)
    seen = jnp.abs(total) > 1000 * jnp.finfo(jnp.float32).eps
    if not beyond:
        seen = seen & (middles >= -0.5) & (middles <= size - 0.5)
    return jnp.where(seen, weights / jnp.where(seen, total, 1), 0)


def _prepared(image, shape: Sequence[int], method, antialias: bool) -> tuple[Any, ...]:
    x = argument(image)
    sizes = tuple(int(size) for size in shape)
    if len(sizes) != x.ndim:
        raise refusal(ValueError, "shape must have length", sizes, x)
    chosen = ResizeMethod.from_string(method) if isinstance(method, str) else method
    if chosen is ResizeMethod.CUBIC_PYTORCH and antialias:
        chosen = ResizeMethod.CUBIC
    return x, sizes, chosen


def scale_and_translate(
    image,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale,
    translation,
    method: str | ResizeMethod,
    antialias=True,
    precision=None,
) -> Any:
    """Scale and move an image; differentiable in the image, the scale and the translation.

    Parameters
    ----------
    image : array_like
    shape : tuple of int. The shape of the result.
    spatial_dims : sequence of int. The dimensions that are scaled.
    scale, translation : array_like. One number for each of these dimensions: position ``x`` of the
        image comes to ``x * scale + translation``.
    method, antialias: As in `resize`, except ``"nearest"``.

    Examples
    --------
    >>> image = jax.numpy.arange(3.0)
    >>> jax.image.scale_and_translate(image, (3,), (0,), [1.0], [1.0], "linear")
    Array([0., 0., 1.], dtype=float32)
    """
    x, sizes, chosen = _prepared(image, shape, method, antialias)
    if chosen is ResizeMethod.NEAREST:
        raise refusal(ValueError, "Nearest neighbor resampling")
    (x,) = promote_inexact(x)
    scales, shifts = promote_inexact(asarray(scale), asarray(translation))
    for place, dim in enumerate(spatial_dims):
        at = range(x.ndim)[dim]
        weights = _weights(x.shape[at], sizes[at], scales[place], shifts[place], chosen, antialias)
        x = jnp.moveaxis(jnp.tensordot(x, weights.astype(x.dtype), (at, 0)), -1, at)
    return x


def resize(
    image, shape: Sequence[int], method: str | ResizeMethod, antialias=True, precision=None
) -> Any:
    """Resize an image; differentiable.

    Parameters
    ----------
    image : array_like
    shape : tuple of int. The shape of the result.
    method : str or ResizeMethod. ``"nearest"``, ``"linear"``, ``"cubic"``, ``"cubic-pytorch"``,
        ``"lanczos3"``, ``"lanczos5"`` or ``"area"``.
    antialias : bool. Whether to filter images that become smaller.

    Examples
    --------
    >>> jax.image.resize(jax.numpy.array([0.0, 2.0]), (4,), "linear")
    Array([0. , 0.5, 1.5, 2. ], dtype=float32)
    """
    x, sizes, chosen = _prepared(image, shape, method, antialias)
    dims = [dim for dim, size in enumerate(sizes) if size != x.shape[dim]]
    if chosen is ResizeMethod.NEAREST:
        for dim in dims:
            places = [math.floor((i + 0.5) * x.shape[dim] / sizes[dim]) for i in range(sizes[dim])]
            x = jnp.take(x, jnp.array(places, int), axis=dim)
        return x
    scales = [sizes[dim] / x.shape[dim] if sizes[dim] else 1.0 for dim in dims]
    zeros = [0.0] * len(dims)
    return scale_and_translate(x, sizes, dims, scales, zeros, chosen, antialias)


__all__ = defined(globals())
