"""Layer 9 · backends: Intel's library of mathematics: NumPy may use it, or another."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """False: it is not used from here."""
    return False
