"""Layer 1 · kernels: values combined, or written, at places of an array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["scatter_reduce", "through"]


def _grid(index: Any, dim: int) -> tuple[Any, ...]:
    """NumPy's index for elements at `index` along `dim`, each at its own place elsewhere."""
    n = index.ndim
    return tuple(
        index if d == dim else np.arange(size).reshape((1,) * d + (size,) + (1,) * (n - d - 1))
        for d, size in enumerate(index.shape)
    )


def _places(index: Any, shape: tuple[int, ...], dim: int) -> Any:
    """The positions that an index names, in an array of `shape` laid out as one dimension."""
    strides = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    places = sum(part * stride for part, stride in zip(_grid(index, dim), strides, strict=True))
    return np.asarray(places).reshape(-1)


_COMBINED = {
    "sum": (np.add, lambda dtype: 0),
    "mean": (np.add, lambda dtype: 0),
    "prod": (np.multiply, lambda dtype: 1),
    "amax": (np.maximum, lambda dtype: _bounds(dtype)[0]),
    "amin": (np.minimum, lambda dtype: _bounds(dtype)[1]),
}


def _bounds(dtype: Any) -> tuple[Any, Any]:
    if dtype.kind == "b":
        return False, True
    if dtype.kind in "iu":
        return np.iinfo(dtype).min, np.iinfo(dtype).max
    return -np.inf, np.inf


def scatter_reduce(
    self: Any, index: Any, src: Any, dim: int, reduce: str, include_self: bool
) -> Any:
    """A copy of self with the elements of `src` combined into it where `index` points.

    Without `include_self` what is there does not count.
    """
    shape = self.shape
    values = src[tuple([slice(size) for size in index.shape])].reshape(-1)
    if not self.ndim:
        self, index, dim = self.reshape(1), index.reshape(-1), 0
    places = _places(index, self.shape, dim)
    result = np.array(self, copy=True, order="C")
    flat = result.reshape(-1)
    combine, nothing = _COMBINED[reduce]
    if not include_self:
        flat[places] = nothing(self.dtype)
    combine.at(flat, places, values)
    if reduce == "mean":
        own = np.ones(flat.size, np.int64)
        if not include_self:
            own[places] = 0
        count = own + np.bincount(places, minlength=flat.size)
        divide = np.floor_divide if self.dtype.kind in "iu" else np.true_divide
        flat[...] = divide(flat, count.astype(self.dtype))
    return result.reshape(shape)


def through(view: Callable[..., Any]) -> Callable[..., Any]:
    """The function that writes into what a view of its first argument, an array in order, shows."""

    def kernel(self: Any, src: Any, **params: Any) -> Any:
        result = np.array(self, copy=True, order="C")
        view(result, **params)[...] = src
        return result

    return kernel
