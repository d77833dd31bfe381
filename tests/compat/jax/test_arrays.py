"""Test JAX arrays: dtypes, weak types, immutability, indexing without errors, updates, texts."""

import copy
import pickle

import numpy as np
import pytest

import wengert as wg
import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax.array import asarray, made, promote, result_type
from wengert.compat.jax.dtypes import canonical_dtype

X = jnp.arange(10)
F = jnp.arange(3.0)
M = jnp.ones((2, 3))


# -- dtypes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype", "weak"),
    [
        (2, "int32", True),
        (2.0, "float32", True),
        (1 + 2j, "complex64", True),
        (True, "bool", False),
        ([1, 2], "int32", False),
        ([1, 2.5, True], "float32", False),
        (np.float64(3), "float32", False),
        (np.arange(3), "int32", False),
        (np.arange(3, dtype=np.int8), "int8", False),
        ([], "float32", False),
    ],
)
def test_values_become_arrays_of_at_most_32_bits(value, dtype, weak):
    array = jnp.asarray(value)
    assert (array.dtype, array.weak_type) == (dtype, weak)


@pytest.mark.parametrize(
    ("a", "b", "dtype", "weak"),
    [
        (X, 2, "int32", False),
        (X, 2.0, "float32", True),
        (X, F[:1], "float32", False),
        (X.astype("int8"), 1000, "int8", False),
        (F.astype("float16"), 2.5, "float16", False),
        (F.astype("float16")[:1], X, "float16", False),
        (jnp.asarray(2), jnp.asarray(2.0), "float32", True),
        (F, 1j, "complex64", False),
        (X.astype("uint8"), X.astype("int8"), "int16", False),
        (X > 3, 2, "int32", True),
        (X, np.float64(2), "float32", False),
    ],
)
def test_dtypes_meet_in_jaxs_lattice(a, b, dtype, weak):
    for product in (a * b, b * a):
        assert (product.dtype, product.weak_type) == (dtype, weak)
    assert result_type(a, b) == (np.dtype(dtype), weak)


def test_operands_are_promoted_together():
    a, b = promote(X, 0.5)
    assert a.dtype == b.dtype == "float32"
    assert a.weak_type and b.weak_type
    assert (a.tolist(), b.tolist()) == (X.tolist(), 0.5)


