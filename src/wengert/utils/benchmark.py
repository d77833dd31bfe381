"""Layer 8 · utils: timing of statements, under ``torch.utils.benchmark``'s names."""

from __future__ import annotations

import statistics
import sys
import timeit
from typing import Any

from wengert.base.threads import get_num_threads, set_num_threads

__all__ = ["Compare", "Measurement", "Timer", "select_unit"]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


class Measurement:
    """The result of a `Timer`.

    Parameters
    ----------
    number_per_run : int. The number of calls per run.
    raw_times : list of float. The duration of each run in seconds.
    stmt, label, sub_label, description: The timer's arguments.
    num_threads : int. The number of threads that it ran with.

    Examples
    --------
    >>> from wengert.utils.benchmark import Measurement
    >>> Measurement(10, [0.1, 0.3, 0.2]).median
    0.02
    """

    def __init__(
        self,
        number_per_run: int,
        raw_times: list[float],
        stmt: str = "",
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        num_threads: int = 1,
    ) -> None:
        self.number_per_run = number_per_run
        self.raw_times = raw_times
        self.stmt = stmt
        self.label = label
        self.sub_label = sub_label
        self.description = description
        self.num_threads = num_threads

    @property
    def times(self) -> list[float]:
        """The seconds per call, for each run."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def mean(self) -> float:
        """The mean of `times`."""
        return statistics.fmean(self.times)

    @property
    def median(self) -> float:
        """The median of `times`."""
        return statistics.median(self.times)

    @property
    def iqr(self) -> float:
        """The interquartile range of `times`; 0 for a single run."""
        if len(self.times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, method="inclusive")
        return high - low

    @property
    def title(self) -> str:
        """A description of the measurement."""
        title = self.label or self.stmt or "[Missing primary label]"
        return title if self.sub_label is None else f"{title}: {self.sub_label}"

    def __repr__(self) -> str:
        scale, unit = next(
            (pair for pair in _UNITS if self.median >= pair[0]), (_UNITS[-1][0], "ns")
        )
        lines = [f"<{type(self).__module__}.{type(self).__name__} object>", self.title]
        if self.description is not None:
            lines.append(self.description)
        runs, plural = len(self.times), "" if self.num_threads == 1 else "s"
        if runs == 1:
            lines.append(f"  {self.median / scale:.2f} {unit}")
        else:
            lines.append(f"  Median: {self.median / scale:.2f} {unit}")
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit}")
        lines.append(
            f"  {runs} measurement{'' if runs == 1 else 's'}, {self.number_per_run} runs "
            f"per measurement, {self.num_threads} thread{plural}"
        )
        return "\n".join(lines)


class Timer:
    """Times a statement.

    Parameters
    ----------
    stmt, setup : str. The statement to time, and one that runs once before.
    globals : dict, optional. The global names for both; ``torch`` is this package unless given.
    label, sub_label, description : str, optional. Headings of the result.
    num_threads : int. The number of threads that the statement runs with.

    Examples
    --------
    >>> from wengert.utils.benchmark import Timer
    >>> timer = Timer("x.sum()", globals={"x": wg.ones(10)})
    >>> timer.timeit(100).number_per_run
    100
    >>> timer.blocked_autorange(min_run_time=0.001).median > 0
    True
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Any = timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = "python",
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if str(language).lower() not in ("python", "py", "language.python", "0"):
            raise ValueError(f"only statements in Python are timed, not in {language}")
        names = {"torch": sys.modules["wengert"], **(globals or {})}
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._labels = (stmt, label, sub_label, description)
        self._num_threads = num_threads

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Call the statement `number` times, after a few warm-up calls."""
        before = get_num_threads()
        set_num_threads(self._num_threads)
        try:
            self._timer.timeit(max(number // 100, 2))
            return self._measured(number, [self._timer.timeit(number)])
        finally:
            set_num_threads(before)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Call the statement in runs of equal length until they took `min_run_time` seconds."""
        before = get_num_threads()
        set_num_threads(self._num_threads)
        try:
            number = 1
            while (took := self._timer.timeit(number)) < min_run_time / 1000:
                number *= 10 if took <= 0 else max(2, min(10, int(min_run_time / 1000 / took)))
            times: list[float] = []
            while sum(times) < min_run_time:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
            return self._measured(number, times)
        finally:
            set_num_threads(before)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0
    ) -> Measurement:
        """Call `blocked_autorange` until the runs agree or `max_run_time` is over."""
        found = self.blocked_autorange(min_run_time=min_run_time)
        while found.iqr > threshold * found.median and sum(found.raw_times) < max_run_time:
            more = self.blocked_autorange(min_run_time=min_run_time)
            if more.number_per_run == found.number_per_run:
                found.raw_times.extend(more.raw_times)
            else:
                found = more
            min_run_time = min(2 * min_run_time, max_run_time)
        return found

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, *self._labels, num_threads=self._num_threads)


