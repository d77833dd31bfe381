"""Layer 8 · compiler: where a list of steps repeats itself.

NOTE [labels of steps]
Steps that may be the same line of a loop have equal labels: the primitive, the dtypes and shapes of
what they read and compute, and their parameters, without those numbers that may follow from the
repetition (positions, and the numbers of operations with one). In a loop of p steps, labels repeat
with the period p. Whether the arguments do as well is for whoever makes the loop to find out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.ir.programs import Loop, Number, Step, Value, uses
from wengert.compiler.passes.builder import read
from wengert.compiler.passes.unrolled import Unrolled
from wengert.compiler.passes.value_numbering import param_key, program_key

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


def labels(flat: Unrolled) -> Any:
    """A number for each step, equal for steps with equal labels (see NOTE [labels of steps])."""
    kinds: dict[Any, int] = {}
    known: dict[Any, int] = {}

    def types(values: Iterable[Value]) -> tuple[int, ...]:
        return tuple([kinds.setdefault((v.dtype, v.shape), len(kinds)) for v in values])

    found = [known.setdefault(_label(step, types), len(known)) for step in flat.steps]
    return np.array(found, np.int64)


def _head(step: Any) -> Any:
    """The part of a label that is not about what is read and computed."""
    params = step.params
    if not params:
        return step.prim.name
    return step.prim.name, *[_param_label(name, params[name]) for name in params]


def _label(step: Step | Loop, types: Callable[[Iterable[Value]], tuple[int, ...]]) -> Any:
    if isinstance(step, Loop):
        sliced = tuple([(start, by) for _, start, by in step.sliced])
        around = types((*uses(step), *step.outs))
        return "loop", step.count, sliced, around, program_key(step.body)
    return types(read(step)), types(step.outs), _head(step)


def _param_label(name: str, param: Any) -> Any:
    kind = param.__class__
    if kind is int and name in POSITIONS:
        return name
    if kind is float and name in NUMBERS:
        return name
    if kind is Value or kind is Number:
        # one of those that are read
        return name, kind
    if kind is tuple or kind is list:
        for part in param:
            if part.__class__ is not int:
                return name, kind, tuple([_param_label("", part) for part in param])
        return (name, param) if kind is tuple else (name, kind, *param)
    return name, param_key(param)


# -- periods --------------------------------------------------------------------------------------


def regions(marks: Any, least: int) -> list[Region]:
    """Regions that may be loops, those first that would spare most steps; they may overlap.

    Parameters
    ----------
    marks: The label of each step.
    least: The number of steps, of all repetitions together, from which on a loop is worth it.
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
