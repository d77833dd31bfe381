"""Layer 8 · compiler: programs with very many inputs, which take them as the rows of a few tables.

The last block of a long loop that was traced decision by decision reads values of every block
before it. Thousands of separate inputs need native code that is long and slow to compile. If they
are rows of a table, read at a constant stride, the steps that read them are rerolled into a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.compiler.ir.executable import Description
from wengert.compiler.ir.programs import Program, Step, Value, uses
from wengert.prims.table import TABLE

__all__ = ["finished"]

# the fewest inputs of a program that gathers them, and the fewest rows of a table
_MANY = 256
_ALIKE = 16


class Tabled:
    """Runs a program whose inputs are gathered in tables.

    Parameters
    ----------
    executable: The executable, which takes the remaining inputs, then the tables.
    single: The places of the remaining inputs.
    tables: For each table, the places of the inputs that are its rows.
    """

    def __init__(
        self, executable: Any, single: Sequence[int], tables: Sequence[Sequence[int]]
    ) -> None:
        self._executable = executable
        self._single = single
        self._tables = tables

    @property
    def machine(self) -> Any:
        """The machine code, if there is any."""
        return getattr(self._executable, "machine", None)

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """Run the program on the inputs."""
        given = [arrays[k] for k in self._single]
        given += [np.array([arrays[k] for k in rows]) for rows in self._tables]
        return self._executable(given)

    def describe(self) -> Description:
        """Describe the executable."""
        description: Description = self._executable.describe()
        return description


def finished(
    program: Program, finish: Callable[[Program], tuple[Program, Any]]
) -> tuple[Program, Any]:
    """Apply `finish` to a program, with tables if it has very many inputs."""
    if len(program.inputs) < _MANY:
        return finish(program)
    places = {value: k for k, value in enumerate(program.inputs)}
    # rows in the order in which they are read
    read = dict.fromkeys(v for step in program.steps for v in uses(step) if v in places)
    kinds: dict[Any, list[Value]] = {}
    for value in read:
        if not any(value in pair for pair in program.writes):
            kinds.setdefault((value.dtype, value.shape), []).append(value)
    groups = [rows for rows in kinds.values() if len(rows) >= _ALIKE]
    gathered = {value for rows in groups for value in rows}
    single = [value for value in program.inputs if value not in gathered]
    inputs, steps = list(single), []
    for rows in groups:
        table = Value(rows[0].dtype, (len(rows), *rows[0].shape))
        inputs.append(table)
        steps += [
            Step(TABLE["select"], (table,), {"dim": 0, "index": k}, (row,))
            for k, row in enumerate(rows)
        ]
    made = Program(inputs, [*steps, *program.steps], program.outputs, program.writes)
    simple, executable = finish(made)
    return simple, Tabled(
        executable,
        [places[value] for value in single],
        [[places[value] for value in rows] for rows in groups],
    )
