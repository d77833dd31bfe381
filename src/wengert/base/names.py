"""Layer 0 · base: the names that `dir` shows of a module, and the package's installed names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=type)

INSTALLED: dict[str, str] = {}
"""``wengert``, by each name that the package is installed under (`compat.install`)."""
SHOWN: list[type] = []
"""Classes whose printed name follows the name under which the package is installed."""
RENAMED: list[Callable[[type], None]] = []
"""Functions called with each of these classes while the package is installed."""


def shown(kind: K) -> K:
    """Register a class whose printed name follows the name under which the package is installed."""
    SHOWN.append(kind)
    for rename in RENAMED:
        rename(kind)
    return kind


def shows(names: Iterable[str]) -> Callable[[], list[str]]:
    """Return a module's ``__dir__`` that lists `names` rather than all of its globals."""
    return lambda: sorted(names)
