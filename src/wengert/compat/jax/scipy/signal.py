"""Layer 9 · compat: ``jax.scipy.signal``: convolutions, and spectra in `spectra`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.base.sections import named
from wengert.compat.jax.array import promote_inexact
from wengert.compat.jax.lax_products import conv_general_dilated
from wengert.compat.jax.numpy.calling import check_arrays
from wengert.compat.jax.typing import Array
from wengert.compat.kit.namespaces import closed

_SPECTRA = "csd istft stft welch"
__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "detrend", "fftconvolve"]
__all__ += _SPECTRA.split()


def _operands(name: str, a, b, dimensions: int | None = None) -> list[Any]:
    check_arrays(name, a, b)
    x, y = promote_inexact(a, b)
    if x.ndim != y.ndim or (dimensions is not None and x.ndim != dimensions):
        raise ValueError(f"{name}: in1 and in2 should have the same dimensionality")
    return [x, y]


def _cut(full, x, y, mode: str, name: str, later: bool = False) -> Array:
    """Return the part of the full convolution that a mode asks for.

    Parameters
    ----------
    later: Whether ``"same"`` takes the later of two middle parts.
    """
    if mode not in ("full", "same", "valid"):
        raise ValueError("mode must be one of ['full', 'same', 'valid']")
    index = []
    larger = all(m >= n for m, n in zip(x.shape, y.shape, strict=True))
    if mode == "valid" and not larger and any(m > n for m, n in zip(x.shape, y.shape, strict=True)):
        raise ValueError(f"{name}: one input must be smaller than the other in every dimension.")
    for m, n, length in zip(x.shape, y.shape, full.shape, strict=True):
        if mode == "full":
            index.append(slice(None))
        elif mode == "same":
            start = (n - 1 + later) // 2
            index.append(slice(start, start + m))
        else:
            least = min(m, n)
            index.append(slice(least - 1, length - least + 1))
    return full[tuple(index)]


def _full(x, y) -> Any:
    """Return the full convolution of two arrays."""
    steps, around = (1,) * x.ndim, [(n - 1, n - 1) for n in y.shape]
    return conv_general_dilated(x[None, None], jnp.flip(y)[None, None], steps, around)[0, 0]


def _by(name: str, correlates: bool, dimensions: int | None) -> Any:
    def function(in1, in2, mode: str = "full", *args, **kwargs) -> Array:
        """Return the {what} of two arrays.

        ``mode`` is ``full``, ``same`` (of the size of the first) or ``valid``.
        """
        x, y = _operands(name, in1, in2, dimensions)
        if dimensions == 2:
            boundary = args[0] if args else kwargs.get("boundary", "fill")
            if boundary != "fill" or kwargs.get("fillvalue", 0):
                raise NotImplementedError(f"{name}() only supports boundary='fill', fillvalue=0")
        if correlates:
            y = jnp.conj(jnp.flip(y))
        later = correlates and dimensions == 2
        return _cut(_full(x, y), x, y, mode, name, later)

    return named(function, name, what="correlation" if correlates else "convolution")


def _by_fft(x, y) -> Any:
    sizes = [m + n - 1 for m, n in zip(x.shape, y.shape, strict=True)]
    real = x.dtype.kind != "c" and y.dtype.kind != "c"
    there: Callable[..., Any] = jnp.fft.rfftn if real else jnp.fft.fftn
    back: Callable[..., Any] = jnp.fft.irfftn if real else jnp.fft.ifftn
    axes = tuple(range(x.ndim))
    return back(there(x, sizes, axes) * there(y, sizes, axes), sizes, axes)


convolve = _by("convolve", False, None)
correlate = _by("correlate", True, None)
convolve2d = _by("convolve2d", False, 2)
correlate2d = _by("correlate2d", True, 2)


def fftconvolve(in1, in2, mode: str = "full", axes=None) -> Array:
    """Convolve two arrays through their Fourier transforms."""
    if axes is not None:
        raise NotImplementedError("fftconvolve with axes=: move the axes, and use jax.vmap")
    x, y = _operands("fftconvolve", in1, in2)
    return _cut(_by_fft(x, y), x, y, mode, "fftconvolve")


def detrend(data, axis: int = -1, type: str = "linear", bp: int = 0, overwrite_data=None) -> Array:
    """Remove the mean (``"constant"``) or the best-fitting line (``"linear"``) from a signal."""
    check_arrays("detrend", data)
    (x,) = promote_inexact(data)
    if type not in ("constant", "linear"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    if type == "constant":
        return x - x.mean(axis, keepdims=True)
    if bp != 0:
        raise NotImplementedError("detrend with bp=: cut the signal up")
    lines = jnp.moveaxis(x, axis, 0)
    n = lines.shape[0]
    at = jnp.arange(1, n + 1, dtype=x.dtype) / n
    basis = jnp.stack([at, jnp.ones_like(at)], 1)
    flat = lines.reshape((n, -1))
    fitted = basis @ jnp.linalg.lstsq(basis, flat)[0]
    return jnp.moveaxis((flat - fitted).reshape(lines.shape), 0, axis)


__getattr__ = closed(globals(), later=f"spectra: {_SPECTRA}", root="wengert.compat.jax.scipy")
