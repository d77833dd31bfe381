"""Test the random programs of the parity tests compiled and uncompiled.

``WENGERT_LINES=0:20000`` runs the programs of these seeds instead of a few that the commit draws.
"""

import importlib.util
import os

import pytest
from random_lines import drawn, smaller
from random_runs import FIRST as DRAWN
from random_runs import check

FIRST, _, LAST = os.environ.get("WENGERT_LINES", f"{DRAWN}:{DRAWN + 80}").partition(":")
PART = 20
SEEDS = range(int(FIRST), int(LAST))
BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("first", SEEDS[::PART])
def test_random_lines_do_what_they_do_uncompiled(backend, first):
    texts = []
    count = PART if backend == "numpy" else PART // 4
    for seed in range(first, min(first + count, SEEDS.stop)):
        program = drawn(seed, seed % 2 == 1)
        if program is None or check(program.text, backend).what != "disagree":
            continue
        least = smaller(program, lambda text: check(text, backend).what == "disagree")
        texts.append(f"seed {seed}: {check(least.text, backend).why}\n{least.text}")
    assert not texts, "\n\n".join(texts)


def test_a_failing_program_is_made_small():
    program = next(
        found for found in map(drawn, range(1000)) if found and "softmax" in "".join(found.body)
    )
    least = smaller(program, lambda text: "softmax" in text)
    assert ["softmax" in line for line in least.body] == [True]
    assert least.outside == "none"
