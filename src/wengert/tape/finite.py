"""Layer 4 · tape: tests for infinities and NaN."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

_FEW = 20
_ARRAY = np.ndarray
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def all_finite(payload: Any) -> bool:
    """Return whether all elements are finite, at about the cost of a dot product."""
    cls = payload.__class__
    if cls is _ARRAY:
        dtype = payload.dtype
        if dtype is _F32 or dtype is _F64:
            flat = payload if payload.ndim == 1 else payload.ravel()
            # a sum, or a sum of squares where that is quicker; on overflow check element-wise
            total = sum(flat.tolist()) if flat.size < _FEW else flat.dot(flat)
            return isfinite(total) or are_finite(payload)
        return dtype.kind not in "fc" or are_finite(payload)
    if cls is _F32.type or cls is _F64.type:
        return isfinite(payload)
    return not isinstance(payload, np.inexact) or bool(payload - payload == 0)


def are_finite(value: Any) -> bool:
    """Return whether a value has no infinity or NaN; True for integers and booleans."""
    if value is None or isinstance(value, str | tuple):
        return True
    array = np.asarray(value)
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
