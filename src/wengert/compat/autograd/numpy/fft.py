"""Layer 9 · compat: discrete Fourier transforms, of NumPy's own arrays and of boxes.

>>> grad(lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 2))(np.array([1.0, 0.0, -1.0, 0.0]))
array([ 4.,  0., -4.,  0.])
"""

from __future__ import annotations

from typing import Any

import numpy as _np

from wengert.base.sections import fill_sections
from wengert.compat.autograd.numpy.dispatch import function_of as _function_of


def __getattr__(name: str) -> Any:
    value = None if name.startswith("_") else getattr(_np.fft, name, None)
    if value is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: NumPy has none")
    if callable(value) and not isinstance(value, type):
        value = _function_of(f"fft.{name}", value)
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted(dir(_np.fft))


fill_sections(globals())
