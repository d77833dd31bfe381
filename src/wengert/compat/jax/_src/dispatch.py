"""Layer 9 · compat: `dispatch`: effects happen at once."""

from wengert.compat.jax.callbacks import effects_barrier as wait_for_tokens

__all__ = ["wait_for_tokens"]
