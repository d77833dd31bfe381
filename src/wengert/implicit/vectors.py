"""Layer 8 · implicit: several tensors as one vector of real numbers, and back.

Solvers know vectors. A complex number counts as two real ones: gradients by complex tensors are,
by convention, those by the two parts, so that Jacobians need no rule of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.tape.base import new_tensor


def precision(dtype: Any) -> float:
    """The distance of 1 from the next number of a floating or complex dtype."""
    # NumPy does not know that of types which others have added
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 2.0**-7


class Layout:
    """The shapes and dtypes of some arrays, which one vector holds end to end.

    Attributes
    ----------
    size: How many real numbers there are.
    single: Whether some array has less than double precision.
    """

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.parts = [(array.shape, array.dtype) for array in arrays]
        self.sizes = [array.size * (2 if array.dtype.kind == "c" else 1) for array in arrays]
        self.size = sum(self.sizes)
        self.single = any(precision(array.dtype) > 1e-12 for array in arrays)

    def vector(self, arrays: Sequence[Any]) -> Any:
        """The arrays as one vector of doubles; None stands for zeros."""
        vector = np.zeros(self.size)
        start = 0
        for array, size in zip(arrays, self.sizes, strict=True):
            if array is not None:
                flat = np.ascontiguousarray(array).reshape(-1)
                vector[start : start + size] = _real(flat)
            start += size
        return vector

    def matrix(self, parts: Sequence[Any], count: int) -> Any:
        """What `vector` gives, for `count` arrays of each kind at once, as rows."""
        made = np.zeros((count, self.size))
        start = 0
        for part, size in zip(parts, self.sizes, strict=True):
            if part is not None:
                flat = np.ascontiguousarray(part).reshape(-1)
                made[:, start : start + size] = _real(flat).reshape(count, size)
            start += size
        return made

    def tensors(self, vector: Any) -> list[Any]:
        """New tensors of these shapes and dtypes with the numbers of `vector`."""
        made = []
        start = 0
        for (shape, dtype), size in zip(self.parts, self.sizes, strict=True):
            part = np.ascontiguousarray(vector[start : start + size], dtype=np.float64)
            if dtype.kind == "c":
                part = part.view(np.complex128)
            # a copy in any case: the vector may be a buffer of a solver
            made.append(new_tensor(np.array(part, dtype=dtype).reshape(shape)))
            start += size
        return made


def _real(flat: Any) -> Any:
    if flat.dtype.kind != "c":
        return flat
    return np.stack([flat.real, flat.imag], axis=-1).reshape(-1)


fill_sections(globals())
