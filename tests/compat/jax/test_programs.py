"""Test programs in the style of JAX's tutorials, and their results."""

import functools

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax import (
    grad,
    jacfwd,
    jacrev,
    jit,
    jvp,
    lax,
    random,
    value_and_grad,
    vjp,
    vmap,
)
from wengert.compat.jax.flatten_util import ravel_pytree

INPUTS = jnp.array([[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30]])
TARGETS = jnp.array([True, True, False])


def close(a, b, tolerance=1e-4):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


def predict(w, b):
    return 0.5 * (jnp.tanh((INPUTS @ w + b) / 2) + 1)


def loss(w, b):
    probabilities = predict(w, b) * TARGETS + (1 - predict(w, b)) * (1 - TARGETS)
    return -jnp.sum(jnp.log(probabilities))


@pytest.fixture
def weights():
    key_w, key_b = random.split(random.key(0))
    return random.normal(key_w, (3,)), random.normal(key_b, ())


# -- the cookbook of derivatives -------------------------------------------------------------------


def test_logistic_regression(weights):
    w, b = weights
    by_w, by_b = grad(loss, (0, 1))(w, b)
    step = 1e-2
    numerical = (loss(w, b + step / 2) - loss(w, b - step / 2)) / step
    close(by_b, numerical, 1e-2)
    value, pair = value_and_grad(loss, (0, 1))(w, b)
    close(value, loss(w, b))
    close(pair[0], by_w)
    by_name = grad(lambda p: loss(p["w"], p["b"]))({"w": w, "b": b})
    close(by_name["b"], by_b)


def test_jacobians_by_hand(weights):
    w, b = weights
    f = functools.partial(predict, b=b)

    def rows(w):
        y, pull = vjp(f, w)
        return vmap(pull)(jnp.eye(len(y)))[0]

    def columns(w):
        return vmap(lambda t: jvp(f, (w,), (t,))[1], in_axes=1, out_axes=1)(jnp.eye(len(w)))

    for jacobian in (jacrev(f), jacfwd(f), rows, columns):
        close(jacobian(w), jacrev(f)(w))
    assert jacfwd(jacrev(f))(w).shape == (3, 3, 3)


def test_products_with_hessians():
    def f(x):
        return jnp.sum(jnp.tanh(x) ** 2)

    x, v = random.normal(random.key(1), (4, 5)), random.normal(random.key(2), (4, 5))
    expected = jnp.tensordot(jacfwd(jacrev(f))(x), v, 2)
    close(jvp(grad(f), (x,), (v,))[1], expected)
    close(grad(lambda x: jnp.vdot(grad(f)(x), v))(x), expected)
    close(grad(lambda p: jvp(f, p, (v,))[1])((x,))[0], expected)


def test_a_complex_function_of_its_parts():
    def u(x, y):
        return 0.3 * x + 0.7 * y**2

    def v(x, y):
        return 0.1 * x * y - y

    def f(z):
        x, y = jnp.real(z), jnp.imag(z)
        return u(x, y) + v(x, y) * 1j

    z, t = 0.2 + 0.5j, 1.5 - 0.7j
    parts = (z.real, z.imag), (t.real, t.imag)
    close(jvp(f, (z,), (t,))[1], jvp(u, *parts)[1] + 1j * jvp(v, *parts)[1])


def test_the_derivative_of_a_cholesky_factor():
    A = jnp.array([[5.0, 2.0 + 3j, 5j], [2.0 - 3j, 7.0, 1.0 + 7j], [-5j, 1.0 - 7j, 12.0]])

    def f(x):
        factor = jnp.linalg.cholesky(x)
        return jnp.sum((factor - jnp.sin(factor)) ** 2)

    found = grad(f, holomorphic=True)(A)
    close(found[0], [-0.753, -3.051 - 10.941j, 5.99 + 3.542j], 2e-3)


# -- more of derivatives ---------------------------------------------------------------------------


def test_learning_to_learn():
    def inner(p, data):
        return jnp.sum((p - data) ** 2)

    def outer(p, data):
        return inner(p - 0.1 * grad(inner)(p, data), data)

    data = jnp.array([2.0, 3.0])
    close(grad(outer)(jnp.ones(2), data), 0.64 * 2 * (np.ones(2) - np.array([2.0, 3.0])))


def test_temporal_differences():
    def value(theta, state):
        return jnp.dot(theta, state)

    def td_loss(theta, before, reward, after):
        target = lax.stop_gradient(reward + value(theta, after))
        return -0.5 * (target - value(theta, before)) ** 2

    theta = jnp.array([0.1, -0.1, 0.0])
    before, reward, after = jnp.array([1.0, 2.0, -1.0]), jnp.array(1.0), jnp.array([2.0, 1.0, 0.0])
    error = reward + value(theta, after) - value(theta, before)
    close(grad(td_loss)(theta, before, reward, after), error * before)
    each = jit(vmap(grad(td_loss), in_axes=(None, 0, 0, 0)))
    rows = each(theta, jnp.stack([before] * 2), jnp.stack([reward] * 2), jnp.stack([after] * 2))
    close(rows, np.stack([np.asarray(error * before)] * 2))


# -- training --------------------------------------------------------------------------------------


def layers(sizes, key):
    keys = random.split(key, len(sizes))
    return [
        {"w": 0.3 * random.normal(k, (m, n)), "b": jnp.zeros(n)}
        for m, n, k in zip(sizes[:-1], sizes[1:], keys, strict=False)
    ]


def forward(params, x):
    *hidden, last = params
    for layer in hidden:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]


