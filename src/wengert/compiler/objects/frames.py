"""Layer 8 · compiler: where a frame is, and what it holds besides its variables.

Python shows neither the interpreter's stack nor what C functions hold. The bytecode tells which
instructions pushed what is on the stack (NOTE [flow of values]), and whether C code lies between
two frames.
"""

from __future__ import annotations

import dis
import functools
import inspect
import math
import re
from bisect import bisect
from types import CodeType, FunctionType, MethodType
from typing import Any

from wengert.compiler.objects.bytecode import (
    ALWAYS,
    ENDS,
    LOOKS_UP,
    flow_of,
    instructions_of,
    loops_of,
    place_of,
)
from wengert.tape.sites import OURS

_ENTERS = frozenset({"BEFORE_WITH", "LOAD_SPECIAL"})
"""Instructions that push what ends a ``with`` statement."""
UNKNOWN = frozenset({-1})
SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_RUNS = re.compile(
    r"(POP_JUMP|UNARY_NOT|TO_BOOL|LOAD_ATTR|STORE_ATTR).*|BINARY_SUBSCR.* __getitem__"
    r"|STORE_SUBSCR.* __setitem__|CONTAINS_OP.* __contains__|BEFORE_WITH.* __enter__"
    # since Python 3.13 a comparison may decide, too
    r"|COMPARE_OP bool\(.* __bool__"
)
"""Instructions that run methods, and which; they hold nothing meanwhile."""
_RUNS_OF_OPERANDS = re.compile(
    r"UNARY_.* __(neg|pos|invert)__|COMPARE_OP.* __([lg][te]|eq|ne)__"
    r"|BINARY_OP.* __(?!bool|eq|hash|str|repr|format|len|missing|iter|next|getitem)\w+__"
)
"""Those that hold nothing if it is the method of an operand, not of a part of a container."""
_OF_ARGUMENT = (len, round, iter, format, math.floor, math.ceil, math.trunc)
"""Functions besides classes that run the method of their name, and never that of a part."""
_CONTAINERS = (list, tuple, dict, set)
_NOTHING = frozenset({"CACHE", "NOP", "EXTENDED_ARG", "NOT_TAKEN"}) | ALWAYS
"""Instructions that do nothing but continue elsewhere."""


# -- copies of instructions ------------------------------------------------------------------------


@functools.lru_cache(4096)
def first_alike(code: CodeType, k: int) -> int:
    """Return the index of the first copy of instruction `k`: what follows it does the same.

    CPython copies the tests of loops and the bodies of ``finally``. Two instructions of one place
    in the source are copies if they do the same and continue with copies, wherever they go.
    """
    steps = instructions_of(code)[0]
    return next(
        i
        for i in range(k + 1)
        if steps[i].positions == steps[k].positions and _are_copies(code, i, k)
    )


def _are_copies(code: CodeType, first: int, second: int) -> bool:
    known: set[tuple[int, int]] = set()
    todo = [(first, second)]
    while todo:
        pair = todo.pop()
        if pair[0] == pair[1] or pair in known:
            continue
        known.add(pair)
        (mine, here), (yours, there) = (_continued(code, k) for k in pair)
        if mine != yours:
            return False
        todo += zip(here, there, strict=True)
    return True


@functools.lru_cache(4096)
def _continued(code: CodeType, k: int) -> tuple[Any, list[int]]:
    """Return what the instruction at or after `k` does, and the indices of those that follow it."""
    steps, offsets = instructions_of(code)
    for _ in steps:
        step = steps[k]
        jumps = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
        after = [] if step.opname in ENDS | ALWAYS else [k + 1]
        if jumps:
            after.insert(0, bisect(offsets, step.argval) - 1)
        if step.opname not in _NOTHING:
            break
        k = after[0]
    what = re.sub("_(FORWARD|BACKWARD)", "", step.opname)
    if re.search("IF_(TRUE|NOT_NONE)$", what):
        # `if not a` jumps if it is true
        what, after = re.sub("TRUE$", "FALSE", what).replace("NOT_NONE", "NONE"), after[::-1]
    facts: list[Any] = [what, None if jumps else step.arg]
    for entry in dis.Bytecode(code).exception_entries:  # type: ignore[attr-defined]  # not in its stubs
        if entry.start <= step.offset < entry.end:
            facts += [entry.depth, entry.lasti]
            after.append(bisect(offsets, entry.target) - 1)
    return facts, after


