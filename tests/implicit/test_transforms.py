"""Test solutions of equations and differential equations under function transforms."""

import numpy as np
import pytest

import wengert as wg
from wengert import func
from wengert.integrate import odeint, solve_ivp

A = wg.tensor([2.0, 3.0], dtype=wg.float64)
ONES = wg.ones(2, dtype=wg.float64)


@wg.implicit.root(lambda x, a: x**3 - a)
def cube_root(init, a):
    return np.cbrt(a.numpy())


@wg.implicit.argmin(lambda x, a: ((x**2 - a) ** 2).sum(), solve="cg")
def square_root(init, a):
    return np.sqrt(a.numpy())


def decay(sensitivity):
    """y' = -a y² from 1 on, which is 1 / (1 + a) at 1."""

    def last(a):
        times = [0, 1.0]
        options = {"sensitivity": sensitivity, "rtol": 1e-7, "atol": 1e-9}
        return odeint(lambda y, t, a: -a * y * y, ONES, times, (a,), **options)[1]

    return last


SOLVED = {
    "root": (lambda a: cube_root(None, a), lambda a: a ** (1 / 3)),
    "argmin": (lambda a: square_root(None, a), lambda a: a**0.5),
    "discrete": (decay("discrete"), lambda a: 1 / (1 + a)),
    "adjoint": (decay("adjoint"), lambda a: 1 / (1 + a)),
    "forward": (decay("forward"), lambda a: 1 / (1 + a)),
}
TRANSFORMS = {
    "grad": lambda f: func.grad(lambda a: f(a).sum())(A),
    "vjp": lambda f: func.vjp(f, A)[1](ONES)[0],
    "jvp": lambda f: func.jvp(f, (A,), (ONES,))[1],
    "jacrev": lambda f: func.jacrev(f)(A),
    "jacfwd": lambda f: func.jacfwd(f)(A),
    "vmap": lambda f: func.vmap(lambda a: f(a * ONES))(A),
    "vmap of grad": lambda f: func.vmap(func.grad(lambda a: f(a * ONES).sum()))(A),
    "jvp of vmap": lambda f: func.jvp(func.vmap(lambda a: f(a * ONES)), (A,), (ONES,))[1],
    "vmap of jvp": lambda f: func.vmap(lambda a: func.jvp(f, (a * ONES,), (ONES,))[1])(A),
}
TWICE = {
    "grad of grad": lambda f: func.grad(lambda a: func.grad(lambda a: f(a).sum())(a).sum())(A),
    "hessian": lambda f: func.hessian(lambda a: f(a).sum())(A),
    "grad of jvp": lambda f: func.grad(lambda a: func.jvp(f, (a,), (ONES,))[1].sum())(A),
}


@pytest.fixture(autouse=True)
def scipy_where_it_is_needed(request):
    if getattr(request.node, "callspec", None) and request.node.callspec.params["solved"] != "root":
        pytest.importorskip("scipy")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("solved", SOLVED)
def test_a_transform_sees_the_derivatives_of_the_solution(solved, transform):
    have, want = (TRANSFORMS[transform](f).detach().numpy() for f in SOLVED[solved])
    np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-12)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("transform", TWICE)
@pytest.mark.parametrize("solved", [name for name in SOLVED if name != "forward"])
def test_second_derivatives(solved, transform):
    have, want = (TWICE[transform](f).detach().numpy() for f in SOLVED[solved])
    np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("transform", TWICE)
@pytest.mark.parametrize("solved", ["forward"])
def test_forward_sensitivities_refuse_second_derivatives(solved, transform):
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        TWICE[transform](SOLVED[solved][0])


def test_what_is_closed_over_under_a_transform_is_refused():
    def closing(a):
        return wg.implicit.root(lambda x: x**3 - a)(lambda init: np.cbrt([2.0, 3.0]))(None)

    with pytest.raises(RuntimeError, match="closes over a tensor of an enclosing vmap or jvp"):
        func.jvp(closing, (A,), (ONES,))


def test_steps_of_ones_own_are_refused_for_batches():
    pytest.importorskip("scipy")
    with pytest.raises(RuntimeError, match="solve_ivp does not work under vmap"):
        func.vmap(lambda y: solve_ivp(lambda t, y: -y, (0, 1), y[None]).y)(A)


def test_auxiliary_results_of_a_batch_come_in_a_list():
    solve = wg.implicit.root(lambda x, a: x - a, has_aux=True)(
        lambda init, a: (a.numpy(), a.item())
    )
    seen = []

    def one(a):
        x, aux = solve(None, a)
        seen.append(aux)
        return x

    func.vmap(one)(A)
    assert seen == [[2.0, 3.0]]
