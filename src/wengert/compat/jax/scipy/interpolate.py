"""Layer 9 · compat: ``jax.scipy.interpolate``, which is not offered: it says what to write."""

from __future__ import annotations

from typing import Any

__all__: list[str] = []
_CURES = {
    "RegularGridInterpolator": "write jax.scipy.ndimage.map_coordinates, of order 0 or 1",
}


def __getattr__(name: str) -> Any:
    cure = _CURES.get(name, "jax.numpy.interp is there, of points on a line")
    raise AttributeError(f"module 'jax.scipy.interpolate' has no attribute {name!r}: {cure}")
