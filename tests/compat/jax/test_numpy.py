"""Test `jax.numpy`: differences from NumPy, derivatives, batches, errors."""

import operator

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax

X = jnp.arange(12.0).reshape(3, 4)


def equal(found, wanted):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-6)
    return True


def test_negative_indices_are_outside_where_they_do_not_wrap():
    x, at = jnp.array([1.0, 2.0, 4.0]), jnp.array([-1, 0])
    assert jnp.take_along_axis(x, at, 0).tolist() == [4.0, 1.0]
    outside, first = jnp.take_along_axis(x, at, 0, wrap_negative_indices=False).tolist()
    assert np.isnan(outside) and first == 1.0


def test_places_fill_the_number_that_was_asked_for():
    rows, columns = jnp.mask_indices(2, jnp.triu, size=5)
    assert (rows.tolist(), columns.tolist()) == ([0, 0, 1, 0, 0], [0, 1, 1, 0, 0])
    assert [x.tolist() for x in jnp.tril_indices(2, m=3)] == [[0, 1, 1], [0, 0, 1]]


# -- operands --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jnp.sum([1, 2]), "sum requires ndarray or scalar arguments, got <class 'list'>"),
        (lambda: jnp.add(1, (2,)), "add requires .* got <class 'tuple'> at position 1"),
        (lambda: jnp.sin(None), "sin requires .* got <class 'NoneType'> at position 0"),
        (lambda: jnp.where([True], 1, 2), "where requires .* at position 0"),
        (lambda: jnp.concatenate([X, [1.0]]), "concatenate requires .* at position 1"),
        (lambda: jnp.linalg.norm([1.0]), "jnp.linalg.norm requires ndarray or scalar arguments"),
        (lambda: jnp.sum("a"), "sum requires .* got <class 'str'>"),
    ],
)
def test_lists_and_other_things_are_refused_where_arrays_are_wanted(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_numbers_and_arrays_of_numpy_are_taken():
    assert equal(jnp.sum(np.arange(3)), 3)
    assert equal(jnp.maximum(1, np.float32(2)), 2)


def test_out_is_refused_by_name():
    with pytest.raises(NotImplementedError, match=r"The 'out' argument to jnp\.sum is not"):
        jnp.sum(X, out=X)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: jnp.put_along_axis(X, jnp.zeros((3, 1), int), 1.0, 1), ValueError),
        (lambda: jnp.place(X, X > 1, 0.0), ValueError),
        (lambda: jnp.put(X, 0, 1.0), ValueError),
        (lambda: jnp.fill_diagonal(X, 0.0), NotImplementedError),
        (lambda: jnp.add.at(X, 0, 1.0), NotImplementedError),
    ],
)
def test_functions_that_write_in_place_say_that_arrays_are_immutable(call, error):
    before = np.asarray(X).copy()
    with pytest.raises(error, match="immutable"):
        call()
    assert equal(X, before)


@pytest.mark.parametrize("name", ["copyto", "putmask", "trapz", "in1d", "matrix", "int4"])
def test_absent_names_say_what_to_write(name):
    with pytest.raises(AttributeError, match=f"module 'jax.numpy' has no attribute '{name}': "):
        getattr(jnp, name)


def test_a_name_that_is_nowhere_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
        _ = jnp.nothing


