"""Layer 1 · kernels: arrays joined into one."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.memory_format import contiguous_format, in_format, suggested_format
from wengert.kernels.protocols import contiguous


def cat(*tensors: Any, dim: int) -> Any:
    """Concatenate arrays along a dimension; images with channels last remain so."""
    joined = np.concatenate(tensors, dim)
    if joined.flags.c_contiguous:
        return joined
    orders = {suggested_format(tensor) for tensor in tensors}
    if orders == {contiguous_format} or len(orders) > 1:
        return contiguous(joined)
    return in_format(joined, orders.pop())


def stack(*tensors: Any, dim: int) -> Any:
    """Stack arrays, faster than NumPy, which checks what the caller has checked."""
    shape = tensors[0].shape
    if not dim and shape:
        # concatenated, they already have the memory order of the result
        return _in_order(np.concatenate(tensors)).reshape(len(tensors), *shape)
    widened = (*shape[:dim], 1, *shape[dim:])
    return _in_order(np.concatenate([tensor.reshape(widened) for tensor in tensors], dim))


def _in_order(joined: Any) -> Any:
    # NumPy keeps the memory order of the arrays; results are in C order
    return joined if joined.flags.c_contiguous else contiguous(joined)
