"""Test nested differential operators that close over outer variables."""

import importlib

import numpy
import pytest

import wengert.compat.autograd as ours
import wengert.compat.autograd.numpy as our_numpy

NESTED = {
    "make_jvp(grad)": lambda ag, np: ag.make_jvp(lambda y: ag.grad(lambda x: x * x * y)(2.0))(3.0)(
        1.0
    ),
    "make_jvp(grad), argnum": lambda ag, np: ag.make_jvp(ag.grad(lambda x, y: x**2 * y**4), 1)(
        2.0, 3.0
    )(1.0),
    "deriv(grad)": lambda ag, np: ag.deriv(lambda y: ag.grad(lambda x: x**2 * y**4)(2.0))(3.0),
    "deriv(deriv)": lambda ag, np: ag.deriv(lambda y: ag.deriv(lambda x: x**2 * y**4)(2.0))(3.0),
    "grad(deriv)": lambda ag, np: ag.grad(lambda y: ag.deriv(lambda x: x**2 * y**4)(2.0))(3.0),
    "deriv(jacobian)": lambda ag, np: ag.deriv(
        lambda y: ag.jacobian(lambda x: x**2 * y**4)(np.array([2.0, 1.0]))
    )(3.0),
    "deriv(elementwise_grad)": lambda ag, np: ag.deriv(
        lambda y: ag.elementwise_grad(lambda x: x**2 * y**4)(np.array([2.0, 1.0]))
    )(3.0),
    "deriv(hessian)": lambda ag, np: ag.deriv(
        lambda y: ag.hessian(lambda x: np.sum(x**3) * y**4)(np.array([2.0, 1.0]))
    )(3.0),
    "grad(deriv(grad))": lambda ag, np: ag.grad(
        lambda z: ag.deriv(lambda y: ag.grad(lambda x: x**2 * y**4 * z**3)(2.0))(3.0)
    )(0.5),
    "deriv(grad(deriv))": lambda ag, np: ag.deriv(
        lambda z: ag.grad(lambda y: ag.deriv(lambda x: x**2 * y**4 * z**3)(2.0))(3.0)
    )(0.5),
    "deriv(deriv(grad))": lambda ag, np: ag.deriv(
        lambda z: ag.deriv(lambda y: ag.grad(lambda x: x**2 * y**4 * z**3)(2.0))(3.0)
    )(0.5),
    "deriv(make_ggnvp)": lambda ag, np: ag.deriv(
        lambda y: ag.make_ggnvp(lambda x: x**2 * y)(np.array([2.0, 1.0]))(np.array([1.0, 3.0]))
    )(3.0),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_operators_give_what_they_do_in_autograd(name):
    theirs = pytest.importorskip("autograd")
    expected = NESTED[name](theirs, importlib.import_module("autograd.numpy"))
    found = NESTED[name](ours, our_numpy)
    numpy.testing.assert_allclose(found, expected, rtol=1e-12)


def test_forward_over_reverse_without_a_peer():
    assert ours.make_jvp(lambda y: ours.grad(lambda x: x * x * y)(2.0))(3.0)(1.0) == (12.0, 4.0)
    assert ours.deriv(lambda y: ours.grad(lambda x: x**2 * y**4)(2.0))(3.0) == 432.0
