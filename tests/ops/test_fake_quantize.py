"""Test the rounding of floats to a grid that stands for integers of few bits."""

from __future__ import annotations

import pytest

import wengert as wg

X = [[-1.26, -0.05, 0.05, 0.149], [0.15, 0.36, 1.2, 5.0]]


def test_values_lie_on_the_grid_and_gradients_pass_within_it():
    x = wg.tensor(X, requires_grad=True)
    y = wg.fake_quantize_per_tensor_affine(x, 0.1, 2, -8, 7)
    wg.testing.assert_close(y, wg.tensor([[-1.0, -0.0, 0.0, 0.1], [0.2, 0.4, 0.5, 0.5]]))
    y.sum().backward()
    assert x.grad.tolist() == [[0, 1, 1, 1], [1, 1, 0, 0]]


def test_each_channel_has_its_own_grid():
    x = wg.tensor(X, requires_grad=True)
    scales, points = wg.tensor([0.1, 0.5]), wg.tensor([0, 1], dtype=wg.int32)
    y = wg.fake_quantize_per_channel_affine(x, scales, points, 0, -8, 7)
    wg.testing.assert_close(y, wg.tensor([[-0.8, -0.0, 0.0, 0.1], [0.0, 0.5, 1.0, 3.0]]))
    y.sum().backward()
    assert x.grad.tolist() == [[0, 1, 1, 1], [1, 1, 1, 0]]


def test_scales_and_zero_points_are_tensors_as_well():
    x = wg.tensor(X)
    y = wg.fake_quantize_per_tensor_affine(x, wg.tensor(0.1), wg.tensor(2), -8, 7)
    assert wg.equal(y, wg.fake_quantize_per_tensor_affine(x, 0.1, 2, -8, 7))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.1, 9, -8, 7), "`zero_point` must be between `quant_min` and `quant_max`"),
        ((0.1, 0, 7, -8), "`quant_min` should be less than or equal to `quant_max`"),
    ],
)
def test_grids_are_checked(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        wg.fake_quantize_per_tensor_affine(wg.tensor(X), *arguments)


@pytest.mark.parametrize("arg", ["scale", "zero_point"])
def test_steps_and_zero_points_get_no_gradients(arg):
    given = {"scale": wg.ones(2), "zero_point": wg.zeros(2)}
    given[arg].requires_grad_()
    message = f"not differentiable with respect to argument '{arg}'"
    with pytest.raises(RuntimeError, match=message):
        wg.fake_quantize_per_channel_affine(
            wg.tensor(X), **given, axis=0, quant_min=-8, quant_max=7
        )
    with wg.no_grad():
        wg.fake_quantize_per_channel_affine(
            wg.tensor(X), **given, axis=0, quant_min=-8, quant_max=7
        )
