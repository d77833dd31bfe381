"""What the benchmarks share: one thread, fair rounds, tables, JSON.

Import this module before NumPy: it asks the numerical libraries for one thread.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import math
import os
import platform
import statistics
import sys
from collections.abc import Callable, Mapping
from time import perf_counter, process_time
from types import ModuleType
from typing import Any, NamedTuple

for _library in ("OMP", "MKL", "OPENBLAS", "VECLIB_MAXIMUM", "NUMEXPR", "RAYON"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
# one thread for what JAX compiles, too
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

__all__ = [
    "COMPILED",
    "OURS",
    "Row",
    "arguments",
    "as_object",
    "chosen",
    "clock",
    "measure",
    "optional",
    "ratio",
    "report",
    "rows",
    "use_wall_clock",
]

OURS = "wengert"
COMPILED = "wengert compiled"
"""The same package with compiled modules, where a benchmark runs both."""

# the processor's time, of which other programs take none; Windows counts it too coarsely
_clock = perf_counter if sys.platform == "win32" else process_time

Times = dict[str, dict[str, list[float]]]
"""Contestant -> phase -> seconds of each round."""


class Row(NamedTuple):
    """One line of a table: what was measured, and the times of each contestant by round."""

    case: str
    phase: str
    times: Mapping[str, list[float]]


def clock() -> float:
    """Seconds since some moment."""
    return _clock()


def use_wall_clock() -> None:
    """Count the time that passes from now on, however many threads work in it."""
    global _clock
    _clock = perf_counter


def optional(name: str) -> ModuleType | None:
    """The module `name`, if it is installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def arguments(
    doc: str | None,
    more: Callable[[argparse.ArgumentParser], None] | None = None,
    rounds: tuple[int, int] = (7, 21),
) -> argparse.Namespace:
    """The switches that all benchmarks know, and those that `more` adds.

    `rounds` are as many as ``--quick`` measures, and as many as are measured without it. The
    result has the common switches as they were given under ``switches``, for other benchmarks.
    """
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--rounds", type=int, metavar="N", help="so many rounds")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--peers", metavar="torch,jax", help="only these peers, of those that are installed"
    )
    if more is not None:
        more(parser)
    options = parser.parse_args()
    options.switches = [f"--rounds={options.rounds}"] if options.rounds else []
    options.switches += ["--quick"] * options.quick
    options.switches += [f"--peers={options.peers}"] if options.peers else []
    if options.rounds is None:
        options.rounds = rounds[0] if options.quick else rounds[1]
    return options


def chosen(contestants: Mapping[str, Any], peers: str | None) -> dict[str, Any]:
    """The contestants that were asked for, by the first word of their name; we always run."""
    if peers is None:
        return dict(contestants)
    names = [OURS, *peers.split(",")]
    return {name: value for name, value in contestants.items() if name.split()[0] in names}


def measure(contestants: Mapping[str, Callable[[], Mapping[str, float]]], rounds: int) -> Times:
    """Let each contestant run once a round; each says how long each of its phases took.

    Whatever else the machine does falls on all of them alike, as they take turns, and each is the
    first as often as the others. Two rounds to warm up do not count. The garbage collector stays
    on, as it does for users, but what importing the peers left behind is put out of its sight.
    """
    names = list(contestants)
    times: Times = {name: {} for name in names}
    gc.collect()
    gc.freeze()
    for turn in range(rounds + 2):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            phases = contestants[name]()
            if turn >= 2:
                for phase, seconds in phases.items():
                    times[name].setdefault(phase, []).append(seconds)
    gc.unfreeze()
    return times


def rows(case: str, times: Times) -> list[Row]:
    """The rows of a table for one case: a row a phase, of those contestants that have it."""
    phases = next(iter(times.values()))
    return [Row(case, p, {n: of[p] for n, of in times.items() if p in of}) for p in phases]


def ratio(ours: list[float], theirs: list[float]) -> float:
    """Our time as a fraction of theirs: the median of the rounds' ratios."""
    pairs = zip(ours, theirs, strict=True)
    return statistics.median(a / b if b else math.inf for a, b in pairs)


def report(title: str, unit: str, scale: float, lines: list[Row], as_json: bool) -> None:
    """Print the rows as a table, or as JSON.

    Parameters
    ----------
    title
        What was measured.
    unit
        What the figures are, once multiplied by `scale`.
    lines
        The rows; each names our time first.
    as_json
        Whether to print one JSON object instead.
    """
    if as_json:
        print(json.dumps(as_object(title, unit, scale, lines), indent=2))
        return
    names = list(dict.fromkeys(n for line in lines for n in line.times if n != OURS))
    builds = [OURS, *(n for n in names if n == COMPILED)]
    wide = max(len(line.case) for line in lines)
    gap = 9 + 7 * len(builds)
    print(f"\n{title}\n{unit}, medians; in brackets ours as a fraction of the peer's", end="")
    print(f" ({' and '.join(builds)})\n" if len(builds) > 1 else "\n")
    print(
        f"{'':{wide}}  {'':8}  {OURS:>9}"
        + "".join(f"  {name:>{16 if name in builds else gap + 1}}" for name in names)
    )
    for line in lines:
        text = f"{line.case:{wide}}  {line.phase:8}  {_figure(line.times.get(OURS), scale)}"
        for name in names:
            theirs = line.times.get(name)
            text += "  " + (" " * 7 if name in builds else "") + _figure(theirs, scale)
            if name not in builds:
                fractions = [f"{ratio(line.times[b], theirs):.2f}" for b in builds if theirs]
                brackets = f"({', '.join(fractions)})" if fractions else ""
                text += f" {brackets:>{gap - 9}}"
        print(text.rstrip())


def _figure(times: list[float] | None, scale: float) -> str:
    return f"{statistics.median(times) * scale:9.2f}" if times else f"{'-':>9}"


def as_object(title: str, unit: str, scale: float, lines: list[Row]) -> dict[str, Any]:
    """What `report` prints as JSON."""
    return {
        "title": title,
        "unit": unit,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "rows": [
            {
                "case": line.case,
                "phase": line.phase,
                "rounds": len(line.times[OURS]),
                "contestants": {
                    name: {
                        "median": statistics.median(times) * scale,
                        "min": min(times) * scale,
                        "ours_over_theirs": ratio(line.times[OURS], times),
                        **(
                            {"compiled_over_theirs": ratio(line.times[COMPILED], times)}
                            if COMPILED in line.times
                            else {}
                        ),
                    }
                    for name, times in line.times.items()
                },
            }
            for line in lines
        ],
    }
