"""Layer 5 · ops: the functions whose modules are imported when they are first named.

One entry for each module: which of its functions are functions of the package, which are methods of
tensors, and which have a form in place (``x.digamma_()``), which writes what the function returns.
A law of the tests compares the entries with what the modules define.
"""

from __future__ import annotations

__all__ = ["FUNCTIONS", "IN_PLACE", "METHODS"]

FUNCTIONS: dict[str, str] = {}
"""The module, within `wengert.ops`, of each function of the package."""
METHODS: dict[str, str] = {}
"""The module of each method, a function whose first parameter is the tensor."""
IN_PLACE: dict[str, str] = {}
"""The module of each function that has a form in place, by the function's name."""


def _has(module: str, functions: str = "", methods: str = "", in_place: str = "") -> None:
    """Enter what `module` has: names, separated by blanks."""
    for table, names in ((FUNCTIONS, functions), (METHODS, methods), (IN_PLACE, in_place)):
        table.update(dict.fromkeys(names.split(), module))
