"""Test that PyTorch programs run unchanged on this library, with PyTorch's numbers."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "scripts").glob("*.py"))
PARTS = [SCRIPTS[k::4] for k in range(4)]
"""A process for each runs its scripts one after another: libraries take long to import."""
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan\b|inf\b)")
CLOSE = {"rel_tol": 1e-3, "abs_tol": 2e-4}
"""Training in float32 amplifies the last bits, in which two libraries may differ."""


def printed(library: str, scripts: list[Path], folder: Path) -> dict[str, list[str | None]]:
    """What each script printed, by its name, and the exception that ended it, or None."""
    out = folder / f"{library}.json"
    subprocess.run(
        [sys.executable, str(HERE / "run.py"), library, str(out), *map(str, scripts)],
        check=True,
        timeout=600,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    found: dict[str, list[str | None]] = json.loads(out.read_text())
    return found


def difference(have: str, want: str) -> str | None:
    """The first line that differs by more than rounding, in both."""
    mine, theirs = have.splitlines(), want.splitlines()
    for one, other in zip(mine, theirs, strict=False):
        numbers = NUMBER.findall(one), NUMBER.findall(other)
        if NUMBER.sub("#", one) != NUMBER.sub("#", other) or not all(map(is_close, *numbers)):
            return f"{one!r} is not {other!r}"
    return None if len(mine) == len(theirs) else f"{len(mine)} lines are not {len(theirs)}"


def is_close(one: str, other: str) -> bool:
    return one == other or math.isclose(float(one), float(other), **CLOSE)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", range(len(PARTS)))
def test_programs_run(part, tmp_path):
    for name, (text, error) in printed("wengert", PARTS[part], tmp_path).items():
        assert error is None, f"{name}: {error}"
        assert text.strip(), f"{name} prints nothing"


@pytest.mark.torch
@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", range(len(PARTS)))
def test_programs_print_what_they_print_with_pytorch(part, tmp_path):
    pytest.importorskip("torch")
    ours, theirs = (printed(library, PARTS[part], tmp_path) for library in ("wengert", "torch"))
    assert [name for name, (_, error) in theirs.items() if error is not None] == []
    differences = {
        name: error or difference(text, theirs[name][0]) for name, (text, error) in ours.items()
    }
    assert {name: found for name, found in differences.items() if found is not None} == {}


def test_differences_are_seen():
    assert difference("a 1.00001 nan", "a 1.00002 nan") is None
    for other in ("a 1.1 nan", "b 1.00001 nan", "a 1.00001 inf", "a 1.00001", "a 1.00001 nan\n2"):
        assert difference("a 1.00001 nan", other) is not None
