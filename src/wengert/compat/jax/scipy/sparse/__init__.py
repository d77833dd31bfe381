"""Layer 9 · compat: `jax.scipy.sparse`: iterative solvers of linear systems."""

from wengert.compat.jax.scipy.sparse import linalg as linalg

__all__ = ["linalg"]
