"""Test scatter and indexed writes, beyond the record table."""

import numpy as np
import pytest

import wengert as wg
from wengert.kernels import scatter


def test_each_way_of_combining():
    index, src = wg.tensor([0, 0, 2]), wg.tensor([2.0, 3.0, 4.0])
    found = {
        reduce: wg.tensor([1.0, 5.0, 9.0]).scatter_reduce(0, index, src, reduce).tolist()
        for reduce in ("sum", "prod", "mean", "amax", "amin")
    }
    assert found == {
        "sum": [6.0, 5.0, 13.0],
        "prod": [6.0, 5.0, 36.0],
        "mean": [2.0, 5.0, 6.5],
        "amax": [3.0, 5.0, 9.0],
        "amin": [1.0, 5.0, 4.0],
    }


def test_without_itself_a_place_that_nothing_goes_to_keeps_its_value():
    index, src = wg.tensor([0, 0]), wg.tensor([2.0, 4.0])
    made = wg.tensor([100.0, 5.0]).scatter_reduce(0, index, src, "mean", include_self=False)
    assert made.tolist() == [3.0, 5.0]


def test_extremes_that_several_values_share_share_the_gradient():
    x = wg.tensor([3.0, 0.0], requires_grad=True)
    src = wg.tensor([3.0, 3.0, 1.0], requires_grad=True)
    x.scatter_reduce(0, wg.tensor([0, 0, 0]), src, "amax").sum().backward()
    third = pytest.approx(1 / 3)
    assert x.grad.tolist() == [third, 1.0]
    assert src.grad.tolist() == [third, third, 0.0]


def product(x, src):
    return x.scatter_reduce(0, wg.tensor([0, 0, 0]), src, "prod")


def test_the_derivatives_of_a_product_with_a_zero():
    src = wg.tensor([0.0, 3.0, 5.0], dtype=wg.float64, requires_grad=True)
    x = wg.tensor([7.0], dtype=wg.float64, requires_grad=True)
    assert wg.autograd.gradcheck(product, (x, src))
    assert wg.autograd.gradgradcheck(product, (x, src))


@pytest.mark.parametrize("factors", [[0.0, 0.0, 5.0], [0.0, 0.0, 0.0]])
@pytest.mark.parametrize("own", [7.0, 0.0])
def test_the_derivatives_of_a_product_with_several_zeros(factors, own):
    src = wg.tensor(factors, dtype=wg.float64, requires_grad=True)
    x = wg.tensor([own], dtype=wg.float64, requires_grad=True)
    assert wg.autograd.gradcheck(product, (x, src))
    assert wg.autograd.gradgradcheck(product, (x, src))


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_an_infinite_product_elsewhere_leaves_no_nan():
    src = wg.tensor([float("inf"), 0.0, 2.0, 3.0], requires_grad=True)
    made = wg.ones(2).scatter_reduce(0, wg.tensor([0, 0, 1, 1]), src, "prod")
    made[1].backward()
    assert src.grad[2:].tolist() == [3.0, 2.0]


def test_what_does_not_count_is_no_tie():
    x = wg.tensor([3.0], requires_grad=True)
    src = wg.tensor([3.0, 1.0], requires_grad=True)
    x.scatter_reduce(0, wg.tensor([0, 0]), src, "amax", include_self=False).sum().backward()
    assert x.grad.tolist() == [0.0] and src.grad.tolist() == [1.0, 0.0]


def test_an_extreme_that_is_not_a_number_has_no_gradient():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    src = wg.tensor([float("nan"), 5.0], requires_grad=True)
    made = x.scatter_reduce(0, wg.tensor([0, 1]), src, "amax")
    made.sum().backward()
    assert made[0].isnan() and made[1] == 5.0
    assert x.grad.tolist() == [0.0, 0.0] and src.grad.tolist() == [0.0, 1.0]


