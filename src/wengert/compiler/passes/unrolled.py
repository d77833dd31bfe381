"""Layer 8 · compiler: a list of steps as arrays of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.compiler.ir.programs import Program, Step, Value, uses


class Unrolled:
    """A list of steps as integer arrays: operands, results, and where values are computed.

    Attributes
    ----------
    steps: The steps.
    values: All values, by number.
    read, first
        The numbers of the operands of all steps, and for each step the offset of its first operand.
    made, made_end
        The numbers of the results of all steps, and for each step the offset after its last result.
    maker, port
        For each value the step that computes it (-1: none), and its position among the results.
    whole, position
        For each value that is one position of the first dimension of another: the number of that
        value (-1: none), and the position.
    """

    def __init__(self, program: Program) -> None:
        self.steps = program.steps
        taken: list[Value] = []
        first = [0]
        made: list[Value] = []
        made_end: list[int] = []
        rows: list[tuple[Value, Value, int]] = []
        for step in self.steps:
            taken += uses(step)
            first.append(len(taken))
            made += step.outs
            made_end.append(len(made))
            if isinstance(step, Step) and step.prim.name == "select" and _is_row(step):
                rows.append((step.outs[0], step.args[0], step.params["index"]))
        self.values: list[Value] = list(dict.fromkeys([*made, *taken, *program.outputs]))
        numbers = {value: number for number, value in enumerate(self.values)}
        self._numbers = numbers
        self.outputs = _numbered(program.outputs, numbers)
        self.read = _numbered(taken, numbers)
        self.first = np.array(first, np.int64)
        self.made = np.arange(len(made), dtype=np.int64)
        self.made_end = np.array(made_end, np.int64)
        size = len(numbers)
        counts = np.diff(self.made_end, prepend=0)
        self.maker = np.full(size, -1, np.int64)
        self.maker[self.made] = np.repeat(np.arange(len(self.steps)), counts)
        self.port = np.zeros(size, np.int64)
        begins = np.repeat(self.made_end - counts, counts)
        self.port[self.made] = np.arange(self.made.size) - begins
        self.whole = np.full(size, -1, np.int64)
        self.position = np.zeros(size, np.int64)
        if rows:
            outs, sources, positions = zip(*rows, strict=True)
            rows_of = _numbered(outs, numbers)
            self.whole[rows_of] = _numbered(sources, numbers)
            self.position[rows_of] = positions

    def add(self, value: Value) -> int:
        """Add a value that a loop computes, and return its number."""
        self.maker = np.append(self.maker, -1)
        self.port = np.append(self.port, 0)
        self.whole = np.append(self.whole, -1)
        self.position = np.append(self.position, 0)
        self._numbers[value] = len(self.values)
        self.values.append(value)
        return len(self.values) - 1

    def computed(self, begin: int, end: int) -> Any:
        """Return the numbers of the results of the steps from `begin` to `end`."""
        return self.made[self.made_end[begin - 1] if begin else 0 : self.made_end[end - 1]]


def _numbered(values: Sequence[Value], numbers: dict[Value, int]) -> Any:
    return np.fromiter(map(numbers.__getitem__, values), np.int64, len(values))


def _is_row(step: Any) -> bool:
    """Return whether a step selects one position of the first dimension."""
    dim, index = step.params["dim"], step.params["index"]
    return bool(dim == 0 and index.__class__ is int and index >= 0)
