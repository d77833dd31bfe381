"""Test several hundred calls against JAX: values, dtypes, weak types, gradients, errors.

The calls are in ``calls/*.txt``, one per line. Skipped where JAX is not installed.
"""

import importlib
import pathlib
import re
import warnings

import numpy as np
import pytest

theirs = pytest.importorskip("jax")
pytestmark = pytest.mark.slow


from wengert.compat import jax as ours  # noqa: E402

importlib.import_module("jax.flatten_util")
importlib.import_module("wengert.compat.jax.flatten_util")
for _name in (
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "special",
    "stats",
):
    importlib.import_module(f"jax.scipy.{_name}")

CALLS = pathlib.Path(__file__).with_name("calls")
NUMBERS = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


def calls(name):
    return [line for line in (CALLS / f"{name}.txt").read_text().splitlines() if line.strip()]


def names_of(jax):
    """The names that calls use, in one of the libraries."""
    jnp = jax.numpy
    draw = np.random.default_rng(1).normal
    return {
        "jax": jax,
        "jnp": jnp,
        "lax": jax.lax,
        "np": np,
        "nn": jax.nn,
        "sp": jax.scipy,
        "st": jax.scipy.stats,
        "random": jax.random,
        "k": jax.random.PRNGKey(0),
        "kk": jax.random.key(0),
        "i8": jnp.arange(3, dtype="int8"),
        "u8": jnp.arange(3, dtype="uint8"),
        "b": jnp.array([True, False]),
        "f": jnp.arange(3.0),
        "w": jnp.asarray(1.0),
        "wi": jnp.asarray(2),
        "w3": jnp.asarray(1.5) * jnp.ones_like(1, shape=(3,)),
        "b0": jnp.asarray(True),
        "i": jnp.arange(3),
        "ii": jnp.array([[3, 1, 2], [0, 5, 4]]),
        "c": jnp.array([1 + 2j, 3]),
        "n": jnp.array([1.0, np.nan, 3.0, np.inf]),
        "m": jnp.array([[2.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 4.0]]),
        "r": jnp.array(NUMBERS),
        "t": jnp.array(draw(size=(2, 3, 4)).astype(np.float32)),
        "q": jnp.array(draw(size=(2, 5, 2, 4)).astype(np.float32)),
    }


THEIRS, OURS = names_of(theirs), names_of(ours)


def result_of(call, names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(call, names), None
        except Exception as error:
            return None, error


def leaves(value):
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


@pytest.mark.parametrize(
    "call", [call for name in ("numpy", "functions", "random") for call in calls(name)]
)
def test_results_are_those_of_jax(call):
    wanted, refused = result_of(call, THEIRS)
    found, error = result_of(call, OURS)
    if refused is not None:
        assert error is not None, f"JAX raises {refused!r}"
        assert isinstance(error, type(refused)) or type(error).__name__ == type(refused).__name__
        return
    assert error is None, repr(error)
    there, here = leaves(wanted), leaves(found)
    assert len(there) == len(here)
    for x, y in zip(there, here, strict=True):
        if "key<" in str(getattr(x, "dtype", "")):
            assert repr(x) == repr(y)
        elif hasattr(x, "weak_type"):
            assert (x.dtype, x.weak_type, tuple(x.shape)) == (y.dtype, y.weak_type, tuple(y.shape))
            if isinstance(x, theirs.ShapeDtypeStruct):
                continue
            np.testing.assert_allclose(np.asarray(y), np.asarray(x), rtol=1e-4, atol=2e-5)
        elif isinstance(x, np.ndarray):
            np.testing.assert_array_equal(x, y)
        else:
            assert type(x) is type(y) or isinstance(x, type)
            assert x == y


def weighted(call, jax, names):
    """A number out of all fractions that a call gives for `r`."""
    jnp, code = jax.numpy, compile(call, call, "eval")

    def function(r):
        total = 0.0
        for y in leaves(eval(code, {**names, "r": r})):
            if hasattr(y, "dtype") and y.dtype.kind in "fc":
                weights = np.cos(np.arange(y.size)).reshape(y.shape).astype(np.float32)
                y = jnp.where(jnp.isfinite(y), y, 0.0)
                total = total + jnp.sum(jnp.real(y) * weights)
                if y.dtype.kind == "c":
                    total = total + 0.7 * jnp.sum(jnp.imag(y) * weights)
        return total

    return function


@pytest.mark.parametrize(
    "call",
    [
        call
        for name in ("numpy", "functions")
        for call in calls(name)
        if re.search(r"\br\b", call) and "minimize" not in call and "spence" not in call
    ],
)
def test_derivatives_are_those_of_jax(call):
    try:
        wanted = np.asarray(theirs.grad(weighted(call, theirs, THEIRS))(THEIRS["r"]))
    except Exception as error:
        pytest.skip(f"not differentiable in JAX: {type(error).__name__}")
    function = weighted(call, ours, OURS)
    found = np.asarray(ours.grad(function)(OURS["r"]))
    np.testing.assert_allclose(found, wanted, rtol=3e-4, atol=3e-5)
    direction = np.cos(np.arange(12)).reshape(3, 4).astype(np.float32)
    _, slope = ours.jvp(function, (OURS["r"],), (ours.numpy.array(direction),))
    np.testing.assert_allclose(float(slope), (found * direction).sum(), rtol=2e-3, atol=2e-4)
