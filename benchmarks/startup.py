"""What a library costs before it computes: import time and size on disk, beside NumPy's own.

Each import is timed in a fresh process that has imported NumPy already, once to warm the disk's
cache and then in turns.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from _measure import Row, arguments, chosen, measure, report, rows

CONTESTANTS = ("wengert", "torch", "autograd", "mygrad", "jax")
PARTS = {"jax": ("jaxlib",)}
"""Packages that belong to a library under another name."""
PROGRAM = """
import numpy, time
start = time.perf_counter()
import {}
print(time.perf_counter() - start)
"""


def importing(name: str) -> Callable[[], dict[str, float]]:
    """Milliseconds that importing `name` takes where NumPy is there already."""

    # an installed package has its modules compiled; let Python do so in a source tree too
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def run() -> dict[str, float]:
        out = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(name)],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        return {"ms": 1e3 * float(out.stdout)}

    return run


def size(name: str) -> float:
    """Megabytes of the library's own files, without what Python compiles from them."""
    total = 0
    for package in (name, *PARTS.get(name, ())):
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.submodule_search_locations is not None
        folder = Path(next(iter(spec.submodule_search_locations)))
        files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
        total += sum(path.stat().st_size for path in files)
    return total / 1e6


def main() -> None:
    options = arguments(__doc__)
    installed = {name: importing(name) for name in CONTESTANTS if importlib.util.find_spec(name)}
    runs = chosen(installed, options.peers)
    lines = rows("import, over NumPy's", measure(runs, 3 if options.quick else 11))
    lines.append(Row("size on disk", "MB", {name: [size(name)] for name in runs}))
    report("What comes before the first operation", "ms and MB", 1, lines, options.json)


if __name__ == "__main__":
    main()
