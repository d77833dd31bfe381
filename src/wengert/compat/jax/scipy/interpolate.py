"""Layer 9 · compat: ``jax.scipy.interpolate``, which is not offered; it names a replacement."""

from __future__ import annotations

from wengert.compat.kit.namespaces import closed

__all__: list[str] = []
_CURES = {
    "RegularGridInterpolator": "write jax.scipy.ndimage.map_coordinates, of order 0 or 1",
}


_CURES["*"] = "jax.numpy.interp is there, of points on a line"
__getattr__ = closed(globals(), "jax.scipy.interpolate", _CURES)
