"""Test native transcendental functions against kernels and higher precision."""

import math

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from support.native_forms import (
    element_loop,
    elements,
    expected,
    floats,
    pairs,
    ulps,
)
from wengert.compiler.codegen import library, vectors
from wengert.compiler.codegen.scalars import formulas as scalars_formulas

f4, f8 = np.dtype("f4"), np.dtype("f8")


FUNCTIONS = "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh"
FUNCTIONS += " acosh atanh erf erfc cbrt"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS.split())
def test_a_function_agrees_with_its_kernel_to_some_units_in_the_last_place(name, dtype):
    x = floats(dtype)
    assert ulps(elements(name, x)[0], expected(name, x)) <= 8


def test_the_tanh_of_one_float_is_the_nearest_or_the_next_and_reaches_one(monkeypatch):
    monkeypatch.setattr(library, "vector_forms", lambda *of: ())
    tiny = np.geomspace(1e-44, 1, 999)
    x = np.concatenate((np.linspace(0, 12, 9999), tiny, [0.0, np.inf])).astype(f4)
    x = np.concatenate((x, -x))
    got, want = elements("tanh", x)[0], np.tanh(x.astype(f8)).astype(f4)
    assert ulps(got, want) <= 1
    np.testing.assert_array_equal(np.signbit(got), np.signbit(x))
    assert (np.abs(got[np.abs(x) > 9.05]) == 1).all()


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
def test_lgamma_agrees_with_its_kernel_which_loses_digits_near_the_roots(dtype):
    x = floats(dtype)
    x = x[np.abs(x) != 5e-324]  # where the kernel overflows
    got, want = elements("lgamma", x)[0], expected("lgamma", x)
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    bound = 8 * np.spacing(np.maximum(np.abs(want[finite]), dtype.type(1)))
    assert (np.abs(got[finite] - want[finite]) <= bound).all()


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", ["pow", "atan2", "hypot"])
def test_a_function_of_two_agrees_with_its_kernel(name, dtype):
    a, b = pairs(floats(dtype))
    assert ulps(elements(name, a, b)[0], expected(name, a, b)) <= 8


# ranges in which numbers are spread evenly, and ranges of their logarithms
WIDE = {
    "exp": ([(-1, 1), (-708, 709)], []),
    "expm1": ([(-1, 1), (-40, 709)], []),
    "tanh": ([(-1, 1), (-25, 25)], []),
    "log": ([(0.01, 2)], [(-700, 700)]),
    "log1p": ([(-0.99, 1)], [(-80, 700)]),
    "sin": ([(-10, 10), (-1e6, 1e6)], [(-80, 28)]),
    "cos": ([(-10, 10), (-1e6, 1e6)], [(-80, 28)]),
    "erf": ([(-7, 7)], []),
    "exp2": ([(-1020, 1020)], []),
    "atan": ([], [(-20, 20)]),
}


def spread(name, dtype):
    """Numbers in the ranges of a function; of small float32 ones, too, the square is a number."""
    rng = np.random.default_rng(4)
    even, logarithmic = WIDE[name]
    parts = [rng.uniform(*bounds, 20_000) for bounds in even]
    parts += [np.exp(rng.uniform(*bounds, 20_000)) for bounds in logarithmic]
    if name in ("sin", "cos"):
        parts.append(np.arange(20_000) * (math.pi / 2))
    x = np.concatenate(parts)
    if dtype == f8:
        return x
    x = x[(np.abs(x) < 85) & (np.abs(x) > 1e-18)]
    return x.astype(dtype)


@pytest.fixture(params=["own", "library"])
def forms(request, monkeypatch):
    """Vector functions all made of formulas, or all of the system's library if there is one."""
    own = ("double", "float") if request.param == "own" else ()
    for name, formula in scalars_formulas.FORMULAS.items():
        monkeypatch.setitem(scalars_formulas.FORMULAS, name, formula._replace(own=own))
    vectors.vector_forms.cache_clear()
    yield request.param
    vectors.vector_forms.cache_clear()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", WIDE)
def test_functions_are_right_in_wide_ranges(name, dtype, forms):
    if forms == "own" and name not in scalars_formulas.FORMULAS:
        pytest.skip("it has no formula")
    x = spread(name, dtype)
    got = elements(name, x)[0]
    if name == "erf":
        want = np.array([math.erf(v) for v in x])
    else:
        want = getattr(np, {"atan": "arctan"}.get(name, name))(x.astype(np.longdouble))
    assert ulps(got, want.astype(dtype)) <= (3 if forms == "own" else 4)


@pytest.mark.parametrize("dtype", [f4, f8], ids=str)
@pytest.mark.parametrize("name", ["exp", "expm1", "tanh", "log", "log1p", "sin", "cos"])
def test_functions_hold_where_they_are_special(name, dtype, forms):
    if forms == "own" and name not in scalars_formulas.FORMULAS:
        pytest.skip("it has no formula")
    x = floats(dtype)
    x = np.concatenate([x, -x, np.geomspace(1, 1e3, 50).astype(dtype), -np.ones(9, dtype)])
    got, want = elements(name, x)[0], expected(name, x)
    assert ulps(got, want) <= (4 if forms == "own" else 8)
    there = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[there]), np.signbit(want[there]))


def test_a_loop_calls_the_vector_forms():
    if not vectors.vector_forms("exp", "double"):
        pytest.skip("there are no vectors")
    assert "@wengert_exp_double_" in element_loop("exp", [np.ones(8)], f8, {})
