"""Layer 8 · compiler: which objects are those of libraries, and what others hold."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Iterator
from typing import Any

__all__ = [
    "LIBRARIES",
    "is_global",
    "is_of_library",
    "is_ours",
    "is_plain",
    "names_of",
    "of_library_name",
    "slots_of",
]

LIBRARIES = frozenset({"wengert", "numpy", "scipy"})
"""Whose functions do what they did, whatever is done meanwhile."""


def names_of(code: types.CodeType) -> Iterator[str]:
    """The names that a function and those within it look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_of(constant)


def is_global(code: types.CodeType, name: str) -> bool:
    """Whether code looks `name` up as a variable, not as an attribute (``model.eval()``)."""
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return any(
        step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval == name
        for step in dis.get_instructions(code)
    ) or any(is_global(part, name) for part in inner)


def of_library_name(module: str | None) -> bool:
    """Whether a module is one of NumPy, SciPy, Python or our own."""
    base = (module or "").split(".")[0]
    return base in LIBRARIES or base in sys.stdlib_module_names


def is_of_library(kind: type) -> bool:
    """Whether a class is NumPy's, SciPy's, Python's or our own, and without a state to mind."""
    return (
        of_library_name(getattr(kind, "__module__", None))
        and kind.__module__ != "__main__"
        and (not is_stateful(kind))
    )


def is_ours(value: Any, kind: type) -> bool:
    """Whether it is a module or an optimiser or the like, which hold tensors."""
    return kind.__module__.startswith("wengert") and hasattr(value, "__dict__")


def is_stateful(kind: type) -> bool:
    """Whether objects of a class of a library change what functions give that use them."""
    if hasattr(kind, "__next__"):
        return True
    return kind.__module__.startswith(("numpy.random", "random", "_random", "_io", "io"))


def is_plain(kind: type) -> bool:
    """Whether objects of a class have neither parts nor a state that goes on."""
    return not hasattr(kind, "__iter__") and not is_stateful(kind)


def slots_of(kind: type) -> list[str]:
    """The names of the slots that objects of a class have."""
    names: list[str] = []
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else list(slots)
    return [name for name in names if name not in ("__weakref__", "__dict__")]
