"""Test derivatives of solver results by the implicit function theorem."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import grad, gradcheck, gradgradcheck
from wengert.base.containers import flatten, paths
from wengert.linalg import LinAlgError

SOLVERS = ("dense", "cg", "bicgstab", "gmres")


def double(value):
    return wg.tensor(np.asarray(value, dtype=float), requires_grad=True)


def cube_root(solve=None):
    """The solution of x³ = a, with a Newton iteration that is not recorded."""

    def solver(init, a):
        x = init
        for _ in range(60):
            x = x - (x**3 - a) / (3 * x**2)
        return x

    return wg.implicit.root(lambda x, a: x**3 - a, solve=solve)(solver)


@pytest.mark.parametrize("solve", [*SOLVERS, lambda A, b: np.linalg.solve(A.to_dense(), b)])
def test_derivatives_of_any_order_match_the_closed_form(solve):
    if not callable(solve) and solve != "dense":
        pytest.importorskip("scipy")
    a = double([2.0, 3.0])
    derivative = cube_root(solve)(wg.ones(2, dtype=wg.float64), a)
    factor = 1.0
    for order in range(4):
        (derivative,) = grad(derivative.sum(), a, create_graph=True)
        factor *= 1 / 3 - order
        expected = factor * a.detach().numpy() ** (1 / 3 - order - 1)
        np.testing.assert_allclose(derivative.detach().numpy(), expected, rtol=1e-9)


@pytest.mark.parametrize(
    "solver",
    [
        lambda so, f: so.root(f, np.ones(2)),
        lambda so, f: so.root(f, np.ones(2)).x,
        lambda so, f: so.fsolve(f, np.ones(2)),
        lambda so, f: so.least_squares(f, np.ones(2), xtol=1e-14, ftol=1e-14, gtol=1e-14),
        lambda so, f: so.newton_krylov(f, np.ones(2), f_tol=1e-10),
    ],
)
def test_solvers_of_scipy_can_be_decorated(solver):
    so = pytest.importorskip("scipy.optimize")

    def F(x, A, b):
        return A @ x + x**3 - b

    @wg.implicit.root(F)
    def solve(init, A, b):
        return solver(so, lambda x: F(wg.from_numpy(x.copy()), A, b).numpy())

    A, b = double([[3.0, 1.0], [0.5, 2.0]]), double([1.0, 2.0])
    x = solve(None, A, b)
    np.testing.assert_allclose(F(x, A, b).detach().numpy(), 0, atol=1e-7)
    J = A.detach().numpy() + np.diag(3 * x.detach().numpy() ** 2)
    (gradient,) = grad(x[0], b)
    np.testing.assert_allclose(gradient.numpy(), np.linalg.inv(J)[0], rtol=1e-5)


@pytest.mark.parametrize("pick", [lambda result: result, lambda result: result.root])
def test_scalar_solvers_of_scipy_can_be_decorated(pick):
    so = pytest.importorskip("scipy.optimize")

    @wg.implicit.root(lambda E, M, e: E - e * wg.sin(E) - M)
    def kepler(init, M, e):
        return pick(so.root_scalar(lambda E: E - e.item() * math.sin(E) - M.item(), bracket=(0, 4)))

    M, e = double(1.0), double(0.3)
    anomaly = kepler(None, M, e)
    by_mean, by_eccentricity = grad(anomaly, (M, e))
    slope = 1 - 0.3 * math.cos(anomaly.item())
    assert by_mean.item() == pytest.approx(1 / slope, rel=1e-8)
    assert by_eccentricity.item() == pytest.approx(math.sin(anomaly.item()) / slope, rel=1e-8)


@pytest.mark.parametrize("solve", [None, "cg", "gmres"])
def test_a_minimum_in_a_dict_has_first_and_second_derivatives(solve):
    if solve is not None:
        pytest.importorskip("scipy")

    def objective(p, A, b, weight):
        residual = A @ p["x"] + p["c"] - b
        return (residual**2).sum() + (weight * (p["x"] ** 4 + p["x"] ** 2)).sum() + p["c"] ** 2

    @wg.implicit.argmin(objective, solve=solve)
    def newton(init, A, b, weight):
        def flat(z):
            return objective({"x": z[:2], "c": z[2]}, A, b, weight)

        z = wg.zeros(3, dtype=wg.float64)
        for _ in range(9):
            with wg.enable_grad():
                slope = wg.autograd.functional.jacobian(flat, z)
                curvature = wg.autograd.functional.hessian(flat, z)
            z = z - wg.linalg.solve(curvature, slope)
        return {"x": z[:2], "c": z[2]}

    def minimum(A, b, weight):
        return tuple(newton(None, A, b, weight).values())

    rng = np.random.default_rng(0)
    inputs = double(rng.normal(size=(3, 2))), double(rng.normal(size=3)), double(0.7)
    assert gradcheck(minimum, inputs)
    assert gradgradcheck(minimum, inputs)


def test_a_fixed_point_has_the_derivatives_of_its_equation():
    @wg.implicit.fixed_point(lambda x, W, b: (W @ x + b).tanh())
    def iterate(x, W, b):
        for _ in range(200):
            x = (W @ x + b).tanh()
        return x

    rng = np.random.default_rng(1)
    W, b = double(0.3 * rng.normal(size=(3, 3))), double(rng.normal(size=3))
    start = wg.zeros(3, dtype=wg.float64)
    assert gradcheck(lambda W, b: iterate(start, W, b), (W, b))
    assert gradgradcheck(lambda W, b: iterate(start, W, b), (W, b))


def test_complex_equations_need_not_be_holomorphic():
    def solver(init, a):
        a = a.numpy()
        return np.abs(a) ** (1 / 3) * np.exp(0.5j * np.angle(a))

    solve = wg.implicit.root(lambda z, a: z * z * z.abs() - a)(solver)
    a = wg.tensor([1 + 2j, 3 - 1j], dtype=wg.complex128, requires_grad=True)
    assert gradcheck(lambda a: solve(None, a), (a,))
    assert gradgradcheck(lambda a: solve(None, a), (a,))


class CubeByNumbers(wg.autograd.Function):
    """x³, whose derivative only one vector at a time can be multiplied with."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return wg.from_numpy(3 * x.detach().numpy() ** 2 * grad.detach().numpy())


