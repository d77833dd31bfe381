"""Layer 8 · compiler: whether the variables that a function closes over are bound only once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from types import CodeType, FunctionType

from wengert.compiler.objects.bytecode import instructions_of, loops_of

_BINDS = frozenset({"STORE_DEREF", "DELETE_DEREF"})


def is_settled(function: FunctionType, running: Iterable[CodeType]) -> bool:
    """Return whether no variable that a function closes over is bound again after it was made.

    Two such functions with the same code are alike if the same is in these variables. `running`
    holds the code that may have made it; else the code is looked up by the function's name.
    """
    code = function.__code__
    if not code.co_freevars:
        return True
    name, *parts = code.co_qualname.partition(".<locals>")[0].split(".")
    found = function.__globals__.get(name)
    for part in parts:
        found = getattr(found, part, None)
    outer = getattr(found, "__code__", None)
    outers = [one for one in (*running, outer) if isinstance(one, CodeType)]
    return any(_binds_once(one, code) for one in outers)


@functools.lru_cache(1024)
def _binds_once(outer: CodeType, code: CodeType) -> bool:
    """Return whether `outer` holds `code`, and binds once all variables that this closes over."""
    way = _way(outer, code)
    return way is not None and all(_is_bound_once(way, name) for name in code.co_freevars)


def _way(outer: CodeType, code: CodeType) -> list[CodeType] | None:
    """Return the code objects from `outer` to `code`, each a constant of the one before."""
    if outer is code:
        return [outer]
    for inner in _inner(outer):
        way = _way(inner, code)
        if way is not None:
            return [outer, *way]
    return None


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _is_bound_once(way: list[CodeType], name: str) -> bool:
    owner = next((code for code in reversed(way[:-1]) if name in code.co_cellvars), None)
    if owner is None:
        return False
    names, varargs, varkw = inspect.getargs(owner)
    given = name in (*names, varargs, varkw)
    bound, loops = _bound(owner, name), loops_of(owner)
    return (
        len(bound) + given <= 1
        and not any(first <= offset <= last for first, last in loops for offset in bound)
        and not any(_binds(inner, name) for inner in _inner(owner))
    )


def _bound(code: CodeType, name: str) -> list[int]:
    """Return the offsets of the instructions that bind a variable that functions share."""
    return [
        step.offset
        for step in instructions_of(code)[0]
        if step.opname in _BINDS and step.argval == name
    ]


def _binds(code: CodeType, name: str) -> bool:
    """Return whether a function, or one in it, binds a variable that it closes over."""
    if name not in code.co_freevars:
        return False
    return bool(_bound(code, name)) or any(_binds(inner, name) for inner in _inner(code))
