"""Layer 8 · compiler: a loop made of steps that repeat.

NOTE [what repetitions read]
Of a region of equal labels, each place where a step reads a value gives a column: the values that
it reads there in every repetition. A column is

* *local*: what the same repetition, or one a few before it, computes at one and the same place;
* *fixed*: one value from outside;
* *sliced*: positions of one value from outside, at equal distances: what an earlier loop stacked,
  or what ``select`` reads;
* *given*: different values from outside, which are stacked for the loop to slice.

What a column is shows in the middle of the region. Repetitions that do not fit, which are usually
the first and the last, stay as they are, before and after the loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compiler.ir.programs import Affine, Loop
from wengert.compiler.passes.repeats import NUMBERS, POSITIONS, Region
from wengert.compiler.passes.unrolled import Unrolled

__all__ = ["FEWEST", "FIXED", "GIVEN", "LOCAL", "SLICED", "Shape"]

_BACK = 3
"""The largest number of iterations back that a value may be read."""
FEWEST = 4
"""Repetitions that are left at least, when those that do not fit are left out."""
_STACKED = 1 << 16
"""Different values are stacked if they have up to so many elements together."""

FIXED, SLICED, LOCAL, GIVEN = range(4)


class Shape:
    """The columns of a region, and the iterations that fit.

    Attributes
    ----------
    begin, period: The first step of the first repetition, and the number of steps of each.
    low, high: The repetitions that fit.
    columns
        The number of each value that is read: a row for each repetition, a column for each place.
    kinds: What each column is (see NOTE [what repetitions read]).
    back: For local columns how many repetitions before the value is computed.
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
        """The first step of the repetitions that fit."""
        return self.begin + self.low * self.period

    @property
    def last(self) -> int:
        """The first step behind them."""
        return self.begin + self.high * self.period

    def is_loop(self, least: int) -> bool:
        """Whether enough steps fit."""
        return self.high - self.low >= FEWEST and self.last - self.first >= least

    def is_small(self) -> bool:
        """Whether what would have to be stacked for a loop is small."""
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
        repetition = np.arange(count)[:, None]
        start = self.begin + repetition * period
        maker = flat.maker[columns]
        offset = maker - start
        same = columns == columns[mid]
        whole, position = flat.whole[columns], flat.position[columns]
        self.slope = slope = position[mid + 1] - position[mid]
        from_one = (whole == whole[mid]) & (position == position[mid] + slope * (repetition - mid))
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
        # of what a loop stacked, the first or the last repetition may read what was there before
        for column in np.flatnonzero(is_sliced & ~from_one.all(0)).tolist():
            if (maker[:, column] < self.begin).all() and self._is_small(column):
                fits[:, column] = True
        carried = is_local & (self.back > 0)
        numbers = self._numbers(count, mid)
        self.low, self.high = _longest(fits.all(1) & numbers)
        # the first repetitions may read what was there before: by that they are known
        early = (fits | carried).all(1) & numbers
        for low in range(max(self.low - int(self.back.max(initial=0)), 0), self.low):
            if early[low : self.low].all() and self._starts(low, maker, fits, carried):
                self.low = low
                break
        pure = from_one[self.low : self.high].all(0)
        self.kinds[is_sliced & ~pure] = GIVEN

    def _starts(self, low: int, maker: Any, fits: Any, carried: Any) -> bool:
        """Whether the loop may begin with repetition `low`."""
        outside = maker < self.begin + low * self.period
        for i in range(low, self.low):
            before = i - self.back < low
            if not np.where(carried, np.where(before, outside[i], fits[i]), True).all():
                return False
        return True

    def _numbers(self, count: int, mid: int) -> Any:
        """The iterations with positions at a constant stride; fills in `params`."""
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
    """The longest row of repetitions that fit."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], fits.astype(np.int8), [0]))))
    if not edges.size:
        return 0, 0
    starts, ends = edges[::2], edges[1::2]
    at = int(np.argmax(ends - starts))
    return int(starts[at]), int(ends[at])


def _phase(flat: Unrolled, region: Region) -> int:
    """The cut between iterations that carries the fewest values over."""
    period = region.period
    begin = region.start + region.repetitions // 2 * period
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
