"""Test that the benchmark networks train alike compiled and uncompiled."""

import sys
from pathlib import Path

import numpy as np
import pytest

import wengert as wg

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import networks


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", networks.NETWORKS)
def test_a_compiled_step_does_what_the_step_does(name):
    wg.manual_seed(0)
    weights = networks.weights_of(networks.NETWORKS[name](wg))
    tasks = [networks.with_weights(networks.NETWORKS[name](wg), weights, wg) for _ in range(2)]
    eager, compiled = (networks.torch_style(wg, task) for task in tasks)
    compiled = wg.compile(compiled, backend="numpy", options={"measure": False}, fullgraph=True)
    losses = np.array([[float(step()) for _ in range(3)] for step in (eager, compiled)])
    assert losses[0, -1] < losses[0, 0]
    assert np.allclose(*losses, rtol=1e-4)
