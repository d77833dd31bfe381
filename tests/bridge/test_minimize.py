"""Test `wengert.scipy.minimize`: the derivatives for each method, nesting, errors."""

import collections

import numpy as np
import pytest

import wengert as wg
from support.alone import said

optimize = pytest.importorskip("scipy.optimize")
SCIPY = tuple(map(int, pytest.importorskip("scipy").__version__.split(".")[:2]))
COBYQA = pytest.param("COBYQA", marks=pytest.mark.skipif(SCIPY < (1, 14), reason="too old"))
START = np.array([1.3, 0.7, 0.8, 1.9, 1.2])


class Counted:
    """Rosenbrock's function, which counts its calls by point."""

    def __init__(self):
        self.points = []

    def __call__(self, x):
        self.points.append(x.detach().numpy().tobytes())
        return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


GRADIENT = ["BFGS", "CG", "L-BFGS-B", "TNC", "SLSQP"]
SECOND = ["Newton-CG", "trust-ncg", "trust-krylov", "trust-constr", "trust-exact"]


@pytest.mark.parametrize("method", [None, *GRADIENT, *SECOND])
def test_no_method_takes_finite_differences(method):
    fun = Counted()
    res = wg.scipy.minimize(fun, START, method=method, tol=1e-10)
    assert np.allclose(res.x, 1, atol=1e-5)
    # a finite difference would call at a point of its own, which SciPy counts
    assert len(fun.points) == res.nfev
    assert len(set(fun.points)) >= res.nfev - 1


@pytest.mark.parametrize("method", GRADIENT)
def test_the_search_is_that_with_an_analytic_gradient(method):
    # rounding errors, which differ between processors, grow on the way: its beginning
    options = {"maxfun" if method == "TNC" else "maxiter": 12}
    res = wg.scipy.minimize(Counted(), START, method=method, options=options)
    ref = optimize.minimize(
        optimize.rosen, START, method=method, jac=optimize.rosen_der, options=options
    )
    assert (res.nfev, res.nit) == (ref.nfev, ref.nit)
    assert np.allclose(res.x, ref.x, rtol=1e-6 if method == "TNC" else 1e-8)


@pytest.mark.parametrize(
    ("method", "given"),
    [("Newton-CG", "hessp"), ("trust-ncg", "hessp"), ("trust-exact", "hess"), ("dogleg", "hess")],
)
def test_the_search_is_that_with_analytic_second_derivatives(method, given):
    second = {"hess": optimize.rosen_hess, "hessp": optimize.rosen_hess_prod}[given]
    start = np.full(5, 0.99)
    res = wg.scipy.minimize(Counted(), start, method=method)
    ref = optimize.minimize(
        optimize.rosen, start, method=method, jac=optimize.rosen_der, **{given: second}
    )
    assert (res.nfev, res.nit, res.nhev) == (ref.nfev, ref.nit, ref.nhev)
    assert np.allclose(res.x, ref.x, rtol=1e-7)


@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell", COBYQA])
def test_methods_without_derivatives_need_no_graph(method):
    res = wg.scipy.minimize(lambda x: float(((x - 2) ** 2).sum()), [0.0, 0.0], method=method)
    assert np.allclose(res.x, 2, atol=1e-3)


def test_numpy_functions_are_differentiated():
    res = wg.scipy.minimize(lambda x: np.sum(np.cosh(x - np.array([1.0, 2.0]))), np.zeros(2))
    assert np.allclose(res.x, [1, 2], atol=1e-5)
    assert res.nfev == res.njev


Pair = collections.namedtuple("Pair", "left right")


@pytest.mark.parametrize(
    "x0",
    [
        {"a": np.zeros((2, 3)), "b": 1.0},
        [np.zeros(2), wg.zeros(2, 2)],
        (np.ones(1), {"c": [1.0, 2.0]}),
        Pair(np.zeros(3), wg.tensor(0.5)),
        collections.OrderedDict(z=np.zeros(2), a=None),
        np.zeros((2, 2)),
        wg.zeros(3),
        2.0,
        [1.0, 2.0],
    ],
    ids=repr,
)
@pytest.mark.parametrize("method", ["BFGS", "trust-ncg"])
def test_results_are_nested_as_the_start_is(x0, method):
    def fun(p):
        found = []

        def visit(part):
            if isinstance(part, dict):
                part = list(part.values())
            if isinstance(part, list | tuple):
                for item in part:
                    visit(item)
            elif part is not None:
                found.append(((part - 3) ** 2).sum())

        visit(p)
        return sum(found)

    res = wg.scipy.minimize(fun, x0, method=method)

    def compare(value, like):
        if like is None:
            assert value is None
        elif isinstance(like, dict):
            assert type(value) is type(like)
            assert list(value) == list(like)
            for key in like:
                compare(value[key], like[key])
        elif isinstance(like, list | tuple) and not isinstance(like[0], float):
            assert type(value) is type(like)
            for one, other in zip(value, like, strict=True):
                compare(one, other)
        elif isinstance(like, wg.Tensor):
            assert value.dtype is wg.float64
            assert value.shape == like.shape
            assert not value.requires_grad
            assert np.allclose(value.numpy(), 3)
        elif isinstance(like, float) and like is not x0:
            assert type(value) is float
            assert value == pytest.approx(3)
        else:
            assert value.dtype == np.float64
            assert value.shape == np.atleast_1d(like).shape
            assert np.allclose(value, 3)

    compare(res.x, x0)
    assert res.x_flat.ndim == 1


