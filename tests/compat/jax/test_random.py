"""Test `jax.random`: keys, JAX's own streams, distributions, batches, derivatives."""

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax import lax, random

KEY = random.PRNGKey(0)


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=2e-6)
    return True


# -- keys ------------------------------------------------------------------------------------------


def test_keys_are_the_words_of_their_seeds():
    assert random.PRNGKey(42).tolist() == [0, 42]
    assert random.PRNGKey(-1).tolist() == [0, 2**32 - 1]
    assert random.PRNGKey(jnp.array(3)).tolist() == [0, 3]
    assert KEY.dtype == np.uint32


def test_split_and_fold_in_are_those_of_jax():
    assert random.split(KEY).tolist() == [[1797259609, 2579123966], [928981903, 3453687069]]
    assert random.split(KEY, 3)[2].tolist() == [4146024105, 2718843009]
    assert random.split(KEY, (2, 2)).shape == (2, 2, 2)
    assert random.fold_in(KEY, 1).tolist() == [928981903, 3453687069]


def test_numbers_are_those_of_jax_to_the_last_bit():
    assert close(random.normal(KEY, (3,)), [1.6226422, 2.0252647, -0.43359444])
    assert random.normal(KEY, (3,)).tolist() == [
        1.6226421594619751,
        2.0252647399902344,
        -0.43359443545341492,
    ]
    assert close(random.uniform(KEY), 0.947667)
    assert random.bits(KEY, (2,)).tolist() == [4070199207, 4202968722]
    assert random.randint(KEY, (3,), 0, 10).tolist() == [9, 0, 2]
    assert random.permutation(KEY, 5).tolist() == [0, 1, 4, 3, 2]
    assert random.choice(KEY, 5, (3,)).tolist() == [4, 0, 2]
    assert random.rademacher(KEY, (3,)).tolist() == [-1, -1, 1]
    assert int(random.categorical(KEY, jnp.zeros(3))) == 1
    assert close(random.gumbel(KEY, (2,)), [2.9233725, 3.8326178])
    assert close(random.gamma(KEY, 2.0), 1.5897877)
    assert close(random.dirichlet(KEY, jnp.ones(3)), [0.36472055, 0.4282893, 0.20699008])
    assert close(random.truncated_normal(KEY, -1, 1, (2,)), [0.8618594, 0.9412883])
    assert close(random.t(KEY, 3.0), 0.69022465)


def test_typed_keys_draw_the_same_numbers():
    key = random.key(0)
    assert repr(key) == "Array((), dtype=key<fry>) overlaying:\n[0 0]"
    assert key.shape == ()
    assert (random.normal(key, (2,)) == random.normal(KEY, (2,))).all()
    first, second = random.split(key)
    assert random.key_data(second).tolist() == random.split(KEY)[1].tolist()
    assert random.split(key, 3)[1:].shape == (2,)
    assert (random.wrap_key_data(KEY) == key).all()
    assert random.key_impl(key) == "threefry2x32"
    assert (jnp.stack([first, second], -1) == random.split(key)).all()
    assert jnp.concatenate([random.split(key), random.split(first)]).shape == (4,)
    assert jax.tree_util.tree_map(lambda words: words, first).shape == ()


