"""Layer 0 · base: what the package was built with, for programs that print it: no GPU."""

from __future__ import annotations

__all__ = ["cuda", "debug", "hip"]

cuda: str | None = None
"""The version of CUDA; None, since there is no GPU backend."""
hip: str | None = None
"""The version of ROCm; None, since there is no GPU backend."""
debug = False
"""Whether this is a build for finding errors in the package."""
