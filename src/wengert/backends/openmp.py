"""Layer 9 · backends: threads by OpenMP, which are not used; see `get_num_threads`."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Return False: it is not used."""
    return False