def test_typed_keys_have_no_arithmetic_and_no_array():
    key = random.key(0)
    with pytest.raises(TypeError, match="add does not accept dtypes key<fry>"):
        key + 1
    with pytest.raises(TypeError, match=r"Use jax\.random\.key_data"):
        np.asarray(key)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: random.normal(0, (2,)), TypeError, "JAX encountered invalid PRNG key data"),
        (lambda: random.normal(jnp.arange(3)), TypeError, "to end with"),
        (lambda: random.normal(jnp.arange(2)), TypeError, "expected key_data.dtype = uint32"),
        (lambda: random.normal(random.split(KEY)), ValueError, "normal accepts a single key"),
        (lambda: random.PRNGKey(1.5), TypeError, "PRNG key seed must be an integer"),
        (lambda: random.PRNGKey(jnp.arange(2)), TypeError, "accepts a scalar seed"),
        (lambda: random.key(0, impl="other"), ValueError, "unrecognized PRNG implementation"),
        (lambda: random.fold_in(KEY, jnp.arange(2)), TypeError, "fold_in accepts a scalar"),
        (lambda: random.uniform(KEY, dtype=int), ValueError, "must be a float dtype, got int32"),
        (lambda: random.bernoulli(KEY, 1), TypeError, "must have a floating dtype"),
        (lambda: random.choice(KEY, 5, 3), TypeError, "must be a sequence"),
        (lambda: random.choice(KEY, 2, (3,), replace=False), ValueError, "larger sample"),
        (lambda: random.beta(KEY, jnp.ones(2), 1.0, (3,)), ValueError, "Incompatible shapes"),
        (lambda: random.categorical(KEY, [0.0]), TypeError, "categorical requires ndarray"),
    ],
)
def test_what_makes_no_sense_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("name", ["seed", "rand", "shuffle", "randn"])
def test_absent_names_say_what_to_write(name):
    with pytest.raises(AttributeError, match=f"no attribute '{name}': .*key"):
        getattr(random, name)


# -- distributions ---------------------------------------------------------------------------------

MANY = (40000,)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("draw", "mean", "variance"),
    [
        (lambda k: random.normal(k, MANY), 0, 1),
        (lambda k: random.uniform(k, MANY, minval=-1.0, maxval=3.0), 1, 16 / 12),
        (lambda k: random.exponential(k, MANY), 1, 1),
        (lambda k: random.gumbel(k, MANY), 0.5772, np.pi**2 / 6),
        (lambda k: random.gumbel(k, MANY, mode="high"), 0.5772, np.pi**2 / 6),
        (lambda k: random.laplace(k, MANY), 0, 2),
        (lambda k: random.logistic(k, MANY), 0, np.pi**2 / 3),
        (lambda k: random.bernoulli(k, 0.3, MANY), 0.3, 0.21),
        (lambda k: random.randint(k, MANY, 0, 10), 4.5, 8.25),
        (lambda k: random.gamma(k, 3.0, MANY), 3, 3),
        (lambda k: random.gamma(k, 0.5, MANY), 0.5, 0.5),
        (lambda k: random.beta(k, 2.0, 3.0, MANY), 0.4, 0.04),
        (lambda k: random.dirichlet(k, jnp.array([1.0, 3.0]), MANY)[:, 0], 0.25, 0.0375),
        (lambda k: random.poisson(k, 4.0, MANY), 4, 4),
        (lambda k: random.poisson(k, 40.0, MANY), 40, 40),
        (lambda k: random.binomial(k, 20.0, 0.3, MANY), 6, 4.2),
        (lambda k: random.binomial(k, 1000.0, 0.3, MANY), 300, 210),
        (lambda k: random.geometric(k, 0.25, MANY), 4, 12),
        (lambda k: random.chisquare(k, 5.0, MANY), 5, 10),
        (lambda k: random.t(k, 10.0, MANY), 0, 1.25),
        (lambda k: random.truncated_normal(k, -1.0, 1.0, MANY), 0, 0.2911),
        (lambda k: random.rayleigh(k, 1.0, MANY), 1.2533, 0.4292),
        (lambda k: random.maxwell(k, MANY), 1.5958, 0.4535),
        (lambda k: random.weibull_min(k, 1.0, 2.0, MANY), 0.8862, 0.2146),
        (lambda k: random.triangular(k, 0.0, 1.0, 2.0, MANY), 1, 1 / 6),
        (lambda k: random.lognormal(k, 0.5, MANY), 1.1331, 0.3647),
        (lambda k: random.wald(k, 2.0, MANY), 2, 8),
        (lambda k: random.rademacher(k, MANY), 0, 1),
        (lambda k: random.permutation(k, 1000), 499.5, 1000**2 / 12),
        (lambda k: random.normal(k, MANY, jnp.complex64).real, 0, 0.5),
        (lambda k: random.generalized_normal(k, 2.0, MANY), 0, 0.5),
        (lambda k: random.ball(k, 2, shape=MANY)[:, 0], 0, 0.25),
    ],
)
def test_means_and_variances(draw, mean, variance):
    x = np.asarray(draw(random.PRNGKey(17)), np.float64)
    assert abs(x.mean() - mean) < 6 * np.sqrt(variance / x.size)
    assert abs(x.var() / variance - 1) < 0.1


