"""Test that compiled sums of many numbers are accurate along every dimension."""

import numpy as np
import pytest

import wengert as wg

FUNCTIONS = {
    "sum": (lambda x: (x * 1.5).sum(0), lambda x: (x * 1.5).sum(0)),
    "sum, kept": (lambda x: x.sum(0, keepdim=True) + x[:2], lambda x: x.sum(0) + x[:2]),
    "mean of squares": (lambda x: (x * x).mean(0), lambda x: (x * x).mean(0)),
    "var": (lambda x: x.var(0), lambda x: x.var(0, ddof=1)),
    "all": (lambda x: (x * x).sum(), lambda x: (x * x).sum()),
    "logsumexp": (lambda x: x.logsumexp(0), lambda x: np.log(np.exp(x).sum(0))),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("shape", [(100_000, 2), (5_000, 3, 4), (600, 17), (50_000,)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_long_sum_has_the_error_of_a_few_roundings(name, shape, backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    function, exact = FUNCTIONS[name]
    x = np.random.default_rng(5).uniform(0.1, 1, shape).astype(np.float32)
    compiled = wg.compile(function, backend=backend)
    for _ in range(2):
        got = compiled(wg.tensor(x)).numpy()
        np.testing.assert_allclose(got, exact(x.astype(np.float64)), rtol=1.5e-6)


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_the_gradient_of_what_was_broadcast_keeps_its_digits(backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    g = np.random.default_rng(5).uniform(0.1, 1, (100_000, 2)).astype(np.float32)
    cotangent = wg.tensor(g)
    slope = wg.compile(wg.func.grad(lambda w: (cotangent * w).sum()), backend=backend)
    np.testing.assert_allclose(slope(wg.ones(2)), g.sum(0, dtype=np.float64), rtol=1e-6)
