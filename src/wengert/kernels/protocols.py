"""Layer 1 · kernels: functions that NumPy's protocols do not dispatch.

NOTE [arrays of any library]
NumPy's functions dispatch on arrays of other libraries (`__array_ufunc__`, `__array_function__`),
and kernels consist of these functions and of methods that the libraries share. Three kinds of
function are not dispatched: those that create an array from none, those that convert to an array,
and methods of ufuncs that a library may lack. They are defined here, with a first argument whose
library is used.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels.reducing import largest as _largest
from wengert.kernels.reducing import smallest as _smallest

_every: Any = np.logical_and.reduce
_some: Any = np.logical_or.reduce
_PLAIN = frozenset({np.ndarray, np.float64, np.float32})
"""The classes of most arrays, found quicker than by a call, for the gradient of every ``x[i]``."""


def is_numpys(array: Any) -> bool:
    """Return whether an array or number is NumPy's or Python's."""
    return array.__class__ is np.ndarray or not hasattr(array, "__array_function__")


# -- new arrays -----------------------------------------------------------------------------------


def zeros(like: Any, shape: Any, dtype: Any) -> Any:
    """Return zeros."""
    plain = like.__class__ in _PLAIN or is_numpys(like)
    return np.zeros(shape, dtype) if plain else np.zeros(shape, dtype, like=like)


def empty(like: Any, shape: Any, dtype: Any) -> Any:
    """Return uninitialised memory."""
    return np.empty(shape, dtype) if is_numpys(like) else np.empty(shape, dtype, like=like)


def ones(like: Any, shape: Any, dtype: Any) -> Any:
    """Return ones."""
    return full(like, shape, 1, dtype)


def full(like: Any, shape: Any, value: Any, dtype: Any) -> Any:
    """Return an array of one number."""
    made = empty(like, shape, dtype)
    made.fill(value)
    return made


def arange(like: Any, *bounds: int, dtype: Any = np.intp) -> Any:
    """Return a range of numbers."""
    if is_numpys(like):
        return np.arange(*bounds, dtype=dtype)
    return np.arange(*bounds, dtype=dtype, like=like)


def beside(like: Any, table: Any) -> Any:
    """Send an array of NumPy, which a kernel made from shapes, to where `like` is."""
    return table if is_numpys(like) else np.asarray(table, like=like)


def floats(text: str) -> tuple[float, ...]:
    """Return the numbers in a text, such as the coefficients of a polynomial."""
    return tuple(map(float, text.split()))


@lru_cache(maxsize=256)
def _numbers(char: str, *values: float) -> tuple[Any, ...]:
    made = [np.array(value, char) for value in values]
    for array in made:
        array.flags.writeable = False
    return tuple(made)


def numbers(like: Any, *values: float) -> tuple[Any, ...]:
    """Return constants, as arrays if `like` is one of floats: NumPy is twice as fast with them."""
    if like.__class__ is np.ndarray and like.dtype.char in "fd":
        return _numbers(like.dtype.char, *values)
    return values


# -- arrays of what may be a number ---------------------------------------------------------------


def asarray(self: Any, dtype: Any = None) -> Any:
    """Return an array unchanged, numbers as arrays."""
    return np.asarray(self, dtype) if is_numpys(self) else np.asarray(self, dtype, like=self)


def contiguous(self: Any) -> Any:
    """Return an array in C order, copied if necessary."""
    # np.ascontiguousarray would give one without dimensions a dimension
    if is_numpys(self):
        return np.asarray(self, order="C")
    return np.asarray(self, order="C", like=self)


def copied(self: Any, order: Any = "K", dtype: Any = None) -> Any:
    """Return a copy in a given order."""
    if is_numpys(self):
        return np.array(self, dtype, copy=True, order=order)
    return np.array(self, dtype, copy=True, order=order, like=self)


def all_finite(self: Any) -> bool:
    """Return whether no element is infinite or NaN."""
    # counting takes a quarter of the time of `all`
    return bool(np.count_nonzero(np.isfinite(self)) == self.size)


# -- reductions ------------------------------------------------------------------------------------


def largest(self: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the largest elements."""
    if is_numpys(self):
        return _largest(self, axis, keepdims)
    return np.max(self, axis=axis, keepdims=keepdims)


def smallest(self: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the smallest elements."""
    if is_numpys(self):
        return _smallest(self, axis, keepdims)
    return np.min(self, axis=axis, keepdims=keepdims)


def every(self: Any, axis: Any, keepdims: bool) -> Any:
    """Return whether all elements are nonzero."""
    if is_numpys(self):
        return _every(self, axis=axis, keepdims=keepdims)
    return np.all(self, axis=axis, keepdims=keepdims)


def some(self: Any, axis: Any, keepdims: bool) -> Any:
    """Return whether any element is nonzero."""
    if is_numpys(self):
        return _some(self, axis=axis, keepdims=keepdims)
    return np.any(self, axis=axis, keepdims=keepdims)
