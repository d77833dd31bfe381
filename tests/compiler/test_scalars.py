"""Test native scalar arithmetic against the kernels that it replaces."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import llvmlite.binding as llvm

from support.native_forms import (
    call,
    compiled,
    element_loop,
    elements,
    expected,
    floats,
    pairs,
    ulps,
)
from support.samples import samples
from wengert.compiler.codegen.code import llvm_type, memory_type
from wengert.compiler.codegen.scalars import table as scalars
from wengert.compiler.ir.facets import having
from wengert.prims import records
from wengert.prims.whole import TABLE

f4, f8, i1, i4, i8 = map(np.dtype, ("f4", "f8", "i1", "i4", "i8"))
u1, u8, b1 = map(np.dtype, ("u1", "u8", "?"))


def whole(dtype):
    rng = np.random.default_rng(3)
    limits = np.iinfo(dtype)
    edges = [limits.min, limits.min + 1, 0, 1, 2, 3, limits.max - 1, limits.max]
    drawn = rng.integers(max(limits.min, -40), 40, 200)
    return np.concatenate([np.array(edges, dtype), drawn.astype(dtype)])


EXACT = "neg abs sign sgn real conj sqrt reciprocal floor ceil trunc round"
EXACT += " isnan isinf isfinite isreal signbit logical_not"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", EXACT.split())
def test_a_simple_function_is_the_kernels_to_the_last_bit(name, dtype):
    x = floats(dtype)
    with np.errstate(all="ignore"):
        got, _ = elements(name, x)
        want = expected(name, x)
    np.testing.assert_array_equal(got, want)
    if want.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got[~np.isnan(x)]), np.signbit(want[~np.isnan(x)]))


PAIRS = "add sub mul div maximum minimum copysign"
PAIRS += " eq ne lt le gt ge logical_and logical_or logical_xor"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", PAIRS.split())
def test_a_simple_function_of_two_is_the_kernels_to_the_last_bit(name, dtype):
    a, b = pairs(floats(dtype))
    np.testing.assert_array_equal(elements(name, a, b)[0], expected(name, a, b))


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide", "div_floor", "div_trunc"])
def test_quotients_and_remainders_of_floats_are_the_kernels(name, dtype):
    a, b = pairs(floats(dtype))
    got, want = elements(name, a, b)[0], expected(name, a, b)
    np.testing.assert_array_equal(got, want)
    some = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[some]), np.signbit(want[some]))


OF_INTEGERS = "add sub mul maximum minimum bitwise_and bitwise_or bitwise_xor eq ne"
OF_INTEGERS += " lt le gt ge logical_and"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [i1, i4, i8, u1, u8], ids=str)
@pytest.mark.parametrize("name", OF_INTEGERS.split())
def test_integers_wrap_and_compare_as_the_kernels_do(name, dtype):
    a = whole(dtype)
    b = np.random.default_rng(5).permutation(a)
    np.testing.assert_array_equal(elements(name, a, b)[0], expected(name, a, b))


OF_AN_INTEGER = ["neg", "abs", "sign", "sgn", "floor", "round", "bitwise_not", "logical_not"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [i1, i4, i8, u1], ids=str)
@pytest.mark.parametrize("name", OF_AN_INTEGER)
def test_functions_of_integers_are_the_kernels(name, dtype):
    np.testing.assert_array_equal(elements(name, whole(dtype))[0], expected(name, whole(dtype)))


@pytest.mark.parametrize("dtype", [i1, i8, u1], ids=str)
@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
def test_shifts_by_all_bits_and_more_are_the_kernels(name, dtype):
    a = whole(dtype)
    b = np.arange(len(a)).astype(dtype) % 70
    np.testing.assert_array_equal(elements(name, a, b)[0], expected(name, a, b))


@pytest.mark.parametrize("dtype", [i1, i4, i8, u1], ids=str)
@pytest.mark.parametrize("name", ["floor_divide", "div_trunc", "remainder", "fmod"])
def test_quotients_and_remainders_of_integers_are_the_kernels(name, dtype):
    a, b = (grid.ravel() for grid in np.meshgrid(whole(dtype), whole(dtype)))
    a, b = a[b != 0], b[b != 0]
    got, trouble = elements(name, a, b)
    assert not trouble
    want = expected(name, a, b)
    if name == "div_trunc" and dtype.kind == "i":
        # the kernel's own quotient of the smallest number by -1 wraps, too
        assert got[(a == np.iinfo(dtype).min) & (b == -1)][0] == np.iinfo(dtype).min
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["floor_divide", "div_trunc", "remainder", "fmod"])
def test_an_integer_divided_by_zero_is_trouble_and_nothing_worse(name):
    a = np.array([7, -7, 7])
    assert not elements(name, a, np.array([2, 2, 1]))[1]
    result, trouble = elements(name, a, np.array([2, 0, 2]))
    assert trouble
    assert result[2] == expected(name, a[2:], np.array([2]))[0]


NUMBERS = [
    ("add_scalar", {"other": 2.5}),
    ("sub_scalar", {"other": 1e300}),
    ("rsub_scalar", {"other": -0.0}),
    ("mul_scalar", {"other": 0.1}),
    ("div_scalar", {"other": 3}),
    ("floor_divide_scalar", {"other": 0.3}),
    ("remainder_scalar", {"other": 0.3}),
    ("fmod_scalar", {"other": -0.3}),
    *(("pow_scalar", {"exponent": e}) for e in (0, 1, 2, 3, -1, 2.0, 1.7, -3)),
    ("rpow_scalar", {"base": 2.0}),
    ("rpow_scalar", {"base": 0.3}),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize(("name", "params"), NUMBERS)
def test_numbers_among_the_parameters_are_as_weak_as_for_the_kernel(name, params, dtype):
    x = floats(dtype)
    assert ulps(elements(name, x, **params)[0], expected(name, x, **params)) <= 4


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("mul_scalar", {"other": 0.1}),
        ("rsub_scalar", {"other": 2.5}),
        ("pow_scalar", {"exponent": 1.7}),
        ("rpow_scalar", {"base": 0.7}),
        ("remainder_scalar", {"other": 0.3}),
    ],
)
def test_numbers_may_be_known_only_when_it_runs(name, params, dtype):
    x = floats(dtype)
    got = elements(name, x, numbers=tuple(params), **params)[0]
    assert ulps(got, expected(name, x, **params)) <= 4


def test_choices_are_the_kernels():
    a, b, c = np.random.default_rng(6).standard_normal((3, 500))
    mask = a > 0
    np.testing.assert_array_equal(elements("where", mask, b, c)[0], expected("where", mask, b, c))


def test_integers_and_their_powers_wrap():
    for exponent in (0, 1, 2, 5, 17):
        got = elements("pow_scalar", whole(i8), exponent=exponent)[0]
        np.testing.assert_array_equal(got, expected("pow_scalar", whole(i8), exponent=exponent))


def test_what_numpy_computes_otherwise_is_refused():
    assert not scalars.supports(records.exp, [np.dtype("c16")], np.dtype("c16"), {})
    assert not scalars.supports(records.exp, [np.dtype("f2")], np.dtype("f2"), {})
    assert not scalars.supports(records.lt, [i8, u8], b1, {})
    assert not scalars.supports(records.pow_scalar, [i8], i8, {"exponent": -1})
    assert not scalars.supports(records.mul_scalar, [f8], f8, {"other": 1j})
    assert not scalars.supports(records.sub, [b1, b1], b1, {})
    assert not scalars.supports(records.softmax, [f8], f8, {"dim": (0,)})


CASTS = [f4, f8, i1, i4, i8, u1, u8, b1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", CASTS, ids=str)
@pytest.mark.parametrize("source", CASTS, ids=str)
def test_casts_are_those_of_astype(source, target):
    if source.kind == "f":
        x = np.array([0.0, -0.0, 1.5, 2.5, 100.75, 1e-3, 127.9], source)
        if target.kind != "u":
            x = np.concatenate([x, -x])
        if target.kind == "b":
            x = np.concatenate([x, [np.nan, np.inf]]).astype(source)
    else:
        x = np.array([0, 1, 1, 0], source) if source.kind == "b" else whole(source)
    got = elements("to_copy", x, dtype=target)[0]
    np.testing.assert_array_equal(got, x.astype(target))


def test_arguments_of_other_dtypes_are_brought_to_that_of_the_result():
    a, b = np.array([1, 2, 3]), np.array([0.5, 2.5, -1.0])
    np.testing.assert_array_equal(elements("mul", a, b)[0], a * b)
    np.testing.assert_array_equal(elements("div", a, a[::-1].copy())[0], a / a[::-1])
    np.testing.assert_array_equal(elements("add_scalar", a, other=0.5)[0], a + 0.5)
    np.testing.assert_array_equal(elements("lt", a.astype(np.int32), b)[0], a < b)
    np.testing.assert_array_equal(elements("add", a > 1, a > 2)[0], (a > 1) + (a > 2))


@pytest.mark.parametrize(
    "name",
    [
        "add",
        "sqrt",
        "maximum",
        "where",
        "sign",
        "floor",
        "round",
        "isnan",
        "abs",
        "reciprocal",
    ],
)
def test_simple_elements_are_computed_several_at_a_time(name):
    count = len(TABLE[name].args)
    arrays = [np.ones(8)] * count
    if name == "where":
        arrays[0] = np.ones(8, bool)
    out = np.dtype(bool) if name == "isnan" else f8
    _, optimised = compiled(element_loop(name, arrays, out, {}))
    assert "<2 x double>" in optimised or "<4 x double>" in optimised or "<8 x double>" in optimised


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
def test_every_native_element_is_valid_with_fast_mathematics(dtype):
    tried = 0
    forms = having(scalars.SCALARS)
    for prim in forms:
        name = prim.name
        sample = next(iter(samples(prim, dtype, np.random.default_rng(0))))
        arrays = [np.asarray(array).reshape(-1) for array in sample.arrays]
        out = expected(name, *sample.arrays, **sample.params).dtype
        if scalars.supports(prim, [array.dtype for array in arrays], out, sample.params):
            text = element_loop(name, arrays, out, sample.params, fast=True)
            llvm.parse_assembly(text).verify()
            tried += 1
    assert tried > 0.8 * len(forms)


def test_fast_mathematics_changes_no_more_than_rounding():
    x = np.linspace(0.1, 3.0, 101)
    for name in ("tanh", "log1p", "hypot", "sqrt", "div"):
        arrays = [x, x[::-1].copy(), x][: len(TABLE[name].args)]
        engine, _ = compiled(element_loop(name, arrays, f8, {}, fast=True))
        result, seen = np.empty_like(x), np.zeros(1, np.uint8)
        call(engine, [*arrays, result, seen], len(x))
        assert ulps(result, expected(name, *arrays)) <= 16


def test_memory_holds_a_byte_for_a_bool():
    assert (llvm_type(b1), memory_type(b1)) == ("i1", "i8")
