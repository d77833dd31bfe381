"""What the benchmarks share: one thread, fair rounds, tables, JSON.

Import this module before NumPy: it asks the numerical libraries for one thread.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import platform
import statistics
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

for _library in ("OMP", "MKL", "OPENBLAS", "VECLIB_MAXIMUM", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"

__all__ = ["OURS", "Row", "arguments", "chosen", "measure", "optional", "ratio", "report", "rows"]

OURS = "wengert"

Times = dict[str, dict[str, list[float]]]
"""Contestant -> phase -> seconds of each round."""


class Row(NamedTuple):
    """One line of a table: what was measured, and the times of each contestant by round."""

    case: str
    phase: str
    times: Mapping[str, list[float]]


def optional(name: str) -> ModuleType | None:
    """The module `name`, if it is installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def arguments(
    doc: str | None, more: Callable[[argparse.ArgumentParser], None] | None = None
) -> argparse.Namespace:
    """The switches that all benchmarks know, and those that `more` adds."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--peers", metavar="torch,jax", help="only these peers, of those that are installed"
    )
    if more is not None:
        more(parser)
    return parser.parse_args()


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
    """The rows of a table for one case, a row a phase."""
    phases = next(iter(times.values()))
    return [Row(case, p, {name: of[p] for name, of in times.items()}) for p in phases]


def ratio(ours: list[float], theirs: list[float]) -> float:
    """Our time as a fraction of theirs: the median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


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
        print(json.dumps(_as_object(title, unit, scale, lines), indent=2))
        return
    peers = list(dict.fromkeys(n for line in lines for n in line.times if n != OURS))
    wide = max(len(line.case) for line in lines)
    print(f"\n{title}\n{unit}, medians; in brackets our time as a fraction of the peer's\n")
    print(f"{'':{wide}}  {'':8}  {OURS:>9}" + "".join(f"  {peer:>17}" for peer in peers))
    for line in lines:
        ours = line.times[OURS]
        text = f"{line.case:{wide}}  {line.phase:8}  {statistics.median(ours) * scale:9.2f}"
        for peer in peers:
            theirs = line.times.get(peer)
            if theirs is None:
                text += f"  {'-':>17}"
            else:
                text += f"  {statistics.median(theirs) * scale:9.2f}"
                text += f" {f'({ratio(ours, theirs):.2f})':>7}"
        print(text)


def _as_object(title: str, unit: str, scale: float, lines: list[Row]) -> dict[str, Any]:
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
                    }
                    for name, times in line.times.items()
                },
            }
            for line in lines
        ],
    }