def test_values_beyond_the_index_are_not_used():
    src = wg.ones(2, 3, requires_grad=True)
    for reduce in ("sum", "mean", "prod", "amax"):
        made = wg.zeros(2, 3).scatter_reduce(1, wg.tensor([[0, 0]]), src, reduce)
        made.sum().backward()
        assert src.grad[1].tolist() == [0, 0, 0] and src.grad[0, 2] == 0


def test_means_of_integers_are_rounded_down():
    x = wg.tensor([1, 0]).scatter_reduce(0, wg.tensor([0, 0]), wg.tensor([-3, 0]), "mean")
    assert x.tolist() == [-1, 0]


@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
def test_results_go_to_out(name):
    out = wg.empty(3)
    index, src = wg.tensor([1, 1]), wg.tensor([4.0, 5.0])
    assert getattr(wg, name)(wg.ones(3), 0, index, src, "prod", out=out) is out
    assert out.tolist() == [1.0, 20.0, 1.0]
    assert wg.slice_scatter(wg.zeros(3), src, end=2, out=out) is out
    assert out.tolist() == [4.0, 5.0, 0.0]


def test_combining_in_place_is_recorded():
    leaf = wg.zeros(3, requires_grad=True)
    x = leaf.clone()
    assert x.scatter_reduce_(0, wg.tensor([1]), wg.tensor([4.0]), "sum") is x
    x.sum().backward()
    assert x.tolist() == [0.0, 4.0, 0.0] and leaf.grad.tolist() == [1.0, 1.0, 1.0]


def test_rows_are_combined_by_a_vector_of_positions():
    x = wg.ones(2, 2)
    made = x.index_reduce(0, wg.tensor([1, 1]), wg.tensor([[2.0, 3.0], [4.0, 5.0]]), "prod")
    assert made.tolist() == [[1.0, 1.0], [8.0, 15.0]]


