"""Layer 3 · interp: K, the namespace of raw arrays: the kernels themselves, with no wrapper."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from wengert.prims.table import TABLE

__all__ = ["K"]


class _Kernels(SimpleNamespace):
    """Kernels by name; those of families that are imported later are found when first named."""

    def __getattr__(self, name: str) -> Any:
        prim = TABLE.get(name)
        if prim is None:
            raise AttributeError(f"there is no primitive {name!r}")
        setattr(self, name, prim.kernel)
        return prim.kernel


K: Any = _Kernels(**{name: prim.kernel for name, prim in TABLE.items()})
"""Every primitive's kernel by name."""
