"""Test user-defined node classes and value types, and pickling."""

import operator
import pickle

import numpy
import pytest


def same(found, expected):
    numpy.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.fixture
def graph(ag):
    """What prints the graph of a function, in lines ``name <- names``."""

    class Line(ag("tracer").Node):
        __slots__ = ["args", "name", "parents"]

        def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
            self.parents = parents
            self.name = fun.__name__
            self.args = [a for i, a in enumerate(args) if i not in parent_argnums]

        def initialize_root(self, name):
            self.parents, self.name, self.args = [], name, []

    def graph(f, x):
        value, node = ag("tracer").trace(Line.new_root("x"), f, x)
        lines = []
        for each in ag("util").toposort(node):
            lines.append((each.name, [p.name for p in each.parents], each.args))
        return value, lines

    return graph


def test_calls_are_noted(ag, graph):
    np = ag.np

    def f(x):
        y = np.tanh(x * 2.0) + np.dot(x, x)
        return np.sum(-y / (1.0 + x[0])) + x.mean() + np.linalg.norm(x)

    x = numpy.array([1.0, 2.0])
    value, lines = graph(f, x)
    same(value, f(x))
    assert type(value) is numpy.float64
    assert lines == [
        ("add", ["add", "norm"], []),
        ("norm", ["x"], []),
        ("add", ["sum", "mean"], []),
        ("mean", ["x"], []),
        ("sum", ["divide"], []),
        ("divide", ["negative", "add"], []),
        ("add", ["__getitem__"], [1.0]),
        ("__getitem__", ["x"], [0]),
        ("negative", ["add"], []),
        ("add", ["tanh", "dot"], []),
        ("dot", ["x", "x"], []),
        ("tanh", ["multiply"], []),
        ("multiply", ["x"], [2.0]),
        ("x", [], []),
    ]


def test_primitives_and_special_functions_are_noted(ag, graph):
    doubled = ag("extend").primitive(lambda x: 2 * x)
    doubled.__name__ = "doubled"
    value, lines = graph(lambda x: ag("scipy.special").gammaln(doubled(x)), 1.5)
    same(value, numpy.log(2.0))
    assert [name for name, *_ in lines] == ["gammaln", "doubled", "x"]


def test_derivatives_inside_of_what_is_noted_are_calls(ag, graph):
    if not ag.ours:
        pytest.skip("the original notes what its rules call")
    np = ag.np
    value, lines = graph(lambda x: x * ag.grad(np.sin)(x) + ag.grad(np.exp)(1.0), 0.3)
    same(value, 0.3 * numpy.cos(0.3) + numpy.e)
    assert [name for name, *_ in lines] == ["add", "multiply", "grad_of_sin_wrt_argnum_0", "x"]


def test_what_does_not_depend_on_the_argument_has_no_node(ag):
    tracer = ag("tracer")

    class Empty(tracer.Node):
        def __init__(self, *args):
            pass

        def initialize_root(self):
            pass

    with pytest.warns(UserWarning, match="Output seems independent of input"):
        assert tracer.trace(Empty.new_root(), lambda x: 3.0, 1.0) == (3.0, None)


def test_arrays_of_boxes_and_methods_are_noted(ag, graph):
    np = ag.np

    def f(x):
        y = np.concatenate([x, np.array([x[0], 1.0])]).reshape(2, 2).T
        return (y @ y).max() - y.var()

    x = numpy.array([1.0, 2.0])
    value, lines = graph(f, x)
    same(value, f(x))
    names = [name for name, *_ in lines]
    assert names[:3] == ["subtract", "var", "max"]
    assert {"reshape", "transpose", "matmul"} <= set(names)


def test_graphs_to_look_at_and_to_play_again(ag):
    tracers, np = ag("misc.tracers"), ag.np
    node = tracers.full_graph(lambda a, b: a * np.sin(b), 2.0, 3.0)
    fun, _args, kwargs, parents = node.recipe
    assert (fun.__name__, kwargs) == ("multiply", {})
    same(node.value, 2 * numpy.sin(3.0))
    assert [position for position, _ in parents] == [0, 1]
    again = tracers.const_graph(lambda a, b: np.sum(np.concatenate([a * b, b])), 2.0)
    same([again(numpy.ones(2)), again(numpy.arange(3.0))], [6.0, 9.0])
    with (
        pytest.raises(Exception, match="Output is independent of input"),
        pytest.warns(UserWarning),
    ):
        tracers.const_graph(lambda a: 1.0)(2.0)


