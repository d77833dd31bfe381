"""Layer 9 · compat: `jax.ref`: mutable references to arrays.

The arrays themselves stay immutable: a write replaces the array in the reference.
"""

from __future__ import annotations

from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.jax.array import asarray
from wengert.compat.jax.classes import Array


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
        return self._held()[index]

    def __setitem__(self, index, value) -> None:
        self._value = self._held().at[index].set(value)

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
    ref._value = ref._held().at[... if idx is None else idx].add(value)


fill_sections(globals())
