"""Layer 9 · backends: Intel oneDNN, which is not used."""

from __future__ import annotations

from wengert.backends.settings import flags_of

__all__ = ["allow_tf32", "deterministic", "enabled", "flags", "is_available", "set_flags"]

enabled = True
deterministic = False
allow_tf32 = True
set_flags, flags = flags_of(__name__, enabled=False, deterministic=False, allow_tf32=True)


def is_available() -> bool:
    """Return False: it is not used."""
    return False
