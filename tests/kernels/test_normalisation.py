"""Test blocked normalisation of arrays, near 0 and far from it."""

from __future__ import annotations

import numpy as np
import pytest

from wengert.kernels import normalisation as kernels
from wengert.kernels import normalisation_slopes as slopes

EPS = 1e-3
ROWS = ((1200, 300), (1,))
LONG_ROWS = ((300, 1000), (1,))
COLUMNS = ((3001, 100), (0,))
CHANNELS = ((37, 8, 1000), (0, 2))
NOTHING = np.empty((3, 0))


def normals(shape, centre=0.0):
    rng = np.random.default_rng(7)
    return centre + rng.standard_normal(shape), rng.standard_normal(shape)


def column(values, shape, dim):
    """Numbers of the means in a shape that broadcasts."""
    return values.reshape([1 if i in dim else n for i, n in enumerate(shape)])


def standardised(x, dim):
    apart = x - x.mean(dim, keepdims=True)
    return apart / np.sqrt((apart**2).mean(dim, keepdims=True) + EPS)


def slope(h, x, dim):
    scale = 1 / np.sqrt(x.var(dim, keepdims=True) + EPS)
    y = standardised(x, dim)
    apart = h - h.mean(dim, keepdims=True) - y * (h * y).mean(dim, keepdims=True)
    return apart * scale


@pytest.mark.parametrize("centre", [0.0, 50.0])
@pytest.mark.parametrize(("shape", "dim"), [ROWS, LONG_ROWS, COLUMNS, CHANNELS])
def test_large_arrays_have_the_values_and_slopes_of_the_formula(shape, dim, centre):
    x, g = normals(shape, centre)
    known = kernels.moments(x, dim=dim, eps=EPS)
    np.testing.assert_allclose(known[0], x.mean(dim), atol=1e-13)
    np.testing.assert_allclose(known[1], x.var(dim), rtol=1e-12)
    y = kernels.standardise(x, known, dim=dim, eps=EPS)
    np.testing.assert_allclose(y, standardised(x, dim), atol=1e-11)
    one = np.array(1.0)
    got = slopes.standardise_backward(g, x, one, known, dim=dim, eps=EPS)
    np.testing.assert_allclose(got, slope(g, x, dim), atol=1e-11)
    over = "across" if dim[0] else "within"
    sums = slopes.standardised_sum(g, x, known, dim=dim, eps=EPS, over=over)
    expected = (g * standardised(x, dim)).sum(0 if dim[0] else dim)
    np.testing.assert_allclose(sums, expected, atol=1e-10)


@pytest.mark.parametrize("centre", [0.0, 50.0])
@pytest.mark.parametrize("shape", [ROWS[0], LONG_ROWS[0]])
def test_weights_of_rows_are_taken_part_by_part(shape, centre):
    x, g = normals(shape, centre)
    weight, bias = np.random.default_rng(1).uniform(0.5, 2.0, (2, shape[1]))
    got = kernels.layer_norm(x, weight, bias, NOTHING, dim=(1,), eps=EPS)
    np.testing.assert_allclose(got, standardised(x, (1,)) * weight + bias, atol=1e-11)
    got = slopes.standardise_backward(g, x, weight, NOTHING, dim=(1,), eps=EPS)
    np.testing.assert_allclose(got, slope(g * weight, x, (1,)), atol=1e-11)


@pytest.mark.parametrize("centre", [0.0, 50.0])
@pytest.mark.parametrize(("shape", "dim"), [COLUMNS, CHANNELS])
def test_weights_of_channels_are_taken_part_by_part(shape, dim, centre):
    x, g = normals(shape, centre)
    weight, bias = np.random.default_rng(1).uniform(0.5, 2.0, (2, shape[1]))
    weight[0] = 0.0
    wide, shift = column(weight, shape, dim), column(bias, shape, dim)
    got = kernels.batch_norm(x, weight, bias, NOTHING, eps=EPS)
    np.testing.assert_allclose(got, standardised(x, dim) * wide + shift, atol=1e-11)
    got = slopes.standardise_backward(g, x, weight, NOTHING, dim=dim, eps=EPS)
    np.testing.assert_allclose(got, slope(g * wide, x, dim), atol=1e-11)


@pytest.mark.parametrize("centre", [0.0, 50.0])
@pytest.mark.parametrize(("shape", "dim"), [ROWS, COLUMNS, CHANNELS])
def test_numbers_take_the_places_of_weights(shape, dim, centre):
    x, g = normals(shape, centre)
    weight, bias = np.array(2.0), np.array(3.0)
    if dim == (1,):
        got = kernels.layer_norm(x, weight, bias, NOTHING, dim=dim, eps=EPS)
    else:
        got = kernels.batch_norm(x, weight, bias, NOTHING, eps=EPS)
    np.testing.assert_allclose(got, standardised(x, dim) * 2 + 3, atol=1e-11)
    got = slopes.standardise_backward(g, x, weight, NOTHING, dim=dim, eps=EPS)
    np.testing.assert_allclose(got, slope(g * 2, x, dim), atol=1e-11)


