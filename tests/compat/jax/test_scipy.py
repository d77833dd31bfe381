"""Test `jax.scipy` and `jax.example_libraries`."""

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax.example_libraries import optimizers, stax
from wengert.compat.jax.scipy import linalg, ndimage, optimize, signal, special, stats

scipy_special = pytest.importorskip("scipy.special")
scipy_stats = pytest.importorskip("scipy.stats")

X = jnp.linspace(0.1, 0.9, 5)
M = jnp.array([[2.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 4.0]])


def close(found, wanted, rtol=3e-5):
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=rtol, atol=1e-6)
    return True


# -- special ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *["digamma", "entr", "erf", "erfc", "erfinv", "exp1", "expi", "expit", "gamma", "gammaln"],
        *["i0", "i0e", "i1", "i1e", "log_ndtr", "logit", "ndtr", "ndtri", "spence", "dawsn"],
    ],
)
def test_functions_of_one_number_and_their_derivatives(name):
    function, scipys = getattr(special, name), getattr(scipy_special, name)
    x = np.asarray(X, np.float64)
    assert close(function(X), scipys(x))
    assert function(X).dtype == np.float32
    step = 1e-6
    slopes = (scipys(x + step) - scipys(x - step)) / (2 * step)
    assert close(jax.vmap(jax.grad(function))(X), slopes, rtol=2e-4)


def test_functions_of_several_numbers():
    x = np.asarray(X, np.float64)
    assert close(special.betaln(X, 2.0), scipy_special.betaln(x, 2.0))
    assert close(special.betainc(0.5, 2.0, X), scipy_special.betainc(0.5, 2.0, x))
    assert close(special.gammainc(2.0, X), scipy_special.gammainc(2.0, x))
    assert close(special.polygamma(2, X), scipy_special.polygamma(2, x))
    assert close(special.polygamma(jnp.array([0, 1]), 1.0), scipy_special.polygamma([0, 1], 1.0))
    assert close(special.zeta(2.0, X), scipy_special.zeta(2.0, x))
    assert close(special.kl_div(X, 1.0), scipy_special.kl_div(x, 1.0))
    assert close(special.multigammaln(X + 2, 2), [scipy_special.multigammaln(v + 2, 2) for v in x])
    assert close(special.factorial(jnp.arange(4.0)), [1, 1, 2, 6])
    assert close(special.comb(5.0, 2.0), 10)
    assert close(special.comb(5.5, 2.5), scipy_special.comb(5.5, 2.5))
    assert close(jax.grad(special.comb)(5.0, 2.0), 4.5)
    zeros, powers = jnp.zeros(3), np.array([-1.0, 2.5, 0.0])
    assert close(special.boxcox(zeros, powers), [-np.inf, -0.4, -np.inf])
    slopes = jax.grad(lambda x: special.boxcox(x, powers).sum())(zeros)
    assert close(slopes, [np.inf, 0, np.inf])
    assert special.xlogy(0.0, 0.0) == 0
    assert jax.grad(special.xlogy)(0.0, 1.0) == 0


def test_absent_functions_say_what_to_write():
    with pytest.raises(AttributeError, match="'logm': JAX has none either: "):
        _ = linalg.logm
    with pytest.raises(AttributeError, match=r"'interpn': jax\.numpy\.interp is "):
        _ = jax.scipy.interpolate.interpn
    with pytest.raises(
        AttributeError, match=r"module 'jax\.scipy' has no attribute 'cluster': write"
    ):
        _ = jax.scipy.cluster
    with pytest.raises(AttributeError, match=r"'odeint': wengert\.integrate"):
        _ = jax.scipy.integrate.odeint


# -- linalg ----------------------------------------------------------------------------------------


def test_factors_give_the_matrix_back():
    upper = linalg.cholesky(M)
    assert close(upper.T @ upper, M)
    p, lower, upper = linalg.lu(M)
    assert close(p @ lower @ upper, M)
    q, r = linalg.qr(M)
    assert close(q @ r, M)
    u, s, vh = linalg.svd(M)
    assert close((u * s) @ vh, M)
    w, v = linalg.eigh(M)
    assert close((v * w) @ v.T, M)
    unitary, positive = linalg.polar(M)
    assert close(unitary @ positive, M)


