"""Test ``autograd.misc`` and ``autograd.test_util``."""

import numpy
import pytest

assert_close = numpy.testing.assert_allclose


def same(found, expected):
    assert_close(found, expected, rtol=1e-9, atol=1e-12)


def test_flatten_and_back(ag):
    flatten = ag("misc").flatten
    value = {"b": 3.0, "a": [numpy.ones(2), (2.0, numpy.full((1, 2), 7.0))]}
    vector, unflatten = flatten(value)
    same(vector, [1.0, 1.0, 2.0, 7.0, 7.0, 3.0])
    back = unflatten(2 * vector)
    assert set(back) == {"a", "b"}
    assert type(back["a"][1]) is tuple
    assert back["a"][1][1].shape == (1, 2)
    same(back["b"], 6.0)
    same(flatten(3.0)[0], [3.0])


def test_flatten_differentiates_in_both_directions(ag):
    flatten = ag("misc").flatten
    found = ag.grad(lambda p: ag.np.sum(flatten(p)[0] ** 2))({"x": 3.0, "y": numpy.ones(2)})
    same(found["x"], 6.0)
    same(found["y"], [2.0, 2.0])
    vector, unflatten = flatten({"x": 3.0, "y": numpy.ones(2)})
    same(ag.grad(lambda v: unflatten(v)["x"] ** 2)(vector), [6.0, 0.0, 0.0])


def test_flatten_keeps_order_and_dtypes_of_the_parts(ours):
    flatten = ours("misc").flatten
    vector, unflatten = flatten([numpy.float32([1.0, 2.0]), 1j, 3])
    same(vector, [1.0, 2.0, 1j, 3.0])
    back = unflatten(vector)
    assert [part.dtype for part in back] == [numpy.float32, numpy.complex128, numpy.complex128]
    assert flatten([])[0].shape == (0,)
    with pytest.raises(TypeError, match="Can't differentiate w"):
        flatten(["text"])


def test_flatten_func(ag):
    flatten_func = ag("misc.flatten").flatten_func
    f, unflatten, x = flatten_func(lambda p: [2 * p["a"], p["b"] ** 2], {"a": 1.0, "b": 3.0})
    same(f(x), [2.0, 9.0])
    same(ag.jacobian(f)(x), [[2.0, 0.0], [0.0, 6.0]])
    same(unflatten(x)["b"], 3.0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["sgd", "adam", "rmsprop"])
def test_optimizers_lead_to_the_minimum(ag, name):
    optimize = getattr(ag("misc.optimizers"), name)
    np = ag.np

    def f(p):
        return np.sum((p["a"] - 3.0) ** 2) + np.sum(p["b"][0] ** 2)

    gradient = ag.grad(f)
    seen = []
    found = optimize(
        lambda p, i: gradient(p),
        {"a": numpy.zeros(2), "b": [numpy.ones(3)]},
        callback=lambda p, i, g: seen.append((i, f(p), g["a"].shape)),
        num_iters=300,
        step_size=0.1,
    )
    assert [i for i, _, _ in seen] == list(range(300))
    assert seen[0][1:] == (21.0, (2,))
    assert_close(found["a"], 3.0, atol=0.2)
    assert_close(found["b"][0], 0.0, atol=0.2)


def test_optimizers_may_be_differentiated(ag):
    sgd, np = ag("misc.optimizers").sgd, ag.np

    def fitted(target):
        return sgd(lambda x, i: 2 * (x - target), numpy.zeros(1), num_iters=5, step_size=0.5)[0]

    steps = (fitted(3.0 + 1e-6) - fitted(3.0 - 1e-6)) / 2e-6
    assert_close(ag.grad(lambda t: np.sum(fitted(t)))(3.0), steps, rtol=1e-6)


