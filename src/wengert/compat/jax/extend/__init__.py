"""Layer 9 · compat: `jax.extend`: what libraries on top of JAX import."""

from wengert.compat.jax.extend import core as core
from wengert.compat.jax.extend import linear_util as linear_util
from wengert.compat.jax.extend import source_info_util as source_info_util

__all__ = ["core", "linear_util", "source_info_util"]