def test_heavy_tails():
    x = np.asarray(random.cauchy(KEY, MANY))
    assert abs(np.median(x)) < 0.03
    assert abs(np.mean(np.abs(x) < 1) - 0.5) < 0.01
    x = np.asarray(random.pareto(KEY, 3.0, MANY))
    assert x.min() >= 1
    assert abs(x.mean() - 1.5) < 0.05


def test_choices_have_their_probabilities():
    p = jnp.array([0.1, 0.2, 0.7])
    for drawn in (
        random.choice(KEY, 3, MANY, p=p),
        random.categorical(KEY, jnp.log(p), shape=MANY),
    ):
        np.testing.assert_allclose(np.bincount(np.asarray(drawn)) / MANY[0], p, atol=0.02)


def test_choices_without_replacement_are_all_different():
    assert sorted(random.choice(KEY, 6, (6,), replace=False).tolist()) == list(range(6))
    found = random.choice(KEY, 6, (3,), replace=False, p=jnp.ones(6) / 6)
    assert len(set(found.tolist())) == 3
    rows = random.categorical(KEY, jnp.zeros(5), shape=(5,), replace=False)
    assert sorted(rows.tolist()) == list(range(5))


def test_permutations_along_axes():
    x = jnp.arange(12).reshape(3, 4)
    rows = random.permutation(KEY, x, axis=0)
    assert sorted(rows[:, 0].tolist()) == [0, 4, 8]
    assert (rows[:, 1] - rows[:, 0] == 1).all()
    apart = random.permutation(KEY, x, axis=1, independent=True)
    assert (jnp.sort(apart, 1) == x).all()


def test_vectors_have_their_covariance():
    cov = jnp.array([[2.0, 0.8], [0.8, 1.0]])
    for method in ("cholesky", "eigh", "svd"):
        x = random.multivariate_normal(KEY, jnp.array([1.0, -1.0]), cov, MANY, method=method)
        np.testing.assert_allclose(np.cov(np.asarray(x).T), cov, atol=0.05)


def test_orthogonal_matrices_are_orthogonal():
    q = random.orthogonal(KEY, 3, (2,))
    np.testing.assert_allclose(q @ q.mT, np.broadcast_to(np.eye(3), (2, 3, 3)), atol=1e-5)
    assert random.orthogonal(KEY, 2, m=3).shape == (2, 3)


def test_different_keys_give_independent_numbers():
    a, b = (np.asarray(random.normal(k, MANY)) for k in random.split(KEY))
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.02
    assert (random.normal(KEY, (3,)) == random.normal(KEY, (3,))).all()


# -- batches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draw",
    [
        lambda k: random.normal(k, (2,)),
        lambda k: random.uniform(k),
        lambda k: random.split(k)[1],
        lambda k: random.fold_in(k, 5),
        lambda k: random.permutation(k, 4),
        lambda k: random.choice(k, jnp.arange(5.0), (2,)),
        lambda k: random.categorical(k, jnp.zeros(4), shape=(3,)),
        lambda k: random.randint(k, (3,), 0, 9),
        lambda k: random.gamma(k, jnp.array([1.0, 3.0])),
        lambda k: random.poisson(k, 3.0, (2,)),
        lambda k: random.multivariate_normal(k, jnp.zeros(2), jnp.eye(2)),
        lambda k: random.orthogonal(k, 2),
        lambda k: random.truncated_normal(k, -1.0, 1.0),
    ],
)
def test_what_is_mapped_over_keys_is_what_each_key_gives(draw):
    keys = random.split(KEY, 3)
    mapped = np.asarray(jax.vmap(draw)(keys))
    np.testing.assert_allclose(mapped, [np.asarray(draw(k)) for k in keys], rtol=1e-6)


