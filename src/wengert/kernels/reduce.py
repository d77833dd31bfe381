"""Layer 1 · kernels: reductions that NumPy lacks or computes otherwise.

``dim`` is a tuple of axes. A reduction over no axis, as for a 0-d array, leaves every element
unchanged.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from wengert.kernels import protocols
from wengert.kernels.protocols import arange, is_numpys, largest, smallest, zeros
from wengert.kernels.shape import unsqueeze
from wengert.kernels.sums import sums

Dims = tuple[int, ...]

# NumPy's annotations of `reduce` lack an overload for a `keepdims` that is not a literal
_product: Any = np.multiply.reduce
_RUN, _MANY = 512, 2048


def extent(self: Any, dim: Dims) -> int:
    """Return the number of elements that are combined into one."""
    return self.shape[dim[0]] if len(dim) == 1 else math.prod([self.shape[i] for i in dim])


# -- sums and products --------------------------------------------------------------------------


def divided(self: Any, count: float) -> Any:
    """Divide sums by `count` to give means."""
    if count > 0:
        return self / count
    # the mean of no elements is NaN by definition
    with np.errstate(divide="ignore", invalid="ignore"):
        return self / self.dtype.type(0)


def mean_all(self: Any) -> Any:
    """Return the mean of all elements; NaN over none."""
    return divided(sums(self, None), self.size)


def mean(self: Any, dim: Dims, keepdim: bool) -> Any:
    """Return the means along dimensions; NaN over no elements."""
    return divided(sums(self, dim, keepdim), extent(self, dim))


def product(self: Any) -> Any:
    """Return the product of all elements; of many in runs, which are multiplied side by side."""
    if self.size < _MANY or not is_numpys(self):
        return _product(self, axis=None)
    flat = self.reshape(-1)
    whole = self.size - self.size % _RUN
    parts = _product(flat[:whole].reshape(-1, _RUN), axis=0)
    parts[: self.size - whole] *= flat[whole:]
    return _product(parts)


def prod(self: Any, dim: Dims, keepdim: bool) -> Any:
    """Return the products along dimensions."""
    if not keepdim and len(dim) == self.ndim > 0:
        return product(self)
    return _product(self, axis=dim, keepdims=keepdim)


def count(self: Any, dim: Dims) -> Any:
    """Return the number of nonzero elements."""
    if len(dim) == self.ndim and self.__class__ is np.ndarray:
        return np.int64(np.count_nonzero(self))
    return np.add.reduce(self != 0, axis=dim, dtype=np.int64)


def truth(self: Any, dim: Dims, keepdim: bool, every: bool) -> Any:
    """Return whether all, or any, of the elements are nonzero."""
    return (protocols.every if every else protocols.some)(self, dim, keepdim)


# -- extremes -----------------------------------------------------------------------------------


def maximum(self: Any) -> Any:
    """Return the largest of all elements."""
    return largest(self)


def minimum(self: Any) -> Any:
    """Return the smallest of all elements."""
    return smallest(self)


def amax(self: Any, dim: Dims, keepdim: bool) -> Any:
    """Return the largest elements along dimensions."""
    return largest(self, dim, keepdim)


def amin(self: Any, dim: Dims, keepdim: bool) -> Any:
    """Return the smallest elements along dimensions."""
    return smallest(self, dim, keepdim)


def argmax(self: Any, dim: int | None, keepdim: bool) -> Any:
    """Return the first position of the largest element, or of a NaN."""
    if self.ndim == 0:
        return zeros(self, (), np.int64)
    return np.argmax(self, axis=dim, keepdims=keepdim)


def argmin(self: Any, dim: int | None, keepdim: bool) -> Any:
    """Return the first position of the smallest element, or of a NaN."""
    if self.ndim == 0:
        return zeros(self, (), np.int64)
    return np.argmin(self, axis=dim, keepdims=keepdim)


def along(indices: Any, dim: int) -> tuple[Any, ...]:
    """Return the full index of an array for `indices` along `dim`."""
    if indices.ndim == 0:
        return (indices,)
    places = places_of(indices, indices.shape)
    return (*places[:dim], indices, *places[dim:])


def places_of(like: Any, shape: Dims) -> tuple[Any, ...]:
    """Return the positions along each dimension of `shape`, as arrays that broadcast to it."""
    if like.__class__ is np.ndarray and math.prod(shape) <= _FEW:
        return _few_places(shape)
    return _places(like, shape)


def _places(like: Any, shape: Dims) -> tuple[Any, ...]:
    last = len(shape) - 1
    return tuple([arange(like, n).reshape(n, *[1] * (last - i)) for i, n in enumerate(shape)])


_FEW = 1024


@functools.lru_cache(64)
def _few_places(shape: Dims) -> tuple[Any, ...]:
    # cached: reading a small array is faster than making a range
    places = _places(np.empty(0), shape)
    for array in places:
        array.flags.writeable = False
    return places


_UNSIGNED = {
    np.dtype(np.int64): np.uint64,
    np.dtype(np.int32): np.uint32,
    np.dtype(np.uint8): np.uint8,
}


def are_within(positions: Any, size: int) -> bool:
    """Return whether integers are positions in a dimension of `size`, none of them negative."""
    if not positions.size:
        return True
    unsigned = _UNSIGNED.get(positions.dtype) if positions.__class__ is np.ndarray else None
    if unsigned is None:
        return not (positions.min() < 0 or positions.max() >= size)
    # as unsigned, negative numbers exceed any size; of few, argmax finds the largest faster
    positions = positions.view(unsigned)
    return bool(positions.item(positions.argmax()) < size)


def pick(self: Any, indices: Any, dim: int, keepdim: bool) -> Any:
    """Take one element along `dim` for each position of the other dimensions."""
    if self.ndim == 0:
        return self.copy()
    if keepdim:
        indices = indices.squeeze(dim)
    picked = self[along(indices, dim)]
    return unsqueeze(picked, dim) if keepdim else picked


def at_index(indices: Any, dim: int, shape: Dims, keepdim: bool) -> Any:
    """Return the elements that `pick` takes from an array of `shape`, as a mask."""
    if not keepdim:
        indices = unsqueeze(indices, dim)
    sizes = [-1 if i == dim else 1 for i in range(len(shape))]
    places = arange(indices, shape[dim]).reshape(sizes)
    return places == indices
