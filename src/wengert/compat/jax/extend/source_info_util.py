"""Layer 9 · compat: `jax.extend.source_info_util`: where operations come from."""

from wengert.compat.jax._src.traceback_util import register_exclusion as register_exclusion

__all__ = ["register_exclusion"]
