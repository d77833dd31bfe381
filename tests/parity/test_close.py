"""Test `testing.assert_close` against PyTorch's: its decisions and its messages."""

import re

import pytest

import wengert
import wengert.testing

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

PAIRS = """
t.ones(2), t.ones(2) + 1e-6
t.tensor([1.0, 2.0]), t.tensor([1.0, 2.5])
t.ones(2), t.ones(2).double()
t.ones(2), t.ones(3)
1.0, 1.5
1, 1.0
1, 2
[t.ones(1)], [t.zeros(1)]
[t.ones(1)], []
{"a": (1, t.ones(2))}, {"a": (1, t.zeros(2))}
{"a": 1}, {"b": 1}
t.tensor([1, 2]), t.tensor([1, 3])
t.tensor([True]), t.tensor([False])
t.ones(2), [1.0, 1.0]
t.tensor([float("nan")]), t.tensor([float("nan")])
t.tensor(2.0), t.tensor(3.0)
t.ones(2).half(), t.ones(2).half() * 1.0005
t.tensor([1 + 2j]), t.tensor([1 + 2j])
t.ones(2, requires_grad=True), t.ones(2)
"""
OPTIONS = (
    {"rtol": 1e-3},
    {"rtol": 0.5, "atol": 0.5},
    {"check_dtype": False},
    {"equal_nan": True},
    {"msg": "said"},
)
CASES = [(pair, {}) for pair in PAIRS.strip().splitlines()]
CASES += [(PAIRS.strip().splitlines()[i], o) for i in (1, 2, 5, 14) for o in OPTIONS]


def said(library, pair, options):
    actual, expected = eval(pair, {"t": library})
    try:
        library.testing.assert_close(actual, expected, **options)
    except Exception as error:
        text = re.sub(r"wengert\.[\w.]+|torch\.Tensor", "T", str(error))
        return type(error).__name__, text
    return None


@pytest.mark.parametrize(("pair", "options"), CASES)
def test_it_says_what_pytorch_says(pair, options):
    assert said(wengert, pair, options) == said(torch, pair, options)
