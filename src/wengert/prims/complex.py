"""Layer 2 · prims: complex numbers. Rules with ``conj="explicit"`` conjugate for themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels import elementwise as kernels
from wengert.prims.families import elementwise

elementwise(
    "conj",
    np.conjugate,
    lin=lambda F, g: F.conj(g),
    promote=None,
    conj="explicit",
    doc="complex conjugate",
)
elementwise(
    "real",
    kernels.real,
    lin=lambda F, g, self_dtype: F.to_copy(g, dtype=self_dtype),
    promote=None,
    conj="explicit",
    doc="real part",
)
elementwise(
    "imag",
    kernels.imag,
    lin=lambda F, g: g * 1j,
    promote=None,
    conj="explicit",
    domain="complex",
    doc="imaginary part",
)


def _turning(F: Any, g: Any, self: Any, result: Any, self_dtype: Any) -> Any:
    """A real sign is constant; a complex direction turns, without changing its length."""
    if self_dtype.kind != "c":
        return F.zeros_like(g)
    zero = self == 0
    length = F.where(zero, 1, F.abs(self))
    along = F.real(g * F.conj(result)) * result
    return F.where(zero, 0, (g - along) / length)


elementwise(
    "sgn",
    kernels.sgn,
    lin=_turning,
    promote=None,
    conj="explicit",
    domain="nonzero",
    doc="the sign of a real number, the direction of a complex one; 0 at 0",
)
