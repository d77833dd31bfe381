"""Test functions of networks that are random, or that PyTorch's samples call differently."""

import numpy as np
import pytest

import wengert

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
RNG = np.random.default_rng(5)

DRAWING = {
    "dropout1d": [(2, 3, 4), (3, 4)],
    "dropout2d": [(2, 3, 4, 4)],
    "dropout3d": [(2, 3, 2, 2, 2), (3, 2, 2, 2)],
    "alpha_dropout": [(3, 4)],
    "feature_alpha_dropout": [(2, 3, 4)],
    "rrelu": [(3, 4)],
}


@pytest.mark.parametrize("name", DRAWING)
def test_the_same_numbers_are_drawn(name):
    for shape in DRAWING[name]:
        array = RNG.standard_normal(shape)
        made = []
        for t in (wengert, torch):
            t.manual_seed(1)
            x = t.tensor(array.tolist(), dtype=t.float64, requires_grad=True)
            args = {} if name == "rrelu" else {"p": 0.4}
            y = getattr(t.nn.functional, name)(x, training=True, **args)
            y.sum().backward()
            made.append((y.tolist(), x.grad.tolist()))
        np.testing.assert_allclose(made[0][0], made[1][0], rtol=1e-12)
        np.testing.assert_allclose(made[0][1], made[1][1], rtol=1e-12)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_ctc_behind_log_softmax(reduction, zero_infinity):
    array = RNG.standard_normal((12, 4, 6))
    labels = RNG.integers(1, 6, (4, 5))
    steps = [12, 10, 12, 3 if zero_infinity else 7]
    counts = [5, 3, 0, 4 if zero_infinity else 3]
    made = []
    for t in (wengert, torch):
        x = t.tensor(array.tolist(), dtype=t.float64, requires_grad=True)
        loss = t.nn.functional.ctc_loss(
            x.log_softmax(2),
            t.tensor(labels.tolist()),
            steps,
            counts,
            reduction=reduction,
            zero_infinity=zero_infinity,
        )
        (loss * loss).sum().backward()
        made.append((loss.tolist(), x.grad.tolist()))
    np.testing.assert_allclose(made[0][0], made[1][0], rtol=1e-10)
    np.testing.assert_allclose(made[0][1], made[1][1], rtol=1e-8, atol=1e-10)