# -- shapes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: X + jnp.zeros(3), ValueError, "Incompatible shapes for broadcasting"),
        (lambda: jnp.add(X[0], X[:, 0]), TypeError, "add got incompatible shapes"),
        (lambda: jnp.dot(X, X), TypeError, "dot_general requires contracting dimensions"),
        (lambda: jnp.reshape(X, (5,)), TypeError, "cannot reshape array of shape"),
        (lambda: jnp.zeros("a"), TypeError, "Shapes must be 1D sequences"),
        (lambda: jnp.sum(X, axis=2), ValueError, "axis 2 is out of bounds"),
        (lambda: jnp.add.reduceat(X, jnp.array([0, 9])), IndexError, "out of bounds"),
        (lambda: jnp.squeeze(X, 0), ValueError, "cannot select an axis to squeeze out"),
        (lambda: jnp.stack([X, X[0]]), ValueError, "All input arrays must have the same shape"),
        (lambda: jnp.concatenate([X, X[0]]), TypeError, "Cannot concatenate arrays"),
        (lambda: jnp.linalg.inv(X), ValueError, "must have shape"),
        (lambda: jnp.max(jnp.zeros(0)), ValueError, "zero-size array to reduction operation max"),
    ],
)
def test_shapes_that_do_not_fit_raise_as_in_jax(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_stack_and_concatenate_take_an_array_for_its_rows():
    assert jnp.stack(X).tolist() == X.tolist()
    assert jnp.concatenate(X).tolist() == X.reshape(12).tolist()


# -- sizes known beforehand ------------------------------------------------------------------------


def test_nonzero_is_cut_off_or_filled_up_to_a_size():
    mask = jnp.array([0, 3, 0, 5])
    assert equal(jnp.nonzero(mask)[0], [1, 3])
    assert equal(jnp.nonzero(mask, size=3, fill_value=-1)[0], [1, 3, -1])
    assert equal(jnp.nonzero(mask, size=1)[0], [1])
    assert equal(jnp.where(mask > 4, size=2, fill_value=9)[0], [3, 9])


def test_nonzero_with_a_size_works_within_vmap():
    masks = jnp.array([[0, 1, 1], [1, 0, 0]])
    found = jax.vmap(lambda m: jnp.nonzero(m, size=2, fill_value=7)[0])(masks)
    assert equal(found, [[1, 2], [0, 7]])


def test_unique_is_cut_off_or_filled_up_to_a_size():
    x = jnp.array([3, 1, 1])
    assert equal(jnp.unique(x, size=4), [1, 3, 1, 1])
    assert equal(jnp.unique(x, size=4, fill_value=0), [1, 3, 0, 0])
    values, counts = jnp.unique(x, return_counts=True, size=1)
    assert equal(values, [1])
    assert equal(counts, [2])


def test_bincount_with_a_length_leaves_out_what_is_beyond():
    assert equal(jnp.bincount(jnp.array([0, 1, 1, 5]), length=3), [1, 2, 0])


def test_repeat_with_a_total_length():
    found = jnp.repeat(jnp.arange(3), jnp.array([1, 2, 0]), total_repeat_length=5)
    assert equal(found, [0, 1, 1, 2, 2])


# -- places that do not exist ----------------------------------------------------------------------


def test_take_gives_nan_where_there_is_no_such_place():
    assert equal(jnp.take(jnp.arange(3.0), jnp.array([1, 3, -1, -4])), [1, np.nan, 2, np.nan])
    assert jnp.take(jnp.arange(3), 5) == np.iinfo("int32").min
    assert equal(jnp.take(jnp.arange(3.0), jnp.array([5, -1, -7]), mode="clip"), [2, 0, 0])
    assert equal(jnp.take(jnp.arange(3.0), jnp.array([5, -1]), mode="wrap"), [2, 2])
    with pytest.raises(ValueError, match="Invalid mode 'drop'"):
        jnp.take(jnp.arange(3.0), 1, mode="drop")
    assert equal(jnp.take(jnp.arange(3.0), 5, mode="wrap"), 2)
    assert equal(jnp.take(jnp.arange(3.0), 5, fill_value=8.0), 8)
    with pytest.raises(NotImplementedError, match="'raise' mode"):
        jnp.take(jnp.arange(3.0), 5, mode="raise")


def test_take_and_take_along_axis_work_within_vmap():
    at = jnp.array([[0, 2], [1, 1]])
    found = jax.vmap(lambda row, i: jnp.take(row, i))(X[:2], at)
    assert equal(found, [[0, 2], [5, 5]])
    found = jax.vmap(lambda row, i: jnp.take_along_axis(row, i, 0))(X[:2], at)
    assert equal(found, [[0, 2], [5, 5]])


def test_put_along_axis_gives_a_new_array():
    found = jnp.put_along_axis(X, jnp.array([[0], [1], [2]]), -1.0, 1, inplace=False)
    assert equal(found[:, :3], [[-1, 1, 2], [4, -1, 6], [8, 9, -1]])
    assert X[0, 0] == 0


# -- derivatives -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (lambda x: jnp.where(x > 1, x**2, 0.0).sum(), [0, 0, 4]),
        (lambda x: jnp.interp(x, jnp.arange(3.0), jnp.arange(3.0) ** 2).sum(), [1, 3, 3]),
        (lambda x: jnp.sort(-x)[0], [0, 0, -1]),
        (lambda x: jnp.cumsum(x).sum(), [3, 2, 1]),
        (lambda x: jnp.polyval(x, 2.0), [4, 2, 1]),
        (lambda x: jnp.einsum("i,i", x, x), [0, 2, 4]),
        (lambda x: jnp.take(x, jnp.array([2, 2, 7]), mode="clip").sum(), [0, 0, 3]),
        (lambda x: jnp.pad(x, 1, mode="edge").sum(), [2, 1, 2]),
        (lambda x: jnp.linspace(x[0], x[2], 3).sum(), [1.5, 0, 1.5]),
        (lambda x: jnp.select([x > 1, x > 0], [x * 3, x * 5], 0.0).sum(), [0, 5, 3]),
        (lambda x: jnp.median(x), [0, 1, 0]),
        (lambda x: jnp.bincount(jnp.array([0, 1, 1]), weights=x)[1], [0, 1, 1]),
        (lambda x: jnp.add.at(x, 0, x[2], inplace=False).sum(), [1, 1, 2]),
        (lambda x: jnp.maximum.reduce(x), [0, 0, 1]),
        (lambda x: jnp.vectorize(lambda a: a * a)(x).sum(), [0, 2, 4]),
        (lambda x: jnp.histogram(jnp.arange(3.0), 2, weights=x)[0][1], [0, 1, 1]),
    ],
)
def test_gradients(function, slope):
    assert equal(jax.grad(function)(jnp.arange(3.0)), slope)
    assert equal(jax.jacfwd(function)(jnp.arange(3.0)), slope)


