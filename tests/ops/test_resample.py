"""Test interpolation and sampling: edges, NaNs and infinities, dtypes, warnings, errors."""

import math
import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.ops import grids, resample

RNG = np.random.default_rng(6)


def rows(x):
    """A number for each element, of shape (1, 1, n)."""
    return wg.tensor([[x]])


def test_nearest_and_nearest_exact():
    x = rows([0.0, 1.0, 2.0, 3.0, 4.0])
    assert resample.interpolate(x, 3).flatten().tolist() == [0, 1, 3]
    assert resample.interpolate(x, 3, mode="nearest-exact").flatten().tolist() == [0, 2, 4]
    assert resample.interpolate(x, scale_factor=2).flatten().tolist() == [
        i for i in range(5) for _ in range(2)
    ]


def test_linear_with_corners_in_place():
    x = rows([0.0, 1.0, 4.0])
    exact = resample.interpolate(x, 5, mode="linear", align_corners=True)
    assert exact.flatten().tolist() == [0, 0.5, 1, 2.5, 4]
    edges = resample.interpolate(x, 6, mode="linear")
    assert edges.flatten().tolist() == [0, 0.25, 0.75, 1.75, 3.25, 4]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("planes", [1, 300])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic", "area"])
def test_one_dimension_after_the_other(mode, planes):
    x = RNG.standard_normal((planes, 2, 25, 30))
    t = wg.from_numpy(x)
    both = resample.interpolate(t, (40, 13), mode=mode)
    one = resample.interpolate(resample.interpolate(t, (40, 30), mode=mode), (40, 13), mode=mode)
    np.testing.assert_allclose(both.numpy(), one.numpy(), 1e-11, 1e-12)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "area"])
def test_an_infinity_or_a_nan_stays_near(mode):
    for size in (6, 150):
        for bad in (math.inf, math.nan):
            x = wg.ones(1, 1, size, size)
            x[0, 0, 0, 0] = bad
            result = resample.interpolate(x, scale_factor=1.5, mode=mode)
            finite = wg.isfinite(result)
            assert not finite[0, 0, 0, 0]
            assert finite[0, 0, 4:].all() and finite[0, 0, :, 4:].all()
            grad = wg.zeros_like(result)
            grad[0, 0, 0, 0] = bad
            t = wg.ones(1, 1, size, size, requires_grad=True)
            resample.interpolate(t, scale_factor=1.5, mode=mode).backward(grad)
            assert wg.isfinite(t.grad[0, 0, 4:, 4:]).all()


def test_the_scale_that_is_given_counts_unless_it_is_recomputed():
    x = rows([0.0, 1.0, 2.0])
    given = resample.interpolate(x, scale_factor=1.5, mode="linear")
    again = resample.interpolate(x, scale_factor=1.5, mode="linear", recompute_scale_factor=True)
    by_size = resample.interpolate(x, size=4, mode="linear")
    assert given.shape == again.shape == (1, 1, 4)
    assert wg.equal(again, by_size)
    assert not wg.equal(given, by_size)


def test_antialiasing_keeps_the_mean():
    x = wg.from_numpy(RNG.standard_normal((1, 2, 24, 24)))
    for mode in ("bilinear", "bicubic", "lanczos"):
        small = resample.interpolate(x, scale_factor=0.25, mode=mode, antialias=True)
        assert small.shape == (1, 2, 6, 6)
        ones = resample.interpolate(wg.ones_like(x), 7, mode=mode, antialias=True)
        assert wg.allclose(ones, wg.ones_like(ones))


def test_uint8_is_rounded_and_kept_in_range():
    x = wg.tensor([[[[0, 255, 255, 0]]]], dtype=wg.uint8)
    cubic = resample.interpolate(x, (1, 8), mode="bicubic")
    assert cubic.dtype == wg.uint8
    assert cubic.max() == 255 and cubic.min() == 0
    nearest = resample.interpolate(x, (1, 2))
    assert (nearest.dtype, nearest.flatten().tolist()) == (wg.uint8, [0, 255])


def test_the_result_is_never_the_input():
    x = wg.ones(1, 1, 4, 4)
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
        for size in ((4, 4), (2, 2)):
            result = resample.interpolate(x, size, mode=mode)
            result += 1
            assert (x == 1).all(), mode


