"""Test searching, counting, binning, covariances, and sums without NaN."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.kernels import search as kernels

NAN, INF = math.nan, math.inf

# -- places ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "values"), [(3, 4), (3, 400), (60, 2), (200, 50)])
@pytest.mark.parametrize("right", [False, True])
def test_each_row_is_searched_in_every_way(rows, values, right):
    rng = np.random.default_rng(8)
    edges = np.sort(rng.integers(0, 9, (rows, 11)).astype(float), -1)
    sought = rng.integers(-1, 10, (rows, values)).astype(float)
    sought[:, 0] = NAN
    found = kernels.searchsorted(edges, sought, right)
    side = "right" if right else "left"
    for i in range(rows):
        np.testing.assert_array_equal(found[i], np.searchsorted(edges[i], sought[i], side))


def test_a_nan_goes_behind_the_nans_of_a_sequence():
    edges = wg.tensor([1.0, NAN])
    assert wg.searchsorted(edges, wg.tensor([NAN, 0.0])).tolist() == [2, 0]
    assert wg.searchsorted(wg.stack([edges, edges]), wg.tensor([[NAN], [0.0]])).tolist() == [
        [2],
        [0],
    ]


def test_a_sorter_stands_for_the_order():
    edges = wg.tensor([5.0, 1.0, 3.0])
    found = wg.searchsorted(edges, wg.tensor([2.0, 6.0]), sorter=edges.argsort())
    assert found.tolist() == [1, 3]


def test_places_come_as_int32_if_asked_for():
    edges = wg.tensor([1, 3])
    assert wg.bucketize(2, edges, out_int32=True).dtype is wg.int32
    out = wg.empty(0, dtype=wg.int64)
    assert wg.searchsorted(edges, wg.tensor([4]), out=out) is out
    with pytest.raises(RuntimeError, match="output tensor's dtype is wrong"):
        wg.searchsorted(edges, 4, out=out, out_int32=True)


def test_membership_does_not_depend_on_the_sides_dtypes():
    assert wg.isin(wg.tensor([1, 2]), wg.tensor([2.0, 3.5])).tolist() == [False, True]
    assert wg.isin(wg.tensor([1, 2]), 2.5).tolist() == [False, False]
    assert wg.isin(wg.tensor([NAN]), wg.tensor([NAN])).tolist() == [False]


# -- counts ---------------------------------------------------------------------------------------


def test_counts_with_weights_are_differentiable():
    weight = wg.tensor([1.0, 2.0, 4.0], requires_grad=True)
    hist = wg.bincount(wg.tensor([1, 0, 1]), weight)
    (hist * wg.tensor([10.0, 3.0])).sum().backward()
    assert weight.grad.tolist() == [3.0, 10.0, 3.0]
    weight.grad = None
    hist = wg.histogram(wg.tensor([0.5, 1.5, 9.0]), 2, range=(0.0, 2.0), weight=weight).hist
    assert hist.tolist() == [1.0, 2.0]
    hist[1].backward()
    assert weight.grad.tolist() == [0.0, 1.0, 0.0]


def test_the_upper_edge_of_all_bins_is_in_the_last_one():
    assert wg.histc(wg.tensor([0.0, 1.0, 2.0]), 2, 0, 2).tolist() == [1.0, 2.0]
    edges = wg.tensor([0.0, 1.0, 2.0])
    assert wg.histogram(wg.tensor([0.0, 1.0, 2.0]), edges).hist.tolist() == [1.0, 2.0]
    assert wg.histogram(wg.tensor([-0.1, 2.1, NAN]), edges).hist.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("bins", [3, 7, 10, 1000])
def test_elements_on_the_edges_of_even_bins_are_in_the_bin_above(bins):
    edges = wg.histogram(wg.zeros(1, dtype=wg.float64), bins, range=(0.1, 0.7)).bin_edges
    hist = wg.histogram(edges, bins, range=(0.1, 0.7)).hist
    assert hist.tolist() == [1.0] * (bins - 1) + [2.0]


def test_equal_elements_widen_the_range():
    assert wg.histc(wg.tensor([1.0, 1.0]), 3).tolist() == [0.0, 2.0, 0.0]
    assert wg.histogram(wg.tensor([1.0, 1.0]), 2).bin_edges.tolist() == [0.5, 1.0, 1.5]


def test_a_histogram_of_two_dimensions_is_numpys():
    points = np.random.default_rng(9).standard_normal((500, 2))
    hist, edges = wg.histogramdd(wg.from_numpy(points), [4, 5], density=True)
    expected, bounds = np.histogramdd(points, [4, 5], density=True)
    np.testing.assert_allclose(hist.tolist(), expected)
    for edge, bound in zip(edges, bounds, strict=True):
        np.testing.assert_allclose(edge.tolist(), bound)


# -- sums without NaN -----------------------------------------------------------------------------


def test_a_nan_adds_nothing_and_gets_no_gradient():
    x = wg.tensor([[1.0, NAN], [NAN, NAN]], requires_grad=True)
    total = x.nansum(1)
    assert total.tolist() == [1.0, 0.0]
    x.nanmean(1).sum().backward()
    assert x.grad.tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert math.isinf(wg.tensor([INF, NAN]).nansum().item())
    assert wg.tensor([1.5, 2.5]).nansum(0, dtype=wg.int32).dtype is wg.int32
    assert math.isnan(wg.tensor([INF, -INF]).nansum().item())


def test_sums_without_nan_in_half_precision_do_not_overflow_on_the_way():
    x = wg.tensor([60000.0, 60000.0, -60000.0, NAN], dtype=wg.float16)
    assert x.nansum().item() == 60000.0


# -- covariances ----------------------------------------------------------------------------------


def test_weights_count_as_repetitions():
    x = wg.tensor([[0.0, 1.0, 4.0], [2.0, 1.0, 0.0]], dtype=wg.float64)
    often = wg.tensor([2, 1, 3])
    repeated = x.repeat_interleave(often, dim=1)
    np.testing.assert_allclose(x.cov(fweights=often).tolist(), repeated.cov().tolist())


def test_covariances_differentiate_by_the_weights():
    x = wg.tensor([[0.0, 1.0, 4.0], [2.0, 1.0, 0.5]], dtype=wg.float64, requires_grad=True)
    weight = wg.tensor([0.5, 1.0, 2.0], dtype=wg.float64, requires_grad=True)
    assert wg.autograd.gradcheck(lambda x, w: wg.cov(x, aweights=w), (x, weight))
    assert wg.autograd.gradgradcheck(wg.corrcoef, (x,))


def test_no_freedom_is_warned_of():
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert math.isinf(wg.tensor([1.0, 2.0]).cov(correction=2).item())


def test_a_variable_that_does_not_vary_has_no_correlation():
    found = wg.corrcoef(wg.tensor([[1.0, 2.0], [1.0, 1.0]]))
    assert found[0, 0].item() == 1.0
    assert found.isnan().tolist() == [[False, True], [True, True]]


# -- combinations ---------------------------------------------------------------------------------


def test_combinations_differentiate():
    x = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    wg.combinations(x).prod(1).sum().backward()
    assert x.grad.tolist() == [5.0, 4.0, 3.0]
    x.grad = None
    wg.cartesian_prod(x, wg.tensor([1.0, 10.0])).prod(1).sum().backward()
    assert x.grad.tolist() == [11.0, 11.0, 11.0]


def test_a_sum_down_to_a_shape_says_which_shapes_do_not_fit():
    with pytest.raises(
        RuntimeError, match=r"size \{\[2\]\} is not expandable to size \{\[2, 3\]\}"
    ):
        wg.ones(2, 3).sum_to_size(2)
    x = wg.ones(2, 3, requires_grad=True)
    x.sum_to_size(3).backward(wg.tensor([1.0, 2.0, 3.0]))
    assert x.grad.tolist() == [[1.0, 2.0, 3.0]] * 2


@pytest.mark.parametrize("function", [wg.std, wg.var])
def test_a_correction_is_a_number_or_a_tensor_of_one(function):
    x = wg.tensor([1.0, 2.0, 4.0], requires_grad=True)
    expected = function(x, correction=2)
    for correction in (wg.tensor(2), wg.tensor(2.0), np.float64(2), np.int64(2)):
        found = function(x, correction=correction)
        assert found.item() == expected.item()
        assert wg.autograd.grad(found, x)[0].isfinite().all()
    for correction in ([1.0], "one", wg.ones(2), wg.ones((), requires_grad=True)):
        with pytest.raises(TypeError, match="argument 'correction' must be Number, not"):
            function(x, correction=correction)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("size", [5, 5000])
@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1.0, 1e25])
def test_deviations_are_right_where_their_squares_are_out_of_range(scale, size, compiled):
    values = (np.random.default_rng(0).standard_normal((size, 2)) * scale).astype(np.float32)
    expected = values.astype(np.float64).std(0, ddof=1)

    def both(x):
        return wg.std(x * 1, 0), wg.std_mean(x * 1, 0)[0]

    x, function = wg.tensor(values), wg.compile(both) if compiled else both
    for found in (*function(x), *function(x)):
        assert found.dtype == wg.float32
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)
