"""Layer 11 · cli: `wengert bench`, which runs the benchmarks of a source checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from wengert.cli.request import BadRequest

SCRIPTS = (
    "overhead",
    "account",
    "train",
    "lstm",
    "optimisers",
    "digits",
    "chain",
    "science",
    "memory",
    "transforms",
    "startup",
    "anomaly",
    "ops",
)


def _folder() -> Path:
    """Return the folder of benchmarks: beside the package's source, or in the working directory."""
    for root in (Path(__file__).parents[3], Path.cwd()):
        folder = root / "benchmarks"
        if (folder / "overhead.py").is_file():
            return folder
    raise BadRequest(
        "the benchmarks come with the source, not with the installed package: "
        "run this in a checkout of the repository"
    )


def bench(script: str | None = None, quick: bool = False, as_json: bool = False) -> int:
    """Run one benchmark, or all, each in a separate process.

    Parameters
    ----------
    script: One of `SCRIPTS`; all of them if None.
    quick: Whether to measure fewer rounds.
    as_json: Whether to print JSON instead of tables, one object a script.

    Returns
    -------
    int: The highest exit status of the scripts.

    Raises
    ------
    BadRequest: If there is no such benchmark, or the benchmarks cannot be found.
    """
    if script is not None and script not in SCRIPTS:
        raise BadRequest(f"there is no benchmark {script!r}, only {', '.join(SCRIPTS)}")
    folder = _folder()
    switches = [*(["--quick"] if quick else []), *(["--json"] if as_json else [])]
    return max(
        subprocess.run([sys.executable, folder / f"{name}.py", *switches], check=False).returncode
        for name in ([script] if script else SCRIPTS)
    )
