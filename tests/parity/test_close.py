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
None, None
None, 1.0
t.ones(2).to_sparse(), t.ones(2).to_sparse()
t.ones(2).to_sparse(), t.ones(2)
t.ones(2).to_sparse(), t.ones(3).to_sparse()
t.eye(2).to_sparse(), 2 * t.eye(2).to_sparse()
t.eye(2).to_sparse(), t.eye(2).flip(0).to_sparse()
t.eye(2).to_sparse(), t.ones(2, 2).to_sparse()
t.ones(2, 3).to_sparse(), t.ones(2, 3).to_sparse(1)
[t.eye(2).to_sparse_csr()], [2 * t.eye(2).to_sparse_csr()]
t.eye(2).to_sparse_csr(), t.eye(2).flip(0).to_sparse_csr()
t.eye(2).to_sparse_csc(), t.ones(2, 2).triu().to_sparse_csc()
t.eye(2).to_sparse_csc(), t.eye(2).flip(0).to_sparse_csc()
t.eye(2).to_sparse_csc(), 2 * t.eye(2).to_sparse_csc()
t.eye(2).to_sparse_bsr((1, 1)), t.eye(2).flip(0).to_sparse_bsr((1, 1))
t.eye(2).to_sparse_bsr((1, 1)), (2 * t.eye(2)).to_sparse_bsr((1, 1))
t.eye(2).to_sparse_bsc((1, 1)), t.eye(2).flip(0).to_sparse_bsc((1, 1))
t.eye(2).to_sparse_bsc((1, 1)), (2 * t.eye(2)).to_sparse_bsc((1, 1))
"""
OPTIONS = (
    {"rtol": 1e-3},
    {"rtol": 0.5, "atol": 0.5},
    {"check_dtype": False},
    {"equal_nan": True},
    {"msg": "said"},
)
CASES = [(pair, {}) for pair in PAIRS.strip().splitlines()]
CASES += [("t.ones(2).to_sparse(), t.ones(2)", {"check_layout": False})]
CASES += [("t.ones(2), t.nn.Parameter(t.ones(2))", {"allow_subclasses": False})]
CASES += [(PAIRS.strip().splitlines()[i], o) for i in (1, 2, 5, 14) for o in OPTIONS]


def said(library, pair, options):
    actual, expected = eval(pair, {"t": library})
    try:
        library.testing.assert_close(actual, expected, **options)
    except Exception as error:
        text = re.sub(r"wengert\.[\w.]+|torch\.(Tensor|nn[\w.]+)", "T", str(error))
        return type(error).__name__, text
    return None


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize(("pair", "options"), CASES)
def test_it_says_what_pytorch_says(pair, options):
    assert said(wengert, pair, options) == said(torch, pair, options)


def test_sparse_tensors_differ_in_indices_or_values():
    one, two = wengert.eye(2).to_sparse(), (2 * wengert.eye(2)).to_sparse()
    others = (two, wengert.ones(2, 2).to_sparse(), wengert.eye(2).flip(0).to_sparse())
    for other in others:
        with pytest.raises(AssertionError):
            wengert.testing.assert_close(one, other)


NUMBERS = (0.0, 1.0, 1.00001, float("nan"), float("inf"), -float("inf"))
SETS = {
    "float32": NUMBERS,
    "complex64": [complex(a, b) for a in NUMBERS[2:] for b in NUMBERS[1:4]],
    "int64": (0, 1, 2**24, 2**24 + 1, 2**53, 2**53 + 1, -(2**63)),
    "bool": (False, True),
}
TOLERANCES = ({}, {"rtol": 0, "atol": 0}, {"rtol": 1, "atol": float("inf")}, {"rtol": 1e-9})


@pytest.mark.parametrize("dtype", SETS)
def test_elements_are_close_where_pytorch_says_so(dtype):
    for options in TOLERANCES:
        for equal_nan in (False, True):
            found = []
            for t in (wengert, torch):
                x = t.tensor(SETS[dtype], dtype=getattr(t, dtype))
                found.append(t.isclose(x[:, None], x, equal_nan=equal_nan, **options).tolist())
                found.append(t.allclose(x, x, equal_nan=equal_nan, **options))
            assert found[:2] == found[2:], (options, equal_nan)
