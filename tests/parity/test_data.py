"""Test loaders with the same seed against PyTorch's."""

import random

import numpy as np
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
    "by workers that stay": lambda t: t.utils.data.DataLoader(
        range(9), 2, shuffle=True, num_workers=2, persistent_workers=True
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


def _program(t):
    """Workers with random numbers, shares of a stream, and a sampler that draws."""
    data = t.utils.data

    class Noisy(data.Dataset):
        def __len__(self):
            return 7

        def __getitem__(self, i):
            return i, t.rand(1).item(), np.random.randint(1000), random.random()

    class Lines(data.IterableDataset):
        def __init__(self, start, end):
            self.start, self.end = start, end

        def __iter__(self):
            self.left = iter(range(self.start, self.end))
            return self

        def __next__(self):
            return next(self.left), t.randint(100, (1,)).item()

    class Drawing(data.Sampler):
        def __iter__(self):
            for _ in range(7):
                yield int(t.randint(7, (1,)))

    def share(number):
        info = data.get_worker_info()
        assert (info.id, info.seed) == (number, t.initial_seed())
        size = -(-(info.dataset.end - info.dataset.start) // info.num_workers)
        info.dataset.start += number * size
        info.dataset.end = min(info.dataset.end, info.dataset.start + size)

    t.manual_seed(0), np.random.seed(0), random.seed(0)
    loaders = [
        data.DataLoader(Noisy(), 2, shuffle=True, num_workers=2),
        data.DataLoader(Noisy(), 2, num_workers=3, persistent_workers=True),
        data.DataLoader(Lines(0, 11), 2, num_workers=2, worker_init_fn=share),
        data.DataLoader(Lines(0, 5), None, num_workers=3),
        data.DataLoader(Lines(0, 5), 2, num_workers=2, drop_last=True),
        data.DataLoader(Noisy(), 1, sampler=Drawing(), num_workers=1, prefetch_factor=3),
    ]
    for loader in loaders:
        for _ in range(2):
            for batch in loader:
                yield str(batch), t.rand(1).item()
    yield np.random.rand(), random.random()


@pytest.mark.filterwarnings("ignore:This DataLoader will create")  # on machines of few cores
def test_workers_draw_the_numbers_of_pytorch_and_take_its_shares():
    assert list(_program(wg)) == list(_program(torch))
