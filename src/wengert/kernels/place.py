"""Layer 1 · kernels: writes at positions of a dimension, of a mask, or of the flattened array.

Each function writes into its first argument; `copying` makes the out-of-place form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from wengert.kernels.protocols import asarray, copied, zeros

Shape = tuple[int, ...]
_ALL = slice(None)


def copying(write: Callable[..., None]) -> Callable[..., Any]:
    """Return the out-of-place form of a function that writes into its first argument."""

    @wraps(write)
    def kernel(self: Any, *others: Any, **params: Any) -> Any:
        result = copied(self, "C")
        write(result, *others, **params)
        return result

    return kernel


def _rows(self: Any, index: Any, dim: int) -> Any:
    """Return NumPy's index for positions of a dimension; for 0-d arrays, of all or nothing."""
    if not self.ndim:
        return ... if index.size else zeros(self, (), bool)
    return (_ALL,) * dim + (index.reshape(-1),)


def fill_at(self: Any, index: Any, value: Any, dim: int) -> None:
    """Write one value at positions of a dimension."""
    self[_rows(self, index, dim)] = value


def copy_at(self: Any, index: Any, source: Any, dim: int) -> None:
    """Write the slices of `source`, in order, at the positions that `index` names."""
    values = source if source.ndim == self.ndim else source.reshape(-1)
    if not self.ndim:
        values = values.reshape(-1)[-1:].reshape(self.shape) if index.size else self
    self[_rows(self, index, dim)] = values


def scatter_masked(self: Any, mask: Any, source: Any) -> None:
    """Write the elements of `source`, in order, where `mask`, of the same shape, holds."""
    if not self.flags.c_contiguous:
        self[mask] = source.reshape(-1)[: np.count_nonzero(mask)]
        return
    # half the time of writing by a mask
    (places,) = mask.reshape(-1).nonzero()
    self.reshape(-1)[places] = source.reshape(-1)[: places.size]


def masked_scatter_backward(self: Any, mask: Any, shape: Shape) -> Any:
    """Return the elements where `mask` holds, in order, in zeros of `shape`."""
    picked = asarray(self)[mask]
    result = zeros(self, math.prod(shape), self.dtype)
    result[: picked.size] = picked
    return result.reshape(shape)


def put_at(self: Any, index: Any, source: Any, accumulate: bool) -> None:
    """Write or add elements at flat positions of self in C order."""
    if not index.size:
        return
    key: Any = ...
    if self.ndim:
        key = index.reshape(-1)
        if self.flags.c_contiguous:
            self = self.reshape(-1)
        else:
            key = np.unravel_index(key % self.size, self.shape)
    values = source.reshape(-1)
    if accumulate and self.ndim:
        np.add.at(self, key, values)
    elif accumulate:
        self[...] += values.sum(dtype=self.dtype)
    else:
        self[key] = values if self.ndim else values[-1]
