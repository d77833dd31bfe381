"""Native elements against the kernels whose place they take."""

import ctypes
import math
import warnings

import numpy as np
import pytest

llvm = pytest.importorskip("llvmlite.binding")

from wengert.compiler import scalars  # noqa: E402  (after the check for llvmlite)
from wengert.compiler.code import Code, Module, Operand, llvm_type, memory_type  # noqa: E402
from wengert.compiler.ir import Number, Value  # noqa: E402
from wengert.prims.whole import TABLE  # noqa: E402

f4, f8, i1, i4, i8 = map(np.dtype, ("f4", "f8", "i1", "i4", "i8"))
u1, u8, b1 = map(np.dtype, ("u1", "u8", "?"))


def compiled(text):
    """The addresses of the functions of a module, by name."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine, str(module)


def looped(name, arrays, out, params=None, numbers=()):
    """The module in which ``f`` computes a primitive for every element.

    `numbers` are the parameters that are read from memory when it runs.
    """
    module = Module()
    code = Code(module)
    given = dict(params or {})
    pointers = [f"%a{i}" for i in range(len(arrays))]
    for i, key in enumerate(numbers):
        dtype = np.asarray(given[key]).dtype
        given[key] = Operand(code.load(f"%n{i}", dtype), dtype)
    with code.loop("%n") as i:
        operands = [
            Operand(code.load(code.at(pointer, array.dtype, i), array.dtype), array.dtype)
            for pointer, array in zip(pointers, arrays, strict=True)
        ]
        result = scalars.emit(code, name, operands, out, given)
        code.store(result, code.at("%out", out, i), out)
    code.do("%seen = load i8, ptr %trouble")
    code.do("ret i8 %seen")
    parameters = [*pointers, *(f"%n{i}" for i in range(len(numbers))), "%out"]
    head = ", ".join(f"ptr noalias {p}" for p in parameters)
    body = "\n".join(code.lines)
    return (
        f"{module.text()}\ndefine i8 @f({head}, i64 %n) {{\nentry:\n"
        f"  %trouble = alloca i8\n  store i8 0, ptr %trouble\n{body}\n}}\n"
    )


def native(name, *arrays, numbers=(), **params):
    """What native code computes, and whether it met trouble."""
    arrays = [np.ascontiguousarray(array) for array in arrays]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = np.asarray(TABLE[name].kernel(*[a[:1] for a in arrays], **params)).dtype
    dtypes = [a.dtype for a in arrays]
    symbolic = {
        key: Number(Value(np.asarray(param).dtype, ())) if key in numbers else param
        for key, param in params.items()
    }
    assert scalars.supports(name, dtypes, out, symbolic)
    engine, _ = compiled(looped(name, arrays, out, params, numbers))
    result = np.empty(arrays[0].shape, out)
    held = [np.asarray(params[key]) for key in numbers]
    addresses = [a.ctypes.data for a in (*arrays, *held, result)]
    function = ctypes.CFUNCTYPE(ctypes.c_int8, *[ctypes.c_void_p] * len(addresses), ctypes.c_int64)
    trouble = function(engine.get_function_address("f"))(*addresses, result.size)
    return result, bool(trouble)


def expected(name, *arrays, **params):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(TABLE[name].kernel(*arrays, **params))


def ulps(a, b):
    """The largest distance in units in the last place; NaN and infinities must agree."""
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    assert np.isfinite(a[~same]).all() and np.isfinite(b[~same]).all(), (a[~same], b[~same])
    least = np.spacing(np.maximum(np.abs(b[~same]), np.finfo(b.dtype).tiny))
    return float(np.max(np.abs(a[~same].astype("g") - b[~same]) / least))


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.0, 1e-300, -1e-300, 5e-324, 1e300, -1e300]
SPECIAL += [
    math.inf,
    -math.inf,
    math.nan,
    1e-40,
    710.0,
    -745.5,
    89.0,
    1.5,
    1e10,
    1e22,
    7.0,
    0.46875,
]


def floats(dtype, domain="real"):
    """Numbers of all sizes, and those at which functions are special."""
    rng = np.random.default_rng(1)
    spread = rng.standard_normal(1000) * 10.0 ** rng.uniform(-8, 3, 1000)
    with np.errstate(over="ignore"):
        values = np.concatenate([rng.standard_normal(500), spread, SPECIAL]).astype(dtype)
    return np.abs(values) if domain == "positive" else values


def pairs(values):
    """Every number with many others."""
    rng = np.random.default_rng(2)
    special = values[-len(SPECIAL) :]
    left = np.concatenate([values, np.repeat(special, len(special))])
    right = np.concatenate([rng.permutation(values), np.tile(special, len(special))])
    return left, right


def whole(dtype):
    rng = np.random.default_rng(3)
    limits = np.iinfo(dtype)
    edges = [limits.min, limits.min + 1, 0, 1, 2, 3, limits.max - 1, limits.max]
    drawn = rng.integers(max(limits.min, -40), 40, 200)
    return np.concatenate([np.array(edges, dtype), drawn.astype(dtype)])


EXACT = "neg abs sign sgn real conj sqrt reciprocal rsqrt relu floor ceil trunc round frac"
EXACT += " isnan isinf isfinite isposinf isneginf isreal signbit logical_not deg2rad rad2deg"


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", EXACT.split())
def test_a_simple_function_is_the_kernels_to_the_last_bit(name, dtype):
    x = floats(dtype)
    with np.errstate(all="ignore"):
        got, _ = native(name, x)
        want = expected(name, x)
    np.testing.assert_array_equal(got, want)
    if want.dtype.kind == "f" and name not in ("relu", "frac"):
        np.testing.assert_array_equal(np.signbit(got[~np.isnan(x)]), np.signbit(want[~np.isnan(x)]))


PAIRS = "add sub mul div rsub maximum minimum fmax fmin clamp_min_tensor clamp_max_tensor copysign"
PAIRS += " eq ne lt le gt ge logical_and logical_or logical_xor heaviside threshold_backward"


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", PAIRS.split())
def test_a_simple_function_of_two_is_the_kernels_to_the_last_bit(name, dtype):
    a, b = pairs(floats(dtype))
    np.testing.assert_array_equal(native(name, a, b)[0], expected(name, a, b))


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide", "div_floor", "div_trunc"])
def test_quotients_and_remainders_of_floats_are_the_kernels(name, dtype):
    a, b = pairs(floats(dtype))
    got, want = native(name, a, b)[0], expected(name, a, b)
    np.testing.assert_array_equal(got, want)
    some = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[some]), np.signbit(want[some]))


FUNCTIONS = "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh"
FUNCTIONS += " acosh atanh erf erfc cbrt sigmoid special_entr logit"


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS.split())
def test_a_function_agrees_with_its_kernel_to_some_units_in_the_last_place(name, dtype):
    x = floats(dtype)
    params = {"eps": None} if name == "logit" else {}
    assert ulps(native(name, x, **params)[0], expected(name, x, **params)) <= 8


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
def test_lgamma_agrees_with_its_kernel_which_loses_digits_near_the_roots(dtype):
    x = floats(dtype)
    x = x[np.abs(x) != 5e-324]  # where the kernel overflows
    got, want = native("lgamma", x)[0], expected("lgamma", x)
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    bound = 8 * np.spacing(np.maximum(np.abs(want[finite]), dtype.type(1)))
    assert (np.abs(got[finite] - want[finite]) <= bound).all()


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", ["pow", "atan2", "hypot", "xlogy", "special_xlog1py"])
def test_a_function_of_two_agrees_with_its_kernel(name, dtype):
    a, b = pairs(floats(dtype))
    assert ulps(native(name, a, b)[0], expected(name, a, b)) <= 8


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_sums_of_exponentials_agree_with_their_kernel(name, dtype):
    a, b = pairs(floats(dtype))
    got, want = native(name, a, b)[0], expected(name, a, b)
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    # a sum near 1 has a logarithm near 0, of which the arguments determine few digits
    a, b, got, want = a[finite], b[finite], got[finite], want[finite]
    size = np.maximum(np.maximum(np.where(np.isfinite(a), np.abs(a), 0), np.abs(want)), 1)
    size = np.maximum(size, np.where(np.isfinite(b), np.abs(b), 0))
    assert (np.abs(got - want) <= 4 * np.spacing(size)).all()


@pytest.mark.parametrize("name", ["exp", "sin", "tanh", "erf", "log", "expm1"])
def test_vector_functions_are_right_in_wide_ranges(name):
    x = np.random.default_rng(4).uniform(-700, 700, 100_000)
    x = np.abs(x) if name == "log" else x
    got = native(name, x)[0]
    if name == "erf":
        want = np.array([math.erf(v) for v in x])
    else:
        want = getattr(np, name)(x.astype(np.longdouble)).astype(np.float64)
    assert ulps(got, want) <= 4


OF_INTEGERS = "add sub mul rsub maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor eq ne"
OF_INTEGERS += " lt le gt ge logical_and heaviside"


@pytest.mark.parametrize("dtype", [i1, i4, i8, u1, u8], ids=str)
@pytest.mark.parametrize("name", OF_INTEGERS.split())
def test_integers_wrap_and_compare_as_the_kernels_do(name, dtype):
    a = whole(dtype)
    b = np.random.default_rng(5).permutation(a)
    np.testing.assert_array_equal(native(name, a, b)[0], expected(name, a, b))


OF_AN_INTEGER = ["neg", "abs", "sign", "sgn", "floor", "round", "bitwise_not", "logical_not"]


@pytest.mark.parametrize("dtype", [i1, i4, i8, u1], ids=str)
@pytest.mark.parametrize("name", OF_AN_INTEGER)
def test_functions_of_integers_are_the_kernels(name, dtype):
    np.testing.assert_array_equal(native(name, whole(dtype))[0], expected(name, whole(dtype)))


@pytest.mark.parametrize("dtype", [i1, i8, u1], ids=str)
@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
def test_shifts_by_all_bits_and_more_are_the_kernels(name, dtype):
    a = whole(dtype)
    b = np.arange(len(a)).astype(dtype) % 70
    np.testing.assert_array_equal(native(name, a, b)[0], expected(name, a, b))


@pytest.mark.parametrize("dtype", [i1, i4, i8, u1], ids=str)
@pytest.mark.parametrize("name", ["floor_divide", "div_trunc", "remainder", "fmod"])
def test_quotients_and_remainders_of_integers_are_the_kernels(name, dtype):
    a, b = (grid.ravel() for grid in np.meshgrid(whole(dtype), whole(dtype)))
    a, b = a[b != 0], b[b != 0]
    got, trouble = native(name, a, b)
    assert not trouble
    want = expected(name, a, b)
    if name == "div_trunc" and dtype.kind == "i":
        # the kernel's own quotient of the smallest number by -1 wraps, too
        assert got[(a == np.iinfo(dtype).min) & (b == -1)][0] == np.iinfo(dtype).min
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["floor_divide", "div_trunc", "remainder", "fmod"])
def test_an_integer_divided_by_zero_is_trouble_and_nothing_worse(name):
    a = np.array([1, 2, 3])
    assert native(name, a, np.array([1, 2, 1]))[1] is False
    module = looped(name, (a, a), i8)
    engine, _ = compiled(module)
    b, out = np.array([1, 0, 1]), np.empty(3, np.int64)
    function = ctypes.CFUNCTYPE(ctypes.c_int8, *[ctypes.c_void_p] * 3, ctypes.c_int64)
    call = function(engine.get_function_address("f"))
    assert call(a.ctypes.data, b.ctypes.data, out.ctypes.data, 3) == 1
    assert out[0] == expected(name, a[:1], b[:1])[0]


NUMBERS = [
    ("add_scalar", {"other": 2.5}),
    ("sub_scalar", {"other": 1e300}),
    ("rsub_scalar", {"other": -0.0}),
    ("mul_scalar", {"other": 0.1}),
    ("div_scalar", {"other": 3}),
    ("remainder_scalar", {"other": 0.3}),
    ("fmod_scalar", {"other": -0.3}),
    *(("pow_scalar", {"exponent": e}) for e in (0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 2.0, 1.7, -3)),
    ("rpow_scalar", {"base": 2.0}),
    ("rpow_scalar", {"base": 0.3}),
    ("clamp", {"min": -0.5, "max": 0.5}),
    ("clamp", {"min": None, "max": math.nan}),
    ("clamp", {"min": 0.5, "max": -0.5}),
    ("clamp_min", {"min": 0}),
    ("clamp_max", {"max": 0.1}),
    ("nan_to_num", {"nan": 0.5, "posinf": None, "neginf": -7.0}),
    ("round_decimals", {"decimals": 2}),
    ("round_decimals", {"decimals": -1}),
    ("logit", {"eps": 0.1}),
]


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize(("name", "params"), NUMBERS)
def test_numbers_among_the_parameters_are_as_weak_as_for_the_kernel(name, params, dtype):
    x = floats(dtype)
    assert ulps(native(name, x, **params)[0], expected(name, x, **params)) <= 4


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("mul_scalar", {"other": 0.1}),
        ("rsub_scalar", {"other": 2.5}),
        ("pow_scalar", {"exponent": 1.7}),
        ("rpow_scalar", {"base": 0.7}),
        ("clamp", {"min": -0.5, "max": 0.5}),
        ("clamp_min", {"min": math.nan}),
        ("remainder_scalar", {"other": 0.3}),
    ],
)
def test_numbers_may_be_known_only_when_it_runs(name, params, dtype):
    x = floats(dtype)
    got = native(name, x, numbers=tuple(params), **params)[0]
    assert ulps(got, expected(name, x, **params)) <= 4


@pytest.mark.parametrize("weight", [0.25, 0.75, 2.0])
@pytest.mark.parametrize("known", [True, False])
def test_the_point_between_two_is_the_kernels(weight, known):
    a, b = pairs(floats(f8))
    numbers = () if known else ("weight",)
    with np.errstate(all="ignore"):
        got = native("lerp", a, b, weight=weight, numbers=numbers)[0]
    assert ulps(got, expected("lerp", a, b, weight=weight)) <= 1


def test_three_arguments_are_the_kernels():
    rng = np.random.default_rng(6)
    a, b, c = rng.standard_normal((3, 500))
    for name, params in (
        ("addcmul", {"value": -2.0}),
        ("addcdiv", {"value": 0.5}),
        ("lerp_tensor", {}),
        ("clamp_tensor", {}),
    ):
        np.testing.assert_array_equal(
            native(name, a, b, c, **params)[0], expected(name, a, b, c, **params)
        )
    mask = a > 0
    np.testing.assert_array_equal(native("where", mask, b, c)[0], expected("where", mask, b, c))
    got = native("masked_fill", a, mask, value=3)[0]
    np.testing.assert_array_equal(got, expected("masked_fill", a, mask, value=3))


def test_integers_and_their_powers_wrap():
    for exponent in (0, 1, 2, 5, 17):
        got = native("pow_scalar", whole(i8), exponent=exponent)[0]
        np.testing.assert_array_equal(got, expected("pow_scalar", whole(i8), exponent=exponent))


def test_what_numpy_computes_otherwise_is_refused():
    assert not scalars.supports("exp", [np.dtype("c16")], np.dtype("c16"), {})
    assert not scalars.supports("exp", [np.dtype("f2")], np.dtype("f2"), {})
    assert not scalars.supports("lt", [i8, u8], b1, {})
    assert not scalars.supports("pow_scalar", [i8], i8, {"exponent": -1})
    assert not scalars.supports("mul_scalar", [f8], f8, {"other": 1j})
    assert not scalars.supports("sub", [b1, b1], b1, {})
    assert not scalars.supports("softmax", [f8], f8, {"dim": (0,)})


CASTS = [f4, f8, i1, i4, i8, u1, u8, b1]


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
    got = native("to_copy", x, dtype=target)[0]
    np.testing.assert_array_equal(got, x.astype(target))


def test_arguments_of_other_dtypes_are_brought_to_that_of_the_result():
    a, b = np.array([1, 2, 3]), np.array([0.5, 2.5, -1.0])
    np.testing.assert_array_equal(native("mul", a, b)[0], a * b)
    np.testing.assert_array_equal(native("div", a, a[::-1].copy())[0], a / a[::-1])
    np.testing.assert_array_equal(native("add_scalar", a, other=0.5)[0], a + 0.5)
    np.testing.assert_array_equal(native("lt", a.astype(np.int32), b)[0], a < b)
    np.testing.assert_array_equal(native("add", a > 1, a > 2)[0], (a > 1) + (a > 2))


@pytest.mark.parametrize(
    "name",
    [
        "add",
        "sqrt",
        "relu",
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
    _, optimised = compiled(looped(name, arrays, out))
    assert "<2 x double>" in optimised or "<4 x double>" in optimised or "<8 x double>" in optimised


def test_memory_holds_a_byte_for_a_bool():
    assert (llvm_type(b1), memory_type(b1)) == ("i1", "i8")
