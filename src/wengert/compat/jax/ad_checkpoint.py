"""Layer 9 · compat: `jax.ad_checkpoint`: rematerialized functions, under their names."""

from wengert.compat.jax.policies import checkpoint_name as checkpoint_name
from wengert.compat.jax.policies import checkpoint_policies as checkpoint_policies
from wengert.compat.jax.policies import print_saved_residuals as print_saved_residuals
from wengert.compat.jax.staging import checkpoint as checkpoint
from wengert.compat.jax.staging import checkpoint as remat

__all__ = [
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "print_saved_residuals",
    "remat",
]