WRONG = [
    ({}, ValueError, "either size or scale_factor should be defined"),
    ({"size": 2, "scale_factor": 2}, ValueError, "only one of size or scale_factor"),
    ({"size": (2, 2, 2)}, ValueError, "Input and output must have the same number of spatial"),
    ({"scale_factor": (2.0,)}, ValueError, "Input and scale_factor must have the same number"),
    ({"size": (2.5, 3)}, TypeError, "expected size to be one of int or Tuple"),
    ({"size": 0}, RuntimeError, "Input and output sizes should be greater than 0, but got"),
    ({"size": 2, "align_corners": True}, ValueError, "align_corners option can only be set with"),
    (
        {"size": 2, "mode": "trilinear"},
        NotImplementedError,
        "Got 4D input, but trilinear mode",
    ),
    ({"size": 2, "mode": "cubic"}, NotImplementedError, "Input Error: Only 3D, 4D and 5D input"),
    ({"size": 2, "antialias": True}, ValueError, "Anti-alias option is restricted to bilinear"),
    ({"size": 2, "mode": "lanczos"}, ValueError, "Lanczos mode requires antialias=True"),
    (
        {"size": 2, "recompute_scale_factor": True},
        ValueError,
        "recompute_scale_factor is not meaningful with an explicit size",
    ),
]


@pytest.mark.parametrize("options, error, words", WRONG, ids=[words for *_, words in WRONG])
def test_wrong_options(options, error, words):
    with pytest.raises(error, match=words):
        resample.interpolate(wg.ones(1, 2, 4, 4), **options)


@pytest.mark.parametrize("options", [{"size": 2}, {"scale_factor": 2}])
@pytest.mark.parametrize("ndim", [0, 1, 2, 6])
def test_inputs_without_dimensions_to_interpolate(ndim, options):
    with pytest.raises(NotImplementedError, match=rf"input Tensors supported \(got {ndim}D\)"):
        resample.interpolate(wg.ones((2,) * ndim), **options)


def test_dtypes_without_interpolation():
    for x, mode in (
        (wg.ones(1, 1, 2, 2, dtype=wg.int64), "nearest"),
        (wg.ones(1, 1, 2, 2, dtype=wg.complex64), "bilinear"),
        (wg.ones(1, 1, 2, dtype=wg.uint8), "linear"),
    ):
        with pytest.raises(NotImplementedError, match="not implemented for"):
            resample.interpolate(x, 2, mode=mode)


def test_former_names_warn():
    x = wg.ones(1, 1, 2, 2)
    for name in ("upsample", "upsample_nearest", "upsample_bilinear"):
        with pytest.warns(UserWarning, match=f"`nn.functional.{name}` is deprecated"):
            assert getattr(resample, name)(x, 3).shape == (1, 1, 3, 3)


# -- grids ----------------------------------------------------------------------------------------

PLANE = wg.arange(1.0, 10.0).reshape(1, 1, 3, 3)


def points(*pairs):
    return wg.tensor([[[list(pair) for pair in pairs]]], dtype=wg.float32)


def test_corners_and_the_middle():
    where = points((-1, -1), (1, 1), (0, 0))
    aligned = grids.grid_sample(PLANE, where, align_corners=True)
    assert aligned.flatten().tolist() == [1, 9, 5]
    edges = grids.grid_sample(PLANE, where, align_corners=False)
    assert edges.flatten().tolist() == [0.25, 2.25, 5]


def test_what_is_outside():
    where = points((-3, 0), (1.5, 0))
    for mode, padding, expected in (
        ("nearest", "zeros", [0, 0]),
        ("bilinear", "border", [4, 6]),
        ("bilinear", "reflection", [6, 5.75]),
        ("bicubic", "border", [4, 6]),
    ):
        found = grids.grid_sample(PLANE, where, mode, padding, align_corners=False)
        assert found.flatten().tolist() == pytest.approx(expected), (mode, padding)


def test_a_coordinate_that_is_no_number_has_no_sample():
    for bad in (math.nan, math.inf, -math.inf, 1e30):
        for mode in ("bilinear", "nearest", "bicubic"):
            for padding in ("zeros", "border", "reflection"):
                x = PLANE.clone().requires_grad_()
                where = points((bad, 0), (0.1, 0.2)).requires_grad_()
                result = grids.grid_sample(x, where, mode, padding, align_corners=False)
                kept = padding != "zeros" and mode == "bilinear"
                lost = bad != 1e30 and mode != "nearest" and not kept
                assert wg.isnan(result).tolist() == [[[[lost, False]]]], (bad, mode, padding)
                result.sum().backward()
                assert wg.isfinite(where.grad[..., 1, :]).all()
                assert lost or all(wg.isfinite(t.grad).all() for t in (x, where))
                if padding == "zeros" and not lost:
                    assert result[0, 0, 0, 0] == 0


def test_an_infinity_elsewhere_in_the_plane_is_not_seen():
    for size in (3, 60):
        x = wg.ones(1, 1, size, size)
        x[0, 0, 0, 0] = math.inf
        for mode in ("bilinear", "nearest"):
            found = grids.grid_sample(x, points((0, 0), (0.9, 2)), mode, align_corners=True)
            assert found.flatten().tolist() == [1, 0]


