"""Test that roots have the same digits on every processor."""

import numpy as np
import pytest

from wengert.kernels.roots import cbrt


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("dtype", "count"), [(np.float32, 256), (np.float64, 131072)])
def test_the_root_of_a_cube_is_exact(dtype, count, sign):
    roots = sign * np.arange(count, dtype=dtype) / 2
    assert np.array_equal(cbrt(roots**3), roots)
    assert cbrt(roots**3).dtype == dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_roots_hold_at_the_ends_of_the_numbers(dtype):
    info = np.finfo(dtype)
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.max, info.smallest_subnormal], dtype)
    root = cbrt(x)
    np.testing.assert_array_equal(root[:5], x[:5])
    assert np.signbit(root[1])
    ends = np.exp(np.log(x[5:].astype(np.longdouble)) / 3)
    np.testing.assert_allclose(root[5:], ends.astype(dtype), rtol=4 * info.eps)
