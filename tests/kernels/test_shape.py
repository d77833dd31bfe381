"""Test kernels that move elements, on arrays large enough for their fast paths."""

import numpy as np
import pytest

from wengert.kernels.reduce import product
from wengert.kernels.shape import flip, tril, triu


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i2", "c8", "?"])
def test_triangles_of_large_matrices_are_numpys_to_the_bit(dtype):
    x = (np.random.default_rng(0).standard_normal((2, 130, 90)) * 5).astype(dtype)
    if dtype in ("f4", "f8"):
        x[0, 0, 1], x[1, 5, 0], x[1, 2, 2] = np.nan, -np.inf, -0.0
    strided = (x.swapaxes(1, 2), x[..., ::-1], np.broadcast_to(x[0], x.shape), x[..., :7])
    for given in (x, *strided):
        for diagonal in (-200, -1, 0, 3, 200):
            for ours, theirs in ((tril, np.tril), (triu, np.triu)):
                found, wanted = ours(given, diagonal), theirs(given, diagonal)
                assert found.dtype == wanted.dtype and found.shape == wanted.shape
                assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "c8", "?"])
def test_reversed_dimensions_of_large_arrays_are_numpys_to_the_bit(dtype):
    x = (np.random.default_rng(0).standard_normal((45, 50, 3)) * 5).astype(dtype)
    x[0, 0, 0] = np.nan if dtype in ("f4", "f8", "c8") else 1
    for given in (x, x.swapaxes(0, 1), x[:, ::-1], np.broadcast_to(x[0], x.shape), x[:, :0]):
        for dims in ((), (0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2)):
            found, wanted = flip(given, dims), np.flip(given, dims)
            assert found.dtype == wanted.dtype and found.shape == wanted.shape
            assert found.tobytes() == wanted.tobytes()
            assert not np.may_share_memory(found, given)


@pytest.mark.parametrize("size", [2047, 2048, 2049, 5000])
def test_products_of_many_elements(size):
    rng = np.random.default_rng(size)
    x = rng.uniform(0.99, 1.01, size)
    np.testing.assert_allclose(product(x), np.prod(x), rtol=1e-12)
    np.testing.assert_allclose(product(x[::-1].reshape(1, -1)), np.prod(x), rtol=1e-12)
    signs = rng.choice([-1, 1], size)
    assert product(signs) == np.prod(signs) and product(signs).dtype == signs.dtype
    for special in (np.nan, np.inf, 0.0):
        x[size - 1] = special
        np.testing.assert_equal(product(x), special)
