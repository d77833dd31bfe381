"""Test kernels for few elements against NumPy and the kernels for many."""

import itertools

import numpy as np
import pytest

from wengert.kernels import normalisation, normalisation_slopes, reducing

REDUCTIONS = {
    "add": np.add.reduce,
    "largest": np.maximum.reduce,
    "smallest": np.minimum.reduce,
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_numpys(name):
    reduced, numpys = getattr(reducing, name), REDUCTIONS[name]
    rng = np.random.default_rng(0)
    # the last are so large, with long and short rows, that NumPy does not reduce them as they are
    shapes = ((), (3,), (3, 1, 4), (0, 3), (17, 9), (40, 40), (30, 10, 4), (400, 3))
    for dtype, shape in itertools.product("fdlF", shapes):
        whole = rng.standard_normal(shape).astype(dtype)
        for x in (whole, whole.T, whole[..., ::-1] if shape else whole):
            if dtype in "fd" and x.size:
                x = x.copy()
                x.flat[x.size // 2], x.flat[-1] = np.inf, np.nan
            axes = [
                tuple(c)
                for r in range(x.ndim + 1)
                for c in itertools.permutations(range(x.ndim), r)
            ]
            for axis, keep in itertools.product(
                (None, *range(-x.ndim, x.ndim), *axes), (False, True)
            ):
                try:
                    expected = numpys(x, axis, None, None, keep)
                except ValueError:
                    with pytest.raises(ValueError):
                        reduced(x, axis=axis, keepdims=keep)
                    continue
                found = reduced(x, axis=axis, keepdims=keep)
                assert type(found) is type(expected) and found.dtype == expected.dtype
                assert found.shape == expected.shape
                np.testing.assert_allclose(found, expected, 1e-5, 1e-5)


def test_sums_that_overflow_are_reported():
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert reducing.add(np.array([3e38, 3e38], np.float32)) == np.inf


@pytest.mark.parametrize("eps", [0.1, 0.0])
@pytest.mark.parametrize(
    ("shape", "dim"),
    [
        ((3,), (0,)),
        ((2, 3), (1,)),
        ((4, 2), (0,)),
        ((2, 3, 2), (1, 2)),
        ((3, 2, 2), (0, 2)),
        ((2, 2, 1, 2), (0, 2, 3)),
        ((1, 5, 1), (0, 2)),
    ],
)
def test_few_are_normalised_as_many(shape, dim, eps):
    rng = np.random.default_rng(0)
    x, g = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
    x += 3
    nothing = np.empty((3, 0), np.float32)
    wide = [array.astype(np.float64) for array in (x, g, nothing)]
    one = np.float32(1)
    overs = ["within", *(["across"] if dim[0] == len(shape) - len(dim) else [])]
    with np.errstate(all="ignore"):
        for own, (v, c, n) in ((np.float32, (x, g, nothing)), (np.float64, wide)):
            results = [
                normalisation.standardise(v, n, dim, eps),
                normalisation.moments(v, dim, eps),
                normalisation_slopes.standardise_backward(c, v, one.astype(own), n, dim, eps),
                *[normalisation_slopes.standardised_sum(c, v, n, dim, eps, o) for o in overs],
            ]
            if own is np.float32:
                few = results
    for found, expected in zip(few, results, strict=True):
        assert found.dtype == np.float32 and found.shape == expected.shape
        np.testing.assert_allclose(found, expected, 1e-4, 1e-5)


def test_few_equal_numbers_have_no_variance():
    x = np.full((3, 7), 0.1, np.float32)
    assert not normalisation.standardise(x, np.empty((3, 0)), (1,), 1e-5).any()
