"""Test `jax.nn` and `jax.nn.initializers`."""

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax import nn

X = jnp.array([-2.0, -0.5, 0.0, 0.5, 2.0])


def close(found, wanted, rtol=1e-5):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=1e-6)
    return True


def test_values():
    x = np.asarray(X, np.float64)
    sigmoid = 1 / (1 + np.exp(-x))
    assert close(nn.relu(X), np.maximum(x, 0))
    assert close(nn.relu6(X * 5), np.clip(x * 5, 0, 6))
    assert close(nn.sigmoid(X), sigmoid)
    assert close(nn.log_sigmoid(X), np.log(sigmoid))
    assert close(nn.softplus(X), np.log1p(np.exp(x)))
    assert close(nn.silu(X), x * sigmoid)
    assert close(nn.elu(X), np.where(x > 0, x, np.expm1(x)))
    assert close(nn.leaky_relu(X), np.where(x > 0, x, 0.01 * x))
    assert close(nn.hard_tanh(X), np.clip(x, -1, 1))
    assert close(nn.soft_sign(X), x / (1 + abs(x)))
    assert close(nn.squareplus(X), (x + np.sqrt(x * x + 4)) / 2)
    assert close(nn.hard_sigmoid(X), np.clip(x + 3, 0, 6) / 6)
    assert close(nn.mish(X), x * np.tanh(np.log1p(np.exp(x))))
    assert close(nn.gelu(X), [-0.045402, -0.154286, 0, 0.345714, 1.954598], rtol=1e-4)
    assert close(nn.gelu(X, approximate=False), [-0.0455, -0.154269, 0, 0.345731, 1.9545], 1e-4)
    assert close(nn.glu(jnp.array([1.0, 2.0, 0.0, 0.0])), [0.5, 1])
    assert nn.swish is nn.silu


@pytest.mark.parametrize(
    ("function", "slopes"),
    [
        (nn.relu, [0, 0, 0, 1, 1]),
        (nn.relu6, [0, 0, 0, 1, 1]),
        (nn.celu, [np.exp(-2), np.exp(-0.5), 1, 1, 1]),
        (lambda x: nn.hard_sigmoid(x - 1), [0, 1 / 6, 1 / 6, 1 / 6, 1 / 6]),
        (nn.leaky_relu, [0.01, 0.01, 1, 1, 1]),
        (nn.hard_tanh, [0, 1, 1, 1, 0]),
        (nn.soft_sign, [1 / 9, 4 / 9, 1, 4 / 9, 1 / 9]),
        (nn.elu, [np.exp(-2), np.exp(-0.5), 1, 1, 1]),
    ],
)
def test_derivatives_at_kinks_and_elsewhere(function, slopes):
    assert close(jax.vmap(jax.grad(function))(X), slopes)


def test_softmax_sums_to_1_and_does_not_overflow():
    big = jnp.array([[1000.0, 1000.0], [0.0, -1000.0]])
    assert close(nn.softmax(big), [[0.5, 0.5], [1, 0]])
    assert close(nn.log_softmax(big)[0], [-np.log(2)] * 2)
    assert close(nn.softmax(X, axis=None).sum(), 1)
    masked = nn.softmax(X, where=X > 0)
    assert close(masked[:3], 0)
    assert close(masked.sum(), 1)
    jacobian = jax.jacrev(nn.softmax)(X)
    p = np.asarray(nn.softmax(X))
    assert close(jacobian, np.diag(p) - np.outer(p, p))


def test_logsumexp():
    assert close(nn.logsumexp(jnp.array([1000.0, 1000.0])), 1000 + np.log(2))
    assert np.isneginf(nn.logsumexp(jnp.array([-jnp.inf, -jnp.inf])))
    value, sign = nn.logsumexp(jnp.zeros(2), b=jnp.array([1.0, -3.0]), return_sign=True)
    assert close(value, np.log(2))
    assert sign == -1
    assert close(nn.logsumexp(X, where=X > 0), np.log(np.exp(0.5) + np.exp(2)))
    assert nn.logsumexp(jnp.ones((2, 3)), axis=1, keepdims=True).shape == (2, 1)
    assert close(jax.grad(nn.logsumexp)(X), nn.softmax(X))
    assert close(jax.grad(nn.logsumexp)(jnp.array([0.0, -jnp.inf])), [1, 0])


