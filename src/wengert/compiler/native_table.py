"""Layer 8 · compiler: every primitive that has a native form of its own, from memory to memory."""

from __future__ import annotations

from collections.abc import Mapping

from wengert.compiler.native import Native
from wengert.compiler.native_factors import FACTORS
from wengert.compiler.native_places import PLACES
from wengert.compiler.native_products import PRODUCTS
from wengert.compiler.native_scans import SCANS

__all__ = ["NATIVE"]

NATIVE: Mapping[str, Native] = {**PRODUCTS, **PLACES, **SCANS, **FACTORS}
"""The native form by the name of the primitive."""
