"""Operations at the edges of what they take: NaN, infinity, no dimensions, no elements."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.kernels.bessel import spherical_bessel


def test_history_is_kept_by_new_shapes_that_are_not_recorded():
    for mode in (wg.no_grad, wg.inference_mode):
        x = wg.ones(2, 3, requires_grad=True)
        y = x * wg.arange(6.0).reshape(2, 3)
        with mode():
            y.t_()
        assert (tuple(y.shape), y.is_leaf, y.requires_grad) == ((3, 2), False, True)
        (y * wg.arange(6.0).reshape(3, 2)).sum().backward()
        assert x.grad.tolist() == [[0, 2, 8], [3, 12, 25]]


@pytest.mark.parametrize("mode", [wg.no_grad, wg.inference_mode])
def test_a_leaf_stays_one_where_its_new_shape_is_not_recorded(mode):
    x = wg.ones(2, 3, requires_grad=True)
    with mode():
        x.transpose_(0, 1)
    assert (tuple(x.shape), x.is_leaf, x.requires_grad) == ((3, 2), True, True)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [[2, 2]] * 3


@pytest.mark.parametrize(
    "minus",
    [
        lambda x: x - True,
        lambda x: False - x,
        lambda x: x.sub_(True),
        lambda x: x.__isub__(True),
        lambda x: x.sub(True),
    ],
)
def test_a_truth_value_is_not_subtracted(minus):
    x = wg.ones(2)
    with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with a bool"):
        minus(x)
    assert x.tolist() == [1, 1]


def test_a_tensor_without_dimensions_is_its_own_transpose():
    x = wg.tensor(2.0)
    assert x.mT.item() == x.mH.item() == x.adjoint().item() == 2
    z = wg.tensor(1j)
    assert (z.mT.item(), z.mH.item()) == (1j, -1j)
    with pytest.raises(RuntimeError, match="only supported on matrices"):
        wg.ones(2).mT  # noqa: B018


@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (2, 0, 3)])
def test_running_extremes_of_nothing_are_nothing(name, shape):
    for dim in range(len(shape)):
        values, indices = getattr(wg.zeros(shape), name)(dim)
        assert tuple(values.shape) == tuple(indices.shape) == shape


def test_nan_goes_through_hardshrink():
    x = wg.tensor([math.nan, -0.5, 1.0], requires_grad=True)
    y = x.hardshrink()
    assert math.isnan(y[0].item()) and y[1:].tolist() == [0, 1]


def test_an_infinite_gradient_goes_to_the_extreme_alone():
    x = wg.tensor([3.0, 1.0, 1.0], requires_grad=True)
    for extreme, want in ((x.max(), [math.inf, 0, 0]), (x.min(), [0, math.inf, math.inf])):
        (grad,) = wg.autograd.grad(extreme, x, wg.tensor(math.inf))
        assert grad.tolist() == want


def test_a_number_is_repeated_only_without_a_dimension():
    assert wg.tensor(1.0).repeat_interleave(2).tolist() == [1, 1]
    with pytest.raises(IndexError, match="Dimension out of range"):
        wg.tensor(1.0).repeat_interleave(2, 0)


def test_cosines_of_small_numbers_of_half_precision():
    x = wg.tensor([1e-4, 1e-4], dtype=wg.float16)
    zero = wg.zeros(2, dtype=wg.float16)
    cosine = wg.nn.functional.cosine_similarity
    assert cosine(x, x, dim=0).dtype is wg.float16
    assert cosine(x, x, dim=0).item() == 1
    assert cosine(x, zero, dim=0).item() == 0


def test_spherical_bessel_functions_vanish_at_infinity():
    # as the slope of sinc asks for them, of numbers and of arrays
    for value in (math.inf, [math.inf, -math.inf]):
        with np.errstate(invalid="ignore"):
            found = spherical_bessel(np.array(value), 1)
        assert not np.asarray(found).any()


def test_a_weight_of_three_dimensions_is_refused():
    with pytest.raises(RuntimeError, match="expects a tensor with <= 2 dimensions"):
        wg.nn.functional.linear(wg.ones(2, 3), wg.ones(2, 2, 3))


def test_a_number_has_one_index():
    assert wg.tensor(2.0).index_select(0, wg.tensor([0])).item() == 2
    with pytest.raises(RuntimeError, match="Index to scalar can have only 1 value, got 2"):
        wg.tensor(2.0).index_select(0, wg.tensor([0, 0]))


def test_an_inference_tensor_gets_no_new_shape_outside():
    with wg.inference_mode():
        x = wg.ones(1, 3)
        assert tuple(x.t_().shape) == (3, 1)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
        x.squeeze_()
    assert tuple(x.shape) == (3, 1)


def test_repeating_once_makes_a_copy():
    x = wg.ones(2, 3)
    x.repeat_interleave(1, 0).mul_(2)
    assert x.tolist() == [[1] * 3] * 2
