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
from _measure import COMPILED, OURS, Row, ratio
from _parts import PARTS, Account

__all__ = ["TITLES", "Page", "parts_table"]

START, END = "<!-- figures: written by benchmarks/account.py -->", "<!-- end of the figures -->"
HERE = Path(__file__).parent
BASE = "torch"
"""The library whose times are the unit."""
_UNITS = (
    "Multiples of PyTorch's time, which is in the last column: below 1 is quicker than PyTorch. "
    "The tables that follow are made alike."
)
TITLES = {
    "torch": "PyTorch",
    "autograd": "autograd",
    "mygrad": "MyGrad",
    "jax (eager)": "JAX without `jit`",
    "jax (jit)": "JAX with `jit`",
    "candle": "candle",
    OURS: "wengert",
    COMPILED: "wengert, compiled",
}
PHASES = {
    "alone": "forwards, not recorded",
    "recorded": "forwards, recorded",
    "backward": "backwards",
    "both": "recorded and backwards",
    "double": "recorded, backwards, and backwards through that",
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


def _table(head: Sequence[str], body: Iterable[Sequence[str]], left: int = 1) -> str:
    rule = ["---"] * left + ["--:"] * (len(head) - left)
    lines = [head, rule, *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _beside(lines: Sequence[Row], unit: float, unit_name: str) -> str:
    """Rows as multiples of the time of `BASE`, if that is there, else as times."""
    names = list(dict.fromkeys(name for line in lines for name in line.times))
    first = [name for name in (OURS, COMPILED, BASE) if name in names]
    names = first + [name for name in names if name not in first]
    has_base = BASE in names
    head = ["", *(TITLES[name] for name in names)]
    if has_base:
        head.append(f"PyTorch, {unit_name}")
    body = []
    for line in lines:
        cells = [line.case]
        for name in names:
            times = line.times.get(name)
            if times is None:
                cells.append("-")
            elif has_base:
                cells.append(_multiple(ratio(times, line.times[BASE])))
            else:
                cells.append(_times(statistics.median(times), unit))
        if has_base:
            cells.append(_times(statistics.median(line.times[BASE]), unit))
        body.append(cells)
    return _table(head, body)


def _cell(account: Account, phase: str, part: str) -> str:
    value = account.parts[phase][part]
    return "·" if value is None else f"{value:,.0f}"


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


def _libraries(lines: Sequence[Row]) -> str:
    tables = []
    for kernel in dict.fromkeys(line.case.partition(" ")[0] for line in lines):
        body = []
        for phase, words in PHASES.items():
            for line in lines:
                name, _, case = line.case.partition(" ")
                if name == kernel and line.phase == phase:
                    shape, _, dtype = case.rpartition(" ")
                    body.append(line._replace(case=f"{words}, `{shape}` {dtype}"))
        title = {"product": "A product", "matmul": "A matrix product"}[kernel]
        tables.append(f"#### {title}\n\n{_beside(body, 1e6, 'µs')}")
    return "\n".join(tables)


def _programs(options: Any) -> str:
    """The tables of the other benchmarks, each run in a process of its own."""
    tables = []
    for words in filter(None, options.programs.split(",")):
        name, *own = words.split()
        command = [sys.executable, str(HERE / f"{name}.py"), "--json", *options.switches, *own]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        tables += [_program(made) for made in _objects(text)]
    return "\n".join(tables)


def _objects(text: str) -> Iterator[Any]:
    """The JSON objects in `text`, one behind the other."""
    while text := text.lstrip():
        value, end = json.JSONDecoder().raw_decode(text)
        text = text[end:]
        yield value


def _program(made: Any) -> str:
    several = len({row["phase"] for row in made["rows"]}) > 1
    lines = [
        Row(
            f"{row['case']}, {row['phase']}" if several else row["case"],
            row["phase"],
            {name: [found["median"]] for name, found in row["contestants"].items()},
        )
        for row in made["rows"]
    ]
    return f"### {made['title']}\n\n{_beside(lines, 1, made['unit'])}"


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
        """Put the figures between the marks."""
        programs = _programs(options)
        figures = [
            _where(),
            f"![Cost of a product over its size, one line a library]({chart.name})",
            "### One operation by its parts",
            "Nanoseconds; in Python / compiled." if len(BUILDS) > 1 else "Nanoseconds.",
            parts_table(accounts).rstrip(),
            "### One operation beside other libraries",
            _UNITS if any(BASE in line.times for line in lines) else "Microseconds.",
            _libraries(lines).rstrip(),
            "### What costs what",
            _beside(small, 1e6, "µs").rstrip(),
            *([programs.rstrip()] if programs else []),
        ]
        body = "\n\n".join(figures)
        self.path.write_text(
            f"{self.before}{START}\n\n{body}\n\n{END}{self.after}", encoding="utf-8"
        )
