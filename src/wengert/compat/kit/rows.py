"""Layer 9 · compat: families of functions as rows of a table.

NOTE [functions of rows]
Functions of a family differ in a few words: which operation they call, which dtypes they take, a
line of documentation, an example. Each is a row, ``name | argument | argument ...``, of what the
maker of the family takes. A cell is text, but for ``=wg.cos``, which begins with one of the values
that are given by name, and for ``.``, which stands for the name of the function. A line that begins
with ``|`` goes on with the row above it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["of_rows"]


def of_rows(namespace: dict[str, Any], make: Callable[..., Any], text: str, **values) -> list[str]:
    """Put a function into a namespace for each row, and list their names.

    Parameters
    ----------
    namespace : dict
        The ``globals()`` of a module.
    make : callable
        What makes a function of the arguments of a row.
    text : str
        The rows (see NOTE [functions of rows]).
    **values
        What cells may begin with.
    """
    joined = text.strip().replace("\n    |", " |").replace("\n        |", " |")
    names = []
    for line in joined.splitlines():
        name, *cells = (cell.strip() for cell in line.split(" | "))
        namespace[name] = make(*(_value(cell, name, values) for cell in cells))
        names.append(name)
    return names


def _value(cell: str, name: str, values: dict[str, Any]) -> Any:
    if cell == ".":
        return name
    if not cell.startswith("="):
        return cell
    first, *rest = cell[1:].split(".")
    return functools.reduce(getattr, rest, values[first])
