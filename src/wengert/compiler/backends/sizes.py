"""Layer 8 · compiler: one piece of machine code for programs that differ in sizes.

NOTE [sizes that vary]
A function that is called with batches of 64 and of 17 is traced for each, but LLVM, which takes
most of the time, need not run for each. When a second program arrives with the same steps, the
numbers in which the two differ are marked (`Varying`), with all numbers computed from them. Code
for it is valid for any size: it has remainder loops, and reads the marked numbers from the table of
addresses that functions take. A third program with the same text reuses the machine code with its
own numbers.

Nothing is inferred from sizes: the texts are compared, and programs with different texts are
compiled apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from threading import Lock
from typing import Any

from wengert.compiler.backends.machine import Machine
from wengert.compiler.ir.programs import (
    Affine,
    Loop,
    Program,
    Step,
    Value,
    Varying,
    VaryingFloat,
    mapped,
    uses,
)

_MOST = 64
"""The most pieces of code that are kept to be shared."""

Each = Callable[[Any], Any]


class Families:
    """The programs that were compiled for one function, by the steps that they consist of."""

    def __init__(self) -> None:
        self._first: dict[Any, tuple[list[Any], set[int]]] = {}
        self._machines: dict[str, Machine] = {}
        self._lock = Lock()

    def mark(self, program: Program) -> bool:
        """Mark the numbers in which a program differs from others of its form; whether it does."""
        numbers: list[Any] = []

        def note(number: Any) -> Any:
            numbers.append(number)
            return number

        _numbered(program, note)
        form = (*_form(program), *map(type, numbers))
        with self._lock:
            first, varied = self._first.setdefault(form, (numbers, set()))
            pairs = zip(first, numbers, strict=True)
            varied |= {i for i, (one, other) in enumerate(pairs) if one != other}
            places = count()
            if varied:
                _numbered(program, lambda n: _varying(n) if next(places) in varied else n)
        return bool(varied)

    def machine(self, text: str) -> Machine:
        """The machine code of a text."""
        with self._lock:
            machine = self._machines.get(text)
            if machine is None:
                machine = Machine(text)
                if len(self._machines) < _MOST:
                    self._machines[text] = machine
        return machine


def _varying(number: Any) -> Any:
    return VaryingFloat(number) if isinstance(number, float) else Varying(number)


def _form(program: Program) -> Iterator[Any]:
    """Yield the key that programs of one form share, apart from their numbers."""
    for value in program.inputs:
        yield value.dtype.str, len(value.shape)
    for step in program.steps:
        yield "loop" if isinstance(step, Loop) else step.prim.name
        for value in (*uses(step), *step.outs):
            yield value.dtype.str, len(value.shape)
        if isinstance(step, Loop):
            yield from _form(step.body)


def _numbered(program: Program, each: Each) -> None:
    """Put what `each` makes of it in place of every number of a program, in order."""

    def sized(value: Value) -> None:
        value.shape = tuple(map(each, value.shape))

    for value in program.inputs:
        sized(value)
    for step in program.steps:
        for value in (*uses(step), *step.outs):
            sized(value)
        if isinstance(step, Step):
            step.params = {name: _param(param, each) for name, param in step.params.items()}
            continue
        step.count = each(step.count)
        step.sliced = tuple([(v, each(start), each(by)) for v, start, by in step.sliced])
        _numbered(step.body, each)


def _param(param: Any, each: Each) -> Any:
    def one(part: Any) -> Any:
        if part.__class__ in (int, float, Varying, VaryingFloat):
            return each(part)
        return Affine(each(part.start), each(part.step)) if isinstance(part, Affine) else part

    return mapped(param, one)