def test_second_derivatives():
    def function(x):
        return jnp.linalg.norm(x) * jnp.prod(x)

    by_hand = [[6.336, 8.848], [8.848, 5.664]]
    assert equal(jax.hessian(function)(jnp.array([3.0, 4.0])), by_hand)
    assert equal(jax.jacrev(jax.grad(function))(jnp.array([3.0, 4.0])), by_hand)


def test_the_derivative_of_abs_at_0_is_1_as_in_jax():
    assert jax.grad(jnp.abs)(0.0) == 1


def test_gradients_of_linear_algebra():
    a = jnp.array([[2.0, 1.0], [1.0, 3.0]])
    assert equal(jax.grad(jnp.linalg.det)(a), [[3, -1], [-1, 2]])
    slope = jax.grad(lambda a: jnp.linalg.slogdet(a)[1])(a)
    assert equal(slope, np.linalg.inv(np.asarray(a)).T)
    factor = jax.grad(lambda a: jnp.linalg.cholesky(a)[1, 1])(a)
    assert equal(factor, np.asarray(factor).T)  # the input counts as symmetric


def test_what_has_no_solution_is_nan():
    assert np.isnan(jnp.linalg.cholesky(-jnp.eye(2))).all()
    assert np.isnan(jnp.linalg.inv(jnp.zeros((2, 2)))).any()


# -- ufuncs ----------------------------------------------------------------------------------------