def test_the_function_gets_float64_whatever_the_default():
    seen = []

    def fun(p):
        seen.append((p["a"].dtype, p["a"].shape))
        return (p["a"] ** 2).sum()

    wg.scipy.minimize(fun, {"a": wg.ones(2, 2)})
    wg.scipy.minimize(fun, {"a": np.ones((2, 2), np.int32)})
    assert set(seen) == {(wg.float64, (2, 2))}


def test_what_the_function_closes_over_keeps_its_gradient():
    w = wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)
    wg.scipy.minimize(lambda x: ((x - w) ** 2).sum(), np.zeros(2))
    assert w.grad is None


def test_it_works_where_nothing_is_recorded():
    with wg.no_grad():
        res = wg.scipy.minimize(lambda x: ((x - 1) ** 2).sum(), np.zeros(2))
    assert np.allclose(res.x, 1)


def test_hooks_and_custom_functions_work():
    class Double(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def fun(x):
        y = Double.apply(x)
        y.register_hook(lambda g: g)
        return ((y - 4) ** 2).sum()

    for method in ("BFGS", "trust-ncg"):
        assert np.allclose(wg.scipy.minimize(fun, np.zeros(2), method=method).x, 2)


# -- bounds, constraints, callbacks -------------------------------------------------------------


def squares(p):
    return (p["a"] - 2) ** 2 + ((p["b"] - 2) ** 2).sum()


@pytest.mark.parametrize(
    "bounds",
    [
        {"a": (None, 1)},
        {"a": (0, 1), "b": (-5, None)},
        optimize.Bounds([-np.inf] * 3, [1, np.inf, np.inf]),
        [(0, 1), (None, None), (None, 9)],
    ],
    ids=repr,
)
@pytest.mark.parametrize("method", [None, "trust-constr"])
def test_bounds_are_nested_or_flat(bounds, method):
    res = wg.scipy.minimize(squares, {"a": 0.0, "b": np.zeros(2)}, bounds=bounds, method=method)
    assert res.x["a"] == pytest.approx(1, abs=1e-3)
    assert np.allclose(res.x["b"], 2, atol=1e-3)


def test_bounds_broadcast_to_their_array():
    start = {"a": 0.0, "b": np.zeros((2, 2))}
    res = wg.scipy.minimize(squares, start, bounds={"b": (None, np.array([0.5, 1.0]))})
    assert np.allclose(res.x["b"], [[0.5, 1], [0.5, 1]])


def test_bounds_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"bounds has the key 'c'"):
        wg.scipy.minimize(squares, {"a": 0.0, "b": np.zeros(2)}, bounds={"c": (0, 1)})
    with pytest.raises(ValueError, match=r"bounds\['a'\] must be a pair"):
        wg.scipy.minimize(squares, {"a": 0.0, "b": np.zeros(2)}, bounds={"a": 1})


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr", "COBYLA", COBYQA])
def test_constraints_in_dicts(method):
    # the example of SciPy's documentation
    constraints = [
        {"type": "ineq", "fun": lambda x: x[0] - 2 * x[1] + 2},
        {"type": "ineq", "fun": lambda x, a: -x[0] - 2 * x[1] + a, "args": (6,)},
        {"type": "ineq", "fun": lambda x: -x[0] + 2 * x[1] + 2},
    ]
    res = wg.scipy.minimize(
        lambda x: (x[0] - 1) ** 2 + (x[1] - 2.5) ** 2,
        [2.0, 0.0],
        method=method,
        bounds=((0, None), (0, None)),
        constraints=constraints,
    )
    assert np.allclose(res.x, [1.4, 1.7], atol=1e-3)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_constraints_on_nested_parameters(method):
    calls = []

    def inside(p):
        calls.append(1)
        return [p["a"] ** 2 + (p["b"] ** 2).sum(), p["a"]]

    res = wg.scipy.minimize(
        squares,
        {"a": 0.1, "b": np.array([0.1, 0.2])},
        method=method,
        constraints=[
            optimize.NonlinearConstraint(inside, [-np.inf, 0], [1, np.inf]),
            {"type": "eq", "fun": lambda p: p["b"][:1] - p["b"][1:]},
        ],
    )
    assert res.x["a"] == pytest.approx(3**-0.5, abs=1e-3)
    assert np.allclose(res.x["b"], 3**-0.5, atol=1e-3)
    assert len(calls) < 40