# -- what is hidden --------------------------------------------------------------------------------


def hidden_on(frame: Any) -> frozenset[int]:
    """Return the instructions that pushed computed values onto a frame's stack; -1 if unknown.

    ``x * helper(y)`` keeps `x` on the stack while `helper` runs. The operands of the call itself
    are not on it any more; constants and globals are not computed; anything else may be.
    """
    flow, k = flow_of(frame.f_code), place_of(frame)
    stack = flow.before.get(k)
    if stack is None:
        return UNKNOWN
    left = stack[: len(stack) - (flow.takes(k) or 0)]
    # of several constants, a decision chose one
    return frozenset([i for e in left for i in e if len(e) > 1 or not flow.is_still(i)])


def stays(code: CodeType, sources: frozenset[int]) -> bool:
    """Return whether the instructions are those of ``with`` statements outside of loops.

    While these are on the stack of a frame, they are the same, and nothing of the frame uses them.
    """
    return all(
        i >= 0
        and (step := instructions_of(code)[0][i]).opname in _ENTERS
        and not any(first <= step.offset <= last for first, last in loops_of(code))
        for i in sources
    )


def calls(frame: Any, inner: Any) -> bool:
    """Return whether a frame itself runs the frame below it, without C code that holds values.

    Such are ``sorted(parts, key=f)``, ``list(generator)`` and ``a in parts``. What is not known to
    hold nothing holds something.
    """
    code, name = inner.f_code, inner.f_code.co_name
    special, ours = name.startswith("__"), OURS[code.co_filename]
    if code.co_flags & SUSPENDED:
        return False
    if ours and not special and OURS[frame.f_code.co_filename]:
        return True
    flow, k = flow_of(frame.f_code), place_of(frame)
    step, takes, stack = flow.steps[k], flow.takes(k), flow.before.get(k)
    if not stack or not takes:
        return False
    operands = [[flow.steps[i] if i >= 0 else None for i in entry] for entry in stack[-takes:]]
    if step.opname.startswith("CALL"):
        return all(_is_callee(frame, step, inner) for entry in operands[:2] for step in entry)
    runs = f"{step.opname} {step.argrepr} {name}"
    if _RUNS.fullmatch(runs):
        found = [_loaded(frame, step) for entry in operands for step in entry]
        return step.opname != "COMPARE_OP" or not any(isinstance(x, _CONTAINERS) for x in found)
    own = inner.f_locals.get(code.co_varnames[0]) if code.co_varnames else None
    return (
        own is not None
        and _RUNS_OF_OPERANDS.fullmatch(runs) is not None
        and any(all(_loaded(frame, step) is own for step in entry) for entry in operands)
    )


def _loaded(frame: Any, step: Any) -> Any:
    """Return the variable that an instruction loads, a display's container as (), or None."""
    if step is None or step.opname.startswith("BUILD_"):
        return ()
    if not step.opname.startswith("LOAD_") or step.opname in LOOKS_UP | {"LOAD_CONST"}:
        return None
    spaces = (frame.f_locals, frame.f_globals, frame.f_builtins)
    return next((space[step.argval] for space in spaces if step.argval in space), None)


def _is_callee(frame: Any, step: Any, inner: Any) -> bool:
    """Return whether what an instruction loads is what runs in the frame below, or shows it."""
    code, name = inner.f_code, inner.f_code.co_name
    if step is None or not step.opname.startswith("LOAD_"):
        return step is not None and step.opname == "PUSH_NULL"
    if step.opname in LOOKS_UP:
        return bool(step.argval == name) and not name.startswith("__")
    found = _loaded(frame, step)
    thing: Any = found
    if isinstance(found, type):
        thing = found.__init__  # type: ignore[misc]  # the class itself is called
    if not isinstance(thing, FunctionType | MethodType):
        thing = type(thing).__call__
    # `float` calls `__float__`, and holds nothing else
    alone = isinstance(found, type) or any(found is one for one in _OF_ARGUMENT)
    return getattr(thing, "__code__", None) is code or (alone and name == f"__{found.__name__}__")
