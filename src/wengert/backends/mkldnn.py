"""Layer 9 · backends: Intel's library for networks, which is not used."""

from __future__ import annotations

__all__ = ["enabled", "is_available"]

enabled = True


def is_available() -> bool:
    """False: it is not used from here."""
    return False
