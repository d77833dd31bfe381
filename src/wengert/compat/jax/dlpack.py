"""Layer 9 · compat: `jax.dlpack`."""

from __future__ import annotations

from typing import Any

from wengert.compat.jax.dtypes import canonical_dtype
from wengert.compat.jax.numpy.creation import from_dlpack as _from_dlpack

__all__ = ["from_dlpack", "is_supported_dtype"]


def from_dlpack(external_array, device=None, copy: bool | None = None) -> Any:
    """Return the array of another library that exports it by DLPack."""
    return _from_dlpack(external_array, device=device, copy=copy)


def is_supported_dtype(dtype) -> bool:
    """Return whether arrays of the dtype can be exchanged: numbers and booleans."""
    found = canonical_dtype(dtype)
    return found.kind in "biufc"
