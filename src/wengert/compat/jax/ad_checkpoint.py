"""Layer 9 · compat: `jax.ad_checkpoint`: functions that are computed again, under their names."""

from wengert.compat.jax.staging import checkpoint as checkpoint
from wengert.compat.jax.staging import checkpoint as remat

__all__ = ["checkpoint", "checkpoint_name", "remat"]


def checkpoint_name(x: object, name: str) -> object:
    """The value itself: names tell policies what to keep, and nothing is kept."""
    return x