def test_what_a_view_shows_is_replaced_in_a_copy():
    x = wg.zeros(2, 3)
    assert wg.select_scatter(x, wg.ones(2), 1, -1).tolist() == [[0, 0, 1], [0, 0, 1]]
    assert wg.slice_scatter(x, wg.ones(2, 1), 1, 1, 2).tolist() == [[0, 1, 0], [0, 1, 0]]
    assert wg.diagonal_scatter(x, wg.ones(2)).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda x: x.scatter_reduce(0, wg.tensor([0]), wg.ones(1), "most"),
            RuntimeError,
            "reduce argument must be either sum, prod, mean, amax or amin, got most",
        ),
        (
            lambda x: x.scatter_reduce(0, wg.tensor([7]), wg.ones(1), "sum"),
            RuntimeError,
            "index 7 is out of bounds",
        ),
        (
            lambda x: x.index_reduce(0, wg.tensor([[0]]), wg.ones(1), "mean"),
            IndexError,
            "Index is supposed to be a vector",
        ),
        (
            lambda x: x.index_reduce(0, wg.tensor([3]), wg.ones(1), "mean"),
            IndexError,
            "index out of range in self",
        ),
        (
            lambda x: x.index_reduce(0, wg.tensor([1]), wg.ones(1), "sum"),
            RuntimeError,
            "Expected reduce to be one of prod, mean, amax or amin but got sum",
        ),
        (
            lambda x: wg.ones(2, 3).index_reduce(0, wg.tensor([1]), wg.ones(1, 2), "prod"),
            RuntimeError,
            "source tensor shape must match self tensor shape",
        ),
        (
            lambda x: x.index_reduce(0, wg.tensor([1]), wg.ones(1).double(), "prod"),
            RuntimeError,
            r"self \(Float\) and source \(Double\) must have the same scalar type",
        ),
        (
            lambda x: x.bool().scatter_reduce(0, wg.tensor([1]), wg.ones(1).bool(), "mean"),
            NotImplementedError,
            "not implemented for 'Bool'",
        ),
        (
            lambda x: x.cfloat().index_reduce(0, wg.tensor([1]), wg.ones(1).cfloat(), "amin"),
            NotImplementedError,
            "not implemented for 'ComplexFloat'",
        ),
        (lambda x: wg.slice_scatter(x[0], x), IndexError, "cannot be applied to a 0-dim tensor"),
        (
            lambda x: wg.select_scatter(x, wg.ones(2), 0, 0),
            RuntimeError,
            "expected src to have a size equal to the slice of self",
        ),
        (lambda x: wg.select_scatter(x, wg.ones(()), 0, 9), IndexError, "out of range"),
        (lambda x: wg.slice_scatter(x, wg.ones(1), step=0), RuntimeError, "slice step must be"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(wg.zeros(3))


def test_a_number_takes_the_first_of_a_source():
    x, at = wg.tensor(1.0), wg.zeros((), dtype=wg.int64)
    source = wg.tensor([2.0, 3.0, 4.0], requires_grad=True)
    y = x.scatter_add(0, at, source)
    y.backward()
    assert y.item() == 3 and source.grad.tolist() == [1, 0, 0]
    assert x.scatter(0, at, source).item() == 2
    for bad in (wg.zeros(0), wg.zeros(1, 1)):
        with pytest.raises(RuntimeError):
            x.scatter_add(0, at, bad)
    with pytest.raises(RuntimeError, match="no larger"):
        wg.ones(3).scatter_add(0, wg.tensor([0, 1]), wg.tensor(1.0))


@pytest.mark.parametrize("with_scipy", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_many_rows_are_added_one_after_the_other(monkeypatch, dtype, with_scipy):
    if not with_scipy:
        monkeypatch.setattr(scatter, "_sparse_product", lambda: None)
    rng = np.random.default_rng(0)
    start, rows = (rng.standard_normal((n, 40)).astype(dtype) for n in (7, 300))
    places = rng.integers(0, 7, 300)
    wanted = start.copy()
    for place, row in zip(places, rows, strict=True):
        wanted[place] += row
    index, x, src = (wg.from_numpy(array) for array in (places, start, rows))
    assert np.array_equal(x.index_add(0, index, src).numpy(), wanted)
    spread = index[:, None].expand(-1, 40)
    assert np.array_equal(x.scatter_add(0, spread, src).numpy(), wanted)
    assert np.array_equal(x.scatter_add(0, spread.contiguous(), src).numpy(), wanted)
    assert np.array_equal(src.gather(0, spread).numpy(), rows[places])


def test_rows_that_do_not_exist_are_refused_and_nothing_is_written():
    x, rows = wg.zeros(3, 2000), wg.ones(3, 2000)
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.index_add_(0, wg.tensor([0, 1, 3]), rows)
    assert not x.any()


@pytest.mark.parametrize("shown", [lambda x: x.t(), lambda x: x[:, :2], lambda x: x[1]])
@pytest.mark.parametrize("write", ["scatter_", "scatter_add_"])
def test_writes_along_a_dimension_go_through_views(shown, write):
    x = wg.arange(9.0).reshape(3, 3)
    part = shown(x)
    index = wg.zeros(part.shape, dtype=wg.int64)
    wanted = getattr(part.clone(), write)(0, index, wg.ones(part.shape))
    assert wg.equal(getattr(part, write)(0, index, wg.ones(part.shape)), wanted)
    assert wg.equal(shown(x), wanted)


def test_the_derivative_of_a_product_at_a_factor_that_does_not_divide():
    src = wg.tensor([2.0, np.nan, -np.inf, 3.0, -0.0, 1e300], dtype=wg.float64, requires_grad=True)
    start = wg.tensor([1.0, 1e300, -1.0], dtype=wg.float64)
    start.scatter_reduce(0, wg.tensor([0, 0, 2, 2, 1, 1]), src, "prod").sum().backward()
    assert src.grad.tolist() == pytest.approx([np.nan, 2.0, -3.0, np.inf, np.inf, 0.0], nan_ok=True)
