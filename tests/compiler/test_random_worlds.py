"""Test random programs with shared state and memory compiled and uncompiled.

The commit draws the first seed. ``WENGERT_PROGRAMS=10000`` runs that many, in chunks that processes
share, from the seed ``WENGERT_SEED`` on (see `random_worlds`). Failing programs are shrunk, and
printed as source.
"""

from __future__ import annotations

import collections
import importlib.util
import os

import pytest
from random_memory import HELD, LIBRARIES
from random_runs import FIRST, space
from random_worlds import check, draw_world, smaller_text

COUNT = os.environ.get("WENGERT_PROGRAMS")
CHUNK = 25
BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]
SLOW = pytest.mark.slow
AT_ONCE = range(FIRST, FIRST + 2 * CHUNK)
CHUNKS = [
    # the first ones run with every change
    pytest.param(
        backend,
        seed,
        marks=() if not COUNT and backend == "numpy" and seed < FIRST + 2 * CHUNK else SLOW,
    )
    for backend in BACKENDS
    for seed in range(FIRST, FIRST + int(COUNT or (4 * CHUNK if backend == "numpy" else 1)), CHUNK)
]


@pytest.mark.parametrize(("backend", "first"), CHUNKS)
def test_random_worlds_are_as_uncompiled(backend: str, first: int) -> None:
    count = CHUNK if COUNT or backend == "numpy" else CHUNK // 5
    found: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + count):
        text = draw_world(seed)
        verdict = check(text, backend)
        found[verdict.what] += 1
        if verdict.what == "disagree":
            least = smaller_text(text, lambda text: check(text, backend).what == "disagree")
            why = check(least, backend).why
            pytest.fail(f"compiled by {backend} {why}\n\n{least}\nof\n\n{text}")
    # the others run as they are: they change what is not a tensor, or read arrays of NumPy
    assert found["agree"] + found["eager"] > 0.9 * count, found
    assert found["agree"] >= 0.4 * count or count < CHUNK, found


@pytest.mark.parametrize("name", HELD)
def test_every_kind_of_object_is_looked_at_after_each_call(name: str) -> None:
    """What the grammar says of a kind is Python: it is read, changed, and the change is seen."""
    thing = HELD[name]
    made = space()
    exec(LIBRARIES, made)
    made["turn"] = 3
    exec(f"s = {thing.make.format(n=1)}", made)
    look = thing.look.format(s="s")
    for read in thing.reads:
        eval(read.format(s="s"), made)
    seen = [repr(eval(look, made))]
    for change in (*thing.writes, *thing.changes):
        exec(change.format(s="s"), made)
        seen.append(repr(eval(look, made)))
    assert len(set(seen)) > 1
