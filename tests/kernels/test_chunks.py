"""Test that threads and vector functions on large arrays match NumPy, and its warnings."""

import importlib
import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.interp.eager import K
from wengert.kernels import chunks
from wengert.prims.whole import TABLE

SIZE = 110_001
ELEMENTWISE = [
    name
    for name, prim in TABLE.items()
    if prim.family == "elementwise"
    and getattr(K, name) is not prim.kernel
    # which may be there or not, and take whole numbers of moderate size
    and "polynomial" not in name
    and not name.startswith("scipy_")
    and all(len(c.shapes) == len(prim.args) for c in prim.cases)
]


@pytest.fixture(autouse=True)
def three_threads():
    before = wg.get_num_threads()
    wg.set_num_threads(3)
    yield
    wg.set_num_threads(before)


def both(function):
    """What `function` gives with one thread and with three, with the warnings of each."""
    results = []
    for count in (1, 3):
        wg.set_num_threads(count)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            value = function()
        results.append((value, sorted(str(warning.message) for warning in seen)))
    return results


def odd(rng, dtype, size=SIZE):
    """Numbers of all kinds."""
    x = (rng.standard_normal(size) * 3).astype(dtype)
    x[::1000], x[5::7777], x[7::9999], x[40000:40007] = 0, np.inf, np.nan, 1e30
    return x


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes("A") == b.tobytes("A")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_threads_change_no_bit_and_no_warning(name, dtype):
    rng = np.random.default_rng(0)
    arrays = [odd(rng, dtype) for _ in TABLE[name].args]
    params = TABLE[name].cases[0].params
    (one, before), (three, after) = both(lambda: getattr(K, name)(*arrays, **params))
    assert same_bits(one, three)
    assert set(before) == set(after)


def test_most_operations_are_shared():
    assert {"exp", "sin", "tanh", "sigmoid", "erf", "pow", "atan2", "gelu"} <= set(ELEMENTWISE)
    # operators are as quick as the memory
    assert K.mul is np.multiply


def test_complex_numbers():
    rng = np.random.default_rng(0)
    z = odd(rng, np.float64) + 1j * rng.standard_normal(SIZE)
    (one, before), (three, after) = both(lambda: K.exp(z))
    assert same_bits(one, three) and set(before) == set(after)


@pytest.mark.parametrize(
    "cut",
    [
        lambda x: x.reshape(300, 1000),
        lambda x: x.reshape(300, 1000).T,
        lambda x: x.reshape(300, 1000)[:, ::2],
        lambda x: x[::-1],
        lambda x: x.reshape(3, 100, 1000).transpose(1, 0, 2),
    ],
    ids=["C", "F", "gaps", "backwards", "permuted"],
)
def test_layouts_are_as_with_one_thread(cut):
    x = cut(np.linspace(-3.0, 3.0, 300_000))
    (one, _), (three, _) = both(lambda: K.tanh(x))
    assert same_bits(one, three) and one.strides == three.strides
    assert np.allclose(one, np.tanh(x), rtol=1e-14)


def test_a_number_beside_a_large_array():
    x = np.linspace(0.0, 3.0, SIZE)
    (one, _), (three, _) = both(lambda: K.atan2(x, np.float64(0.5)))
    assert same_bits(one, three)
    (one, _), (three, _) = both(lambda: K.atan2(x, np.array(0.5)))
    assert same_bits(one, three)


def test_shapes_that_broadcast_are_as_with_one_thread():
    x, y = np.linspace(0.0, 3.0, 200_000).reshape(400, 500), np.linspace(1.0, 2.0, 500)
    for a, b in ((x, y), (y, x)):
        (one, _), (three, _) = both(lambda a=a, b=b: K.atan2(a, b))
        assert same_bits(one, three)
        np.testing.assert_allclose(one, np.arctan2(a, b), 1e-14)


def test_forward_and_backward_are_the_same_with_any_number_of_threads():
    rng = np.random.default_rng(0)
    x = wg.from_numpy(rng.uniform(0.5, 1.0, 200_000)).requires_grad_()

    def run():
        y = x.sin() * x.exp() + x.sigmoid() / x.log1p()
        return wg.autograd.grad(y.sum(), x)[0].numpy()

    (one, _), (three, _) = both(run)
    assert same_bits(one, three)


# -- what NumPy reports ----------------------------------------------------------------------------


def negative(*places):
    x = np.ones(300_000)
    x[list(places)] = -1
    return x


def test_a_warning_comes_once_wherever_its_causes_are():
    x = negative(3, 100_000, 200_000, 299_999)
    x[150_000] = 0
    one, three = both(lambda: wg.from_numpy(x).log())
    assert three[1] == one[1]
    assert three[1] == ["divide by zero encountered in log", "invalid value encountered in log"]


