"""Layer 9 · compat: discrete Fourier transforms under the names of ``jax.numpy.fft``.

>>> jnp.fft.rfft(jnp.array([1.0, 0.0, -1.0, 0.0]))
Array([0.+0.j, 2.+0.j, 0.+0.j], dtype=complex64)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.jax.array import asarray
from wengert.compat.jax.numpy.calling import as_operands, call, documented, operands, static
from wengert.compat.kit.namespaces import closed

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]

_ONE = "fft ifft rfft irfft hfft ihfft"
_TWO = "fft2 ifft2 rfft2 irfft2"
_SEVERAL = "fftn ifftn rfftn irfftn"


def _check_norm(name: str, norm) -> None:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(
            f"jax.numpy.fft.{name} only supports the norm None, 'backward', 'ortho' and 'forward', "
            f"got {norm!r}"
        )


def _check_real(name: str, x) -> None:
    if name in ("rfft", "rfft2", "rfftn", "ihfft") and x._payload.dtype.kind == "c":
        raise ValueError(f"only real valued inputs supported for {name}: take x.real")


def _along_one(name: str) -> Callable[..., Any]:
    def transform(a, n: int | None = None, axis=-1, norm: str | None = None) -> Any:
        (x,) = as_operands(f"jnp.fft.{name}", a, inexact=True)
        _check_norm(name, norm)
        _check_real(name, x)
        if isinstance(axis, tuple | list):
            raise ValueError(
                f"jax.numpy.fft.{name} does not support multiple axes. Please use "
                f"jax.numpy.fft.{name}n. Got axis = {axis!r}."
            )
        return call(f"fft.{name}", x, n, axis, norm)

    return transform


def _along_several(name: str, default: tuple[int, ...] | None) -> Callable[..., Any]:
    def transform(a, s=None, axes=default, norm: str | None = None) -> Any:
        (x,) = as_operands(f"jnp.fft.{name}", a, inexact=True)
        _check_norm(name, norm)
        _check_real(name, x)
        return call(f"fft.{name}", x, s, axes, norm)

    return transform


for _name in _ONE.split():
    globals()[_name] = documented(_along_one(_name), f"fft.{_name}")
for _name in _TWO.split():
    globals()[_name] = documented(_along_several(_name, (-2, -1)), f"fft.{_name}")
for _name in _SEVERAL.split():
    globals()[_name] = documented(_along_several(_name, None), f"fft.{_name}")
__all__ += [*_ONE.split(), *_TWO.split(), *_SEVERAL.split()]


def fftshift(x, axes=None) -> Any:
    """The frequency 0 in the middle."""
    (x,) = operands("jnp.fft.fftshift", x)
    return call("fft.fftshift", x, axes)


def ifftshift(x, axes=None) -> Any:
    """What undoes `fftshift`."""
    (x,) = operands("jnp.fft.ifftshift", x)
    return call("fft.ifftshift", x, axes)


def fftfreq(n: int, d=1.0, *, dtype=None, device=None) -> Any:
    """The frequencies of `fft`."""
    return asarray(np.fft.fftfreq(static(n, "n of fftfreq")), dtype or float) / d


def rfftfreq(n: int, d=1.0, *, dtype=None, device=None) -> Any:
    """The frequencies of `rfft`."""
    return asarray(np.fft.rfftfreq(static(n, "n of rfftfreq")), dtype or float) / d


__getattr__ = closed(globals(), "jax.numpy.fft")

fill_sections(globals())
