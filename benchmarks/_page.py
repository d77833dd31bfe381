"""The figures of docs/performance.md: every one of them is written here, none by hand.

They stand between two marks in the page. What is around them is prose, and stays as it is.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from _builds import BUILDS
from _charts import bars, stacks
from _measure import COMPILED, OURS, Row, ratio
from _parts import PARTS, Account

__all__ = ["TITLES", "Page", "found_by", "parts_table"]

START, END = "<!-- figures: written by benchmarks/account.py -->", "<!-- end of the figures -->"
HERE = Path(__file__).parent
BASE = "torch"
"""The library whose times are the unit."""
EAGER = "wengert (eager)"
"""Programs as they are, where ours run under `wg.compile`."""
_UNITS = (
    "Multiples of PyTorch's time, which is in the last column: below 1 is quicker than PyTorch. "
    "The tables that follow use the same unit."
)
TITLES = {
    "torch": "PyTorch",
    "autograd": "autograd",
    "mygrad": "MyGrad",
    "jax (eager)": "JAX without jit",
    "jax (jit)": "JAX with jit",
    "candle": "candle",
    EAGER: "wengert, eager",
    OURS: "wengert",
    COMPILED: "wengert, compiled",
}
PHASES = {
    "alone": "forward, not recorded",
    "recorded": "forward, recorded",
    "backward": "backward",
    "both": "forward and backward",
    "double": "first and second derivatives",
}
PACKAGES = ("numpy", "torch", "autograd", "mygrad", "jax", "candle-nn")


def _versions() -> tuple[list[str], list[str]]:
    found, absent = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name).partition('+')[0]}")
        except PackageNotFoundError:
            absent.append(name)
    return found, absent


def _times(seconds: float, unit: float) -> str:
    value = seconds * unit
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _multiple(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    rule = ["---"] + ["--:"] * (len(head) - 1)
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, rule, *body]) + "\n"


def _short(lines: Sequence[Row], unit: float, unit_name: str) -> str:
    """Rows as multiples of the time of `BASE`: of this library alone, so that it fits a phone."""
    ours = [name for name in (OURS, COMPILED) if any(name in line.times for line in lines)]
    has_base = any(BASE in line.times for line in lines)
    eager = any(EAGER in line.times for line in lines)
    own = "`wg.compile`" if eager else "Python"
    head = ["", *(own if name == OURS else "compiled" for name in ours)]
    head += [f"PyTorch, {unit_name}"] if has_base else []
    body = []
    for line in lines:
        base = line.times.get(BASE)
        cells = [line.case]
        for name in ours:
            times = line.times.get(name)
            if times is None:
                cells.append("-")
            elif base is None:
                cells.append(_times(statistics.median(times), unit))
            else:
                cells.append(_multiple(ratio(times, base)))
        if has_base:
            cells.append("-" if base is None else _times(statistics.median(base), unit))
        body.append(cells)
    return _table(head, body)


def _beside(line: Row) -> dict[str, float]:
    """A row as multiples of the time of `BASE`, or of ours."""
    base = line.times.get(BASE, line.times[OURS])
    first = [name for name in (OURS, COMPILED, BASE) if name in line.times]
    names = first + [name for name in line.times if name not in first]
    own = {OURS: "wg.compile", EAGER: TITLES[OURS]} if EAGER in line.times else {}
    return {own.get(name, TITLES.get(name, name)): ratio(line.times[name], base) for name in names}


def parts_table(accounts: Sequence[Account]) -> str:
    """The accounts as tables, one for each kernel and dtype; builds side by side in a cell."""
    tables = []
    for kernel, dtype in dict.fromkeys((a.kernel, a.dtype) for a in accounts):
        chosen = [a for a in accounts if (a.kernel, a.dtype) == (kernel, dtype)]
        shapes = list(dict.fromkeys(a.shape for a in chosen))
        body = []
        for part in PARTS:
            cells = [part.name]
            for shape in shapes:
                builds = [a for a in chosen if a.shape == shape]
                cells.append(" / ".join(_cell(a, part.phase, part.name) for a in builds))
            body.append(cells)
        tables.append(_table([f"{kernel}, {dtype}", *(f"`{shape}`" for shape in shapes)], body))
    return "\n".join(tables)


def _cell(account: Account, phase: str, part: str) -> str:
    value = account.parts[phase][part]
    return "\N{MIDDLE DOT}" if value is None else f"{max(value, 0):,.0f}"


def _wholes(accounts: Sequence[Account]) -> str:
    """What the parts add up to: a line for each case, a column for each phase."""
    wholes = [part for part in PARTS if part.name.startswith("**") and part.phase != "call"]
    body = []
    for kernel, dtype, shape in dict.fromkeys((a.kernel, a.dtype, a.shape) for a in accounts):
        same = [a for a in accounts if (a.kernel, a.dtype, a.shape) == (kernel, dtype, shape)]
        cells = [" / ".join(_cell(a, part.phase, part.name) for a in same) for part in wholes]
        body.append([f"{kernel} {shape}, {dtype}", *cells])
    return _table(["ns", "forward", "backward", "into `.grad`"], body)


def _parts_chart(path: Path, accounts: Sequence[Account]) -> None:
    """The parts of a product of 8 numbers, forward and backward, by build."""
    chosen = [a for a in accounts if (a.kernel, a.dtype) == ("product", "float32")]
    shape = max(a.shape for a in chosen if len(a.shape) < 2 and sum(a.shape) <= 8)
    rows = {}
    for phase, words in (("forward", "forward"), ("backward", "backward")):
        for account in chosen:
            if account.shape == shape:
                build = "compiled" if account.build == COMPILED else "Python"
                parts = account.parts[phase]
                rows[f"{words}, {build}"] = {
                    _GROUPS[name]: sum(
                        max(value or 0, 0)
                        for other, value in parts.items()
                        if _GROUPS.get(other) == _GROUPS[name]
                    )
                    for name in parts
                    if name in _GROUPS
                }
    stacks(path, f"A product of {shape} float32, by its parts", rows, " ns")


_GROUPS = {
    "NumPy's kernel": "NumPy",
    "mode check": "checks, result",
    "operator, checks of the arguments, a tensor for the result": "checks, result",
    "node and edges": "node, engine",
    "saving for backward, and the memory that stays taken": "saving, rules",
    "engine step": "node, engine",
    "NumPy in the two rules": "NumPy",
    "first rule, with what was saved": "saving, rules",
    "second rule, and its cotangent's way": "saving, rules",
    "NumPy's sum of cotangents": "NumPy",
}
"""What the chart calls the parts: what belongs together has one colour."""


def found_by(words: str, switches: Sequence[str]) -> Iterator[Any]:
    """The JSON objects that a benchmark prints, run in a process of its own."""
    name, *own = words.split()
    command = [sys.executable, str(HERE / f"{name}.py"), "--json", *switches, *own]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return _objects(text)


def _program(folder: Path, name: str, made: Any) -> str:
    """A chart and a short table of another benchmark; first steps are in tables of their own."""
    rows = [row for row in made["rows"] if row["phase"] in ("both", "step", "call")]
    lines = [
        Row(
            row["case"],
            row["phase"],
            {name: [found["median"]] for name, found in row["contestants"].items()},
        )
        for row in rows
    ]
    chart = folder / f"{name}.svg"
    title = f"{made['title']}; PyTorch = 1" if BASE in lines[0].times else made["title"]
    bars(chart, title, {line.case: _beside(line) for line in lines}, most=4)
    picture = f"![{title}: bars for each library]({folder.name}/{chart.name})"
    return f"### {made['title']}\n\n{picture}\n\n{_short(lines, 1, made['unit'])}"


def _objects(text: str) -> Iterator[Any]:
    """The JSON objects in `text`, one behind the other."""
    while text := text.lstrip():
        value, end = json.JSONDecoder().raw_decode(text)
        text = text[end:]
        yield value


def _where() -> str:
    found, absent = _versions()
    model = next(
        (
            line.partition(":")[2].strip()
            for line in _lines_of("/proc/cpuinfo")
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    builds = "in Python and compiled" if len(BUILDS) > 1 else "one build"
    text = (
        f"Measured on {platform.system()}, {model}, {os.cpu_count()} cores of which one is used; "
        f"CPython {platform.python_version()}, {', '.join(found)}; wengert {builds}."
    )
    return f"{text} Not installed: {', '.join(absent)}." if absent else text


def _lines_of(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


class Page:
    """A page with two marks, between which the figures belong.

    Raises
    ------
    SystemExit
        If it has no marks.
    """

    def __init__(self, path: Path):
        self.path = path
        text = path.read_text(encoding="utf-8")
        self.before, start, rest = text.partition(START)
        _, end, self.after = rest.partition(END)
        if not start or not end:
            sys.exit(
                f"{path} has not the marks {START!r} and {END!r}, between which figures belong"
            )

    def write(
        self,
        lines: Sequence[Row],
        accounts: Sequence[Account],
        small: Sequence[Row],
        chart: Path,
        options: Any,
    ) -> None:
        """Draw the charts into a folder beside the page, and put the figures between the marks."""
        folder = self.path.parent / "charts"
        folder.mkdir(exist_ok=True)
        _parts_chart(folder / "parts.svg", accounts)
        both = [line for line in lines if line.phase == "both" and line.case.endswith("float32")]
        groups = {line.case.removesuffix(" float32"): _beside(line) for line in both}
        title = "Both passes, float32; PyTorch = 1"
        bars(folder / "libraries.svg", title, groups, most=4)
        eight = [
            line for line in lines if line.case in ("product () float32", "product (8,) float32")
        ]
        last = [line for line in eight if line.case == eight[-1].case]
        phases = [line._replace(case=PHASES[line.phase]) for line in last]
        programs = [
            _program(folder, words.split()[0], made)
            for words in filter(None, options.programs.split(","))
            for made in found_by(words, options.switches)
        ]
        figures = [
            _where(),
            f"![Cost of a product over its size, one line a library]({chart.name})",
            "### One operation by its parts",
            "![Stacked bars: NumPy, checks, node and engine, saving and rules](charts/parts.svg)",
            "Each cell: the package in Python / the compiled build." if len(BUILDS) > 1 else "",
            _wholes(accounts).rstrip(),
            "### One operation beside other libraries",
            f"![{title}: bars for each library](charts/libraries.svg)",
            f"The phases of a product of 8 numbers. {_UNITS}",
            _short(phases, 1e6, "µs").rstrip(),
            "### What costs what",
            _short(small, 1e6, "µs").rstrip(),
            *(program.rstrip() for program in programs),
        ]
        body = "\n\n".join(filter(None, figures))
        self.path.write_text(
            f"{self.before}{START}\n\n{body}\n\n{END}{self.after}", encoding="utf-8"
        )
