"""Layer 9 · compat: namespaces as rows, and what is said of names that are not in them.

NOTE [namespaces of rows]
A namespace of an original is usually a choice of names that are defined elsewhere. It is written as
rows, ``module: name name name``, of the modules that define them; a row may go on, further in, on
the lines below it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["absence", "gathered", "rows_of"]


def rows_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """The modules of rows, each with its names."""
    home, names = "", []
    for line in text.strip().splitlines():
        before, colon, after = line.partition(":")
        if not colon:
            names += line.split()
            continue
        if home:
            yield home, names
        home, names = before.strip(), after.split()
    if home:
        yield home, names


def gathered(namespace: dict[str, Any], root: str, text: str) -> list[str]:
    """Put the names of rows into a namespace, and list them.

    Parameters
    ----------
    namespace : dict
        The ``globals()`` of a module.
    root : str
        The package that the modules are in.
    text : str
        Rows of modules and names (see NOTE [namespaces of rows]).

    Raises
    ------
    AttributeError
        If a module does not define a name.
    """
    listed = []
    for home, names in rows_of(text):
        module = importlib.import_module(f"{root}.{home}")
        for name in names:
            namespace[name] = getattr(module, name)
        listed += names
    return sorted(listed)


def absence(module: str, name: str, said: str, cure: str | None) -> AttributeError:
    """The error for a name that a module does not have.

    Parameters
    ----------
    module, name : str
        The module, as the original calls it, and the name.
    said : str
        What follows them.
    cure : str, optional
        What to write instead.
    """
    hint = f"; {cure}" if cure else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{said}{hint}")


def cure_of(cures: Mapping[str, str], *names: str) -> str | None:
    """The first cure that there is for one of these names."""
    return next((cures[name] for name in names if name in cures), None)