def test_typed_keys_have_shapes_and_a_dtype():
    keys = random.split(random.key(0), 3)
    assert (jnp.shape(keys), jnp.ndim(keys), jnp.size(keys)) == ((3,), 1, 3)
    assert jnp.result_type(keys, keys[0]) == keys.dtype
    with pytest.raises(ValueError, match="key<fry> is not a valid dtype for JAX type promotion"):
        jnp.result_type(keys, 1.0)
    like = jax.ShapeDtypeStruct(keys.shape, keys.dtype)
    assert jax.eval_shape(lambda keys: jax.vmap(random.normal)(keys), like).shape == (3,)


def test_typed_keys_are_not_complex_and_have_zeros():
    key = jax.random.key(3)
    assert not jnp.iscomplexobj(key)
    assert jnp.isrealobj(key)
    assert jnp.iscomplexobj([1j])
    zeros = jnp.zeros_like(jax.random.split(key, 2))
    assert zeros.shape == (2,)
    assert jax.random.key_data(zeros).tolist() == [[0, 0], [0, 0]]


def test_mapping_over_typed_keys_seeds_and_parameters():
    keys = random.split(random.key(0), 3)
    assert jax.vmap(random.normal)(keys).tolist() == [float(random.normal(k)) for k in keys]
    assert jax.vmap(random.PRNGKey)(jnp.arange(2)).tolist() == [[0, 0], [0, 1]]
    assert jax.vmap(random.key)(jnp.arange(2)).shape == (2,)
    folded = jax.vmap(random.fold_in, in_axes=(None, 0))(KEY, jnp.arange(3))
    assert folded[2].tolist() == random.fold_in(KEY, 2).tolist()
    p = jnp.array([0.1, 0.9])
    drawn = jax.vmap(lambda p: random.bernoulli(KEY, p, (4,)))(p)
    assert drawn[1].tolist() == random.bernoulli(KEY, 0.9, (4,)).tolist()
    nested = jax.vmap(jax.vmap(random.uniform))(random.split(KEY, (2, 2)))
    assert nested[1, 0] == random.uniform(random.split(KEY, (2, 2))[1, 0])


# -- derivatives -----------------------------------------------------------------------------------


def test_samples_are_differentiable_by_parameters():
    slope = jax.grad(lambda a: random.uniform(KEY, (3,), minval=a, maxval=2 * a).sum())(2.0)
    assert close(slope, 5.2585382)
    slope = jax.grad(lambda s: (s * random.normal(KEY, (2,))).sum())(3.0)
    assert close(slope, 1.6226422 + 2.0252647)
    jacobian = jax.jacfwd(lambda m: random.multivariate_normal(KEY, m, jnp.eye(2)))(jnp.zeros(2))
    assert jacobian.tolist() == [[1, 0], [0, 1]]
    shuffled = jax.jacrev(lambda x: random.permutation(KEY, x))(jnp.zeros(3))
    assert shuffled.sum() == 3


def test_gamma_samples_move_with_their_shape_parameter():
    slope = jax.grad(lambda a: random.gamma(KEY, a))
    np.testing.assert_allclose(slope(2.0), 0.9656762, rtol=1e-5)
    np.testing.assert_allclose(slope(0.3), 2.2258236, rtol=1e-5)
    np.testing.assert_allclose(
        jax.grad(lambda a: random.loggamma(KEY, a))(0.3), 3.5371535, rtol=1e-4
    )
    np.testing.assert_allclose(
        jax.vmap(slope)(jnp.array([2.0, 0.3])), [0.96568, 2.22582], rtol=1e-4
    )
    _, forward = jax.jvp(lambda a: random.gamma(KEY, a), (2.0,), (1.0,))
    np.testing.assert_allclose(forward, 0.9656762, rtol=1e-5)
    np.testing.assert_allclose(
        jax.grad(lambda a: random.beta(KEY, a, 3.0))(2.0), 0.110430, rtol=1e-4
    )
    with pytest.raises(NotImplementedError, match="samples are differentiable once"):
        jax.grad(slope)(2.0)


