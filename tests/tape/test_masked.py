"""Test that masks hide infinite derivatives: a zero cotangent never becomes NaN there."""

import gc
import math
import threading

import numpy as np
import pytest

import wengert as wg
from support.samples import differentiable_args, samples
from wengert.prims.whole import TABLE
from wengert.tape.masked import HIDING, INVALID, MASKED, PARTS
from wengert.tape.record import T
from wengert.tape.rules import is_diagonal
from wengert.utils.checkpoint import checkpoint
from wengert.viz.collect import works_by_element


@pytest.fixture(autouse=True)
def _quietly():
    # what NumPy says of the forward pass is not what is tested
    with np.errstate(all="ignore"):
        yield


def gradient(function, values):
    x = wg.tensor(values, dtype=wg.float64, requires_grad=True)
    function(x).sum().backward()
    return x.grad.tolist()


AT_THE_EDGE = {
    "sqrt": (lambda x: x.sqrt(), 0.0, 0.25),
    "rsqrt": (lambda x: x.rsqrt(), 0.0, 0.25),
    "log": (lambda x: x.log(), 0.0, 0.25),
    "log2": (lambda x: x.log2(), 0.0, 0.25),
    "log1p": (lambda x: x.log1p(), -1.0, 0.25),
    "reciprocal": (lambda x: 1 / x, 0.0, 0.25),
    "quotient": (lambda x: x.sin() / x, 0.0, 0.25),
    "fractional power": (lambda x: x**0.5, 0.0, 0.25),
    "negative power": (lambda x: x**-2, 0.0, 0.25),
    "asin": (lambda x: x.asin(), 1.0, 0.25),
    "acos": (lambda x: x.acos(), 1.0, 0.25),
    "atanh": (lambda x: x.atanh(), 1.0, 0.25),
    "acosh": (lambda x: x.acosh(), 1.0, 2.0),
    "overflowing exp": (lambda x: x.exp(), 1000.0, 0.25),
    "sqrt of a square": (lambda x: (x * x).sqrt() * 3, 0.0, 0.25),
    "product with an infinite logarithm": (lambda x: x * x.log(), 0.0, 0.25),
    "sqrt below its domain": (lambda x: x.sqrt(), -1.0, 0.25),
    "products of NaN": (lambda x: x.sqrt() * x.log() * x, -1.0, 0.25),
    "power below its domain": (lambda x: x**0.5 * x.log(), -1.0, 0.25),
}


@pytest.mark.parametrize("name", AT_THE_EDGE)
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_branch_that_where_does_not_choose_has_the_gradient_zero(name, create_graph):
    function, edge, inside = AT_THE_EDGE[name]
    alone = wg.tensor([inside], dtype=wg.float64, requires_grad=True)
    (expected,) = wg.autograd.grad(function(alone).sum(), alone)
    x = wg.tensor([edge, inside], dtype=wg.float64, requires_grad=True)
    y = wg.where(wg.tensor([False, True]), function(x), 7.0)
    (g,) = wg.autograd.grad(y.sum(), x, create_graph=create_graph)
    assert g.tolist() == [0.0, expected.item()]
    if create_graph:
        (second,) = wg.autograd.grad(g.sum(), x)
        assert second[0] == 0 and math.isfinite(second[1])


@pytest.mark.parametrize(
    "mask",
    [
        lambda y, x: y[x > 0],
        lambda y, x: wg.masked_select(y, x > 0),
        lambda y, x: y.masked_fill(x <= 0, 0.0),
        lambda y, x: y.masked_fill(x <= 0, wg.tensor(0.0, dtype=wg.float64)),
        lambda y, x: y.masked_fill_(x <= 0, 0.0),
        lambda y, x: wg.where(x > 0, y, 0.0),
    ],
)
@pytest.mark.parametrize("edge", [0.0, -1.0])
def test_every_mask_keeps_the_gradient_finite(mask, edge):
    assert gradient(lambda x: mask(x.sqrt() * 1.0, x), [edge, 1.0]) == [0.0, 0.5]


