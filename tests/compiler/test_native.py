"""Test native forms from memory to memory against the kernels that they replace."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from support.native_forms import native_text, step_of, whole
from support.samples import samples
from wengert.compiler.backends import llvm
from wengert.compiler.backends.gather_maps import SCATTERS
from wengert.compiler.backends.kinds import kind_of
from wengert.compiler.codegen.native import products as native_products
from wengert.compiler.codegen.native.forms import NATIVE
from wengert.compiler.ir.programs import Program, Value, substitute, uses
from wengert.prims import records
from wengert.prims.whole import TABLE


def native(name, *arrays, known=False, strided=(), **params):
    """What native code computes, and whether it failed; None if there is no native form."""
    arrays = [
        a if i in strided else np.ascontiguousarray(a).reshape(a.shape)
        for i, a in enumerate(map(np.asarray, arrays))
    ]
    step, read = step_of(name, arrays, params, known)
    return whole(step, read) if SCATTERS[step.prim] is None else in_loops(step, read)


def in_loops(step, read, out=None):
    """What the loops of a scatter compute, and whether they failed; None if it has none."""
    rest = iter(read[len(step.args) :])
    params = {
        key: substitute(param, lambda value: value.constant if known(value) else next(rest))
        for key, param in step.params.items()
    }
    if out is None:
        out = np.asarray(step.prim.kernel(*read[: len(step.args)], **params))
    step.outs = (Value(out.dtype, out.shape),)
    if kind_of(step) == "foreign":
        return None
    inputs = [value for value in uses(step) if not known(value)]
    call = llvm.build(Program(inputs, [step], step.outs)).call
    results = call(*read[: len(inputs)])
    return (None if results is None else results[0]), results is None


def known(value):
    return value.constant is not None


def agrees(name, *arrays, known=False, strided=(), tolerance=0.0, optional=False, **params):
    """Assert that native code computes what the kernel does; with `optional`, if it does."""
    found = native(name, *arrays, known=known, strided=strided, **params)
    assert found is not None or optional
    if found is None:
        return False
    result, failed = found
    assert not failed
    want = TABLE[name].kernel(*map(np.asarray, arrays), **params)
    np.testing.assert_allclose(
        result, np.asarray(want), rtol=tolerance, atol=tolerance, strict=True
    )
    return True


f4, f8, i4, i8 = map(np.dtype, ("f4", "f8", "i4", "i8"))


def drawn(*shape, dtype=f8, seed=0):
    rng = np.random.default_rng(seed)
    return (10 * rng.standard_normal(shape)).astype(dtype)


# -- products -------------------------------------------------------------------------------------

SIZES = [(1, 1, 1), (2, 3, 4), (3, 3, 3), (1, 5, 7), (7, 5, 1), (1, 9, 1), (4, 8, 8), (5, 6, 11)]
SIZES += [(9, 1, 13), (6, 17, 21), (13, 7, 40), (3, 0, 2), (0, 3, 2), (20, 20, 31)]

LAYOUTS = [("rows", "rows"), ("columns", "rows"), ("rows", "columns"), ("columns", "columns")]
LAYOUTS += [("apart", "part"), ("backwards", "apart"), ("part", "apart")]


def laid(array, layout):
    """The same values in memory of another order."""
    if layout == "columns":
        return np.asfortranarray(array)
    if layout == "apart":
        wide = np.zeros((2 * array.shape[0], 3 * array.shape[1]), array.dtype)
        wide[::2, ::3] = array
        return wide[::2, ::3]
    if layout == "backwards":
        return np.ascontiguousarray(array[::-1])[::-1]
    if layout == "part":
        wide = np.zeros((array.shape[0], array.shape[1] + 5), array.dtype)
        wide[:, 2:-3] = array
        return wide[:, 2:-3]
    return array


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("first", "second"), LAYOUTS)
def test_products_of_matrices_of_all_sizes_and_layouts(first, second):
    for m, k, n in SIZES:
        a, b = laid(drawn(m, k), first), laid(drawn(k, n, seed=1), second)
        agrees("mm", a, b, strided=(0, 1), tolerance=1e-11)


@pytest.mark.parametrize(("first", "second"), [("rows", "rows"), ("columns", "columns")])
@pytest.mark.parametrize("dtype", [f4, i4, i8], ids=str)
def test_products_of_matrices_of_other_dtypes(dtype, first, second):
    for m, k, n in ((3, 4, 5), (1, 7, 9), (6, 20, 17), (5, 9, 1)):
        a, b = laid(drawn(m, k, dtype=dtype), first), laid(drawn(k, n, dtype=dtype), second)
        agrees("mm", a, b, strided=(0, 1), tolerance=2e-3 if dtype == f4 else 0.0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("first", "second"), LAYOUTS)
@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
def test_large_products_are_calls_of_blas(first, second, dtype):
    pytest.importorskip("scipy")
    a, b = laid(drawn(60, 1800, dtype=dtype), first), laid(drawn(1800, 200, dtype=dtype), second)
    step, read = step_of("mm", [a, b], {})
    letter = "d" if dtype == f8 else "s"
    step.outs = (Value(dtype, (60, 200)),)
    assert NATIVE[records.mm].describe(step) == f"{letter}gemm 60x1800x200"
    assert f"@wengert.{letter}gemm" in native_text(step, read)
    agrees("mm", a, b, strided=(0, 1), tolerance=1e-2 if dtype == f4 else 1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [16, 32, 64])
@pytest.mark.parametrize(("first", "second"), LAYOUTS)
def test_products_in_registers_of_all_lengths(monkeypatch, first, second, size):
    # another processor's tiles, as far as this one can compute them
    monkeypatch.setattr(native_products, "register_bytes", lambda: size)
    for m, k, n in ((1, 5, 150), (2, 7, 90), (3, 4, 33), (7, 6, 70), (20, 9, 67), (33, 70, 101)):
        for dtype in (f4, f8):
            a, b = laid(drawn(m, k, dtype=dtype), first), laid(drawn(k, n, dtype=dtype), second)
            tolerance = 1e-3 if dtype == f4 else 1e-11
            agrees("mm", a, b, strided=(0, 1), tolerance=tolerance)


@pytest.mark.parametrize(
    ("rows", "dtype", "turned"), [(16, f4, True), (90, f4, False), (16, f8, False)]
)
def test_few_rows_and_a_large_turned_matrix_are_computed_transposed(rows, dtype, turned):
    pytest.importorskip("scipy")
    a, b = drawn(rows, 1200, dtype=dtype), laid(drawn(1200, 256, dtype=dtype, seed=1), "columns")
    step, read = step_of("mm", [a, b], {})
    step.outs = (Value(dtype, (rows, 256)),)
    sizes = (rows, 256) if turned else (256, rows)
    given = ", ".join([f'ptr @"int.{size}"' for size in (*sizes, 1200)])
    assert given in native_text(step, read)
    agrees("mm", a, b, strided=(0, 1), tolerance=1e-2 if dtype == f4 else 1e-9)


@pytest.mark.parametrize("second", ["rows", "columns", "apart", "backwards", "part"])
@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
def test_large_products_of_long_columns_are_computed_transposed(second, dtype):
    pytest.importorskip("scipy")
    for columns, turned in ((8, True), (40, False)):
        a = laid(drawn(130, 1200, dtype=dtype), "columns")
        b = laid(drawn(1200, columns, dtype=dtype, seed=1), second)
        step, read = step_of("mm", [a, b], {})
        step.outs = (Value(dtype, (130, columns)),)
        # columns of the call's result are those of ours, or its rows
        letter, sizes = "d" if dtype == f8 else "s", (columns, 130) if turned else (130, columns)
        assert f"{letter}gemm 130x1200x{columns}" == NATIVE[records.mm].describe(step)
        given = ", ".join([f'ptr @"int.{size}"' for size in (sizes[1], sizes[0], 1200)])
        assert given in native_text(step, read)
        agrees("mm", a, b, strided=(0, 1), tolerance=1e-1 if dtype == f4 else 1e-9)


@pytest.mark.parametrize("layout", ["rows", "columns", "apart", "part"])
def test_matrices_times_vectors(layout):
    for m, k in ((1, 1), (5, 3), (4, 40), (40, 4), (9, 33), (300, 210)):
        matrix, vector = laid(drawn(m, k), layout), drawn(3 * k, seed=1)[::3]
        agrees("mv", matrix, vector, strided=(0, 1), tolerance=1e-9)


def test_dot_products_of_vectors_of_any_strides():
    for k in (0, 1, 2, 7, 16, 100):
        a, b = drawn(2 * k)[::2], drawn(k, seed=1)
        agrees("dot", a, b, strided=(0, 1), tolerance=1e-10)
        agrees("dot", b, b[::-1], strided=(0, 1), tolerance=1e-10)


def test_a_sum_of_a_repeated_element():
    a, b = np.broadcast_to(np.float64(3.0), (5,)), drawn(5)
    agrees("dot", a, b, strided=(0,), tolerance=1e-12)
    rows = np.broadcast_to(drawn(1, 4), (6, 4))
    agrees("mm", rows, drawn(4, 3), strided=(0,), tolerance=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_lists_of_products(turned):
    for count, m, k, n in ((0, 2, 2, 2), (5, 3, 3, 1), (4, 2, 5, 9), (3, 1, 4, 4), (2, 8, 1, 8)):
        a, b = drawn(count, m, k), drawn(count, k, n, seed=1)
        if turned:
            a, b = (np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2) for x in (a, b))
        agrees("bmm", a, b, strided=(0, 1), tolerance=1e-11)


def test_lists_of_lists_of_products_are_repeated_as_needed():
    for first, second in (
        ((2, 3, 4, 5), (2, 3, 5, 2)),
        ((3, 4, 5), (2, 1, 5, 6)),
        ((2, 1, 3, 4), (4, 1)),
        ((2, 2, 0, 3), (2, 2, 3, 1)),
    ):
        agrees("bmm", drawn(*first), drawn(*second, seed=1), tolerance=1e-11)
    repeated = np.broadcast_to(drawn(4, 4), (3, 2, 4, 4))
    agrees("bmm", repeated, drawn(3, 2, 4, 3, seed=1), strided=(0,), tolerance=1e-11)


def test_a_products_infinities_and_nans_are_numpys():
    a, b = drawn(5, 6), drawn(6, 7)
    a[2, 3], b[1, 1] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        agrees("mm", a, b, tolerance=1e-11)


def test_products_of_what_numpy_multiplies_otherwise_are_refused():
    for a, b in ((np.ones((2, 2), bool),) * 2, (np.ones((2, 2), complex),) * 2):
        step, _ = step_of("mm", [a, b], {})
        step.outs = (Value(a.dtype, (2, 2)),)
        assert not NATIVE[records.mm].accepts(step)


# -- places ---------------------------------------------------------------------------------------

OF_CASES = ["index_backward", "index_put", "index_add", "scatter_add", "scatter", "scatter_value"]
OF_CASES += ["cumsum", "cumprod", "linear_recurrence"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [f8, f4], ids=str)
@pytest.mark.parametrize("name", OF_CASES)
def test_the_cases_of_a_record_that_have_a_native_form_agree(name, dtype):
    accepted = [
        name
        for sample in samples(TABLE[name], dtype, np.random.default_rng(0))
        if agrees(name, *sample.arrays, tolerance=1e-5, optional=True, **sample.params)
    ]
    assert accepted


def test_indices_of_some_dimensions_add_up():
    i, j = np.array([2, 0, 2, -1]), np.array([[0], [3]])
    mask = np.array([True, False, True])
    g = drawn(4, 3, 5, 2)
    agrees("index_backward", g, shape=(4, 3, 5, 2), indices=(i,))
    for indices, shape in (
        ((i,), (3, 5)),
        ((None, i), (6, 4, 3)),
        ((i, None, i), (3, 5, 3)),
        ((i, j), (3, 4, 2)),
        ((None, i, j, None), (2, 3, 4, 5)),
        ((np.array(1),), (3, 5)),
        ((i.astype(np.int32), j.astype(np.uint8)), (3, 4)),
    ):
        key = tuple(slice(None) if index is None else index for index in indices)
        g = drawn(*np.zeros(shape)[key].shape)
        agrees("index_backward", g, shape=shape, indices=indices, tolerance=1e-12)
        agrees("index_backward", g, shape=shape, indices=indices, tolerance=1e-12, known=True)
        for accumulate in (True, False):
            put = {"indices": indices, "accumulate": accumulate, "tolerance": 1e-12}
            agrees("index_put", drawn(*shape, seed=1), g, **put)
            agrees("index_put", drawn(*shape, seed=1), np.float64(2.5), **put)
            agrees("index_put", drawn(*shape, seed=1), np.array(3), **put)
    assert native("index_backward", drawn(2, 3), shape=(3, 3), indices=(mask,)) is None


def test_of_several_elements_for_one_place_the_last_remains():
    index = np.array([1, 1, 0, 1])
    agrees("index_put", drawn(3), drawn(4, seed=1), indices=(index,), accumulate=False)
    agrees("scatter", drawn(3), index, drawn(4, seed=1), dim=0)


def test_an_index_for_each_element():
    index = np.random.default_rng(2).integers(0, 4, (3, 5, 2))
    for dim, shape in ((0, (4, 6, 2)), (1, (3, 4, 2)), (2, (3, 5, 4))):
        self, src = drawn(*shape), drawn(3, 6, 3, seed=1)
        agrees("scatter_add", self, index, src, dim=dim, tolerance=1e-12)
        agrees("scatter", self, index, src, dim=dim)
        agrees("scatter_value", self, index, dim=dim, value=2)


def test_rows_are_added_at_positions_of_a_dimension():
    index = np.array([1, 0, 1, -1, 2])
    for dim, shape, source in ((0, (3, 70), (5, 70)), (1, (4, 3, 2), (4, 5, 2)), (0, (3,), (5,))):
        agrees("index_add", drawn(*shape), index, drawn(*source), dim=dim, alpha=1, tolerance=1e-12)


@pytest.mark.parametrize(
    ("name", "arrays", "params"),
    [
        ("index_backward", [drawn(3)], {"shape": (4,), "indices": (np.array([0, 4, 1]),)}),
        ("index_backward", [drawn(2)], {"shape": (4, 3), "indices": (np.array([0, -5]), None)}),
        ("scatter_add", [drawn(3), np.array([0, 3]), drawn(2)], {"dim": 0}),
        ("scatter", [drawn(3), np.array([0, -4]), drawn(2)], {"dim": 0}),
        (
            "scatter_value",
            [
                drawn(3),
                np.array([9]),
            ],
            {"dim": 0, "value": 1.0},
        ),
        ("index_add", [drawn(3), np.array([2**62]), drawn(1)], {"dim": 0, "alpha": 1}),
    ],
)
def test_an_index_out_of_range_fails(name, arrays, params):
    if name == "index_backward" and len(params["indices"]) == 2:
        arrays = [drawn(2, 3)]
    step, read = step_of(name, arrays, params)
    shape = params.get("shape", arrays[0].shape)
    assert in_loops(step, read, np.empty(shape)) == (None, True)


# -- along a dimension ----------------------------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums_products_and_recurrences(reverse):
    for shape, dim in (
        ((7,), 0),
        ((4, 5), 0),
        ((4, 5), 1),
        ((3, 4, 5), 1),
        ((1, 3), 0),
        ((3, 1), 0),
    ):
        for name in ("cumsum", "cumprod"):
            agrees(name, drawn(*shape), dim=dim, reverse=reverse, tolerance=1e-12)
            agrees(name, drawn(*shape, dtype=i4), dim=dim, reverse=reverse)
            agrees(name, drawn(*shape) > 0, dim=dim, reverse=reverse)
        a, b = drawn(*shape) / 10, drawn(*shape, seed=1)
        agrees("linear_recurrence", a, b, dim=dim, reverse=reverse, tolerance=1e-12)


def test_what_has_no_dimensions_or_no_elements_is_left_to_numpy():
    for name, array, params in (
        ("cumsum", np.zeros((2, 0)), {"dim": 0, "reverse": False}),
        ("scatter_value", np.float64(1.0), {"dim": 0, "value": 2.0}),
    ):
        arrays = [array, np.array(0)] if name == "scatter_value" else [array]
        assert native(name, *arrays, **params) is None
