"""Layer 8 · compiler: find NumPy arrays that only the library's operations use.

In ``x * A`` and ``wg.from_numpy(A)`` a NumPy array is an operand of one of the library's
operations, and so an input of the program. Any other use may read it unnoticed. The bytecode
distinguishes the two: it shows where a variable that holds the array is loaded, and which
instructions pop it. If at each of these an operation of the library took the array during tracing,
outside of any loop, no other code has read it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from wengert.compiler.objects.bytecode import Flow, flow_of, loops_of, place_at

_LOADS = ("LOAD_FAST", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME")
_KNOWN = frozenset({"shape", "ndim", "dtype", "size", "itemsize", "nbytes"})
"""Attributes of an array that guards check anyway."""
_OTHERS = frozenset(
    {
        *("LOAD_CONST", "LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "KW_NAMES"),
        *("MAKE_CELL", "COPY_FREE_VARS"),
    }
)
"""Instructions whose argument may equal a variable's name without referring to the variable."""


class Places:
    """The variables through which a function reaches NumPy arrays."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._names: dict[int, list[str]] = {}
        self._seen: Counter[int] = Counter()
        self._code: CodeType | None = None
        if not isinstance(function, FunctionType):
            return
        code = self._code = function.__code__
        own = code.co_varnames[: code.co_argcount]
        named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        held = [*zip(own, args, strict=False)]
        held += [(name, value) for name, value in kwargs.items() if name in named]
        held += [
            (name, function.__globals__[name])
            for name in code.co_names
            if name in function.__globals__
        ]
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                held.append((name, cell.cell_contents))
            except ValueError:
                continue
        for name, value in held:
            if isinstance(value, np.ndarray):
                self._names.setdefault(id(value), []).append(name)

    def met(self, array: Any) -> None:
        """Count a path from the function to an array."""
        self._seen[id(array)] += 1

    def straight(self, taken: Iterable[tuple[int, CodeType, int]]) -> set[int]:
        """Return the ids of the arrays that no other code has read.

        `taken` lists the arrays that the library's operations took: the id, and the code and offset
        of the call.
        """
        code = self._code
        if code is None or not self._names:
            return set()
        ours: dict[int, set[int]] = {}
        for array, where, offset in taken:
            if where is code:
                ours.setdefault(array, set()).add(offset)
        return {
            array
            for array, names in self._names.items()
            if self._seen[array] == len(names)
            and array in ours
            and all(_is_straight(code, name, ours[array]) for name in names)
        }


def _is_straight(code: CodeType, name: str, ours: set[int]) -> bool:
    """Return whether only the instructions at `ours` use a variable, each at most once per call."""
    if any(_mentions(part, name) for part in code.co_consts if isinstance(part, CodeType)):
        return False
    flow, loops = flow_of(code), loops_of(code)
    taken = {place_at(code, offset) for offset in ours}
    for k, is_read in _uses(flow, name):
        takers = flow.takers(k) if is_read else None
        if not takers:
            return False
        for i, position in takers:
            step = flow.steps[i]
            if step.opname == "LOAD_ATTR" and step.argval in _KNOWN:
                continue
            if position is None or i not in taken:
                return False
            if any(start <= step.offset <= stop for start, stop in loops):
                return False
    return True


def _mentions(code: CodeType, name: str) -> bool:
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    own = (*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars)
    return name in own or any(_mentions(part, name) for part in inner)


def _uses(flow: Flow, name: str) -> Iterator[tuple[int, bool]]:
    """Yield the instructions that use a variable, and whether each reads it."""
    for k, step in enumerate(flow.steps):
        value, what = step.argval, step.opname
        if what in _OTHERS:
            continue
        if value == name or (isinstance(value, tuple) and name in value):
            yield k, value == name and what.startswith(_LOADS)
