"""Layer 8 · compiler: whether what a function reads off a tensor is only handed back.

``return float(loss)`` and ``return loss.numpy()`` take values out of tensors, but nothing is done
with these but to return them. That can be seen in the bytecode: from the call on, the value lies on
the stack until a container or the function's end takes it. Then it is a result like others, and no
decision.
"""

from __future__ import annotations

import dis
import functools
import sys
from bisect import bisect
from types import CodeType
from typing import Any

from wengert.tape.sites import OURS

__all__ = ["instructions_of", "is_returned"]

_READS = frozenset({"numpy", "item", "__float__", "__array__"})
"""What gives the values themselves; other functions compute with them."""
_QUIET = frozenset({"CACHE", "NOP", "PRECALL", "KW_NAMES", "RESUME", "EXTENDED_ARG"})
_PUSH = frozenset(
    {
        *("LOAD_FAST", "LOAD_CONST", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLOSURE"),
        *("LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_SMALL_INT", "PUSH_NULL"),
    }
)
_BUILD = frozenset({"BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP"})


@functools.lru_cache(256)
def instructions_of(code: CodeType) -> tuple[list[Any], list[int]]:
    """The instructions of a code object, and their offsets."""
    found = list(dis.get_instructions(code))
    return found, [instruction.offset for instruction in found]


def is_returned(code: CodeType) -> bool:
    """Whether the call that the function of `code` is in the middle of gives a result of its own.

    Only where the function itself calls, not one that it called.
    """
    frame: Any = sys._getframe(1)
    asked = ""
    while frame is not None and OURS[frame.f_code.co_filename]:
        asked, frame = frame.f_code.co_name, frame.f_back
    if (
        asked not in _READS
        or frame is None
        or frame.f_code is not code
        or not _is_called_by_us(frame)
    ):
        return False
    instructions, offsets = instructions_of(code)
    # a call is left at its own offset or at that of the caches behind it
    place = bisect(offsets, frame.f_lasti)
    if instructions[place - 1].opname == "PRECALL":
        # where the interpreter has specialised it, this is the call
        place += 1
    return _is_handed_back(instructions[place:])


def _is_called_by_us(frame: Any) -> bool:
    above = frame.f_back
    return above is not None and OURS[above.f_code.co_filename]


def _is_handed_back(instructions: list[Any]) -> bool:
    """Whether the value on top of the stack reaches the end, in containers or alone."""
    above = 0
    for instruction in instructions:
        name, count = instruction.opname, instruction.arg or 0
        if name in _QUIET:
            continue
        if name == "RETURN_VALUE":
            return above == 0
        if name in _PUSH:
            above += 1 + (name == "LOAD_GLOBAL" and bool(count & 1))
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            if not above:
                return False
            method = name == "LOAD_METHOD" or (sys.version_info >= (3, 12) and bool(count & 1))
            above += method
        elif name in ("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP"):
            if above < 2:
                return False
            above -= 1
        elif name == "CALL":
            if above < count + 2:
                return False
            above -= count + 1
        elif name in _BUILD:
            taken = count * 2 if name == "BUILD_MAP" else count
            taken += name == "BUILD_CONST_KEY_MAP"
            # the container takes it, or what lies above it
            above = 0 if taken > above else above - taken + 1
        else:
            return False
    return False
