"""Layer 9 · backends: settings of NVIDIA's library for networks, which is not used."""

from __future__ import annotations

__all__ = ["allow_tf32", "benchmark", "deterministic", "enabled", "is_available", "version"]

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False: there is no GPU to use it on."""
    return False


def version() -> int | None:
    """None: it is not used."""
    return None
