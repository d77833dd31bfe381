"""Run random programs line by line in PyTorch and here, and compare after each line.

``WENGERT_SEEDS=0:20000`` runs the programs of these seeds instead of a few.
"""

import os

import pytest
from known import KNOWN
from lockstep import difference, unexplained

import wengert
from support.beyond import BEYOND
from support.deviations import DEVIATIONS
from support.lines import draw

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

FIRST, _, LAST = os.environ.get("WENGERT_SEEDS", "0:160").partition(":")
PART = 40
SEEDS = range(int(FIRST), int(LAST))


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("wide", [False, True], ids=["common", "wide"])
@pytest.mark.parametrize("first", SEEDS[::PART])
def test_random_lines_do_the_same_as_in_pytorch(first, wide):
    texts = []
    for seed in range(first, min(first + PART, SEEDS.stop)):
        found = unexplained(draw(torch, seed, wide), wengert, torch)
        if found is not None:
            fewer, line, what = found
            texts.append("\n".join([f"seed {seed}", *fewer, line, what]))
    assert not texts, "\n\n".join(texts)


def test_what_may_differ_is_on_the_page():
    rows = [reason for reason, _ in BEYOND] + [known.reason for known in DEVIATIONS]
    for known in KNOWN:
        found = [reason for reason in rows if reason.startswith(known.reason)]
        assert len(found) == 1, known.reason


def test_a_wrong_result_is_noticed():
    first = "x0 = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)"
    lines = [first, "x1 = t.sin(x0)", "x2 = x1 * 2"]
    assert difference(lines, wengert, torch) is None
    wrong = {"x1 = t.sin(x0)": "x1 = t.sin(x0 + 1e-5)"}
    line, what = difference(lines, wengert, torch, wrong)
    assert (line, "in PyTorch" in what) == (lines[1], True)
    wrong = {"x1 = t.sin(x0)": "x1 = t.sin(x0) + (x0 - x0.detach()) * 1e-5"}
    assert difference(lines, wengert, torch, wrong)[0] == "derivatives"


@pytest.mark.parametrize(
    "line, what",
    [
        ("x1 = t.sin(x0)", "dtype"),
        ("x1 = x0.t().contiguous()", "stride"),
        ("x1 = x0.detach()", "requires_grad"),
        ("x0.register_hook(watch('h')); x0.sum().backward()", "hooks"),
        ("x1 = x0.nothing", "raise"),
    ],
)
def test_each_kind_of_difference_is_noticed(line, what):
    other = {
        "dtype": "x1 = t.sin(x0).float()",
        "stride": "x1 = x0.t()",
        "requires_grad": "x1 = x0",
        "hooks": "x0.sum().backward()",
        "raise": "x1 = 1",
    }[what]
    start = "x0 = t.ones(2, 3, dtype=t.float64, requires_grad=True)"
    swap = {line: other}
    found = difference([start, line], wengert, torch, swap)
    assert found is not None and what in found[1]
    assert difference([start, line], wengert, torch) is None
