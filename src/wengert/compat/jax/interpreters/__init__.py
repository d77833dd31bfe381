"""Layer 9 · compat: `jax.interpreters`: where libraries leave the rules of their primitives."""

from wengert.compat.jax.interpreters import ad as ad
from wengert.compat.jax.interpreters import batching as batching
from wengert.compat.jax.interpreters import mlir as mlir
from wengert.compat.jax.interpreters import partial_eval as partial_eval

__all__ = ["ad", "batching", "mlir", "partial_eval"]
