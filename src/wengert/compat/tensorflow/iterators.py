"""Layer 9 · compat: iterations over datasets, and optional elements."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.compat.tensorflow import elements as E
from wengert.compat.tensorflow.errors import OutOfRangeError
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.words import public, refusal


class Optional:
    """A value, or none.

    Examples
    --------
    >>> iterator = iter(tf.data.Dataset.range(1))
    >>> found = [iterator.get_next_as_optional() for _ in range(2)]
    >>> [bool(one.has_value()) for one in found]
    [True, False]
    """

    def __init__(self, held: list[Any]) -> None:
        self._held = held

    @classmethod
    def from_value(cls, value) -> Optional:
        """Return an optional with a value."""
        return cls([E.mapped(E.tensor, value)])

    @classmethod
    def empty(cls, element_spec=None) -> Optional:
        """Return an optional without a value."""
        return cls([])

    def has_value(self, name=None) -> Any:
        """Return whether there is a value."""
        return V.constant_of(np.bool_(bool(self._held)))

    def get_value(self, name=None) -> Any:
        """Return the value.

        Raises
        ------
        InvalidArgumentError: If there is none.
        """
        if not self._held:
            raise V.invalid("The given optional does not have a value.", "OptionalGetValue")
        return self._held[0]


class Iteration:
    """An iterator over a dataset."""

    def __init__(self, elements: Iterator[Any], begin: Callable[[], Iterator[Any]]) -> None:
        self._elements = elements
        self._begin = begin
        self._taken = 0
        self._failed = False

    def __iter__(self) -> Iteration:
        return self

    def __next__(self) -> Any:
        try:
            found = next(self._elements)
        except StopIteration:
            raise
        except Exception as error:
            if getattr(self._elements, "gi_frame", self) is None:
                self._elements = itertools.repeat(error)
                self._failed = True
            raise
        if self._failed:
            raise refusal(RuntimeError, "an error ended") from found
        self._taken += 1
        return found

    def _skip_to(self, place: int) -> None:
        """Skip to a position that a checkpoint recorded."""
        self._elements = itertools.islice(self._begin(), place, None)
        self._taken = place

    def get_next_as_optional(self) -> Any:
        """Return the next element in an `Optional`, which is empty after the last one."""
        return Optional(list(itertools.islice(self, 1)))

    def get_next(self) -> Any:
        """Return the next element, or raise an OutOfRangeError."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("End of sequence [Op:IteratorGetNext]") from None


__all__ = public(globals())
