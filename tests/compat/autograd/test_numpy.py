"""Test ``autograd.numpy``: plain NumPy, boxes, and assignments to its attributes."""

import math
import re

import numpy
import pytest

assert_close = numpy.testing.assert_allclose


def same(found, expected):
    assert_close(found, expected, rtol=1e-9, atol=1e-12)


def inside(ag, function, x=None):
    """What `function` returns of a box."""
    found = []

    def f(x):
        found.append(function(x))
        return ag.np.sum(x)

    ag.grad(f)(numpy.array([1.5, -2.5]) if x is None else x)
    return found[0]


def test_outside_everything_is_numpys(ag):
    np = ag.np
    x = numpy.array([1.0, 2.0])
    assert type(np.sin(x)) is numpy.ndarray
    assert type(np.sin(1.0)) is numpy.float64
    assert type(np.zeros(3)) is numpy.ndarray
    assert type(np.dot(x, x)) is numpy.float64
    assert np.ndarray is numpy.ndarray
    assert np.float64 is numpy.float64
    assert np.pi == numpy.pi
    assert np.newaxis is None
    assert np.array([1, 2]).dtype == int
    same(np.linalg.inv(numpy.eye(2)), numpy.eye(2))
    same(np.fft.fft(x), numpy.fft.fft(x))
    same(np.concatenate([x, x]), [1, 2, 1, 2])
    assert np.sin.__name__ == "sin"


def test_every_public_name_of_numpy_is_there(ours):
    names = {name for name in numpy.__all__ if not name.startswith("__")}
    assert not [name for name in names if not hasattr(ours.np, name)]
    for module in ("linalg", "fft", "random"):
        names = getattr(numpy, module).__all__
        assert not [name for name in names if not hasattr(getattr(ours.np, module), name)]
    assert {"linalg", "make_diagonal", "sin"} <= set(dir(ours.np))
    with pytest.raises(AttributeError, match="NumPy has none"):
        _ = ours.np.nothing
    with pytest.raises(AttributeError, match="NumPy has none"):
        _ = ours.np.linalg.nothing


def test_ufuncs_keep_their_methods(ours):
    same(ours.np.add.reduce(numpy.ones(3)), 3.0)
    assert ours.np.multiply.nin == 2
    same(ours.grad(lambda x: ours.np.multiply.reduce(x))(numpy.array([2.0, 3.0])), [3.0, 2.0])
    same(ours.grad(lambda x: ours.np.sum(ours.np.add.outer(x, x)))(numpy.ones(2)), [4.0, 4.0])


def test_boxes_print_their_value(ag):
    assert inside(ag, str, 3.0) == "Autograd ArrayBox with value 3.0"
    assert inside(ag, lambda x: f"{x}") == "Autograd ArrayBox with value [ 1.5 -2.5]"
    assert inside(ag, lambda x: x._value.tolist()) == [1.5, -2.5]
    assert inside(ag, lambda x: type(x).__name__) == "ArrayBox"


def test_boxes_are_formatted_as_their_value(ours):
    assert inside(ours, lambda x: f"{x:.2f} {x!r}", 3.0) == "3.00 Autograd ArrayBox with value 3.0"


def test_boxes_have_numpys_attributes(ag):
    found = inside(ag, lambda x: (x.shape, x.ndim, x.size, x.dtype, len(x)))
    assert found == ((2,), 1, 2, numpy.float64, 2)
    assert type(inside(ag, lambda x: x.shape)) is tuple
    assert inside(ag, lambda x: hash(x) == hash(x))


