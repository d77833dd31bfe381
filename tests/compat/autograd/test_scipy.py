"""Test ``autograd.scipy``: special functions, densities, linear algebra, convolution, equations."""

import numpy
import pytest
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats

assert_close = numpy.testing.assert_allclose


def same(found, expected, rtol=1e-8):
    assert_close(found, expected, rtol=rtol, atol=1e-10)


UNARY = """
digamma erf erfc erfcinv erfinv expit gamma gammaln i0 i1 j0 j1 logit psi rgamma y0 y1
"""


@pytest.mark.parametrize("name", UNARY.split())
def test_special_functions_of_one_argument(ag, name):
    f, x = getattr(ag("scipy.special"), name), numpy.array([0.3, 0.7])
    same(f(x), getattr(scipy.special, name)(x))
    assert type(f(x)) is numpy.ndarray
    ag("test_util").check_grads(f, modes=["rev"], order=2)(x)


BINARY = [
    ("beta", (1.5, 2.5), (0, 1)),
    ("betaln", (1.5, 2.5), (0, 1)),
    ("gammainc", (2.0, 1.5), (1,)),
    ("gammaincc", (2.0, 1.5), (1,)),
    ("betainc", (2.0, 3.0, 0.4), (2,)),
    ("jn", (2, 1.5), (1,)),
    ("yn", (2, 1.5), (1,)),
    ("iv", (2, 1.5), (1,)),
    ("ive", (2, 1.5), (1,)),
    ("polygamma", (1, 1.5), (1,)),
    ("multigammaln", (3.0, 2), (0,)),
]


@pytest.mark.parametrize(("name", "args", "argnums"), BINARY)
def test_special_functions_of_several_arguments(ag, name, args, argnums):
    f = getattr(ag("scipy.special"), name)
    for argnum in argnums:
        ag("test_util").check_grads(f, argnum, modes=["rev"], order=1)(*args)


def test_functions_without_a_derivative_are_refused(ours):
    special = ours("scipy.special")
    with pytest.raises(NotImplementedError):
        ours.grad(lambda v: special.jv(v, 1.5))(2.0)
    with pytest.raises(NotImplementedError, match="VJP of polygamma"):
        ours.grad(lambda n: special.polygamma(n, 1.5))(1.0)
    with pytest.raises(NotImplementedError, match="VJP of schur wrt argnums"):
        ours.grad(lambda a: ours("scipy.linalg").schur(a)[1].sum())(numpy.eye(2))
    with pytest.raises(AttributeError, match=r"scipy\.special has none"):
        _ = special.nothing


OPTIONS = [{}, {"axis": 1}, {"axis": 0, "keepdims": True}, {"axis": (0, 1)}]


@pytest.mark.parametrize("options", OPTIONS)
def test_logsumexp(ag, options):
    logsumexp, x = ag("scipy.special").logsumexp, numpy.arange(6.0).reshape(2, 3) / 3
    same(logsumexp(x, **options), scipy.special.logsumexp(x, **options))
    if options.get("axis") != (0, 1):  # which the original's forward mode does not take
        ag("test_util").check_grads(lambda x: logsumexp(x, **options))(x)


def test_logsumexp_with_weights_and_infinities(ours):
    logsumexp = ours("scipy.misc").logsumexp
    b = numpy.array([1.0, 2.0, 0.5])

    def f(x):
        return logsumexp(x, b=b)

    value, gradient = ours.value_and_grad(f)(numpy.array([0.0, 1000.0, -numpy.inf]))
    same((value, *gradient), (1000 + numpy.log(2.0), 0.0, 1.0, 0.0))
    assert ours.grad(lambda x: logsumexp(x, return_sign=True)[0])(numpy.ones(2))[0] == 0.5


def test_softmax(ours):
    special, x = ours("scipy.special"), numpy.array([0.1, 0.7, -0.3])
    p = scipy.special.softmax(x)
    same(ours.jacobian(special.softmax)(x), numpy.diag(p) - numpy.outer(p, p))
    same(ours.jacobian(special.log_softmax)(x), numpy.eye(3) - p)


