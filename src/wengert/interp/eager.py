"""Layer 3 · interp: K, the namespace of raw arrays: the kernels themselves, with no wrapper."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from wengert.prims.table import TABLE

__all__ = ["K"]

K: Any = SimpleNamespace(**{name: prim.kernel for name, prim in TABLE.items()})
"""Every primitive's kernel by name."""
