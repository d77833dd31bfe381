"""Test that functions and gradients are as accurate as docs/accuracy.md says."""

import importlib
import math
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mpmath")
pytest.importorskip("scipy")

import wengert as wg

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "accuracy.md"
# processors and C libraries differ in the last digits, and fewer arguments are tried here
FLOOR, SLACK = 8.0, 3.0
KINDS = [(np.float32, False), (np.float32, True), (np.float64, False), (np.float64, True)]


def figures():
    """For each line of the table wengert's errors: value and gradient, in float32 and float64."""
    found = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            title, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            own = [cell.split("·")[0].strip() for cell in cells]
            found[title] = [math.inf if text in "∞-" else float(text) for text in own]
    return found


FIGURES = figures()


@pytest.fixture(scope="module")
def modules():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        accuracy = importlib.import_module("accuracy")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    exact = sys.modules["_exact"]
    usual, exact.COUNT = exact.COUNT, 6
    yield accuracy, exact
    exact.COUNT = usual


def test_every_function_that_can_be_measured_is_in_the_table(modules):
    accuracy, exact = modules
    assert {accuracy.titled(case.name, case.is_complex) for case in exact.CASES} == set(FIGURES)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("title", FIGURES)
def test_errors_are_those_of_the_table(modules, title):
    accuracy, exact = modules
    chosen = [c for c in exact.CASES if accuracy.titled(c.name, c.is_complex) == title]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = accuracy.table({"wengert": wg}, chosen)
    for (dtype, gradient), figure in zip(KINDS, FIGURES[title], strict=True):
        for (_, _, of, region, part), (worst,) in found.items():
            if of == dtype and (part > 0) == gradient and worst is not None:
                bound = max(FLOOR, SLACK * figure)
                assert worst.error <= bound, (
                    f"{np.dtype(of)}, {region}: {worst.error} at {worst.at}"
                )
