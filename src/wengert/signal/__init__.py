"""Layer 8 · signal: window functions, under PyTorch's names."""

from wengert.base.names import shows
from wengert.signal import windows as windows

__all__ = ["windows"]
__dir__ = shows(__all__)
