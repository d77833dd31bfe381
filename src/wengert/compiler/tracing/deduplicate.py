"""Layer 8 · compiler: equal blocks, or blocks equal up to numbers, share one executable.

A loop whose counter or rate is a Python number is traced as one block per iteration, and these
blocks differ only in numbers. Compilation takes far longer than execution. So of the blocks that
are equal up to numbers, the first is compiled with its constants, and all others share one
executable, which takes the numbers that differ between blocks as inputs. The other numbers stay
constants, for which the code may be faster.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from wengert.compiler.ir.programs import Number, Program, Step, Value
from wengert.compiler.passes.value_numbering import program_key
from wengert.prims.table import TABLE

_FORMS = frozenset(
    {form for prim in TABLE.values() for form in (prim.scalar, prim.rscalar) if form}
    # the code for a power depends on the exponent
    - {"pow_scalar", "rpow_scalar"}
)
"""Primitives on an array and a number."""

_EXACT = 1 << 53
"""Integers of at most this magnitude are exact as floats."""

Made = tuple[Program, Any, tuple[Value, ...]]


class Programs:
    """The executables of programs, shared between programs that are equal up to numbers.

    Parameters
    ----------
    finish: Simplifies a program and builds its executable.
    """

    def __init__(self, finish: Callable[[Program], tuple[Program, Any]]) -> None:
        self._finish = finish
        self._made: dict[Any, tuple[Program, Any]] = {}
        self._families: dict[Any, _Family] = {}

    def alone(self, program: Program) -> Made:
        """Like `made`, but for a program that is not shared."""
        return *self._finish(program), ()

    def made(self, program: Program) -> Made:
        """Return the simplified program, its executable, and the numbers it takes as inputs."""
        places = list(_numbers_in(program))
        if places:
            whole = _lifted(program, range(len(places)))[0]
            key = len(places), program_key(whole)
            family = self._families.setdefault(key, _Family())
            program, numbers = _lifted(program, family.places([n for _, _, n in places]))
        else:
            numbers = ()
        key = program_key(program)
        if key not in self._made:
            self._made[key] = self._finish(program)
        return *self._made[key], numbers


class _Family:
    """Programs that are equal up to numbers."""

    def __init__(self) -> None:
        self._first: list[Any] | None = None
        self._varying: set[int] = set()

    def places(self, numbers: list[Any]) -> Collection[int]:
        """Return the places of the numbers that become inputs of a program."""
        # repr() distinguishes 0.0 from -0.0
        texts = list(map(repr, numbers))
        if self._first is None:
            self._first = texts
        differ = {i for i, text in enumerate(texts) if text != self._first[i]}
        if not differ:
            return ()
        self._varying |= differ
        return self._varying


def _numbers_in(program: Program) -> Iterator[tuple[int, Any, Any]]:
    """Yield the numbers that steps read: the step, the position or name in it, and the number."""
    for i, step in enumerate(program.steps):
        if not isinstance(step, Step) or step.outs[0].dtype.kind not in "fb":
            continue
        for k, value in enumerate(step.args):
            if value.constant is not None and not value.shape and value.dtype.kind == "f":
                yield i, k, value.constant.item()
        if step.prim.name in _FORMS and step.args[0].dtype == step.outs[0].dtype:
            for name, param in step.params.items():
                if param.__class__ is float or (param.__class__ is int and abs(param) <= _EXACT):
                    yield i, name, float(param)


def _lifted(program: Program, which: Collection[int]) -> tuple[Program, tuple[Value, ...]]:
    """Turn some numbers of a program into extra inputs; return the program and these numbers."""
    if not which:
        return program, ()
    steps, inputs, numbers = list(program.steps), list(program.inputs), []
    for i, place, number in [n for k, n in enumerate(_numbers_in(program)) if k in which]:
        step = steps[i]
        assert isinstance(step, Step)
        args, params = list(step.args), dict(step.params)
        kind = np.dtype(np.float64) if place.__class__ is str else args[place].dtype
        array = np.array(number, kind)
        array.flags.writeable = False
        numbers.append(Value(kind, (), array))
        inputs.append(Value(kind, ()))
        if place.__class__ is str:
            params[place] = Number(inputs[-1])
        else:
            args[place] = inputs[-1]
        steps[i] = Step(step.prim, args, params, step.outs, step.site)
    return Program(tuple(inputs), steps, program.outputs, program.writes), tuple(numbers)
