"""Functions written in an idiom, compiled: values leave them as what they are uncompiled."""

import numpy as np
import pytest

import wengert as wg
import wengert.compat.autograd.numpy as anp
from wengert.compat import autograd
from wengert.compat import mxnet as mx
from wengert.compat import tensorflow as tf
from wengert.utils._pytree import tree_leaves


def squares(x):
    return anp.sum(x**2) * x[0]


@pytest.mark.filterwarnings("ignore:.* runs as it is")
@pytest.mark.parametrize(
    "function",
    [
        autograd.grad(squares),
        autograd.value_and_grad(squares),
        autograd.hessian(squares),
        lambda x: x - 0.1 * autograd.grad(squares)(x),
        lambda x: autograd.make_vjp(squares)(x)[1],
        lambda x: autograd.grad_and_aux(lambda x: (squares(x), {"twice": 2 * x}))(x),
    ],
)
def test_outside_of_differentiation_values_are_numpys_own(function):
    compiled = wg.compile(function)
    for x in (np.array([1.0, 2.0]), np.array([3.0, -1.0]), np.array([1.0, 2.0])):
        expected, found = map(tree_leaves, (function(x), compiled(x)))
        for one, other in zip(expected, found, strict=True):
            assert type(one) is type(other)
            np.testing.assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore:.* runs as it is")
def test_numpy_gives_arrays_that_numpy_can_show():
    compiled = wg.compile(lambda x: str(tf.square(x).numpy()))
    assert [compiled(tf.constant([1.0, n])) for n in (2.0, 3.0)] == ["[1. 4.]", "[1. 9.]"]


@pytest.mark.filterwarnings("ignore:.* runs as it is")
def test_texts_of_arrays_show_their_values():
    array = mx.nd.ones(3)
    compiled = wg.compile(lambda x: (f"{array} {array:}", x + 1))
    for _ in range(3):
        assert compiled(wg.ones(1))[0] == f"{array} {array}"


@pytest.mark.filterwarnings("ignore:.* runs as it is")
@pytest.mark.parametrize("text", [str, repr, lambda array: f"{array[0]:.2f}"])
def test_texts_of_payloads_show_their_values(text):
    compiled = wg.compile(lambda x: text((x * 2)._payload))
    for n in (1.0, 2.0, 3.0):
        assert compiled(wg.tensor([n])) == text(np.array([2 * n], np.float32))


@pytest.mark.filterwarnings("ignore:.* runs as it is")
def test_tf_print_prints_in_every_call(capsys):
    def function(x):
        tf.print("in the function")
        return x + 1

    compiled = wg.compile(function)
    assert [float(compiled(tf.constant(n))) for n in (1.0, 2.0, 3.0)] == [2.0, 3.0, 4.0]
    assert capsys.readouterr().err == "in the function\n" * 3


@pytest.mark.filterwarnings("ignore:.* runs as it is")
def test_functions_that_read_memory_see_it():
    def called(x):
        return (x * 2).apply_(lambda v: v + 1), (x * 2).map_(x, max), (x * 2).is_shared()

    def moved(x):
        y = (x * 2).share_memory_()
        return y.is_shared(), y

    x = wg.tensor([1.0, -2.0])
    for function in (called, moved):
        expected, compiled = function(x), wg.compile(function)
        for _ in range(3):
            for one, other in zip(expected, compiled(x), strict=True):
                assert wg.equal(one, other) if wg.is_tensor(one) else one is other