CONSTANT = {
    "comparison": lambda np, x: x > 0,
    "equality": lambda np, x: x == x,
    "floor": lambda np, x: np.floor(x),
    "sign": lambda np, x: np.sign(x),
    "round": lambda np, x: np.round(x),
    "argmax": lambda np, x: np.argmax(x),
    "argmax method": lambda np, x: x.argmax(),
    "argsort": lambda np, x: np.argsort(x),
    "isnan": lambda np, x: np.isnan(x),
    "all": lambda np, x: np.all(x),
    "any method": lambda np, x: x.any(),
    "count_nonzero": lambda np, x: np.count_nonzero(x),
    "allclose": lambda np, x: np.allclose(x, x),
    "shape": lambda np, x: np.shape(x),
    "ndim": lambda np, x: np.ndim(x),
    "iscomplexobj": lambda np, x: np.iscomplexobj(x),
    "logical_not": lambda np, x: np.logical_not(x),
    "where of a condition": lambda np, x: np.where(x > 0),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_what_depends_on_no_gradient_is_numpys_own(ag, name):
    found = inside(ag, lambda x: CONSTANT[name](ag.np, x))
    expected = CONSTANT[name](numpy, numpy.array([1.5, -2.5]))
    assert type(found) is type(expected)
    same(found, expected)


def test_whole_numbers_are_numpys_own(ours):
    np = ours.np
    for f in (
        lambda x: x.astype(int),
        lambda x: np.digitize(x, numpy.array([0.0, 2.0])),
        lambda x: np.searchsorted(numpy.array([0.0, 2.0]), x),
        lambda x: np.unique(np.array([x[0], x[0]]), return_counts=True)[1],
    ):
        assert type(inside(ours, f)) is numpy.ndarray
    assert ours.grad(lambda x: x ** np.floor(x).astype(int))(2.5) == 5.0


def test_plain_numpy_functions_follow_boxes(ours):
    same(ours.grad(lambda x: numpy.sum(numpy.sin(x)))(numpy.zeros(2)), [1.0, 1.0])
    same(ours.jacobian(lambda x: numpy.dot(numpy.eye(2), x))(numpy.ones(2)), numpy.eye(2))
    same(ours.grad(lambda x: numpy.linalg.det(x))(numpy.eye(2)), numpy.eye(2))


def test_arrays_and_boxes_mix_in_either_order(ag):
    a, x = numpy.array([1.0, 2.0]), numpy.array([3.0, 5.0])

    def f(x):
        return ag.np.sum(a * x + x * a + a - x + a / x + x / a + a**x + x**a + 2.0**x)

    exact = 2 * a - 1 - a / x**2 + 1 / a + a**x * numpy.log(a) + a * x ** (a - 1)
    same(ag.grad(f)(x), exact + 2.0**x * numpy.log(2.0))
    same(ag.grad(lambda x: a @ x + x @ a)(x), 2 * a)
    same(ag.grad(lambda x: numpy.float64(3.0) * x + numpy.array(2.0) * x)(1.0), 5.0)
    same(ag.grad(lambda x: ag.np.sum(numpy.arange(3) * x))(2.0), 3.0)


def test_lists_of_boxes_become_arrays(ag):
    np = ag.np
    same(ag.grad(lambda x: np.sum(np.array([x, 2 * x, 3.0])))(2.0), 3.0)
    same(ag.grad(lambda x: np.array([[x, 1.0], [0.0, x**2]])[1, 1])(2.0), 4.0)
    same(ag.grad(lambda x: np.mean([x, x**2]))(3.0), 3.5)
    same(ag.grad(lambda x: np.linalg.norm([x, 2 * x]))(3.0), numpy.sqrt(5.0))
    same(ag.grad(lambda x: np.concatenate([x[:1], 2 * x[1:]])[1])(numpy.ones(2)), [0.0, 2.0])
    same(ag.grad(lambda x: np.vstack([x, x**2])[1, 0])(numpy.array([3.0, 1.0])), [6.0, 0.0])


QUICK = {
    "sum": lambda np, x: np.sum(x, axis=1) * np.sum(x, 0, keepdims=True)[0, 0],
    "sum of all": lambda np, x: np.sum(x, axis=(0, 1)) + np.sum(x, -1).sum() + x.sum(1)[0],
    "mean": lambda np, x: np.mean(x, axis=-1, keepdims=True) + x.mean(),
    "max": lambda np, x: np.max(x, axis=0) - np.min(x, 1)[0] + np.max(x),
    "reshape": lambda np, x: np.reshape(x, (3, 2)) @ np.reshape(x, -1).reshape(2, 3),
    "reshape method": lambda np, x: x.reshape((3, 2))[0, 0] * x.reshape(-1) + x.reshape(3, 2).sum(),
    "maximum": lambda np, x: np.maximum(0, x) + np.minimum(x, 0.2) * np.maximum(x, x[0]),
    "arctan2": lambda np, x: np.arctan2(x, 2.0) + np.hypot(x, numpy.ones(3)) + x % 0.65,
    "dot": lambda np, x: np.dot(x, x.T) @ np.dot(numpy.ones((2, 2)), x),
    "dot of vectors": lambda np, x: np.dot(x, numpy.ones(3)) * np.dot(numpy.ones(2), x)[0],
    "dot of numbers": lambda np, x: np.dot(x, 2.0) + np.dot(x[0], x[1]),
}


@pytest.mark.parametrize("name", QUICK)
def test_the_calls_that_programs_make_most(ag, name):
    x = numpy.array([[0.3, 0.7, -0.4], [1.1, -0.2, 0.9]])
    f = QUICK[name]
    numpy.testing.assert_allclose(ag.make_vjp(lambda x: f(ag.np, x))(x)[1], f(numpy, x))
    ag("test_util").check_grads(lambda x: f(ag.np, x), modes=["rev"])(x)


def test_lists_in_place_of_arrays(ours):
    np = ours.np
    found = ours.grad(lambda x: np.sum(np.maximum([x, 0.3], 0.1) * np.minimum(0.5, [x, x])))(0.4)
    same(found, 0.8 + 0.3)


def test_errors_of_numpy_are_numpys(ag):
    x = numpy.ones((2, 3))
    for f in (
        lambda np, x: np.reshape(x, (4, 2)),
        lambda np, x: np.dot(x, x),
        lambda np, x: np.maximum(x, numpy.ones(2)),
        lambda np, x: np.sum(x, axis=2),
        lambda np, x: x + numpy.ones(2),
    ):
        with pytest.raises(ValueError) as expected:  # whatever NumPy says
            f(numpy, x)
        with pytest.raises(ValueError, match=re.escape(str(expected.value)[:20])):
            ag.grad(lambda x, f=f: ag.np.sum(f(ag.np, x)))(x)


def test_brackets(ours):
    np = ours.np
    same(ours.grad(lambda x: np.sum(np.r_[x, 2 * x, 1.0]))(numpy.ones(2)), [3.0, 3.0])
    same(ours.grad(lambda x: np.c_[x, x**2][1, 1])(numpy.array([1.0, 3.0])), [0.0, 6.0])
    same(np.r_[1:3, 5.0], [1.0, 2.0, 5.0])


def test_sums_in_place_are_sums_as_there(ag):
    def f(x):
        y = ag.np.exp(x)
        kept = y
        y += 1.0
        y *= 2.0
        y -= x
        return ag.np.sum(y + kept)

    x = numpy.ones(2)
    same(ag.grad(f)(x), 3 * numpy.exp(x) - 1)


def test_arguments_are_not_written_to(ag):
    def f(x):
        x += 1.0
        return ag.np.sum(x**2)

    x = numpy.ones(2)
    same(ag.grad(f)(x), [4.0, 4.0])
    same(x, 1.0)


def test_arrays_made_inside_may_be_assigned_to(ours):
    np, check = ours.np, ours("test_util").check_grads

    def f(x):
        y = np.zeros(4)
        y[0] = x[0]
        for i in range(1, 4):
            y[i] = np.tanh(y[i - 1]) + x[i] ** 2
        row = y[1:3]
        row += x[0]  # a view
        w = np.exp(y)
        y *= 2.0
        return np.sum(y[::-1] * w)

    x = numpy.linspace(0.1, 1.0, 4)
    check(f)(x)
    assert ours.jacobian(lambda x: np.sum(np.eye(4) * x, axis=0))(x).shape == (4, 4)


WAYS = """
zeros(2) ones(2) empty(2) full(2,1.0) array([0.0,1.0]) zeros_like(x) copy(x) array(x) eye(2)[0]
linspace(0,1,2) ones_like(x)
"""


@pytest.mark.parametrize("made", WAYS.split())
def test_each_way_to_make_an_array_to_assign_to(ours, made):
    def f(x):
        y = eval(f"np.{made}", {"np": ours.np, "x": x})
        y[0] = 3 * x[1]
        y[1:] = 2 * x[:1]
        return ours.np.sum(y)

    same(ours.grad(f)(numpy.ones(2)), [2.0, 3.0])


def test_new_arrays_of_whole_numbers_stay_numpys(ours):
    np = ours.np
    kinds = inside(
        ours, lambda x: [type(np.arange(3)), type(np.zeros(2, int)), type(np.array([1]))]
    )
    assert kinds == [numpy.ndarray] * 3


def test_assignment_to_an_argument_says_what_to_write(ag):
    def f(x):
        x[0] = 1.0
        return ag.np.sum(x)

    with pytest.raises(TypeError, match="'ArrayBox' object does not support item assignment"):
        ag.grad(f)(numpy.ones(2))


def test_a_copy_of_an_argument_may_be_assigned_to(ours):
    def f(x):
        x = x.copy()
        x[0] = x[1] ** 2
        return ours.np.sum(x)

    x = numpy.array([5.0, 3.0])
    same(ours.grad(f)(x), [0.0, 7.0])
    same(x, [5.0, 3.0])


def test_assignment_to_a_plain_array_raises(ag):
    target = numpy.zeros((2, 2))

    def f(x):
        target[0, 0] = x
        return target.sum()

    with pytest.raises((TypeError, ValueError)):
        ag.grad(f)(1.0)


@pytest.mark.parametrize("convert", [float, int, complex, math.exp, math.floor])
def test_boxes_do_not_become_pythons_numbers_silently(ag, convert):
    with pytest.raises(TypeError):
        ag.grad(lambda x: convert(x) * x)(2.0)


def test_the_error_about_numbers_says_what_to_write(ours):
    with pytest.raises(TypeError, match=r"not 'ArrayBox': .* write float\(x._value\)"):
        ours.grad(lambda x: float(x))(2.0)
    with pytest.raises(TypeError, match=r"Write np\.exp for"):
        ours.grad(lambda x: math.exp(x))(2.0)


def test_random_numbers_are_numpys(ag):
    same(ag.npr.RandomState(0).randn(2), numpy.random.RandomState(0).randn(2))
    ag.npr.seed(3)
    first = ag.npr.randn(2)
    numpy.random.seed(3)
    same(first, numpy.random.randn(2))
    same(
        ag.grad(lambda x: ag.np.sum(x * ag.npr.RandomState(0).randn(2)))(1.0),
        numpy.random.RandomState(0).randn(2).sum(),
    )
    with pytest.raises(NotImplementedError, match="VJP of normal wrt argnums"):
        ag.grad(lambda x: ag.npr.normal(x, 1.0))(1.0)


def test_functions_without_a_derivative_are_refused_by_name(ours):
    with pytest.raises(NotImplementedError, match="histogram2d"):
        ours.grad(lambda x: ours.np.histogram2d(x, x)[0].sum())(numpy.ones(2))


def test_vectorize(ours):
    f = ours.np.vectorize(lambda a, b: a if a > b else a * b)
    same(f(numpy.array([1.0, 5.0]), 2.0), [2.0, 5.0])
    same(ours.grad(lambda x: ours.np.sum(f(x, 2.0)))(numpy.array([1.0, 5.0])), [2.0, 1.0])


def test_eigenvalues_differentiate_by_the_triangle_that_numpy_reads(ag):
    A = numpy.array([[2.0, 0.5], [0.5, 1.0]])
    w = numpy.array([1.0, 3.0])
    found = ag.grad(lambda A: ag.np.sum(ag.np.linalg.eigh(A)[0] * w))(A)
    assert found[0, 1] == 0.0
    upper = ag.grad(lambda A: ag.np.sum(ag.np.linalg.eigh(A, "U")[0] * w))(A)
    same(upper, found.T)
    both = ag.grad(lambda A: ag.np.sum(ag.np.linalg.eigh(0.5 * (A + A.T))[0] * w))(A)
    same(both, 0.5 * (found + found.T))


def test_helpers_of_the_wrapper(ag):
    wrapper = ag("numpy.numpy_wrapper")
    same(wrapper.make_diagonal(numpy.ones(2), 0, -1, -2), numpy.eye(2))
    same(ag.grad(lambda x: wrapper.make_diagonal(x, 0, -1, -2)[1, 1])(numpy.ones(2)), [0.0, 1.0])
    same(wrapper.concatenate_args(0, numpy.ones(1), numpy.zeros(1)), [1.0, 0.0])
    assert wrapper.metadata(numpy.ones(2)) == ((2,), 1, numpy.float64, False)
    assert ag("numpy.numpy_boxes").ArrayBox.__name__ == "ArrayBox"


def test_the_derivative_of_clip_is_0_at_the_bounds(ag):
    np, x = ag.np, numpy.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    for clipped in (lambda x: np.clip(x, 0.0, 1.0), lambda x: x.clip(0.0, 1.0)):
        slope = ag.grad(lambda x, clipped=clipped: np.sum(clipped(x) * 3))(x)
        assert slope.tolist() == [0, 0, 3, 0, 0]
    assert ag.grad(lambda x: np.sum(np.clip(x, None, 1.0)))(x).tolist() == [1, 1, 1, 0, 0]
