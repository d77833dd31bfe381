"""Test large float32 arrays, which have their own kernels, against small ones."""

import math
from importlib import import_module

import numpy as np
import pytest

import wengert as wg
from wengert.kernels import single as kernels
from wengert.kernels.select import choose
from wengert.prims.table import TABLE

F = wg.nn.functional
RNG = np.random.default_rng(0)
N = 20_000
ANY = np.concatenate([RNG.uniform(-6, 6, N), 10 ** RNG.uniform(-30, 1, N) * RNG.choice([-1, 1], N)])
UNIT = np.concatenate([RNG.uniform(-0.999, 0.999, N), 10 ** RNG.uniform(-30, -1, N)])
ABOVE = np.concatenate([RNG.uniform(-0.999, 3, N), 10 ** RNG.uniform(-30, 30, N)])


def _scalar(function):
    return np.vectorize(function, otypes=[np.float64])


CASES = {
    "expm1": (np.expm1, ANY, 2),
    "log1p": (np.log1p, ABOVE, 4),
    "sinh": (np.sinh, ANY, 3),
    "cosh": (np.cosh, ANY, 4),
    "tan": (np.tan, UNIT, 4),
    "atan": (np.arctan, np.concatenate([ANY, 1 / ANY]), 2),
    "atanh": (np.arctanh, UNIT, 4),
    "erf": (_scalar(math.erf), ANY, 2),
    "erfc": (_scalar(math.erfc), ANY, 2),
    "digamma": (lambda x: import_module("scipy.special").psi(x), ANY, 1),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), ANY, 5),
}


def units_apart(found, wanted):
    """The distance in units in the last place of float32."""
    last = np.spacing(np.maximum(np.abs(wanted), np.finfo(np.float32).tiny).astype(np.float32))
    return (np.abs(found.astype(np.float64) - wanted) / last.astype(np.float64)).max()


@pytest.mark.parametrize("name", CASES)
def test_functions_are_accurate_to_few_units_in_the_last_place(name):
    exact, values, limit = CASES[name]
    x = values.astype(np.float32)
    found = getattr(wg, name)(wg.from_numpy(x)).numpy()
    assert found.dtype == np.float32
    assert units_apart(found, exact(x.astype(np.float64))) <= limit


@pytest.mark.parametrize("name", ["expm1", "log1p", "sinh", "cosh", "tan", "atan", "atanh"])
def test_blocks_are_as_accurate_where_numpy_has_vectors_of_its_own(name):
    exact, values, limit = CASES[name]
    x = values.astype(np.float32)
    with np.errstate(all="ignore"):
        found = getattr(kernels, f"_{name}")(x.copy())
    assert units_apart(found, exact(x.astype(np.float64))) <= limit


@pytest.mark.parametrize("name", CASES)
def test_special_values_are_those_of_small_arrays(name):
    few = np.array([0.0, -0.0, 1e-40, -1.0, 1.0, np.inf, -np.inf, np.nan, 100.0, -100.0, 1e30])
    few = few.astype(np.float32)
    kernel = TABLE[name].kernel
    with np.errstate(all="ignore"):
        small, large = kernel(few), kernel(np.tile(few, 1000))[: few.size]
    np.testing.assert_allclose(large, small, rtol=1e-6, atol=1e-37)
    real = small == small
    np.testing.assert_array_equal(np.signbit(large)[real], np.signbit(small)[real])


def test_warnings_are_those_of_small_arrays():
    x = wg.from_numpy(np.full(10_000, -1, np.float32))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        wg.log1p(x)


def test_results_have_the_layout_of_the_input():
    x = wg.randn(8, 6, 20, 30).permute(0, 2, 3, 1)
    found = wg.expm1(x)
    assert found.stride() == wg.exp(x).stride()
    np.testing.assert_allclose(found.numpy(), np.expm1(x.numpy()), rtol=1e-5)
    part = wg.randn(100, 100)[::2, 3:]
    np.testing.assert_allclose(wg.atan(part).numpy(), np.arctan(part.numpy()), rtol=1e-5)


