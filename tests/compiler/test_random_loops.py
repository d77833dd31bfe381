"""Test random programs with loops compiled and uncompiled (see `random_loops`).

The commit draws the first seed. ``WENGERT_PROGRAMS=2000`` runs that many, in chunks that processes
share, from ``WENGERT_SEED`` on.
"""

from __future__ import annotations

import collections
import importlib.util
import os

import pytest
from random_loops import drawn
from random_runs import FIRST, check

COUNT = os.environ.get("WENGERT_PROGRAMS")
CHUNK = 10
BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]
CHUNKS = [
    (backend, seed)
    for backend in BACKENDS
    for seed in range(FIRST, FIRST + int(COUNT or (2 * CHUNK if backend == "numpy" else 1)), CHUNK)
]


@pytest.mark.parametrize(("backend", "first"), CHUNKS)
def test_random_loops_do_what_they_do_uncompiled(backend: str, first: int) -> None:
    count = CHUNK if COUNT or backend == "numpy" else CHUNK // 4
    found: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + count):
        text = drawn(seed)
        verdict = check(text, backend)
        found[verdict.what] += 1
        if verdict.what == "disagree":
            pytest.fail(f"program {seed}, compiled by {backend}, {verdict.why}\n\n{text}")
    # the others run as they are, or are not to be compared
    assert found["agree"] > 0.4 * count or count < CHUNK, found


@pytest.mark.parametrize("seed", [44, 3434])
def test_programs_that_once_raised_errors_of_the_compiler(seed: int) -> None:
    # a call found no trace after all had been dropped; a derivative read a value of another block
    verdict = check(drawn(seed), "numpy")
    assert verdict.what == "agree", verdict.why
