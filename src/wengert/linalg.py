"""Layer 6 · tensor: linear algebra, under PyTorch's names."""

from wengert.ops.moments import vector_norm as vector_norm
