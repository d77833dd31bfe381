"""Layer 0 · base: names: what `dir` shows of a module, and what the package is installed as."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=type)

INSTALLED: dict[str, str] = {}
"""Names under which the package is installed, as ``torch``, and the package (`compat.install`)."""
SHOWN: list[type] = []
"""Classes that are printed with the name that the package is installed under."""
RENAMED: list[Callable[[type], None]] = []
"""What is to be done with each of these while the package is installed."""


def shown(kind: K) -> K:
    """Note a class that is printed with the name that the package is installed under."""
    SHOWN.append(kind)
    for rename in RENAMED:
        rename(kind)
    return kind


def shows(names: Iterable[str]) -> Callable[[], list[str]]:
    """The function ``__dir__`` of a module that shows `names`, and not what it is made of."""
    return lambda: sorted(names)
