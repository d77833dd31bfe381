"""Layer 8 · compiler: parts of objects that tracing looks at only if some code may reach them.

Most methods of a class are never called by the code that is traced, and an attribute that cannot be
guarded does no harm where nothing reads it. Python reaches attributes by their names. So both are
put off until the names that the code mentions are known.
"""

from __future__ import annotations

import datetime
import functools
import io
import types
from typing import Any

import numpy as np

from wengert.base.ports import PORTS
from wengert.compiler.objects.libraries import is_of_library
from wengert.compiler.objects.reading import Part, Unknown
from wengert.compiler.tracing.reach import DYNAMIC

_EVERYTHING = DYNAMIC | {
    *("copy", "deepcopy", "asdict", "astuple", "replace", "fields", "methodcaller", "hasattr"),
    *("setattr", "delattr", "__getstate__", "__reduce__", "__reduce_ex__", "pformat", "pprint"),
}
"""Names with which code may reach all attributes of an object."""
MAKING = frozenset({"__init__", "__post_init__", "__init_subclass__"})
"""Methods that run when a class is called, or is the base of another one."""
_CLASSES = frozenset({"type", "__class__", "__base__", "__bases__", "__mro__", "mro"})
"""Names that lead from an object to its class."""
_LATE = {
    "__slots__": frozenset[str](),
    "__match_args__": frozenset[str](),
    "__dataclass_fields__": frozenset({"fields"}),
}
"""What describes the objects of a class, with other names by which code may read it."""
_METHODS = frozenset({types.FunctionType, staticmethod, classmethod, property})
_ASKED: tuple[Any, ...] = (
    *(np.ndarray, np.random.Generator, dict, list, set, str, bytes, int, float, complex, type),
    *(io.TextIOWrapper, io.BytesIO, datetime.datetime, datetime.tzinfo, types.FunctionType),
)


@functools.cache
def _protocols() -> frozenset[str]:
    """Return the names that libraries and Python may look up on any object."""
    return frozenset().union(*map(dir, (PORTS.tensor, *_ASKED))) - MAKING


class PutOff:
    """The methods of classes and the attributes to look at once their names are mentioned.

    Parameters
    ----------
    mentioned: The names of attributes that the code mentions; the walk adds to it.

    Attributes
    ----------
    unread: Why attributes cannot be guarded, by their names.
    """

    def __init__(self, mentioned: set[str]) -> None:
        self.unread: dict[str, Unknown] = {}
        self._mentioned = mentioned
        self._methods: dict[str, list[tuple[Any, str]]] = {}

    def takes(self, kind: type, part: Part, path: str) -> bool:
        """Put off a part of a class; return False if code found so far may call it."""
        name = part.path[5:-2]
        put_off = name in _LATE or (
            type(part.value) in _METHODS
            and (name[:1] != "_" or name in MAKING)
            and name not in self._mentioned
            and name not in _protocols()
            and not any(hasattr(base, name) for base in kind.__mro__[:-1] if is_of_library(base))
        )
        if put_off:
            self._methods.setdefault(name, []).append((part.value, path))
        return put_off

    def reached(self) -> list[tuple[Any, str]]:
        """Take the methods that code may call, with their paths.

        Raises
        ------
        Unknown: Code may read an attribute that cannot be guarded.
        """
        if self._mentioned & _CLASSES:
            self._mentioned |= MAKING
        for name, unknown in self.unread.items():
            if self._is_read(name):
                raise unknown
        names = sorted(filter(self._is_read, self._methods))
        return [found for name in names for found in self._methods.pop(name)]

    def _is_read(self, name: str) -> bool:
        """Return whether code may read an attribute."""
        others = _LATE.get(name, _EVERYTHING)
        return name in self._mentioned or not self._mentioned.isdisjoint(others)
