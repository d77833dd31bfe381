"""Layer 9 · compat: targets and predictions, brought to one dtype and one rank for Keras."""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert.compat.tensorflow.functions.values import converted, is_floating, tensor_of
from wengert.compat.tensorflow.keras.backend import float_type

__all__ = ["both", "clipped", "same_rank", "smoothed"]


def both(y_true, y_pred) -> tuple[Any, Any]:
    """Targets and predictions, of the dtype of the predictions."""
    p = tensor_of(y_pred)
    if not is_floating(p):
        p = converted(p, float_type())
    y = converted(tensor_of(y_true), p.payload.dtype)
    return same_rank(y, p)


def same_rank(a, b) -> tuple[Any, Any]:
    """Two tensors, of which one may have a last dimension of size 1 too many."""
    first, second = a.payload.ndim, b.payload.ndim
    if first == second + 1 and a.payload.shape[-1] == 1:
        return wg.squeeze(a, -1) if second else a, b
    if second == first + 1 and b.payload.shape[-1] == 1:
        return a, wg.squeeze(b, -1) if first else b
    return a, b


def clipped(x, low: float, high: float) -> Any:
    """`x` with bounds."""
    return wg.clamp(x, low, high)


def smoothed(y, share: float, classes: int) -> Any:
    """Targets of which a share goes to all classes alike."""
    return wg.add(wg.mul(y, 1.0 - share), share / classes)
