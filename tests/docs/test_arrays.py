"""Run the examples on arrays of other libraries, which need a separate process.

SciPy follows the array API standard only if an environment variable is set before its import.
"""

import importlib
import os
import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "arrays.md"
EXAMPLE = re.compile(r"^```text\n(.*?)^```\n\n^```output\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEW_ENOUGH = {"scipy": "1.17", "sklearn": "1.7", "einops": "0.8", "opt_einsum": "3.4"}


def test_the_examples_give_what_the_page_shows():
    for name, version in NEW_ENOUGH.items():
        found = pytest.importorskip(name, minversion=version)
        assert importlib.import_module(name) is found
    examples = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    code = "\nprint('---')\n".join(code for code, _ in examples)
    for needed in ("logsumexp", "skew", "Rotation", "cubature", "Ridge", "rearrange", "contract"):
        assert needed in code
    path = os.pathsep.join(p for p in sys.path if p)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split("---\n") == [output for _, output in examples]
