"""Layer 8 · compiler: what lies on the interpreter's stack of a function that is in a call.

``x * helper(y)`` leaves `x` on the stack while `helper` runs, where nothing in Python can see it.
Which instruction put it there can be seen in the bytecode. What was loaded from a module or is a
constant stays what it is; anything else may have been computed.
"""

from __future__ import annotations

import dis
import functools
from types import CodeType

from wengert.compiler.objects.bytecode import instructions_of

__all__ = ["is_bare"]

_QUIET = frozenset(
    {*("CACHE", "NOP", "KW_NAMES", "RESUME", "EXTENDED_ARG", "NOT_TAKEN"), "MAKE_CELL"}
)
"""Instructions that leave the stack alone."""
_STILL = frozenset({"LOAD_GLOBAL", "LOAD_CONST", "LOAD_SMALL_INT", "PUSH_NULL"})
"""Those that put there what nothing computes."""
_FROM = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
"""Those that look something up in what lies on top."""
_TAKING = ("POP_", "STORE_", "DELETE_")
"""How the names of those begin that put nothing there."""
_ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
_FORWARD = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
"""Those that always jump."""

Stack = tuple[bool, ...]
"""For each entry whether nothing has computed it."""


def is_bare(code: CodeType, offset: int) -> bool:
    """Whether the stack holds nothing computed below what the instruction at `offset` takes."""
    found = _stacks(code)
    return found is not None and found.get(offset, False)


@functools.lru_cache(512)
def _stacks(code: CodeType) -> dict[int, bool] | None:
    """For the offset of each instruction that is reached what `is_bare` says; None if unknown."""
    instructions = instructions_of(code)[0]
    places = {instruction.offset: i for i, instruction in enumerate(instructions)}
    stacks: dict[int, Stack] = {0: ()}
    todo = [0]
    bare: dict[int, bool] = {}
    try:
        while todo:
            i = todo.pop()
            instruction, stack = instructions[i], stacks[i]
            name = instruction.opname
            after = _after(instruction, stack, jump=False)
            # a call of 3.11 is two instructions, of which the first one takes the arguments
            gives = 0 if name.startswith(_TAKING) or "JUMP" in name else 1 + (name == "PRECALL")
            left = after[: len(after) - gives]
            whole = _end(instructions, i)
            for offset in range(instruction.offset, whole, 2):
                bare[offset] = all(left)
            following = [] if name in _ENDS or name in _FORWARD else [(i + 1, after)]
            if instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
                target = places[instruction.argval]
                following.append((target, _after(instruction, stack, jump=True)))
            for place, made in following:
                known = stacks.get(place)
                if known is None:
                    merged = made
                elif len(known) != len(made):
                    return None
                else:
                    merged = tuple([a and b for a, b in zip(known, made, strict=True)])
                if merged != known:
                    stacks[place] = merged
                    todo.append(place)
    except (ValueError, IndexError, KeyError):
        return None
    return bare


def _end(instructions: list[dis.Instruction], i: int) -> int:
    """Where the instruction behind the `i`-th begins, besides caches."""
    if i + 1 < len(instructions):
        return instructions[i + 1].offset
    return instructions[i].offset + 2


def _after(instruction: dis.Instruction, stack: Stack, jump: bool) -> Stack:
    """The stack behind an instruction, from which nothing more is known than is sure."""
    name = instruction.opname
    if name in _QUIET:
        return stack
    depth = len(stack)
    size = depth + dis.stack_effect(instruction.opcode, instruction.arg, jump=jump)
    if size < 0:
        raise ValueError
    if name in _STILL:
        return stack + (True,) * (size - depth)
    if name in _FROM:
        return stack[:-1] + (stack[-1],) * (size - depth + 1)
    if name.startswith("LOAD_FAST") or name.startswith("LOAD_DEREF"):
        return stack + (False,) * (size - depth)
    reach = instruction.arg or 0 if name in ("SWAP", "COPY") else 1
    kept = stack[: max(min(depth, size) - reach, 0)]
    return kept + (False,) * (size - len(kept))