def test_second_derivatives_of_constraints_are_those_of_the_multipliers():
    seen = []

    def exact(x, v):
        seen.append(1)
        return 2 * v[0] * np.eye(2)

    def run(hess):
        constraint = optimize.NonlinearConstraint(
            lambda x: (x**2).sum(), 1, 1, **({} if hess is None else {"hess": hess})
        )
        return wg.scipy.minimize(
            lambda x: (x[0] - 3) ** 2 + x[1], [0.5, 0.1], method="trust-constr",
            constraints=constraint,
        )  # fmt: skip

    ours, theirs = run(None), run(exact)
    assert seen
    assert ours.nit == theirs.nit
    assert np.allclose(ours.x, theirs.x, atol=1e-8)


def test_a_callback_gets_nested_parameters():
    seen = []

    def callback(intermediate_result):
        seen.append((intermediate_result.x["a"], intermediate_result.fun))
        if len(seen) == 2:
            raise StopIteration

    res = wg.scipy.minimize(
        lambda p: (p["a"] ** 2 - 3) ** 2 + p["a"] ** 4, {"a": 5.0}, callback=callback
    )
    assert len(seen) == res.nit == 2
    assert all(type(a) is float and f > 0 for a, f in seen)
    old = []
    wg.scipy.minimize(squares, {"a": 0.0, "b": np.zeros(2)}, callback=lambda xk: old.append(xk))
    assert old[-1]["b"].shape == (2,)


def test_derivatives_of_the_users_take_the_place_of_ours():
    calls = []

    def jac(p):
        calls.append(type(p["b"]))
        return {"a": 2 * (p["a"] - 2), "b": 2 * (p["b"] - 2)}

    def plain(p):
        return float(squares(p))

    res = wg.scipy.minimize(plain, {"a": 0.0, "b": np.zeros(2)}, jac=jac)
    assert set(calls) == {np.ndarray}
    assert np.allclose(res.x_flat, 2)
    with pytest.raises(ValueError, match=r"jac.*finite differences are SciPy's own"):
        wg.scipy.minimize(squares, {"a": 0.0, "b": np.zeros(2)}, jac="2-point")
    with pytest.raises(ValueError, match=r"jac\(x\)\['b'\] has the shape \(3,\)"):
        wg.scipy.minimize(
            plain, {"a": 0.0, "b": np.zeros(2)}, jac=lambda p: {"a": 0.0, "b": np.zeros(3)}
        )


def test_methods_that_give_callbacks_the_vector_only():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result)

    start = {"a": 0.0, "b": np.zeros(2)}
    found = wg.scipy.minimize(squares, start, method="TNC", callback=callback)
    assert seen[-1]["a"] == found.x["a"] and np.array_equal(seen[-1]["b"], found.x["b"])


def test_equal_bounds_hold_a_parameter():
    bounds = {"a": (0.5, 0.5)}
    for method in ("L-BFGS-B", "SLSQP", "TNC", "trust-constr"):
        start = {"a": 0.5, "b": np.zeros(2)}
        res = wg.scipy.minimize(squares, start, method=method, bounds=bounds)
        assert res.x["a"] == pytest.approx(0.5)
        assert np.allclose(res.x["b"], 2, atol=1e-3)


def test_a_sparse_hessian_serves_many_variables():
    fun = Counted()
    res = wg.scipy.minimize(fun, np.full(500, 0.5), method="trust-constr", hess="sparse")
    assert np.allclose(res.x, 1, atol=1e-4)
    assert len(set(fun.points)) == len(fun.points) == res.nfev
    res = wg.scipy.minimize(
        lambda p: squares(p) + 0 * p["c"].sum(),
        {"a": 0.0, "b": np.zeros(2), "c": np.zeros(2)},
        method="trust-constr",
        hess="sparse",
    )
    assert np.allclose(res.x_flat[:3], 2, atol=1e-3)


