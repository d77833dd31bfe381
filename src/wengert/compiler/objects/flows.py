"""Layer 8 · compiler: find text, formatted from values, that is only printed.

NOTE [text for print]
``f"{loss.item():.3f}"`` formats a number that differs in each call. No code can see that text
before it is printed if it goes straight to ``print``: from the instruction that formats it, through
f-strings, ``+``, and variables that nothing else reads. The bytecode shows this. Only then does
the trace use a placeholder for the text (`wengert.compiler.tracing.prints`); otherwise, formatting
a number is a decision on its value.
"""

from __future__ import annotations

import functools
import logging
import re
import sys
import warnings
from types import CodeType
from typing import Any

from wengert.compiler.objects.bytecode import (
    QUIET,
    SPEC,
    Flow,
    flow_of,
    instructions_of,
    place_of,
    user_frame,
)

_CONVERSION = 3
"""The bits in the argument of ``FORMAT_VALUE`` for a conversion such as ``!r``."""
_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK"})
_TEXTS = frozenset({"str", "repr", "format"})
"""Functions that convert their first argument to text."""
_NESTED = re.compile(r"\{[^{}]*\{")


LEVELS = {
    name: logging.getLevelNamesMapping()[name.upper()]
    for name in ("debug", "info", "warning", "error", "critical")
}
"""The functions of `logging` and methods of loggers that log a record, with their levels."""
LOGGERS: frozenset[type] = frozenset({logging.Logger, logging.RootLogger})
_PRINT = frozenset({"print"})


def sinks_of(code: CodeType, space: dict[str, Any]) -> frozenset[str]:
    """Return the names by which code calls ``print``, ``warnings.warn`` and methods of loggers."""
    found = set() if "print" in space else {"print"}
    for name in code.co_names:
        thing = space.get(name)
        if thing is warnings:
            found.add(f"{name}.warn")
        elif thing is logging or type(thing) in LOGGERS:
            found |= {f"{name}.{level}" for level in LEVELS}
    return frozenset(found)


def is_printed(as_is: bool) -> bool:
    """Return whether the text that the user's frame is formatting is only printed.

    Parameters
    ----------
    as_is: Whether the text is the ``str()`` or ``repr()`` of an object, before any format.
    """
    frame = user_frame(sys._getframe(1))
    if frame is None:
        return False
    code, k = frame.f_code, place_of(frame)
    step = instructions_of(code)[0][k]
    what, arg = step.opname, step.arg or 0
    if what == "FORMAT_VALUE":
        if as_is and arg & SPEC:
            return False
    elif what == "FORMAT_WITH_SPEC":
        if as_is:
            return False
    elif what == "CALL":
        called = _called(flow_of(code), k, _PRINT)
        whole = called == "text" and not _TEXTS & frame.f_globals.keys()
        if not whole and (as_is or called != "format"):
            return False
    elif what not in ("FORMAT_SIMPLE", "CONVERT_VALUE"):
        return False
    return _flows(code, k, True, sinks_of(code, frame.f_globals))


def is_printed_number() -> bool:
    """Return whether the number that the running frame reads from a tensor is only printed."""
    frame = user_frame(sys._getframe(1))
    if frame is None:
        return False
    code, k = frame.f_code, place_of(frame)
    formats = instructions_of(code)[0][k].opname != "CALL"
    return is_printed(False) if formats else _flows(code, k, False, sinks_of(code, frame.f_globals))


def is_handed_to_print(code: CodeType, offset: int) -> bool:
    """Return whether the result of the instruction at `offset` is only an argument of ``print``."""
    return _flows(code, instructions_of(code)[1].index(offset), False, _PRINT)


@functools.lru_cache(512)
def questions_of(
    code: CodeType, name: str, sinks: frozenset[str] = _PRINT
) -> tuple[str, ...] | None:
    """Return the tests that a function makes on an integer, if it only tests or prints it.

    The integer is the parameter `name`. Each test is an expression of ``{0}``, such as
    ``({0} % 100) == 0``, whose truth value alone the function uses. Empty if the number is only
    printed; None if it is used in another way.
    """
    if name in code.co_cellvars or "vars" in code.co_names:
        return None
    asked = []
    steps = [step for step in instructions_of(code)[0] if step.opname not in QUIET]
    offsets = instructions_of(code)[1]
    for i, step in enumerate(steps):
        if not _is_variable(step, name):
            continue
        if step.opname not in _LOADS:
            return None
        if _flows(code, offsets.index(step.offset), False, sinks):
            continue
        question = _question(steps, i + 1)
        if question is None:
            return None
        asked.append(question)
    return tuple(dict.fromkeys(asked))


