"""Layer 8 · compiler: one piece of machine code for programs that differ in sizes.

NOTE [sizes that vary]
A function that is called with batches of 64 and of 17 is traced for each, but LLVM, which takes
most of the time, need not run for each. When a second program comes that consists of the same
steps, the dimensions in which the two differ are marked (`Varying`), and both are written in a form
that holds for any size, such as with a loop behind the vectors for what is left over. If these
texts are equal but for numbers, machine code is made of one in which the numbers that differ are
read from the table that each function gets anyway, in front of its addresses. A third program that
differs from these in the same places only brings its numbers.

Nothing is concluded from sizes: the texts are compared, number by number. What is not equal gets
code of its own.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple

from wengert.compiler.backends.machine import Machine
from wengert.compiler.ir.programs import Loop, Program, Value, Varying, open_ended, uses

__all__ = ["Families"]

_MOST = 6
"""So many structures are compared, and so often is the code of each widened."""

_NUMBER = r"(?:-?\d+|0x[0-9A-F]{16})(?![\w.])"
_NUMBERS = re.compile(
    rf"<(?:(?:double|float|i\d+) {_NUMBER}(?:, )?)+>"  # a vector
    r"|(?<=alloca \[)\d+(?= x \w+\], align)"
    rf"|(?<=\bi64 ){_NUMBER}(?! x)|(?<=\bdouble ){_NUMBER}|(?<=\bfloat ){_NUMBER}"
    r"|(?<=store i32 )-?\d+\b"
    rf"|(?<=, ){_NUMBER}$"  # the second operand
    rf"|(?<=\[ ){_NUMBER}(?=, %)"  # where a counter begins
)
_OPERANDS = re.compile(
    r" = (?:phi|f?add|f?sub|f?mul|fdiv|[su]div|[su]rem|frem|shl|[al]shr|and|or|xor|icmp|fcmp)"
    r"(?: [a-z]+)* (i64|double|float) "
)
_TYPED = re.compile(r"\b(i64|i32|double|float) $")
_HEAD = re.compile(r"define .*?@([\w.]+)\(")
_CALL = re.compile(r"(?<=call )([^@]*@([\w.]+)\(.*)\)$")
_ALLOCATION = " = alloca ["
_TABLE = "%constants"
_DEFINED = f"  {_TABLE} = "


class _Place(NamedTuple):
    """Where a number stands in the instructions: the line, and which of its numbers it is."""

    line: int
    number: int


class _Kin:
    """Texts that are equal but for numbers.

    Attributes
    ----------
    machine: The machine code that holds for all of them.
    made: How often it was made.
    """

    def __init__(self, first: list[str]) -> None:
        self._first = first
        self._texts = [first]
        self._lines: dict[int, list[str]] = {}
        self._fixed: dict[_Place, str] = {}
        self._lifted: dict[_Place, str] = {}
        self.machine: Machine | None = None
        self.made = 0

    def numbers(self, lines: list[str]) -> dict[int, list[str]] | None:
        """The numbers in lines that differ, or None if anything else does."""
        if len(lines) != len(self._first):
            return None
        found: dict[int, list[str]] = {}
        for i, (mine, other) in enumerate(zip(self._first, lines, strict=True)):
            if mine != other or i in self._lines:
                if not mine.startswith("  ") or _NUMBERS.split(mine) != _NUMBERS.split(other):
                    return None
                found[i] = _NUMBERS.findall(other)
        return found

    def words(self, numbers: dict[int, list[str]]) -> list[int] | None:
        """What the machine code reads from its table; None if it does not hold."""
        if self.machine is None or len(numbers) != len(self._lines):
            return None
        if any(numbers[at.line][at.number] != known for at, known in self._fixed.items()):
            return None
        found = [(numbers[at.line][at.number], kind) for at, kind in self._lifted.items()]
        if not all(_is_uniform(number) for number, _ in found):
            return None
        return [_word(number, kind) for number, kind in found]

    def widen(self, lines: list[str], numbers: dict[int, list[str]]) -> bool:
        """Make machine code that holds for one more text; False if that cannot be done."""
        texts = [*self._texts, lines]
        lifted: dict[_Place, str] = {}
        fixed: dict[_Place, str] = {}
        for i in numbers:
            columns = zip(*[_NUMBERS.findall(text[i]) for text in texts], strict=True)
            for k, column in enumerate(columns):
                if len(set(column)) == 1:
                    fixed[_Place(i, k)] = column[0]
                    continue
                kind = _type_of(lines[i], k)
                if kind is None or not all(map(_is_uniform, column)):
                    return False
                lifted[_Place(i, k)] = kind
        text = _reading(self._first, lifted)
        if text is None:
            return False
        self._texts, self._lifted, self._fixed, self._lines = texts, lifted, fixed, numbers
        self.machine = Machine(text)
        self.made += 1
        return True


def _is_uniform(token: str) -> bool:
    """Whether it stands for one number only: a vector may hold several."""
    return token[0] != "<" or len(set(token[1:-1].split(", "))) == 1


def _plain(number: str) -> str:
    """The number that a token stands for, be it in a vector."""
    return number[1:-1].split(", ")[0].split()[1] if number[0] == "<" else number


def _type_of(line: str, number: int) -> str | None:
    """The type of a number that is to become a value, or None if it cannot become one."""
    found = list(_NUMBERS.finditer(line))[number]
    token = found[0]
    if token[0] == "<":
        kind = token[1:].split()[0]
        return kind if kind in ("i64", "double", "float") else None
    before = line[: found.start()]
    if before.endswith(_ALLOCATION):
        return "i64"
    typed = _TYPED.search(before) or _OPERANDS.search(before)
    return typed[1] if typed else None


def _word(number: str, kind: str) -> int:
    """A number as what stands in a table of addresses."""
    plain = _plain(number)
    if kind in ("i64", "i32"):
        return int(plain) & (1 << 64) - 1
    if not plain.startswith("0x"):
        bits = struct.unpack("<Q", struct.pack("<d", float(plain)))[0]
    else:
        bits = int(plain, 16)
    if kind == "double":
        return int(bits)
    (value,) = struct.unpack("<d", struct.pack("<Q", bits))
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def _reading(lines: Sequence[str], lifted: dict[_Place, str]) -> str | None:
    """The text with numbers read from the table; None if some function cannot get the table."""
    lines = list(lines)
    begins = [i for i, line in enumerate(lines) if line.startswith("define ")]
    names = [found[1] for i in begins if (found := _HEAD.match(lines[i]))]
    first: list[list[str]] = [[] for _ in begins]
    loads: dict[int, list[str]] = {}
    # the last of a line first, so that those before it stay where they are
    for (at, number), j in sorted(zip(lifted, range(len(lifted)), strict=True), reverse=True):
        line = lines[at]
        found = list(_NUMBERS.finditer(line))[number]
        before, behind = line[: found.start()], line[found.end() :]
        name, load = _load(j, lifted[_Place(at, number)], found[0])
        # an instruction takes it best from memory at once; what begins a block cannot
        early = " = phi " in line or found[0][0] == "<"
        (first[bisect_right(begins, at) - 1] if early else loads.setdefault(at, [])).extend(load)
        if before.endswith(_ALLOCATION):
            # an array becomes so many elements
            element, _, behind = behind[len(" x ") :].partition("]")
            before, name = before[:-1], f"{element}, i64 {name}"
        lines[at] = f"{before}{name}{behind}"
    bodies = [
        [part for i in range(begin, end) for part in (*loads.get(i, ()), lines[i])]
        for begin, end in pairwise([*begins, len(lines)])
    ]
    calls = [{f[2] for line in body if (f := _CALL.search(line))} for body in bodies]
    needy = {names[bisect_right(begins, at) - 1] for at, _ in lifted}
    while more := {n for n, called in zip(names, calls, strict=True) if called & needy} - needy:
        needy |= more
    given = {
        name
        for name, body in zip(names, bodies, strict=True)
        if name in needy
        and f"ptr {_TABLE})" not in body[0]
        and not any(line.startswith(_DEFINED) for line in body)
    }
    for name, own, body in zip(names, first, bodies, strict=True):
        if name in given:
            body[0] = body[0].replace(")", f", ptr {_TABLE})", 1)
        body[:] = [_passing(line, given) for line in body]
        tables = [i for i, line in enumerate(body) if line.startswith(_DEFINED)]
        # the first line behind the head is a label
        at = tables[0] + 1 if tables else 2
        body[at:at] = own
    whole = "\n".join([*lines[: begins[0]], *[line for body in bodies for line in body]])
    # what is called by its address gets nothing more
    by_address = any(re.search(rf"@{re.escape(name)}(?![\w.(])", whole) for name in given)
    return None if by_address else f"{whole}\n!0 = !{{}}\n"


def _load(j: int, kind: str, token: str) -> tuple[str, list[str]]:
    """What stands instead of a number, and how it is read."""
    name = f"%lifted.{j}"
    lines = [
        f"  {name}.at = getelementptr i64, ptr {_TABLE}, i64 {-j - 2}",
        f"  {name} = load {kind}, ptr {name}.at, align 8, !invariant.load !0",
    ]
    if token[0] != "<":
        return name, lines
    count = token.count(",") + 1
    vector, mask = f"<{count} x {kind}>", f"<{count} x i32> zeroinitializer"
    return f"{name}.all", [
        *lines,
        f"  {name}.one = insertelement {vector} poison, {kind} {name}, i64 0",
        f"  {name}.all = shufflevector {vector} {name}.one, {vector} poison, {mask}",
    ]


def _passing(line: str, given: set[str]) -> str:
    """A line in which some functions are given the table."""
    found = _CALL.search(line)
    if found is None or found[2] not in given:
        return line
    return f"{line[: found.start()]}{found[1]}, ptr {_TABLE})"


class Family:
    """Programs that consist of the same steps, and differ in sizes.

    Attributes
    ----------
    program: The first of them.
    stale: Whether the first one's text is wanted.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.stale = False
        self.lock = Lock()
        self._kin: list[_Kin] = []

    def takes(self, program: Program) -> bool:
        """Mark where a program differs from the first one; whether it does so anywhere."""
        marks = [_marked(a, b) for a, b in zip(*map(_sized, (self.program, program)), strict=True)]
        if True in marks:
            self._kin, self.stale = [], True
        return any(mark is not None for mark in marks)

    def begin(self, text: str) -> None:
        """Start with the text of the first program."""
        self._kin, self.stale = [_Kin(text.split("\n"))], False

    def machine(self, text: str) -> tuple[Machine, Sequence[int]]:
        """The machine code for a text, and what it reads from its table."""
        lines = text.split("\n")
        for kin in self._kin:
            numbers = kin.numbers(lines)
            if numbers is None:
                continue
            words = kin.words(numbers)
            if words is None and kin.made < _MOST and kin.widen(lines, numbers):
                words = kin.words(numbers)
            if words is not None:
                assert kin.machine is not None
                return kin.machine, words
            break
        else:
            # where each size has a structure of its own, there is nothing to share
            if len(self._kin) < _MOST:
                self._kin.append(_Kin(lines))
        return Machine(text), ()


