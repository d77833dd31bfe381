"""Test that the benchmarks run on small inputs: their output, and invalid arguments."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
BENCHMARKS = REPOSITORY / "benchmarks"
QUICK = ("--rounds=1", "--peers=none")

pytestmark = [
    pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the benchmarks come with the source"),
    pytest.mark.sampled(4, "benchmarks"),  # each starts a process: they take turns
]


def run(*command):
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=BENCHMARKS,
    )


def printed(script, *switches):
    result = run(f"{script}.py", *QUICK, *switches)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(
    ("script", "switches", "phases"),
    [
        ("overhead", (), {"forward", "backward", "both"}),
        ("lstm", ("--steps=3",), {"forward", "backward", "both"}),
        ("chain", ("--size=50",), {"forward", "backward", "both"}),
        ("train", (), {"step"}),
    ],
)
def test_a_benchmark_prints_json_with_a_time_for_every_case_and_phase(script, switches, phases):
    check(json.loads(printed(script, "--json", *switches)), phases)


def check(found, phases):
    assert {row["phase"] for row in found["rows"]} == phases
    for row in found["rows"]:
        ours = row["contestants"]["wengert"]
        assert ours["ours_over_theirs"] == 1 and ours["min"] <= ours["median"]
        if row["phase"] in ("both", "double", "step"):
            assert ours["min"] > 0
    cases = [(row["case"], row["phase"]) for row in found["rows"]]
    assert len(set(cases)) == len(cases)


def test_the_account_gives_times_of_all_passes_and_parts_that_add_up_to_the_whole():
    found = json.loads(printed("account", "--json", "--largest=9"))
    check(found, {"alone", "recorded", "backward", "both", "double"})
    assert len({row["case"] for row in found["costs"]["rows"]}) == len(found["costs"]["rows"]) > 10
    # numbers, 8 elements and 3 by 3, each in two dtypes
    assert len(found["parts"]) == 6 * len({account["build"] for account in found["parts"]})
    for account in found["parts"]:
        for phase in ("forward", "backward"):
            lines = account["parts"][phase]
            (whole,) = (value for name, value in lines.items() if name.startswith("**"))
            parts = [value or 0 for name, value in lines.items() if not name.startswith("*")]
            assert sum(parts) == pytest.approx(whole)


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="only Linux tells what a process needed"
)
def test_the_benchmark_of_memory_finds_what_graphs_keep_and_what_passes_need():
    found = json.loads(printed("memory", "--json", "--held=10000", "--scale=0.1"))
    kept = {row["case"]: row["contestants"]["wengert"]["median"] for row in found["kept"]["rows"]}
    # a product saves an array of its own each time, a sum none
    assert 0 < kept["add"] < kept["mul"] < 10_000
    # three operations are counted, so that the figure is for one
    assert kept["sin, mul, add"] < kept["sin"] + kept["mul"]
    peaks = {row["case"]: row["contestants"]["wengert"]["median"] for row in found["peak"]["rows"]}
    # what 10 sines and 10 products save of 100,000 doubles, less what fits where the process had
    # memory already
    assert peaks["chain of 10 sin, mul, add (10^6)"] > 18 * 0.8


def test_the_table_names_every_case():
    table = printed("chain", "--size=50")
    for case in ("mul, add", "mul, tanh, add", "sin, mul, add", "exp, add, log, mul"):
        assert re.search(rf"^{case} \(50\) +both +\d+\.\d+", table, re.MULTILINE)


PAGE = """# Speed

<!-- figures: written by benchmarks/account.py -->
Old figures.
<!-- end of the figures -->

Advice.
"""


def test_figures_come_between_the_marks_of_the_page(tmp_path):
    page = tmp_path / "speed.md"
    page.write_text(PAGE)
    printed("account", f"--page={page}", "--largest=9", "--programs=lstm --steps=2")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Speed\n\n<!-- figures") and text.endswith("-->\n\nAdvice.\n")
    assert "Old figures" not in text
    assert "| batch 1, 2 steps, hidden size 64 |" in text and "| -" not in text.replace("| --", "")
    charts = {path.stem for path in (tmp_path / "charts").glob("*.svg")}
    assert charts == {"compile", "directions", "libraries", "lstm", "parts"}
    for chart in ("speed", *(f"charts/{name}" for name in charts - {"compile", "directions"})):
        assert f"({chart}.svg)" in text and (tmp_path / f"{chart}.svg").stat().st_size > 1000
    # it fits a phone: four columns at most, and nothing takes less than no time
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) > 30 and max(line.count("|") for line in rows) <= 5
    assert not re.search(r"\| -\d", text)


def test_a_benchmark_may_print_several_tables():
    program = "from _page import _objects; print(list(_objects('{}\\n[1]\\n')))"
    assert run("-c", program).stdout == "[{}, [1]]\n"


def test_a_page_without_marks_is_left_as_it_is(tmp_path):
    page = tmp_path / "speed.md"
    page.write_text("# Speed\n")
    result = run("account.py", *QUICK, f"--page={page}", "--programs=")
    assert result.returncode != 0
    assert "between which figures belong" in result.stderr
    assert page.read_text() == "# Speed\n"


PROGRAM = """
import numpy as np
from _styles import passes_of

calls = []

def drifting(F, x):
    calls.append(x)
    return x * x * float(len(calls))

passes_of("a function that drifts", drifting, [np.ones(3)], np.ones(3), peers="none")
"""


def test_contestants_must_agree_on_the_gradient():
    result = run("-c", PROGRAM)
    assert result.returncode == 1
    assert result.stderr == "a function that drifts: the gradient of wengert differs\n"


STRAY = """
from _builds import BUILDS

build = BUILDS["wengert"]
print(build.package.__version__ == build.load("wengert").__version__)
import wengert
"""


def test_an_import_beside_the_builds_is_refused():
    result = run("-c", STRAY)
    assert result.stdout == "True\n"
    assert "wengert is imported at a time when no build is set up" in result.stderr