def test_systems():
    b = jnp.arange(3.0)
    x = np.linalg.solve(np.asarray(M), np.asarray(b))
    assert close(linalg.solve(M, b), x)
    assert close(linalg.solve(M, b, assume_a="pos"), x)
    for lower in (False, True):
        assert close(linalg.cho_solve(linalg.cho_factor(M, lower=lower), b), x)
    assert close(linalg.lu_solve(linalg.lu_factor(M), b), x)
    assert close(linalg.lu_solve(linalg.lu_factor(M), b, trans=1), np.linalg.solve(M.T, b))
    assert jnp.isnan(linalg.cholesky(-M)).all() and jnp.isnan(linalg.inv(jnp.zeros((2, 2)))).all()
    lower = jnp.tril(M)
    assert close(lower @ linalg.solve_triangular(M, b, lower=True), b)
    assert close(lower.T @ linalg.solve_triangular(M, b, trans="T", lower=True), b)
    product = M @ M + M @ lower
    assert close(linalg.solve_sylvester(M, lower, product), M, 1e-4)
    assert close(linalg.sqrtm(M) @ linalg.sqrtm(M), M)
    slope = jax.grad(lambda m: linalg.solve(m, b).sum())(M)
    inverse = np.linalg.inv(np.asarray(M))
    assert close(slope, -np.outer(inverse.T @ np.ones(3), x))


def test_matrices_of_a_form():
    assert linalg.block_diag(jnp.ones((1, 2)), 3.0).tolist() == [[1, 1, 0], [0, 0, 3]]
    assert linalg.toeplitz(jnp.arange(3)).tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    stacked = linalg.toeplitz(jnp.array([[1, 2], [3, 4]]))
    assert stacked.tolist() == [[[1, 2], [2, 1]], [[3, 4], [4, 3]]] and stacked.dtype == "int32"
    assert linalg.hankel(jnp.array([1, 2]), jnp.array([2.0, 5.0])).tolist() == [[1, 2], [2, 5]]
    assert linalg.fiedler(jnp.array([1, 4])).tolist() == [[0, 3], [3, 0]]
    assert linalg.convolution_matrix(jnp.array([1, 2]), 2).tolist() == [[1, 0], [2, 1], [0, 2]]
    assert linalg.convolution_matrix(jnp.array([1, 2]), 2).dtype == "int32"
    assert linalg.companion(jnp.array([1.0, 2.0, 3.0])).tolist() == [[-2, -3], [1, 0]]
    assert linalg.invhilbert(2).tolist() == [[4, -6], [-6, 12]]
    assert linalg.hadamard(2).tolist() == [[1, 1], [1, -1]]
    assert close(linalg.expm(jnp.diag(jnp.arange(2.0))), [[1, 0], [0, np.e]])
    slope = jax.grad(lambda t: linalg.expm(t * M)[0, 0])(0.0)
    assert close(slope, 2)


# -- stats -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("norm", ()),
        ("beta", (2.0, 3.0)),
        ("cauchy", ()),
        ("chi2", (3.0,)),
        ("expon", ()),
        ("gamma", (2.0,)),
        ("gennorm", (1.5,)),
        ("gumbel_l", ()),
        ("gumbel_r", ()),
        ("laplace", ()),
        ("logistic", ()),
        ("t", (3.0,)),
        ("truncnorm", (-1.0, 0.5)),
        ("uniform", ()),
        ("vonmises", (2.0,)),
    ],
)
def test_densities_and_distribution_functions(name, parameters):
    ours, scipys = getattr(stats, name), getattr(scipy_stats, name)
    x = np.asarray(X, np.float64)
    for key in ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"):
        if hasattr(ours, key):
            found = getattr(ours, key)(X, *parameters)
            assert close(found, getattr(scipys, key)(x, *parameters), rtol=1e-4), key
    for key in ("ppf", "isf"):
        if hasattr(ours, key):
            assert close(getattr(ours, key)(X, *parameters), getattr(scipys, key)(x, *parameters))
    if name not in ("gennorm", "vonmises"):
        moved = ours.logpdf(X, *parameters, loc=0.05, scale=2.0)
        assert close(moved, scipys.logpdf(x, *parameters, loc=0.05, scale=2.0), rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("bernoulli", (0.3,)),
        ("binom", (5, 0.3)),
        ("nbinom", (5, 0.3)),
        ("betabinom", (5, 2.0, 3.0)),
        ("geom", (0.3,)),
        ("poisson", (2.0,)),
    ],
)
def test_probabilities_of_whole_numbers(name, parameters):
    k = np.arange(-1, 7)
    ours, scipys = getattr(stats, name), getattr(scipy_stats, name)
    assert close(ours.pmf(jnp.array(k), *parameters), scipys.pmf(k, *parameters), rtol=1e-4)
    assert close(
        ours.pmf(jnp.array(k), *parameters, loc=1), scipys.pmf(k, *parameters, loc=1), 1e-4
    )