def test_fractions_of_integers_are_float32():
    assert (X / 3).dtype == "float32"
    assert not (X / 3).weak_type
    assert (X // 3).dtype == "int32"


def test_x64_makes_everything_wide_and_ends_with_its_block():
    with jax.enable_x64(True):
        assert jnp.arange(3).dtype == "int64"
        assert jnp.ones(2).dtype == "float64"
        assert jax.grad(lambda x: x**2)(3.0).dtype == "float64"
    assert jnp.ones(2).dtype == "float32"
    assert canonical_dtype(float) == "float32"


def test_the_configuration_is_read_and_written():
    assert jax.config.jax_enable_x64 is False
    jax.config.update("jax_enable_x64", True)
    try:
        assert jnp.ones(1).dtype == "float64"
    finally:
        jax.config.update("jax_enable_x64", False)
    with pytest.raises(AttributeError, match="Unrecognized config option: jax_nonsense"):
        jax.config.update("jax_nonsense", 1)
    with pytest.raises(TypeError, match="jax_enable_x64 is True or False"):
        jax.config.update("jax_enable_x64", "yes")


def test_a_wide_dtype_that_is_asked_for_warns():
    with pytest.warns(UserWarning, match="Explicitly requested dtype float64"):
        assert F.astype(np.float64).dtype == "float32"
    assert F.astype(float).dtype == "float32"


def test_what_is_too_large_or_no_number_is_refused():
    with pytest.raises(OverflowError, match="too large to convert to int32"):
        jnp.asarray(2**40)
    with pytest.raises(OverflowError, match="2147483648 too large"):
        jnp.asarray([1, 2**31])
    with pytest.raises(TypeError, match="not a valid JAX array type"):
        jnp.asarray("a")
    with pytest.raises(ValueError, match="None is not a valid value"):
        jnp.asarray([1, None])
    with pytest.raises(ValueError, match="inhomogeneous"):
        asarray([[1, 2], [3]])


def test_lists_may_hold_arrays_and_carry_their_derivative():
    gradient = jax.grad(lambda x: asarray([x, 2 * x, 1.0]).sum())(3.0)
    assert gradient == 3.0


def test_memory_of_numpys_arrays_is_not_shared():
    source = np.ones(2)
    array = jnp.asarray(source)
    source[0] = 5.0
    assert array[0] == 1.0
    assert not np.asarray(array).flags.writeable


# -- printing --------------------------------------------------------------------------------------


def test_arrays_print_as_jaxs_do():
    assert repr(F) == "Array([0., 1., 2.], dtype=float32)"
    assert repr(X[3]) == "Array(3, dtype=int32)"
    assert repr(jnp.asarray(6.0)) == "Array(6., dtype=float32, weak_type=True)"
    assert repr(jnp.zeros((0, 3))) == "Array([], shape=(0, 3), dtype=float32)"
    assert repr(M) == "Array([[1., 1., 1.],\n       [1., 1., 1.]], dtype=float32)"
    assert str(F) == "[0. 1. 2.]"
    assert f"{F[1]:.3f}" == "1.000"
    assert "%.1f" % F[2] == "2.0"  # noqa: UP031
    assert repr(X * 1.5).endswith("13.5],      dtype=float32, weak_type=True)")


def test_within_a_batch_the_whole_batch_is_shown():
    shown = []
    jax.vmap(lambda x: shown.append(repr(x)) or x)(F)
    assert shown == ["Array([0., 1., 2.], a batch, each of shape (), dtype=float32)"]


def test_metadata_is_jaxs():
    assert (M.shape, M.ndim, M.size, M.itemsize, M.nbytes) == ((2, 3), 2, 6, 4, 24)
    assert type(M.shape) is tuple
    assert repr(M.aval) == "ShapedArray(float32[2,3])"
    assert str(M.aval) == "float32[2,3]" and str(M.device) == "cpu:0"
    assert repr(M.device) == "CpuDevice(id=0)"
    assert M.devices() == {jax.devices()[0]}
    assert M.block_until_ready() is M
    assert M.is_ready() and not M.is_deleted()
    assert isinstance(M, jax.Array)
    with pytest.raises(AttributeError, match="no shards"):
        _ = M.addressable_shards


# -- immutability ----------------------------------------------------------------------------------


def test_assignment_to_elements_is_refused_in_jaxs_words():
    with pytest.raises(TypeError, match="JAX arrays are immutable and do not support in-place"):
        F[0] = 1.0
    with pytest.raises(TypeError, match="immutable"):
        del F[0]
    assert F.tolist() == [0.0, 1.0, 2.0]


def test_operators_in_place_bind_the_name_anew():
    x = before = jnp.arange(3.0)
    x += 1
    x *= 2
    assert before.tolist() == [0.0, 1.0, 2.0]
    assert x.tolist() == [2.0, 4.0, 6.0]


def test_arrays_are_not_hashable():
    with pytest.raises(TypeError, match="unhashable type: 'Array'"):
        hash(F)


def test_what_tensors_have_and_arrays_have_not_says_what_to_write():
    with pytest.raises(AttributeError, match=r"no attribute 'backward': write jax.grad"):
        _ = F.backward
    with pytest.raises(AttributeError, match=r"no attribute 'add_': arrays are immutable"):
        _ = F.add_
    with pytest.raises(AttributeError, match=r"no attribute 'sin': write jnp.sin"):
        _ = F.sin
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        _ = F.nonsense
    assert "backward" not in dir(F)
    assert {"at", "sum", "T", "block_until_ready"} <= set(dir(F))
    assert not hasattr(F, "requires_grad_")


def test_arrays_are_copied_and_pickled():
    for other in (copy.copy(F), copy.deepcopy(F), pickle.loads(pickle.dumps(F)), F.copy()):
        assert type(other) is type(F)
        assert other.tolist() == F.tolist()


# -- numbers and NumPy -----------------------------------------------------------------------------


def test_numbers_are_taken_from_arrays_without_dimensions_only():
    assert (float(F[1]), int(X[3]), complex(F[1]), bool(F[1])) == (1.0, 3, 1 + 0j, True)
    assert "abcdef"[X[2]] == "c"
    assert round(F[1], 2) == 1.0
    assert F[2].item() == 2.0
    with pytest.raises(TypeError, match="Only scalar arrays can be converted"):
        float(F)
    with pytest.raises(TypeError, match="Only integer scalar arrays"):
        _ = "abc"[F[1]]
    with pytest.raises(ValueError, match="more than one element is ambiguous"):
        bool(F)
    with pytest.raises(ValueError, match="truth value of an empty array"):
        bool(jnp.array([]))
    with pytest.raises(ValueError, match="can only convert an array of size 1"):
        F.item()
    with pytest.raises(TypeError, match="len\\(\\) of unsized"):
        len(F[0])


def test_numpys_arrays_and_numbers_give_arrays_by_operators():
    for product in (np.ones(3) * F, np.float64(2) * F, np.float32(2) * F, F * np.ones(3)):
        assert isinstance(product, jax.Array)
        assert product.dtype == "float32"
    for found, value in ((np.ones(3) @ F, 3.0), (np.ones(3) < F, [False, False, True])):
        assert isinstance(found, jax.Array) and found.tolist() == value


def test_numpys_functions_give_numpys_arrays():
    assert type(np.sin(F)) is np.ndarray
    assert type(np.stack([F, F])) is np.ndarray
    assert isinstance(np.sum(F), jax.Array)  # as there, through the method
    assert np.asarray(F, dtype=np.float64).dtype == np.float64
    np.testing.assert_allclose(F, [0.0, 1.0, 2.0])


def test_arrays_do_not_leave_a_transform_for_numpy():
    for function in (np.sin, np.asarray, lambda x: np.stack([x, x])):
        with pytest.raises(jax.errors.TracerArrayConversionError, match=r"use jax\.numpy|Use jax"):
            jax.grad(lambda x, f=function: f(x).sum())(F)


def test_tensors_of_wengert_are_taken():
    for found in (F + wg.ones(3), jnp.asarray(wg.arange(1.0, 4)), made(wg.arange(1.0, 4))):
        assert isinstance(found, jax.Array) and found.tolist() == [1.0, 2.0, 3.0]


# -- operators -------------------------------------------------------------------------------------


def test_operators_that_have_no_meaning_say_so():
    with pytest.raises(TypeError, match="unsupported operand type"):
        _ = F + [1, 2, 3]  # noqa: RUF005
    with pytest.raises(TypeError, match="add got incompatible shapes for broadcasting: \\(10,\\)"):
        X + F
    with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
        M + jnp.ones(4)
    with pytest.raises(TypeError, match="dot_general requires contracting dimensions"):
        M @ jnp.ones(4)
    with pytest.raises(TypeError, match="must have ndim at least 1"):
        M @ 2.0
    with pytest.raises(TypeError, match="Integers cannot be raised to negative powers"):
        X**-1
    with pytest.raises(TypeError, match="neg does not accept dtype bool"):
        _ = -(X > 1)
    with pytest.raises(TypeError, match="sub does not accept dtype bool"):
        (X > 1) - (X > 2)
    with pytest.raises(TypeError, match="and does not accept dtype float32"):
        F & 1
    assert (F == None) is False  # noqa: E711


def test_integers_and_truths_compute_as_in_jax():
    assert (X % 3).tolist() == [0, 1, 2] * 3 + [0]
    assert ((-X) // 3).tolist() == [0, -1, -1, -1, -2, -2, -2, -3, -3, -3]
    assert divmod(7, X[3:5])[1].tolist() == [1, 3]
    assert (~(X > 7)).tolist() == [True] * 8 + [False] * 2
    assert (X << 1 & 4 | 1).tolist() == [1, 1, 5, 5, 1, 1, 5, 5, 1, 1]
    assert ((X > 3) @ (X > 3)).dtype == "bool"
    assert (-X.astype("uint8"))[1] == 255


def test_division_by_zero_does_not_warn():
    assert jnp.isinf(F[1] / 0)
    assert jnp.isnan(F[0] / 0)


def test_the_derivative_of_abs_at_zero_is_one():
    assert jax.grad(abs)(0.0) == 1.0
    assert jax.grad(abs)(-2.0) == -1.0
    assert jax.grad(jax.grad(abs))(1.0) == 0.0


# -- indices ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (11, 9),
        (-11, 0),
        (slice(11, 20), []),
        (slice(None, None, -3), [9, 6, 3, 0]),
        (np.array([11, -12, 3]), [9, 0, 3]),
        (jnp.array([[0, 1]]), [[0, 1]]),
        (np.array([True] + [False] * 9), [0]),
        (None, [list(range(10))]),
        ((Ellipsis, 2), 2),
        (np.int64(4), 4),
        (True, [list(range(10))]),
    ],
)
def test_reading_takes_the_nearest_element_that_exists(index, expected):
    assert X[index].tolist() == expected


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda x: x[jnp.array([0, -1, 7])], [1.0, 0.0, 2.0]),
        (lambda x: x[np.array([0, -1, 7])], [1.0, 0.0, 2.0]),
        (lambda x: x.at[jnp.array([0, -1, 7])].get(), [1.0, 0.0, 2.0]),
        (lambda x: x.at[jnp.array([0, -1, 7])].get(mode="clip"), [1.0, 0.0, 5.0]),
        (lambda x: x[None][jnp.array([0, 0, 5]), jnp.array([0, 1, 2])], [1.0, 2.0, 0.0]),
        (lambda x: x[7] * jnp.ones(3), [0.0, 0.0, 6.0]),
    ],
)
def test_what_is_read_beyond_the_ends_has_no_derivative(read, expected):
    weights = jnp.array([1.0, 2.0, 3.0])
    total = lambda x: (read(x) * weights).sum()  # noqa: E731
    assert jax.grad(total)(jnp.arange(3.0)).tolist() == expected
    assert jax.jit(jax.grad(total))(jnp.arange(3.0)).tolist() == expected
    assert jax.jacfwd(total)(jnp.arange(3.0)).tolist() == expected


