"""Layer 8 · implicit: several tensors as one vector of real numbers, and back.

Solvers work on vectors. A complex number counts as two real ones: gradients of complex tensors are,
by convention, those of the two parts, so Jacobians need no separate rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.tape.base import new_tensor


def precision(dtype: Any) -> float:
    """Return the distance of 1 from the next number of a floating or complex dtype."""
    # NumPy does not know it for extension types
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 2.0**-7


class Layout:
    """The shapes and dtypes of arrays that are concatenated in one vector.

    Attributes
    ----------
    size: The number of real numbers.
    single: Whether some array has less than double precision.
    """

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.parts = [(array.shape, array.dtype) for array in arrays]
        self.sizes = [array.size * (2 if array.dtype.kind == "c" else 1) for array in arrays]
        self.size = sum(self.sizes)
        self.single = any(precision(array.dtype) > 1e-12 for array in arrays)

    def vector(self, arrays: Sequence[Any]) -> Any:
        """Return the arrays as one vector of doubles; None stands for zeros."""
        vector = np.zeros(self.size)
        start = 0
        for array, size in zip(arrays, self.sizes, strict=True):
            if array is not None:
                flat = np.ascontiguousarray(array).reshape(-1)
                vector[start : start + size] = _real(flat)
            start += size
        return vector

    def matrix(self, parts: Sequence[Any], count: int) -> Any:
        """Return `count` vectors as rows, from arrays with a leading dimension of that size."""
        made = np.zeros((count, self.size))
        start = 0
        for part, size in zip(parts, self.sizes, strict=True):
            if part is not None:
                flat = np.ascontiguousarray(part).reshape(-1)
                made[:, start : start + size] = _real(flat).reshape(count, size)
            start += size
        return made

    def tensors(self, vector: Any) -> list[Any]:
        """Return new tensors of these shapes and dtypes with the numbers of `vector`."""
        made = []
        start = 0
        for (shape, dtype), size in zip(self.parts, self.sizes, strict=True):
            part = np.ascontiguousarray(vector[start : start + size], dtype=np.float64)
            if dtype.kind == "c":
                part = part.view(np.complex128)
            # always a copy: the vector may be a buffer of a solver
            made.append(new_tensor(np.array(part, dtype=dtype).reshape(shape)))
            start += size
        return made


def _real(flat: Any) -> Any:
    if flat.dtype.kind != "c":
        return flat
    return np.stack([flat.real, flat.imag], axis=-1).reshape(-1)
