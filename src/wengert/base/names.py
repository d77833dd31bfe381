"""Layer 0 · base: what `dir`, and with it completion, shows of a module."""

from __future__ import annotations

from collections.abc import Callable, Iterable

__all__ = ["shows"]


def shows(names: Iterable[str]) -> Callable[[], list[str]]:
    """The function ``__dir__`` of a module that shows `names`, and not what it is made of."""
    return lambda: sorted(names)
