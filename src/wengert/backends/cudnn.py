"""Layer 9 · backends: settings of cuDNN, which is not used."""

from __future__ import annotations

from typing import Any

from wengert.backends.settings import flags_of

__all__ = [
    "allow_tf32",
    "benchmark",
    "benchmark_limit",
    "deterministic",
    "enabled",
    "flags",
    "is_acceptable",
    "is_available",
    "set_flags",
    "version",
]

enabled = True
benchmark = False
deterministic = False
benchmark_limit = 10
allow_tf32 = True
set_flags, flags = flags_of(
    __name__,
    enabled=False,
    benchmark=False,
    benchmark_limit=10,
    deterministic=False,
    allow_tf32=True,
)


def is_available() -> bool:
    """Return False: there is no GPU to use it on."""
    return False


def version() -> int | None:
    """Return None: it is not used."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """Return False: no tensor is on a GPU."""
    return False
