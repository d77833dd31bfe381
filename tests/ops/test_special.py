"""Test special functions: edges, derivatives there, accuracy, errors, and examples."""

import doctest
import math
import sys

import numpy as np
import pytest

import wengert as wg
from support.checks import check_record
from wengert.ops import elementary, special, transcendental
from wengert.prims.record import TABLE

INF, NAN = math.inf, math.nan
scipy_special = pytest.importorskip("scipy.special")


def leaf(*values):
    return wg.tensor(list(values), dtype=wg.float64, requires_grad=True)


def slopes(function, *inputs):
    """The values of a function and its derivatives of first and second order by each input."""
    value = function(*inputs)
    first = wg.autograd.grad(value.sum(), inputs, create_graph=True)
    total = sum(g.sum() for g in first if g.requires_grad)
    second = wg.autograd.grad(total, inputs, allow_unused=True)
    return value.tolist(), [g.tolist() for g in first], [g.tolist() for g in second]


EXAMPLES = {
    f"{module.__name__.rsplit('.', 1)[-1]}.{name}": getattr(module, name)
    for module in (elementary, transcendental, special)
    for name, function in vars(module).items()
    if hasattr(function, "__exports__") and function.__module__ == module.__name__
    if name != "round"
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_run(name):
    function = EXAMPLES[name]
    text = doctest.DocTestParser().get_doctest(function.__doc__, {}, name, None, 0)
    failures, tried = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
        text, out=lambda line: None
    )
    assert tried or name == "elementary.float_power_", f"{name} has no example"
    assert not failures


# -- products with logarithms ---------------------------------------------------------------------


def test_xlogy_is_zero_at_zero_with_finite_derivatives():
    x, y = leaf(0.0, 0.0, 0.0, 2.0, 0.0), leaf(0.0, -1.0, INF, 3.0, 2.0)
    value, (by_x, by_y), _ = slopes(wg.xlogy, x, y)
    assert value == pytest.approx([0.0, 0.0, 0.0, 2 * math.log(3), 0.0])
    assert by_x == pytest.approx([0.0, 0.0, INF, math.log(3), math.log(2)])
    assert by_y == pytest.approx([0.0, 0.0, 0.0, 2 / 3, 0.0])
    assert math.isnan(wg.xlogy(leaf(0.0), leaf(NAN)).item())


def test_the_mixed_derivative_of_xlogy_at_zero():
    _, _, (by_x, by_y) = slopes(wg.xlogy, leaf(0.0), leaf(4.0))
    assert (by_x, by_y) == ([0.25], [0.25])


