"""Test wengert's dtypes in calls of NumPy and SciPy."""

import numpy as np
import pytest

import wengert as wg


@pytest.mark.parametrize("name", ["bool", "int64", "float16", "float32", "complex128"])
def test_a_dtype_is_what_numpy_takes_for_one(name):
    dtype = getattr(wg, name)
    assert np.dtype(dtype) == np.dtype(name)
    assert np.zeros(2, dtype).dtype == name
    assert dtype.type is np.dtype(name).type


def test_scipy_minimises_a_function_that_returns_tensors_without_history():
    optimize = pytest.importorskip("scipy.optimize")
    target = wg.tensor([1.0, -2.0], dtype=wg.float64)
    found = optimize.minimize(lambda x: ((wg.from_numpy(x) - target) ** 2).sum(), np.zeros(2))
    np.testing.assert_allclose(found.x, target.numpy(), atol=1e-6)
