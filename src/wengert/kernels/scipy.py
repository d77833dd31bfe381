"""Layer 1 · kernels: the special functions that SciPy computes, and its LAPACK."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from wengert.base.extras import scipy_module
from wengert.kernels.protocols import is_numpys


def ufunc(name: str, operation: str, output: int | None = None) -> Callable[..., Any]:
    """Return a kernel that applies a function of ``scipy.special`` and keeps the dtype.

    Parameters
    ----------
    name: SciPy's name of the function, which is imported on the first call.
    operation: The public name, for the message where SciPy is missing.
    output: The index of the result to return.
    """

    def kernel(self: Any, *others: Any) -> Any:
        known, places = _known(scipy_module("special", operation), name)
        result = known(*_whole([self, *others], places)) if places else known(self, *others)
        if output is not None:
            result = result[output]
        dtype = others[-1].dtype if others else self.dtype
        return result if result.dtype == dtype else result.astype(dtype)

    return kernel


@functools.cache
def _known(module: Any, name: str) -> tuple[Callable[..., Any], list[int]]:
    """Return a function of SciPy, and the positions of arguments that may be integers."""
    found = inspect.unwrap(getattr(module, name))
    places = zip(*getattr(found, "types", ()), strict=False)
    return found, [i for i, kinds in enumerate(places) if not {"l", "q"}.isdisjoint(kinds)]


def _whole(args: list[Any], places: list[int]) -> list[Any]:
    """Return the arguments, those at `places` as integers where they are whole numbers.

    SciPy has other code for integers: recurrences of polynomials, and larger counts.
    """
    for i in places:
        with np.errstate(invalid="ignore"):
            numbers = args[i].astype(np.int64)
        if np.all(numbers == args[i]):
            args[i] = numbers
    return args


def distribution(name: str, function: str, order: tuple[int, ...]) -> Callable[..., Any]:
    """Return a kernel of a function of ``scipy.stats``, whose arguments come in another `order`."""

    def kernel(*args: Any) -> Any:
        known = getattr(scipy_module("stats", f"scipy.stats.{name}"), name)
        return np.asarray(getattr(known, function)(*[args[i] for i in order]), args[0].dtype)

    return kernel


def quick(
    few: Callable[..., Any],
    many: Callable[..., Any],
    upto: int,
    least: Any = np.float32,
    always: bool = False,
) -> Callable[..., Any]:
    """Return a kernel of one array that is `few` for small arrays, `many` for others.

    A function written in NumPy makes dozens of passes over an array. That is fast for a large
    array; for a small one, a single call of SciPy is faster, if SciPy is installed.

    Parameters
    ----------
    upto: The size up to which an array is small.
    least: The narrowest dtype that `many` computes in.
    always: Whether `few` takes all arrays in double precision, where it is more accurate.
    """

    def kernel(self: Any) -> Any:
        small = self.size <= upto or (always and self.dtype.char == "d")
        if small or not is_numpys(self):
            try:
                return few(self)
            except ImportError:
                pass
        x = np.asarray(self)
        if x.dtype.kind not in "f":
            raise TypeError(f"not defined for {x.dtype}")
        with np.errstate(all="ignore"):
            result = many(x.astype(np.promote_types(x.dtype, least), copy=False))
        return result.astype(x.dtype, copy=False)[()]

    return kernel


LARGE = 32
"""The size from which matrices are left to SciPy's LAPACK: loading it takes long."""
BLOCK = 64
"""The number of columns that LAPACK processes together."""


@cache
def _linalg(part: str) -> Any:
    """Return a module of SciPy's linear algebra, or None if NumPy replaces it."""
    try:
        return scipy_module(f"linalg.{part}", "linalg")
    except ImportError:
        return None


def routine_of(part: str, name: str, dtype: Any) -> Any:
    """Return the BLAS or LAPACK routine for a dtype; None without SciPy or for other dtypes."""
    module, letter = _linalg(part), {"f": "s", "d": "d", "F": "c", "D": "z"}.get(dtype.char)
    return None if module is None or letter is None else getattr(module, letter + name)
