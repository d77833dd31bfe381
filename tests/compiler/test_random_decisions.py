"""Test random programs that decide in all places of Python's grammar, compiled and uncompiled.

``WENGERT_DECISIONS=0:20000`` runs the programs of these seeds instead of a few that the commit
draws.
"""

import importlib.util
import os

import pytest
from random_decisions import drawn
from random_runs import FIRST as DRAWN
from random_runs import check

FIRST, _, LAST = os.environ.get("WENGERT_DECISIONS", f"{DRAWN}:{DRAWN + 24}").partition(":")
PART = 12
SEEDS = range(int(FIRST), int(LAST))
BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("first", SEEDS[::PART])
def test_random_decisions_do_what_they_do_uncompiled(backend, first):
    texts = []
    count = PART if backend == "numpy" else PART // 3
    for seed in range(first, min(first + count, SEEDS.stop)):
        found = check(drawn(seed), backend)
        if found.what == "disagree":
            texts.append(f"seed {seed}: {found.why}\n{drawn(seed)}")
    assert not texts, "\n\n".join(texts)


@pytest.mark.parametrize("backend", BACKENDS)
def test_most_programs_are_compiled(backend):
    found = [check(drawn(seed), backend).what for seed in range(10)]
    assert found.count("agree") > 7