def test_the_relative_entropy_of_equal_sparse_distributions_has_a_gradient():
    p = leaf(0.0, 0.25, 0.75)
    (wg.xlogy(p, p) - wg.xlogy(p, p.detach())).sum().backward()
    assert p.grad.tolist() == pytest.approx([0.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("z", "expected"),
    [
        (1e-19 + 1e-18j, 1e-19 + 1e-18j),
        (1e-18 + 1e-5j, 5.00000009975e-11 + 9.999999999666666e-06j),
        (-0.25 + 0.25j, complex(math.log(0.625) / 2, math.atan2(0.25, 0.75))),
        (-1 + 1e250j, complex(math.log(1e250), math.pi / 2)),
    ],
)
def test_log1p_of_small_complex_numbers_is_exact(z, expected):
    single, several = wg.tensor(z, dtype=wg.complex128), wg.tensor([z, 0], dtype=wg.complex128)
    for found in (single.log1p().item(), several.log1p()[0].item()):
        assert found.real == pytest.approx(expected.real, rel=1e-14, abs=0)
        assert found.imag == pytest.approx(expected.imag, rel=1e-14, abs=0)


def test_xlog1py_is_zero_at_zero_with_finite_derivatives():
    x, y = leaf(0.0, 0.0, 2.0), leaf(-1.0, -2.0, 3.0)
    value, (by_x, by_y), _ = slopes(special.xlog1py, x, y)
    assert value == pytest.approx([0.0, 0.0, 2 * math.log(4)])
    assert by_x == pytest.approx([0.0, 0.0, math.log(4)])
    assert by_y == pytest.approx([0.0, 0.0, 0.5])


def test_entr_at_and_below_zero():
    value = special.entr(leaf(0.0, -0.0, 1.0, 0.5, -1.0, INF, NAN)).tolist()
    assert value[:6] == pytest.approx([0.0, 0.0, 0.0, 0.5 * math.log(2), -INF, -INF])
    assert math.isnan(value[6])
    _, (first,), (second,) = slopes(special.entr, leaf(0.5))
    assert (first, second) == (pytest.approx([math.log(2) - 1]), [-2.0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_logit_at_and_beyond_its_ends():
    x = leaf(0.0, 1.0, 0.5, -1.0, 2.0)
    value = wg.logit(x)
    assert value.tolist()[:3] == [-INF, INF, 0.0] and value[3:].isnan().all()
    (g,) = wg.autograd.grad(value[:3].sum(), x)
    assert g.tolist()[:3] == [INF, INF, 4.0]
    kept, (first,), (second,) = slopes(lambda t: wg.logit(t, eps=0.1), x)
    edge = math.log(9)
    assert kept == pytest.approx([-edge, edge, 0.0, -edge, edge])
    assert first == [0.0, 0.0, 4.0, 0.0, 0.0] and second == [0.0] * 5
    assert wg.logit(x, 0).tolist() == [-INF, INF, 0.0, -INF, INF]
    with pytest.raises(
        TypeError, match="logit\\(\\): argument 'eps' \\(position 2\\) must be float"
    ):
        wg.logit(x, "a")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [wg.logaddexp, wg.logaddexp2])
def test_equal_infinite_arguments_of_logaddexp_share_the_gradient(function):
    x, y = leaf(INF, -INF, INF, -INF, 1000.0), leaf(INF, -INF, -INF, 5.0, -1000.0)
    value, (by_x, by_y), (second, _) = slopes(function, x, y)
    assert value == [INF, -INF, INF, 5.0, 1000.0]
    assert by_x == [0.5, 0.5, 1.0, 0.0, 1.0]
    assert by_y == [0.5, 0.5, 0.0, 1.0, 0.0]
    assert second == [0.0] * 5


@pytest.mark.parametrize("scale, name", [(1.0, "logaddexp"), (math.log(2), "logaddexp2")])
def test_the_curvature_of_logaddexp_at_equal_arguments(scale, name):
    # that of a sigmoid at 0
    hessian = wg.func.hessian(lambda t: getattr(wg, name)(t[0], t[1]))
    for value in (1.5, 0.0, -1e5):
        found = hessian(wg.tensor([value, value], dtype=wg.float64))
        bend = scale / 4
        assert found.tolist() == [pytest.approx([bend, -bend]), pytest.approx([-bend, bend])]


def test_the_hessian_of_a_power_is_symmetric_where_the_exponent_is_zero():
    hessian = wg.func.hessian(lambda t: t[0] ** t[1])
    for base in (2.0, 0.25):
        found = hessian(wg.tensor([base, 0.0], dtype=wg.float64))
        log = math.log(base)
        assert found.tolist() == [[0, pytest.approx(1 / base)], pytest.approx([1 / base, log**2])]
    zero, nothing = leaf(0.0, NAN), leaf(0.0, 0.0)
    value, (slope, _), _second = slopes(wg.pow, zero, nothing)
    assert value == [1.0, 1.0] and slope == [0.0, 0.0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_large_arrays_are_as_exact_as_small_ones(name):
    rng = np.random.default_rng(0)
    a = (rng.standard_normal(5000) * 10).astype(np.float32)
    b = (a + rng.standard_normal(5000) * 10).astype(np.float32)
    a[:3], b[:3] = [INF, -INF, NAN], [INF, -INF, 1]
    found = getattr(wg, name)(wg.tensor(a), wg.tensor(b)).numpy()
    exact = getattr(np, name)(a.astype(np.float64), b.astype(np.float64))
    np.testing.assert_allclose(found, exact, 3e-7, 1e-6)


def test_complex_logaddexp():
    a, b = wg.tensor([1 + 2j, 900 + 1j]), wg.tensor([0.5 - 1j, 0j])
    found = wg.logaddexp(a, b).numpy()
    exact = np.log(np.exp(1 + 2j) + np.exp(0.5 - 1j))
    assert np.allclose(found, [exact, 900 + 1j])


def test_logaddexp_refuses_integers_and_numbers():
    x = wg.tensor([1, 2])
    with pytest.raises(NotImplementedError, match="\"logaddexp_cpu\" not implemented for 'Long'"):
        wg.logaddexp(x, x)
    with pytest.raises(
        TypeError, match="argument 'other' \\(position 2\\) must be Tensor, not int"
    ):
        wg.logaddexp(wg.tensor([1.0]), 2)


# -- sinc and Bessel functions --------------------------------------------------------------------


def test_sinc_and_its_derivatives_at_and_near_zero():
    x = leaf(0.0, 1e-9, 1e-3, 0.5)
    value, (first,), (second,) = slopes(wg.sinc, x)
    square = math.pi**2
    assert value == pytest.approx([1.0, 1.0, 1 - square * 1e-6 / 6, 2 / math.pi], abs=1e-11)
    assert first == pytest.approx(
        [0.0, -square / 3 * 1e-9, -square / 3 * 1e-3 + square**2 / 30 * 1e-9, -4 / math.pi]
    )
    near = -square / 3 + square**2 / 10 * 1e-6
    assert second == pytest.approx([-square / 3, -square / 3, near, 16 / math.pi - 2 * math.pi])


def test_sinc_in_single_precision_near_zero():
    x = wg.tensor([1e-3, 0.01, 0.1], requires_grad=True)
    wg.sinc(x).sum().backward()
    t = x.detach().numpy().astype(np.float64) * math.pi
    exact = math.pi * (np.cos(t) - np.sin(t) / t) / t
    np.testing.assert_allclose(x.grad.numpy(), exact, 1e-5)


def test_complex_sinc():
    z = np.array([0j, 0.25j, 1 + 1j])
    found = wg.sinc(wg.tensor(z)).numpy()
    np.testing.assert_allclose(found[1:], np.sin(math.pi * z[1:]) / (math.pi * z[1:]))
    assert found[0] == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "scipy_name"), [("i0", "i0"), ("i0e", "i0e"), ("i1", "i1"), ("i1e", "i1e")]
)
def test_many_values_of_modified_bessel_functions(name, scipy_name, dtype):
    exact = getattr(sys.modules["scipy.special"], scipy_name)
    x = np.concatenate([np.linspace(-60, 60, 2001), [0.0, 1e-30, NAN, -600.0]]).astype(dtype)
    if dtype == np.float32 and not name.endswith("e"):
        x = x[np.abs(x) < 80]
    found = getattr(special, name)(wg.tensor(x)).numpy()
    assert found.dtype == dtype
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found, exact(x.astype(np.float64)), 16 * eps)


