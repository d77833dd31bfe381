"""Test that floats are rounded to the grids that PyTorch rounds them to."""

import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_values_agree_with_pytorch():
    values = wg.randn(2000, generator=wg.Generator().manual_seed(0)) * 3
    scales, points = [0.07, 0.3], [3, -2]
    for scale, point in zip(scales, points, strict=True):
        found, wanted = (
            lib.fake_quantize_per_tensor_affine(lib.tensor(values.tolist()), scale, point, -16, 15)
            for lib in (wg, torch)
        )
        assert found.tolist() == wanted.tolist()
    found, wanted = (
        lib.fake_quantize_per_channel_affine(
            lib.tensor(values.tolist()).reshape(1000, 2),
            lib.tensor(scales),
            lib.tensor(points, dtype=lib.int32),
            1,
            -16,
            15,
        )
        for lib in (wg, torch)
    )
    assert found.tolist() == wanted.tolist()
