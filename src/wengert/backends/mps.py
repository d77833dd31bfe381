"""Layer 9 · backends: Apple's GPUs, which are not used."""

from __future__ import annotations

__all__ = ["is_available", "is_built", "is_macos13_or_newer", "is_macos_or_newer"]


def is_available() -> bool:
    """Return False: it is not used."""
    return False


def is_built() -> bool:
    """Return False: there is no support for GPUs."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """Return False on every system: nothing depends on it."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Return False, like `is_macos13_or_newer`."""
    return False