def test_one_hot():
    assert nn.one_hot(jnp.array([0, 2, 5, -1]), 3).tolist() == [
        [1, 0, 0],
        [0, 0, 1],
        [0, 0, 0],
        [0, 0, 0],
    ]
    assert nn.one_hot(jnp.array([0, 2]), 3, axis=0).shape == (3, 2)
    assert nn.one_hot(1, 3, dtype=int).dtype == np.int32


def test_standardize():
    found = nn.standardize(X)
    assert close(found.mean(), 0)
    assert close(found.std(), 1, rtol=1e-4)


def test_attention_looks_back_only_if_it_is_causal():
    key = jax.random.PRNGKey(0)
    q, k, v = jax.random.normal(key, (3, 1, 4, 2, 8))
    causal = nn.dot_product_attention(q, k, v, is_causal=True)
    assert causal.shape == (1, 4, 2, 8)
    assert close(causal[0, 0], v[0, 0])
    later = nn.dot_product_attention(q, k, v.at[0, 3].set(9.0), is_causal=True)
    assert close(later[0, :3], causal[0, :3])
    uniform = nn.dot_product_attention(q * 0, k, v)
    assert close(uniform[0, 0], np.asarray(v[0]).mean(0), rtol=1e-4)


@pytest.mark.parametrize(
    ("init", "deviation"),
    [
        (nn.initializers.glorot_normal(), np.sqrt(2 / 500)),
        (nn.initializers.glorot_uniform(), np.sqrt(2 / 500)),
        (nn.initializers.he_normal(), np.sqrt(2 / 300)),
        (nn.initializers.lecun_uniform(), np.sqrt(1 / 300)),
        (nn.initializers.normal(0.5), 0.5),
        (nn.initializers.uniform(1.0), np.sqrt(1 / 12)),
        (nn.initializers.variance_scaling(3.0, "fan_out", "normal"), np.sqrt(3 / 200)),
        (nn.initializers.orthogonal(), np.sqrt(1 / 300)),
    ],
)
def test_initial_weights_have_their_deviation(init, deviation):
    weights = init(jax.random.PRNGKey(0), (300, 200))
    assert weights.dtype == np.float32
    assert abs(float(weights.std()) / deviation - 1) < 0.03


def test_initial_weights_of_one_value():
    key = jax.random.PRNGKey(0)
    assert nn.initializers.zeros(key, (2,)).tolist() == [0, 0]
    assert nn.initializers.ones(key, (2,), jnp.int32).dtype == np.int32
    assert nn.initializers.constant(3.0)(key, (2,)).tolist() == [3, 3]


def test_weights_that_have_no_fans_are_refused():
    with pytest.raises(ValueError, match="Can't compute input and output sizes"):
        nn.initializers.glorot_normal()(jax.random.PRNGKey(0), (3,))
    with pytest.raises(ValueError, match="invalid mode"):
        nn.initializers.variance_scaling(1.0, "fan", "normal")(jax.random.PRNGKey(0), (3, 3))


def test_a_network_learns():
    key = jax.random.PRNGKey(0)
    of_x, of_w, of_v = jax.random.split(key, 3)
    x = jax.random.normal(of_x, (64, 3))
    labels = nn.one_hot((x[:, 0] * x[:, 1] > 0).astype(int), 2)
    params = [
        (nn.initializers.he_normal()(of_w, (3, 32)), jnp.zeros(32)),
        (nn.initializers.he_normal()(of_v, (32, 2)), jnp.zeros(2)),
    ]

    def loss(params):
        (w, b), (v, c) = params
        logits = nn.relu(x @ w + b) @ v + c
        return -jnp.mean(jnp.sum(nn.log_softmax(logits) * labels, -1))

    first = loss(params)
    for _ in range(60):
        grads = jax.grad(loss)(params)
        params = jax.tree_util.tree_map(lambda p, g: p - 0.5 * g, params, grads)
    assert loss(params) < 0.4 * first


def test_softmax_of_nothing_is_nothing():
    for f in (nn.softmax, nn.log_softmax):
        for x, f_of_x in ((jnp.array([]), f), (jnp.zeros((2, 0)), jax.vmap(f))):
            for found in (f_of_x(x), jax.grad(lambda x, f=f_of_x: f(x).sum())(x)):
                assert (found.shape, found.dtype) == (x.shape, jnp.float32)