@pytest.mark.parametrize("name", ["fmod", "remainder"])
def test_remainders_are_exact_with_the_sign_of_zero(name):
    x = np.concatenate([RNG.uniform(-100, 100, N), [-3.0, 3.0, 1e30, -1e-30]]).astype(np.float32)
    y = np.concatenate([RNG.uniform(-2, 2, N), [3.0, -3.0, 0.7, 1.0]]).astype(np.float32)
    found = getattr(wg, name)(wg.from_numpy(x), wg.from_numpy(y)).numpy()
    wanted = getattr(np, name)(x, y)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def test_atan2_knows_all_quadrants_zeros_and_infinities():
    y = np.concatenate([RNG.standard_normal(N), [0.0, -0.0, 0.0, np.inf, 1.0, 0.0]])
    x = np.concatenate([RNG.standard_normal(N), [-1.0, -1.0, 0.0, -np.inf, 0.0, 2.0]])
    y, x = y.astype(np.float32), x.astype(np.float32)
    found = wg.atan2(wg.from_numpy(y), wg.from_numpy(x)).numpy()
    assert units_apart(found, np.arctan2(y.astype(np.float64), x.astype(np.float64))) <= 3


def test_gelu_keeps_its_digits_in_the_left_tail():
    x = RNG.uniform(-6, 6, N).astype(np.float32)
    t = wg.from_numpy(x).requires_grad_()
    result = F.gelu(t)
    wide = x.astype(np.float64)
    share = 0.5 * _scalar(math.erfc)(-wide * math.sqrt(0.5))
    np.testing.assert_allclose(result.detach().numpy(), wide * share, rtol=5e-6)
    (slope,) = wg.autograd.grad(result.sum(), t)
    bell = np.exp(-0.5 * wide * wide) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(slope.numpy(), share + wide * bell, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["elu", "selu", "softplus", "logsigmoid", "silu", "mish", "gelu"])
def test_activations_of_large_arrays_are_those_of_float64(name):
    x = np.concatenate([RNG.standard_normal(N), [-90.0, 90.0, 0.0, -200.0, 200.0]])
    function = getattr(F, name)
    single = wg.from_numpy(x.astype(np.float32)).requires_grad_()
    double = wg.from_numpy(x.astype(np.float32).astype(np.float64)).requires_grad_()
    outs = function(single), function(double)
    np.testing.assert_allclose(outs[0].detach().numpy(), outs[1].detach().numpy(), 1e-5, 1e-6)
    slopes = [
        wg.autograd.grad(out.sum(), t)[0].numpy()
        for out, t in zip(outs, (single, double), strict=True)
    ]
    np.testing.assert_allclose(*slopes, 1e-5, 1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_choice_by_bits_is_that_of_where(dtype):
    a, b = RNG.standard_normal((2, 60, 50)).astype(dtype)
    a[0, :5], b[1, :3] = np.nan, np.inf
    mask = RNG.random(a.shape) > 0.5
    for first, second in ((a, b), (a, 0), (0, b), (-0.0, b), (a, -0.0), (0, b[0]), (1.5, b)):
        found, wanted = choose(mask, first, second), np.where(mask, first, second)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize("largest", [True, False])
def test_few_extremes_of_long_rows_are_those_of_a_sort(largest):
    x = RNG.integers(0, 40, (60, 100)).astype(np.float32)
    x[1, 3:6] = np.nan
    x[2, 1:] = -np.inf if largest else np.inf
    x[3, ::2] = np.inf if largest else -np.inf
    values, indices = wg.topk(wg.from_numpy(x), 3, 1, largest)
    whole = wg.sort(wg.from_numpy(x), dim=1, descending=largest, stable=True)
    np.testing.assert_array_equal(values.numpy(), whole.values[:, :3].numpy())
    for row in indices.numpy():
        assert len(set(row.tolist())) == 3


@pytest.mark.parametrize("most", [4, 60])
def test_rows_are_added_as_often_as_they_are_named(most):
    x, y = RNG.standard_normal((2, 200, 300))
    index = RNG.integers(0, 200 if most == 4 else 3, 200)
    wanted = x.copy()
    np.add.at(wanted, index, y)
    at = (wg.from_numpy(index),)
    put = wg.index_put(wg.from_numpy(x), at, wg.from_numpy(y), accumulate=True)
    added = wg.index_add(wg.from_numpy(x), 0, at[0], wg.from_numpy(y))
    np.testing.assert_allclose(put.numpy(), wanted, rtol=1e-10)
    np.testing.assert_allclose(added.numpy(), wanted, rtol=1e-10)
    with pytest.raises(IndexError, match="out of bounds"):
        wg.index_put(wg.from_numpy(x), (at[0] + 200,), wg.from_numpy(y), accumulate=True)
