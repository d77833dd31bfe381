"""Layer 8 · compiler: backward passes of compiled calls on cotangents of transforms.

`jacrev` pulls a batch of cotangents through the node of a compiled call, whose backward pass is a
program of arrays. Applied to a batch, this is another program of arrays. It is traced by running
the first one on symbols at the levels of the cotangents, once for each nesting of levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert.compiler.ir.programs import Program, Step, Value, apply
from wengert.compiler.tracing.payloads import Form, built, contents_of, form_of
from wengert.compiler.tracing.sym import Sym
from wengert.compiler.tracing.trace import Trace
from wengert.interp.levels import Level, Lifted, levels_of, namespace_of
from wengert.tape.modes import MODE, changed, current_mode

_MOST = 8
"""The largest number of combinations of forms and shapes that programs are built for."""


def traced(
    function: Callable[[Iterator[Sym]], Any], arrays: Sequence[Any]
) -> tuple[Trace, list[Value], list[Step], Any] | None:
    """Trace a function of symbols; return None if it does more than apply primitives.

    Returns
    -------
    The trace, the values of the inputs, the steps, and the result of the function.
    """
    trace = Trace()
    symbols = [trace.input(array) for array in arrays]
    before = current_mode()
    try:
        MODE.set(changed(before, tracing=trace))
        results = function(iter(symbols))
    finally:
        MODE.set(before)
        trace.finish()
    steps = [item for item in trace.items if isinstance(item, Step)]
    if trace.broken is not None or len(steps) < len(trace.items):
        return None
    return trace, [symbol.value for symbol in symbols], steps, results


class TransformedProgram:
    """A program of arrays, run on values of transforms.

    Parameters
    ----------
    program: The program.
    finish: Simplifies a program; returns it with its executable.
    """

    def __init__(self, program: Program, finish: Callable[[Program], tuple[Program, Any]]) -> None:
        self._program = program
        self._finish = finish
        self._made: dict[Any, tuple[Any, list[Form | None]] | None] = {}

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """Return the outputs."""
        mode = current_mode()
        known = levels_of(*values)
        levels = [known[number] for number in sorted(known)]
        special = mode is not None and (mode.tracing is not None or mode.special is not None)
        traced = any(isinstance(part, Lifted) for v in values for part in contents_of(v))
        if special or traced or not levels:
            return self._applied(values)
        arrays = [np.asarray(part, order="C") for value in values for part in contents_of(value)]
        key = (
            tuple([level.size for level in levels]),
            tuple([form_of(value, levels) for value in values]),
            tuple([(array.shape, array.dtype) for array in arrays]),
        )
        if key not in self._made:
            if len(self._made) >= _MOST:
                return self._applied(values)
            self._made[key] = self._traced(key[1], arrays, levels)
        found = self._made[key]
        if found is None:
            return self._applied(values)
        executable, forms = found
        results = iter(executable(arrays))
        return [built(form, results, levels) for form in forms]

    def _applied(self, values: Sequence[Any]) -> list[Any]:
        """Return the outputs, computed step by step by the interpreters."""
        lifted = [value for value in values if isinstance(value, Lifted)]
        return apply(self._program, namespace_of(*lifted), values)

    def _traced(
        self, forms: Sequence[Form | None], arrays: Sequence[Any], levels: Sequence[Level]
    ) -> tuple[Any, list[Form | None]] | None:
        """Return the executable for values of these forms, and the forms of its outputs."""
        made = traced(
            lambda symbols: self._applied([built(form, symbols, levels) for form in forms]), arrays
        )
        if made is None:
            return None
        trace, inputs, steps, outputs = made
        found = [trace.symbol(part).value for output in outputs for part in contents_of(output)]
        program = Program(inputs, steps, found)
        return self._finish(program)[1], [form_of(output, levels) for output in outputs]