def test_distributions_of_vectors():
    mean = jnp.arange(3.0)
    points = jnp.ones((2, 3))
    wanted = scipy_stats.multivariate_normal.logpdf(points, mean, M)
    assert close(stats.multivariate_normal.logpdf(points, mean, M), wanted)
    assert close(jax.grad(stats.multivariate_normal.logpdf)(mean, mean, M), np.zeros(3))
    p = jnp.array([0.2, 0.3, 0.5])
    assert close(stats.dirichlet.logpdf(p, p + 1), scipy_stats.dirichlet.logpdf(p, p + 1), 1e-4)
    found = stats.multinomial.pmf(jnp.array([1, 0, 2]), 3, p)
    assert close(found, scipy_stats.multinomial.pmf([1, 0, 2], 3, [0.2, 0.3, 0.5]))


@pytest.mark.parametrize(
    ("name", "option"),
    [("qr", {"pivoting": True}), ("eigh", {"subset_by_index": (0, 1)})],
)
def test_decompositions_of_lax_refuse_options_that_change_the_result(name, option):
    function = getattr(jax.lax.linalg, name)
    assert len(function(jnp.eye(2), **dict.fromkeys(option))) == 2
    with pytest.raises(NotImplementedError, match=next(iter(option))):
        function(jnp.eye(2), **option)


def test_the_schur_form_under_its_name_in_lax():
    a = jnp.array([[1.0, 2.0, 0.0], [-3.0, 1.0, 1.0], [0.5, 0.0, 2.0]])
    for matrix in (a, a + 1j):
        form, vectors = jax.lax.linalg.schur(matrix)
        assert close(vectors @ form @ vectors.conj().T, matrix, 1e-4)
        assert close(jax.lax.linalg.schur(matrix, compute_schur_vectors=False)[0], form)


def test_functions_of_samples():
    x = jnp.array([3.0, 1.0, 1.0, 2.0])
    assert close(stats.sem(x), scipy_stats.sem(x))
    assert stats.mode(x).mode == 1
    assert stats.mode(x).count == 2
    for method in ("average", "min", "max", "dense", "ordinal"):
        assert close(stats.rankdata(x, method), scipy_stats.rankdata(x, method))
    rows = jnp.stack([x, x.at[1].set(jnp.nan)])
    assert close(stats.rankdata(rows, axis=1), scipy_stats.rankdata(np.asarray(rows), axis=1))
    for function in (stats.mode, stats.rankdata):
        with pytest.raises(NotImplementedError, match="nan_policy='omit'"):
            function(x, nan_policy="omit")


def test_likelihoods_are_differentiable_by_their_parameters():
    data = jnp.array([1.0, 2.0, 4.0])
    slopes = jax.grad(lambda p: stats.norm.logpdf(data, *p).sum())((1.0, 2.0))
    assert close(slopes, [4 / 4, (0 + 1 + 9) / 8 - 3 / 2])


# -- the rest --------------------------------------------------------------------------------------


def test_convolutions():
    a, b = jnp.arange(5.0), jnp.array([1.0, -1.0, 2.0])
    for mode in ("full", "same", "valid"):
        wanted = np.convolve(np.asarray(a), np.asarray(b), mode)
        assert close(signal.convolve(a, b, mode), wanted)
        assert close(signal.fftconvolve(a, b, mode), wanted, rtol=1e-4)
        wanted = np.correlate(np.asarray(a), np.asarray(b), mode)
        assert close(signal.correlate(a, b, mode), wanted)
    assert signal.convolve2d(jnp.ones((3, 3)), jnp.ones((2, 2)), mode="same").shape == (3, 3)
    assert close(jax.grad(lambda b: signal.convolve(a, b).sum())(b), [10, 10, 10])
    assert close(signal.detrend(a), np.zeros(5))


def test_map_coordinates():
    image = jnp.arange(6.0).reshape(2, 3)
    at = [jnp.array([0.5]), jnp.array([1.0])]
    assert close(ndimage.map_coordinates(image, at, 1), [2.5])
    slope = jax.grad(lambda y: ndimage.map_coordinates(image, [y, at[1]], 1).sum())(at[0])
    assert close(slope, [3])
    outside = [jnp.array([-1.0]), jnp.array([0.0])]
    assert close(ndimage.map_coordinates(image, outside, 1, cval=9.0), [9])
    assert close(ndimage.map_coordinates(image, outside, 1, mode="nearest"), [0])
    with pytest.raises(NotImplementedError, match="order<=1"):
        ndimage.map_coordinates(image, at, 3)