DENSITIES = [
    ("norm", ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf"), (0.3, 0.2, 1.5), (0, 1, 2)),
    ("t", ("logpdf", "pdf"), (0.3, 3.0, 0.2, 1.5), (0, 1, 2, 3)),
    ("t", ("cdf", "logcdf"), (0.3, 3.0, 0.2), (0, 2)),
    ("beta", ("logpdf", "pdf"), (0.3, 2.0, 3.0), (0, 1, 2)),
    ("beta", ("cdf",), (0.3, 2.0, 3.0), (0,)),
    ("gamma", ("logpdf", "pdf"), (1.3, 2.0), (0, 1)),
    ("gamma", ("cdf",), (1.3, 2.0), (0,)),
    ("chi2", ("logpdf", "pdf", "cdf"), (1.3, 3.0), (0,)),
    ("poisson", ("logpmf", "pmf", "cdf"), (3.0, 2.5), (1,)),
]


@pytest.mark.parametrize(("name", "functions", "args", "argnums"), DENSITIES)
def test_densities(ag, name, functions, args, argnums):
    distribution = getattr(ag("scipy.stats"), name)
    for function in functions:
        f = getattr(distribution, function)
        same(f(*args), getattr(getattr(scipy.stats, name), function)(*args))
        ag("test_util").check_grads(f, argnums, modes=["rev"], order=1)(*args)


@pytest.mark.parametrize(("name", "functions", "args", "argnums"), DENSITIES)
def test_values_of_densities_inside_are_those_outside(ours, name, functions, args, argnums):
    distribution = getattr(ours("scipy.stats"), name)
    for function in functions:
        f = getattr(distribution, function)
        for argnum in argnums:
            same(ours.make_vjp(f, argnum)(*args)[1], f(*args))
        assert numpy.isfinite(ours.grad(ours.grad(f, argnums[0]), argnums[-1])(*args))


def test_further_distributions(ours):
    stats, check = ours("scipy.stats"), ours("test_util").check_grads
    check(stats.bernoulli.logpmf, 1)(1.0, 0.3)
    check(stats.bernoulli.pmf, 1)(numpy.array([0.0, 1.0]), 0.3)
    check(stats.expon.logpdf, (0, 1, 2))(1.3, 0.2, 1.5)
    check(stats.expon.cdf, (0, 2))(1.3, 0.0, 1.5)
    check(stats.uniform.logpdf, 2)(0.3, 0.0, 2.0)
    check(stats.uniform.cdf, (0, 2))(0.3, 0.0, 2.0)
    check(stats.chi2.logpdf, (0, 1))(1.3, 3.5)
    same(stats.bernoulli.pmf(1, 0.3), 0.3)
    assert stats.norm.ppf(0.5) == 0.0
    with pytest.raises(NotImplementedError, match="VJP of moment wrt argnums"):
        ours.grad(stats.norm.moment, 1)(1, 0.3)
    with pytest.raises(AttributeError, match="write the density of others"):
        _ = stats.multivariate_t


def test_densities_outside_of_the_support(ours):
    stats = ours("scipy.stats")
    for f, x in (
        (lambda x: stats.beta.pdf(x, 2.0, 3.0), 1.5),
        (lambda x: stats.gamma.pdf(x, 2.0), -1.0),
        (lambda x: stats.expon.pdf(x), -1.0),
        (lambda x: stats.uniform.pdf(x), 2.0),
        (lambda x: stats.gamma.cdf(x, 2.0), -1.0),
        (lambda x: stats.beta.cdf(x, 2.0, 3.0), -0.5),
    ):
        value, gradient = ours.value_and_grad(f)(x)
        assert (value, gradient) == (0.0, 0.0)
        assert f(x) == 0.0
    mixed = ours.grad(lambda a: ours.np.sum(stats.gamma.pdf(numpy.array([-1.0, 1.0]), a)))(2.0)
    assert numpy.isfinite(mixed)
    assert ours.grad(lambda mu: stats.poisson.pmf(1.5, mu))(2.0) == 0.0
    assert ours.grad(lambda mu: stats.poisson.cdf(-1, mu))(2.0) == 0.0


def test_arguments_of_densities_are_broadcast(ag):
    norm = ag("scipy.stats").norm
    x = numpy.arange(3.0)

    def f(loc):
        return ag.np.sum(norm.logpdf(x, loc, 2.0))

    same(ag.grad(f)(0.5), numpy.sum(x - 0.5) / 4)
    rows = ag.grad(lambda s: ag.np.sum(norm.logpdf(x, 0.0, s)))(numpy.ones((2, 1)))
    same(rows, numpy.full((2, 1), numpy.sum(x**2 - 1)))


def test_dirichlet(ag):
    dirichlet, check = ag("scipy.stats").dirichlet, ag("test_util").check_grads
    alpha, x = numpy.array([1.0, 2.0, 3.0]), numpy.array([0.2, 0.3, 0.5])
    same(dirichlet.logpdf(x, alpha), scipy.stats.dirichlet.logpdf(x, alpha))
    for f in (dirichlet.logpdf, dirichlet.pdf):
        check(lambda alpha, f=f: f(x, alpha), modes=["rev"], order=1)(alpha)
    same(ag.grad(dirichlet.logpdf)(x, alpha), (alpha - 1) / x)


def test_multivariate_normal(ag):
    mvn, np = ag("scipy.stats").multivariate_normal, ag.np
    rs = numpy.random.RandomState(0)
    mean, x = rs.randn(2), rs.randn(4, 2)
    root = rs.randn(2, 2)
    check = ag("test_util").check_grads

    def density(x, mean, root, name):
        cov = np.dot(root, root.T) + 0.1 * numpy.eye(2)
        return np.sum(getattr(mvn, name)(x, mean, cov))

    for name in ("logpdf", "pdf"):
        check(density, (0, 1, 2), modes=["rev"], order=1)(x, mean, root, name)
        check(density, (0, 1, 2), modes=["rev"], order=1)(x[0], mean, root, name)

    def entropy(root):
        return mvn.entropy(mean, np.dot(root, root.T) + numpy.eye(2))

    check(entropy, modes=["rev"], order=1)(root)


def test_multivariate_normal_of_other_covariances(ours):
    mvn, x = ours("scipy.stats").multivariate_normal, numpy.array([[0.3, 0.7], [0.1, 2.0]])
    mean = numpy.array([0.5, 0.9])  # beside the support of the singular one is the second row
    for cov in (2.0, numpy.array([1.0, 3.0]), numpy.ones((2, 2))):

        def f(x, cov=cov):
            return ours.np.sum(mvn.logpdf(x, mean, cov, allow_singular=numpy.ndim(cov) == 2))

        same(ours.make_vjp(f)(x[:1])[1], f(x[:1]))
        same(ours.make_vjp(f)(x)[1], f(x))
        if numpy.ndim(cov) < 2:
            ours("test_util").check_grads(f)(x)
    assert f(x) == -numpy.inf
    same(ours.grad(f)(x[:1]), [[0.1, 0.1]])

    def one(x):
        return mvn.logpdf(x, 0.5, 2.0)

    same(ours.make_vjp(one)(numpy.array([0.1, 0.3]))[1], one(numpy.array([0.1, 0.3])))
    same(ours.grad(one)(0.1), 0.2)
    with pytest.raises(NotImplementedError, match="singular covariance"):
        ours.grad(lambda c: mvn.logpdf(x[0], None, c, allow_singular=True))(numpy.eye(2))


A = numpy.array([[2.0, 0.3], [0.4, 1.0]])
TRIANGLES = [(t, lower) for t in (0, 1, "N", "T") for lower in (True, False)]


@pytest.mark.parametrize(("trans", "lower"), TRIANGLES)
def test_triangular_systems(ag, trans, lower):
    solve = ag("scipy.linalg").solve_triangular

    def f(a, b):
        return solve(a, b, trans=trans, lower=lower)

    for b in (numpy.array([1.0, 2.0]), numpy.array([[1.0], [2.0]])):
        same(f(A, b), scipy.linalg.solve_triangular(A, b, trans=trans, lower=lower))
        ag("test_util").check_grads(f, (0, 1), modes=["rev"])(A, b)


def test_square_roots_and_sylvester_equations(ag):
    linalg, check = ag("scipy.linalg"), ag("test_util").check_grads
    same(linalg.sqrtm(A), scipy.linalg.sqrtm(A))
    check(linalg.sqrtm)(A)
    check(linalg.solve_sylvester, (0, 1, 2))(A, A + 1, A + 2)


def test_banded_systems(ag):
    solve = ag("scipy.linalg").solve_banded
    ab = numpy.random.RandomState(0).rand(3, 4) + numpy.array([[0.0], [3.0], [0.0]])
    check = ag("test_util").check_grads
    check(lambda b: solve((1, 1), ab, b), modes=["rev"], order=1)(numpy.arange(4.0))
    check(lambda ab: solve((1, 1), ab, numpy.ones(4)), modes=["rev"], order=1)(ab)


def test_banded_systems_of_uneven_width(ours):
    solve = ours("scipy.linalg").solve_banded
    ab = numpy.random.RandomState(0).rand(4, 5) + numpy.array([[0.0], [4.0], [0.0], [0.0]])
    for b in (numpy.ones(5), numpy.ones((5, 2))):
        ours("test_util").check_grads(lambda a, b: solve((2, 1), a, b), (0, 1), ["rev"])(ab, b)


def test_further_linear_algebra(ours):
    linalg, check = ours("scipy.linalg"), ours("test_util").check_grads
    for name in ("inv", "det", "expm", "pinv", "norm"):
        f = getattr(linalg, name)
        same(ours.make_vjp(f)(A)[1], getattr(scipy.linalg, name)(A))
        check(f)(A)
    symmetric = A @ A.T
    for lower in (True, False):

        def f(a, lower=lower):
            return linalg.cholesky(0.5 * (a + a.T), lower=lower)

        same(ours.make_vjp(f)(symmetric)[1], scipy.linalg.cholesky(symmetric, lower=lower))
        check(f)(symmetric)
    check(linalg.solve, (0, 1))(A, numpy.ones(2))

    def f(a):
        return linalg.block_diag(a, a[0], 3.0)

    same(ours.make_vjp(f)(A)[1], scipy.linalg.block_diag(A, A[0], 3.0))
    check(f)(A)


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
def test_convolution(ag, mode):
    convolve = ag("scipy.signal").convolve
    rs = numpy.random.RandomState(0)
    a, b = rs.randn(6), rs.randn(3)
    same(convolve(a, b, mode=mode), scipy.signal.convolve(a, b, mode))

    def f(a, b):
        return convolve(a, b, mode=mode)

    ag("test_util").check_grads(f, (0, 1), modes=["rev"])(a, b)
    two = rs.randn(4, 5), rs.randn(2, 3)
    same(f(*two), scipy.signal.convolve(*two, mode))
    ag("test_util").check_grads(f, (0, 1), modes=["rev"], order=1)(*two)


@pytest.mark.parametrize("mode", ["full", "valid"])
def test_convolution_along_some_axes(ag, mode):
    convolve = ag("scipy.signal").convolve
    rs = numpy.random.RandomState(1)
    images, filters = rs.randn(2, 3, 5, 6), rs.randn(3, 4, 2, 3)
    options = {"axes": ([2, 3], [2, 3]), "dot_axes": ([1], [0]), "mode": mode}
    found = convolve(images, filters, **options)
    for i in range(2):
        for j in range(4):
            parts = [scipy.signal.convolve(images[i, k], filters[k, j], mode) for k in range(3)]
            same(found[i, j], sum(parts))

    def f(a, b):
        return convolve(a, b, **options)

    ag("test_util").check_grads(f, (0, 1), modes=["rev"], order=1)(images, filters)


def test_convolution_refuses(ag):
    convolve = ag("scipy.signal").convolve
    with pytest.raises(AssertionError, match="Mode other undefined"):
        convolve(numpy.ones(3), numpy.ones(2), mode="other")
    with pytest.raises(Exception, match="One array must be larger than the other along all"):
        convolve(numpy.ones((5, 2)), numpy.ones((3, 4)), mode="valid")


def test_differential_equations(ag):
    np, odeint = ag.np, ag("scipy.integrate").odeint
    atuple = ag("builtins").tuple
    times, y0 = numpy.linspace(0.0, 1.0, 3), numpy.array([1.0, 2.0])

    def f(y, t, a, b):
        return -a * y + b * t

    def solve(y0, t, args):
        return odeint(f, y0, t, atuple(args))

    def exact(a, b):
        t = times[:, None]
        return (y0 + b / a**2) * numpy.exp(-a * t) + b * t / a - b / a**2

    same(solve(y0, times, (2.0, 1.0)), exact(2.0, 1.0), 1e-6)
    by_a = ag.grad(lambda a: np.sum(solve(y0, times, (a, 1.0))))(2.0)
    assert_close(by_a, (exact(2 + 1e-5, 1.0) - exact(2 - 1e-5, 1.0)).sum() / 2e-5, rtol=1e-5)
    by_y0 = ag.grad(lambda y0: np.sum(solve(y0, times, (2.0, 1.0))))(y0)
    assert_close(by_y0, numpy.exp(-2 * times).sum() * numpy.ones(2), rtol=1e-5)
    by_t = ag.grad(lambda t: np.sum(solve(y0, t, (2.0, 1.0))))(times)
    slopes = [f(y, t, 2.0, 1.0).sum() for y, t in zip(exact(2.0, 1.0), times, strict=True)]
    assert_close(by_t[1:], slopes[1:], rtol=1e-5)


def test_differential_equations_that_close_over_what_they_depend_on(ours):
    odeint, np = ours("scipy.integrate").odeint, ours.np
    times = numpy.array([0.0, 1.0])

    def f(a):
        return odeint(lambda y, t: -a * y, numpy.ones(1), times, rtol=1e-8)[-1, 0]

    assert_close(ours.grad(f)(2.0), -numpy.exp(-2.0), rtol=1e-5)

    def nested(p):
        return np.sum(odeint(lambda y, t, p: -p["a"] * y, np.ones(1), times, (p,)))

    assert_close(ours.grad(nested)({"a": 2.0})["a"], -numpy.exp(-2.0), rtol=1e-5)
    with pytest.raises(NotImplementedError, match="full_output"):
        ours.grad(lambda y: odeint(lambda y, t: -y, y, times, full_output=True)[0])(numpy.ones(1))


def test_modules_that_are_not_there(ours):
    with pytest.raises(AttributeError, match="there are integrate, linalg"):
        _ = ours("scipy").optimize
    assert set(dir(ours("scipy"))) >= {"special", "stats"}
