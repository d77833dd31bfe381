"""Counts what one operation executes and keeps, and compares with the figures in counts.toml.

``python benchmarks/counts.py`` shows both, ``--write`` puts what it has counted in their place.
Nothing here is timed: the same code gives the same counts on any machine. Of the package in Python
the instructions of the interpreter are counted, of the compiled modules those of the processor
(by valgrind's callgrind), and of both what stays in memory. All figures are for one operation:
differences of a long chain and a short one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

__all__ = ["BUILDS", "VERSION", "committed", "grown", "in_python", "main", "on_processor"]

HERE = Path(__file__).parent
FIGURES = HERE / "counts.toml"
BUILDS = {"python": "0", "compiled": "1"}
"""What ``WENGERT_NATIVE`` says to use each."""
ALIKE = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""The environment in which counts are the same each time."""
SLACK = 1.1
"""How often its figure a count may be."""
NOISE = {"bytes kept": 8.0, "bytes at peak": 8.0}
"""By how much a count may differ that is, or nearly is, 0."""
VERSION = "{}.{}".format(*sys.version_info)
"""Figures are kept for each version of Python: bytecode differs between them."""
OF_PROCESSOR = ("processor, in modules", "calls out of modules")
NATIVE = HERE.parent / "src" / "wengert" / "native"
OURS = "/wengert/native/"

Counts = dict[str, dict[str, float]]
"""What is counted -> case -> how many for one operation."""


def in_python(build: str) -> Counts:
    """Count what the interpreter executes, and what stays in memory."""
    return json.loads(_run(build, "python"))


def on_processor() -> Counts:
    """Count the instructions of the processor that the compiled modules take, by valgrind."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--dump-before=getppid", "--compress-strings=no", "--compress-pos=no"]
        out = f"--callgrind-out-file={folder}/part"
        told = json.loads(_run("compiled", "marks", "valgrind", "--tool=callgrind", out, *options))
        # each mark ends a part: every other one is what ran between two marks
        parts = [_part(Path(folder) / f"part.{2 * i + 2}") for i in range(2 * len(told["cases"]))]
    return {
        kind: {
            case: (long[kind] - short[kind]) / told["more"]
            for case, short, long in zip(told["cases"], parts[::2], parts[1::2], strict=True)
        }
        for kind in OF_PROCESSOR
    }


def count(build: str) -> Counts:
    """Count everything of one of `BUILDS`; on the processor only where valgrind is installed."""
    counts = in_python(build)
    return counts | on_processor() if build == "compiled" and shutil.which("valgrind") else counts


def _run(build: str, what: str, *tool: str) -> str:
    """The output of _counted.py, asked for `what`."""
    command = [*tool, sys.executable, str(HERE / "_counted.py"), what]
    environment = {**os.environ, **ALIKE, "WENGERT_NATIVE": BUILDS[build]}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def _part(path: Path) -> Counter[str]:
    """What a file of callgrind's tells: the costs of lines, and calls, by library."""
    found: Counter[str] = Counter()
    library = called = ""
    is_of_call = False  # the line after a call says what the call cost, which stands elsewhere too
    for line in path.read_text(errors="replace").splitlines():
        if line.startswith("ob="):
            library = line[3:]
        elif line.startswith("cob="):
            called = line[4:]
        elif line.startswith("calls="):
            if OURS in library and OURS not in (called or library):
                found["calls out of modules"] += int(line[6:].split()[0])
            called, is_of_call = "", True
        elif line[:1].isdigit():
            if not is_of_call:
                cost = int(line.split()[1])
                found["processor, in modules"] += cost * (OURS in library)
            is_of_call = False
    return found


def committed(build: str) -> dict[str, Any]:
    """The figures of this version of Python; empty if there are none."""
    figures: Any = tomllib.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    return dict(figures.get(VERSION, {}).get(build, {}))


def grown(figures: dict[str, Any], counts: Counts) -> list[str]:
    """What is counted more often than `figures` allow, a line each."""
    lines = []
    for kind, cases in counts.items():
        for case, number in cases.items():
            figure = figures.get(kind, {}).get(case)
            if figure is None:
                lines.append(f"{case}: {kind} {number:.4g}, which has no figure")
            elif number > max(figure * SLACK, figure + NOISE.get(kind, 0.5)):
                lines.append(f"{case}: {kind} {number:.4g}, where the figure is {figure:.4g}")
    return lines


def write(counts: dict[str, Counts]) -> None:
    """Put `counts`, by build, in place of the figures of this version of Python."""
    figures: Any = tomllib.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    figures[VERSION] = figures.get(VERSION, {}) | counts
    lines = [
        "# What one operation costs, counted; written by `python benchmarks/counts.py --write`"
    ]
    for version, builds in sorted(figures.items()):
        for build, kinds in builds.items():
            for kind, cases in kinds.items():
                lines += ["", f'["{version}".{build}."{kind}"]']
                lines += [
                    f'"{case}" = {max(round(number, 1), 0.0)}' for case, number in cases.items()
                ]
    FIGURES.write_text("\n".join(lines) + "\n")


def show(build: str, figures: dict[str, Any], counts: Counts) -> None:
    """Print a table of one build: count, and figure where that is another number."""
    for kind, cases in counts.items():
        print(f"\n{build}: {kind}")
        for case, number in cases.items():
            figure = figures.get(kind, {}).get(case)
            note = "" if figure is None or abs(number - figure) < 0.1 else f"  (was {figure:,.1f})"
            print(f"  {case:34}{number:>12,.1f}{note}")


def main() -> int:
    """Count, and show or write; 1 if something has grown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="make the counts the figures")
    parser.add_argument("--build", choices=BUILDS, help="only this one, of those that are there")
    asked = parser.parse_args()
    builds = (
        [asked.build] if asked.build else [b for b in BUILDS if b == "python" or NATIVE.is_dir()]
    )
    counts = {build: count(build) for build in builds}
    for build in builds:
        show(build, committed(build), counts[build])
    if asked.write:
        write(counts)
        return 0
    lines = [line for build in builds for line in grown(committed(build), counts[build])]
    print("", *lines, sep="\n")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