@pytest.mark.parametrize(
    "past_nan",
    [
        wg.nan_to_num,
        wg.nansum,
        lambda y: wg.nanmean(y) * 2,
        lambda y: wg.fmax(y, wg.full_like(y, -9.0)),
        lambda y: wg.fmin(wg.full_like(y, 9.0), y),
    ],
    ids=["nan_to_num", "nansum", "nanmean", "fmax", "fmin"],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_what_passes_over_nan_keeps_the_gradient_finite(past_nan, compiled):
    # of an absolute error whose target is missing, say
    target = wg.tensor([math.nan, 3.0], dtype=wg.float64)
    function = wg.compile(past_nan) if compiled else past_nan
    assert gradient(lambda x: function((x - target).abs()), [1.0, 1.0])[0] == 0.0


def test_a_weight_of_zero_keeps_a_logarithm_finite():
    x = wg.tensor([2.0, 2.0, 2.0], dtype=wg.float64, requires_grad=True)
    y = wg.tensor([0.0, math.inf, 3.0], dtype=wg.float64)
    weights = wg.tensor([0.0, 0.0, 1.0], dtype=wg.float64)
    (g,) = wg.autograd.grad(wg.xlogy(x, y), x, weights)
    assert g.tolist() == [0.0, 0.0, math.log(3.0)]
    (g,) = wg.autograd.grad(wg.special.xlog1py(x, y), x, weights)
    assert g.tolist() == [0.0, 0.0, math.log1p(3.0)]


def test_assignment_through_a_mask_keeps_the_gradient_finite():
    def assigned(x):
        y = x.sqrt() * x.log()
        y[x <= 0] = 0.0
        return y

    assert gradient(assigned, [-1.0, 1.0]) == [0.0, 1.0]


def test_maximum_and_clamp_keep_the_gradient_finite():
    half = wg.tensor(0.5, dtype=wg.float64)
    assert gradient(lambda x: wg.maximum(x.sqrt(), half), [0.0, 1.0]) == [0.0, 0.5]
    assert gradient(lambda x: x.sqrt().clamp(min=0.5), [0.0, 1.0]) == [0.0, 0.5]


def test_the_sum_over_a_broadcast_argument_leaves_hidden_elements_out():
    def function(x):
        quotient = x[0] / wg.tensor([1.0, 0.0, 2.0], dtype=wg.float64) * x[1]
        return wg.where(wg.tensor([True, False, True]), quotient, 0.0)

    assert gradient(function, [3.0, 4.0]) == [6.0, 4.5]


def test_rows_of_zeros_may_be_normalised():
    def function(x):
        size = x.norm(dim=1, keepdim=True)
        return wg.where(size > 0, x / size, 0.0)[:, 0]

    assert gradient(function, [[0.0, 0.0], [3.0, 4.0]])[0] == [0.0, 0.0]


def test_complex_numbers_too():
    z = wg.tensor([0j, 1 + 1j], requires_grad=True)
    wg.where(wg.tensor([False, True]), z.sqrt(), 0 * z).abs().sum().backward()
    assert z.grad[0] == 0 and np.isfinite(z.grad.numpy()).all()


def test_cotangents_of_complex_numbers_stay_complex_where_real_gradients_are_nan():
    x = wg.tensor([-wg.inf, 0.5], dtype=wg.float64, requires_grad=True)
    z = wg.polar(x.abs(), x)
    total = wg.view_as_real(z).sin().sum() + wg.where(x > 0, x, 0).sum()
    (first,) = wg.autograd.grad(total, x, create_graph=True)
    (second,) = wg.autograd.grad(first.sin().sum(), x)
    y = wg.tensor(0.5, dtype=wg.float64, requires_grad=True)
    total = (y * y.cos()).sin() + (y * y.sin()).sin() + y
    (first,) = wg.autograd.grad(total, y, create_graph=True)
    (wanted,) = wg.autograd.grad(first.sin(), y)
    assert second[1].item() == pytest.approx(wanted.item(), rel=1e-12)


def test_what_no_mask_hides_stays_as_it_is():
    assert math.isnan(gradient(lambda x: x.sqrt() * 0, [0.0])[0])
    assert gradient(lambda x: x.sqrt(), [0.0]) == [math.inf]
    assert math.isnan(gradient(lambda x: (x * x).sum().sqrt(), [0.0])[0])
    assert math.isnan(gradient(lambda x: x.sqrt() * 2, [-1.0])[0])


@pytest.mark.parametrize("create_graph", [False, True])
def test_what_a_mask_does_not_hide_stays_nan(create_graph):
    x = wg.tensor([-1.0, -1.0, 4.0], dtype=wg.float64, requires_grad=True)
    y = wg.where(wg.tensor([True, False, True]), x.sqrt() * 1.0, 0.0)
    (g,) = wg.autograd.grad(y.sum(), x, create_graph=create_graph)
    assert g.tolist() == pytest.approx([math.nan, 0.0, 0.25], nan_ok=True)


def test_a_zero_cotangent_keeps_its_second_derivative_where_nothing_is_wrong():
    x = wg.tensor([0.0, 2.0], dtype=wg.float64, requires_grad=True)
    v = wg.zeros(2, dtype=wg.float64, requires_grad=True)
    (g,) = wg.autograd.grad(x.sqrt(), x, v, create_graph=True)
    (slope,) = wg.autograd.grad(g.sum(), v)
    assert slope[1] == pytest.approx(0.5 / math.sqrt(2.0))


WAYS = {
    "a checkpoint": lambda f: lambda x: checkpoint(f, x, use_reentrant=False),
    "a reentrant checkpoint": lambda f: lambda x: checkpoint(f, x, use_reentrant=True),
    "compiled": lambda f: wg.compile(f, backend="numpy", options={"measure": False}),
}


@pytest.mark.parametrize("way", [*WAYS])
def test_what_repeats_a_forward_pass_hides_what_a_single_pass_hides(way):
    def slopes(function, outside, create_graph):
        z = wg.tensor([0.0, 1.0, 4.0], dtype=wg.float64, requires_grad=True)
        y = outside(function(z.sqrt()), z.detach())
        seed = wg.tensor([0.0, 0.0, 1.0], dtype=wg.float64)
        y.backward(seed, create_graph=create_graph)
        return z.grad.tolist()

    functions = [
        lambda x: x * x,
        lambda x: wg.where(x.detach() > 0, x * x, 0.0),
        lambda x: wg.maximum((x * math.inf * 0).exp() * 2, x.detach()),
    ]
    for function in functions:
        for outside in (lambda y, z: wg.where(z > 0, y, 0.0), lambda y, z: y * 1):
            for create_graph in (False, True):
                expected = slopes(function, outside, create_graph)
                found = slopes(WAYS[way](function), outside, create_graph)
                np.testing.assert_array_equal(found, expected)
    assert not INVALID and not MASKED and not PARTS


def test_masks_of_other_graphs_that_hide_nan_do_not_count():
    def slopes():
        z = wg.tensor([0.0, 1.0, 4.0], dtype=wg.float64, requires_grad=True)
        x = z.sqrt()
        y = wg.maximum((x * math.inf * 0).exp() * 2, x.detach()) * 1
        y.backward(wg.tensor([0.0, 0.0, 1.0], dtype=wg.float64))
        return str(z.grad.tolist())

    gc.collect()
    alone = slopes()
    x = wg.tensor([-1.0, 1.0], requires_grad=True)
    hiding = wg.where(x > 0, x.log(), 0.0)
    assert slopes() == alone
    hiding.sum().backward()
    assert x.grad.tolist() == [0, 1]


def test_nothing_is_left_behind():
    gradient(lambda x: wg.where(x > 0, x.sqrt() * x.log(), 0.0), [-1.0, 0.0, 1.0])
    gc.collect()
    assert not INVALID and not MASKED
    assert not list(HIDING)


def test_threads_search_for_themselves():
    found = {}

    def work(i):
        edge = -1.0 if i % 2 else 0.0
        with np.errstate(all="ignore"):
            found[i] = gradient(lambda x: wg.where(x > 0, x.sqrt() * 1.0, 0.0), [edge, 1.0])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: [0.0, 0.5] for i in range(8)}
    assert not INVALID and not MASKED


