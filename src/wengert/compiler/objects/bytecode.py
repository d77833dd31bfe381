"""Layer 8 · compiler: what becomes of a value on the interpreter's stack, read off the bytecode."""

from __future__ import annotations

import dis
import functools
import re
import sys
from bisect import bisect
from collections.abc import Iterator
from types import CodeType
from typing import Any

from wengert.tape.sites import OURS

__all__ = ["QUIET", "SPEC", "consumer", "instructions_of", "onwards", "place_of", "user_frame"]

QUIET = frozenset({"CACHE", "NOP", "PRECALL", "KW_NAMES", "RESUME", "EXTENDED_ARG", "NOT_TAKEN"})
_PUSHES = {
    **dict.fromkeys(
        ("LOAD_FAST", "LOAD_CONST", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLOSURE", "PUSH_NULL"), 1
    ),
    **dict.fromkeys(("LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_SMALL_INT"), 1),
}
_TAKES = {
    **dict.fromkeys(("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "IS_OP", "CONTAINS_OP"), 2),
    **dict.fromkeys(("UNARY_NEGATIVE", "UNARY_NOT", "UNARY_INVERT", "TO_BOOL"), 1),
    **dict.fromkeys(("FORMAT_SIMPLE", "CONVERT_VALUE"), 1),
    "FORMAT_WITH_SPEC": 2,
}
"""How many values instructions take that give one."""
SPEC = 4
"""The part of the argument of ``FORMAT_VALUE`` that says that there is a format."""
_OF_TWO = re.compile("((?:LOAD|STORE)_FAST(?:_BORROW)?)_((?:LOAD|STORE)_FAST(?:_BORROW)?)")


@functools.lru_cache(512)
def instructions_of(code: CodeType) -> tuple[list[Any], list[int]]:
    """The instructions of a code object, and their offsets.

    Since Python 3.13 one instruction may load or store two variables; it is given as two, of which
    the second one lies at an odd offset, where no other does.
    """
    found: list[Any] = []
    for step in dis.get_instructions(code):
        both = _OF_TWO.fullmatch(step.opname)
        if both is None:
            found.append(step)
            continue
        for k, (what, arg) in enumerate(zip(both.groups(), divmod(step.arg or 0, 16), strict=True)):
            name = step.argval[k]
            half = {"opname": what, "opcode": dis.opmap[what], "arg": arg, "argval": name}
            found.append(step._replace(**half, argrepr=name, offset=step.offset + k))
    return found, [instruction.offset for instruction in found]


def user_frame(frame: Any) -> Any:
    """The innermost frame from this one outwards that is not of ours."""
    while frame is not None and OURS[frame.f_code.co_filename]:
        frame = frame.f_back
    return frame


def place_of(frame: Any) -> int:
    """The index of the instruction that is running."""
    steps, offsets = instructions_of(frame.f_code)
    # a call is left at its own offset or at that of the caches behind it
    k = bisect(offsets, frame.f_lasti) - 1
    return k + 1 if steps[k].opname == "PRECALL" else k


def _effect(step: Any) -> tuple[int, int] | None:
    """How many values an instruction takes from the stack and puts there, if that is known."""
    what, arg = step.opname, step.arg or 0
    if what in QUIET:
        return 0, 0
    if what in _PUSHES:
        return 0, _PUSHES[what]
    if what in _TAKES:
        return _TAKES[what], 1
    if what == "LOAD_GLOBAL":
        return 0, 1 + (arg & 1)
    if what in ("LOAD_ATTR", "LOAD_METHOD"):
        method = what == "LOAD_METHOD" or (sys.version_info >= (3, 12) and bool(arg & 1))
        return 1, 1 + method
    if what == "FORMAT_VALUE":
        return 1 + bool(arg & SPEC), 1
    if what in ("BUILD_STRING", "BUILD_TUPLE", "BUILD_LIST", "BUILD_SLICE"):
        return arg, 1
    if what in ("BUILD_CONST_KEY_MAP", "BUILD_MAP"):
        return (arg + 1 if what != "BUILD_MAP" else 2 * arg), 1
    if what in ("CALL", "CALL_KW"):
        return arg + 2 + (what == "CALL_KW"), 1
    if what.startswith("POP_JUMP") or what == "RETURN_VALUE":
        return 1, 0
    return (0, 0) if what == "JUMP_FORWARD" else None


def onwards(
    steps: list[Any], k: int, above: int = 0, jumps: bool = True
) -> Iterator[tuple[int, Any, int, int]]:
    """What follows instruction `k`, with how much each takes of what lies above its result.

    Gives the index, the instruction, how many values lie above, and how many it takes, as long as
    that is known; choices within an expression are followed if `jumps`.
    """
    joins = dict[int, int]()
    jumped = False
    for i in range(k + 1, len(steps)):
        step = steps[i]
        if step.offset in joins:
            above, jumped = joins[step.offset], False
        if jumped:
            return
        found = _effect(step)
        if found is None:
            return
        takes, gives = found
        yield i, step, above, takes
        above += gives - takes
        if above < 0:
            return
        if step.opname == "RETURN_VALUE":
            jumped = True
        elif "JUMP" in step.opname:
            if step.argval <= step.offset or not jumps:
                return
            joins[step.argval] = above
            jumped = step.opname == "JUMP_FORWARD"


def consumer(steps: list[Any], k: int, above: int = 0) -> int | None:
    """The instruction that takes what instruction `k` has left below so many values, if it is known
    and no choice lies between."""
    for i, _, found, takes in onwards(steps, k, above, jumps=False):
        if takes > found:
            return i
    return None