def test_a_warning_comes_from_the_thread_that_asked():
    with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt") as seen:
        K.sqrt(negative(299_999))
    assert len(seen) == 1


def test_errstate_of_the_caller_holds():
    x = negative(299_999)
    with np.errstate(invalid="ignore"):
        assert np.isnan(K.sqrt(x)[-1])
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="sqrt"):
        K.sqrt(x)
    told = []
    with np.errstate(invalid="call", call=lambda kind, flags: told.append(kind)):
        K.sqrt(x)
    assert told == ["invalid value"]


def test_a_zero_gradient_meets_an_infinite_derivative_below_a_mask():
    x = wg.zeros(300_000, dtype=wg.float64, requires_grad=True)
    wg.where(x > 0, x.sqrt(), 0.0).sum().backward()
    assert not x.grad.any()


# -- functions of the compiled build ---------------------------------------------------------------

vector = pytest.mark.skipif(not chunks.VECTOR, reason="the compiled modules are not in use")
NAMES = ["sin", "cos", "exp", "log", "tanh"]


def test_the_compiled_build_has_its_functions():
    try:
        made = importlib.import_module("wengert.kernels.vector")
    except ImportError:
        assert not chunks.VECTOR
    else:
        assert {function.__name__ for function in chunks.VECTOR} == set(NAMES)
        assert chunks.VECTOR[np.sin] is made.sin


def numbers(name):
    rng = np.random.default_rng(0)
    signed = np.concatenate(
        [
            rng.uniform(-1, 1, 20_000),
            rng.uniform(-30, 30, 20_000),
            rng.uniform(-1e5, 1e5, 5_000),
            rng.uniform(-1, 1, 5_000) * 10.0 ** rng.uniform(-300, 0, 5_000),
            np.arange(1, 1000) * np.pi / 2,
        ]
    )
    if name == "log":
        return np.concatenate([abs(signed), 1 + rng.uniform(-1e-3, 1e-3, 5000)])
    return (
        np.concatenate([signed, rng.uniform(-708, 708, 5_000)])
        if name != "exp"
        else signed[abs(signed) < 708]
    )


@vector
@pytest.mark.parametrize("name", NAMES)
def test_vector_functions_are_accurate_to_two_units_in_the_last_place(name):
    x = numbers(name)
    exact = getattr(np, name)(x.astype(np.longdouble))
    if exact.dtype.itemsize == 8:
        pytest.skip("there is no longer type to compare with")
    made = chunks.VECTOR[getattr(np, name)](x)
    error = np.abs(made.astype(np.longdouble) - exact) / np.spacing(np.abs(made))
    assert error.max() < (2.5 if name == "tanh" else 2.0)


@vector
@pytest.mark.parametrize("name", NAMES)
def test_vector_functions_give_an_element_one_value_wherever_it_stands(name):
    function = chunks.VECTOR[getattr(np, name)]
    x = np.abs(np.random.default_rng(0).standard_normal(1001)) + 0.1
    expected = function(x)
    assert (np.array([function(x[i : i + 1])[0] for i in range(1001)]) == expected).all()
    assert (function(np.repeat(x, 3)[::3]) == expected).all()
    assert (function(x[::-1])[::-1] == expected).all()
    aligned = x.copy()
    assert (function(aligned, out=aligned) == expected).all()
    shifted = np.append(x, 1.0)
    function(shifted[:-1], out=shifted[1:])
    assert (shifted[1:] == expected).all()


@vector
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, -0.0, 0.0, -1.0, 1e6, 800.0, -800.0])
def test_vector_functions_treat_odd_numbers_as_numpy_does(name, value):
    x = np.ones(200)
    x[150] = value
    results = []
    for function in (getattr(np, name), chunks.VECTOR[getattr(np, name)]):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            result = function(x)
        results.append((result, [str(warning.message) for warning in seen]))
    (expected, before), (made, after) = results
    assert before == after
    assert np.allclose(made, expected, rtol=1e-15, equal_nan=True)
    ordered = ~np.isnan(expected)
    assert (np.signbit(made) == np.signbit(expected))[ordered].all()


@vector
@pytest.mark.parametrize("name", NAMES)
def test_vector_functions_report_nothing_of_ordinary_numbers(name):
    x = np.array([5e-324, 1e-310, 1e-200, 1.0, 700.0] * 20)
    if name == "log":
        x = x[x > 1e-300]
    with np.errstate(all="raise"):
        assert np.isfinite(chunks.VECTOR[getattr(np, name)](x)).all()


@vector
def test_large_arrays_are_computed_by_vector_functions():
    x = np.linspace(0.1, 3.0, 5000)
    assert same_bits(K.sin(x), chunks.VECTOR[np.sin](x))
    assert same_bits(K.sin(x[:100]), np.sin(x[:100]))
    assert same_bits(K.sin(x.astype(np.float32)), np.sin(x.astype(np.float32)))
