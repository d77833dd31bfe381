"""Layer 5 · ops: tensors that stand for the numbers 1 and 0."""

import numpy as np

from wengert.tape.base import new_tensor

__all__ = ["ONE", "ZERO"]

ONE = {dtype: new_tensor(dtype.type(1)) for dtype in (np.dtype(np.float32), np.dtype(np.float64))}
ZERO = {dtype: new_tensor(dtype.type(0)) for dtype in ONE}