@pytest.mark.parametrize(
    "index",
    [
        (0, np.array([2, 0])),
        (slice(None), 0, np.array([1, 1])),
        (np.array([0, 1]), slice(None), np.array([1, 2])),
        (np.array([[0], [1]]), slice(None, None, -1), np.array([1, 2])),
        (slice(None), None, np.array([1, 2])),
        (np.array([True, False]), 1),
        (Ellipsis, np.array([0, 2]), 1),
        (1, Ellipsis, slice(3, 0, -2)),
    ],
)
def test_indices_mean_what_numpys_do(index):
    values = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(jnp.asarray(values)[index], values[index].astype(np.float32))


def test_indices_that_are_none_are_refused():
    with pytest.raises(TypeError, match="Using a non-tuple sequence"):
        X[[1, 2]]
    with pytest.raises(TypeError, match="Using a non-tuple sequence"):
        X.at[[1, 2]].set(0)
    with pytest.raises(TypeError, match="integer or boolean type"):
        X[1.0]
    with pytest.raises(TypeError, match="does not support string indexing"):
        X["a"]
    with pytest.raises(IndexError, match="Too many indices: array is 1-dimensional, but 2"):
        X[1, 2]
    with pytest.raises(IndexError, match="boolean index did not match"):
        X[jnp.array([True, False])]


