"""Layer 1 · kernels: the largest and smallest elements along dimensions.

NumPy takes longer to begin a row than to go through dozens of elements. Its `reduceat` begins rows
twice as fast as its `reduce`, and short rows are copied to be columns, which it compares as wholes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_FEW = 1024
"""The number of elements up to which NumPy alone is faster."""
_ROWS = 24
"""The number of rows up to which NumPy alone is faster."""
_SHORT = 16
"""The length of rows up to which they are copied to be columns."""


def _extreme(ufunc: Any) -> Any:
    reduce = ufunc.reduce

    def extreme(
        array: Any, axis: Any = 0, keepdims: bool = False, initial: Any = np._NoValue
    ) -> Any:
        if array.size <= _FEW or array.__class__ is not np.ndarray or not array.flags.c_contiguous:
            return reduce(array, axis, None, None, keepdims, initial)
        shape = array.shape
        first = len(shape) - (len(axis) if axis.__class__ is tuple else 1)
        behind = tuple(range(first, len(shape)))
        rows = math.prod(shape[:first])
        lines = rows > _ROWS and behind and axis in (behind, behind[-1], -1, (-1,))
        if not lines or initial is not np._NoValue:
            return reduce(array, axis, None, None, keepdims, initial)
        flat = array.reshape(-1)
        if array.size <= rows * _SHORT:
            found = reduce(flat.reshape(rows, -1).T.copy(), 0)
        else:
            found = ufunc.reduceat(flat, np.arange(0, array.size, array.size // rows))
        return found.reshape(shape[:first] + (1,) * (len(behind) * keepdims))

    return extreme


largest = _extreme(np.maximum)
smallest = _extreme(np.minimum)
