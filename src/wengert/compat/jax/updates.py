"""Layer 9 · compat: ``x.at[index].set(y)`` and other out-of-place updates.

Importing this module puts `at` on the class.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from wengert.compat.jax.array import Array, asarray, convert, made, result_type
from wengert.compat.jax.indexing import Places, absent, checked_mode, nearest, parts_of
from wengert.compat.jax.operators import power
from wengert.compat.jax.words import refusal
from wengert.ops.expand import broadcast_to
from wengert.ops.like import ones_like
from wengert.tape.record import T
from wengert.tape.sites import warn
from wengert.tensor.numpy.ufuncs import call as call_ufunc


class Updates:
    """The attribute ``x.at``, which takes an index."""

    __slots__ = ("array",)

    def __init__(self, array) -> None:
        self.array = array

    def __getitem__(self, index) -> Update:
        return Update(self.array, index)

    def __repr__(self) -> str:
        return f"_IndexUpdateHelper({self.array!r})"


class Update:
    """The object ``x.at[index]``, whose methods return new arrays.

    All take ``mode``, the treatment of out-of-bounds indices. By default `get` takes the nearest
    element, and the other methods drop the value.

    Examples
    --------
    >>> x = jax.numpy.zeros(3)
    >>> x.at[jax.numpy.array([0, 0, 7])].add(1.0)
    Array([2., 0., 0.], dtype=float32)
    """

    __slots__ = ("array", "index")

    def __init__(self, array, index) -> None:
        self.array = array
        self.index = index

    def __repr__(self) -> str:
        return f"_IndexUpdateRef({self.array!r}, {self.index!r})"

    def _places(self, mode, default: str, wrap_negative: bool) -> Places:
        shape = self.array._payload.shape
        return Places(shape, self.index, checked_mode(mode, default), wrap_negative)

    def get(
        self,
        *,
        indices_are_sorted=False,
        unique_indices=False,
        mode=None,
        fill_value=None,
        wrap_negative_indices=True,
        out_sharding=None,
    ) -> Any:
        """Return the elements; with ``mode="fill"``, `fill_value` (NaN) for those out of bounds."""
        x = self.array
        if fill_value is None and checked_mode(mode, "nearest") == "nearest":
            parts = parts_of(self.index, x._payload.shape)
            return _as(nearest(x, parts, wrap_negative_indices), x)
        places = self._places(mode, "fill", wrap_negative_indices)
        if fill_value is None:
            fill_value = absent(x._payload.dtype)
        result = places.of(x, fill_value)
        result.__class__ = x.__class__
        return result

    def set(self, values, **options) -> Any:
        """Set elements to `values`; an element indexed twice gets one of them."""
        return self._written(values, options, None)

    def add(self, values, **options) -> Any:
        """Add `values` to elements, once for each time that an element is indexed."""
        x = self.array
        places = self._located(options)
        wide, given = _fitting(values, x, places.shape)
        if wide._payload.dtype.kind == "b":
            return self._written(values, options, T.bitwise_or)
        return _as(places.put(wide, given, True), x)

    def subtract(self, values, **options) -> Any:
        """Subtract `values` from elements."""
        x, places = self.array, self._located(options)
        wide, given = _fitting(values, x, places.shape)
        return _as(places.put(wide, T.neg(given), True), x)

    sub = subtract

    def multiply(self, values, **options) -> Any:
        """Multiply elements by `values`."""
        return self._written(values, options, T.mul)

    mul = multiply

    def divide(self, values, **options) -> Any:
        """Divide elements by `values`."""
        ones = _as(ones_like(self.array), self.array)
        return self.array / Update(ones, self.index).multiply(values, **options)

    def power(self, values, **options) -> Any:
        """Raise elements to the powers `values`."""
        ones = _as(ones_like(self.array), self.array)
        return power(self.array, Update(ones, self.index).multiply(values, **options))

    def min(self, values, **options) -> Any:
        """Take the minimum of elements and `values`."""
        return self._written(values, options, partial(call_ufunc, np.minimum))

    def max(self, values, **options) -> Any:
        """Take the maximum of elements and `values`."""
        return self._written(values, options, partial(call_ufunc, np.maximum))

    def apply(self, func: Callable[[Any], Any], **options) -> Any:
        """Apply `func` to elements."""
        return self._written(None, options, lambda there, _: func(made(there)))

    def _located(self, options: dict[str, Any]) -> Places:
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise refusal(TypeError, "x.at[...] has no", min(unknown), ", ".join(sorted(_OPTIONS)))
        return self._places(options.get("mode"), "fill", options.get("wrap_negative_indices", True))

    def _written(
        self, values, options: dict[str, Any], rule: Callable[[Any, Any], Any] | None
    ) -> Any:
        """Return the array with `rule` applied to elements and `values`, one at a time."""
        x = self.array
        places = self._located(options)
        done: Any = x
        if values is not None:
            done, values = _fitting(values, x, places.shape)
        for part, chosen in places.rounds():
            given = values if chosen is None or values is None else _chosen(values, chosen)
            new = given if rule is None else rule(part.of(done), given)
            done = made(part.put(done, convert(new, done._payload.dtype)))
        return _as(done, x)


_OPTIONS = frozenset(
    ["indices_are_sorted", "unique_indices", "mode", "wrap_negative_indices", "out_sharding"]
)


def _as(result, x) -> Any:
    """Return a result as an array of the class of `x`."""
    found = convert(result, x._payload.dtype)
    if found is x:
        return x
    found.__class__ = x.__class__
    return found


def _chosen(values, mask) -> Any:
    return T.index(values, indices=(mask,))


def _fitting(values, x, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return `x` in the dtype of the update, and the values in the shape of the elements."""
    given = asarray(values)
    dtype = x._payload.dtype
    joined, weak = result_type(given, x)
    fits = joined == dtype if not (weak and not x.weak_type) else dtype.kind == joined.kind
    if not fits:
        warn(
            "scatter inputs have incompatible types: cannot safely cast value from "
            f"dtype={given._payload.dtype} to dtype={dtype} with "
            "jax_numpy_dtype_promotion=standard. In future JAX releases this will result in an "
            f"error: convert it, with y.astype({dtype.name!r}).",
            FutureWarning,
        )
    wide, given = made(convert(x, joined)), convert(given, joined)
    try:
        return wide, broadcast_to(given, shape)
    except RuntimeError:
        raise refusal(
            ValueError, "Incompatible types for", dtype, list(given._payload.shape), list(shape)
        ) from None


def _at(self) -> Updates:
    """Return ``x.at``: ``x.at[index].set(y)``, ``add``, ``multiply``, ... return updated arrays."""
    return Updates(self)


Array.at = property(_at)
