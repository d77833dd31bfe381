"""Layer 1 · kernels: complex arrays from their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.protocols import empty


def complex(real: Any, imag: Any) -> Any:
    """Compute ``real + 1j * imag`` without arithmetic, so infinite parts do not give NaN."""
    if real.dtype.char not in "fd":
        raise TypeError(f"the parts of complex numbers are float32 or float64, not {real.dtype}")
    kind = np.promote_types(real.dtype, np.complex64)
    out = empty(real, np.broadcast_shapes(real.shape, imag.shape), kind)
    out.real, out.imag = real, imag
    return out


def polar(abs: Any, angle: Any) -> Any:
    """Return the complex numbers of given absolute values and angles."""
    return complex(abs * np.cos(angle), abs * np.sin(angle))
