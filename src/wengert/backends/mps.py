"""Layer 9 · backends: Apple's GPUs, which are not used."""

from __future__ import annotations

__all__ = ["is_available", "is_built", "is_macos13_or_newer", "is_macos_or_newer"]


def is_available() -> bool:
    """False: it is not used from here."""
    return False


def is_built() -> bool:
    """False: there is no support for GPUs."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """False, whatever the system is: nothing depends on it."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """False, as `is_macos13_or_newer`."""
    return False
