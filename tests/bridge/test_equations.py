"""Test `wengert.scipy`: `least_squares`, `curve_fit`, `root` and `root_scalar`."""

import numpy as np
import pytest

import wengert as wg

optimize = pytest.importorskip("scipy.optimize")
TIMES = np.linspace(0, 2, 40)
DATA = 2.5 * np.exp(-1.3 * TIMES) + 0.1


def decay(t, a, b, c):
    return a * np.exp(-b * t) + c


def residuals(p):
    return decay(TIMES, p[0], p[1], p[2]) - DATA


def jacobian(p):
    e = np.exp(-p[1] * TIMES)
    return np.stack([e, -p[0] * TIMES * e, np.ones_like(TIMES)], 1)


@pytest.mark.parametrize("jac", [None, "rows", "columns", "sparse"])
@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares_searches_as_with_an_analytic_jacobian(jac, method):
    if (jac, method) == ("sparse", "lm"):
        pytest.skip("lm takes dense Jacobians")
    start = [1.0, 0.5, 0.0]
    res = wg.scipy.least_squares(residuals, start, jac=jac, method=method)
    options = {"tr_solver": "lsmr"} if jac == "sparse" else {}
    ref = optimize.least_squares(residuals, start, jac=jacobian, method=method, **options)
    assert np.allclose(res.x, [2.5, 1.3, 0.1])
    if jac != "sparse":
        assert (res.nfev, res.njev) == (ref.nfev, ref.njev)


@pytest.mark.parametrize("shape", [(3, 8), (8, 3)])
def test_a_jacobian_by_rows_is_that_by_columns(shape):
    from wengert.scipy.nesting import Nesting
    from wengert.scipy.objective import Vector

    m, n = shape
    rng = np.random.default_rng(0)
    a = rng.standard_normal((m, n))
    x = rng.standard_normal(n)
    found = []
    for mode in ("rows", "columns", None):
        function = Vector(lambda x: [np.tanh(a @ x), x[0] * x[1], 3.0], Nesting(x))
        function.mode = mode
        function.value(x)
        found.append(function.jacobian(x))
    t = np.tanh(a @ x)
    last = np.zeros((2, n))
    last[0, :2] = x[1], x[0]
    for jac in found:
        assert np.allclose(jac, np.concatenate([(1 - t**2)[:, None] * a, last]))


def test_residuals_are_evaluated_once_for_each_point():
    points = []

    def fun(p):
        points.append(p.detach().numpy().tobytes())
        return residuals(p)

    res = wg.scipy.least_squares(fun, [1.0, 0.5, 0.0])
    assert len(points) == len(set(points)) == res.nfev


def test_least_squares_with_nested_parameters_bounds_and_scales():
    res = wg.scipy.least_squares(
        lambda p, t, y: decay(t, p["a"], p["bc"][0], p["bc"][1]) - y,
        {"a": 1.0, "bc": np.array([1.5, 0.0])},
        bounds=({"bc": np.array([1.4, -np.inf])}, {"a": 9.0}),
        x_scale={"a": 2.0},
        loss="soft_l1",
        args=(TIMES,),
        kwargs={"y": DATA},
    )
    assert res.x["bc"][0] == pytest.approx(1.4, abs=1e-4)
    assert type(res.x["a"]) is float
    assert res.x_flat.shape == (3,)
    with pytest.raises(ValueError, match="bounds must be a pair"):
        wg.scipy.least_squares(residuals, [1.0, 0.5, 0.0], bounds=3)


def test_a_sparse_jacobian_goes_to_scipy_as_one():
    n = 500
    res = wg.scipy.least_squares(
        lambda x: (x[1:] - x[:-1] ** 2, x[:1] - 0.5), np.full(n, 0.4), jac="sparse"
    )
    assert res.cost < 1e-12
    assert res.jac.nnz == 2 * (n - 1) + 1


def test_curve_fit_gives_what_scipy_gives():
    rng = np.random.default_rng(0)
    noisy = DATA + 0.01 * rng.standard_normal(TIMES.size)
    for more in ({}, {"bounds": (0, [3, 2, 1])}, {"sigma": np.full(40, 0.01)}, {"p0": [2, 1, 0]}):
        popt, pcov = wg.scipy.curve_fit(decay, TIMES, noisy, **more)
        ref, ref_cov = optimize.curve_fit(decay, TIMES, noisy, **more)
        assert np.allclose(popt, ref, rtol=1e-5)
        assert np.allclose(pcov, ref_cov, rtol=1e-3)
    full = wg.scipy.curve_fit(decay, TIMES, noisy, full_output=True)
    # a search by differences would take three more calls for each Jacobian
    assert full[2]["nfev"] < optimize.curve_fit(decay, TIMES, noisy, full_output=True)[2]["nfev"]


