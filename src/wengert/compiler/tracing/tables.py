"""Layer 8 · compiler: programs with very many inputs or outputs, as the rows of a few tables.

The last block of a long loop that was traced decision by decision reads values of every block
before it, and the backward pass of an unrolled loop reads values of every iteration. Thousands of
separate inputs need native code that is long and slow to compile. If they are rows of a table, read
at a constant stride, the steps that read them are rerolled into a loop. A program that computes
thousands of outputs in a loop returns what the loop has stacked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from wengert.compiler.ir.executable import Wrapped
from wengert.compiler.ir.programs import Loop, Program, Step, Value, uses
from wengert.compiler.passes.builder import live
from wengert.prims.table import TABLE

# the fewest inputs of a program that gathers them, and the fewest rows of a table
_MANY = 256
_ALIKE = 16
_SELECT = TABLE["select"]


class Tabled(Wrapped):
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
        super().__init__(executable)
        self._single = single
        self._tables = tables

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """Run the program on the inputs."""
        given = [arrays[k] for k in self._single]
        given += [np.array([arrays[k] for k in rows]) for rows in self._tables]
        return self._executable(given)


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
            Step(_SELECT, (table,), {"dim": 0, "index": k}, (row,)) for k, row in enumerate(rows)
        ]
    made = Program(inputs, [*steps, *program.steps], program.outputs, program.writes)
    simple, executable = finish(made)
    return simple, Tabled(
        executable,
        [places[value] for value in single],
        [[places[value] for value in rows] for rows in groups],
    )


Rows = dict[Value, tuple[Value, int]]
"""Values that are rows: the stack and the position of each."""


class Stacked(Wrapped):
    """Runs a program that returns stacks of rows in place of the rows.

    Parameters
    ----------
    executable: The executable, which returns the remaining outputs and the stacks.
    values: What it returns, as values.
    rows: For each output, its place among the results, and its row or None.
    """

    def __init__(
        self, executable: Any, values: Sequence[Value], rows: Sequence[tuple[int, int | None]]
    ) -> None:
        super().__init__(executable)
        self._values = values
        self._rows = rows

    def whole(self, outputs: Sequence[Value]) -> tuple[Stacked, tuple[Value, ...], Rows]:
        """Return an executable that returns stacks in place of their rows.

        Returns
        -------
        Stacked, tuple, dict: The executable, its outputs, and which rows the other outputs are.
        """
        pairs = [*zip(outputs, self._rows, strict=True)]
        kept = [(value, k) for value, (k, row) in pairs if row is None]
        kept += [
            (self._values[k], k) for k in sorted({k for k, row in self._rows if row is not None})
        ]
        rows = {value: (self._values[k], row) for value, (k, row) in pairs if row is not None}
        made = Stacked(self._executable, self._values, [(k, None) for _, k in kept])
        return made, tuple([value for value, _ in kept]), rows

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """Run the program; rows are views of their stack."""
        found = self._executable(arrays)
        return [found[k] if row is None else found[k][row] for k, row in self._rows]


def built(program: Program, build: Callable[[Program], Any], kept: Collection[int] = ()) -> Any:
    """Build the executable of a simplified program; if it has many, outputs are rows of stacks.

    The outputs at the places `kept`, which leave the call, have memory of their own.
    """
    stacks = {out for step in program.steps if isinstance(step, Loop) for out in step.outs}
    written = {value for pair in program.writes for value in pair}
    rows: dict[Value, tuple[Value, int]] = {}
    for step in program.steps:
        if isinstance(step, Loop) or step.prim is not _SELECT or step.params["dim"] != 0:
            continue
        if step.args[0] in stacks:
            rows[step.outs[0]] = step.args[0], step.params["index"]
    outputs = [
        (value, None) if k in kept or value in written else rows.get(value, (value, None))
        for k, value in enumerate(program.outputs)
    ]
    if sum(row is not None for _, row in outputs) < _MANY:
        return build(program)
    values = list(dict.fromkeys(value for value, _ in outputs))
    places = {value: k for k, value in enumerate(values)}
    made = Program(program.inputs, live(program.steps, values)[0], values, program.writes)
    return Stacked(build(made), values, [(places[value], row) for value, row in outputs])
