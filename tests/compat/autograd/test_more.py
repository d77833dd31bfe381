"""Test features that autograd's users have requested."""

import threading

import numpy
import pytest
from scipy import optimize, special

import wengert.numpy as wnp

X = numpy.array([0.3, 1.7, 0.6, 2.2])
M = numpy.array([[2.0, 0.3], [0.4, 1.0]])
D = numpy.diag([1.0, 2.0, 3.0, 4.0])

FUNCTIONS = {
    "apply_along_axis": lambda np, x: np.apply_along_axis(np.sum, 0, np.outer(x, x)),
    "block": lambda np, x: np.block([x, x]),
    "cbrt": lambda np, x: np.cbrt(x),
    "choose": lambda np, x: np.choose([0, 1], [x[:2], x[2:]]),
    "compress": lambda np, x: np.compress([True, False, True, False], x),
    "cond": lambda np, x: np.linalg.cond(np.outer(x, x) + D),
    "convolve": lambda np, x: np.convolve(x, x[:2]),
    "corrcoef": lambda np, x: np.corrcoef(np.stack([x, x**2])),
    "correlate": lambda np, x: np.correlate(x, x[:2]),
    "cov": lambda np, x: np.cov(x),
    "cumprod": lambda np, x: np.cumprod(x),
    "delete": lambda np, x: np.delete(x, 1),
    "ediff1d": lambda np, x: np.ediff1d(x),
    "extract": lambda np, x: np.extract(x > 1, x),
    "flip": lambda np, x: np.flip(x),
    "hfft": lambda np, x: np.fft.hfft(x),
    "i0": lambda np, x: np.i0(x),
    "insert": lambda np, x: np.insert(x, 1, x[0]),
    "matrix_power": lambda np, x: np.linalg.matrix_power(np.outer(x, x), 2),
    "median": lambda np, x: np.median(x),
    "multi_dot": lambda np, x: np.linalg.multi_dot([M, M, np.stack([x, x])]),
    "nanmean": lambda np, x: np.nanmean(x),
    "nansum": lambda np, x: np.nansum(x),
    "percentile": lambda np, x: np.percentile(x, 30.0),
    "piecewise": lambda np, x: np.piecewise(x, [x > 1], [lambda v: v**2, lambda v: v]),
    "polyval": lambda np, x: np.polyval(x, 2.0),
    "ptp": lambda np, x: np.ptp(x),
    "qr": lambda np, x: np.linalg.qr(np.reshape(x, (2, 2)))[1],
    "quantile": lambda np, x: np.quantile(x, 0.3),
    "resize": lambda np, x: np.resize(x, 6),
    "svd": lambda np, x: np.linalg.svd(np.outer(x, x) + D)[1],
    "take": lambda np, x: np.take(x, [0, 0, 2]),
    "take_along_axis": lambda np, x: np.take_along_axis(x, numpy.array([1, 0]), 0),
    "tensorsolve": lambda np, x: np.linalg.tensorsolve(np.outer(x, x) + D, numpy.ones(4)),
    "trapezoid": lambda np, x: np.trapezoid(x),
    "vander": lambda np, x: np.vander(x),
    "vdot": lambda np, x: np.vdot(x, x),
}
REVERSE = {
    "average": lambda np, x: np.average(x, weights=x),
    "interp": lambda np, x: np.interp(x, numpy.arange(3.0), numpy.arange(3.0) ** 2),
    "unwrap": lambda np, x: np.unwrap(x),
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *REVERSE])
def test_functions_that_the_original_has_no_rules_for(ours, name):
    f = FUNCTIONS.get(name) or REVERSE[name]
    modes = ["fwd", "rev"] if name in FUNCTIONS else ["rev"]
    ours("test_util").check_grads(lambda x: f(ours.np, x), modes=modes)(X)
    assert isinstance(f(ours.np, X), numpy.ndarray | numpy.generic)


def test_errors_name_the_part_of_the_argument(ours):
    params = {"W": [1.0, {"n": 3}]}
    with pytest.raises(TypeError, match=r"It is argument\['W'\]\[1\]\['n'\]"):
        ours.grad(lambda p: p["W"][0])(params)


def test_norm_at_zero_and_branches_that_are_not_taken(ours):
    np = ours.np
    assert ours.grad(np.linalg.norm)(numpy.zeros(2)).tolist() == [0.0, 0.0]
    assert ours.grad(lambda x: np.where(x < 1, x, np.sqrt(x)))(0.0) == 1.0


def test_methods_of_plain_arrays_raise_instead_of_losing_the_derivative(ours):
    with pytest.raises(TypeError, match=r"Write A @ x or np\.dot\(A, x\) for A\.dot\(x\)"):
        ours.jacobian(lambda x: M.dot(x))(numpy.ones(2))
    with pytest.raises(TypeError, match="needs a gradient"):
        ours.jacobian(lambda x: numpy.array([x, x]))(1.0)


def test_arrays_of_wengert_numpy_take_ufuncs_of_three_arguments():
    x = wnp.array([0.3]).requires_grad_()
    special.betainc(2.0, 3.0, x).sum().backward()
    assert x.grad.item() == pytest.approx(12 * 0.3 * 0.7**2)


def test_long_chains(ours):
    def f(x):
        for _ in range(20_000):
            x = x * 1.0001
        return x

    assert ours.grad(f)(1.0) == pytest.approx(1.0001**20_000)


def test_many_elements_read_one_by_one(ours):
    def f(x):
        total = 0.0
        for i in range(len(x)):
            total = total + x[i] ** 2
        return total

    x = numpy.arange(500.0)
    numpy.testing.assert_allclose(ours.grad(f)(x), 2 * x)


def test_optimisers_of_scipy_get_numbers_and_fresh_arrays(ours):
    seen = []

    def f(x):
        return ours.np.sum((x - 1.0) ** 4)

    both = ours.value_and_grad(f)

    def noted(x):
        value, gradient = both(x)
        seen.append((type(value), gradient.flags.owndata, gradient.flags.writeable))
        return value, gradient

    found = optimize.minimize(noted, numpy.zeros(3), jac=True, method="L-BFGS-B")
    numpy.testing.assert_allclose(found.x, 1.0, atol=5e-2)
    assert set(seen) == {(numpy.float64, True, True)}


def test_dtypes_stay(ours):
    x = numpy.ones(3, numpy.float32)

    def f(x):
        return ours.np.mean(ours.np.tanh(2.0 * x) ** 2 / 3)

    assert ours.grad(f)(x).dtype == numpy.float32
    assert ours.jacobian(lambda x: x * 2)(x).dtype == numpy.float32
    assert ours.hessian(f)(x).dtype == numpy.float32
    assert ours.make_jvp(f)(x)(x)[1].dtype == numpy.float32


def test_threads_do_not_see_each_others_derivatives(ours):
    kinds, start = [], threading.Event()

    def outside():
        start.wait(5)
        kinds.append(type(ours.np.zeros(2)))

    def f(x):
        thread = threading.Thread(target=outside)
        thread.start()
        start.set()
        thread.join()
        return x

    ours.grad(f)(1.0)
    assert kinds == [numpy.ndarray]
