"""Test kernels that move elements, on arrays large enough for their fast paths."""

import numpy as np
import pytest

from wengert.kernels.shape import tril, triu


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i2", "c8", "?"])
def test_triangles_of_large_matrices_are_numpys_to_the_bit(dtype):
    x = (np.random.default_rng(0).standard_normal((2, 130, 90)) * 5).astype(dtype)
    if dtype in ("f4", "f8"):
        x[0, 0, 1], x[1, 5, 0], x[1, 2, 2] = np.nan, -np.inf, -0.0
    for given in (x, x.swapaxes(1, 2), x[..., ::-1], np.broadcast_to(x[0], x.shape)):
        for diagonal in (-200, -1, 0, 3, 200):
            for ours, theirs in ((tril, np.tril), (triu, np.triu)):
                found, wanted = ours(given, diagonal), theirs(given, diagonal)
                assert found.dtype == wanted.dtype and found.shape == wanted.shape
                assert found.tobytes() == wanted.tobytes()