def test_minimize():
    def rosenbrock(x, a):
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (a - x[:-1]) ** 2)

    found = optimize.minimize(rosenbrock, jnp.zeros(3), (1.0,), method="BFGS", tol=1e-3)
    assert close(found.x, np.ones(3), rtol=2e-3)
    assert found.x.dtype == np.float32
    assert found.success
    with pytest.raises(ValueError, match="Method CG not recognized"):
        optimize.minimize(rosenbrock, jnp.zeros(3), (1.0,), method="CG")
    with pytest.raises(TypeError, match="must be a tuple"):
        optimize.minimize(rosenbrock, jnp.zeros(3), 1.0, method="BFGS")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "chosen",
    [
        optimizers.sgd(0.1),
        optimizers.momentum(0.02, 0.9),
        optimizers.nesterov(0.02, 0.9),
        optimizers.adagrad(0.5),
        optimizers.rmsprop(0.05),
        optimizers.rmsprop_momentum(0.01),
        optimizers.adam(0.1),
        optimizers.adamax(0.1),
        optimizers.sm3(0.5),
        optimizers.adam(optimizers.exponential_decay(0.2, 50, 0.5)),
    ],
)
def test_optimisers_find_the_minimum(chosen):
    init, update, get_params = chosen

    def loss(p):
        return jnp.sum((p["a"] - 1) ** 2) + jnp.sum((p["b"] + 2) ** 2)

    state = init({"a": jnp.zeros((2, 2)), "b": jnp.zeros(1)})
    for step in range(150):
        state = update(step, jax.grad(loss)(get_params(state)), state)
    assert loss(get_params(state)) < 0.02


def test_an_optimiser_refuses_gradients_of_another_structure():
    init, update, _ = optimizers.sgd(0.1)
    with pytest.raises(TypeError, match="gradient tree that did not match"):
        update(0, [1.0], init((1.0,)))


def test_the_functions_of_an_optimiser_have_names():
    chosen = optimizers.sgd(0.5)
    state = chosen.update_fn(0, jnp.ones(2), chosen.init_fn(jnp.zeros(2)))
    assert chosen.params_fn(state).tolist() == [-0.5, -0.5]


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(1, 2)]])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_transposed_convolutions_of_stax_have_the_shape_that_they_state(padding, steps):
    init, apply = stax.Conv1DTranspose(2, (2,), (steps,), padding)
    shape, params = init(jax.random.PRNGKey(0), (-1, 5, 3))
    found = apply(params, x := jnp.ones((4, 5, 3)))
    assert (4, *shape[1:]) == found.shape and shape[0] == -1
    # each input reaches each weight of its taps once, where nothing is cut off
    kernel, bias = params
    if padding == "VALID":
        np.testing.assert_allclose(
            (found - bias).sum((1, 2)), x.sum(1) @ kernel.sum((0, 2)), rtol=1e-5
        )


def test_schedules_and_clipping():
    assert optimizers.piecewise_constant([2, 4], [1.0, 0.5, 0.1])(3) == 0.5
    assert close(optimizers.inverse_time_decay(1.0, 10, 1.0)(10), 0.5)
    assert close(optimizers.polynomial_decay(1.0, 10, 0.0)(5), 0.5)
    assert close(optimizers.l2_norm(optimizers.clip_grads({"a": jnp.ones(4)}, 1.0)), 1)


def test_states_can_be_unpacked_and_packed():
    init, _, get_params = optimizers.adam(0.1)
    state = init({"a": jnp.ones(2)})
    again = optimizers.pack_optimizer_state(optimizers.unpack_optimizer_state(state))
    assert get_params(again)["a"].tolist() == [1, 1]


def test_layers_of_stax_learn():
    key = jax.random.PRNGKey(0)
    init, apply = stax.serial(stax.Dense(16), stax.Tanh, stax.Dense(2), stax.LogSoftmax)
    shape, params = init(key, (-1, 2))
    assert shape == (-1, 2)
    x = jax.random.normal(key, (64, 2))
    labels = jax.nn.one_hot((x[:, 0] > x[:, 1]).astype(int), 2)

    def loss(params):
        return -jnp.mean(jnp.sum(apply(params, x) * labels, -1))

    opt_init, update, get_params = optimizers.adam(0.05)
    state = opt_init(params)
    for step in range(40):
        state = update(step, jax.grad(loss)(get_params(state)), state)
    assert loss(get_params(state)) < 0.2


def test_convolutional_layers_have_the_shapes_that_they_tell():
    key = jax.random.PRNGKey(0)
    init, apply = stax.serial(
        stax.Conv(4, (3, 3), padding="SAME"),
        stax.BatchNorm(),
        stax.Relu,
        stax.MaxPool((2, 2), strides=(2, 2)),
        stax.AvgPool((2, 2), padding="SAME"),
        stax.Flatten,
        stax.FanOut(2),
        stax.parallel(stax.Dense(3), stax.Identity),
        stax.FanInConcat(),
        stax.Dropout(0.9),
    )
    shape, params = init(key, (5, 8, 8, 1))
    images = jax.random.normal(key, (5, 8, 8, 1))
    assert apply(params, images, rng=key).shape == shape
    with pytest.raises(ValueError, match="requires apply_fun to be called with a PRNG key"):
        apply(params, images)
