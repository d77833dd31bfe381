"""Layer 0 · base: names: what `dir` shows of a module, and what the package is installed as."""

from __future__ import annotations

from collections.abc import Callable, Iterable

__all__ = ["INSTALLED", "shows"]

INSTALLED: dict[str, str] = {}
"""Names under which the package is installed, as ``torch``, and the package (`compat.install`)."""


def shows(names: Iterable[str]) -> Callable[[], list[str]]:
    """The function ``__dir__`` of a module that shows `names`, and not what it is made of."""
    return lambda: sorted(names)
