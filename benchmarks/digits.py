"""The example of images and sequences beside PyTorch: the same file, with another import line.

Each library runs it in a process of its own, in turns, with one thread. The last accuracies that
each run printed are compared, too.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from _measure import arguments, chosen, measure, report, rows

EXAMPLE = Path(__file__).parents[1] / "examples" / "image_and_sequence.py"
IMPORT = "import wengert as torch"
CONTESTANTS = {"wengert": IMPORT, "torch": "import torch"}
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "WENGERT_NUM_THREADS"), "1")


def training(name: str, folder: str, said: dict[str, list[str]]) -> Callable[[], dict[str, float]]:
    """Seconds that each network takes to train with library `name`."""
    script = Path(folder) / f"with_{name}.py"
    source = EXAMPLE.read_text(encoding="utf-8")
    script.write_text(source.replace(IMPORT, CONTESTANTS[name]), encoding="utf-8")

    def run() -> dict[str, float]:
        done = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **ONE_THREAD},
        )
        said[name] = re.findall(r"\[#+\] .*accuracy ([\d. ]+ %)", done.stdout)
        kinds = re.findall(r"^(\w+): [\d,]+ parameters", done.stdout, re.MULTILINE)
        times = re.findall(r"^  ([\d.]+) s$", done.stdout, re.MULTILINE)
        return {kind: float(time) for kind, time in zip(kinds, times, strict=True)}

    return run


def main() -> None:
    options = arguments(__doc__, rounds=(1, 5))
    installed = {name: line for name, line in CONTESTANTS.items() if importlib.util.find_spec(name)}
    said: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        runs = {name: training(name, folder, said) for name in chosen(installed, options.peers)}
        times = measure(runs, options.rounds)
    report("Training on handwritten digits", "s", 1, rows("", times), options.json)
    if not options.json:
        for name, accuracies in said.items():
            print(f"{name}: test accuracies {', '.join(accuracies)}")


if __name__ == "__main__":
    main()