def test_ufuncs_have_methods():
    assert jnp.add.nin == 2
    assert jnp.add.nout == 1
    assert jnp.add.identity == 0
    assert equal(jnp.add.reduce(X, axis=1), [6, 22, 38])
    assert equal(jnp.multiply.accumulate(jnp.arange(1, 4)), [1, 2, 6])
    assert equal(jnp.subtract.outer(jnp.arange(2), jnp.arange(2)), [[0, -1], [1, 0]])
    assert equal(jnp.maximum.at(jnp.zeros(2), jnp.array([0, 0]), 3.0, inplace=False), [3, 0])
    assert equal(jnp.add.reduceat(jnp.arange(4), jnp.array([0, 2])), [1, 5])
    assert repr(jnp.add) == "<jnp.ufunc 'add'>"
    many = jnp.ones(300, dtype=jnp.int8)
    assert jnp.add.reduce(many) == jnp.add.reduce(many > 0) == 300
    assert jnp.multiply.reduce(many.astype(jnp.uint8)).dtype == jnp.uint32
    assert jnp.add.reduceat(many, jnp.array([0, 299])).tolist() == [299, 1]
    kinds = [u.accumulate(many).dtype for u in (jnp.add, jnp.multiply, jnp.maximum)]
    assert kinds == [jnp.int8] * 3
    assert jnp.add.accumulate(many > 0)[-1] == 300
    with pytest.raises(ValueError, match="reduce only supported for functions of two arguments"):
        jnp.negative.reduce(X)


def test_a_function_of_numbers_becomes_a_ufunc():
    total = jnp.frompyfunc(lambda a, b: a + 2 * b, 2, 1, identity=0)
    assert equal(total.reduce(jnp.arange(3)), 6)


# -- functions of functions ------------------------------------------------------------------------


def test_vectorize_broadcasts():
    f = jnp.vectorize(lambda a, b: a * 10 + b)
    assert equal(f(jnp.arange(2)[:, None], jnp.arange(3)), [[0, 1, 2], [10, 11, 12]])
    assert equal(f(1, 2), 12)


def test_vectorize_with_a_signature_maps_over_the_other_dimensions():
    f = jnp.vectorize(jnp.dot, signature="(n,m),(m)->(n)")
    found = f(jnp.ones((5, 1, 2, 3)), jnp.ones((4, 3)))
    assert found.shape == (5, 4, 2)
    with pytest.raises(ValueError, match="inconsistent size for core dimension 'm'"):
        f(jnp.ones((2, 3)), jnp.ones(4))
    with pytest.raises(ValueError, match="does not have enough dimensions"):
        f(jnp.ones(3), jnp.ones(3))
    with pytest.raises(ValueError, match="not a valid gufunc signature"):
        jnp.vectorize(jnp.dot, signature="n,n->")(X, X)


def test_vectorize_hands_on_what_is_excluded():
    f = jnp.vectorize(lambda x, names: x + len(names), excluded={1})
    assert equal(f(jnp.arange(2), ["a", "b"]), [2, 3])


def test_vectorized_functions_are_differentiable():
    f = jnp.vectorize(lambda v: jnp.sum(v**2), signature="(n)->()")
    assert equal(jax.grad(lambda x: f(x).sum())(X), 2 * np.asarray(X))


def test_apply_along_axis():
    assert equal(jnp.apply_along_axis(jnp.sum, 0, X), [12, 15, 18, 21])
    assert jnp.apply_along_axis(lambda v: jnp.outer(v, v), 1, X).shape == (3, 4, 4)


def test_piecewise_and_choose():
    x = jnp.arange(3.0)
    assert equal(jnp.piecewise(x, [x < 1, x > 1], [lambda x: -x, 7.0, lambda x: x * 2]), [0, 2, 7])
    assert equal(jnp.choose(jnp.array([0, 1, 0]), [x, x * 10]), [0, 10, 2])
    with pytest.raises(ValueError, match="1 or 2 functions are expected"):
        jnp.piecewise(x, [x < 1], [1.0, 2.0, 3.0])