@pytest.mark.parametrize("centre", [0.0, 50.0])
@pytest.mark.parametrize("shape", [(40, 6, 1000), (70000, 2), (2, 6, 3)])
def test_groups_have_the_values_and_slopes_of_their_rows(shape, centre):
    x, g = normals(shape, centre)
    n, channels = shape[:2]
    rows = (n * 2, x.size // (n * 2))
    weight, bias = np.random.default_rng(1).uniform(0.5, 2.0, (2, channels))
    wide, shift = (v.reshape(channels, *[1] * (len(shape) - 2)) for v in (weight, bias))
    got = kernels.group_norm(x, weight, bias, NOTHING, groups=2, eps=EPS)
    expected = standardised(x.reshape(rows), (1,)).reshape(shape) * wide + shift
    np.testing.assert_allclose(got, expected, atol=1e-11)
    got = slopes.group_norm_backward(g, x, weight, NOTHING, groups=2, eps=EPS)
    expected = slope((g * wide).reshape(rows), x.reshape(rows), (1,)).reshape(shape)
    np.testing.assert_allclose(got, expected, atol=1e-11)


def test_groups_of_few_numbers_have_moments_of_their_own():
    # a group, or each channel of it, is few numbers, or is not
    for channels, groups, within in [(32, 8, 16), (32, 1, 1), (8, 4, 60), (64, 2, 4), (6, 6, 9)]:
        x, g = (v.astype("f") for v in normals((1, channels, within), 3.0))
        rows = groups, x.size // groups
        weight, bias = np.random.default_rng(1).uniform(0.5, 2.0, (2, channels)).astype("f")
        wide, shift = weight[:, None], bias[:, None]
        for known in (NOTHING, kernels.moments_of(x.reshape(1, *rows), EPS)):
            got = kernels.group_norm(x, weight, bias, known, groups=groups, eps=EPS)
            expected = standardised(x.reshape(rows), (1,)).reshape(x.shape) * wide + shift
            np.testing.assert_allclose(got, expected, atol=1e-5)
            got = slopes.group_norm_backward(g, x, weight, known, groups=groups, eps=EPS)
            expected = slope((g * wide).reshape(rows), x.reshape(rows), (1,)).reshape(x.shape)
            np.testing.assert_allclose(got, expected, atol=1e-5)


@pytest.mark.parametrize(("shape", "dim"), [ROWS, COLUMNS, CHANNELS])
def test_a_small_variance_far_from_0_keeps_its_digits(shape, dim):
    # multiples of 1/64 near 4096 are exact in float32
    x = (4096 + np.round(normals(shape)[0] * 64) / 64).astype(np.float32)
    g = normals(shape)[1].astype(np.float32)
    exact = x.astype(np.float64)
    known = kernels.moments(x, dim=dim, eps=EPS)
    np.testing.assert_allclose(known[1], exact.var(dim), rtol=1e-5)
    one, over = np.array(1.0, np.float32), "across" if dim[0] else "within"
    got = slopes.standardise_backward(g, x, one, known, dim=dim, eps=EPS)
    # half of a unit in the last place of the means
    np.testing.assert_allclose(got, slope(g.astype(np.float64), exact, dim), atol=2.5e-4)
    sums = slopes.standardised_sum(g, x, known, dim=dim, eps=EPS, over=over)
    expected = (g * standardised(exact, dim)).sum(0 if dim[0] else dim)
    np.testing.assert_allclose(sums, expected, atol=5e-3 * np.abs(expected).max())


def test_large_squares_are_no_accident():
    x = np.full((300, 300), 2.0**99, np.float32)
    known = kernels.moments(x, dim=(1,), eps=EPS)
    np.testing.assert_array_equal(known[0], x[:, 0])
    np.testing.assert_array_equal(known[1], 0)
    np.testing.assert_array_equal(kernels.standardise(x, known, dim=(1,), eps=EPS), 0)
    one = np.array(1, np.float32)
    got = slopes.standardise_backward(x, x, one, known, dim=(1,), eps=EPS)
    assert np.isfinite(got).all()


def test_the_size_of_buffers_is_put_back():
    usual = np.getbufsize()
    x, _ = normals(LONG_ROWS[0])
    kernels.standardise(x, NOTHING, dim=(1,), eps=EPS)
    assert np.getbufsize() == usual
