"""Layer 2 · prims: roots that NumPy has and PyTorch has not."""

from __future__ import annotations

from wengert.kernels import roots as kernels
from wengert.prims.families import elementwise

__all__: list[str] = []

elementwise(
    "cbrt",
    kernels.cbrt,
    lin=lambda F, g, result: g / (3.0 * (result * result)),
    domain="positive",
    refuses={"c": "\"cbrt\" not implemented for '{}'"},
    doc="the real cube root",
)
