"""Layer 9 · compat: names of the original's own tape, importable but not usable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Internal:
    """A name of the original's own tape, which packages may import without ever using it."""

    def __init__(self, name: str, cure: str) -> None:
        self._text = (
            f"{name} belongs to the original's tape, and the tape here is wengert's; write {cure}"
        )

    def _refuse(self, *args, **kwargs) -> Any:
        raise NotImplementedError(self._text)

    __call__ = __mro_entries__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


def internals(namespace: dict[str, Any], names: str, cure: str) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a module with internal names, which says what to use instead."""
    module = namespace["__name__"]

    def getattribute(name: str) -> Any:
        if name not in names.split():
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return namespace.setdefault(name, Internal(f"{module}.{name}", cure))

    return getattribute