# -- under vmap ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        jnp.sort,
        jnp.argsort,
        jnp.cumsum,
        lambda x: jnp.searchsorted(jnp.arange(4.0), x),
        lambda x: jnp.interp(x, jnp.arange(4.0), jnp.arange(4.0) ** 2),
        lambda x: jnp.roll(x, x[0].astype(int)),
        lambda x: jnp.histogram(x, 3, range=(0, 12))[0],
        lambda x: jnp.digitize(x, jnp.arange(3.0)),
        lambda x: jnp.isin(x, x[:2]),
        lambda x: jnp.convolve(x, x),
        lambda x: jnp.where(x > x.mean(), x, 0),
        lambda x: jnp.quantile(x, 0.3),
        lambda x: jnp.lexsort((x, -x)),
        lambda x: jnp.unwrap(x * 2),
        lambda x: jnp.polyval(x, 2.0),
        lambda x: jnp.vander(x),
        lambda x: jnp.linalg.solve(jnp.eye(4) + jnp.outer(x, x), x),
        lambda x: jnp.fft.rfft(x).real,
        lambda x: jnp.nan_to_num(x / 0),
        lambda x: jnp.argmax(x, keepdims=True),
        lambda x: jnp.linspace(x[0], x[1], 5),
        lambda x: jnp.isclose(x, x + 1e-9),
    ],
)
def test_functions_map_over_batches(function):
    batched = jax.vmap(function)(X)
    for i, row in enumerate(X):
        equal(batched[i], np.asarray(function(row)))


def test_shapes_cannot_depend_on_values_that_differ_within_a_batch():
    with pytest.raises(jax.errors.ConcretizationTypeError):
        jax.vmap(lambda x: jnp.nonzero(x))(X)
    with pytest.raises(jax.errors.ConcretizationTypeError):
        jax.vmap(lambda x: jnp.arange(x))(jnp.arange(3))


# -- more ------------------------------------------------------------------------------------------


def test_numbers_that_are_too_large_or_none_do_not_warn():
    assert jnp.isinf(1 / jnp.zeros(()))
    assert jnp.isnan(jnp.log(-1.0))
    assert jnp.isinf(jnp.exp(1000.0))
    assert jnp.isnan(jnp.sqrt(jnp.array(-1.0)))


def test_files(tmp_path):
    jnp.save(tmp_path / "x.npy", X)
    assert equal(jnp.load(tmp_path / "x.npy"), np.asarray(X))
    jnp.savez(tmp_path / "y.npz", X, other=X)
    assert sorted(jnp.load(tmp_path / "y.npz")) == ["arr_0", "other"]


def test_grids_and_indices():
    assert equal(jnp.mgrid[0:2, 0:2][1], [[0, 1], [0, 1]])
    assert equal(jnp.r_[1:3, 5], [1, 2, 5])
    assert equal(jnp.c_[jnp.arange(2), jnp.arange(2)], [[0, 0], [1, 1]])
    rows, columns = jnp.meshgrid(jnp.arange(2), jnp.arange(3), indexing="ij")
    assert rows.shape == columns.shape == (2, 3)


