"""Layer 9 · backends: Intel's library of mathematics: NumPy may use it, or another."""

from __future__ import annotations

from contextlib import nullcontext

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "is_available", "verbose"]

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """False, whatever NumPy uses."""
    return False


def verbose(enable: int) -> nullcontext[None]:
    """A context in which the library would print what it does; without effect."""
    return nullcontext()
