"""Layer 5 · ops: the named tuples that functions with several results return.

They are tuples with names: ``values, indices = t.max(dim=0)`` works, and so does
``t.max(dim=0).indices``.
"""

# the classes have the names of the functions, as in PyTorch

from __future__ import annotations

import importlib
from operator import itemgetter
from typing import Any, ClassVar

__all__ = ["Results", "aminmax", "max", "min"]

_LATER = ("named_results", "named_parts", "linear_types", "spectral_types")
"""The modules of `wengert.ops` that define the others."""


def __getattr__(name: str) -> Any:
    """The tuples of functions that are imported when they are first used."""
    if not name.startswith("_"):
        for module in _LATER:
            found = vars(importlib.import_module(f"wengert.ops.{module}")).get(name)
            if isinstance(found, type) and issubclass(found, Results):
                return globals().setdefault(name, found)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    later = [vars(importlib.import_module(f"wengert.ops.{module}")) for module in _LATER]
    found = {name: value for names in (*later, globals()) for name, value in names.items()}
    return sorted(
        name
        for name, value in found.items()
        if isinstance(value, type) and issubclass(value, Results) and name[0] != "_"
    )


class Results(tuple[Any, ...]):
    """A tuple whose entries have names: ``class sort(Results, fields="values indices")``."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, fields: str = "") -> None:
        cls.__module__ = "wengert.return_types"
        for place, name in enumerate(fields.split()):
            setattr(cls, name, property(itemgetter(place)))
        cls.__match_args__ = (*fields.split(),) or cls.__match_args__  # type: ignore[misc]

    def __repr__(self) -> str:
        entries = zip(self.__match_args__, self, strict=True)
        lines = ",\n".join(f"{name}={value!r}" for name, value in entries)
        return f"torch.return_types.{type(self).__name__}(\n{lines})"


class max(Results, fields="values indices"):
    """The largest elements along a dimension and their positions."""

    __slots__ = ()


class min(Results, fields="values indices"):
    """The smallest elements along a dimension and their positions."""

    __slots__ = ()


class aminmax(Results, fields="min max"):
    """The smallest and the largest elements."""

    __slots__ = ()
