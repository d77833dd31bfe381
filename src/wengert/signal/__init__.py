"""Layer 8 · signal: what signals are weighted with, under PyTorch's names."""

from wengert.base.names import shows
from wengert.signal import windows as windows

__all__ = ["windows"]
__dir__ = shows(__all__)