def test_scaled_bessel_functions_vanish_at_infinity_with_their_derivatives():
    for size in (1, 1000):
        x = wg.full((size,), INF, dtype=wg.float64, requires_grad=True)
        for function in (special.i0e, special.i1e, special.spherical_bessel_j0):
            y = function(x)
            (g,) = wg.autograd.grad(y.sum(), x)
            assert y[0].item() == 0 and g[0].item() == 0


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("i0", 0.0, 0.5),
        ("i1", 0.5, 0.0),
        ("bessel_j0", 0.0, -0.5),
        ("bessel_j1", 0.5, 0.0),
        ("spherical_bessel_j0", 0.0, -1 / 3),
    ],
)
def test_derivatives_of_bessel_functions_at_zero(name, first, second):
    _, (g,), (h,) = slopes(getattr(special, name), leaf(0.0))
    assert (g, h) == (pytest.approx([first]), pytest.approx([second]))


# -- gamma ----------------------------------------------------------------------------------------


def test_lgamma_at_its_poles():
    x = leaf(0.0, -1.0, -2.0, INF)
    assert wg.lgamma(x).tolist() == [INF] * 4
    assert wg.digamma(leaf(0.0, -0.0)).tolist() == [-INF, INF]
    assert wg.polygamma(1, leaf(0.0, -1.0, INF)).tolist() == [INF, INF, 0.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_trigamma_of_many_values(dtype):
    zeta = sys.modules["scipy.special"].zeta
    x = np.concatenate([np.linspace(0.01, 30, 997), [1e-3, 1e3, 1e6]]).astype(dtype)
    found = wg.polygamma(1, wg.tensor(x)).numpy()
    np.testing.assert_allclose(found, zeta(2, x.astype(np.float64)), 5 * np.finfo(dtype).eps)
    below = np.array([-0.5, -1.5, -2.25] * 40, dtype)
    exact = (math.pi / np.sin(math.pi * below.astype(np.float64))) ** 2 - zeta(
        2, 1 - below.astype(np.float64)
    )
    found = wg.polygamma(1, wg.tensor(below)).numpy()
    np.testing.assert_allclose(found, exact, 8 * np.finfo(dtype).eps)


def test_polygamma_as_function_method_and_in_place():
    x = wg.tensor([1.0, 2.0])
    expected = pytest.approx([math.pi**2 / 6, math.pi**2 / 6 - 1])
    assert wg.polygamma(1, x).tolist() == expected
    assert wg.polygamma(n=1, input=x).tolist() == expected
    assert x.polygamma(1).tolist() == expected
    assert x.clone().polygamma_(n=1).tolist() == expected
    with pytest.raises(RuntimeError, match=r"^polygamma\(n, x\) does not support negative n"):
        wg.polygamma(-1, x)
    with pytest.raises(TypeError, match="argument 'n' \\(position 1\\) must be int, not float"):
        wg.polygamma(1.5, x)


def test_mvlgamma_is_a_sum_of_lgamma():
    x = leaf(2.0, 3.5)
    expected = 1.5 * math.log(math.pi) + sum(wg.lgamma(x - i / 2) for i in range(3))
    assert wg.mvlgamma(x, 3).tolist() == pytest.approx(expected.tolist())
    assert special.multigammaln(x, p=1).tolist() == wg.lgamma(x).tolist()
    with pytest.raises(RuntimeError, match="p has to be greater than or equal to 1"):
        wg.mvlgamma(x, 0)
    with pytest.raises(RuntimeError, match="The input tensor may not be a boolean tensor"):
        wg.mvlgamma(wg.tensor([True]), 1)


def test_incomplete_gamma_at_zero_and_its_derivative_by_the_shape():
    a, x = leaf(1.0, 2.0, 3.0), leaf(0.0, 1.0, 2.0)
    value, (first,), (second,) = slopes(lambda t: wg.igamma(a.detach(), t), x)
    assert value[0] == 0 and first == pytest.approx([1.0, math.exp(-1), 2 * math.exp(-2)])
    assert second == pytest.approx([-1.0, 0.0, 0.0], abs=1e-15)
    both = wg.igamma(a, x) + wg.igammac(a, x)
    assert both.tolist() == pytest.approx([1.0] * 3)
    both.sum().backward()
    assert a.grad.tolist() == [0.0] * 3
    assert wg.autograd.gradcheck(wg.igamma, (leaf(0.3, 1.0, 20.0), leaf(0.1, 0.7, 24.0)))
    with pytest.raises(NotImplementedError, match="the derivative for 'zeta' is not"):
        wg.special.zeta(a, x + 1).sum().backward()
    with pytest.raises(NotImplementedError, match="\"igamma_cpu\" not implemented for 'Long'"):
        wg.igamma(wg.tensor([1]), wg.tensor([1]))


def test_zeta_and_its_derivative_by_the_second_argument():
    q = leaf(1.0, 2.0)
    value, (first,), _ = slopes(lambda t: special.zeta(2.0, t), q)
    assert value == pytest.approx([math.pi**2 / 6, math.pi**2 / 6 - 1])
    apery = 1.2020569031595942
    assert first == pytest.approx([-2 * apery, -2 * (apery - 1)])
    with pytest.raises(NotImplementedError, match=r"^the derivative for 'zeta' is not implemented"):
        special.zeta(q + 1, q).sum().backward()
    with pytest.raises(TypeError, match="special_zeta\\(\\) received an invalid combination"):
        special.zeta(2, 3)


# -- the normal distribution ----------------------------------------------------------------------


def test_erfinv_at_its_ends_and_inverse_to_erf():
    assert wg.erfinv(leaf(1.0, -1.0, 0.0)).tolist() == [INF, -INF, 0.0]
    assert math.isnan(wg.erfinv(leaf(1.5)).item())
    for size in (9, 3000):
        x = wg.linspace(-3, 3, size, dtype=wg.float64)
        np.testing.assert_allclose(wg.erfinv(wg.erf(x)).numpy(), x.numpy(), 1e-10, 1e-15)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_quantiles(dtype):
    scipy_special = sys.modules["scipy.special"]
    p = np.concatenate([np.linspace(0, 1, 2001), np.logspace(-30, -1, 200)]).astype(dtype)
    found = special.ndtri(wg.tensor(p)).numpy()
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found, scipy_special.ndtri(p.astype(np.float64)), 8 * eps, 8 * eps)
    x = np.concatenate([np.linspace(-1, 1, 2001), [1 - eps, 1e-30, NAN, 2.0]]).astype(dtype)
    found = wg.erfinv(wg.tensor(x)).numpy()
    np.testing.assert_allclose(found, scipy_special.erfinv(x.astype(np.float64)), 8 * eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ndtr_keeps_its_digits_in_the_left_tail(dtype):
    x = np.concatenate([np.linspace(-12, 8, 2001), [INF, -INF, NAN]]).astype(dtype)
    found = special.ndtr(wg.tensor(x)).numpy()
    exact = sys.modules["scipy.special"].ndtr(x.astype(np.float64))
    # the function is steep there: an error of half a digit in x is this many in the result
    np.testing.assert_allclose(found, exact, 20 * np.finfo(dtype).eps)


def test_log_ndtr_is_differentiable_far_out():
    _, (first,), (second,) = slopes(special.log_ndtr, leaf(-300.0, 0.0, 100.0))
    assert first == pytest.approx([300.003333, math.sqrt(2 / math.pi), 0.0])
    assert second == pytest.approx([-0.99998889, -2 / math.pi, 0.0])


# -- orthogonal polynomials -----------------------------------------------------------------------

SERIES = {
    "chebyshev_polynomial_t": np.polynomial.Chebyshev,
    "hermite_polynomial_h": np.polynomial.Hermite,
    "hermite_polynomial_he": np.polynomial.HermiteE,
    "laguerre_polynomial_l": np.polynomial.Laguerre,
    "legendre_polynomial_p": np.polynomial.Legendre,
}


@pytest.mark.parametrize("degree", range(6))
@pytest.mark.parametrize("name", SERIES)
def test_polynomials_and_their_derivatives_at_the_ends_too(name, degree):
    points = [-1.0, -0.3, 0.0, 1.0, 1.5]
    series = SERIES[name].basis(degree)
    for n in (degree, wg.tensor(degree), wg.tensor([degree])):
        value, (first,), (second,) = slopes(
            lambda t, n=n: getattr(special, name)(t, n), leaf(*points)
        )
        assert value == pytest.approx(series(np.array(points)).tolist())
        assert first == pytest.approx(series.deriv()(np.array(points)).tolist())
        assert second == pytest.approx(series.deriv(2)(np.array(points)).tolist())


def test_chebyshev_polynomials_of_all_kinds_at_angles():
    angle = np.linspace(0.1, 3, 7)
    x, n = wg.tensor(np.cos(angle)), 4
    shifted = (x + 1) / 2
    for kind, exact in (
        ("t", np.cos(n * angle)),
        ("u", np.sin((n + 1) * angle) / np.sin(angle)),
        ("v", np.cos((n + 0.5) * angle) / np.cos(angle / 2)),
        ("w", np.sin((n + 0.5) * angle) / np.sin(angle / 2)),
    ):
        plain = getattr(special, f"chebyshev_polynomial_{kind}")
        moved = getattr(special, f"shifted_chebyshev_polynomial_{kind}")
        np.testing.assert_allclose(plain(x, n).numpy(), exact, 1e-12)
        np.testing.assert_allclose(moved(shifted, n).numpy(), exact, 1e-12)


@pytest.mark.parametrize("degree", [4097, 10**9])
def test_chebyshev_polynomials_of_high_degrees(degree):
    angle = np.array([0.3, 1.5, 2.9])
    y = np.cos(angle)
    value = np.cos(degree * angle)
    slope = degree * np.sin(degree * angle) / np.sin(angle)
    curve = (y * slope - degree**2 * value) / np.sin(angle) ** 2
    for n in (degree, wg.tensor(degree), wg.tensor([degree, degree, degree])):
        found = slopes(lambda t, n=n: special.chebyshev_polynomial_t(t, n), leaf(*y))
        for (got,), exact in zip(([found[0]], *found[1:]), (value, slope, curve), strict=True):
            np.testing.assert_allclose(got, exact, 1e-6, 1e-6 * abs(exact).max())
    ends = wg.tensor([-1.0, 1.0, 1.5], dtype=wg.float64)
    sign = (-1) ** degree
    assert special.chebyshev_polynomial_t(ends, degree).tolist() == [sign, 1, math.inf]
    assert special.chebyshev_polynomial_u(ends, degree).tolist()[1] == degree + 1
    assert special.chebyshev_polynomial_w(ends, degree).tolist()[1] == 2 * degree + 1
    mixed = special.chebyshev_polynomial_v(wg.tensor(y[1:2]), wg.tensor([2, degree])).numpy()
    exact = np.cos((np.array([2, degree]) + 0.5) * 1.5) / math.cos(0.75)
    np.testing.assert_allclose(mixed, exact, 1e-6)


def test_polynomials_that_are_nan_everywhere_are_not_computed_further():
    for n in (10**12, wg.tensor(10**12)):
        assert math.isnan(special.hermite_polynomial_h(wg.tensor(2.0), n))


def test_a_degree_is_cut_off_and_has_no_derivative():
    x = leaf(0.5)
    legendre = special.legendre_polynomial_p
    assert legendre(x, 2.9).tolist() == legendre(x, 2).tolist() == [-0.125]
    assert legendre(x, -1).tolist() == legendre(x, NAN).tolist() == [0.0]
    assert legendre(x, wg.tensor([-1.0, NAN, 0.0, 1.0, 2.0])).tolist() == [0, 0, 1, 0.5, -0.125]
    assert legendre(0.5, wg.tensor([0, 2])).tolist() == [1.0, -0.125]
    with pytest.raises(NotImplementedError, match="is not implemented: the degree is an integer"):
        legendre(x, leaf(2.0)).backward()


# -- dtypes, and SciPy absent ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["digamma", "lgamma", "erfinv", "i0", "sinc", "logit"])
def test_integers_become_floats_and_halves_stay(name):
    function = getattr(wg, name)
    whole = wg.tensor([0, 1]) if name == "erfinv" else wg.tensor([1, 2])
    with np.errstate(all="ignore"):
        assert function(whole).dtype is wg.float32
    half = function(wg.tensor([0.5, 0.25], dtype=wg.float16))
    assert half.dtype is wg.float16
    np.testing.assert_allclose(half.numpy(), function(wg.tensor([0.5, 0.25])).numpy(), 2e-3, 1e-3)


@pytest.mark.parametrize("name", ["erfcx", "airy_ai", "bessel_j0", "modified_bessel_i0", "ndtri"])
def test_complex_numbers_are_refused(name):
    with pytest.raises(NotImplementedError, match=f'"{name}_cpu" not implemented for \'Complex'):
        getattr(special, name)(wg.tensor([1j]))


def test_without_scipy_some_functions_work_and_others_say_what_to_install(monkeypatch):
    def absent(part, operation):
        raise ImportError(f"{operation}() needs SciPy")

    for module in ("scipy", "bessel"):
        monkeypatch.setattr(f"wengert.kernels.{module}.scipy_module", absent)
    x = wg.tensor([0.25, 0.5], dtype=wg.float64)
    for function, expected in (
        (wg.erfinv, [0.22531205501217808, 0.4769362762044699]),
        (wg.i0, [1.0156861412236078, 1.0634833707413236]),
        (special.i1e, [0.0981126287, 0.1564208032]),
        (special.ndtr, [0.5987063256829237, 0.6914624612740131]),
        (wg.sinc, [0.9003163161571061, 0.6366197723675814]),
    ):
        assert function(x).tolist() == pytest.approx(expected)
    with pytest.raises(ImportError, match=r"lgamma\(\) needs SciPy"):
        wg.lgamma(x)


def test_the_records_hold_at_half_precision_and_in_every_layout():
    for name in ("sinc", "special_i1e", "polygamma", "special_legendre_polynomial_p"):
        assert name in TABLE
        check_record(name)


@pytest.mark.parametrize(
    ("function", "shapes", "at"),
    [
        (wg.special.gammainc, (2.5,), (0.3, 1.7)),
        (wg.special.gammaincc, (0.4,), (0.3, 1.7)),
        (scipy_special.betainc, (2.5, 0.7), (0.2, 0.9)),
        (scipy_special.betaincc, (0.4, 3.0), (0.2, 0.9)),
    ],
)
def test_derivatives_by_shapes_may_be_differentiated_by_the_value(function, shapes, at):
    x = wg.tensor(at, dtype=wg.float64, requires_grad=True)
    own = [wg.tensor(shape, dtype=wg.float64, requires_grad=True) for shape in shapes]
    (density,) = wg.autograd.grad(function(*own, x).sum(), x, create_graph=True)
    for shape in own:
        (by_shape,) = wg.autograd.grad(function(*own, x).sum(), shape, create_graph=True)
        (mixed,) = wg.autograd.grad(by_shape, x)
        # the other order goes by the formula of the density
        found = [wg.autograd.grad(d, shape, retain_graph=True)[0] for d in density]
        assert wg.allclose(mixed, wg.stack(found), rtol=1e-9)
