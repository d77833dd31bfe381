import json
import os
import pathlib
import subprocess
import sys

import pytest

# each starts a process
pytestmark = pytest.mark.sampled(3, "science")

ROOT = pathlib.Path(__file__).parents[2]


def run(*switches):
    command = [sys.executable, ROOT / "benchmarks" / "science.py", *switches]
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_case_is_timed_beside_numpy():
    done = run("--rounds=2", "--eager", "--json", "--peers=numpy", "--only=lse", "--sizes=small")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [(row["case"], row["phase"]) for row in report["rows"]] == [
        ("lse 2500", "objective"),
        ("lse 2500", "gradient"),
    ]
    assert set(report["rows"][0]["contestants"]) == {"wengert", "numpy"}
    assert set(report["summary"]) == {"objective over numpy", "gradient over objective"}
    assert report["summary"]["gradient over objective"]["case"] == "lse 2500"


def test_an_unknown_function_is_named():
    done = run("--only=lse,nothing")
    assert done.returncode == 1
    assert "there is no function 'nothing', only hello, gmm" in done.stderr
