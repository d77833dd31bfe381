"""Test that `lobpcg` finds the pairs that PyTorch finds."""

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def _signed(values, vectors):
    _, place = vectors.abs().max(-2, keepdim=True)
    return values, vectors * vectors.gather(-2, place).sign()


def _matrix(seed):
    turn, _ = np.linalg.qr(np.random.default_rng(seed).random((9, 9)))
    return turn * np.arange(1.0, 10.0) @ turn.T / 2


@pytest.mark.parametrize("largest", [True, False])
def test_pairs_are_those_of_pytorch(largest):
    a, b = _matrix(0), _matrix(1)
    X = np.random.default_rng(2).random((9, 2))
    for B in (None, b):
        ours = _signed(
            *wg.lobpcg(wg.tensor(a), 2, None if B is None else wg.tensor(B), largest=largest)
        )
        t = torch.tensor
        theirs = _signed(
            *torch.lobpcg(t(a), 2, None if B is None else t(B), X=t(X), niter=500, largest=largest)
        )
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine.numpy(), other.numpy(), atol=1e-6)
