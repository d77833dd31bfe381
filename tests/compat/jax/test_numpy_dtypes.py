"""Test the dtypes of `jax.numpy`: 32 bits, weak types, sums of small integers, x64."""

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax


def kind(x):
    return f"{x.dtype.name}{'*' if x.weak_type else ''}"


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda: jnp.zeros(2), "float32"),
        (lambda: jnp.arange(3), "int32"),
        (lambda: jnp.arange(3.0), "float32"),
        (lambda: jnp.linspace(0, 1, 3), "float32"),
        (lambda: jnp.eye(2), "float32"),
        (lambda: jnp.full(2, 1.0), "float32*"),
        (lambda: jnp.full(2, 1), "int32*"),
        (lambda: jnp.array(1.0), "float32*"),
        (lambda: jnp.array([1.0]), "float32"),
        (lambda: jnp.array([1, 2.5, True]), "float32"),
        (lambda: jnp.array(np.arange(3)), "int32"),
        (lambda: jnp.array(np.float64(1)), "float32"),
        (lambda: jnp.float32(1), "float32"),
        (lambda: jnp.int8(3.7), "int8"),
        (lambda: jnp.sin(1), "float32*"),
        (lambda: jnp.sin(jnp.arange(3)), "float32"),
        (lambda: jnp.add(1, 2), "int32*"),
        (lambda: jnp.add(jnp.int8(1), 2), "int8"),
        (lambda: jnp.multiply(jnp.arange(3), 2.0), "float32*"),
        (lambda: jnp.true_divide(1, 2), "float32*"),
        (lambda: jnp.maximum(jnp.float16(1), 2.0), "float16"),
        (lambda: jnp.where(True, 1, 2.0), "float32*"),
        (lambda: jnp.where(True, 1, jnp.zeros(2)), "float32"),
        (lambda: jnp.power(jnp.arange(3), 2), "int32"),
        (lambda: jnp.power(jnp.arange(3), 2.0), "float32*"),
        (lambda: jnp.sum(jnp.ones(2, jnp.int8)), "int32"),
        (lambda: jnp.sum(jnp.ones(2, jnp.uint8)), "uint32"),
        (lambda: jnp.sum(jnp.ones(2, jnp.int8), promote_integers=False), "int8"),
        (lambda: jnp.sum(jnp.array([True])), "int32"),
        (lambda: jnp.sum(jnp.array(1.0)), "float32"),
        (lambda: jnp.cumsum(jnp.ones(2, jnp.int8)), "int8"),
        (lambda: jnp.mean(jnp.arange(3)), "float32"),
        (lambda: jnp.mean(jnp.ones(2, jnp.float16)), "float16"),
        (lambda: jnp.var(jnp.ones(2, jnp.complex64)), "float32"),
        (lambda: jnp.argmax(jnp.arange(3.0)), "int32"),
        (lambda: jnp.argsort(jnp.arange(3.0)), "int32"),
        (lambda: jnp.searchsorted(jnp.arange(3.0), 1.0), "int32"),
        (lambda: jnp.nonzero(jnp.arange(3))[0], "int32"),
        (lambda: jnp.concatenate([jnp.arange(2), jnp.ones(1)]), "float32"),
        (lambda: jnp.stack([1.0, 2.0]), "float32*"),
        (lambda: jnp.reshape(1.0, (1,)), "float32*"),
        (lambda: jnp.dot(jnp.arange(3), jnp.ones(3)), "float32"),
        (lambda: jnp.floor(jnp.arange(3)), "int32"),
        (lambda: jnp.rint(jnp.arange(3)), "float32"),
        (lambda: jnp.rint(2), "float32"),
        (lambda: jnp.logical_and(jnp.ones(2), 0), "bool"),
        (lambda: jnp.equal(jnp.arange(2), 1.0), "bool*"),
        (lambda: jnp.isnan(1), "bool*"),
        (lambda: jax.lax.lt(1.0, 2.0), "bool*"),
        (lambda: jnp.logical_and(1, 2), "bool*"),
        (lambda: jnp.imag(1j), "float32*"),
        (lambda: jnp.column_stack([1, 2]), "int32*"),
        (lambda: jnp.fft.fft(jnp.arange(3)), "complex64"),
        (lambda: jnp.linalg.norm(jnp.arange(3)), "float32"),
        (lambda: jnp.linalg.eigvals(jnp.eye(2)), "complex64"),
        (lambda: jnp.bincount(jnp.arange(3)), "int32"),
        (lambda: jnp.histogram(jnp.arange(3))[0], "float32"),
        (lambda: jnp.convolve(jnp.arange(3), jnp.arange(3)), "float32"),
        (lambda: jnp.ones_like(1.0), "float32*"),
        (lambda: jnp.tri(2), "float32"),
        (lambda: jnp.indices((2,)), "int32"),
        (lambda: jnp.median(jnp.arange(3)), "float32"),
        (lambda: jnp.clip(jnp.arange(3), 0.5, 2), "float32*"),
        (lambda: jax.nn.softmax(jnp.arange(3)), "float32"),
        (lambda: jax.nn.one_hot(jnp.arange(3), 3), "float32"),
        (lambda: jax.scipy.special.erf(1), "float32*"),
    ],
)
def test_dtypes_and_weak_types_are_those_of_jax(call, wanted):
    assert kind(call()) == wanted


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jnp.subtract(jnp.array([True]), True), "sub does not accept dtype bool"),
        (lambda: jnp.bitwise_and(1.5, 1), "and does not accept dtype float32"),
        (lambda: jax.lax.lt(1j, 2j), "lt does not accept dtype complex64"),
        (lambda: jnp.negative(jnp.array(True)), "neg does not accept dtype bool"),
        (lambda: jnp.power(jnp.arange(3), -1), "Integers cannot be raised to negative powers"),
        (lambda: jnp.array("a"), "not a valid JAX array type"),
        (lambda: jnp.take(jnp.ones(2), jnp.ones(1)), "integer"),
        (lambda: jnp.bincount(jnp.ones(2)), "must have an integer type"),
    ],
)
def test_dtypes_that_make_no_sense_are_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_whole_numbers_to_powers_in_an_array_stay_whole():
    found = jnp.power(jnp.array([1, -1, 2, 3]), jnp.array([-2, -3, -1, 2]))
    assert found.tolist() == [1, -1, 0, 9]