@pytest.mark.parametrize("cube", [lambda x: x**3, CubeByNumbers.apply])
@pytest.mark.parametrize("n", [3, 20, 70])
def test_the_jacobian_of_few_and_of_many_unknowns(n, cube):
    # in rows one by one, in one pass, and in several
    rng = np.random.default_rng(3)
    W = wg.tensor(np.tril(rng.normal(size=(n, n))))
    x = rng.normal(size=n)

    def F(z, a):
        return [W @ cube(wg.cat([z["u"], z["v"]])) + wg.cat([z["v"], z["u"]]) - a]

    b = (W.numpy() @ x**3) + np.roll(x, n - 1)
    solve = wg.implicit.root(F)(lambda init, a: {"u": x[:1], "v": x[1:]})
    a = double(b)
    (gradient,) = grad(solve(None, a)["v"].sum(), a)
    J = W.numpy() * (3 * x**2) + np.roll(np.eye(n), 1, axis=1)
    want = np.linalg.solve(J.T, np.r_[0.0, np.ones(n - 1)])
    np.testing.assert_allclose(gradient.numpy(), want, rtol=1e-8)


# -- what is differentiated ----------------------------------------------------------------------


def test_tensors_closed_over_are_differentiated_by():
    # x = sqrt(3 w²) = sqrt(3) w, where w comes in by the argument and by the closure
    w = double(2.0)
    solve = wg.implicit.root(lambda x, a: x * x - a * w)(
        lambda init, a: np.sqrt(a.numpy() * w.detach().numpy())
    )
    x = solve(None, w * 3)
    (first,) = grad(x, w, create_graph=True)
    (second,) = grad(first, w)
    assert first.item() == pytest.approx(3**0.5)
    assert second.item() == pytest.approx(0, abs=1e-12)


def test_an_argument_that_another_one_depends_on_counts_by_itself():
    def f(a):
        b = a * 2
        solve = wg.implicit.root(lambda x, a, b: x**2 - a * b)(
            lambda init, a, b: np.sqrt(a.numpy() * b.numpy())
        )
        return solve(None, a, b)

    assert gradcheck(f, (double(3.0),))
    assert gradgradcheck(f, (double(3.0),))


def test_the_initial_value_has_no_gradient():
    a, start = double([2.0]), double([1.0])
    x = cube_root()(start, a)
    assert grad(x.sum(), (a, start), allow_unused=True)[1] is None


def test_the_operations_of_the_solver_are_not_recorded():
    a = double([2.0])
    x = cube_root()(wg.ones(1, dtype=wg.float64), a)
    assert x.grad_fn.name() == "ImplicitSolutionBackward"
    assert x.grad_fn.next_functions[0][0].variable is a


def test_a_solution_is_not_the_memory_of_the_initial_value():
    start = double([1.0])
    found = wg.implicit.root(lambda x, a: x - a)(lambda init, a: init)(start, double([1.0]))
    with wg.no_grad():
        start += 1
    assert found.item() == 1


