"""Layer 8 · nn: neural networks: their functions, under PyTorch's names."""

from __future__ import annotations

from wengert.nn import functional

__all__ = ["functional"]
