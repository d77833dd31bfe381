"""Layer 8 · compiler: data-flow analysis of the interpreter's stack, on bytecode.

NOTE [flow of values]
Python does not expose the interpreter's stack, but the bytecode determines it. `Flow` follows all
paths through a function, records which instructions may have pushed each stack entry, and so knows
which instructions consume the result of each. It answers whether a value is only returned
(`is_returned`), only printed (`wengert.compiler.objects.flows`), or only passed to our operations
(`wengert.compiler.objects.straight`), or is on the stack (`wengert.compiler.objects.frames`).
An unknown instruction may read the whole stack.
"""

from __future__ import annotations

import dis
import functools
import re
import sys
from bisect import bisect
from types import CodeType
from typing import Any

from wengert.tape.sites import OURS

QUIET = frozenset(
    {
        *("CACHE", "NOP", "PRECALL", "KW_NAMES", "RESUME", "EXTENDED_ARG", "NOT_TAKEN"),
        *("MAKE_CELL", "COPY_FREE_VARS", "JUMP_FORWARD", "JUMP_BACKWARD", "RETURN_CONST"),
        "JUMP_BACKWARD_NO_INTERRUPT",
    }
)
"""Instructions that leave the stack unchanged."""
SPEC = 4
"""The bit in the argument of ``FORMAT_VALUE`` that says that a format is on the stack."""
_PUSHES = (
    *("LOAD_FAST", "LOAD_CONST", "LOAD_SMALL_INT", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLOSURE"),
    *("LOAD_GLOBAL", "PUSH_NULL"),
)
_GIVES_ONE = (
    *("BINARY_", "UNARY_", "COMPARE_OP", "IS_OP", "CONTAINS_OP", "TO_BOOL", "BUILD_", "FORMAT_"),
    *("CONVERT_VALUE", "CALL_FUNCTION_EX"),
)
_GIVES_NONE = ("STORE_", "DELETE_", "POP_TOP", "POP_JUMP")
"""Prefixes of instructions that pop nothing, push one value, or push none."""
LOOKS_UP = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_STILL = frozenset({"LOAD_GLOBAL", "LOAD_CONST", "LOAD_SMALL_INT", "PUSH_NULL"})
"""Instructions that push a constant or a global."""
ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
ALWAYS = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
"""Instructions that always jump, without fall-through."""
_READS = frozenset({"numpy", "item", "__float__", "__array__"})
"""Methods that return a tensor's values unchanged; other functions compute with the values."""
_CONTAINERS = frozenset({"BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP"})
_OF_TWO = re.compile("((?:LOAD|STORE)_FAST(?:_BORROW)?)_((?:LOAD|STORE)_FAST(?:_BORROW)?)")


@functools.lru_cache(512)
def instructions_of(code: CodeType) -> tuple[list[Any], list[int]]:
    """Return the instructions of a code object, and their offsets.

    Since Python 3.13 one instruction may load or store two variables. It is returned as two; the
    second has an odd offset, which no real instruction has.
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
    """Return the innermost frame, from `frame` outwards, that is not the library's."""
    while frame is not None and OURS[frame.f_code.co_filename]:
        frame = frame.f_back
    return frame


def place_at(code: CodeType, offset: int) -> int:
    """Return the index of the instruction that runs while a frame is at `offset`."""
    steps, offsets = instructions_of(code)
    # during a call the offset is that of the call or of the caches after it
    k = bisect(offsets, offset) - 1
    while steps[k].opname == "CACHE":
        k -= 1
    # if the interpreter has specialised the call, the offset is that of its PRECALL
    return k + 1 if steps[k].opname == "PRECALL" else k


def place_of(frame: Any) -> int:
    """Return the index of the instruction that the frame runs."""
    return place_at(frame.f_code, frame.f_lasti)


@functools.lru_cache(512)
def loops_of(code: CodeType) -> list[tuple[int, int]]:
    """Return the first and last offset of each loop."""
    return [
        (step.argval, step.offset)
        for step in instructions_of(code)[0]
        if "JUMP" in step.opname and isinstance(step.argval, int) and step.argval <= step.offset
    ]


# -- data flow -------------------------------------------------------------------------------------

_Stack = tuple[frozenset[int], ...]
_OUTSIDE = frozenset({-1})
"""Stack entries from no known instruction: an exception, or an earlier entry."""


def _effect(step: Any) -> tuple[int, int] | None:
    """Return how many values an instruction pops and pushes, or None if that is not known."""
    what, arg = step.opname, step.arg or 0
    if what in QUIET:
        return 0, 0
    if what == "RETURN_VALUE":
        return 1, 0
    if what == "RETURN_GENERATOR":
        # the value that is sent first
        return 0, 1
    if what in ("CALL", "CALL_KW"):
        return arg + 2 + (what == "CALL_KW"), 1
    net = dis.stack_effect(step.opcode, step.arg)
    if what.startswith(_PUSHES):
        return 0, net
    if what in LOOKS_UP:
        return 1, 1 + net
    if what.startswith(_GIVES_ONE):
        return 1 - net, 1
    return (-net, 0) if what.startswith(_GIVES_NONE) else None


class Flow:
    """The contents of the stack before each instruction, and the instructions that pop them.

    Attributes
    ----------
    steps: The instructions.
    before
        The stack before each reachable instruction, by index: for each entry, the indices of the
        instructions that may have pushed it. Empty if the analysis failed.
    """

    def __init__(self, code: CodeType) -> None:
        self.steps = instructions_of(code)[0]
        self.before: dict[int, _Stack] = {}
        self._taken: dict[int, list[tuple[int, int | None]]] = {}
        try:
            self._follow(code)
        except (ValueError, IndexError, KeyError):
            self.before = {}
        for k, stack in self.before.items():
            takes = self.takes(k)
            if takes is not None:
                stack = stack[len(stack) - takes :]
            for position, entry in enumerate(stack):
                for source in entry:
                    known = None if takes is None else position
                    self._taken.setdefault(source, []).append((k, known))

    def _follow(self, code: CodeType) -> None:
        places = {step.offset: k for k, step in enumerate(self.steps)}
        todo: list[tuple[int, _Stack]] = [(0, ())]
        for entry in dis.Bytecode(code).exception_entries:  # type: ignore[attr-defined]  # not in its stubs
            todo.append((places[entry.target], (_OUTSIDE,) * (entry.depth + entry.lasti + 1)))
        while todo:
            k, stack = todo.pop()
            known = self.before.get(k)
            if known is not None:
                if len(known) != len(stack):
                    raise ValueError
                stack = tuple([a | b for a, b in zip(known, stack, strict=True)])
                if stack == known:
                    continue
            self.before[k] = stack
            step = self.steps[k]
            if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
                todo.append((places[step.argval], self._after(k, stack, True)))
            if step.opname not in ENDS and step.opname not in ALWAYS:
                todo.append((k + 1, self._after(k, stack, False)))

    def _after(self, k: int, stack: _Stack, jump: bool) -> _Stack:
        """Return the stack after an instruction."""
        step = self.steps[k]
        if step.opname == "COPY":
            return (*stack, stack[-step.arg])
        if step.opname == "SWAP":
            moved = [*stack]
            moved[-1], moved[-step.arg] = moved[-step.arg], moved[-1]
            return tuple(moved)
        found = _effect(step)
        if found is None:
            # an unknown instruction: assume that it computes the top of the stack
            net = dis.stack_effect(step.opcode, step.arg, jump=jump)
            takes = min(1 + max(0, -net), len(stack))
            found = takes, takes + net
        takes, gives = found
        if takes > len(stack) or gives < 0:
            raise ValueError
        return stack[: len(stack) - takes] + (frozenset({k}),) * gives

    def takes(self, k: int) -> int | None:
        """Return how many values an instruction pops; None if it may read the whole stack."""
        if self.steps[k].opname in ("COPY", "SWAP"):
            return 0
        found = _effect(self.steps[k])
        return None if found is None else found[0]

    def takers(self, k: int) -> list[tuple[int, int | None]] | None:
        """Return the instructions that pop the result of instruction `k`, or None if unknown.

        Each comes with the position of that operand, counted from the lowest; the position is None
        if the instruction may read the whole stack.
        """
        return self._taken.get(k, []) if k in self.before else None

    def is_still(self, k: int) -> bool:
        """Return whether instruction `k` pushes a constant or a global, not a computed value."""
        if k < 0:
            return False
        if self.steps[k].opname in LOOKS_UP:
            return all(source < k and self.is_still(source) for source in self.before[k][-1])
        return self.steps[k].opname in _STILL


@functools.lru_cache(512)
def flow_of(code: CodeType) -> Flow:
    """Return the data flow of a code object."""
    return Flow(code)


def is_returned(code: CodeType, until: CodeType | None) -> bool:
    """Return whether the function of `code` returns the result of the call that it is making.

    ``return float(loss)`` and ``return loss.numpy()`` read values of tensors only to return them:
    they are results like any other, not decisions. This holds for calls that the function makes
    itself, not for those of its callees. `until` is the code of its caller.
    """
    frame: Any = sys._getframe(1)
    asked = ""
    while frame is not None and OURS[frame.f_code.co_filename]:
        asked, frame = frame.f_code.co_name, frame.f_back
    return (
        asked in _READS
        and frame is not None
        and frame.f_code is code
        and frame.f_back is not None
        and frame.f_back.f_code is until
        and _is_handed_back(flow_of(code), place_of(frame))
    )


def _is_handed_back(flow: Flow, k: int) -> bool:
    """Return whether the result of instruction `k` is only returned, alone or in containers."""
    takers = flow.takers(k)
    return bool(takers) and all(
        flow.steps[i].opname == "RETURN_VALUE"
        or (flow.steps[i].opname in _CONTAINERS and i > k and _is_handed_back(flow, i))
        for i, _ in takers or ()
    )
