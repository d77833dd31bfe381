"""Layer 9 · compat: `jax.ref`: mutable references to arrays.

The arrays themselves stay immutable: a write replaces the array in the reference.
"""

from __future__ import annotations

from typing import Any

from wengert.compat.jax.array import asarray
from wengert.compat.jax.classes import Array
from wengert.compat.jax.words import refusal


class Ref:
    """A mutable reference to an array: ``ref[...]`` reads, ``ref[...] = x`` writes.

    Examples
    --------
    >>> ref = jax.new_ref(jax.numpy.zeros(3))
    >>> ref[1] = 10.0
    >>> ref[...] += 1
    >>> ref[:2]
    Array([ 1., 11.], dtype=float32)
    """

    def __init__(self, value) -> None:
        self._value: Any = value

    def _held(self) -> Any:
        if self._value is None:
            raise ValueError("the Ref has been frozen: it holds no array any more")
        return self._value

    def __getitem__(self, index) -> Any:
        return self._at(index).get()

    def __setitem__(self, index, value) -> None:
        self._value = self._at(index).set(self._fitting(value, "swap"))

    def _at(self, index) -> Any:
        """Return the place of an index, whose numbers are within bounds."""
        held = self._held()
        numbers = index if isinstance(index, tuple) else (index,)
        for number, size in zip(numbers, held.shape, strict=False):
            if number is Ellipsis:
                break
            if isinstance(number, int) and number >= size:
                raise refusal(ValueError, "Out of bound indexer", number, size)
        return held.at[index]

    def _fitting(self, value, what: str) -> Any:
        """Return what is written as an array; only a weak number or an integer is converted."""
        array, dtype = asarray(value), self._held().dtype
        kinds = array.dtype.kind + dtype.kind
        converted = kinds in ("ii", "iu", "ui", "uu") or (array.weak_type and kinds == "ff")
        if array.dtype != dtype and not converted:
            raise refusal(ValueError, "Invalid dtype for", what, dtype, array.dtype)
        return array

    def get(self) -> Any:
        """Return the whole array."""
        return self._held()

    def set(self, value) -> None:
        """Write the whole array."""
        self[...] = value

    def __len__(self) -> int:
        return len(self._held())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._held(), name)

    def __repr__(self) -> str:
        return f"Ref({repr(self._value).removeprefix('Array').strip('()')})"


def new_ref(init_val, *, memory_space=None, kind=None) -> Ref:
    """Make a reference that holds an array."""
    if isinstance(init_val, Ref):
        raise TypeError("new_ref: a Ref does not hold a Ref")
    value = init_val if isinstance(init_val, Array) else asarray(init_val)
    return Ref(value)


def freeze(ref: Ref) -> Any:
    """Return the array of a reference, which cannot be used after that."""
    value, ref._value = ref._held(), None
    return value


def get(ref: Ref, idx=..., **options) -> Any:
    """Return ``ref[idx]``."""
    return ref[... if idx is None else idx]


def set(ref: Ref, idx=..., value=None, **options) -> None:
    """Write ``ref[idx] = value``."""
    ref[... if idx is None else idx] = value


def swap(ref: Ref, idx=..., value=None, **options) -> Any:
    """Write a value, and return the old one."""
    before = get(ref, idx)
    set(ref, idx, value)
    return before


def addupdate(ref: Ref, idx=..., value=None, **options) -> None:
    """Add to the elements; an element indexed twice receives both."""
    place = ref._at(... if idx is None else idx)
    ref._value = place.add(ref._fitting(value, "addupdate"))
