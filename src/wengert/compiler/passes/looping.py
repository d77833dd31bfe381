"""Layer 8 · compiler: the operands of repeated steps, classified for a loop.

NOTE [columns of operands]
In a region of equal labels, each operand position gives a column: the values read there in every
iteration. A column is

* *local*: the result of a fixed step of the same iteration, or of one a few iterations back;
* *fixed*: a loop invariant;
* *sliced*: evenly spaced positions of one outer value, such as the stack of an earlier loop;
* *given*: unrelated outer values, which are stacked for the loop to slice.

Columns are classified in the middle of the region. Iterations that do not fit, usually the first
and the last, stay unrolled before and after the loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compiler.ir.programs import Affine, Loop
from wengert.compiler.passes.repeats import NUMBERS, POSITIONS, Region
from wengert.compiler.passes.unrolled import Unrolled

_BACK = 3
"""The most iterations back from which a value may be carried."""
FEWEST = 4
"""The fewest iterations of a loop."""
_STACKED = 1 << 16
"""The most elements of values that are stacked for a loop."""

FIXED, SLICED, LOCAL, GIVEN = range(4)


class Shape:
    """The columns of a region, and the iterations that fit a loop.

    Attributes
    ----------
    begin, period: The first step of the first iteration, and the steps of each.
    low, high: The range of iterations that fit.
    columns
        The number of each operand: a row for each iteration, a column for each position.
    kinds: The kind of each column (see NOTE [columns of operands]).
    back: For local columns the number of iterations back that computed the value.
    """

    def __init__(self, flat: Unrolled, region: Region) -> None:
        self.flat = flat
        self.period = region.period
        self.begin = begin = region.start + _phase(flat, region)
        count = (region.end - begin) // region.period
        self.low = self.high = 0
        size = flat.first[begin + region.period] - flat.first[begin]
        end = flat.first[begin + count * region.period]
        self.columns = columns = flat.read[flat.first[begin] : end].reshape(count, size)
        if count > FEWEST:
            self._classify(columns, count, count // 2)

    @property
    def first(self) -> int:
        """The first step of the iterations that fit."""
        return self.begin + self.low * self.period

    @property
    def last(self) -> int:
        """The first step after the iterations that fit."""
        return self.begin + self.high * self.period

    def is_loop(self, least: int) -> bool:
        """Return whether enough steps fit."""
        return self.high - self.low >= FEWEST and self.last - self.first >= least

    def is_small(self) -> bool:
        """Return whether the values that a loop would have to stack are small."""
        return all(
            self._is_small(column)
            or self.flat.values[self.columns[self.low, column]].constant is not None
            for column in np.flatnonzero(self.kinds == GIVEN).tolist()
        )

    def _is_small(self, column: int) -> bool:
        value = self.flat.values[self.columns[0, column]]
        return len(self.columns) * value.size <= _STACKED

    def _classify(self, columns: Any, count: int, mid: int) -> None:
        flat, period = self.flat, self.period
        iteration = np.arange(count)[:, None]
        start = self.begin + iteration * period
        maker = flat.maker[columns]
        offset = maker - start
        same = columns == columns[mid]
        whole, position = flat.whole[columns], flat.position[columns]
        self.slope = slope = position[mid + 1] - position[mid]
        from_one = (whole == whole[mid]) & (position == position[mid] + slope * (iteration - mid))
        is_fixed = same[mid + 1] & (maker[mid] < self.begin + mid * period)
        is_sliced = ~is_fixed & from_one[mid + 1] & (whole[mid] >= 0)
        source = flat.maker[whole[mid]]
        is_sliced &= source < self.begin
        is_local = ~is_fixed & ~is_sliced & (offset[mid] >= -_BACK * period)
        is_local &= (maker[mid] >= self.begin) & (offset[mid + 1] == offset[mid])
        self.kinds = np.select([is_fixed, is_sliced, is_local], [FIXED, SLICED, LOCAL], GIVEN)
        self.back = np.where(is_local, -(offset[mid] // period), 0)
        self.place = np.where(is_local, offset[mid] % period, 0)
        known = np.where(
            is_fixed,
            same & (maker[mid] < start),
            np.where(is_sliced, from_one, maker < self.begin),
        )
        fits = np.where(is_local, offset == offset[mid], known)
        # the first or last iteration may read the original value rather than a loop's stack
        for column in np.flatnonzero(is_sliced & ~from_one.all(0)).tolist():
            if (maker[:, column] < self.begin).all() and self._is_small(column):
                fits[:, column] = True
        carried = is_local & (self.back > 0)
        numbers = self._numbers(count, mid)
        self.low, self.high = _longest(fits.all(1) & numbers)
        # the first iterations read initial values in place of carried ones
        early = (fits | carried).all(1) & numbers
        for low in range(max(self.low - int(self.back.max(initial=0)), 0), self.low):
            if early[low : self.low].all() and self._starts(low, maker, fits, carried):
                self.low = low
                break
        pure = from_one[self.low : self.high].all(0)
        self.kinds[is_sliced & ~pure] = GIVEN

    def _starts(self, low: int, maker: Any, fits: Any, carried: Any) -> bool:
        """Return whether the loop may begin with iteration `low`."""
        outside = maker < self.begin + low * self.period
        for i in range(low, self.low):
            before = i - self.back < low
            if not np.where(carried, np.where(before, outside[i], fits[i]), True).all():
                return False
        return True

    def _numbers(self, count: int, mid: int) -> Any:
        """Return which iterations have positions at a constant stride; set `params`."""
        steps: list[Any] = self.flat.steps
        begin, period = self.begin, self.period
        fits = np.ones(count, bool)
        self.params: dict[tuple[int, str], Any] = {}
        for k in range(period):
            step = steps[begin + mid * period + k]
            if isinstance(step, Loop):
                continue
            for name, param in step.params.items():
                if name not in (POSITIONS if param.__class__ is int else NUMBERS):
                    continue
                row = [steps[begin + i * period + k].params[name] for i in range(count)]
                if param.__class__ is int:
                    found = np.array(row)
                    slope = int(found[mid + 1] - found[mid])
                    fits &= found == param + slope * (np.arange(count) - mid)
                    self.params[k, name] = Affine(param - slope * mid, slope)
                elif param.__class__ is float:
                    self.params[k, name] = np.array(row)
        return fits


def _longest(fits: Any) -> tuple[int, int]:
    """Return the longest range of iterations that fit."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], fits.astype(np.int8), [0]))))
    if not edges.size:
        return 0, 0
    starts, ends = edges[::2], edges[1::2]
    at = int(np.argmax(ends - starts))
    return int(starts[at]), int(ends[at])


def _phase(flat: Unrolled, region: Region) -> int:
    """Return the cut between iterations with the fewest carried values."""
    period = region.period
    begin = region.start + region.iterations // 2 * period
    steps = np.repeat(np.arange(begin, begin + period), np.diff(flat.first)[begin : begin + period])
    maker = flat.maker[flat.read[flat.first[begin] : flat.first[begin + period]]]
    near = (maker >= region.start) & (steps - maker < period)
    crossings = np.zeros(2 * period + 1, np.int64)
    furthest: dict[int, int] = {}
    for step, of in zip(steps[near].tolist(), maker[near].tolist(), strict=True):
        at = (of - region.start) % period
        furthest[at] = max(furthest.get(at, 0), step - of)
    for at, distance in furthest.items():
        crossings[at + 1] += 1
        crossings[at + 1 + distance] -= 1
    crossings = np.cumsum(crossings)
    return int(np.argmin(crossings[:period] + crossings[period : 2 * period]))
