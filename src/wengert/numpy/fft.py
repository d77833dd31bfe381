"""Layer 9 · numpy: discrete Fourier transforms under the names of ``numpy.fft``.

>>> x = np.array([1.0, 0.0, -1.0, 0.0]).requires_grad_()
>>> np.sum(np.abs(np.fft.rfft(x)) ** 2).backward()
>>> x.grad
tensor([ 4.,  0., -4.,  0.], dtype=torch.float64)
"""

from __future__ import annotations

from typing import Any

import numpy as _np

from wengert.base.device import check_device
from wengert.numpy.arrays import made
from wengert.numpy.functions import function_of
from wengert.tensor.numpy.counterparts import as_dtype
from wengert.tensor.numpy.dispatch import kind_of


def fftfreq(n: int, d: float = 1.0, device: Any = None, dtype: Any = None) -> Any:
    """Return the frequencies of `fft` (see `numpy.fft.fftfreq`)."""
    return _frequencies(_np.fft.fftfreq(n, d), device, dtype)


def rfftfreq(n: int, d: float = 1.0, device: Any = None, dtype: Any = None) -> Any:
    """Return the frequencies of `rfft` (see `numpy.fft.rfftfreq`)."""
    return _frequencies(_np.fft.rfftfreq(n, d), device, dtype)


def _frequencies(found: Any, device: Any, dtype: Any) -> Any:
    check_device(device)
    return made(as_dtype(found, dtype))


def __getattr__(name: str) -> Any:
    if hasattr(_np.fft, name) and kind_of(f"fft.{name}") == "rule":
        return globals().setdefault(name, function_of(f"fft.{name}"))
    why = ": NumPy has it, but it is NumPy's own" if name in dir(_np.fft) else ""
    raise AttributeError(f"module 'wengert.numpy.fft' has no attribute {name!r}{why}")


def __dir__() -> list[str]:
    names = [name for name in dir(_np.fft) if kind_of(f"fft.{name}") == "rule"]
    return sorted([*names, "fftfreq", "rfftfreq"])
