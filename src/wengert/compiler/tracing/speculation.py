"""Layer 8 · compiler: programs that search for NaN only after some has appeared.

NOTE [speculation]
A traced backward pass always searches for NaN below masks (see NOTE [masked branches] in
`wengert.tape.masked`): ``strong_zero(x, g)`` after each product costs as much as the product.
Nearly always there is no NaN. So a program first runs with `x` in place of each of these. NaN in an
`x` propagates to results as long as the operations keep NaN (`KEEPS_NAN`); outputs, and values that
other operations read, are checked after the run. If one holds NaN, the program runs again as
traced, and so do all later calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.compiler.ir.executable import Wrapped
from wengert.compiler.ir.facets import KEEPS_NAN
from wengert.compiler.ir.programs import Program, Step, Value, uses
from wengert.compiler.passes.builder import live
from wengert.prims.records import strong_zero
from wengert.tape.masked import nan_in

_LEAST = 8192
"""To search fewer elements costs less than a check, of microseconds (`det` 5: 2 of 6.7)."""

Finish = Callable[[Program], tuple[Program, Any]]


def speculated(program: Program, finish: Finish) -> tuple[Program, Any]:
    """Apply `finish` to a program that skips its searches for NaN until some appears."""
    found = _without_searches(program)
    if found is None:
        return finish(program)
    plain, looked = found
    simple, executable = finish(plain)
    count = len(program.outputs)
    return simple, _Speculated(executable, count, looked, lambda: finish(program)[1])


class _Speculated(Wrapped):
    """Runs a program without its searches for NaN until some appears.

    Parameters
    ----------
    plain: The executable without searches.
    count: The number of its outputs; those of `plain` begin with them.
    looked: The places of the outputs of `plain` that must not hold NaN.
    make: Builds the executable with searches.
    """

    def __init__(
        self, plain: Any, count: int, looked: Sequence[int], make: Callable[[], Any]
    ) -> None:
        super().__init__(plain)
        self._count = count
        self._looked = looked
        self._make = make

    def __call__(self, arrays: Sequence[Any]) -> Any:
        looked, results = self._looked, self._executable(arrays)
        if not looked:
            return results
        if any(nan_in(results[k]) for k in looked):
            searching = self._make()
            results = searching(arrays)
            self._looked, self._executable = (), searching
        return results[: self._count]


def _without_searches(program: Program) -> tuple[Program, list[int]] | None:
    """Return the program without searches for NaN, and the outputs that reveal NaN.

    Return None if there are few searches, or if checking the outputs costs as much.
    """
    given = [step for step in program.steps if isinstance(step, Step)]
    # the values that are searched for NaN, by the values with NaN replaced
    searched = {
        step.outs[0]: step.args[0]
        for step in given
        if step.prim is strong_zero and step.outs[0].shape == step.args[0].shape
    }
    if sum([value.size for value in searched]) < _LEAST or len(given) < len(program.steps):
        return None

    def rename(value: Value) -> Value:
        while value in searched:
            value = searched[value]
        return value

    steps = [step.reading(rename) for step in given]
    outputs = [rename(value) for value in program.outputs]
    needed = live(steps, outputs)[0]
    shown = _shown(needed, outputs, {rename(value) for value in searched.values()})
    sizes = [[value.size for value in values] for values in (shown, searched)]
    if 2 * sum(sizes[0]) > sum(sizes[1]):
        return None
    outputs += [value for value in shown if value not in outputs]
    # without writes, since the inputs may be needed again
    return Program(program.inputs, needed, outputs), [outputs.index(value) for value in shown]


def _shown(steps: Sequence[Any], outputs: Sequence[Value], values: set[Value]) -> list[Value]:
    """Return values that hold NaN if one of `values` does and affects the outputs."""
    keeping = set(values)
    shown: dict[Value, None] = {}
    for step in steps:
        taken = [value for value in uses(step) if value in keeping]
        if not taken:
            continue
        direct = all(value in step.args for value in taken)
        if direct and KEEPS_NAN[step.prim] and all(o.dtype.kind in "fc" for o in step.outs):
            keeping.update(step.outs)
        else:
            shown.update(dict.fromkeys(taken))
    shown.update(dict.fromkeys(value for value in outputs if value in keeping))
    return list(shown)
