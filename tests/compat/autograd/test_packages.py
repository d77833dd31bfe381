"""Test the internals of autograd that other packages use."""

import numpy
import pytest

assert_close = numpy.testing.assert_allclose


def same(found, expected):
    assert_close(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("module", "name"),
    [("numpy", "tanh"), ("numpy.linalg", "inv"), ("numpy.fft", "rfft"), ("numpy.random", "randn"),
     ("scipy.special", "gammaln"), ("scipy.stats.norm", "logpdf"), ("scipy.linalg", "inv")],
)  # fmt: skip
def test_star_imports_bring_every_name(ag, module, name):
    namespace = {}
    exec(f"from {ag.root}.{module} import *", namespace)
    assert callable(namespace[name])
    if module == "numpy":
        assert {"linalg", "fft", "random"} <= namespace.keys()
        same(ag.grad(namespace["sin"])(0.0), 1.0)


def test_containers_of_boxes_are_known_by_the_names_of_their_boxes(ag):
    b = ag("builtins")

    def f(p):
        assert isinstance(p, b.DictBox)
        assert isinstance(p["parts"], b.SequenceBox)
        assert not isinstance(p, b.SequenceBox)
        return p["parts"][0] * p["parts"][1]

    same(ag.grad(f)({"parts": [2.0, 3.0]})["parts"], [3.0, 2.0])
    assert not isinstance({}, b.DictBox)


def test_arrays_are_stacked_out_of_the_values_of_a_dict(ag):
    found = ag.grad(lambda p: ag.np.sum(ag.np.stack(p.values()) ** 2))
    found = found({"a": numpy.ones(2), "b": numpy.full(2, 3.0)})
    same(found["b"], [6.0, 6.0])
    same(ag.np.stack({"a": numpy.ones(2)}.values()), [[1.0, 1.0]])


def test_where_takes_names_and_keeps_pythons_own_numbers(ours):
    np = ours.np  # as in autograd 1.9
    assert type(np.where(True, 1, 2.0)) in (int, float)
    assert np.where([True, False], [1, 2], [3, 4]) == [1, 4]
    x = numpy.array([1.0, -2.0])
    same(ours.grad(lambda x: np.sum(np.where(condition=x > 0, x=x**2, y=3 * x)))(x), [2.0, 3.0])
    with pytest.raises(ValueError, match="both or neither"):
        np.where(x > 0, x)


class Column:
    """A column of a table, as pandas has them."""

    def __init__(self, values):
        self.values = numpy.array(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_columns_of_tables_are_indices(ag):
    mask = Column([True, False, True])
    same(ag.grad(lambda x: ag.np.sum(x[mask] ** 2))(numpy.ones(3)), [2.0, 0.0, 2.0])


def test_forward_mode_goes_through_decisions_by_values(ag):
    np = ag.np

    def f(x):
        whole = np.int64(x)
        return np.partition(x, [1])[0] * x[whole[0]] + np.real(np.real_if_close(x * (1 + 0j)))[1]

    same(ag.make_jvp(f)(numpy.array([2.5, 1.5, 3.5]))(numpy.array([1.0, 10.0, 100.0])),
         (1.5 * 3.5 + 1.5, 10 * 3.5 + 1.5 * 100 + 10))  # fmt: skip


def test_fractions_out_of_boxes_are_refused(ours):
    with pytest.raises(Exception, match=r"derivative|gradient"):
        ours.grad(lambda x: numpy.float64(x))(1.0)


def test_extremes_and_error_functions_of_complex_numbers(ag):
    np, x = ag.np, numpy.array([1 + 2j, 3 - 1j, 3 + 0.5j])
    same(ag.holomorphic_grad(lambda x: np.max(x) ** 2)(x), [0, 0, 2 * (3 + 0.5j)])
    same(ag.holomorphic_grad(lambda x: np.min(x) ** 2)(x), [2 * (1 + 2j), 0, 0])
    special, z = ag("scipy.special"), 0.3 + 0.4j
    slope = 2 / numpy.sqrt(numpy.pi) * numpy.exp(-(z**2))
    same(ag.holomorphic_grad(special.erf)(z), slope)
    same(ag.holomorphic_grad(special.erfc)(z), -slope)


def test_long_numbers_have_gradients(ag):
    x = numpy.ones((2, 2), numpy.clongdouble)
    same(ag.grad(lambda x: ag.np.real(ag.np.sum(x**2)))(x), 2 * x)


def test_classes_of_arrays_that_a_package_registers_are_arrays(ag):
    class Marked(numpy.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            inputs = [numpy.asarray(i) if isinstance(i, Marked) else i for i in inputs]
            return getattr(ufunc, method)(*inputs, **kwargs)

    boxes = ag("numpy.numpy_boxes")
    ag("extend").Box.type_mappings[Marked] = boxes.ArrayBox
    ag("extend").VSpace.mappings[Marked] = ag("numpy.numpy_vspaces").ArrayVSpace
    x = numpy.array([1.0, 2.0]).view(Marked)
    same(ag.grad(lambda x: ag.np.sum(x**2))(x), [2.0, 4.0])
    same(ag.grad(lambda y: ag.np.sum(y * x + x * y))(numpy.ones(2)), [2.0, 4.0])


def test_cotangents_of_lists_may_be_arrays_of_them(ag):
    extend = ag("extend")
    total = extend.primitive(lambda parts: sum(a**2 for part in parts for a in part))
    extend.defvjp(total, lambda ans, parts: lambda g: [2 * g * numpy.array(p) for p in parts])
    sequence = ag("builtins").tuple
    found = ag.grad(lambda x: total(sequence([sequence([x[0], x[1]])])))(numpy.array([3.0, 4.0]))
    same(found, [6.0, 8.0])
