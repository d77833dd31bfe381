"""Test SciPy and other libraries that follow the array API standard."""

import os
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_what_other_libraries_compute_has_right_gradients():
    pytest.importorskip("scipy", minversion="1.17")
    path = os.pathsep.join(p for p in sys.path if p)
    environment = {**os.environ, "PYTHONPATH": path, "SCIPY_ARRAY_API": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "support.array_libraries"],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    *wrong, last = ran.stdout.splitlines() or [ran.stderr]
    assert last.endswith("0 differ"), "\n".join([*wrong, last])
    assert int(last.split()[0]) >= 70


def test_the_page_names_the_command_that_compares():
    page = pathlib.Path(__file__).parents[2] / "docs" / "arrays.md"
    assert "python -m support.array_libraries" in page.read_text(encoding="utf-8")
