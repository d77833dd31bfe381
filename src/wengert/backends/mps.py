"""Layer 9 · backends: Apple's GPUs, which are not used."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """False: it is not used from here."""
    return False


def is_built() -> bool:
    """False: there is no support for GPUs."""
    return False
