"""Loaders after the same seed, here and in PyTorch."""

import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

PASSES = {
    "shuffled": lambda t: t.utils.data.DataLoader(range(9), 4, shuffle=True),
    "in order": lambda t: t.utils.data.DataLoader(range(9), 4),
    "drawn": lambda t: t.utils.data.DataLoader(
        range(9), 4, sampler=t.utils.data.RandomSampler(range(9), True, 40)
    ),
    "by weight": lambda t: t.utils.data.DataLoader(
        range(3), 4, sampler=t.utils.data.WeightedRandomSampler([0.2, 0.5, 0.3], 10)
    ),
    "a part": lambda t: t.utils.data.DataLoader(
        range(9), 2, sampler=t.utils.data.SubsetRandomSampler([8, 3, 5])
    ),
    "more than once": lambda t: t.utils.data.DataLoader(
        range(4), 4, sampler=t.utils.data.RandomSampler(range(4), num_samples=10)
    ),
    "by a generator": lambda t: t.utils.data.DataLoader(
        range(9), 3, shuffle=True, generator=t.Generator().manual_seed(5)
    ),
    "split": lambda t: t.utils.data.DataLoader(
        t.utils.data.random_split(range(9), [0.6, 0.4])[0], 2, shuffle=True
    ),
}


@pytest.mark.parametrize("make", PASSES.values(), ids=PASSES)
def test_passes_are_those_of_pytorch(make):
    found = []
    for library in (torch, wg):
        library.manual_seed(0)
        loader = make(library)
        batches = [batch.tolist() for _ in range(2) for batch in loader]
        found.append((batches, len(loader), library.rand(1).item()))
    assert found[0] == found[1]
