"""Layer 5 · ops: the named tuples that functions with several results return.

They are tuples with names: ``values, indices = t.max(dim=0)`` works, and so does
``t.max(dim=0).indices``.
"""

# the classes have the names of the functions, as in PyTorch

from __future__ import annotations

from operator import itemgetter
from typing import Any, ClassVar

__all__ = ["aminmax", "max", "min"]


class _Results(tuple[Any, ...]):
    """A tuple whose entries have names."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        entries = zip(self.__match_args__, self, strict=True)
        lines = ",\n".join(f"{name}={value!r}" for name, value in entries)
        return f"torch.return_types.{type(self).__name__}(\n{lines})"


class max(_Results):
    """The largest elements along a dimension and their positions."""

    __slots__ = ()
    __match_args__ = ("values", "indices")
    values = property(itemgetter(0))
    indices = property(itemgetter(1))


class min(_Results):
    """The smallest elements along a dimension and their positions."""

    __slots__ = ()
    __match_args__ = ("values", "indices")
    values = property(itemgetter(0))
    indices = property(itemgetter(1))


class aminmax(_Results):
    """The smallest and the largest elements."""

    __slots__ = ()
    __match_args__ = ("min", "max")
    min = property(itemgetter(0))
    max = property(itemgetter(1))
