"""Small functions under PyTorch's names, beside its own."""

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("parameters", [{}, {"stride": 2, "padding": 1}, {"groups": 2}])
def test_gradients_of_convolutions_are_functions(dimensions, parameters):
    groups = parameters.get("groups", 1)
    made = []
    for library in (wg, torch):
        library.manual_seed(0)
        x = library.randn(2, 4, *(6,) * dimensions)
        weight = library.randn(6, 4 // groups, *(3,) * dimensions)
        out = getattr(library.nn.functional, f"conv{dimensions}d")(x, weight, **parameters)
        grad = library.randn(*out.shape)
        for what, arguments in (
            ("input", (x.shape, weight, grad)),
            ("weight", (x, weight.shape, grad)),
        ):
            function = getattr(library.nn.grad, f"conv{dimensions}d_{what}")
            made.append(function(*arguments, **parameters).numpy())
    for ours, theirs in zip(made[:2], made[2:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("size", [1, 5, 8, 13])
@pytest.mark.parametrize("count", [1, 3, 4])
def test_shares_of_examples_are_the_same(size, count, drop_last):
    for shuffle in (False, True):
        shares = []
        for library in (wg, torch):
            kind = library.utils.data.DistributedSampler
            samplers = [
                kind(range(size), count, rank, shuffle, seed=3, drop_last=drop_last)
                for rank in range(count)
            ]
            for sampler in samplers:
                sampler.set_epoch(2)
            shares.append([(len(sampler), list(sampler)) for sampler in samplers])
        assert shares[0] == shares[1]
