"""Test Gumbel noise with the same seed against PyTorch, in both precisions."""

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("hard", [False, True])
def test_the_choices_and_what_is_drawn_after_them_are_those_of_pytorch(dtype, hard):
    found = []
    for library in (torch, wg):
        library.manual_seed(0)
        logits = library.zeros(4, 5, dtype=getattr(library, dtype))
        choice = library.nn.functional.gumbel_softmax(logits, tau=0.5, hard=hard)
        found.append((choice.numpy(), library.rand(1).item()))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5, atol=1e-7)
    assert found[0][1] == found[1][1]