def select_unit(t: float) -> tuple[str, float]:
    """Return the unit that suits a time best, and its length in seconds.

    Examples
    --------
    >>> from wengert.utils.benchmark import select_unit
    >>> select_unit(3e-5)
    ('us', 1e-06)
    """
    found = next((pair for pair in _UNITS if t >= pair[0]), _UNITS[-1])
    return found[1], found[0]


class Compare:
    """A table of measurements: a row for each ``sub_label``, a column for each ``description``.

    Parameters
    ----------
    results : list of Measurement.

    Examples
    --------
    >>> from wengert.utils.benchmark import Compare, Measurement
    >>> results = [Measurement(1, [t], "f(x)", "f", "small", d) for d, t in (("a", 1.0), ("b", 2))]
    >>> Compare(results).print()
    [------- f --------]
             |  a  |  b
    1 threads: ---------
      small  |  1  |  2
    <BLANKLINE>
    Times are in seconds (s).
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._digits: int | None = None
        self.extend_results(results)

    def extend_results(self, results: list[Measurement]) -> None:
        """Add measurements."""
        if not all(isinstance(one, Measurement) for one in results):
            raise ValueError("Expected an instance of `Measurement` for each of the results")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show three digits."""
        self._digits = 3

    def colorize(self, rowwise: bool = False) -> None:
        """Do nothing: the table is plain text."""

    def highlight_warnings(self) -> None:
        """Do nothing, like `colorize`."""

    def print(self) -> None:
        """Print the tables, one for each label."""
        print(self)

    def __str__(self) -> str:
        labels = dict.fromkeys(one.label or one.stmt for one in self._results)
        return "\n".join(
            self._table(label, [one for one in self._results if (one.label or one.stmt) == label])
            for label in labels
        )

    def _table(self, label: str, results: list[Measurement]) -> str:
        unit, size = select_unit(min(one.median for one in results))
        columns = list(dict.fromkeys(one.description or one.stmt for one in results))
        cells: dict[Any, list[Measurement]] = {}
        for one in results:
            row = one.num_threads, one.sub_label or one.stmt, one.description or one.stmt
            cells.setdefault(row, []).append(one)
        told = {place: self._told(found, size) for place, found in cells.items()}
        rows = list(dict.fromkeys((threads, name) for threads, name, _ in told))
        first = max(len(name) for _, name in rows)
        widths = [
            max([len(c), *(len(text) for place, text in told.items() if place[2] == c)])
            for c in columns
        ]
        lines = [self._line("", columns, first, widths)]
        for threads in dict.fromkeys(threads for threads, _ in rows):
            lines.append(f"{threads} threads: ".ljust(len(lines[0]) + 1, "-"))
            for name in (name for count, name in rows if count == threads):
                texts = [told.get((threads, name, c), "") for c in columns]
                lines.append(self._line(name, texts, first, widths))
        width = max(map(len, lines))
        title = f" {label} ".center(width - 2, "-")
        names = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
        return "\n".join([f"[{title}]", *lines, "", f"Times are in {names[unit]} ({unit})."])

    def _told(self, found: list[Measurement], size: float) -> str:
        value = statistics.median([time for one in found for time in one.times]) / size
        if self._digits is not None:
            return f"{value:.{self._digits}g}"
        return f"{value:.1f}".removesuffix(".0")

    @staticmethod
    def _line(name: str, texts: list[str], first: int, widths: list[int]) -> str:
        cells = [text.rjust(width) for text, width in zip(texts, widths, strict=True)]
        return "  |  ".join([f"  {name.ljust(first)}", *cells])