def test_a_wide_dtype_that_was_asked_for_warns():
    with pytest.warns(UserWarning, match="Explicitly requested dtype float64"):
        assert jnp.zeros(2, "float64").dtype == np.float32
    with pytest.warns(UserWarning, match="int64"):
        jnp.arange(3, dtype=np.int64)


def test_x64_makes_everything_wide():
    with jax.enable_x64(True):
        assert jnp.zeros(2).dtype == np.float64
        assert jnp.arange(3).dtype == np.int64
        assert jnp.sin(jnp.arange(3)).dtype == np.float64
        assert jnp.sum(jnp.ones(2, jnp.int8)).dtype == np.int64
        assert jnp.array(1 + 1j).dtype == np.complex128
        assert jnp.float64(1).dtype == np.float64
        key = jax.random.PRNGKey(0)
        assert jax.random.normal(key).dtype == np.float64
        assert jax.random.randint(key, (2,), 0, 5).dtype == np.int64
    assert jnp.zeros(2).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        (lambda: jnp.sin(jnp.int32(1)), "float32"),
        (lambda: jnp.sin(jnp.int64(1)), "float64"),
        (lambda: jnp.int8(1) / 2, "float32"),
        (lambda: jnp.divide(True, True), "float32"),
        (lambda: jnp.mean(jnp.ones(2, "int32")), "float32"),
        (lambda: jnp.median(jnp.ones(2, "int32")), "float32"),
        (lambda: jnp.linalg.inv(jnp.eye(2, dtype="int32")), "float32"),
        (lambda: jnp.fft.fft(jnp.ones(2, "int32")), "complex64"),
        (lambda: jax.nn.softmax(jnp.ones(2, "int32")), "float32"),
        (lambda: jnp.angle(jnp.int32(1)), "float64"),
        (lambda: jnp.searchsorted(jnp.arange(3.0), 1.0), "int32"),
        (lambda: jax.lax.top_k(jnp.arange(3.0), 1)[1], "int32"),
        (lambda: jnp.argsort(jnp.arange(3.0)), "int64"),
    ],
)
def test_x64_leaves_what_has_32_bits_at_that(call, dtype):
    with jax.enable_x64(True):
        assert call().dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    "product",
    [
        lambda x, wanted: jnp.dot(x, x, preferred_element_type=wanted),
        lambda x, wanted: jnp.vdot(x, x, preferred_element_type=wanted),
        lambda x, wanted: jnp.matmul(x, x, preferred_element_type=wanted),
        lambda x, wanted: jnp.einsum("i,i", x, x, preferred_element_type=wanted),
        lambda x, wanted: jnp.tensordot(x, x, 1, preferred_element_type=wanted),
        lambda x, wanted: jax.lax.dot(x, x, preferred_element_type=wanted),
    ],
)
def test_products_are_computed_in_the_dtype_that_is_preferred(product):
    small = product(jnp.full(300, 100, "int8"), jnp.int32)
    assert (int(small), small.dtype) == (3_000_000, np.dtype("int32"))
    half = product(jnp.full(4096, 0.1, "float16"), jnp.float32)
    assert float(half) == pytest.approx(4096 * float(np.float16(0.1)) ** 2, rel=1e-6)


def test_scalar_types_are_dtypes_and_make_arrays():
    assert jnp.zeros(2).dtype == jnp.float32
    assert jnp.float32 == np.float32
    assert jnp.float32 != jnp.int32
    assert np.dtype(jnp.int8) == np.int8
    assert repr(jnp.float32) == "<class 'jax.numpy.float32'>"
    assert repr(jnp.int32(2)) == "Array(2, dtype=int32)"
    assert isinstance(jnp.float32(1), jnp.float32)
    assert jnp.issubdtype(jnp.float32, jnp.floating)
    assert hash(jnp.float32) == hash(np.float32)
    assert {jnp.int32: 1}[jnp.dtype("int32").type] == 1


def test_what_is_told_of_dtypes():
    assert jnp.result_type(jnp.int8, 1.0) == np.float32
    assert jnp.result_type(1, 2) == np.int32
    assert jnp.promote_types("int32", "float16") == np.float16
    assert jnp.can_cast("int32", "float64")
    assert jnp.isdtype(jnp.float32, "real floating")
    assert jnp.isscalar(jnp.float32(1))
    assert jnp.iscomplexobj(jnp.array(1j))
    assert jnp.finfo(jnp.float32).eps == np.finfo("float32").eps
    assert not jnp.iterable(jnp.float32(1))


def test_gradients_are_of_the_dtype_of_what_they_are_by():
    assert jax.grad(lambda x: jnp.sum(x) * 2.0)(jnp.ones(2, jnp.float16)).dtype == np.float16
    slope = jax.grad(lambda x: jnp.sum(jnp.real(x * jnp.conj(x))))(jnp.ones(2, jnp.complex64))
    assert slope.dtype == np.complex64
