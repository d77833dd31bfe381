"""Test calls against JAX, if installed: values, dtypes, texts and errors."""

import functools
import warnings

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax import lax, random

theirs = pytest.importorskip("jax")

CALLS = """
X / 3
X * 2.5
X // 3, X % 3, divmod(F, 2.0)
X ** 2, 2 ** X, F ** 2.5, 2.0 ** F, F ** F
X.astype("int8") * 1000
F.astype("float16") + 1.0, F.astype("float16") + F
X & 3, X | 1, X ^ 2, X << 1, X >> 1, ~X
(X > 3) + (X > 5), (X > 3) * 2, (X > 3) * 2.0
jnp.asarray(2), jnp.asarray(2.0), jnp.asarray(1 + 2j), jnp.asarray(True)
jnp.asarray([1, 2]), jnp.asarray([1, 2.0, True]), jnp.asarray(np.arange(3.0))
jnp.zeros((0, 3)), jnp.array([]), jnp.ones(())
M, jnp.ones((2, 2, 2)), jnp.arange(30.0), jnp.array([1.5, 1e10]), jnp.array([1 + 2j])
X[11], X[-11], X[np.array([11, -12, 3])], X[::-3], X[11:20], X[X > 5], X[None, ..., 2]
M[0, [1, 2]], M[5, 1], M[0:1, 7], M[:, None].shape, M[(0, 1), (1, 2)]
X.at[11].set(5), X.at[np.array([11, -12, 0])].set(5)
F.at[np.array([7, 2])].get(mode="fill"), F.at[np.array([7, 2])].set(9.0, mode="clip")
X.at[np.array([1, 1, 1])].add(1), F.at[np.array([1, 1])].multiply(3.0)
X.at[2].divide(5), F.at[2].power(2), F.at[2].min(1.0), F.at[2].max(10.0), F.at[1].apply(jnp.sin)
float(F[1]), int(X[3]), F.tolist(), str(F), f"{F[1]:.3f}", X.aval
X[[1, 2]]
X[1.0]
X["a"]
X[1, 2]
X + F
M + jnp.ones(4)
X ** -1
-(X > 3)
(X > 3) - (X > 5)
F & 1
hash(X)
float(F)
bool(F)
jnp.asarray(2**40)
jnp.asarray("a")
grad(square)(3.0), grad(square)(jnp.float32(3)), value_and_grad(square)(3.0)
grad(lambda d: d["a"] ** 2 * d["b"][0])({"a": 3.0, "b": (2.0,)})
grad(lambda x, y: x * y, (0, 1))(2.0, 3.0)
grad(square, holomorphic=True)(Z), vjp(square, Z)[1](1j), jvp(square, (Z,), (1j,))
vjp(lambda z: jnp.conj(z) * 2j, Z)[1](1 + 2j)
jacfwd(square)(F), jacrev(square)(F), hessian(lambda x: (x**3).sum())(F)
jacfwd(square, holomorphic=True)(jnp.array([Z, 1j]))
jacrev(lambda x, y: {"a": x * y, "b": [x]}, argnums=(0, 1))(2.0, 3.0)
hessian(lambda d: d["a"] ** 2 * d["b"])({"a": 2.0, "b": 3.0})
grad(lax.abs)(0.0), grad(lambda x: lax.max(x, 0.0))(0.0)
grad(lambda x: lax.clamp(0.0, x, 1.0))(0.0)
linearize(square, 3.0)[1](2.0), linear_transpose(lambda x: 2 * x, 1.0)(3.0)
grad(square)(3)
grad(square)(F)
grad(square)(Z)
grad(square, holomorphic=True)(3.0)
grad(square, argnums=1)(3.0)
vjp(square, F)[1](jnp.ones(2))
jvp(square, (3.0,), (1,))
jvp(square, 3.0, 1.0)
jvp(square, (jnp.ones(2),), (jnp.ones(3),))
jacfwd(square)(3)
vmap(square)(F), vmap(lambda x, y: x + y, in_axes=(0, None))(X, 1)
vmap(lambda x: x, in_axes=1, out_axes=1)(M).shape, vmap(lambda: 1.0, axis_size=3)()
vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(F + 1)
vmap(lambda x: lax.pmean(x, "i"), axis_name="i")(F)
vmap(lambda p, x: lax.cond(p, lambda x: x, lambda x: -x, x))(F > 1, F)
vmap(lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2), (0, 1)))(X)
vmap(lambda x, y: x + y)(jnp.ones(3), jnp.ones(2))
vmap(square)(3.0)
vmap(square, in_axes=(0, 0))(F)
vmap(lambda x: x if x > 1 else 0 * x)(F)
jit(square)(3), jit(square)(3.0), jit(lambda x: x)([1, (2.0, None)])
jit(lambda x, s: x)(1, "a")
jit(lambda x: "a")(1)
lax.scan(lambda c, x: (c + x, c * x), 0, X), lax.scan(lambda c, x: (c + x, c), 0, F)
lax.scan(lambda c, _: (c + 1, c), 0, None, length=3)
lax.scan(lambda c, x: (c, x), 0.0, F, reverse=True)
lax.fori_loop(0, 3, lambda i, x: x * 2, 1.0), lax.while_loop(lambda x: x < 10, lambda x: x * 2.0, 1)
lax.switch(7, [lambda x: x, lambda x: x * 2], 3), lax.cond(False, lambda: 1, lambda: 2)
lax.associative_scan(jnp.add, X), lax.map(lambda x: x**2, X)
lax.add(1, 1.0)
lax.add(jnp.ones(3), jnp.ones(2))
lax.sin(1)
lax.div(-7, 2), lax.rem(-7, 2), lax.round(2.5), lax.rsqrt(4.0), lax.population_count(7), lax.clz(1)
lax.pad(X, 0, [(1, 2, 1)]), lax.dynamic_slice(X, (8,), (3,)), lax.slice(X, (1,), (5,), (2,))
lax.sort((X[::-1], X), num_keys=1), lax.top_k(F, 2), lax.cumsum(X, reverse=True), lax.cummax(X)
lax.reduce(X, 0, lax.add, (0,)), lax.reduce_window(F, 0.0, lax.add, (2,), (1,), "SAME")
lax.conv(M.reshape(1, 1, 2, 3), jnp.ones((1, 1, 2, 2)), (1, 1), "SAME")
lax.conv_transpose(M.reshape(1, 2, 3, 1), jnp.ones((3, 3, 1, 1)), (2, 2), "SAME")[0, :, :, 0]
lax.dot_general(jnp.ones((4, 2, 3)), jnp.ones((4, 3, 5)), (((2,), (1,)), ((0,), (0,)))).shape
jax.tree.structure([1, {"b": 2, "a": (3,)}, None, ()]), jax.tree.leaves({"b": 1, "a": 2})
jax.eval_shape(lambda x: jnp.dot(x, x), jax.ShapeDtypeStruct((3,), jnp.float32))
jax.ops.segment_sum(X, np.array([0, 0, 1, 1, 2, 9, 9, 9, 9, 9]), 3)
jax.devices(), jax.default_backend(), jax.typeof(3.0)
grad(lambda x: (x.at[np.array([0, 0])].add(x[1:]) ** 2).sum())(F)
jacrev(lambda x: x.at[0].multiply(x[2]))(F), jacfwd(lambda x: x[::-1][:2])(F)
random.normal(random.key(0), (3,)).shape
"""


