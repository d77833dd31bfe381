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


# the inputs of each form: those of its gradient have a history in them, whose derivative is 0
FLAT = {
    "F.leaky_relu(x, 0.2)": "x",
    "F.hardtanh(x)": "x",
    "F.relu6(x)": "x",
    "F.threshold(x, 0.1, 2)": "x",
    "F.hardshrink(x)": "x",
    "F.softshrink(x)": "x",
    "F.prelu(x, w)": "x w",
    "F.prelu(v * x, w)": "v x w",
    "F.rrelu(x)": "x",
    "F.nll_loss(x[0], c)": "x",
    "F.nll_loss(x, c[:, None].expand(4, 6))": "x",
    "F.max_pool1d(x, 2)": "x",
    "F.max_pool2d(x, 2)": "x",
    "F.max_pool3d(x[None], 1)": "x",
    "F.avg_pool1d(x, 2)": "x",
    "F.avg_pool2d(x, 2)": "x",
    "F.avg_pool3d(x[None], 1)": "x",
    "F.max_pool2d(x, 2, return_indices=True)[0]": "x",
    "F.adaptive_avg_pool1d(x, 2)": "x",
    "F.adaptive_avg_pool2d(x, 2)": "x",
    "F.adaptive_avg_pool3d(x[None], 2)": "x",
    "F.adaptive_max_pool1d(x, 2)": "x",
    "F.adaptive_max_pool2d(x, 2)": "x",
    "F.adaptive_max_pool3d(x[None], 2)": "x",
    "F.fractional_max_pool2d(x, 2, 2)": "x",
    "F.fractional_max_pool3d(x[None], 1, 2)": "x",
    "F.pad(x, (1, 1), mode='reflect')": "x",
    "F.pad(x, (1, 1), mode='replicate')": "x",
    "F.pad(x, (1, 1), mode='circular')": "x",
    "F.adaptive_avg_pool1d(x, 1)": "x",
    "F.adaptive_avg_pool2d(x, (1, 1))": "x",
    "F.interpolate(x, 3, mode='area')": "x",
    "F.leaky_relu(v * x, 0.2)": "v x",
    "F.leaky_relu_(v * x, 0.2)": "v x",
    "F.leaky_relu(v * x, 0.2)[1:]": "v x",
    # PyTorch computes the gradients of these from comparisons, which have no history
    "x.clamp(-1, 1)": "x",
    "t.maximum(x, v)": "x v",
    "x.amax(1)": "x",
    "F.dropout(x, 0.0)": "x",
}


@pytest.mark.parametrize("form", FLAT)
def test_gradients_without_curvature(form):
    arrays = {name: RNG.standard_normal((4, 3, 6)) for name in "xv"} | {"w": np.array([0.3])}
    found = []
    for t in (wengert, torch):
        t.manual_seed(0)
        leaves = {n: t.from_numpy(a.copy()).requires_grad_() for n, a in arrays.items()}
        classes = t.tensor([0, 5, 2, 1])[: 3 if "x[0]" in form else 4] % (6 if "[0]" in form else 3)
        y = eval(form, {"t": t, "F": t.nn.functional, "c": classes, **leaves})
        wanted = [leaves[name] for name in FLAT[form].split()]
        firsts = t.autograd.grad(y.sum(), wanted, create_graph=True)
        found.append(made := [first.requires_grad for first in firsts])
        for first in firsts:
            if first.requires_grad:
                seconds = t.autograd.grad(first.sum(), wanted, retain_graph=True, allow_unused=True)
                made.append([second if second is None else second.tolist() for second in seconds])
    assert found[0][: len(wanted)] == found[1][: len(wanted)]
    for ours, theirs in zip(*found, strict=True):
        if isinstance(theirs, list):
            assert [s is None for s in ours] == [s is None for s in theirs]
            for one, other in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(one or 0, other or 0, rtol=1e-12)
