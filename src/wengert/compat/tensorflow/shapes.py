"""Layer 9 · compat: `TensorShape`, TensorFlow's type of shapes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from wengert.compat.kit.namespaces import defined
from wengert.tape.base import TensorBase


class TensorShape:
    """The shape of a tensor: a sequence of sizes, comparable with lists and tuples.

    In a partially known shape a size may be None; ``TensorShape(None)`` has an unknown number of
    dimensions. The shapes of tensors are fully known.

    Examples
    --------
    >>> tf.ones([2, 3]).shape
    TensorShape([2, 3])
    >>> tf.ones([2, 3]).shape == (2, 3), tf.ones([2, 3]).shape.as_list()
    (True, [2, 3])
    """

    __slots__ = ("_dims",)

    def __init__(self, dims=None) -> None:
        if isinstance(dims, TensorShape):
            self._dims: tuple[Any, ...] | None = dims._dims
        elif dims is None:
            self._dims = None
        elif isinstance(dims, int):
            self._dims = (dims,)
        else:
            self._dims = tuple(None if size is None else int(size) for size in dims)
            for size in self._dims:
                if size is not None and size < 0:
                    raise ValueError(f"Dimension {size} must be >= 0")

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None if unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[Any] | None:
        """The sizes as a list, or None if the rank is unknown."""
        return None if self._dims is None else list(self._dims)

    def as_list(self) -> list[Any]:
        """Return the sizes as a list.

        Raises
        ------
        ValueError: If the number of dimensions is unknown.
        """
        return list(self._known("as_list() is not defined on an unknown TensorShape."))

    def _known(self, refusal: str) -> Any:
        if self._dims is None:
            raise ValueError(refusal)
        return self._dims

    def num_elements(self) -> int | None:
        """Return the number of elements, or None if unknown."""
        if not self.is_fully_defined():
            return None
        return math.prod(self._dims or ())

    def is_fully_defined(self) -> bool:
        """Return whether all sizes are known."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """Raise a ValueError unless all sizes are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other) -> bool:
        """Return whether there is a shape that matches both."""
        other = TensorShape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims, strict=True)
        )

    def assert_is_compatible_with(self, other) -> None:
        """Raise a ValueError unless there is a shape that matches both."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        """Raise a ValueError unless there are `rank` dimensions."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """Return this shape if it has `rank` dimensions, else raise a ValueError."""
        self.assert_has_rank(rank)
        return self if self._dims is not None else TensorShape([None] * rank)

    def merge_with(self, other) -> TensorShape:
        """Return the most specific shape compatible with both."""
        other = TensorShape(other)
        self.assert_is_compatible_with(other)
        if self._dims is None or other._dims is None:
            return other if self._dims is None else self
        return TensorShape(
            [b if a is None else a for a, b in zip(self._dims, other._dims, strict=True)]
        )

    def concatenate(self, other) -> TensorShape:
        """Return the sizes of this shape followed by those of the other."""
        other = TensorShape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def __add__(self, other) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __len__(self) -> int:
        return len(self._known("Cannot take the length of shape with unknown rank."))

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._known("Cannot iterate over a shape with unknown rank."))

    def __getitem__(self, key) -> Any:
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else None
        found = self._dims[key]
        return TensorShape(found) if isinstance(key, slice) else found

    def __eq__(self, other) -> bool:
        if other is self:
            return True
        if not (other is None or isinstance(other, TensorShape | list | tuple | int)):
            return NotImplemented
        try:
            return self._dims == TensorShape(other)._dims
        except (TypeError, ValueError):
            return False

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({'None' if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        return (
            f"({self._dims[0]},)"
            if len(self._dims) == 1
            else f"({', '.join(map(str, self._dims))})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self._dims,)


def sizes(shape) -> tuple[int, ...]:
    """Convert a shape (number, sequence, `TensorShape` or tensor) to a tuple of ints."""
    if isinstance(shape, TensorBase):
        values = shape._payload.tolist()
        return tuple(values) if isinstance(values, list) else (values,)
    if isinstance(shape, Sequence | TensorShape) or hasattr(shape, "__iter__"):
        return tuple(int(size) for size in shape)
    return (int(shape),)


__all__ = defined(globals())