def test_each_element_of_a_product_of_vectors_depends_on_others():
    # so a zero cotangent does not say that there is no gradient
    other = wg.tensor([1.0, math.inf, 2.0], dtype=wg.float64)
    mask = wg.tensor([False, True, False])
    found = gradient(lambda x: wg.where(mask, wg.linalg.cross(x, other), 0), [1.0, 2.0, 3.0])
    assert math.isnan(found[0]) and found[1] == 0 and math.isnan(found[2])


DIAGONAL = [prim for prim in TABLE.values() if is_diagonal(prim) or works_by_element(prim)]


@pytest.mark.parametrize("prim", DIAGONAL, ids=lambda prim: prim.name)
def test_where_elements_are_said_to_depend_on_one_they_do(prim):
    rng = np.random.default_rng(0)
    for sample in samples(prim, np.complex128 if prim.domain == "complex" else np.float64, rng):
        leaves = [wg.tensor(array) for array in sample.arrays]
        for place in differentiable_args(prim, sample.arrays):
            leaves[place].requires_grad_()
        result = getattr(T, prim.name)(*leaves, **sample.params)
        seed = wg.tensor(rng.integers(0, 2, result.shape)).to(result.dtype)
        traced = [leaf for leaf in leaves if leaf.requires_grad]
        if not result.requires_grad:
            continue
        try:
            grads = wg.autograd.grad(result, traced, seed, allow_unused=True)
        except NotImplementedError:
            continue
        for leaf, grad in zip(traced, grads, strict=True):
            if grad is not None and leaf.shape == result.shape:
                assert not grad[seed == 0].any()