def square(x):
    return x**2


def names(library, numpy_, lax_, random_):
    transforms = (
        "grad value_and_grad vjp jvp jacfwd jacrev hessian vmap jit linearize linear_transpose"
    )
    return {
        **{name: getattr(library, name) for name in transforms.split()},
        "jax": library,
        "jnp": numpy_,
        "lax": lax_,
        "np": np,
        "random": random_,
        "square": square,
        "Z": 3 + 4j,
        "X": numpy_.arange(10),
        "F": numpy_.arange(3.0),
        "M": numpy_.arange(6.0).reshape(2, 3),
    }


def outcome(call, known):
    """What a call gives, or the class and first words of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(call, known)
        except Exception as error:
            return error


def described(value):
    """A result as values, dtypes and the texts of those that are neither."""
    if isinstance(value, list | tuple):
        return [described(part) for part in value]
    if isinstance(value, dict):
        return {key: described(part) for key, part in value.items()}
    if isinstance(value, bool | int | float | complex | np.generic | np.ndarray):
        return value
    if hasattr(value, "weak_type") and hasattr(value, "tolist"):
        return value
    return repr(value)


def assert_alike(mine, original):
    if isinstance(original, list):
        assert len(mine) == len(original)
        for a, b in zip(mine, original, strict=True):
            assert_alike(a, b)
    elif isinstance(original, dict):
        assert mine.keys() == original.keys()
        for key, part in original.items():
            assert_alike(mine[key], part)
    elif isinstance(original, str):
        assert mine == original
    elif hasattr(original, "weak_type"):
        assert (mine.shape, mine.dtype) == (original.shape, original.dtype)
        assert mine.weak_type == original.weak_type
        np.testing.assert_allclose(np.asarray(mine), np.asarray(original), rtol=1e-5, atol=1e-6)
        if np.asarray(mine).dtype.kind in "biu":
            assert repr(mine) == repr(original)
    else:
        np.testing.assert_allclose(np.asarray(mine), np.asarray(original), rtol=1e-5)


@functools.cache
def libraries():
    original = names(theirs, theirs.numpy, theirs.lax, theirs.random)
    return names(jax, jnp, lax, random), original


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_the_same_call_gives_the_same(call):
    mine, original = (outcome(call, known) for known in libraries())
    if isinstance(original, Exception):
        assert isinstance(mine, Exception), mine
        kinds = {kind.__name__ for kind in type(original).__mro__}
        assert type(mine).__name__ in kinds, (mine, original)
        assert str(mine).split()[:2] == str(original).split()[:2]
        return
    assert not isinstance(mine, Exception), mine
    assert_alike(described(mine), described(original))
