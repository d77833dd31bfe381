"""Layer 8 · compiler: where a list of steps repeats itself.

NOTE [labels of steps]
Steps that may be the same line of a loop have equal labels: the primitive, the dtypes and shapes of
what they read and compute, and their parameters, without those numbers that may follow from the
repetition (positions, and the numbers of operations with one). In a loop of p steps, labels repeat
with the period p. Whether the arguments do as well is for whoever makes the loop to find out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.ir import Loop, Number, Program, Step, Value
from wengert.compiler.passes.keys import param_key

__all__ = ["Region", "labels", "regions"]

POSITIONS = frozenset({"index", "start", "end"})
"""The parameters that may be ``start + step * i`` in repetition `i`."""
NUMBERS = frozenset({"other", "exponent", "base"})
"""The parameters that may be any float in each repetition."""

_WINDOWS = (1, 6, 32)
_CANDIDATES = 8
_REPETITIONS = 8


class Region(NamedTuple):
    """Steps whose labels repeat: `period` steps from `start` on, `repetitions` times."""

    start: int
    period: int
    repetitions: int

    def several(self, times: int) -> Region:
        """The same steps with so many repetitions taken as one."""
        return Region(self.start, self.period * times, self.repetitions // times)

    @property
    def end(self) -> int:
        """The first step behind."""
        return self.start + self.period * self.repetitions


def labels(steps: Sequence[Step | Loop]) -> Any:
    """A number for each step, equal for steps with equal labels (see NOTE [labels of steps])."""
    known: dict[Any, int] = {}
    types: dict[Any, Any] = {}
    return np.array(
        [known.setdefault(_label(step, types), len(known)) for step in steps],
        dtype=np.int64,
    )


def _type_of(value: Value, types: dict[Any, Any]) -> Any:
    key = (value.dtype, value.shape)
    return types.setdefault(key, len(types))


def _label(step: Step | Loop, types: dict[Any, Any]) -> Any:
    if isinstance(step, Loop):
        read = [v for v, _, _ in step.sliced]
        return (
            "loop",
            step.count,
            tuple([(start, by) for _, start, by in step.sliced]),
            tuple([_type_of(v, types) for v in (*step.carried, *read, *step.fixed, *step.outs)]),
            body_key(step.body),
        )
    return (
        step.prim.name,
        tuple([_type_of(value, types) for value in step.args]),
        tuple([_type_of(value, types) for value in step.outs]),
        *[_param_label(name, step.params[name], types) for name in step.params],
    )


def _param_label(name: str, param: Any, types: dict[Any, Any]) -> Any:
    kind = param.__class__
    if kind is int and name in POSITIONS:
        return name
    if kind is float and name in NUMBERS:
        return name
    if kind is Value:
        return name, _type_of(param, types)
    if kind is Number:
        return name, Number, _type_of(param.value, types)
    if kind is tuple or kind is list:
        return name, kind, tuple([_param_label("", part, types) for part in param])
    return name, param_key(param)


def body_key(body: Program) -> Any:
    """What is equal for programs that compute the same in the same way."""
    names: dict[Value, Any] = {value: i for i, value in enumerate(body.inputs)}

    def name(value: Value) -> Any:
        if value.constant is not None:
            return value.dtype.str, value.shape, value.constant.tobytes()
        return names.setdefault(value, len(names))

    def param(value: Any) -> Any:
        if value.__class__ is Value:
            return name(value)
        if value.__class__ is Number:
            return Number, name(value.value)
        if value.__class__ in (tuple, list):
            return tuple([param(part) for part in value])
        return param_key(value)

    lines: list[Any] = [tuple([(v.dtype.str, v.shape) for v in body.inputs])]
    for step in body.steps:
        outs = tuple([(name(out), out.dtype.str, out.shape) for out in step.outs])
        if isinstance(step, Loop):
            sliced = tuple([(name(v), start, by) for v, start, by in step.sliced])
            read = tuple(map(name, (*step.carried, *step.fixed)))
            lines.append((step.count, read, sliced, outs, body_key(step.body)))
        else:
            params = tuple([(n, param(step.params[n])) for n in sorted(step.params)])
            lines.append((step.prim.name, tuple(map(name, step.args)), params, outs))
    lines.append(tuple(map(name, body.outputs)))
    return tuple(lines)


# -- periods --------------------------------------------------------------------------------------


def regions(marks: Any, least: int) -> list[Region]:
    """Regions that may be loops, those first that would spare most steps; they may overlap.

    Parameters
    ----------
    marks
        The label of each step.
    least
        The number of steps, of all repetitions together, from which on a loop is worth it.
    """
    found: list[Region] = []
    for period in _periods(marks):
        same = np.concatenate(([False], marks[:-period] == marks[period:], [False]))
        edges = np.flatnonzero(same[1:] != same[:-1])
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            count = (end - start) // period + 1
            if count >= _REPETITIONS and count * period >= least:
                found.append(Region(start, period, count))
    # of equals the shorter period
    found.sort(key=lambda region: (-(region.repetitions - 1) * region.period, region.period))
    return found


def _periods(marks: Any) -> list[int]:
    """Distances at which a few steps in a row, or many, are often met again."""
    often: dict[int, None] = {}
    for window in _WINDOWS:
        if marks.size <= window:
            break
        hashes = np.zeros(marks.size - window + 1, np.uint64)
        for i in range(window):
            hashes *= np.uint64(0x9E3779B97F4A7C15)
            hashes += marks[i : i + hashes.size].astype(np.uint64) + np.uint64(1)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        gaps = np.diff(order)[ordered[1:] == ordered[:-1]]
        sizes, counts = np.unique(gaps, return_counts=True)
        most = np.argsort(-counts, kind="stable")[:_CANDIDATES]
        often |= dict.fromkeys(sizes[most].tolist())
    return [size for size in often if size < marks.size]
