"""Test cumulative extremes, `logcumsumexp`, recurrences, differences and integrals."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.kernels import scan as kernels

NAN, INF = math.nan, math.inf


def grad_of(function, values):
    x = wg.tensor(values, dtype=wg.float64, requires_grad=True)
    y = function(x)
    y.backward(wg.ones_like(y))
    return x.grad.tolist()


# -- extremes -------------------------------------------------------------------------------------


def test_the_last_of_several_running_extremes_is_named():
    assert wg.tensor([1.0, 3.0, 2.0, 3.0]).cummax(0).indices.tolist() == [0, 1, 1, 3]
    assert wg.tensor([2, 2, 3, 1]).cummin(0).indices.tolist() == [0, 1, 1, 3]


def test_each_nan_takes_over():
    values, indices = wg.tensor([[1.0, NAN, 5.0, NAN, 7.0], [1.0, 2.0, 0.0, 3.0, 3.0]]).cummax(1)
    assert indices.tolist() == [[0, 1, 1, 3, 3], [0, 1, 1, 3, 4]]
    np.testing.assert_array_equal(values[0].tolist(), [1.0, NAN, NAN, NAN, NAN])


def test_running_extremes_gather_the_gradients_of_their_elements():
    assert grad_of(lambda x: x.cummax(0).values, [1.0, 3.0, 2.0, 3.0]) == [1.0, 2.0, 0.0, 1.0]
    assert grad_of(lambda x: x.cummin(0).values, [[2.0, 1.0], [3.0, 0.0]]) == [
        [2.0, 1.0],
        [0.0, 1.0],
    ]


# -- sums of exponentials -------------------------------------------------------------------------


@pytest.mark.parametrize("count", [3, 20000])
def test_running_products_are_in_double_precision(count):
    x = wg.ones(count, 2)
    x[:3] = wg.tensor([[1e-30], [1e-30], [1e30]])
    found = x.cumprod(0)
    assert found[1, 0] == 0
    # in single precision all that follows would be 0
    assert wg.allclose(found[2:], wg.tensor(1e-30), rtol=1e-6, atol=0)


def test_running_sums_of_exponentials_neither_overflow_nor_underflow():
    for level in (1e4, -1e4):
        found = wg.full((3,), level, dtype=wg.float64).logcumsumexp(0)
        expected = [level + math.log(k) for k in (1, 2, 3)]
        np.testing.assert_allclose(found.tolist(), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ([-INF, -INF, 0.0, 0.0], [0.0, 0.0, 1.5, 0.5]),
        ([0.0, -INF, 0.0], [2.5, 0.0, 0.5]),
        ([-INF, -INF], [0.0, 0.0]),
        ([0.0, INF, 1.0], [1.0, 2.0, 0.0]),
        ([1e4, 1e4], [1.5, 0.5]),
        ([0.0, -2e4], [2.0, 0.0]),
    ],
)
def test_the_gradient_of_a_running_sum_of_exponentials_is_finite(at, expected):
    assert grad_of(lambda x: x.logcumsumexp(0), at) == pytest.approx(expected, rel=1e-11)


def test_the_imaginary_part_of_a_complex_running_sum_stays_near_its_largest_element():
    x = wg.tensor([3 + 9j, 0.5j, 1 + 4j])
    found = x.logcumsumexp(0)
    np.testing.assert_allclose(
        np.exp(np.array(found.tolist())), np.cumsum(np.exp(np.array(x.tolist()))), rtol=1e-5
    )
    assert found[0].item() == 3 + 9j
    assert abs(found.imag[1].item() - 9) < math.pi / 2


def test_an_infinite_complex_running_sum_stays_infinite():
    inf, nan = math.inf, math.nan
    x = wg.tensor([1 + 1j, complex(inf, 0), 2, complex(-inf, 1), complex(nan, 0)])
    found = x.logcumsumexp(0).tolist()
    assert found[:4] == [1 + 1j, inf, inf, inf] and math.isnan(found[4].real)


def test_a_part_that_is_not_a_number_stays_in_complex_sums_of_exponentials():
    lost, infinite = complex(1, math.nan), complex(math.inf, 1)
    x, y = wg.tensor([lost]), wg.tensor([infinite])
    assert wg.logaddexp(x, y).isnan().all() and wg.logaddexp(y, x).isnan().all()
    assert (
        wg.tensor([2j, lost, infinite, 1]).logcumsumexp(0).isnan().tolist() == [False] + [True] * 3
    )


def test_a_running_sum_of_no_elements_is_empty():
    for x, dim in ((wg.zeros(2, 0), 1), (wg.zeros(0, dtype=wg.complex64), 0)):
        found = x.requires_grad_().logcumsumexp(dim)
        (g,) = wg.autograd.grad(found.abs().sum(), x)
        assert [(t.shape, t.dtype) for t in (found, g)] == [(x.shape, x.dtype)] * 2


# -- recurrences ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1,), (7,), (6, 2), (5, 40), (20000,), (9000, 3)])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_a_recurrence_is_the_same_in_every_way_to_compute_it(shape, reverse, dtype):
    rng = np.random.default_rng(6)
    factor = rng.uniform(-1.1, 1.1, shape).astype(dtype)
    term = rng.standard_normal(shape).astype(dtype)
    found = kernels.linear_recurrence(factor, term, 0, reverse)
    assert found.dtype == term.dtype
    expected = np.zeros(shape, np.complex128)
    last = np.zeros(shape[1:], np.complex128)
    for k in range(shape[0])[:: -1 if reverse else 1]:
        last = factor[k] * last + term[k]
        expected[k] = last
    tight = 1e-4 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(found, expected, tight, tight)


def test_a_long_recurrence_whose_factors_overflow_is_still_right():
    n = 20000
    factor = np.full(n, 1e10)
    term = np.zeros(n)
    term[-1] = 1.0
    assert kernels.linear_recurrence(factor, term, 0, False)[-1] == 1.0
    factor[0] = INF
    assert kernels.linear_recurrence(factor, term, 0, False)[-1] == 1.0


def test_the_first_factor_of_a_recurrence_does_not_count():
    for n in (3, 20000):
        factor = np.full(n, 0.5)
        want = kernels.linear_recurrence(factor, np.ones(n), 0, False)
        factor[0] = NAN
        np.testing.assert_array_equal(kernels.linear_recurrence(factor, np.ones(n), 0, False), want)


# -- products -------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [[2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 0.0, 4.0], [0.0, 3.0, 0.0]])
def test_running_products_have_both_derivatives_at_zeros(at):
    x = wg.tensor(at, dtype=wg.float64, requires_grad=True)
    assert wg.autograd.gradcheck(lambda x: x.cumprod(0), (x,))
    assert wg.autograd.gradgradcheck(lambda x: x.cumprod(0), (x,))


# -- differences and integrals --------------------------------------------------------------------


def test_differences_of_bools_say_where_they_change():
    found = wg.tensor([True, False, False]).diff()
    assert found.dtype is wg.bool and found.tolist() == [True, False]


def test_more_differences_than_elements_leave_nothing():
    assert wg.ones(2, 3).diff(n=7).tolist() == [[], []]
    x = wg.arange(8.0) ** 7
    # the seventh difference of the seventh power is 7!
    assert x[5:].expand(2, 3).diff(n=7, prepend=x[:5].expand(2, 5)).tolist() == [[5040.0]] * 2


def test_no_difference_is_a_copy():
    x = wg.tensor([1.0, 2.0])
    y = x.diff(n=0)
    y[0] = 5.0
    assert x.tolist() == [1.0, 2.0]


def test_second_order_edges_are_exact_for_parabolas():
    points = wg.tensor([0.0, 1.0, 3.0, 4.5], dtype=wg.float64)
    (found,) = wg.gradient(points**2, spacing=(points,), edge_order=2)
    np.testing.assert_allclose(found.tolist(), (2 * points).tolist(), atol=1e-13)
    (found,) = wg.gradient(wg.arange(5.0) ** 2, edge_order=2)
    assert found.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_gradient_and_trapezoid_differentiate_by_the_points():
    x = wg.tensor([0.0, 1.0, 3.0, 4.5], dtype=wg.float64, requires_grad=True)
    y = wg.tensor([1.0, -1.0, 2.0, 0.5], dtype=wg.float64, requires_grad=True)
    for function in (
        lambda y, x: wg.gradient(y, spacing=(x,), edge_order=2)[0],
        lambda y, x: wg.trapezoid(y, x),
        lambda y, x: wg.cumulative_trapezoid(y, x),
    ):
        assert wg.autograd.gradcheck(function, (y, x))
        assert wg.autograd.gradgradcheck(function, (y, x))


def test_points_and_a_distance_together_are_refused():
    with pytest.raises(TypeError, match="got both x and dx"):
        wg.trapezoid(wg.ones(3), wg.ones(3), dx=2)
