"""Layer 9 · compat: `jax.scipy.fft`: cosine transforms, as products with their matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.numpy.calling import as_operands
from wengert.compat.kit.namespaces import defined


def _matrix(size: int, norm: str | None, inverse: bool) -> Any:
    k: Any = np.arange(size)
    made: Any = 2 * np.cos(np.pi * k[:, None] * (2 * k + 1) / (2 * size))
    if norm == "ortho":
        scale: Any = np.where(k == 0, np.sqrt(0.25 / size), np.sqrt(0.5 / size))
        made *= scale[:, None]
    elif norm not in (None, "backward"):
        raise ValueError(f"jax.scipy.fft.dct: norm={norm!r} is not implemented")
    if inverse:
        made = np.linalg.inv(made)
    return made


def _along(x, axis: int, n: int | None, norm: str | None, inverse: bool) -> Any:
    if n is not None:
        size = x.shape[axis]
        x = jnp.moveaxis(x, axis, -1)
        x = jnp.pad(x[..., :n], [(0, 0)] * (x.ndim - 1) + [(0, max(0, n - size))])
        x = jnp.moveaxis(x, -1, axis)
    matrix = jnp.asarray(_matrix(x.shape[axis], norm, inverse), x.dtype)
    return jnp.moveaxis(jnp.tensordot(x, matrix, ((axis,), (1,))), -1, axis)


def _transformed(name: str, x, type: int, axes, sizes, norm: str | None, inverse: bool) -> Any:
    if type != 2:
        raise NotImplementedError("Only DCT type 2 is implemented.")
    (array,) = as_operands(name, x, inexact=True)
    if axes is None:
        axes = range(array.ndim) if sizes is None else range(array.ndim - len(sizes), array.ndim)
    for axis, n in zip(axes, sizes or [None] * len(axes), strict=True):
        array = _along(array, axis, n, norm, inverse)
    return array


def dct(x, type=2, n: int | None = None, axis=-1, norm=None) -> Any:
    """Return the discrete cosine transform of type 2 along an axis."""
    return _transformed("dct", x, type, (axis,), (n,), norm, False)


def idct(x, type=2, n: int | None = None, axis=-1, norm=None) -> Any:
    """Invert `dct`."""
    return _transformed("idct", x, type, (axis,), (n,), norm, True)


def dctn(x, type=2, s=None, axes=None, norm=None) -> Any:
    """Return the discrete cosine transform of type 2 along several axes, by default all."""
    return _transformed("dctn", x, type, axes, s, norm, False)


def idctn(x, type=2, s=None, axes=None, norm=None) -> Any:
    """Invert `dctn`."""
    return _transformed("idctn", x, type, axes, s, norm, True)


__all__ = defined(globals())
