"""Test derivatives with respect to lists, tuples and dicts, and functions that return them."""

from collections import namedtuple

import numpy
import pytest


def same(found, expected):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            same(found[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert type(found) is type(expected)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    else:
        numpy.testing.assert_allclose(found, expected, rtol=1e-9)


def test_gradients_have_the_structure_of_the_argument(ag):
    np = ag.np

    def f(p):
        (a, b), c = p["list"], p["dict"]["c"]
        return np.sum(a * b) + c**2 * np.sum(p["tuple"][0])

    p = {
        "list": [numpy.ones(2), numpy.array([2.0, 3.0])],
        "dict": {"c": 3.0},
        "tuple": (numpy.ones((2, 2)),),
    }
    expected = {
        "list": [p["list"][1], p["list"][0]],
        "dict": {"c": 24.0},
        "tuple": (9 * numpy.ones((2, 2)),),
    }
    same(ag.grad(f)(p), expected)


def test_parts_that_are_not_used_get_zeros(ag):
    found = ag.grad(lambda p: p["a"] ** 2)({"a": 2.0, "b": numpy.ones(3), "c": [1.0]})
    same(found, {"a": 4.0, "b": numpy.zeros(3), "c": [0.0]})


def test_containers_behave_as_pythons(ag):
    def f(p):
        total = 0.0
        for key in p:
            total = total + p[key][0]
        for key, (a, b) in p.items():
            total = total + a * b if key in p else total
        x, *rest = p["y"]
        return total + len(p) * x + sum(rest) + sum(p.get("none", [1.0])) + max(p["x"])

    same(ag.grad(f)({"x": [1.0, 2.0], "y": [3.0, 4.0]}), {"x": [3.0, 2.0], "y": [7.0, 4.0]})


def test_tuples_are_extended(ag):
    more = (4.0,)
    found = ag.grad(lambda t: (t + more)[3] * t[0] + (more + t)[1] * t[1])((1.0, 2.0, 3.0))
    same(found, (6.0, 1.0, 0.0))


def test_autograds_own_containers(ag):
    atuple, alist, adict = (getattr(ag("builtins"), n) for n in ("tuple", "list", "dict"))
    same(ag.grad(lambda x: atuple((x, x**2))[1])(3.0), 6.0)
    same(ag.grad(lambda x: alist([x, x**2])[1])(3.0), 6.0)
    same(ag.grad(lambda x: adict(a=x, b=x**2)["b"])(3.0), 6.0)
    seen = []

    def f(p):
        seen.append([ag("builtins").isinstance(p, t) for t in (alist, atuple, adict)])
        seen.append(ag("builtins").type(p))
        return p[0]

    ag.grad(f)([1.0])
    assert seen == [[True, False, False], list]


def test_isinstance_and_type_see_the_values(ag):
    seen = []

    def f(x):
        seen.append(ag.isinstance(x, numpy.ndarray))
        seen.append(ag.type(x))
        return ag.np.sum(x)

    ag.grad(f)(numpy.ones(2))
    assert seen == [True, numpy.ndarray]


def test_vjps_of_containers(ag):
    alist = ag("builtins").list
    vjp, value = ag.make_vjp(lambda x: alist([x**2, 3 * x]))(2.0)
    same(list(value), [4.0, 6.0])
    same(vjp([1.0, 10.0]), 34.0)


def test_jvps_of_containers(ag):
    atuple = ag("builtins").tuple
    value, tangent = ag.make_jvp(lambda p: atuple((p["a"] * p["b"], p["a"])))({"a": 2.0, "b": 3.0})(
        {"a": 1.0, "b": 10.0}
    )
    same((*value, *tangent), (6.0, 2.0, 23.0, 1.0))


def test_functions_may_return_plain_containers(ours):
    vjp, value = ours.make_vjp(lambda x: {"sum": x.sum(), "all": [x, 2.0]})(numpy.ones(2))
    same(value, {"sum": 2.0, "all": [numpy.ones(2), 2.0]})
    assert type(value["all"][0]) is numpy.ndarray
    same(vjp({"sum": 1.0, "all": [numpy.array([1.0, 2.0]), 0.0]}), numpy.array([2.0, 3.0]))


def test_named_tuples_keep_their_names(ours):
    Point = namedtuple("Point", ["x", "y"])
    found = ours.grad(lambda p: p.x * p.y**2)(Point(2.0, 3.0))
    same(found, Point(9.0, 12.0))


def test_none_counts_as_an_empty_container(ours):
    same(ours.grad(lambda p: p[0] ** 2)((2.0, None))[0], 4.0)
    assert ours.grad(lambda p: p[0] ** 2)((2.0, None))[1] is None


def test_whole_numbers_in_containers_are_refused(ag):
    with pytest.raises(TypeError):
        ag.grad(lambda p: p["a"] ** 2)({"a": 2.0, "n": 3})


def test_containers_nest_through_derivatives(ag):
    def f(p):
        return p[0] ** 3 * p[1]

    def inner(p):
        return ag.grad(f)(p)[0]

    same(ag.grad(inner)([2.0, 5.0]), [60.0, 12.0])