def test_an_index_may_differ_within_a_batch():
    rows = jax.vmap(lambda i: M.at[:, 0].set(5.0)[0, i])(jnp.array([0, 1, 9, -1]))
    assert rows.tolist() == [5.0, 1.0, 1.0, 1.0]
    with pytest.raises(jax.errors.NonConcreteBooleanIndexError, match=r"jnp\.where"):
        jax.vmap(lambda x: F[x < F])(F)


# -- x.at ------------------------------------------------------------------------------------------


def test_updates_give_new_arrays():
    y = X.at[2].set(50)
    assert y.tolist() == [0, 1, 50, *range(3, 10)]
    assert X.tolist() == list(range(10))
    assert F.at[1].add(4.0).tolist() == [0.0, 5.0, 2.0]
    assert F.at[1].subtract(4.0).tolist() == [0.0, -3.0, 2.0]
    assert F.at[1:].multiply(4.0).tolist() == [0.0, 4.0, 8.0]
    assert F.at[2].divide(4.0).tolist() == [0.0, 1.0, 0.5]
    assert F.at[2].power(3.0).tolist() == [0.0, 1.0, 8.0]
    assert F.at[:].max(1.0).tolist() == [1.0, 1.0, 2.0]
    assert F.at[:].min(1.0).tolist() == [0.0, 1.0, 1.0]
    assert F.at[1:].apply(lambda x: x * 10).tolist() == [0.0, 10.0, 20.0]
    assert M.at[:, 1].set(jnp.arange(2.0)).tolist() == [[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
    assert X.at[X > 2].set(0).tolist() == [0, 1, 2, *[0] * 7]


def test_elements_named_more_than_once_count_each_time():
    places = jnp.array([1, 1, 3])
    assert jnp.zeros(4).at[places].add(1.0).tolist() == [0.0, 2.0, 0.0, 1.0]
    assert jnp.ones(4).at[places].multiply(3.0).tolist() == [1.0, 9.0, 1.0, 3.0]
    assert jnp.zeros(4).at[places].max(jnp.array([5.0, 2.0, 1.0])).tolist() == [0, 5, 0, 1]
    assert jnp.array([1 + 2j, 3]).at[0].max(1 + 3j).tolist() == [1 + 3j, 3]
    assert jnp.array([1 + 2j, 3]).at[:].min(2 - 1j).tolist() == [1 + 2j, 2 - 1j]


def test_places_that_do_not_exist():
    outside = jnp.array([11, -12, 0])
    assert X.at[outside].set(5).tolist() == [5, *range(1, 10)]
    assert jnp.broadcast_to(2.0, (3,)).at[jnp.array(1)].get().shape == ()
    assert X.at[11].get() == 9
    assert X.at[outside].get(mode="fill", fill_value=-1).tolist() == [-1, -1, 0]
    assert jnp.isnan(F.at[7].get(mode="fill"))
    assert F.at[7].set(9.0, mode="clip").tolist() == [0.0, 1.0, 9.0]
    with pytest.raises(ValueError, match="Unknown mode 'nonsense'"):
        F.at[0].set(1.0, mode="nonsense")
    with pytest.raises(TypeError, match="no option 'nonsense'"):
        F.at[0].set(1.0, nonsense=1)


def test_values_that_do_not_fit_are_refused_or_warned_of():
    with pytest.raises(ValueError, match="Incompatible types for broadcasting"):
        M.at[0].set(jnp.ones(2))
    with pytest.warns(FutureWarning, match="scatter inputs have incompatible types"):
        assert X.at[3].set(2.5)[3] == 2


def test_updates_are_differentiated():
    def f(x, v):
        return (x.at[jnp.array([0, 0])].add(v) ** 2).sum()

    by_x, by_v = jax.grad(f, (0, 1))(F, jnp.array([1.0, 2.0]))
    assert by_x.tolist() == [6.0, 2.0, 4.0]
    assert by_v.tolist() == [6.0, 6.0]
    jacobian = jax.jacrev(lambda x: x.at[jnp.array([1, 1])].set(x[:2]))(F)
    assert jacobian.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    fwd = jax.jacfwd(lambda x: x.at[0].multiply(x[2]))(F + 1)
    assert fwd.tolist() == [[3.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_updates_at_places_of_a_batch():
    made_ = jax.vmap(lambda i, v: jnp.zeros(3).at[i].set(v))(jnp.array([0, 2, 7]), F + 1)
    assert made_.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]


def test_updates_print_as_jaxs_do():
    assert repr(F.at) == "_IndexUpdateHelper(Array([0., 1., 2.], dtype=float32))"
    assert repr(F.at[1]) == "_IndexUpdateRef(Array([0., 1., 2.], dtype=float32), 1)"


# -- methods ---------------------------------------------------------------------------------------


def test_methods_are_numpys():
    assert M.sum(axis=0).tolist() == [2.0, 2.0, 2.0]
    assert M.mean() == 1.0
    assert M.reshape(3, 2).shape == M.reshape((3, -1)).shape == M.T.shape == (3, 2)
    assert M.mT.shape == M.swapaxes(0, 1).shape == M.transpose(1, 0).shape == (3, 2)
    assert M.ravel().shape == M.flatten().shape == (6,)
    assert F.sort().tolist() == [0.0, 1.0, 2.0]
    assert F.dot(F) == 5.0
    assert F.astype(jnp.int32).dtype == "int32"
    assert F.view("int32").dtype == "int32"
    assert F[1:].tobytes() == np.array([1, 2], np.float32).tobytes()
    with pytest.raises(TypeError, match=r"cannot reshape array of shape \(3,\)"):
        F.reshape(2)
    with pytest.raises(ValueError, match="transpose permutation"):
        M.transpose(0, 0)
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        _ = F.mT


# -- the search for NaNs ---------------------------------------------------------------------------


def test_values_that_are_no_numbers_are_found_when_asked_for():
    with jax.debug_nans(True):
        with pytest.raises(FloatingPointError, match=r"invalid value \(nan\) encountered"):
            jnp.log(-1.0)
        with pytest.raises(FloatingPointError, match="encountered in mul"):
            _ = F * jnp.float32(np.inf) * 0
    assert jnp.isnan(jnp.log(-1.0))


def test_promotion_of_dtypes_and_ranks_is_refused_where_asked_for():
    with jax.numpy_dtype_promotion("strict"):
        for operands in ((F, X), (X, 1.5), (X, True), (F, jnp.bfloat16(1))):
            with pytest.raises(jax.dtypes.TypePromotionError, match=r"no available .*strict"):
                jnp.add(*operands)
        assert (F + 1).dtype == F.dtype and (X * 2).dtype == X.dtype
    with jax.numpy_rank_promotion("raise"):
        with pytest.raises(
            ValueError, match=r"broadcast together for add on shapes \(2, 3\) \(3,\)"
        ):
            _ = M + F
        assert (M + 1).shape == M.shape
    with (
        jax.numpy_rank_promotion("warn"),
        pytest.warns(UserWarning, match="rank promotion for mul"),
    ):
        _ = M * F
    assert (M + F).dtype == F.dtype
    with pytest.raises(ValueError, match="must be in"):
        jax.config.update("jax_numpy_rank_promotion", "always")


# -- devices ---------------------------------------------------------------------------------------


def test_there_is_one_device():
    assert repr(jax.devices()) == "[CpuDevice(id=0)]"
    assert (jax.default_backend(), jax.device_count(), jax.process_index()) == ("cpu", 1, 0)
    with pytest.raises(RuntimeError, match="Unknown backend: 'gpu'"):
        jax.devices("gpu")
    moved = jax.device_put({"a": np.arange(3)})
    assert isinstance(moved["a"], jax.Array)
    assert type(jax.device_get(moved)["a"]) is np.ndarray
    assert jax.block_until_ready(moved) is moved


def test_names_that_are_not_there_say_so():
    for name, cure in (("distributed", "one device"), ("tree_map", r"jax\.tree\.map"), ("x", "$")):
        with pytest.raises(AttributeError, match=f"module 'jax' has no attribute '{name}'.*{cure}"):
            getattr(jax, name)
    with pytest.raises(AttributeError, match=r"'pshuffle': write lax\.ppermute"):
        _ = jax.lax.pshuffle
    with pytest.raises(AttributeError, match="no jaxprs"):
        _ = jax.core.gensym
    assert {"grad", "vmap", "lax", "tree", "numpy"} <= set(dir(jax))