class Families:
    """The programs that were compiled for one function, by the steps that they consist of."""

    def __init__(self) -> None:
        self._families: dict[Any, Family] = {}

    def of(self, program: Program) -> Family | None:
        """The family of a program, if it is not the first one, nor of the sizes of that."""
        key = tuple(_form(program))
        family = self._families.setdefault(key, Family(program))
        if family.program is program:
            return None
        with family.lock:
            return family if family.takes(program) else None


def _form(program: Program) -> Iterator[Any]:
    """What the programs of a family have in common."""
    for value in program.inputs:
        yield value.dtype.str, len(value.shape)
    for step in program.steps:
        yield "loop" if isinstance(step, Loop) else step.prim.name
        for value in (*uses(step), *step.outs):
            yield value.dtype.str, len(value.shape)
        if isinstance(step, Loop):
            yield from _form(step.body)


def _sized(program: Program) -> Iterator[Value | Loop]:
    """All that has sizes in a program."""
    yield from program.inputs
    for step in program.steps:
        yield from uses(step)
        yield from step.outs
        if isinstance(step, Loop):
            yield step
            yield from _sized(step.body)


def _marked(a: Any, b: Any) -> bool | None:
    """Mark sizes that differ: whether any had not been known to do so, or None if none does."""
    if isinstance(a, Loop):
        if a.count == b.count and not open_ended(a.count):
            return None
        new = not open_ended(a.count)
        a.count, b.count = Varying(a.count), Varying(b.count)
        return new
    pairs = list(zip(a.shape, b.shape, strict=True))
    varied = [open_ended(n) or n != m for n, m in pairs]
    if not any(varied):
        return None
    new = any(n != m and not open_ended(n) for n, m in pairs)
    for value in (a, b):
        value.shape = tuple(
            [Varying(n) if v else n for n, v in zip(value.shape, varied, strict=True)]
        )
    return new
