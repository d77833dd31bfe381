"""Layer 9 · backends: settings of small libraries that are not used; `base.places` exposes them."""

from __future__ import annotations

from typing import Any

from wengert.backends.settings import flags_of, switch

__all__ = [
    "einsum_flags",
    "enabled",
    "engine",
    "flags",
    "get_cpu_capability",
    "get_fastpath_enabled",
    "get_max_alg_id",
    "get_opt_einsum",
    "immediate",
    "is_available",
    "set_einsum_flags",
    "set_fastpath_enabled",
    "set_flags",
    "strategy",
    "supported_engines",
    "version",
]

enabled = immediate = False
strategy: str | None = None
engine = "none"
supported_engines = ["none"]
set_fastpath_enabled, get_fastpath_enabled = switch(True, "fastpath")
set_flags, flags = flags_of(__name__, enabled=False)
set_einsum_flags, einsum_flags = flags_of(
    "wengert.backends.opt_einsum", enabled=None, strategy=None
)


def is_available() -> bool:
    """Return False, for each of these libraries."""
    return False


def version() -> int | None:
    """Return None, for each of these libraries."""
    return None


def get_max_alg_id() -> int | None:
    """Return None: there are no algorithms to choose from."""
    return None


def get_opt_einsum() -> Any:
    """Return None: NumPy chooses the order of products itself."""
    return None


def get_cpu_capability() -> str:
    """Return ``"DEFAULT"``: NumPy chooses its instruction set itself."""
    return "DEFAULT"