def _question(steps: list[Any], i: int) -> str | None:
    """Return the test of the number on the stack, if it is arithmetic with constants, else None."""
    text = "{0}"
    while i + 1 < len(steps):
        step, other = steps[i], steps[i + 1]
        if step.opname in ("TO_BOOL", "UNARY_NOT") or (
            step.opname.startswith("POP_JUMP") and "NONE" not in step.opname
        ):
            return f"{text} != 0"
        number = step.argval
        if step.opname not in ("LOAD_CONST", "LOAD_SMALL_INT") or type(number) is not int:
            return None
        if other.opname == "COMPARE_OP":
            return f"{text} {other.argval} {number}" if other.argval in _COMPARISONS else None
        if other.opname != "BINARY_OP" or other.argrepr not in _ARITHMETIC:
            return None
        if other.argrepr in _DIVISIONS and not number:
            return None
        text = f"({text} {other.argrepr} {number})"
        i += 2
    return None


_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_DIVISIONS = frozenset({"//", "%"})
_ARITHMETIC = _DIVISIONS | {"+", "-"}


def _is_variable(step: Any, name: str) -> bool:
    """Return whether an instruction reads or writes the local variable `name`."""
    return step.argval == name and "_FAST" in step.opname


def _called(flow: Flow, k: int, sinks: frozenset[str]) -> str:
    """Return the kind of the call at instruction `k`, or an empty string.

    ``"print"``: one of `sinks`; ``"text"``: a function that converts its argument to text;
    ``"format"``: the method of a constant string.
    """
    if k not in flow.before or flow.steps[k].opname not in ("CALL", "CALL_KW"):
        return ""
    # the function and the entry next to it: a null or the object of a method
    under = flow.before[k][len(flow.before[k]) - (flow.takes(k) or 0) :][:2]
    if any(len(entry) != 1 for entry in under):
        return ""
    found = [i for (i,) in under if i < 0 or flow.steps[i].opname != "PUSH_NULL"]
    source = max(found, default=-1)
    if source < 0:
        return ""
    step = flow.steps[source]
    if step.opname == "LOAD_GLOBAL":
        return "print" if step.argval in sinks else "text" if step.argval in _TEXTS else ""
    if step.opname not in ("LOAD_METHOD", "LOAD_ATTR") or len(flow.before[source][-1]) != 1:
        return ""
    (owner,) = flow.before[source][-1]
    held = flow.steps[owner]
    if held.opname == "LOAD_GLOBAL" and f"{held.argval}.{step.argval}" in sinks:
        return "print"
    plain = held.opname == "LOAD_CONST" and type(held.argval) is str
    is_format = plain and step.argval == "format" and not _NESTED.search(held.argval)
    return "format" if is_format else ""


def _flows(
    code: CodeType, k: int, is_text: bool, sinks: frozenset[str], seen: frozenset[int] = frozenset()
) -> bool:
    """Return whether the result of instruction `k` is only printed or made part of such text."""
    flow = flow_of(code)
    takers = flow.takers(k)
    return bool(takers) and all(
        position is not None and _is_harmless(code, i, position, is_text, sinks, seen)
        for i, position in takers or ()
    )


def _is_harmless(
    code: CodeType,
    i: int,
    at: int,
    is_text: bool,
    sinks: frozenset[str],
    seen: frozenset[int],
) -> bool:
    """Return whether instruction `i` prints its operand `at`, or makes it part of such text."""
    flow = flow_of(code)
    step = flow.steps[i]
    what, arg = step.opname, step.arg or 0
    if what in ("CALL", "CALL_KW"):
        return at >= 2 and _called(flow, i, sinks) == "print"
    if what == "STORE_FAST":
        return is_text and _is_stored(code, step.argval, sinks, seen)
    if what == "FORMAT_VALUE":
        ready = at == 0 and not (is_text and arg) and not (arg & SPEC and arg & _CONVERSION)
    elif what == "FORMAT_WITH_SPEC":
        ready = at == 0 and not is_text
    elif what == "CONVERT_VALUE":
        ready = not is_text
    elif what == "BINARY_OP":
        ready = is_text and step.argrepr in ("+", "+=")
    else:
        ready = what == "FORMAT_SIMPLE" or (what == "BUILD_STRING" and is_text)
    return ready and (i in seen or _flows(code, i, True, sinks, seen | {i}))


def _is_stored(code: CodeType, name: str, sinks: frozenset[str], seen: frozenset[int]) -> bool:
    """Return whether every read of the variable that text is stored in only prints it."""
    if "vars" in code.co_names:
        # it returns all variables
        return False
    for i, step in enumerate(instructions_of(code)[0]):
        if not _is_variable(step, name) or step.opname in ("STORE_FAST", "DELETE_FAST"):
            continue
        if step.opname not in _LOADS:
            return False
        if i not in seen and not _flows(code, i, True, sinks, seen | {i}):
            return False
    return True