def test_the_mean_of_a_gamma_sample_s_derivative_is_that_of_the_mean():
    slope = jax.grad(lambda a: random.gamma(KEY, a, (4000,)).mean())
    for a in (0.7, 5.0, 60.0):
        assert abs(float(slope(a)) - 1) < 0.06


# -- compiled draws --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draw",
    [
        lambda key: random.normal(key, (5, 3)),
        lambda key: random.normal(key, (20_000,)),
        lambda key: random.normal(key, (4,), jnp.bfloat16),
        lambda key: random.uniform(key, (4,), minval=-2.0, maxval=3.5),
        lambda key: random.gumbel(key, (4,), mode="high"),
        lambda key: random.exponential(key, (4,), jnp.float16),
        lambda key: random.laplace(key, (4,)) + random.logistic(key, (4,)),
        lambda key: random.randint(key, (9,), -3, 100),
        lambda key: random.randint(key, (9,), -(2**31), 2**31),
        lambda key: random.bits(key, (9,), "uint8"),
        lambda key: random.permutation(key, 30),
        lambda key: random.fold_in(random.split(key, (2, 3))[1, 2], 7),
        lambda key: random.PRNGKey(key[1] + 5),
        lambda key: jax.vmap(lambda k: random.normal(k, (3,)))(random.split(key, 4)),
    ],
)
def test_a_compiled_draw_is_the_same_to_the_last_bit(draw):
    function = jax.jit(draw)
    for _ in range(4):
        found = function(random.PRNGKey(3))
    assert "drawn_by" not in str(function._programs[0].program)
    wanted = draw(random.PRNGKey(3))
    assert found.dtype == wanted.dtype
    assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes()


def test_a_loop_that_draws_runs_natively():
    def walk(key):
        def step(place, key):
            return place + random.normal(key, (4,)), place

        return jax.lax.scan(step, jnp.zeros(4), random.split(key, 200))

    function = jax.jit(walk)
    for _ in range(4):
        found = function(KEY)
    assert "by NumPy" not in str(function._programs[0].explain())
    assert np.asarray(found[0]).tobytes() == np.asarray(walk(KEY)[0]).tobytes()


_THREE = random.split(random.key(0), 3)
_PLACES = jnp.arange(3)


@pytest.mark.parametrize(
    "moved",
    [
        lambda x: jnp.reshape(x, (3, 1)).T,
        lambda x: jnp.take(x, jnp.array([2, 0]), axis=0),
        lambda x: jnp.where(jnp.array([True, False, True]), x, x[1]),
        lambda x: jnp.roll(x, 1),
        lambda x: jnp.tile(x, (2, 2)),
        lambda x: jnp.concatenate([x, jnp.flip(x)]),
        lambda x: jnp.stack([x, x], axis=1)[:, 0],
        lambda x: jnp.append(x, x[:1]),
        lambda x: jnp.atleast_2d(x),
        lambda x: x.at[0].set(x[2]),
        lambda x: x.at[jnp.array([2, 1])].get(),
        lambda x: lax.dynamic_index_in_dim(x, 1, keepdims=False),
        lambda x: lax.select(jnp.array([True, False, True]), x, x[::-1]),
    ],
)
def test_keys_are_moved_as_numbers_are(moved):
    places, keys = moved(_PLACES), moved(_THREE)
    assert keys.shape == places.shape
    assert random.key_data(keys).tolist() == random.key_data(_THREE)[places].tolist()
    assert (jax.jit(moved)(_THREE) == keys).all()
    by_row = jax.vmap(moved)(jnp.stack([_THREE, _THREE]))
    assert (by_row[1] == keys).all()


@pytest.mark.parametrize(
    "moved",
    [
        lambda x: jnp.where(True, x, 0),
        lambda x: jnp.append(x, 1.0),
        lambda x: jnp.concatenate([x, _PLACES]),
        lambda x: x.at[0].set(1),
        lambda x: lax.select(True, x, _PLACES),
    ],
)
def test_keys_are_not_joined_with_numbers(moved):
    with pytest.raises(TypeError):
        moved(_THREE)
