"""Layer 9 · compat: `jax.ad_checkpoint`: rematerialized functions, under their names."""

from wengert.compat.kit.namespaces import gathered

__all__ = gathered(
    globals(),
    "wengert.compat.jax",
    """
    policies: checkpoint_name checkpoint_policies print_saved_residuals
    staging: checkpoint remat
    """,
)