def test_few_points_many_points_and_large_planes_agree():
    for dims, modes in ((2, ("bilinear", "nearest", "bicubic")), (3, ("bilinear", "nearest"))):
        x = wg.from_numpy(RNG.standard_normal((2, 3, *(9,) * dims)))
        where = wg.from_numpy(RNG.uniform(-1.3, 1.3, (2, *(1,) * (dims - 1), 4000, dims)))
        g = wg.from_numpy(RNG.standard_normal((2, 3, *(1,) * (dims - 1), 4000)))
        for mode in modes:
            for padding in ("zeros", "border", "reflection"):
                # 4000 points take one way through the kernels, 60 another, 5 for this plane a third
                for count in (60, 5):
                    parts, slopes = [], []
                    whole, slope = sampled(x, where, g, mode, padding)
                    for first in range(0, 120, count):
                        some = slice(first, first + count)
                        part, near = sampled(x, where[..., some, :], g[..., some], mode, padding)
                        parts.append(part)
                        slopes.append(near)
                    found = wg.cat(parts, -1), wg.cat(slopes, -2)
                    assert wg.allclose(found[0], whole[..., :120])
                    assert wg.allclose(found[1], slope[..., :120, :])


def sampled(x, where, g, mode, padding):
    where = where.detach().requires_grad_()
    result = grids.grid_sample(x, where, mode, padding, align_corners=False)
    result.backward(g)
    return result.detach(), where.grad


def test_float16():
    found = grids.grid_sample(PLANE.half(), points((0, 0)).half(), align_corners=True)
    assert (found.dtype, found.item()) == (wg.float16, 5.0)


def test_without_align_corners_there_is_a_warning():
    with pytest.warns(UserWarning, match="Default grid_sample and affine_grid behavior"):
        grids.grid_sample(PLANE, points((0, 0)))
    with pytest.warns(UserWarning, match="Default grid_sample and affine_grid behavior"):
        grids.affine_grid(wg.zeros(1, 2, 3), (1, 1, 2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grids.grid_sample(PLANE, points((0, 0)), align_corners=False)


def test_the_same_map_gives_the_input_back():
    for size in ((2, 3, 4, 5), (2, 3, 4, 5, 3)):
        dims = len(size) - 2
        same = wg.eye(dims, dims + 1)[None].expand(2, dims, dims + 1)
        x = wg.from_numpy(RNG.standard_normal(size).astype("float32"))
        for align in (False, True):
            where = grids.affine_grid(same, size, align_corners=align)
            assert wg.allclose(grids.grid_sample(x, where, align_corners=align), x, atol=1e-5)


GRID = wg.zeros(1, 2, 2, 2)
WRONG_GRIDS = [
    (lambda: grids.grid_sample(PLANE, GRID, "linear"), ValueError, "expected mode to be 'bilin"),
    (lambda: grids.grid_sample(PLANE, GRID, "nearest", "x"), ValueError, "expected padding_mode"),
    (
        lambda: grids.grid_sample(PLANE, GRID.expand(2, 2, 2, 2), align_corners=True),
        RuntimeError,
        r"grid_sampler\(\): expected grid and input to have same batch size",
    ),
    (
        lambda: grids.grid_sample(PLANE, GRID[..., :1], align_corners=True),
        RuntimeError,
        r"grid_sampler\(\): expected grid to have size 2 in last dimension",
    ),
    (
        lambda: grids.grid_sample(PLANE, GRID.double(), align_corners=True),
        RuntimeError,
        "expected scalar type Float but found Double",
    ),
    (
        lambda: grids.grid_sample(PLANE.long(), GRID.long(), align_corners=True),
        NotImplementedError,
        "grid_sampler_2d_cpu_kernel_impl.* not implemented for 'Long'",
    ),
    (
        lambda: grids.affine_grid(wg.zeros(1, 3, 4), (1, 1, 2, 2), align_corners=False),
        ValueError,
        "Expected a batch of 2D affine matrices",
    ),
    (
        lambda: grids.affine_grid(wg.zeros(1, 2, 3), (1, 1, 2), align_corners=False),
        NotImplementedError,
        "affine_grid only supports 4D and 5D sizes",
    ),
    (
        lambda: grids.affine_grid(wg.zeros(1, 2, 3), (1, 1, 0, 2), align_corners=False),
        ValueError,
        "Expected non-zero, positive output size",
    ),
]


@pytest.mark.parametrize("call, error, words", WRONG_GRIDS, ids=[w[:40] for *_, w in WRONG_GRIDS])
def test_wrong_grids(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_grid_of_affine_maps_keeps_no_points():
    maps = wg.rand(2, 2, 3, requires_grad=True)
    grid = grids.affine_grid(maps, (2, 1, 3, 4), align_corners=True)
    assert type(grid.grad_fn).__name__ == "AffineGridGeneratorBackward0"
    assert grid.grad_fn._saved_size == (2, 1, 3, 4)
    grid.sum().backward()
    once = maps.grad.clone()
    grid.sum().backward()
    assert wg.equal(maps.grad, 2 * once)