@pytest.fixture
def kernels(ag):
    """Functions in a space with a kernel: sums of it, centred at points."""
    extend = ag("extend")

    class KernelSum:
        def __init__(self, kernel, weights=None):
            self.kernel, self.weights = kernel, weights or {}

        @extend.primitive
        def __call__(self, x):
            return sum([a * self.kernel(x, at) for at, a in self.weights.items()], 0.0)

        @extend.primitive
        def add(self, f):
            keys = {*self.weights, *f.weights}
            total = {k: self.weights.get(k, 0.0) + f.weights.get(k, 0.0) for k in keys}
            return KernelSum(self.kernel, total)

        @extend.primitive
        def mul(self, a):
            return KernelSum(self.kernel, {at: a * b for at, b in self.weights.items()})

        def __add__(self, f):
            return self.add(f)

        def __mul__(self, a):
            return self.mul(a)

    class KernelSumBox(extend.Box, KernelSum):
        @property
        def kernel(self):
            return self._value.kernel

    KernelSumBox.register(KernelSum)

    class KernelSpace(extend.VSpace):
        def __init__(self, value):
            self.kernel = value.kernel

        def zeros(self):
            return KernelSum(self.kernel)

    KernelSpace.register(KernelSum)
    func = ag("util").func

    def at_point(ans, f, x):
        return lambda g: KernelSum(f.kernel, {x: 1.0}) * g

    extend.defvjp(func(KernelSum.__call__), at_point)

    def same_for_both(ans, f, h):
        return lambda g: g

    extend.defvjp(func(KernelSum.add), same_for_both, same_for_both)
    extend.defvjp(func(KernelSum.mul), lambda ans, f, a: lambda g: g * a)
    return KernelSum


def test_derivatives_by_values_of_ones_own_type(ag, kernels):
    np = ag.np
    points, targets = range(5), [1.0, 2.0, 3.0, 2.0, 1.0]

    def fit(f):
        return -sum((f(x) - y) ** 2 for x, y in zip(points, targets, strict=True))

    f = kernels(lambda a, b: np.exp(-0.5 * (a - b) ** 2))
    for _ in range(20):
        f = f + ag.grad(fit)(f) * 0.05
    same([f(x) for x in (0, 1, 2)], [1.004328447350628, 2.103652163342, 2.762219368139])
    found = ag.grad(lambda f: (f * 2.0 + f)(1.0) * f(2.0))(f)
    assert type(found) is kernels
    same([found.weights[1.0], found.weights[2.0]], [3 * f(2.0), 3 * f(1.0)])


def test_values_of_ones_own_type_in_containers(ag, kernels):
    f = kernels(lambda a, b: 1.0 * (a == b), {1.0: 5.0})
    found = ag.grad(lambda p: p["f"](1.0) * p["a"])({"f": f, "a": 3.0, "unused": f})
    same(found["f"].weights[1.0], 3.0)
    same(found["a"], 5.0)
    assert found["unused"].weights == {}


def test_what_is_not_there_for_values_of_ones_own_type(ag, kernels):
    if not ag.ours:
        pytest.skip("the original has forward mode for them")
    f = kernels(lambda a, b: 1.0, {1.0: 5.0})
    with pytest.raises(NotImplementedError, match="of first order"):
        ag.grad(lambda f: ag.grad(lambda f: f(1.0) ** 2)(f)(1.0))(f)
    with pytest.raises((NotImplementedError, TypeError)):
        ag.make_jvp(lambda f: f(1.0))(f)(f)


def test_boxes_are_of_one_class(ag):
    box, seen = ag("extend").Box, []
    ag.grad(lambda x: seen.append((isinstance(x, box), str(x))) or x)(3.0)
    assert seen == [(True, "Autograd ArrayBox with value 3.0")]
    assert not isinstance(3.0, box)


def test_derivatives_can_be_pickled(ours):
    g = pickle.loads(pickle.dumps(ours.grad(operator.mul, 1)))
    assert g(2.0, 3.0) == 2.0
    assert g.__name__ == "grad_of_mul_wrt_argnum_1"
    h = pickle.loads(pickle.dumps(ours.grad(ours.grad(numpy.sin))))
    same(h(0.3), -numpy.sin(0.3))


def test_derivatives_of_methods_are_methods(ag):
    class Model:
        scale = 3.0

        def loss(self, x):
            return self.scale * x**2

        slope = ag.grad(loss, 1)

    assert Model().slope(2.0) == 12.0
