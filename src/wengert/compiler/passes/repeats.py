"""Layer 8 · compiler: detection of repeated steps.

NOTE [labels of steps]
Steps that may come from the same line of a loop have equal labels: the primitive, the dtypes and
shapes of operands and results, and the parameters, except for numbers that may depend on the
iteration (positions and scalar operands). In a loop of p steps, labels repeat with period p.
Whether the operands also repeat is checked when the loop is built (`looping`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.ir.programs import Loop, Number, Step, Value
from wengert.compiler.passes.unrolled import Unrolled
from wengert.compiler.passes.value_numbering import param_key, program_key

POSITIONS = frozenset({"index", "start", "end"})
"""The parameters that may be ``start + step * i`` in iteration `i`."""
NUMBERS = frozenset({"other", "exponent", "base"})
"""The parameters that may be any float in each iteration."""

_WINDOWS = (1, 6, 32)
_CANDIDATES = 8
_FEWEST = 8


class Region(NamedTuple):
    """Steps whose labels repeat with a period: `iterations` times `period` steps from `start`."""

    start: int
    period: int
    iterations: int

    def several(self, times: int) -> Region:
        """Return the region with several periods taken as one."""
        return Region(self.start, self.period * times, self.iterations // times)

    @property
    def end(self) -> int:
        """The first step after the region."""
        return self.start + self.period * self.iterations


def labels(flat: Unrolled) -> Any:
    """Return a number for each step, equal for equal labels (see NOTE [labels of steps])."""
    kinds: dict[Any, int] = {}
    known: dict[Any, int] = {}
    types = np.array([kinds.setdefault((v.dtype, v.shape), len(kinds)) for v in flat.values])
    read, made = types[flat.read].tolist(), types[flat.made].tolist()
    begins, ends = flat.first.tolist(), [0, *flat.made_end.tolist()]
    found = [
        known.setdefault(
            (
                tuple(read[begins[k] : begins[k + 1]]),
                tuple(made[ends[k] : ends[k + 1]]),
                _head(step),
            ),
            len(known),
        )
        for k, step in enumerate(flat.steps)
    ]
    return np.array(found, np.int64)


def _head(step: Step | Loop) -> Any:
    """Return the part of a label for the primitive and its parameters."""
    if isinstance(step, Loop):
        sliced = tuple([(start, by) for _, start, by in step.sliced])
        return "loop", step.count, sliced, program_key(step.body)
    params = step.params
    if not params:
        return step.prim.name
    return step.prim.name, *[_param_label(name, params[name]) for name in params]


def _param_label(name: str, param: Any) -> Any:
    kind = param.__class__
    if kind is int and name in POSITIONS:
        return name
    if kind is float and name in NUMBERS:
        return name
    if kind is Value or kind is Number:
        # an operand
        return name, kind
    if kind is tuple or kind is list:
        for part in param:
            if part.__class__ is not int:
                return name, kind, tuple([_param_label("", part) for part in param])
        return (name, param) if kind is tuple else (name, kind, *param)
    return name, param_key(param)


# -- periods --------------------------------------------------------------------------------------


def regions(marks: Any, least: int) -> list[Region]:
    """Return regions that may become loops, which may overlap, by decreasing savings.

    Parameters
    ----------
    marks: The label of each step.
    least: The fewest steps of a loop, over all iterations.
    """
    found: list[Region] = []
    for period in _periods(marks):
        same = np.concatenate(([False], marks[:-period] == marks[period:], [False]))
        edges = np.flatnonzero(same[1:] != same[:-1])
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            count = (end - start) // period + 1
            if count >= _FEWEST and count * period >= least:
                found.append(Region(start, period, count))
    # prefer the shorter period
    found.sort(key=lambda region: (-(region.iterations - 1) * region.period, region.period))
    return found


def _periods(marks: Any) -> list[int]:
    """Return the distances at which windows of steps recur most often."""
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
