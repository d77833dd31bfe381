"""Test permutations and new generators against PyTorch."""

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize("n", [0, 1, 2, 5, 127, 128, 129, 130, 5000, 65537, 10**5])
def test_permutations(n):
    found = []
    for library in (torch, wg):
        library.manual_seed(n)
        found.append((library.randperm(n).numpy(), library.rand(1).item()))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize("seed", [None, 0, 5, 2**40, -3])
def test_generators(seed):
    found = []
    for library in (torch, wg):
        g = library.Generator()
        g = g if seed is None else g.manual_seed(seed)
        found.append((library.rand(3, generator=g).tolist(), g.get_state().tolist()))
    assert found[0] == found[1]


def test_one_sample_with_replacement():
    weights = np.random.default_rng(0).uniform(size=(50, 7))
    found = []
    for library in (torch, wg):
        library.manual_seed(0)
        p = library.tensor(weights)
        found.append([library.multinomial(p, k, True).tolist() for k in (1, 3, 1)])
    assert found[0] == found[1]
