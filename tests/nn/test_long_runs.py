"""Test that long training leaks neither memory nor objects."""

import gc
import sys

import pytest

import wengert as wg
from wengert import nn, optim


def convolutional():
    model = nn.Sequential(
        nn.Conv1d(1, 2, 3), nn.BatchNorm1d(2), nn.ReLU(), nn.Dropout(0.1), nn.Flatten()
    )
    return model, wg.randn(4, 1, 6)


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.LSTM(2, 3, num_layers=2)

    def forward(self, x):
        return self.read(x)[0][-1]


def recurrent():
    return Last(), wg.randn(3, 4, 2)


def attending():
    return nn.TransformerEncoderLayer(4, 2, 8), wg.randn(3, 2, 4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("build", "optimizer"),
    [(convolutional, optim.AdamW), (recurrent, optim.SGD), (attending, optim.Muon)],
)
def test_steps_of_training_leave_nothing_behind(build, optimizer):
    wg.manual_seed(0)
    model, x = build()
    params = model.parameters()
    if optimizer is optim.Muon:
        params = [p for p in params if p.ndim == 2] or [nn.Parameter(wg.ones(2, 2))]
    steps = optimizer(params, lr=1e-3)
    schedule = optim.lr_scheduler.CosineAnnealingLR(steps, 50)

    def run(count):
        for _ in range(count):
            steps.zero_grad()
            model(x).square().mean().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            steps.step()
            schedule.step()

    def held():
        gc.collect()
        return sys.getallocatedblocks()

    # What Python itself keeps (free lists, caches, parts of arenas) grows ever more slowly, in some
    # versions over more than a thousand steps. What is left behind in each step never ends: a
    # single object makes 400 blocks in each stretch.
    run(300)
    growth = []
    for _ in range(6):
        before = held()
        run(400)
        growth.append(held() - before)
        if growth[-1] < 200:
            return
    pytest.fail(f"objects are left behind: {growth} in 400 steps each")
