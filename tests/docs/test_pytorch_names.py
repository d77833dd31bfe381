"""Test that the page of PyTorch's names is complete and correct."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.names import found, listed

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "pytorch-names.md"


def test_the_page_is_what_is_found():
    for package in ("ml_dtypes", "safetensors", "scipy"):
        pytest.importorskip(package)  # what there is is told with these
    # in a process of its own, in which no other test has changed a class
    command = [sys.executable, "-X", "utf8", "-m", "support.names"]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=True, cwd=ROOT / "tests" / "lib"
    )
    message = "PYTHONPATH=tests/lib python -m support.names > docs/pytorch-names.md"
    assert PAGE.read_text(encoding="utf-8") == done.stdout, message


def test_names_are_told_apart():
    names = found("torch", ["add", "quantize_per_tensor", "no_such_name"])
    assert names.here == ["add"] and names.absent == ["no_such_name"]
    assert list(names.refused.values()) == [["quantize_per_tensor"]]
    assert found("torch.no_such_module", ["a"]).absent == ["a"]


def test_every_name_stands_in_the_page_or_in_a_complete_module():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{module}`" in text for module in listed())
