"""Test the calls of ``calls/*.txt`` under `jit`: repeated calls equal uncompiled ones."""

import pathlib
import re
import warnings

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax.trees import tree_flatten

pytest.importorskip("scipy")
pytestmark = pytest.mark.slow

DRAW = np.random.default_rng(1).normal
ARRAYS = {
    "k": jax.random.PRNGKey(0),
    "kk": jax.random.key(0),
    "i8": jnp.arange(3, dtype="int8"),
    "u8": jnp.arange(3, dtype="uint8"),
    "b": jnp.array([True, False]),
    "f": jnp.arange(3.0),
    "w": jnp.asarray(1.0),
    "i": jnp.arange(3),
    "ii": jnp.array([[3, 1, 2], [0, 5, 4]]),
    "c": jnp.array([1 + 2j, 3]),
    "n": jnp.array([1.0, np.nan, 3.0, np.inf]),
    "m": jnp.array([[2.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 4.0]]),
    "r": jnp.array(DRAW(size=(3, 4))),
    "t": jnp.array(DRAW(size=(2, 3, 4))),
    "q": jnp.array(DRAW(size=(2, 5, 2, 4))),
}
MODULES = {
    "jnp": jnp,
    "np": np,
    "nn": jax.nn,
    "sp": jax.scipy,
    "st": jax.scipy.stats,
    "random": jax.random,
}
CALLS = 3


def calls():
    files = sorted(pathlib.Path(__file__).with_name("calls").glob("*.txt"))
    return [line for file in files for line in file.read_text().splitlines() if line.strip()]


def outcome(function, args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args), None
        except Exception as error:
            return None, error


@pytest.mark.parametrize("call", calls())
def test_a_jitted_call_gives_what_the_call_gives(call):
    used = [name for name in ARRAYS if re.search(rf"\b{name}\b", call)]
    function = eval(f"lambda {', '.join(used)}: (({call}),)", dict(MODULES))
    args = [ARRAYS[name] for name in used]
    jitted = jax.jit(function)
    with jax.disable_jit():
        wanted, refused = outcome(jitted, args)
    for _ in range(CALLS):
        found, error = outcome(jitted, args)
        assert type(error) is type(refused)
        leaves, structure = tree_flatten(found)
        others, other = tree_flatten(wanted)
        assert structure == other
        for x, y in zip(leaves, others, strict=True):
            assert (type(x), x.dtype, x.shape) == (type(y), y.dtype, y.shape)
            if x.dtype.kind in "fcV":
                x, y = (np.asarray(part).astype(complex) for part in (x, y))
                np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
            else:
                np.testing.assert_array_equal(np.asarray(x), np.asarray(y))