def test_parts_may_be_numbers_arrays_and_named_tuples():
    from collections import namedtuple

    Pair = namedtuple("Pair", "x y")
    solve = wg.implicit.root(lambda z, a: [z.x - a.sum(), z.y - a])(
        lambda init, a: Pair(float(a.sum()), a.numpy())
    )
    a = double([1.0, 2.0])
    found = solve(None, a)
    assert isinstance(found, Pair) and found.x.dtype == wg.float64
    np.testing.assert_array_equal(grad(found.x + found.y[1], a)[0].numpy(), [1, 2])


def test_auxiliary_results_come_back_as_they_are():
    solve = wg.implicit.root(lambda x, a: x - a, has_aux=True)(
        lambda init, a: (a.numpy(), {"iterations": 7})
    )
    found, aux = solve(None, double([1.0]))
    assert aux == {"iterations": 7} and found.requires_grad


def test_options_of_the_solver_go_by_name_and_tensors_to_differentiate_by_do_not():
    solve = wg.implicit.root(lambda x, a: x - a)(lambda init, a, scale=1.0: a.numpy() * scale)
    with pytest.warns(UserWarning, match="is not a solution"):
        solve(None, double([1.0]), scale=2.0)
    with pytest.raises(TypeError, match=r"got the tensor scale\['w'\] by name"):
        solve(None, double([1.0]), scale={"w": double(1.0)})


def test_nothing_is_recorded_where_nothing_may_be():
    solve = cube_root()
    a, one = double([8.0]), wg.ones(1, dtype=wg.float64)
    with wg.no_grad():
        assert not solve(one, a).requires_grad
    with wg.inference_mode():
        assert solve(one, a).item() == pytest.approx(2)
    assert not solve(one, a.detach()).requires_grad


def test_a_minimum_is_checked_without_recording_too():
    find = wg.implicit.argmin(lambda x, a: (x - a) ** 2)(lambda init, a: a.numpy() + 1)
    with wg.no_grad(), pytest.warns(UserWarning, match="leaves a residual of 2.00e"):
        find(None, double(0.0))


def test_a_parameter_that_was_written_to_is_refused_in_the_backward_pass():
    a = double([2.0])
    x = cube_root()(wg.ones(1, dtype=wg.float64), a)
    with wg.no_grad():
        a += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        x.sum().backward()


def test_float32_stays_float32():
    a = wg.tensor([2.0], requires_grad=True)
    x = cube_root()(wg.ones(1), a)
    x.sum().backward()
    assert x.dtype == a.grad.dtype == wg.float32
    assert x.item() == pytest.approx(2 ** (1 / 3), rel=1e-6)
    assert a.grad.item() == pytest.approx(2 ** (-2 / 3) / 3, rel=1e-6)


def test_many_unknowns_are_solved_for_without_a_matrix():
    pytest.importorskip("scipy")
    n = 600
    asked = []

    def F(x, a):
        asked.append(1)
        return 3 * x - 0.5 * wg.roll(x, 1) - 0.5 * wg.roll(x, -1) - a

    matrix = 3 * np.eye(n) - 0.5 * np.roll(np.eye(n), 1, 0) - 0.5 * np.roll(np.eye(n), -1, 0)
    solve = wg.implicit.root(F)(lambda init, a: np.linalg.solve(matrix, a.numpy()))
    a = double(np.random.default_rng(2).normal(size=n))
    (gradient,) = grad(solve(None, a)[0], a)
    np.testing.assert_allclose(gradient.numpy(), np.linalg.inv(matrix)[0], atol=1e-9)
    assert len(asked) == 1


# -- what is refused -----------------------------------------------------------------------------


def test_a_point_that_is_no_solution_warns_with_its_residual():
    solve = wg.implicit.root(lambda x, a: x * x - a)(lambda init, a: np.sqrt(a.numpy()) + 0.1)
    with pytest.warns(UserWarning, match=r"leaves a residual of 4.1\de-01 there"):
        solve(None, double([4.0]))


def test_the_tolerance_can_be_given():
    def decorated(tol):
        return wg.implicit.root(lambda x, a: x - a, tol=tol)(lambda init, a: a.numpy() + 0.1)

    decorated(0.2)(None, double([0.0]))
    with pytest.warns(UserWarning, match="at most 1.0e-02 was expected"):
        decorated(0.01)(None, double([0.0]))


def test_a_solution_that_is_not_a_number_warns():
    solve = wg.implicit.root(lambda x, a: x - a)(lambda init, a: a.numpy() * np.nan)
    with pytest.warns(UserWarning, match="leaves a residual of inf"):
        solve(None, double([0.0]))


