"""Test `autograd.functional` where PyTorch returns wrong numbers or fails needlessly."""

import math

import numpy as np
import pytest

import wengert as wg
from support.alone import said
from wengert.autograd import functional
from wengert.autograd.functional import hessian, hvp, jacobian, jvp, vjp

NAMES = ("vjp", "jvp", "jacobian", "hessian", "vhp", "hvp")
FORWARD = {"vectorize": True, "strategy": "forward-mode"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("after", [False, True])
def test_a_function_that_writes_to_its_input_is_refused(name, after):
    # PyTorch takes the derivative at the value after the write: 1 for the first derivative of 2x
    x = wg.tensor(3.0, requires_grad=True) * 1

    def f(x):
        result = x.sin() if after else x
        x.mul_(2)
        return result

    with pytest.raises(RuntimeError, match=f"Input 0 of the function given to {name} was written"):
        getattr(functional, name)(f, x, create_graph=True)


@pytest.mark.parametrize("name", NAMES)
def test_inference_mode_is_refused(name):
    # PyTorch gives zeros
    x = wg.tensor(3.0)
    with wg.inference_mode():
        with pytest.raises(RuntimeError, match=f"{name} needs to record the function"):
            getattr(functional, name)(lambda x: x**3, x)
        with wg.inference_mode(False):
            getattr(functional, name)(lambda x: x**3, x)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_tuple_of_inputs_is_refused(name):
    with pytest.raises(RuntimeError, match=f"`inputs` argument to `{name}\\(\\)` cannot be empty"):
        getattr(functional, name)(lambda: wg.ones(()), ())


@pytest.mark.parametrize("options", [{}, {"vectorize": True}, FORWARD])
def test_outputs_without_elements_have_jacobians_without_elements(options):
    x = wg.ones(3, dtype=wg.float64)
    jac = jacobian(lambda x: (x[:0], x[:2] * 2), x, **options)
    assert [part.shape for part in jac] == [(0, 3), (2, 3)]
    assert jac[0].dtype == wg.float64
    assert jac[1].tolist() == [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    assert jacobian(lambda x: x * 2, wg.ones(2, 0), **options).shape == (2, 0, 2, 0)
    assert jacobian(lambda x: (), x, **options) == ()


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_the_hessian_by_an_input_without_elements(strategy):
    f = lambda x, y: (x.sum() + y) ** 2  # noqa: E731
    inputs = (wg.ones(0), wg.tensor(3.0))
    hess = hessian(f, inputs, vectorize=True, outer_jacobian_strategy=strategy)
    assert [[part.shape for part in row] for row in hess] == [[(0, 0), (0,)], [(0,), ()]]
    assert hess[1][1].item() == 2.0


def test_no_outputs_have_no_products():
    x = wg.tensor(2.0)
    assert jvp(lambda x: (), x) == ((), ())
    out, product = vjp(lambda x: (), x, ())
    assert out == () and product.item() == 0.0


def test_forward_mode_gives_tuples():
    # PyTorch gives lists
    x, y = wg.ones(2), wg.ones(3)
    jac = jacobian(lambda x, y: (x * 2, y * x[0]), (x, y), **FORWARD)
    assert isinstance(jac, tuple) and all(isinstance(row, tuple) for row in jac)
    onto_first = np.zeros((3, 2))
    onto_first[:, 0] = 1
    expected = ((2 * np.eye(2), np.zeros((2, 3))), (onto_first, np.eye(3)))
    for row, wanted in zip(jac, expected, strict=True):
        for block, values in zip(row, wanted, strict=True):
            np.testing.assert_array_equal(block.numpy(), values)
    hess = hessian(lambda x: (x**3).sum(), (x,), vectorize=True)
    assert isinstance(hess, tuple) and isinstance(hess[0], tuple)
    np.testing.assert_array_equal(hess[0][0].numpy(), 6 * np.eye(2))


def test_forward_mode_of_a_hessian_keeps_only_history_of_the_user():
    options = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}
    x = wg.ones(2)
    assert not hessian(lambda x: (x**3).sum(), x, **options).requires_grad
    hess = hessian(lambda x: (x**3).sum(), x.requires_grad_(), **options)
    assert wg.autograd.grad(hess.sum(), x)[0].tolist() == [6.0, 6.0]


def test_strict_names_the_input_that_a_constant_jacobian_belongs_to():
    # PyTorch gives the number of the output
    x, y = (wg.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    with pytest.raises(RuntimeError, match="independent of input 1"):
        jacobian(lambda x, y: x * x + y * 2, (x, y), create_graph=True, strict=True)


def test_inputs_that_are_lists_are_told_what_to_do():
    with pytest.raises(TypeError, match="Make a tuple of the list"):
        jacobian(lambda x: x, [wg.ones(1)])


def test_infinite_slopes_below_masks_are_seen():
    def f(x):
        return wg.where(x > 0, x, x * x)

    x = wg.tensor([-math.inf, 2.0])
    assert jvp(f, x, wg.ones(2))[1].tolist() == [-math.inf, 1.0]
    assert hvp(lambda x: f(x).sum(), x, wg.ones(2))[1].tolist() == [2.0, 0.0]


def test_the_module_is_imported_when_it_is_first_named():
    code = (
        "import sys, wengert as wg\n"
        "assert 'wengert.autograd.functional' not in sys.modules\n"
        "print(wg.autograd.functional.jacobian(lambda x: x * 2, wg.ones(())).item())\n"
    )
    assert said(code).split() == ["2.0"]
