"""Test the calls of ``calls/*.txt`` under transforms, without JAX.

First and second derivatives are compared with finite differences, and batches with loops.
"""

import pathlib
import re
import warnings

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax

pytest.importorskip("scipy")
pytestmark = pytest.mark.slow

CALLS = pathlib.Path(__file__).with_name("calls")
NUMBERS = np.random.default_rng(0).normal(size=(3, 4))
DIRECTION = np.cos(np.arange(12)).reshape(3, 4)


def calls():
    lines = [
        line
        for name in ("functions", "numpy")
        for line in (CALLS / f"{name}.txt").read_text().splitlines()
    ]
    return [line for line in lines if re.search(r"\br\b", line) and "minimize" not in line]


def names():
    return {
        "jnp": jnp,
        "np": np,
        "nn": jax.nn,
        "sp": jax.scipy,
        "st": jax.scipy.stats,
        "k": jax.random.PRNGKey(0),
        "b": jnp.array([True, False]),
        "f": jnp.arange(3.0),
        "i": jnp.arange(3),
        "ii": jnp.array([[3, 1, 2], [0, 5, 4]]),
        "m": jnp.array([[2.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 4.0]]),
        "t": jnp.array(np.random.default_rng(1).normal(size=(2, 3, 4))),
    }


def leaves(value):
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def weighted(call):
    code, known = compile(call, call, "eval"), names()

    def function(r):
        total = jnp.zeros(())
        for y in leaves(eval(code, {**known, "r": r})):
            if hasattr(y, "dtype") and y.dtype.kind in "fc":
                y = jnp.where(jnp.isfinite(y), y, 0.0)
                total = total + jnp.sum(jnp.real(y) * np.cos(np.arange(y.size)).reshape(y.shape))
        return total

    return function


def gradient_of(function):
    try:
        return np.asarray(jax.grad(function)(jnp.array(NUMBERS)))
    except (TypeError, ValueError, IndexError, NotImplementedError, ZeroDivisionError) as error:
        pytest.skip(f"the call is an error of its own: {error!r}")


@pytest.mark.parametrize("call", calls())
def test_derivatives_of_first_and_second_order_and_batches(call):
    function = weighted(call)
    slope = gradient_of(function)
    x, v, step = jnp.array(NUMBERS), jnp.array(DIRECTION), 1e-6
    ahead, behind = x + step * v, x - step * v
    along = (float(function(ahead)) - float(function(behind))) / (2 * step)
    np.testing.assert_allclose((slope * DIRECTION).sum(), along, rtol=1e-4, atol=1e-4)
    _, forward = jax.jvp(function, (x,), (v,))
    np.testing.assert_allclose(float(forward), along, rtol=1e-4, atol=1e-4)
    grad = jax.grad(function)
    second = (np.asarray(grad(ahead)) - np.asarray(grad(behind))) / (2 * step)
    mixed = jax.jvp(grad, (x,), (v,))[1]
    np.testing.assert_allclose(mixed, second, rtol=1e-3, atol=1e-3)
    reverse = jax.grad(lambda y: jnp.vdot(grad(y), v))(x)
    np.testing.assert_allclose(reverse, second, rtol=1e-3, atol=1e-3)
    try:
        batched = jax.vmap(grad)(jnp.stack([x, x]))
    except jax.errors.JAXTypeError:
        return  # its shape depends on values
    np.testing.assert_allclose(batched[1], slope, rtol=1e-6, atol=1e-8)
