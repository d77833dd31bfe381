"""Test that masked zero cotangents hide NaN in compiled backward passes as in eager ones.

The result must not depend on the values that the function was traced with.
"""

import numpy as np
import pytest

import wengert as wg

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def written(y, x):
    y[x <= 0] = 0.0
    return y


CHOICES = {
    "where, root": lambda x: wg.where(x > 0, x.sqrt(), wg.zeros_like(x)),
    "where, power": lambda x: wg.where(x > 0, x**0.5, 0 * x),
    "where, quotient": lambda x: wg.where(x != 0, 1 / x, 0 * x),
    "where, logarithm": lambda x: wg.where(x > 0, x.log() * x, wg.zeros_like(x)),
    "masked_fill": lambda x: x.log().masked_fill(x <= 0, 0.0),
    "clamp, exponential": lambda x: (x.sum() * 1000 + x).expm1().clamp(max=3),
    "clamp, exponential of elements": lambda x: (x * 1000).exp().clamp(max=3),
    "relu": lambda x: (x.abs().sqrt() - 1).relu(),
    "maximum": lambda x: wg.maximum(x.abs().sqrt(), wg.ones_like(x)),
    "maximum, twice": lambda x: wg.where(x > 0, wg.maximum(x, x.abs().sqrt()), 0 * x),
    "index": lambda x: x.abs().sqrt()[x != 0],
    "index, roots of negative numbers": lambda x: x.sqrt()[x > 0],
    "where, arc cosine": lambda x: wg.where(x.abs() < 0.9, x.acos(), 0 * x),
    "where, reciprocal root": lambda x: wg.where(x > 0, x.rsqrt(), 0 * x),
    "where, gamma": lambda x: wg.where(x > 0, x.lgamma(), 0 * x),
    "write": lambda x: written(x.sqrt() * 2, x),
    "no mask": lambda x: x.abs().sqrt() * 0,
    "no mask, quotient": lambda x: 0 / x,
    "no mask, product": lambda x: x.sqrt() * (x > 0),
}
OUTSIDE = {
    "sum": lambda y, x: y.sum(),
    "where": lambda y, x: wg.where(x > 0, y, wg.zeros_like(y)).sum(),
    "clamp": lambda y, x: y.clamp(-0.5, 0.5).sum(),
}
ORDERS = [(1.0, 0.0, -1.0), (0.0, -1.0, 1.0), (-1.0, 1.0, 0.0)]


def slopes(function, order, outside=OUTSIDE["sum"]):
    found = []
    for first in order:
        x = wg.tensor([first, 2.0], dtype=wg.float64, requires_grad=True)
        y = function(x)
        outside(y, x.detach()[: y.numel()]).backward()
        found.append(x.grad.tolist())
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("outside", OUTSIDE)
@pytest.mark.parametrize("name", CHOICES)
def test_gradients_are_those_of_the_function_whatever_was_traced(name, outside, backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    for order in ORDERS:
        compiled = wg.compile(CHOICES[name], backend=backend, options={"measure": False})
        want = slopes(CHOICES[name], (*order, order[0]), OUTSIDE[outside])
        got = slopes(compiled, (*order, order[0]), OUTSIDE[outside])
        np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=f"{order}")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("name", CHOICES)
def test_so_are_gradients_that_the_function_takes_itself(name, backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")

    def slope(x):
        return wg.autograd.grad(CHOICES[name](x).sum(), x)[0]

    for order in ORDERS:
        compiled = wg.compile(slope, backend=backend, options={"measure": False})
        for first in (*order, order[0]):
            x = wg.tensor([first, 2.0], dtype=wg.float64, requires_grad=True)
            want, got = slope(x), compiled(x)
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-12, err_msg=f"{order}")


