"""Values combined or written at places: what the table of records does not say."""

import pytest

import wengert as wg


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


def test_the_gradient_of_a_product_with_two_zeros():
    src = wg.tensor([0.0, 0.0, 5.0], dtype=wg.float64, requires_grad=True)
    x = wg.tensor([7.0], dtype=wg.float64, requires_grad=True)
    assert wg.autograd.gradcheck(product, (x, src))


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
