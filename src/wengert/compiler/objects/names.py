"""Layer 8 · compiler: the names that a function looks up, from its bytecode."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from types import CodeType
from typing import Any

from wengert.compiler.objects.bytecode import instructions_of
from wengert.compiler.objects.flows import is_handed_to_print

_READ = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_WRITE = frozenset({"STORE_GLOBAL", "STORE_NAME", "DELETE_GLOBAL", "DELETE_NAME"})
_ATTRIBUTE = frozenset({"LOAD_ATTR", "LOAD_METHOD"})


class Names:
    """The names that a function and its nested functions look up.

    Attributes
    ----------
    read
        The globals that are read, each with the chains of attributes that follow:
        ``np.linalg.solve`` is ``("linalg", "solve")``. The empty chain is a use of the object
        itself.
    written: The globals that are assigned.
    imported: The modules that are imported while it runs.
    attributes: All names of attributes, strings that may be such, and ``is_`` for that operator.
    streams
        The accesses to standard streams, as (global, attribute), with whether each is only an
        argument of ``print``.
    passed: The globals that are used other than by a direct call.
    """

    __slots__ = ("attributes", "imported", "passed", "read", "streams", "written")

    def __init__(self, code: CodeType) -> None:
        self.read: dict[str, set[tuple[str, ...]]] = {}
        self.written: set[str] = set()
        self.imported: set[str] = set()
        self.attributes: set[str] = set()
        self.passed: set[str] = set()
        self.streams: dict[tuple[str, str], bool] = {}
        for part in _codes(code):
            self._add(part)

    def _add(self, code: CodeType) -> None:
        chain: list[str] | None = None
        name = last = ""
        pushed: tuple[Any, Any] = (None, None)
        for step in instructions_of(code)[0]:
            what = step.opname
            if what in _ATTRIBUTE:
                self.attributes.add(step.argval)
                if chain is not None:
                    chain.append(step.argval)
                if step.argval in _STREAMS and chain is not None and len(chain) == 1:
                    key = name, step.argval
                    handed = is_handed_to_print(code, step.offset)
                    self.streams[key] = self.streams.get(key, True) and handed
                continue
            if what in _SILENT:
                continue
            if what == "IS_OP" and last != "LOAD_CONST":
                self.attributes.add("is_")
            last = what
            if chain is not None:
                self.read.setdefault(name, set()).add(tuple(chain))
                chain = None
            if what in _READ:
                name, chain = step.argval, []
                if what != "LOAD_GLOBAL" or not (step.arg or 0) & 1:
                    self.passed.add(name)
            elif what in _WRITE:
                self.written.add(step.argval)
            elif what == "IMPORT_NAME":
                # a relative import has a level, as many dots
                self.imported.add("." * pushed[0] + step.argval)
            elif what == "LOAD_CONST" and isinstance(step.argval, str):
                self.attributes |= words_of(step.argval)
            elif what == "MATCH_CLASS":
                # its attribute names come from a tuple or from the class
                self.attributes |= {"getattr", "__match_args__"}
            pushed = pushed[1], step.argval
        self.attributes.update(code.co_names)


def words_of(text: str) -> set[str]:
    """Return the names that a string may stand for; a format string may hold several."""
    return {text, *re.findall(r"\w+", text)} if "{" in text else {text}


_STREAMS = frozenset({"stdout", "stderr"})
_SILENT = frozenset({"CACHE", "NOP", "EXTENDED_ARG", "PUSH_NULL"})


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def line_of_name(code: CodeType, name: str) -> tuple[str, int] | None:
    """Return the file and line that first look up `name`, or None."""
    for part in _codes(code):
        line = part.co_firstlineno
        for step in instructions_of(part)[0]:
            line = (step.positions and step.positions.lineno) or line
            if step.argval == name and (step.opname in _READ | _WRITE or "IMPORT" in step.opname):
                return part.co_filename, line
    return None


@functools.lru_cache(2048)
def names_of(code: CodeType) -> Names:
    """Return the names that a function with this code looks up."""
    return Names(code)
