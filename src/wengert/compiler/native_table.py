"""Layer 8 · compiler: the facet of native forms from memory to memory, all of it said."""

from __future__ import annotations

from wengert.compiler import (
    native_convolution,
    native_factors,
    native_places,
    native_pooling,
    native_products,
    native_scans,
)
from wengert.compiler.native import NATIVE

__all__ = [
    "NATIVE",
    "native_convolution",
    "native_factors",
    "native_places",
    "native_pooling",
    "native_products",
    "native_scans",
]
