"""Layer 0 · base: `Size`, the shape of a tensor as users see it."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex, overload


class Size(tuple[int, ...]):
    """A shape: a tuple of integers that prints as PyTorch's and knows its number of elements.

    Slices, sums and multiples of a `Size` are `Size` again.

    Raises
    ------
    TypeError: If an item is not an integer.

    Examples
    --------
    >>> s = wg.Size([2, 3])
    >>> s, s.numel(), s[1:], s + (4,)
    (torch.Size([2, 3]), 6, torch.Size([3]), torch.Size([2, 3, 4]))
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[SupportsIndex] = ()) -> Size:
        """Make a size from any iterable of integers."""
        items = tuple(sizes)
        for i, item in enumerate(items):
            if not isinstance(item, int) and not hasattr(item, "__index__"):
                raise TypeError(
                    f"torch.Size() takes an iterable of 'int' (item {i} is '{type(item).__name__}')"
                )
        return _sized(operator.index(item) for item in items)

    def numel(self) -> int:
        """Return the number of elements of a tensor of this shape.

        Examples
        --------
        >>> wg.Size([2, 3]).numel(), wg.Size([]).numel()
        (6, 1)
        """
        return math.prod(self)

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...
    def __getitem__(self, index: Any) -> Any:
        item: Any = tuple.__getitem__(self, index)
        return _sized(item) if isinstance(index, slice) else item

    def __add__(self, other: Any) -> Any:
        return _sized((*self, *other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return _sized((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: SupportsIndex) -> Size:
        return _sized(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)


def _sized(items: Iterable[int]) -> Size:
    return tuple.__new__(Size, items)
