"""Test conversions between tensors and NumPy, which never silently lose the graph."""

import numpy as np
import pytest

import wengert as wg


def test_conversion_shares_memory():
    x = wg.ones(3)
    array = x.numpy()
    array[0] = 5.0
    assert x.tolist() == [5.0, 1.0, 1.0]
    y = wg.from_numpy(array)
    y[1] = 7.0
    assert array[1] == 7.0


def test_what_numpy_gives_for_tensors_is_taken_for_an_array():
    x = wg.ones(2, requires_grad=True)
    joined = wg.from_numpy(np.concatenate([x, 2 * x]))
    assert joined.tolist() == [1, 1, 2, 2]
    joined.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_arrays_keep_their_dtype():
    for dtype in (np.float64, np.float32, np.int32, np.bool_, np.complex128, np.float16):
        assert wg.tensor(np.ones(2, dtype)).numpy().dtype == dtype
        assert wg.from_numpy(np.ones(2, dtype)).numpy().dtype == dtype


def test_tensor_copies_its_data():
    array = np.ones(3)
    x = wg.tensor(array)
    array[0] = 9.0
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_a_tensor_that_requires_grad_does_not_convert():
    x = wg.ones(3, requires_grad=True)
    for convert in (lambda t: t.numpy(), np.asarray, lambda t: np.array(t * 2)):
        with pytest.raises((RuntimeError, TypeError), match="grad"):
            convert(x)
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        x.numpy()
    assert x.detach().numpy().tolist() == [1.0, 1.0, 1.0]


def test_numpy_functions_differentiate():
    x = wg.tensor([0.5, 1.5], dtype=wg.float64, requires_grad=True)
    y = np.sin(x)
    assert isinstance(y, wg.Tensor)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx(np.cos([0.5, 1.5]).tolist())


UFUNCS = [
    lambda a, t: a @ t,
    lambda a, t: t @ a,
    lambda a, t: a[0] * t,
    lambda a, t: t * a[0],
    lambda a, t: a[0] + t,
    lambda a, t: a[0] / t,
    lambda a, t: np.multiply(a[0], t),
    lambda a, t: np.exp(t),
    lambda a, t: np.float64(2.0) * t,
    lambda a, t: np.float64(2.0) + t,
]
FUNCTIONS = [
    lambda a, t: np.dot(a, t),
    lambda a, t: np.stack([t, t]),
    lambda a, t: np.concatenate([t, t]),
    lambda a, t: np.where(a[0] > 0, t, 0.0),
    lambda a, t: np.sum(t),
]


def arguments():
    a = np.array([[1.0, -2.0], [3.0, 4.0]])
    return a, wg.tensor([0.5, 1.5], dtype=wg.float64, requires_grad=True)


@pytest.mark.parametrize("function", UFUNCS)
def test_ufuncs_differentiate(function):
    a, t = arguments()
    result = function(a, t)
    assert isinstance(result, wg.Tensor) and result.requires_grad
    assert wg.autograd.gradcheck(lambda t: function(a, t), t)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_nothing_leaves_the_graph_silently(function):
    a, t = arguments()
    try:
        result = function(a, t)
    except NotImplementedError as error:
        assert "no derivative rule for numpy." in str(error)
    else:
        assert isinstance(result, wg.Tensor) and result.requires_grad
        assert wg.autograd.gradcheck(lambda t: function(a, t), t)