def test_fixed_points(ag):
    fixed_point = ag("misc.fixed_points").fixed_point
    np = ag.np

    def root(a):
        def step(a):
            return lambda x: 0.5 * (x + a["a"] / x)

        return fixed_point(step, a, 1.0, lambda x, y: np.abs(x - y), 1e-12)

    assert_close(ag.grad(root)({"a": 2.0})["a"], 0.5 / numpy.sqrt(2), rtol=1e-8)


def test_fixed_points_twice(ag):
    fixed_point = ag("misc.fixed_points").fixed_point
    np = ag.np

    def step(a):
        return lambda x: 0.5 * (x + a / x)

    def root(a):
        return fixed_point(step, a, 1.0, lambda x, y: np.abs(x - y), 1e-12)

    assert_close(ag.grad(ag.grad(root))(2.0), -0.25 * 2.0**-1.5, rtol=1e-8)


def test_right_derivatives_pass_the_checks(ag):
    util, np = ag("test_util"), ag.np
    util.check_grads(lambda x, y: np.sin(x) * y, (0, 1), order=3)(numpy.ones(2), 3.0)
    util.check_grads(lambda p: p["a"] * np.sum(p["b"] ** 2))({"a": 1.0, "b": numpy.ones(2)})
    util.check_vjp(np.sin, 0.3)
    util.check_jvp(np.sin, numpy.ones(2))
    util.combo_check(np.sum, (0,))([numpy.ones((3, 2))], axis=[None, 0, 1], keepdims=[True, False])


def test_wrong_derivatives_fail_the_checks(ag):
    extend, util = ag("extend"), ag("test_util")

    @extend.primitive
    def square(x):
        return x**2

    extend.defvjp(square, lambda ans, x: lambda g: g * x)
    extend.defjvp(square, lambda g, ans, x: g * x)
    with pytest.raises(AssertionError, match=r"Derivative \(VJP\) check of .* failed with arg 2.0"):
        util.check_grads(square, modes=["rev"], order=1)(2.0)
    with pytest.raises(AssertionError, match="Value mismatch"):
        util.check_grads(square, modes=["fwd"], order=1)(2.0)
    with pytest.raises(AssertionError):
        util.check_grads(square, modes=["other"])(2.0)


def test_equivalence(ag):
    util = ag("test_util")
    util.check_equivalent({"a": 1.0}, {"a": 1.0})
    with pytest.raises(AssertionError, match="VSpace mismatch"):
        util.check_equivalent(1.0, numpy.ones(2))
    with pytest.raises(AssertionError, match="Value mismatch"):
        util.check_equivalent(numpy.ones(2), numpy.zeros(2))
    assert util.scalar_close(1.0, 1.0 + 1e-8)
    assert not util.scalar_close(1.0, 1.1)


def test_helpers(ag):
    util, tracer = ag("util"), ag("tracer")
    assert util.subvals((1, 2, 3), [(0, "a"), (2, "c")]) == ("a", 2, "c")
    assert util.subval([1, 2], 1, 5) == (1, 5)
    assert tracer.getval(3.0) == 3.0
    assert not tracer.isbox(3.0)
    seen = []
    ag.grad(lambda x: seen.append((tracer.isbox(x), tracer.getval(x))) or x)(3.0)
    assert seen == [(True, 3.0)]
    core = ag("core")
    vjp, value = core.make_vjp(lambda x: x**2, 3.0)
    same((value, vjp(1.0)), (9.0, 6.0))
    same(core.make_jvp(lambda x: x**2, 3.0)(1.0), (9.0, 6.0))


def test_names_of_old_programs(ours):
    util = ours("util")
    assert util.getval(3.0) == 3.0
    assert util.flatten([1.0, 2.0])[0].tolist() == [1.0, 2.0]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = util.nothing


def test_quick_grad_check(ag):
    with pytest.warns(UserWarning, match="quick_grad_check function is deprecated"):
        ag("util").quick_grad_check(lambda x, y: ag.np.sin(x) * y, 0.3, (2.0,))
