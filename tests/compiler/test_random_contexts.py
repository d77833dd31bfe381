"""Test calls in random contexts compiled and uncompiled (see `random_contexts`).

The commit draws some of the programs; ``WENGERT_CALLS=0:20000`` runs those of these seeds instead.
"""

from __future__ import annotations

import os
import random

import pytest
from random_contexts import CONTEXTS, HEAD, draw_call
from random_runs import check

FIRST, _, LAST = os.environ.get("WENGERT_CALLS", "0:950").partition(":")
SEEDS = range(int(FIRST), int(LAST))


@pytest.mark.parametrize("part", range(4))
def test_calls_in_contexts_do_what_they_do_uncompiled(part: int) -> None:
    seeds = list(SEEDS[part::4])
    if "WENGERT_CALLS" not in os.environ:
        seeds = random.Random(os.environ["WENGERT_SAMPLE"]).sample(seeds, 18)
    for seed in seeds:
        verdict = check(draw_call(seed), "numpy")
        text = draw_call(seed)[len(HEAD) :]
        assert verdict.what != "disagree", f"seed {seed}: {verdict.why}\n{text}"


def test_every_context_is_drawn() -> None:
    drawn = "".join(map(draw_call, SEEDS))
    assert [name for name, call in CONTEXTS.items() if repr(call) not in drawn] == []
