"""Layer 1 · kernels: arrays joined into one."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["cat", "stack"]


def cat(*tensors: Any, dim: int) -> Any:
    """The arrays one after the other along a dimension."""
    return np.concatenate(tensors, dim)


def stack(*tensors: Any, dim: int) -> Any:
    """Quicker than NumPy's, which checks what the caller knows."""
    shape = tensors[0].shape
    widened = (*shape[:dim], 1, *shape[dim:])
    return np.concatenate([tensor.reshape(widened) for tensor in tensors], dim)