def test_what_scipy_says_of_a_failure_is_passed_on():
    so = pytest.importorskip("scipy.optimize")
    solve = wg.implicit.root(lambda x, a: x * x + a)(
        lambda init, a: so.root(lambda x: x * x + a.numpy(), np.ones(1))
    )
    with pytest.warns(UserWarning, match="SciPy says: The iteration is not making good progress"):
        solve(None, double([1.0]))


def test_a_singular_jacobian_is_refused():
    solve = wg.implicit.root(lambda x, a: (x - a) ** 2)(lambda init, a: a.numpy())
    x = solve(None, double([1.0]))
    with pytest.raises(LinAlgError, match="is singular at the point"):
        x.sum().backward()
    solve = wg.implicit.root(lambda x, a: wg.stack([x.sum() - a, 2 * x.sum() - 2 * a]))(
        lambda init, a: np.array([0.0, 1.0]) * a.numpy()
    )
    with pytest.raises(LinAlgError, match="is singular at the point"):
        solve(None, double(1.0)).sum().backward()


def test_an_iterative_solver_that_does_not_converge_is_named():
    pytest.importorskip("scipy")
    matrix = np.array([[0.0, 1.0], [-1.0, 0.0]])
    A = wg.tensor(matrix)
    solve = wg.implicit.root(lambda x, a: A @ x - a, solve="cg")(
        lambda init, a: np.linalg.solve(matrix, a.numpy())
    )
    with pytest.raises(LinAlgError, match="cg did not solve the linear system"):
        solve(None, double([1.0, 2.0]))[0].backward()


def test_a_linear_solver_of_ones_own_is_checked():
    solve = wg.implicit.root(lambda x, a: x - a, solve=lambda A, b: b[:1])(
        lambda init, a: a.numpy()
    )
    with pytest.raises(ValueError, match=r"must return a vector of the shape .*, \(2,\)"):
        solve(None, double([1.0, 2.0])).sum().backward()


def test_equations_must_be_as_many_as_unknowns():
    solve = wg.implicit.root(lambda x, a: x.sum() - a)(lambda init, a: np.ones(3))
    with pytest.raises(ValueError, match=r"has 3 \(shape \[3\]\), the result has 1 \(shape \[\]\)"):
        solve(None, double(3.0))


def test_a_fixed_point_must_keep_its_shape():
    solve = wg.implicit.fixed_point(lambda x, a: x.sum() * a)(lambda init, a: np.ones(3))
    with pytest.raises(
        ValueError, match=r"tensors of the structure and shapes of the unknowns, \[\[3\]\]"
    ):
        solve(None, double(3.0))


def test_an_objective_must_be_one_number():
    solve = wg.implicit.argmin(lambda x, a: (x - a) ** 2)(lambda init, a: a.numpy())
    with pytest.raises(ValueError, match=r"must return one real number .* a tensor of shape \[2\]"):
        solve(None, double([1.0, 2.0]))


def test_an_equation_that_leaves_the_graph_is_refused():
    solver = lambda init, a: a.numpy()  # noqa: E731
    with pytest.raises(TypeError, match="must return a tensor, or lists"):
        wg.implicit.root(lambda x, a: (x - a).detach().numpy())(solver)(None, double([1.0]))
    with pytest.raises(RuntimeError, match="does not depend on the unknowns"):
        wg.implicit.root(lambda x, a: x.detach() - a)(solver)(None, double([1.0]))


@pytest.mark.parametrize("found", [np.array([1, 2]), "text", np.array([True]), None])
def test_a_solution_must_be_of_floating_numbers(found):
    with pytest.raises(TypeError, match=r"must return floating-point numbers|returned nothing"):
        wg.implicit.root(lambda x, a: x - a)(lambda init, a: found)(None, double([1.0]))


def test_arguments_of_the_decorators_are_checked():
    with pytest.raises(ValueError, match="solve must be one of 'dense', 'cg'"):
        wg.implicit.root(lambda x: x, solve="lu")
    with pytest.raises(TypeError, match="expected a function of the unknowns, but got float"):
        wg.implicit.argmin(3.0)
    with pytest.raises(TypeError, match=r"must return \(solution, aux\)"):
        wg.implicit.root(lambda x, a: x - a, has_aux=True)(lambda init, a: a.numpy())(
            None, double([1.0])
        )


# -- containers ----------------------------------------------------------------------------------


def test_containers_are_taken_apart_and_put_together():
    value = {"w": [1, (2, None)], "b": 3}
    leaves, rebuild = flatten(value)
    assert leaves == [1, 2, 3]
    assert rebuild([4, 5, 6]) == {"w": [4, (5, None)], "b": 6}
    assert paths(value, "p") == ["p['w'][0]", "p['w'][1][0]", "p['b']"]
    with pytest.raises(ValueError, match="expected 3 leaves, but got 2"):
        rebuild([1, 2])
