"""Products of matrices: what BLAS is asked, and that the answer is the product."""

from __future__ import annotations

import numpy as np
import pytest

from wengert.kernels import matmul

_SHAPES = ((2, 1024, 640), (8, 256, 256), (64, 784, 256), (3, 70, 1000), (1, 512, 512))


@pytest.mark.parametrize(("few", "inner", "wide"), _SHAPES)
def test_few_rows_times_a_transposed_matrix(few: int, inner: int, wide: int) -> None:
    rng = np.random.default_rng(few)
    x = rng.standard_normal((few, inner)).astype(np.float32)
    weight = rng.standard_normal((wide, inner)).astype(np.float32)
    made = matmul.mm(x, weight.T)
    assert made.shape == (few, wide) and made.dtype == np.float32 and made.flags.c_contiguous
    exact, turned = x.astype(np.float64), weight.T.astype(np.float64)
    # what roundings may add up to, as in a random walk
    bound = inner**0.5 * np.finfo(np.float32).eps * (np.abs(exact) @ np.abs(turned))
    assert (np.abs(made - exact @ turned) < bound).all()
    np.testing.assert_array_equal(matmul.mm(x, weight.T), made)


def test_values_that_are_not_finite_stay_in_their_rows_and_columns() -> None:
    x, weight = np.ones((8, 512), np.float32), np.ones((256, 512), np.float32)
    x[2, 7], weight[5, 3] = np.nan, np.inf
    made = matmul.mm(x, weight.T)
    assert np.isnan(made[2]).all() and np.isinf(made[[0, 1, 3], 5]).all()
    assert (np.delete(np.delete(made, 2, 0), 5, 1) == 512).all()
