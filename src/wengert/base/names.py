"""Layer 0 · base: the public names of a module, and the package's installed names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

INSTALLED: dict[str, str] = {}
"""``wengert``, by each name that the package is installed under (`compat.install`)."""


def shows(names: Iterable[str]) -> Callable[[], list[str]]:
    """Return a module's ``__dir__`` that lists `names` rather than all of its globals."""
    return lambda: sorted(names)


def defined(namespace: dict[str, Any], more: str = "", without: str = "") -> list[str]:
    """Return the public classes and functions that a module defines, and instances of its classes.

    So no list of names repeats the definitions: ``__all__ = defined(globals())`` ends a module.

    Parameters
    ----------
    more : str. Constants, and names that are defined elsewhere.
    without : str. Names that only other modules of the package use.
    """
    home = namespace["__name__"]
    names = [name for name, value in namespace.items() if getattr(value, "__module__", "") == home]
    chosen = {name for name in names if not name.startswith("_")}
    return sorted(chosen - {*without.split()} | {*more.split()})


def imported(namespace: dict[str, Any], more: str = "") -> list[str]:
    """Return the public names that a package has imported from its modules, and `more`."""
    home = f"{namespace['__name__']}."
    homes = {name: str(getattr(value, "__module__", "")) for name, value in namespace.items()}
    found = {name for name, own in homes.items() if own.startswith(home) and name[0] != "_"}
    return sorted(found | {*more.split()})
