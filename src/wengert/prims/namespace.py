"""Layer 2 · prims: namespaces, which have an attribute for every primitive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.prims.record import Primitive
from wengert.prims.table import TABLE


class Namespace:
    """Every primitive by name, as what `make` returns for it when it is first used."""

    def __init__(self, make: Callable[[Primitive], Any]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        prim = TABLE.get(name)
        if prim is None:
            raise AttributeError(f"there is no primitive {name!r}")
        made = self._make(prim)
        setattr(self, name, made)
        return made
