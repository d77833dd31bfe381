"""Layer 1 · kernels: values combined, or written, at indexed positions of an array."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.base.extras import scipy_module
from wengert.kernels.protocols import arange, copied, is_numpys
from wengert.kernels.reduce import are_within

Shape = tuple[int, ...]


_FEW = 256
"""The number of positions up to which their parts that the index does not decide are kept."""
_MANY = 4096
"""The number of elements from which SciPy adds rows: ten times as fast, once it is imported."""


def flat_places(index: Any, counted: Shape, shape: Shape, dim: int) -> Any:
    """Return the flat positions that an index names in an array of `shape`.

    There is one for each element of an array of the shape `counted`, to which `index` broadcasts.
    """
    if not shape:
        return index.reshape(-1)
    if index.shape == counted and index.size <= _FEW and index.__class__ is np.ndarray:
        factor, others = _known(counted, shape, dim)
        return np.multiply(index, factor).reshape(-1) + others
    stride = math.prod(shape[dim + 1 :])
    places = np.multiply(index, stride, dtype=np.intp) + _others(index, counted, shape, dim)
    return places.reshape(-1)


def _others(like: Any, counted: Shape, shape: Shape, dim: int) -> Any:
    """Return the positions of `flat_places`, but 0 along `dim`."""
    total: Any = 0
    for d, size in enumerate(counted):
        if d != dim:
            steps = arange(like, size) * math.prod(shape[d + 1 :])
            total = total + steps.reshape((size,) + (1,) * (len(counted) - d - 1))
    return total


@lru_cache(64)
def _known(counted: Shape, shape: Shape, dim: int) -> Any:
    others = _others(np.empty(0), counted, shape, dim)
    # NumPy takes half the time with an array as with a Python number
    factor = np.array(math.prod(shape[dim + 1 :]), np.intp)
    return factor, np.broadcast_to(others, counted).reshape(-1)


def corner(src: Any, index: Any) -> Any:
    """Return the part of `src` that an index, which may be smaller, reads."""
    return src if src.shape == index.shape else src[tuple([slice(n) for n in index.shape])]


def add_rows(target: Any, positions: Any, rows: Any) -> None:
    """Add each of `rows`, in order, to the row of `target`, in C order, that `positions` names."""
    if not is_numpys(target):
        np.add.at(target, positions, rows)
        return
    flat, (height, width), count = target.reshape(-1), target.shape, len(positions)
    if width > 1 and rows.size >= _MANY and target.dtype.char in "fdFD":
        product = _sparse_product()
        if product is not None and are_within(positions, height):
            # the rows are those of a sparse matrix of ones, times `rows`
            starts, ones = np.arange(count + 1), np.ones(count, target.dtype)
            columns = np.ascontiguousarray(positions, starts.dtype)
            given = np.ascontiguousarray(rows, target.dtype).reshape(-1)
            product(height, count, width, starts, columns, ones, given, flat)
            return
    places = positions if width == 1 else positions[:, None] * width + arange(positions, width)
    np.add.at(flat, places.reshape(-1), rows.reshape(-1))


@cache
def _sparse_product() -> Any:
    """Return SciPy's function that adds a sparse matrix times rows to an array, or None."""
    try:
        return scipy_module("sparse._sparsetools", "index_add").csc_matvecs
    except (ImportError, AttributeError):
        return None


def _combining(reduce: str) -> np.ufunc:
    """Return the ufunc that combines two values."""
    match reduce:
        case "sum" | "mean":
            return np.add
        case "prod":
            return np.multiply
        case "amax":
            return np.maximum
        case "amin":
            return np.minimum
    raise ValueError(f"no way to combine values is called {reduce}")


# NumPy reports a NaN among extremes as invalid here, but not elsewhere
_extreme = errstate(invalid="ignore")(np.ufunc.at)


def _nothing(dtype: Any, reduce: str) -> Any:
    """Return the identity element of the combination."""
    if reduce[0] != "a":
        return 1 if reduce == "prod" else 0
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max
    return -np.inf if reduce == "amax" else np.inf


def scatter_reduce(
    self: Any, index: Any, src: Any, dim: int, reduce: str, include_self: bool
) -> Any:
    """Return a copy of self with the elements of `src` combined into it where `index` points.

    Without `include_self` the old elements there do not count.
    """
    places = flat_places(index, index.shape, self.shape, dim)
    return _combined(self, places, corner(src, index).reshape(-1), reduce, include_self)


def index_reduce(
    self: Any, index: Any, source: Any, dim: int, reduce: str, include_self: bool
) -> Any:
    """Return a copy of self with the slices of `source` combined into those of `index`."""
    if self.ndim:
        index = index.reshape((1,) * dim + (index.size,) + (1,) * (self.ndim - dim - 1))
    places = flat_places(index, source.shape, self.shape, dim)
    return _combined(self, places, source.reshape(-1), reduce, include_self)


def _combined(self: Any, places: Any, values: Any, reduce: str, include_self: bool) -> Any:
    result = copied(self, "C")
    flat = result.reshape(-1)
    if not include_self:
        flat[places] = _nothing(self.dtype, reduce)
    (_extreme if reduce[0] == "a" else np.ufunc.at)(_combining(reduce), flat, places, values)
    if reduce == "mean":
        count = np.bincount(places, minlength=flat.size)
        if include_self:
            count += 1
        else:
            np.maximum(count, 1, out=count)
        divide = np.floor_divide if flat.dtype.kind in "iu" else np.true_divide
        flat[...] = divide(flat, count.astype(flat.dtype))
    return result


def scatter_others(self: Any, index: Any, src: Any, dim: int, include_self: bool) -> Any:
    """Return, for each value multiplied into a position, the product of the others there."""
    values = corner(src, index).reshape(-1)
    places = flat_places(index, index.shape, self.shape, dim)
    # a factor that cannot be divided out again is counted in place of being multiplied
    kinds = {0.0: values == 0, np.inf: np.isinf(values), np.nan: np.isnan(values)}
    kinds = {factor: those for factor, those in kinds.items() if np.count_nonzero(those)}
    if kinds:
        signs = 1 if values.dtype.kind == "c" else np.copysign(1, values)
        values = np.where(np.logical_or.reduce([*kinds.values()]), signs, values)
    product = self.reshape(-1).copy()
    if not include_self:
        product[places] = 1
    np.multiply.at(product, places, values)
    others = product[places] / values
    for factor, those in kinds.items():
        counts = np.bincount(places[those], minlength=product.size)
        left = counts[places] > those
        others[left] = others[left] * factor if factor else 0.0
    return others.reshape(index.shape)


def through(view: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that writes into a view of its first argument."""

    def kernel(self: Any, src: Any, **params: Any) -> Any:
        result = copied(self, "C")
        view(result, **params)[...] = src
        return result

    return kernel