def second_derivatives(function, compile):
    """Functions that compute second derivatives, where different parts are compiled."""

    def total(x):
        return function(x).sum()

    def slope(x):
        return wg.autograd.grad(total(x), x, create_graph=True)[0].sum()

    slope, whole, inner = compile(slope), compile(wg.func.hessian(total)), compile(total)

    def outside(x):
        leaf = x.clone().requires_grad_()
        return wg.autograd.grad(slope(leaf), leaf)[0]

    return [outside, whole, wg.func.hessian(inner)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("name", CHOICES)
def test_so_are_second_derivatives(name, backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")

    def compiled(function):
        return wg.compile(function, backend=backend, options={"measure": False})

    plain = second_derivatives(CHOICES[name], lambda function: function)
    for order in ORDERS:
        pairs = zip(plain, second_derivatives(CHOICES[name], compiled), strict=True)
        for want, got in pairs:
            for first in order:
                x = wg.tensor([first, 2.0], dtype=wg.float64)
                np.testing.assert_allclose(got(x), want(x), rtol=1e-10, err_msg=f"{order}")


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_a_mask_after_a_loop_holds_for_the_blocks_before_it(backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")

    def loop(x, n):
        y = x
        while n > 0:
            y = y.abs().sqrt()
            n = n - 1
        return wg.where(x > 0, y, wg.zeros_like(x))

    for order in ORDERS:
        compiled = wg.compile(loop, backend=backend, options={"measure": False})
        for first in (*order, order[0]):
            grads = []
            for function in (loop, compiled):
                x = wg.tensor([first, 2.0], dtype=wg.float64, requires_grad=True)
                function(x, wg.tensor(3)).sum().backward()
                grads.append(x.grad.numpy())
            np.testing.assert_allclose(grads[1], grads[0], rtol=1e-12, err_msg=f"{order}")


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_so_is_a_batch_of_cotangents(backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    function = CHOICES["where, root"]
    for order in ORDERS:
        compiled = wg.compile(function, backend=backend, options={"measure": False})
        for first in (*order, order[0]):
            x = wg.tensor([first, 2.0], dtype=wg.float64)
            got, want = wg.func.jacrev(compiled)(x), wg.func.jacrev(function)(x)
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-12, err_msg=f"{order}")


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_what_lies_below_a_call_is_searched_too(backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")

    def chosen(y, x):
        return wg.where(x > 0, y, 0 * x)

    for order in ORDERS:
        compiled = wg.compile(chosen, backend=backend, options={"measure": False})
        for first in (*order, order[0]):
            grads = []
            for function in (chosen, compiled):
                x = wg.tensor([first, 2.0], dtype=wg.float64, requires_grad=True)
                function(x.sqrt() * 3, x.detach()).sum().backward()
                grads.append(x.grad.numpy())
            np.testing.assert_allclose(grads[1], grads[0], rtol=1e-12, err_msg=f"{order}")


def test_a_choice_among_elements_is_no_decision():
    compiled = wg.compile(CHOICES["where, root"], backend="numpy", options={"measure": False})
    for first in ORDERS[0]:
        compiled(wg.tensor([first, 2.0], requires_grad=True))
    assert "decision" not in str(compiled.explain())


@pytest.mark.sampled(6)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("first", [float("nan"), float("inf"), 1.0])
@pytest.mark.parametrize("name", CHOICES)
def test_nan_among_the_data_is_what_it_is_uncompiled(name, first, backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    compiled = wg.compile(CHOICES[name], backend=backend, options={"measure": False})
    for moment in (1.0, first, float("nan"), 0.5):
        grads = []
        for function in (CHOICES[name], compiled):
            x = wg.tensor([moment, 2.0], dtype=wg.float64, requires_grad=True)
            w = wg.ones(2, dtype=wg.float64, requires_grad=True)
            function((x * w).sin().sinh() * w).sum().backward()
            grads.append([x.grad.numpy(), w.grad.numpy()])
        np.testing.assert_allclose(grads[1], grads[0], rtol=1e-12, err_msg=f"{moment}")


@pytest.mark.filterwarnings("ignore:left.. is not compiled")
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_what_a_mask_has_hidden_is_known_where_a_trace_is_given_up(backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")

    def chosen(x):
        return wg.where(x > 0, x.sqrt(), wg.zeros_like(x)) * 2

    for function in (chosen, wg.func.vmap(chosen)):
        grads = []

        def left(x, function=function):
            return function(x), x.detach().numpy().copy()

        for used in (left, wg.compile(left, backend=backend)):
            x = wg.tensor([[-1.0, 2.0]], requires_grad=True)
            used(x)[0].sum().backward()
            grads.append(x.grad.tolist())
        assert grads[1] == grads[0] == [[0.0, pytest.approx(2**-0.5)]]


def test_second_derivatives_of_functions_that_call_each_other():
    def compiled(function):
        return wg.compile(function, backend="numpy", options={"measure": False})

    one = compiled(lambda x: x * x * 2)
    two = compiled(lambda x: one(x) + one(-x))
    three = compiled(lambda x: two(one(x)).sum() * x)
    for _ in range(3):
        x = wg.tensor(2.0, requires_grad=True)
        # (2 x ** 2) ** 2 * 4 * x
        (slope,) = wg.autograd.grad(three(x), x, create_graph=True)
        assert slope.item() == 80 * 2**4
        slope.backward()
        assert x.grad.item() == 320 * 2**3


def _beside_another_result(x, u):
    return (x * 2).exp().clamp(min=0).sum(), x.sqrt().nan_to_num(0.2)


def _below_a_choice_that_meets_none(x, u):
    d = wg.where((x * u).isnan(), u, x * u)
    return (d.sum() * x.clamp(min=0)).sum(), u


def _in_a_loop(x, u):
    a, c, turn = x.sqrt(), x, wg.zeros(())
    while turn < 2:
        a = a.relu()
        c = a.xlogy(a)
        a = a.xlogy(c.clamp(min=0))
        turn = turn + 1
    return (c[:2].sum() + c).sum(), a


def _under_a_transform(x, u):
    a = wg.func.jvp(lambda q: (q * u).sqrt(), (x * u,), (u,))[1]
    return (u.relu() * a).sum(), (x * u).nan_to_num(0.2)


@pytest.mark.parametrize(
    "function",
    [_beside_another_result, _below_a_choice_that_meets_none, _in_a_loop, _under_a_transform],
    ids=lambda f: f.__name__[1:],
)
def test_nan_is_hidden_only_where_a_mask_of_the_path_has_met_some(function):
    f = wg.compile(function, backend="numpy", options={"measure": False})
    for given in ([1.0, 0.0, np.nan], [-0.5, np.nan, np.nan], [0.3, 2.0, 1.0], [np.nan, 1.0, -0.5]):
        found = []
        for used in (function, f):
            x = wg.tensor(given, dtype=wg.float64, requires_grad=True)
            u = wg.tensor([0.3, 0.3, -0.5], dtype=wg.float64, requires_grad=True)
            found.append(wg.autograd.grad(used(x, u)[0], (x, u), allow_unused=True))
        for one, other in zip(*found, strict=True):
            assert (one is None) == (other is None)
            assert one is None or np.array_equal(one.numpy(), other.numpy(), equal_nan=True)
