"""Test columns and tables of pandas and pyarrow in operations with tensors."""

from fractions import Fraction

import numpy
import pytest

import wengert as wg
import wengert.numpy as np


class Column:
    """What the tests need of a column where its library is not installed."""

    __module__ = "pandas.core.series"

    def __init__(self, values):
        self.values = numpy.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


def column(values):
    return Column(values)


def series(values):
    return pytest.importorskip("pandas").Series(values, index=list("abc"))


def arrow(values):
    return pytest.importorskip("pyarrow").array(values)


@pytest.mark.parametrize("make", [wg.tensor, np.array], ids=["tensor", "array"])
@pytest.mark.parametrize("of", [column, series, arrow])
def test_a_column_is_a_constant_on_either_side(of, make):
    c = of([1.0, 2.0, 3.0])
    x = make(numpy.array([1.0, 2.0, 3.0])).requires_grad_()
    y = c * x + x**2 / c - (c - x)
    assert isinstance(y, type(x))
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 5.0, 6.0]
    assert ((x < c) | (c >= x)).all()
    assert (x @ c).item() == 14.0
    inverse = c / x
    assert isinstance(inverse, type(x)) and inverse.tolist() == [1.0, 1.0, 1.0]
    for product in (numpy.multiply(c, x), numpy.multiply(x, c)):
        assert isinstance(product, wg.Tensor) and product.requires_grad
        assert product.tolist() == [1.0, 4.0, 9.0]
    x = same = x.detach()
    x += c
    assert x is same and x.tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("of", [column, series, arrow])
def test_a_column_is_taken_where_an_array_is(of):
    c, x = of([1.0, 2.0, 3.0]), wg.tensor([3.0, 2.0, 1.0], requires_grad=True)
    numbers = numpy.array([1.0, 2.0, 3.0])
    for call in (wg.maximum, wg.add, wg.nn.functional.mse_loss):
        assert call(x, c).tolist() == call(x, numbers).tolist()
    assert wg.stack([x, c]).tolist() == [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]
    assert wg.where(of([True, False, True]), x, 0.0).tolist() == [3.0, 0.0, 1.0]
    data = wg.utils.data.TensorDataset(x.detach(), c)
    assert [[one.item() for one in row] for row in data] == [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]


@pytest.mark.parametrize("of", [column, series, arrow])
def test_a_column_is_an_index(of):
    x = wg.tensor([3.0, 2.0, 1.0], requires_grad=True)
    assert x[of([True, False, True])].tolist() == [3.0, 1.0]
    x[of([2, 0, 2])].sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 2.0]
    y = wg.zeros(3, 2)
    y[of([2, 1, 0]), 0] = of([1.0, 2.0, 3.0])
    assert y.tolist() == [[3.0, 0.0], [2.0, 0.0], [1.0, 0.0]]


def test_a_data_set_of_what_is_not_a_tensor_is_refused():
    with pytest.raises(TypeError, match="expected Tensor as element 1 in argument 0, but got list"):
        wg.utils.data.TensorDataset(wg.ones(2), [1, 2])


def test_a_fraction_is_taken_in_place():
    x = same = wg.ones(2)
    x /= Fraction(1, 2)
    assert x is same and x.tolist() == [2.0, 2.0]


def test_what_is_no_number_is_refused():
    with pytest.raises(TypeError, match="elements of dtype"):
        wg.ones(2) * column(["a", "b"])
    with pytest.raises(TypeError, match="elements of dtype"):
        np.ones(2) + column([1, None])


def test_tables_take_values_that_need_no_gradient():
    pandas = pytest.importorskip("pandas")
    x = wg.tensor([1.0, 2.0]).requires_grad_()
    assert pandas.DataFrame({"x": x.detach()}).x.tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="needs a gradient"):
        pandas.DataFrame({"x": x})


def test_missing_values_of_any_numeric_columns_are_nan():
    pandas = pytest.importorskip("pandas")
    x = wg.ones(3, dtype=wg.float64)
    truths = pandas.Series([True, None, False], dtype="boolean")
    whole = pandas.array([1, None, 3], dtype="Int64")
    frame = pandas.DataFrame({"a": whole, "b": [1.0, 2.0, 3.0]})
    for found, expected in [
        (x * truths, [1.0, numpy.nan, 0.0]),
        (frame["a"] * x, [1.0, numpy.nan, 3.0]),
        (x[:, None] * frame, [[1.0, 1.0], [numpy.nan, 2.0], [3.0, 3.0]]),
    ]:
        numpy.testing.assert_array_equal(found.numpy(), expected)
    for other in (frame.assign(c=list("xyz")), frame["a"].astype(object)):
        with pytest.raises(TypeError, match="expected numbers"):
            x * other
