"""Layer 9 · compat: discrete Fourier transforms under the names of ``jax.numpy.fft``.

>>> jnp.fft.rfft(jnp.array([1.0, 0.0, -1.0, 0.0]))
Array([0.+0.j, 2.+0.j, 0.+0.j], dtype=complex64)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray
from wengert.compat.jax.numpy.calling import call, of_row, static
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import closed
from wengert.compat.kit.rows import of_rows

__all__ = ["fftfreq", "rfftfreq"]


def _row(name: str, parameters: str, meeting: str, text: str) -> Callable[..., Any]:
    """Build the counterpart of NumPy's function; transforms check their arguments as JAX does."""

    def compute(x, weak: bool, norm: str | None = None, axis=None, **options) -> Any:
        if meeting == "inexact" and x._payload.dtype.itemsize == 2:
            x = x.astype(np.float32)  # NumPy has no transform of halves
        axes = options.get("axes", (0, 1))
        if name.endswith("2") and len(axes) != 2:
            raise refusal(ValueError, "jax.numpy.fft.{} only supports 2", name, axes)
        if norm not in (None, "backward", "ortho", "forward"):
            raise refusal(ValueError, "jax.numpy.fft.{} only supports the", name, norm)
        if name.startswith(("rfft", "ihfft")) and x._payload.dtype.kind == "c":
            raise ValueError(f"only real valued inputs supported for {name}: take x.real")
        if isinstance(axis, tuple | list):
            raise refusal(ValueError, "jax.numpy.fft.{0} does", name, axis)
        given = {"axis": axis, "norm": norm}
        given = {key: value for key, value in given.items() if value is not None}
        return call(f"fft.{name}", x, **given, **options)

    __all__.append(name)
    return of_row(name, parameters, meeting, text, compute, "numpy.fft")


of_rows(
    globals(),
    _row,
    """
    fft | a, n=None, axis=-1, norm=None | inexact
        | Return the discrete Fourier transform along an axis.
    fft2 | a, s=None, axes=(-2, -1), norm=None | inexact | Compute `fft` along two axes.
    fftn | a, s=None, axes=None, norm=None | inexact | Compute `fft` along several axes.
    fftshift | x, axes=None | own | Shift the frequency 0 to the middle.
    hfft | a, n=None, axis=-1, norm=None | inexact
        | Return the `fft` of a signal whose transform is real.
    ifft | a, n=None, axis=-1, norm=None | inexact | Return the inverse of `fft`.
    ifft2 | a, s=None, axes=(-2, -1), norm=None | inexact | Return the inverse of `fft2`.
    ifftn | a, s=None, axes=None, norm=None | inexact | Return the inverse of `fftn`.
    ifftshift | x, axes=None | own | Undo `fftshift`.
    ihfft | a, n=None, axis=-1, norm=None | inexact | Return the inverse of `hfft`.
    irfft | a, n=None, axis=-1, norm=None | inexact | Return the inverse of `rfft`.
    irfft2 | a, s=None, axes=(-2, -1), norm=None | inexact | Return the inverse of `rfft2`.
    irfftn | a, s=None, axes=None, norm=None | inexact | Return the inverse of `rfftn`.
    rfft | a, n=None, axis=-1, norm=None | inexact
        | Return the nonnegative frequencies of the `fft` of real numbers.
    rfft2 | a, s=None, axes=(-2, -1), norm=None | inexact | Compute `rfft` along two axes.
    rfftn | a, s=None, axes=None, norm=None | inexact | Compute `rfft` along several axes.
    """,
)


def fftfreq(n: int, d=1.0, *, dtype=None, device=None) -> Any:
    """Return the frequencies of `fft`."""
    return asarray(np.fft.fftfreq(static(n, "n of fftfreq")), dtype or float) / d


def rfftfreq(n: int, d=1.0, *, dtype=None, device=None) -> Any:
    """Return the frequencies of `rfft`."""
    return asarray(np.fft.rfftfreq(static(n, "n of rfftfreq")), dtype or float) / d


__getattr__ = closed(globals())
