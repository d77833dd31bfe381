"""Test native forms that call LAPACK against the kernels that they replace."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")

from support.native_forms import step_of, whole
from wengert.compiler.codegen.native.forms import NATIVE
from wengert.prims import records
from wengert.prims.whole import TABLE

f4, f8 = np.dtype("f4"), np.dtype("f8")


def agrees(name, *arrays, tolerance=1e-10, **params):
    found = whole(*step_of(name, arrays, params))
    assert found is not None
    results, failed = found
    assert not failed
    wanted = TABLE[name].kernel(*arrays, **params)
    if not isinstance(wanted, tuple):
        results, wanted = (results,), (wanted,)
    for result, want in zip(results, wanted, strict=True):
        np.testing.assert_allclose(
            result, np.asarray(want), rtol=tolerance, atol=tolerance, strict=True
        )


def drawn(*shape, seed=0, dtype=f8):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def positive(*shape, dtype=f8):
    a = drawn(*shape, dtype=dtype)
    return a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1], dtype=dtype)


SQUARES = [(1, 1), (2, 2), (5, 5), (12, 12), (3, 4, 4), (2, 2, 3, 3)]


@pytest.mark.parametrize("upper", [False, True, None])
def test_cholesky_factors(upper):
    for shape in SQUARES:
        # what the factor does not come from must not count
        a = positive(*shape)
        a = a if upper is None else (np.triu if upper else np.tril)(a)
        agrees("linalg_cholesky", a, upper=upper, what="")
    agrees("linalg_cholesky", positive(4, 4, dtype=f4), tolerance=1e-4, upper=upper, what="")


@pytest.mark.parametrize("unitriangular", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_triangular_systems(upper, left, unitriangular):
    for a, b in (((3, 3), (3, 5)), ((2, 4, 4), (2, 4, 1)), ((4, 4), (3, 4, 2)), ((5, 5), (5, 5))):
        b = b if left else (*b[:-2], b[-1], b[-2])
        matrix = drawn(*a) / 4 + 2 * np.eye(a[-1])
        params = {"upper": upper, "left": left, "unitriangular": unitriangular}
        agrees("linalg_solve_triangular", matrix, drawn(*b, seed=1), **params)


def test_a_triangular_system_that_divides_by_zero_is_infinite_as_the_kernels():
    a = np.array([[1.0, 0.0], [1.0, 0.0]])
    params = {"upper": False, "left": True, "unitriangular": False}
    with np.errstate(divide="ignore", invalid="ignore"):
        agrees("linalg_solve_triangular", a, np.ones((2, 2)), **params)


def test_linear_systems():
    for a, b, params in (
        ((3, 3), (3, 5), {"left": True, "vector": False}),
        ((4, 4), (4, 1), {"left": True, "vector": False}),
        ((3, 3), (5, 3), {"left": False, "vector": False}),
        ((2, 3, 3), (2, 3, 4), {"left": True, "vector": False}),
        ((3, 3), (2, 3, 4), {"left": True, "vector": False}),
        ((2, 3, 3), (2, 3), {"left": True, "vector": True}),
        ((6, 6), (6,), {"left": True, "vector": True}),
    ):
        agrees("linalg_solve", drawn(*a), drawn(*b, seed=1), **params)
    single = drawn(4, 4, dtype=f4), drawn(4, 3, seed=1, dtype=f4)
    agrees("linalg_solve", *single, tolerance=1e-3, left=True, vector=False)


@pytest.mark.parametrize("name", ["linalg_inv", "linalg_det", "linalg_slogdet", "cofactor"])
def test_inverses_and_determinants(name):
    for shape in SQUARES:
        agrees(name, drawn(*shape))
    agrees(name, np.eye(4)[[2, 0, 1, 3]])
    agrees(name, drawn(4, 4, dtype=f4), tolerance=1e-3)


@pytest.mark.parametrize("name", ["linalg_det", "linalg_slogdet"])
def test_the_determinant_of_a_singular_matrix_is_zero(name):
    agrees(name, np.ones((2, 3, 3)))


def test_a_determinant_that_is_too_large_is_infinite():
    agrees("linalg_slogdet", np.eye(4) * 1e200)
    with np.errstate(over="ignore"):
        agrees("linalg_det", np.eye(4) * 1e200)


@pytest.mark.parametrize(
    ("name", "arrays", "params"),
    [
        ("linalg_cholesky", [-np.eye(3)], {"upper": False, "what": ""}),
        ("linalg_cholesky", [np.full((3, 3), np.nan)], {"upper": False, "what": ""}),
        ("linalg_cholesky", [np.diag([1.0, np.inf, 1.0])], {"upper": True, "what": ""}),
        ("linalg_inv", [np.ones((2, 2))], {}),
        ("cofactor", [np.ones((2, 2))], {}),
        ("linalg_solve", [np.ones((2, 2)), np.ones((2, 2))], {"left": True, "vector": False}),
    ],
)
def test_a_matrix_without_an_answer_fails(name, arrays, params):
    _, failed = whole(*step_of(name, arrays, params), np.empty(arrays[0].shape))
    assert failed


def test_complex_and_empty_matrices_are_left_to_numpy():
    assert whole(*step_of("linalg_inv", [np.eye(2) * 1j], {})) is None
    assert whole(*step_of("linalg_inv", [np.empty((0, 0))], {})) is None


def test_it_says_what_is_called():
    step, _ = step_of("linalg_inv", [np.eye(3)], {})
    assert NATIVE[records.linalg_inv].describe(step) == "dgetrf 3"
