"""Test random programs over shared memory: views, writes, hooks, modes, Functions, walks.

Both libraries run each program. They must agree on which line raises, and at the end on all
attributes of each tensor, its first and second derivatives, the accumulated gradients, and the
arguments of hooks, in order. `support.exclusions` lists the programs that are left out.

``WENGERT_PROGRAMS=100000`` runs that many programs, with a new seed each time.
"""

import os

import pytest

import wengert
from support.exclusions import passes
from support.programs import CHOICES, KINDS, write
from support.runs import assert_agree, run

torch = pytest.importorskip("torch")
hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies
pytestmark = pytest.mark.torch

COUNT = os.environ.get("WENGERT_PROGRAMS")
SMALL = st.integers(0, 23)
STEP = st.tuples(st.integers(0, len(KINDS) - 1), SMALL, *[SMALL] * CHOICES)
LEAF = st.tuples(SMALL, SMALL)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@hypothesis.settings(
    max_examples=int(COUNT or 600),
    deadline=None,
    derandomize=COUNT is None,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
@hypothesis.given(
    leaves=st.lists(LEAF, min_size=1, max_size=3),
    steps=st.lists(STEP, min_size=2, max_size=14),
)
def test_a_random_program_runs_as_in_pytorch(leaves, steps):
    lines = write(leaves, steps)
    # PyTorch notices a write past the graph when a view that was not recorded is used
    hypothesis.assume(not any("no_grad(): x" in a and any(map(passes, lines)) for a in lines))
    assert_agree(run(lines, wengert), run(lines, torch), lines)