def test_curve_fit_with_nested_parameters():
    popt, pcov = wg.scipy.curve_fit(
        lambda t, p: p["a"] * np.exp(-p["rest"][0] * t) + p["rest"][1],
        TIMES,
        DATA,
        p0={"a": 1.0, "rest": np.array([1.0, 0.0])},
        bounds=({"a": 0.0}, 10.0),
    )
    assert popt["a"] == pytest.approx(2.5)
    assert np.allclose(popt["rest"], [1.3, 0.1])
    assert pcov.shape == (3, 3)


def test_curve_fit_counts_the_parameters_of_methods():
    class Model:
        def value(self, t, a, b):
            return a * np.exp(-b * t)

    popt, _ = wg.scipy.curve_fit(Model().value, TIMES, DATA - 0.1)
    assert np.allclose(popt, [2.5, 1.3])


@pytest.mark.parametrize("method", ["hybr", "lm"])
def test_root_searches_as_with_an_analytic_jacobian(method):
    def fun(x):
        return [x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]]

    def jac(x):
        d = 1.5 * (x[0] - x[1]) ** 2
        return np.array([[1 + d, -d], [-d, 1 + d]])

    res = wg.scipy.root(fun, [0.0, 0.0], method=method)
    ref = optimize.root(fun, [0.0, 0.0], method=method, jac=jac)
    assert res.success
    assert (res.nfev, res.njev) == (ref.nfev, ref.njev)
    assert np.allclose(res.x, ref.x)
    assert np.allclose(wg.scipy.root(fun, [0.0, 0.0], jac="columns").x, ref.x)
    assert np.allclose(wg.scipy.root(fun, [0.0, 0.0], jac=jac).x, ref.x)


def test_root_of_nested_equations():
    res = wg.scipy.root(
        lambda p: {"sum": p["a"] + p["b"] - 3, "product": p["a"] * p["b"] - 2},
        {"a": np.float64(0.5), "b": wg.tensor(5.0)},
    )
    assert res.x["a"] == pytest.approx(1)
    assert res.x["b"].item() == pytest.approx(2)


@pytest.mark.parametrize("method", ["broyden1", "krylov", "df-sane"])
def test_root_by_methods_without_a_jacobian(method):
    seen = []
    res = wg.scipy.root(
        lambda x: np.cos(x) - x,
        np.ones((2, 2)),
        method=method,
        callback=lambda x, f: seen.append(x),
    )
    assert res.x.shape == (2, 2)
    assert np.allclose(np.cos(res.x), res.x, atol=1e-4)
    assert seen[0].shape == (2, 2)


def test_equations_without_a_graph_or_not_finite_are_refused():
    with pytest.raises(RuntimeError, match="no graph that leads to x0"):
        wg.scipy.root(lambda x: x.detach(), np.ones(2))
    nan = pytest.raises(FloatingPointError, match="fun is nan at x0, in element 1")
    with nan, np.errstate(invalid="ignore"):
        wg.scipy.root(lambda x: x.sqrt(), np.array([1.0, -1.0]))
    with pytest.raises(FloatingPointError, match=r"element \d of fun by x0\[1\] is (inf|nan)"):
        wg.scipy.root(lambda x: x.sqrt(), np.array([1.0, 0.0]))


def test_root_scalar_gives_newton_and_halley_their_derivatives():
    calls = []

    def f(x, a):
        calls.append(x)
        return x.exp() - a

    res = wg.scipy.root_scalar(f, args=(2,), x0=0.5)
    ref = optimize.root_scalar(lambda x: np.exp(x) - 2, x0=0.5, fprime=np.exp, method="newton")
    assert res.root == pytest.approx(np.log(2))
    assert res.iterations == ref.iterations
    assert len(calls) == res.function_calls
    res = wg.scipy.root_scalar(f, args=(2,), x0=0.5, method="halley")
    ref = optimize.root_scalar(
        lambda x: np.exp(x) - 2, x0=0.5, fprime=np.exp, fprime2=np.exp, method="halley"
    )
    assert res.iterations == ref.iterations


@pytest.mark.parametrize("given", [{"bracket": (0, 1)}, {"x0": 0.5, "x1": 0.6}])
def test_root_scalar_by_values_alone(given):
    res = wg.scipy.root_scalar(lambda x: x.exp() - 2, **given)
    assert res.root == pytest.approx(np.log(2))
