"""Test operations on NaN, infinity, 0-d and empty tensors."""

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


@pytest.mark.parametrize("mode", [wg.no_grad, wg.enable_grad])
def test_a_retained_gradient_has_the_new_shape(mode):
    x = wg.ones(2, 3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    with mode():
        y.t_()
    (y * wg.arange(6.0).reshape(3, 2)).sum().backward()
    assert y.grad.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert x.grad.tolist() == [[0, 4, 8], [2, 6, 10]]


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
        assert (values.dtype, indices.dtype) == (wg.float32, wg.int64)


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


def test_a_gradient_that_is_not_finite_stays_at_the_median():
    x = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x.median() * math.inf).backward()
    assert x.grad.tolist() == [0, math.inf, 0]


@pytest.mark.parametrize("shapes", [[(0, 3), (3, 2)], [(2, 0), (0, 2)], [(2, 0), (0,)]])
def test_products_of_no_truth_values(shapes):
    a, b = (wg.ones(shape, dtype=wg.bool) for shape in shapes)
    assert (a @ b).dtype is wg.bool and not (a @ b).any()
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        wg.ones(2, dtype=wg.bool)[:0] @ wg.ones(0, dtype=wg.bool)


@pytest.mark.parametrize("remainder", [wg.remainder, wg.fmod])
def test_where_a_whole_quotient_is_constant_nothing_flows(remainder):
    x = wg.tensor(2.0, requires_grad=True)
    (g,) = wg.autograd.grad(remainder(wg.tensor(7.5), x), x, create_graph=True)
    assert g.item() == -3
    (second,) = wg.autograd.grad(g * g, x, create_graph=True)
    assert second.item() == 0 and not second.requires_grad


def test_what_is_repeated_in_memory_may_get_a_new_shape():
    x = wg.ones(3, requires_grad=True)
    y = (x * 2).expand(2, 3)
    assert tuple(y.unsqueeze_(0).shape) == (1, 2, 3) and tuple(y.squeeze_().t_().shape) == (3, 2)
    (y * wg.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [2, 10, 18]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("both", [wg.std_mean, wg.var_mean])
def test_the_mean_of_one_element_has_a_derivative_beside_its_deviation(both):
    x = wg.tensor(2.0, requires_grad=True)
    both(x)[1].backward()
    assert x.grad.item() == 1
    y = wg.ones(3, 1, requires_grad=True)
    both(y, -1)[1].sum().backward()
    assert y.grad.tolist() == [[1]] * 3
    (g,) = wg.autograd.grad((both(y, -1)[1] ** 2).sum(), y, create_graph=True)
    assert wg.autograd.grad(g.sum(), y)[0].tolist() == [[2]] * 3


def test_what_is_close_in_inference_mode_is_of_inference_mode():
    with wg.inference_mode():
        assert wg.isclose(wg.ones(2), wg.ones(2)).is_inference()


def test_what_lacks_a_dimension_is_refused_as_what_looks_at_it_first_does():
    one = wg.zeros(3)
    for call in (wg.baddbmm, wg.addbmm, wg.nn.functional.bilinear):
        with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be"):
            call(one, one, one)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        wg.baddbmm(one, wg.zeros(()), one)
    with pytest.raises(RuntimeError, match="same dtype, got input1: float, input2: double"):
        wg.nn.functional.bilinear(one, one.double(), wg.zeros(1, 3, 3))


def test_nothing_is_divided_by_zero():
    nothing = wg.zeros(0, 3, dtype=wg.int32)
    for made in (nothing // 0, nothing % 0, nothing.fmod(0), nothing // wg.tensor(0)):
        assert (tuple(made.shape), made.dtype) == ((0, 3), wg.int32)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        wg.zeros(1, dtype=wg.int32) // 0


def test_margins_of_no_rows():
    loss = wg.nn.functional.multi_margin_loss
    rows, classes = wg.zeros(0, 3), wg.zeros(0, dtype=wg.int64)
    assert loss(rows, classes, reduction="none").shape == (0,)
    assert loss(rows, classes, reduction="sum") == 0
    assert loss(rows, classes).isnan()


def test_an_index_walks_through_memory_in_the_order_of_what_it_is_taken_from():
    x = wg.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
    some = wg.tensor([0, 1])
    assert x[:, some].stride() == (1, 4, 8)
    assert x[:, :, some].stride() == (2, 8, 1)
    assert x[some].stride() == (6, 3, 1)
    assert x[some, :, some].stride() == (2, 1)
    assert x[:, :, some].tolist() == x.contiguous()[:, :, some].tolist()
    assert x.renorm(2, 0, 1.0).is_contiguous()
