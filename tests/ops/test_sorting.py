"""Test sorting and order statistics: ties, NaN, edges, ``out=``, gradients of selections."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.kernels import distinct
from wengert.kernels import sorting as kernels

NAN, INF = math.nan, math.inf


def same(tensor, expected):
    np.testing.assert_array_equal(np.array(tensor.detach().tolist()), np.array(expected))


def grad_of(function, values):
    x = wg.tensor(values, requires_grad=True)
    function(x).sum().backward()
    return x.grad.tolist()


# -- order ----------------------------------------------------------------------------------------


def test_equal_elements_keep_their_order_in_both_directions():
    x = wg.tensor([2.0, 1.0, 2.0, 1.0])
    same(x.argsort(), [1, 3, 0, 2])
    same(x.argsort(descending=True), [0, 2, 1, 3])


def test_nan_is_last_ascending_and_first_descending():
    x = wg.tensor([1.0, NAN, -INF, NAN, INF])
    values, indices = x.sort()
    same(indices, [2, 0, 4, 1, 3])
    same(values, [-INF, 1.0, INF, NAN, NAN])
    same(x.sort(descending=True).indices, [1, 3, 4, 0, 2])


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8"]
)
@pytest.mark.parametrize("spread", [3, 10**6])
@pytest.mark.parametrize("dim", [0, 1])
def test_large_arrays_are_sorted_as_by_a_stable_sort(dtype, spread, dim):
    rng = np.random.default_rng(3)
    drawn = rng.integers(0, spread, (60, 70))
    x = (drawn % 100 if np.dtype(dtype).itemsize < 4 else drawn).astype(dtype)
    assert x.size > kernels._SMALL
    found = kernels.order(x, dim, False)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, np.argsort(x, dim, kind="stable"))
    back = kernels.order(x, dim, True)
    np.testing.assert_array_equal(back, np.argsort(-x.astype(float), dim, kind="stable"))


def test_large_arrays_with_nan_are_sorted_stably():
    x = np.random.default_rng(0).integers(0, 50, 5000).astype(float)
    x[::7] = NAN
    np.testing.assert_array_equal(kernels.order(x, 0, False), np.argsort(x, kind="stable"))


def test_integers_too_far_apart_to_be_packed_are_sorted_stably():
    x = np.random.default_rng(0).choice([-(2**63), 2**63 - 1, 0, 5], 5000)
    np.testing.assert_array_equal(kernels.order(x, 0, False), np.argsort(x, kind="stable"))
    y = x.astype(np.uint64)
    np.testing.assert_array_equal(kernels.order(y, 0, False), np.argsort(y, kind="stable"))


def test_the_result_does_not_share_memory_and_is_contiguous():
    x = wg.tensor([[2.0, 1.0], [0.0, 3.0]])
    values, indices = x.sort(0)
    assert values.is_contiguous() and indices.is_contiguous()
    values[0, 0] = 9.0
    assert x.max().item() == 3.0


def test_sort_writes_into_a_pair_of_tensors():
    out = wg.empty(0), wg.empty(0, dtype=wg.int64)
    values, indices = wg.sort(wg.tensor([2.0, 1.0]), out=out)
    assert values is out[0] and indices is out[1]
    same(out[0], [1.0, 2.0])


def test_an_out_of_another_dtype_is_refused_and_stays_as_it_is():
    out = wg.zeros(2, dtype=wg.float64), wg.zeros(2, dtype=wg.int64)
    with pytest.raises(
        RuntimeError, match="Expected out tensor to have dtype float, but got double"
    ):
        wg.sort(wg.tensor([2.0, 1.0]), out=out)
    same(out[0], [0.0, 0.0])
    with pytest.raises(TypeError, match="expected a tuple of 2 tensors"):
        wg.sort(wg.tensor([2.0, 1.0]), out=wg.empty(2))


def test_results_are_named_as_in_pytorch():
    x = wg.tensor([2.0, 1.0])
    assert repr(x.sort()).startswith("torch.return_types.sort(\nvalues=tensor([1., 2.]),\nindices=")
    assert type(x.topk(1)).__name__ == "topk"
    assert type(x.cummax(0)).__match_args__ == ("values", "indices")


@pytest.mark.parametrize("k", [1, 5, 40, 200])
@pytest.mark.parametrize("largest", [True, False])
def test_topk_of_large_arrays_is_the_head_of_the_sorted_array(k, largest):
    x = wg.from_numpy(np.random.default_rng(1).permutation(4000.0 * np.arange(1, 4001)))
    values, indices = x.topk(k, largest=largest)
    expected = x.sort(descending=largest)
    same(values, expected.values[:k].tolist())
    same(indices, expected.indices[:k].tolist())


def test_topk_without_an_order_has_the_same_elements():
    x = wg.from_numpy(np.random.default_rng(1).permutation(np.arange(6000.0)))
    chosen = x.topk(9, sorted=False).values
    same(chosen.sort().values, x.topk(9, largest=False).values.add(5991).tolist())


def test_topk_beyond_the_size_says_both():
    with pytest.raises(RuntimeError, match="selected index k out of range: dimension 0 has size 2"):
        wg.tensor([1.0, 2.0]).topk(3)


# -- gradients of what is chosen ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "at", "expected"),
    [
        (lambda x: x.sort().values[0], [2.0, 1.0, 1.0], [0.0, 1.0, 0.0]),
        (lambda x: x.topk(1).values, [1.0, 3.0, 2.0], [0.0, 1.0, 0.0]),
        (lambda x: x.kthvalue(2).values, [2.0, 1.0, 2.0], [1.0, 0.0, 0.0]),
        (lambda x: x.median(), [1.0, 2.0, 2.0, 1.0], [0.5, 0.0, 0.0, 0.5]),
        (lambda x: x.median(0).values, [1.0, 2.0, 2.0, 1.0], [0.0, 0.0, 0.0, 1.0]),
        (lambda x: x.median(), [1.0, NAN, 2.0, NAN], [0.0, 0.5, 0.0, 0.5]),
        (lambda x: x.median(0).values, [1.0, NAN, 2.0, NAN], [0.0, 1.0, 0.0, 0.0]),
        (lambda x: x.nanmedian(), [1.0, NAN, 2.0, NAN], [1.0, 0.0, 0.0, 0.0]),
        (lambda x: x.nanmedian(), [NAN, NAN], [0.5, 0.5]),
        (lambda x: x.nanmedian(0).values, [NAN, 3.0, NAN, 2.0, 4.0], [0.0, 1.0, 0.0, 0.0, 0.0]),
        (lambda x: x.mode().values, [3.0, 1.0, 3.0, 1.0], [0.0, 0.0, 0.0, 1.0]),
        (lambda x: x.quantile(0.5), [1.0, 3.0, 2.0, 5.0], [0.0, 0.5, 0.5, 0.0]),
        (lambda x: x.quantile(0.5), [1.0, NAN, 2.0, NAN], [0.0, 0.0, 0.0, 1.0]),
        (lambda x: x.nanquantile(0.25), [1.0, NAN, 3.0], [0.75, 0.0, 0.25]),
        (lambda x: x.unique(), [2.0, 1.0, 2.0], [1.0, 1.0, 0.0]),
        (lambda x: x.unique_consecutive(), [2.0, 2.0, 1.0, 2.0], [1.0, 0.0, 1.0, 1.0]),
    ],
)
def test_the_chosen_elements_get_the_gradient(function, at, expected):
    assert grad_of(function, at) == pytest.approx(expected)


def test_a_quantile_far_from_a_nan_row_has_a_gradient_by_q():
    x = wg.tensor([[1.0, 2.0], [NAN, 0.0]])
    q = wg.tensor([0.25], requires_grad=True)
    wg.quantile(x, q, dim=1).sum().backward()
    same(q.grad, [1.0])


def test_order_statistics_have_second_derivatives():
    x = wg.tensor([3.0, 1.0, 2.0], dtype=wg.float64, requires_grad=True)
    for function in (
        lambda x: (x.sort().values ** 3).sum(),
        lambda x: x.median() ** 3,
        lambda x: x.quantile(0.3) ** 3,
    ):
        assert wg.autograd.gradgradcheck(function, (x,))


# -- ranks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(9,), (5, 9), (4000,), (50, 61)])
def test_order_statistics_choose_the_element_at_the_rank_of_a_stable_sort(shape):
    x = np.random.default_rng(5).integers(0, 6, shape).astype(float)
    order = np.argsort(x, -1, kind="stable")
    n = shape[-1]
    for k in (0, n // 3, n - 1):
        np.testing.assert_array_equal(kernels.kth(x, k, x.ndim - 1, False), order[..., k])
    ranks = (0, n // 2, n // 2, n - 1)
    np.testing.assert_array_equal(kernels.ranked(x, ranks), order[..., list(ranks)])
    x[..., 1] = NAN
    valid = np.argsort(x, -1, kind="stable")[..., (n - 2) // 2]
    np.testing.assert_array_equal(kernels.nanmedian_dim(x, x.ndim - 1, False), valid)
    assert (kernels.median_dim(x, x.ndim - 1, False) == 1).all()
    last = np.argsort(x, -1, kind="stable")[..., n - 1]
    np.testing.assert_array_equal(kernels.kth(x, n - 1, x.ndim - 1, False), last)


def test_the_median_is_the_lower_one():
    assert wg.tensor([4.0, 1.0, 3.0, 2.0]).median().item() == 2.0
    assert math.isnan(wg.tensor([]).median().item())
    assert wg.tensor([NAN, 1.0, 5.0]).nanmedian().item() == 1.0
    assert wg.tensor([7], dtype=wg.int32).median().dtype is wg.int32


def test_the_mode_is_the_smallest_of_the_most_frequent_and_the_last_of_its_kind():
    values, indices = wg.tensor([[2, 2, 1, 1, 3], [5, 4, 3, 2, 1]]).mode()
    same(values, [1, 1])
    same(indices, [3, 4])
    assert wg.tensor([NAN, NAN, 3.0]).mode().values.item() == 3.0


def test_quantiles_interpolate_in_five_ways():
    x = wg.tensor([0.0, 10.0, 20.0, 40.0])
    found = {
        kind: x.quantile(0.8, interpolation=kind).item()
        for kind in ("linear", "lower", "higher", "midpoint", "nearest")
    }
    assert found == pytest.approx(
        {"linear": 28.0, "lower": 20.0, "higher": 40.0, "midpoint": 30.0, "nearest": 20.0}
    )


def test_quantiles_of_many_ranks_agree_with_those_of_few():
    x = wg.from_numpy(np.random.default_rng(2).standard_normal((40, 100)))
    q = wg.linspace(0, 1, 21, dtype=wg.float64)
    together = x.quantile(q, dim=1)
    for i in range(21):
        np.testing.assert_allclose(together[i].tolist(), x.quantile(q[i], dim=1).tolist())


def test_a_quantile_in_float32_takes_its_rank_from_the_number_given():
    # 0.1 * 999999 in float32 would be off by a hundredth
    x = wg.arange(1_000_000, dtype=wg.float32)
    assert x.quantile(0.1).item() == pytest.approx(99999.9, abs=0.005)


def test_out_of_quantile():
    out = wg.empty(())
    assert wg.quantile(wg.tensor([1.0, 2.0]), 0.5, out=out) is out
    assert out.item() == 1.5


def test_a_dimension_of_nothing_has_no_order_statistic():
    for function in (wg.median, wg.nanmedian, wg.mode):
        with pytest.raises(IndexError, match="to have non-zero size"):
            function(wg.zeros(2, 0), 1)
        assert function(wg.zeros(0, 2), 1).values.shape == (0,)


# -- different elements ---------------------------------------------------------------------------


def test_unique_gives_back_the_input_by_its_inverse():
    x = wg.tensor([[3, 1], [3, 2]])
    output, inverse, counts = x.unique(return_inverse=True, return_counts=True)
    same(output[inverse], x.tolist())
    same(counts, [1, 1, 2])


def test_every_nan_is_unique_and_zeros_are_not():
    same(wg.tensor([NAN, 0.0, -0.0, NAN]).unique(return_counts=True)[1], [2, 1, 1])


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int64", "int8", "uint8", "bool"]
)
@pytest.mark.parametrize("width", [1, 3, 40])
def test_rows_are_sorted_lexicographically(dtype, width):
    drawn = np.random.default_rng(4).integers(-2, 3, (200, width))
    drawn[100:] = drawn[:100]
    rows = (np.abs(drawn) if dtype in ("uint8", "bool") else drawn).astype(dtype)
    first, inverse, counts = distinct.unique_rows(rows, 0)
    expected, at, back, sizes = np.unique(
        rows, return_index=True, return_inverse=True, return_counts=True, axis=0
    )
    np.testing.assert_array_equal(rows[first], expected)
    np.testing.assert_array_equal(first, at)
    np.testing.assert_array_equal(inverse, back.reshape(-1))
    np.testing.assert_array_equal(counts, sizes)


def test_rows_with_equal_beginnings_are_told_apart():
    rows = np.zeros((300, 30))
    rows[:, -1] = np.random.default_rng(0).permutation(300)
    first, _, counts = distinct.unique_rows(rows, 0)
    np.testing.assert_array_equal(rows[first, -1], np.arange(300))
    assert (counts == 1).all()


def test_unique_of_slices_without_elements_is_refused():
    with pytest.raises(RuntimeError, match="There are 0 sized dimensions"):
        wg.zeros(2, 0).unique(dim=0)
    assert wg.zeros(0, 2).unique(dim=0).shape == (0, 2)
