"""Test that sums of many numbers are accurate along every dimension and in every layout."""

import itertools

import numpy as np
import pytest

import wengert as wg
from wengert.kernels.sums import running, sums

RNG = np.random.default_rng(3)
LAYOUTS = {
    "C": lambda x: x,
    "F": np.asfortranarray,
    "reversed": lambda x: x[::-1],
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "repeated": lambda x: np.broadcast_to(x[:1], x.shape),
    "transposed": lambda x: np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64])
@pytest.mark.parametrize(
    "shape", [(40_000,), (40_000, 2), (3, 20_000), (129, 3, 130), (50, 40, 30, 2), (5_000, 1, 9)]
)
def test_a_sum_has_the_error_of_a_few_roundings(shape, dtype, layout):
    x = LAYOUTS[layout](RNG.uniform(0.1, 1, shape).astype(dtype))
    wide = x.astype(np.promote_types(dtype, np.longdouble))
    for count in range(1, x.ndim + 1):
        for dim in itertools.combinations(range(x.ndim), count):
            for keepdim in (False, True):
                exact = np.add.reduce(wide, axis=dim, keepdims=keepdim)
                got = sums(x, dim, keepdim)
                assert got.shape == exact.shape and got.dtype == dtype
                assert (abs(got - exact) <= 12 * np.finfo(dtype).eps * abs(exact)).all()


@pytest.mark.parametrize("shape", [(1, 5000), (5000, 1), (3, 50, 60)])
def test_dimensions_may_count_from_the_end_and_be_none(shape):
    x = RNG.uniform(0.1, 1, shape).astype(np.float32)
    ndim = len(shape)
    for count in range(ndim + 1):
        for dim in itertools.permutations(range(-ndim, 0), count):
            for keepdim in (False, True):
                got = sums(x, dim, keepdim)
                expected = np.add.reduce(x, axis=dim, keepdims=keepdim)
                np.testing.assert_allclose(got, expected, rtol=1e-5, strict=True)


def test_more_is_folded_than_is_taken_at_a_time():
    x = RNG.uniform(0.1, 1, (1_500_000, 3)).astype(np.float32)
    exact = np.add.reduce(x, axis=0, dtype=np.float64)
    assert (abs(sums(x, (0,)) - exact) <= 12 * np.finfo(np.float32).eps * exact).all()


@pytest.mark.parametrize("width", [3, 9])
def test_infinities_and_what_is_not_a_number_are_summed_as_ever(width):
    x = np.ones((5000, width), np.float32)
    x[7, 0], x[8, 1], x[9, 2], x[4000, 2] = np.nan, np.inf, np.inf, -np.inf
    expected = [np.nan, np.inf, np.nan, *[5000] * (width - 3)]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(sums(x, (0,)), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64])
@pytest.mark.parametrize("shape", [(3_001,), (700, 3), (2, 513, 3), (256,), (257,)])
def test_running_sums_have_the_error_of_a_few_roundings(shape, dtype, layout):
    x = LAYOUTS[layout](RNG.uniform(0.1, 1, shape).astype(dtype))
    for dim in range(x.ndim):
        exact = np.add.accumulate(x.astype(np.promote_types(dtype, np.longdouble)), axis=dim)
        got = running(np.add, x, dim)
        assert got.dtype == dtype
        bound = x.shape[dim] if dtype == np.float64 else 2
        assert (abs(got - exact) <= bound * np.finfo(dtype).eps * abs(exact)).all()


@pytest.mark.parametrize("dtype", [wg.float16, wg.bfloat16])
def test_sums_of_numbers_of_two_bytes_do_not_stop_growing(dtype):
    if dtype is wg.bfloat16:
        pytest.importorskip("ml_dtypes")
    x = wg.ones(5_000, 2, dtype=dtype)
    expected = wg.tensor(5_000.0).to(dtype)
    assert (x.sum(0) == expected).all() and x.T.sum(1).dtype == dtype
    assert (x.cumsum(0)[-1] == expected).all()
    assert x[:, 0].nansum() == expected
    assert x[:, 0].norm(1) == expected


# each function along the first dimension, and what NumPy makes of it in float64
LONG = {
    "sum": (lambda x: x.sum(0), lambda x: x.sum(0)),
    "mean": (lambda x: x.mean(0), lambda x: x.mean(0)),
    "var": (lambda x: x.var(0), lambda x: x.var(0, ddof=1)),
    "std": (lambda x: x.std(0), lambda x: x.std(0, ddof=1)),
    "norm": (lambda x: x.norm(dim=0), lambda x: np.sqrt((x * x).sum(0))),
    "norm of all": (lambda x: x.norm(), lambda x: np.sqrt((x * x).sum())),
    "norm, 1": (lambda x: x.norm(1, dim=0), lambda x: x.sum(0)),
    "norm, 3": (lambda x: x.norm(3, dim=0), lambda x: (x**3).sum(0) ** (1 / 3)),
    "logsumexp": (lambda x: x.logsumexp(0), lambda x: np.log(np.exp(x).sum(0))),
    "softmax": (lambda x: x.softmax(0), lambda x: np.exp(x) / np.exp(x).sum(0)),
    "log_softmax": (lambda x: x.log_softmax(0), lambda x: x - np.log(np.exp(x).sum(0))),
    "logcumsumexp": (lambda x: x.logcumsumexp(0), lambda x: np.logaddexp.accumulate(x, axis=0)),
    "mse_loss": (
        lambda x: wg.nn.functional.mse_loss(x.T, wg.zeros_like(x.T)),
        lambda x: (x * x).mean(),
    ),
    "batch_norm": (
        lambda x: wg.nn.functional.batch_norm(x, None, None, training=True, eps=1e-30),
        lambda x: 10 + (x - x.mean(0)) / x.std(0),
    ),
    "layer_norm": (
        lambda x: wg.nn.functional.layer_norm(x.reshape(-1), (x.numel(),), eps=1e-30),
        lambda x: 10 + ((x - x.mean()) / x.std()).reshape(-1),
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_what_is_made_of_long_sums_keeps_its_digits(name):
    function, exact = LONG[name]
    x = RNG.uniform(0.1, 1, (200_000, 2)).astype(np.float32)
    got = function(wg.tensor(x)).numpy()
    # standardised values are around 0, where they have few digits of their own
    got = got + 10.0 if name.endswith("_norm") else got
    np.testing.assert_allclose(got, exact(x.astype(np.float64)), rtol=2e-6)


def test_gradients_of_what_was_broadcast_keep_their_digits():
    g = RNG.uniform(0.1, 1, (200_000, 2)).astype(np.float32)
    layer = wg.nn.Linear(1, 2)
    weight = wg.ones(2, requires_grad=True)
    layer(wg.ones(len(g), 1)).backward(wg.tensor(g))
    (wg.tensor(g) * weight).sum().backward()
    exact = g.sum(0, dtype=np.float64)
    np.testing.assert_allclose(layer.bias.grad, exact, rtol=1e-6)
    np.testing.assert_allclose(weight.grad, exact, rtol=1e-6)


def test_the_variance_of_neighbouring_numbers_is_not_that_of_their_rounded_mean():
    x = np.array([[1.0, np.nextafter(np.float32(1), np.float32(2))]], np.float32)
    exact = x.astype(np.float64).var(1, ddof=1)
    np.testing.assert_allclose(wg.tensor(x).var(1), exact, rtol=1e-6)
