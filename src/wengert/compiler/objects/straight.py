"""Layer 8 · compiler: whether arrays go straight into operations of ours, and nowhere else.

In ``x * A`` and ``wg.from_numpy(A)`` an array of NumPy is an operand of ours, and so an input of
the program. Whoever does anything else with it may read it without our seeing that. Which it is
stands in the bytecode: where a variable that holds the array is loaded, and which instruction takes
it off the stack. If all of these are ones in which an operation of ours took the array while the
function was traced, outside of any loop, nobody else has seen it.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from wengert.compiler.objects.bytecode import consumer, instructions_of

__all__ = ["Places"]

_LOADS = ("LOAD_FAST", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME")
_KNOWN = frozenset({"shape", "ndim", "dtype", "size", "itemsize", "nbytes"})
"""Attributes of an array that are conditions in any case."""


class Places:
    """The variables of a function that hold arrays."""

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
        """Note that a way leads to an array, by a variable or not."""
        self._seen[id(array)] += 1

    def straight(self, taken: Iterable[tuple[int, CodeType, int]]) -> set[int]:
        """The identities of the arrays that nobody else has seen.

        `taken` says which arrays an operation of ours took, by which code and at which place in it.
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


@functools.lru_cache(256)
def _loops(code: CodeType) -> list[tuple[int, int]]:
    """From where to where loops reach."""
    return [
        (step.argval, step.offset)
        for step in instructions_of(code)[0]
        if "JUMP" in step.opname and isinstance(step.argval, int) and step.argval <= step.offset
    ]


def _is_straight(code: CodeType, name: str, ours: set[int]) -> bool:
    """Whether all that takes a variable are the instructions at `ours`, each of them once."""
    if any(_mentions(part, name) for part in code.co_consts if isinstance(part, CodeType)):
        return False
    (found, offsets), loops = instructions_of(code), _loops(code)
    taken = {_called(found, bisect_right(offsets, offset) - 1) for offset in ours}
    for place, above in _loaded(found, name):
        if above is None:
            return False
        end = consumer(found, place, above)
        if end is not None and found[end].opname == "LOAD_ATTR" and found[end].argval in _KNOWN:
            continue
        if end is None or end not in taken:
            return False
        if any(start <= offsets[end] <= stop for start, stop in loops):
            return False
    return True


def _mentions(code: CodeType, name: str) -> bool:
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    own = (*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars)
    return name in own or any(_mentions(part, name) for part in inner)


def _loaded(found: list[Any], name: str) -> Iterator[tuple[int, int | None]]:
    """Where a variable is used, with how many values are above it then; None if it is not read."""
    for place, step in enumerate(found):
        value = step.argval
        if value == name and isinstance(value, str) and step.opname not in ("LOAD_CONST",):
            if step.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "KW_NAMES"):
                continue
            if step.opname in ("MAKE_CELL", "COPY_FREE_VARS"):
                continue
            yield place, 0 if step.opname.startswith(_LOADS) else None
        elif (
            isinstance(value, tuple)
            and name in value
            and step.opname not in ("LOAD_CONST", "KW_NAMES")
        ):
            yield place, None


def _called(found: list[Any], place: int) -> int:
    """The instruction that a frame is at, which may be at the caches behind it."""
    while found[place].opname == "CACHE":
        place -= 1
    # where the interpreter has specialised a call, it stays at what prepares it
    return place + 1 if found[place].opname == "PRECALL" else place