DIGITS = jnp.array([9, 8, 3, 7, 4, 2, 3])
FRAMED = jnp.zeros((3, 4)).at[1, 1:3].set(1)
SAID = [
    (lambda: jnp.fromfunction(lambda i: i * DIGITS[:2], (2,)), [[0, 0], [9, 8]]),
    (lambda: jnp.insert(jnp.arange(3), jnp.array([2, 0]), DIGITS[:2]), [8, 0, 1, 9, 2]),
    (lambda: jnp.percentile(jnp.array([1, 3, 5, 7, 9]), 37.5, method="nearest"), 3),
    (lambda: jnp.nanquantile(jnp.array([1, jnp.nan, 3]), 0.5, method="nearest"), 1),
    (
        lambda: jnp.quantile(DIGITS[:3], 0.5, weights=jnp.array([5, 1, 1]), method="inverted_cdf"),
        9,
    ),
    (lambda: jnp.poly(2), [1, -2]),
    (lambda: jnp.poly(jnp.eye(2)), [1, -2, 1]),
    (lambda: jnp.polyadd(jnp.ones((1, 2)), jnp.ones((2, 2))), [[1, 1], [2, 2]]),
    (lambda: jnp.polysub(DIGITS[:3], DIGITS[:2]), [9, -1, -5]),
    (lambda: jnp.trim_zeros(FRAMED, axis=0), [[0, 1, 1, 0]]),
    (lambda: jnp.trim_zeros(FRAMED), [[1, 1]]),
    (lambda: jnp.isnan(jnp.roots(jnp.array([0, 1, 2]), strip_zeros=False)), [False, True]),
    (lambda: jnp.r_["0,2", [1, 2], [3, 4]], [[1, 2], [3, 4]]),
    (lambda: jnp.r_["1,2,0", [1, 2], [3, 4]], [[1, 3], [2, 4]]),
    (lambda: jnp.c_[[1, 2], [3, 4]], [[1, 3], [2, 4]]),
    (lambda: jnp.partition(DIGITS, 2), [2, 3, 3, 9, 8, 7, 4]),
    (lambda: jnp.argpartition(DIGITS, 2), [5, 2, 6, 0, 1, 3, 4]),
    (lambda: jnp.pad(DIGITS[:2], 1, lambda v, *_: v.at[0].set(-1)), [-1, 9, 8, 0]),
    (lambda: jnp.rint(jnp.array([1.5 - 0.5j])), [2]),
    (lambda: jnp.einsum_path("ij,jk->ik", FRAMED, FRAMED.T)[0], [(0, 1)]),
]


@pytest.mark.parametrize(("call", "wanted"), SAID, ids=range(len(SAID)))
def test_results_are_those_that_the_documentation_says(call, wanted):
    found = call()
    assert (found.tolist() if isinstance(found, jnp.ndarray) else found) == wanted


def test_dtypes_are_promoted_by_types_of_python_as_by_numbers():
    assert jnp.promote_types("uint8", int) == "uint8"
    assert jnp.promote_types("float16", float) == "float16"
    assert jnp.promote_types("int32", "uint32") == "int32"


def test_polyfit_reports_how_well_a_polynomial_fits():
    x = jnp.arange(4.0)
    found, residuals, rank, *_ = jnp.polyfit(x, 2 * x + 1, 1, full=True)
    assert jnp.allclose(found, jnp.array([2, 1])) and rank == 2
    assert jnp.allclose(residuals, 0, atol=1e-6)
    _, spread = jnp.polyfit(x, x**2, 1, cov="unscaled")
    assert jnp.allclose(spread, jnp.array([[0.2, -0.3], [-0.3, 0.7]]))


def test_numpy_reads_an_array_by_dlpack():
    assert np.from_dlpack(jnp.arange(2)).tolist() == [0, 1]


def test_dir_names_what_there_is():
    names = dir(jnp)
    assert {"sum", "linalg", "fft", "vectorize", "float32", "ndarray"} <= set(names)
    assert all(hasattr(jnp, name) for name in names)


def test_complex_numbers_are_ordered_by_their_real_parts_first():
    left = np.array([1 + 2j, 3 - 1j, 1 - 2j, np.nan, 2, 3 + 1j], np.complex64)
    right = np.array([1 + 1j, 3 - 1j, 2, 1, complex(0, np.nan), 3 + 2j], np.complex64)
    a, b = jnp.asarray(left), jnp.asarray(right)
    for name in ("maximum", "minimum", "fmax", "fmin"):
        np.testing.assert_array_equal(getattr(jnp, name)(a, b), getattr(np, name)(left, right))
    np.testing.assert_array_equal(jax.lax.max(a, b), np.maximum(left, right))
    for compared in (operator.lt, operator.le, operator.gt, operator.ge):
        with np.errstate(invalid="ignore"):
            wanted = compared(left, right)
        np.testing.assert_array_equal(compared(a, b), wanted)
    slopes = jax.grad(lambda a: jnp.maximum(a, b[:3]).real.sum())(a[:3])
    np.testing.assert_array_equal(slopes, [1, 0.5, 0])  # as JAX shares it among equal ones
