"""Layer 8 · _VF: operations that PyTorch has only under this name."""

from wengert.ops.distinct import unique_dim

__all__ = ["unique_dim"]
