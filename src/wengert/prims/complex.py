"""Layer 2 · prims: complex numbers. Rules with ``conj="explicit"`` conjugate explicitly."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from wengert.kernels import elementwise as kernels
from wengert.prims.families import elementwise

_part = partial(
    elementwise, promote=None, conj="explicit", tangents="linear", pointwise=False, maps=True
)

_part(
    "conj",
    np.conjugate,
    lin=lambda F, g: F.conj(g),
    doc="complex conjugate",
)
_part(
    "real",
    kernels.real,
    lin=lambda F, g, self_dtype: F.to_copy(g, dtype=self_dtype),
    doc="real part",
    numpy_views="real",
)
_part(
    "imag",
    kernels.imag,
    lin=lambda F, g: g * 1j,
    domain="complex",
    doc="imaginary part",
    numpy_views="imag",
)


def _turning(F: Any, g: Any, self: Any, result: Any, self_dtype: Any) -> Any:
    """Return the slope of ``sgn``: 0 for reals; complex directions rotate at constant length."""
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
    example=("wg.tensor([0.5, -1.0])", "tensor([ 1., -1.])"),
)