def test_a_method_of_the_users_gets_all_derivatives():
    def newton(fun, x0, args, jac, hess, hessp, **options):
        x = x0
        for _ in range(3):
            assert np.allclose(hessp(x, np.eye(3)[0]), hess(x)[0])
            x = x - np.linalg.solve(hess(x), jac(x))
        return optimize.OptimizeResult(x=x, fun=fun(x), success=True)

    res = wg.scipy.minimize(squares, {"a": 0.0, "b": np.zeros(2)}, method=newton)
    assert np.allclose(res.x_flat, 2)


# -- errors ---------------------------------------------------------------------------------------


def test_a_result_with_several_elements_is_refused():
    with pytest.raises(ValueError, match=r"must return a scalar value.*shape \(2,\)"):
        wg.scipy.minimize(lambda x: x * x, np.zeros(2))


@pytest.mark.parametrize(
    "fun",
    [lambda p: float(p["a"] ** 2), lambda p: (p["a"] ** 2).detach(), lambda p: 3.0],
    ids=["float", "detached", "constant"],
)
def test_a_result_without_a_graph_is_refused(fun):
    with pytest.raises(RuntimeError, match=r"no graph that leads to x0\['a'\], x0\['b'\]"):
        wg.scipy.minimize(fun, {"a": 1.0, "b": 1.0})


def test_a_parameter_without_a_path_is_named():
    with pytest.warns(UserWarning, match=r"does not depend on x0\['b'\]\[1\]"):
        res = wg.scipy.minimize(
            lambda p: p["a"] ** 2 + p["b"][0].sum(), {"a": 1.0, "b": [np.zeros(0), np.zeros(2)]}
        )
    assert np.array_equal(res.x["b"][1], np.zeros(2))


def test_a_value_that_is_not_finite_at_the_start_is_refused():
    nan = pytest.raises(FloatingPointError, match=r"fun is nan at x0: start where it is finite")
    with nan, np.errstate(invalid="ignore"):
        wg.scipy.minimize(lambda x: x.log().sum(), np.array([1.0, -1.0]))
    with pytest.raises(FloatingPointError, match=r"where x0\[1\] is not finite"):
        wg.scipy.minimize(lambda x: x.sum(), np.array([1.0, np.nan]))


def test_a_gradient_that_is_not_finite_is_refused():
    with pytest.raises(FloatingPointError, match=r"gradient of fun by x0\['b'\]\[1, 0\] is inf"):
        wg.scipy.minimize(lambda p: p["b"].sqrt().sum(), {"b": np.array([[1.0], [0.0]])})


def test_an_infinite_value_on_the_way_is_the_solvers_affair():
    def fun(x):
        return wg.where(x > 0, x - x.log(), np.inf).sum()

    assert np.allclose(wg.scipy.minimize(fun, np.array([0.1])).x, 1, atol=1e-4)


def test_results_in_short_floats_are_warned_of_once():
    with pytest.warns(UserWarning, match="returned float32 values") as caught:
        wg.scipy.minimize(lambda x: (x.float() ** 2).sum(), np.ones(2))
    assert len(caught) == 1


def test_complex_parameters_and_results_are_refused():
    with pytest.raises(TypeError, match=r"x0\['a'\] is complex"):
        wg.scipy.minimize(lambda p: p["a"].abs(), {"a": 1j})
    with pytest.raises(TypeError, match="fun returned complex values"):
        wg.scipy.minimize(lambda x: (x * 1j).sum(), np.ones(2))
    with pytest.raises(TypeError, match=r"x0\['a'\] must be an array"):
        wg.scipy.minimize(lambda p: p["a"], {"a": "text"})


def test_callables_share_one_evaluation():
    fun = Counted()
    made = wg.scipy.callables(fun, START)
    value, slope, second = made.fun(START), made.jac(START), made.hess(START)
    product = made.hessp(START, np.arange(5.0))
    assert len(fun.points) == 1
    assert type(value) is float
    assert value == pytest.approx(optimize.rosen(START))
    assert np.allclose(slope, optimize.rosen_der(START))
    assert np.allclose(second, optimize.rosen_hess(START))
    assert np.allclose(product, second @ np.arange(5.0))
    slope[:] = 0
    assert np.allclose(made.jac(START), optimize.rosen_der(START))


def test_minimize_scalar():
    res = wg.scipy.minimize_scalar(lambda x, a: (x - a) ** 2, bracket=(0, 1), args=(2.5,))
    assert res.x == pytest.approx(2.5)


def test_scipy_is_imported_only_when_a_solver_is_called():
    code = (
        "import sys, wengert as wg; wg.scipy.minimize; wg.sparse.color; "
        "assert not any(m.split('.')[0] == 'scipy' for m in sys.modules)"
    )
    said(code)
