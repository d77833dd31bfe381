"""Layer 9 · compat: `jax.scipy.sparse`: solvers of linear systems given as functions."""

from wengert.compat.jax.scipy.sparse import linalg as linalg

__all__ = ["linalg"]
