"""Layer 6 · tensor: counterparts of ``numpy.fft`` (see NOTE [counterparts])."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.ops import fourier, frequencies
from wengert.tensor.numpy.counterparts import counterpart, floating, tensor

_FROM_REAL = frozenset({"rfft", "rfft2", "rfftn", "ihfft"})


def _input(name: str, a: Any) -> Any:
    (a,) = floating(a)
    if name in _FROM_REAL and a._payload.dtype.kind == "c":
        raise TypeError(f"ufunc '{name}' takes real numbers, but got {a._payload.dtype}")
    return a


def _along_one(name: str) -> None:
    ours: Callable[..., Any] = getattr(fourier, name)

    @counterpart(f"fft.{name}")
    def transform(
        a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
    ) -> Any:
        if n is not None and n < 1:
            raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
        return ours(_input(name, a), n, axis, norm)


def _along_several(name: str, default: tuple[int, ...] | None) -> None:
    ours: Callable[..., Any] = getattr(fourier, name.replace("2", "n"))

    @counterpart(f"fft.{name}")
    def transform(
        a: Any, s: Any = None, axes: Any = default, norm: str | None = None, out: Any = None
    ) -> Any:
        a = _input(name, a)
        return ours(a, s, tuple(axes) if axes is not None else None, norm)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _along_one(_name)
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    _along_several(_name, None)
for _name in ("fft2", "ifft2", "rfft2", "irfft2"):
    _along_several(_name, (-2, -1))


@counterpart("fft.fftshift")
def _fftshift(x: Any, axes: Any = None) -> Any:
    return frequencies.fftshift(tensor(x), axes)


@counterpart("fft.ifftshift")
def _ifftshift(x: Any, axes: Any = None) -> Any:
    return frequencies.ifftshift(tensor(x), axes)
