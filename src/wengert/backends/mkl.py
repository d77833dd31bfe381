"""Layer 9 · backends: Intel MKL: NumPy may use it, or another library."""

from __future__ import annotations

from contextlib import nullcontext

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "is_available", "verbose"]

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """Return False, whatever NumPy uses."""
    return False


def verbose(enable: int) -> nullcontext[None]:
    """Return a context in which MKL would log its calls; without effect."""
    return nullcontext()
