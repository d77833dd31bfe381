"""Layer 8 · compiler: the facet of native forms, with all forms registered."""

from __future__ import annotations

from wengert.compiler.codegen.native import (  # noqa: F401
    convolution,
    factors,
    pooling,
    products,
    scans,
)
from wengert.compiler.codegen.native.forms import NATIVE

__all__ = ["NATIVE"]
