"""Layer 8 · _VF: operations that PyTorch has under this name alone."""

from wengert.ops.distinct import unique_dim

__all__ = ["unique_dim"]
