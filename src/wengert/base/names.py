"""Layer 0 · base: the names that `dir` shows of a module, and the package's installed names."""

from __future__ import annotations

from collections.abc import Callable, Iterable

INSTALLED: dict[str, str] = {}
"""``wengert``, by each name that the package is installed under (`compat.install`)."""


def shows(names: Iterable[str]) -> Callable[[], list[str]]:
    """Return a module's ``__dir__`` that lists `names` rather than all of its globals."""
    return lambda: sorted(names)