def mean_square(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


def test_a_network_is_trained_with_trees():
    x = np.linspace(-1, 1, 64).reshape(-1, 1)
    y = x**2
    params = layers([1, 16, 1], random.key(0))
    first = mean_square(params, x, y)

    @jit
    def update(params):
        grads = grad(mean_square)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    for _ in range(100):
        params = update(params)
    assert mean_square(params, x, y) < 0.2 * first
    assert all(leaf.dtype == "float32" for leaf in jax.tree.leaves(params))


def test_training_within_a_scan():
    x = jnp.linspace(-1, 1, 16).reshape(-1, 1)
    params = layers([1, 8, 1], random.key(0))

    def step(params, _):
        value, grads = value_and_grad(mean_square)(params, x, x**2)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    _, losses = lax.scan(step, params, None, length=20)
    assert losses.shape == (20,)
    assert losses[-1] < losses[0]


def test_a_classifier_with_adam():
    rng = np.random.RandomState(0)
    images, labels = rng.normal(size=(40, 8)).astype(np.float32), rng.randint(0, 3, 40)
    images[:, 0] += labels
    targets = jax.nn.one_hot(labels, 3)
    params = layers([8, 16, 3], random.key(1))

    def cross_entropy(params):
        scores = vmap(functools.partial(forward, params))(images)
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(scores) * targets, axis=-1))

    @jit
    def step(state, params):
        m, v, t = state
        grads = grad(cross_entropy)(params)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, v, grads)
        t = t + 1
        params = jax.tree.map(
            lambda p, m, v: p - 0.02 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8),
            params,
            m,
            v,
        )
        return (m, v, t), params

    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (zeros, zeros, 0)
    before = cross_entropy(params)
    for _ in range(30):
        state, params = step(state, params)
    assert cross_entropy(params) < 0.5 * before
    assert state[2] == 30


def test_norms_of_the_gradients_of_examples():
    params = layers([2, 3, 1], random.key(2))
    x, y = random.normal(random.key(3), (5, 2)), jnp.ones((5, 1))
    rows = vmap(grad(mean_square), in_axes=(None, 0, 0))(params, x, y)
    norms = vmap(lambda g: jnp.linalg.norm(ravel_pytree(g)[0]))(rows)
    expected = [
        jnp.linalg.norm(ravel_pytree(grad(mean_square)(params, x[i], y[i]))[0]) for i in range(5)
    ]
    close(norms, jnp.stack(expected))


def test_a_recurrent_network():
    w = 0.3 * random.normal(random.key(0), (3, 3))
    xs = random.normal(random.key(1), (6, 3))

    def f(w):
        _, states = lax.scan(lambda h, x: (jnp.tanh(w @ h + x),) * 2, jnp.zeros(3), xs)
        return jnp.sum(states**2)

    def unrolled(w):
        h, total = jnp.zeros(3), 0.0
        for x in xs:
            h = jnp.tanh(w @ h + x)
            total += jnp.sum(h**2)
        return total

    close(f(w), unrolled(w))
    close(grad(f)(w), grad(unrolled)(w))
    direction = jnp.ones((3, 3))
    close(jvp(f, (w,), (direction,))[1], jnp.sum(grad(f)(w)))


def test_newtons_method_and_its_derivative():
    def root(a):
        def f(x):
            return x**2 - a

        return lax.fori_loop(0, 12, lambda i, x: x - f(x) / grad(f)(x), 1.0)

    close(root(2.0), np.sqrt(2))
    close(grad(root)(2.0), 0.5 / np.sqrt(2))


def test_the_likelihood_of_a_gaussian_process():
    xs = jnp.linspace(0, 1, 4)

    def likelihood(scale):
        k = jnp.exp(-0.5 * ((xs[:, None] - xs[None, :]) / scale) ** 2) + 0.1 * jnp.eye(4)
        return 0.5 * jnp.sin(xs) @ jnp.linalg.solve(k, jnp.sin(xs)) + 0.5 * jnp.linalg.slogdet(k)[1]

    step = 1e-2
    numerical = (likelihood(0.5 + step) - likelihood(0.5 - step)) / (2 * step)
    close(grad(likelihood)(0.5), numerical, 1e-2)


# -- sharp bits ------------------------------------------------------------------------------------


def test_the_same_key_gives_the_same_numbers():
    key = random.key(0)
    assert random.normal(key) == random.normal(key)
    key, other = random.split(key)
    assert random.normal(key) != random.normal(other)


def test_the_other_branch_does_not_spoil_a_gradient():
    def safe(x):
        return jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0)

    assert grad(safe)(0.0) == 0.0
    assert grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))(0.0) == 0.0  # in JAX it is NaN


def test_a_function_of_differences():
    def differences(f, x, step=1e-2):
        return jnp.array(
            [(f(x + step * v) - f(x - step * v)) / (2 * step) for v in jnp.eye(len(x))]
        )

    def f(x):
        return jnp.sum(1.0 / (1.0 + jnp.exp(-x)))

    x = jnp.arange(3.0)
    close(differences(f, x), grad(f)(x), 1e-3)
    assert grad(jit(grad(jit(grad(f)))))(1.0) < 0


def test_python_decides_within_a_gradient():
    def f(x):
        try:
            if x < 3:
                return 2 * x**3
            raise ValueError
        except ValueError:
            return jnp.pi * x

    assert grad(f)(2.0) == 24.0
    close(jit(vjp(f, 4.0)[1])(1.0)[0], np.pi)


def test_the_same_function_in_three_libraries():
    x = jnp.arange(4.0)
    gradient = grad(lambda x: 2 * jnp.dot(x, x))(x)
    assert (gradient == 4 * x).all()

    def f(a):
        b = a * 2
        while jnp.linalg.norm(b) < 1000:
            b = b * 2
        return b if b.sum() > 0 else 100 * b

    a = random.normal(random.PRNGKey(1), ())
    assert grad(f)(a) == f(a) / a
