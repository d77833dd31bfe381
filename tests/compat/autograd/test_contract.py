"""Test the contract of autograd's operators: arguments, results, names, errors, warnings."""

import numpy
import pytest

assert_close = numpy.testing.assert_allclose


def same(found, expected):
    assert_close(found, expected, rtol=1e-9, atol=1e-12)


def test_grad_of_a_number_is_a_numpy_scalar(ag):
    found = ag.grad(ag.np.tanh)(1.0)
    assert type(found) is numpy.float64
    same(found, 0.419974341614026)


def test_grad_of_an_array_is_a_plain_array_of_its_shape_and_dtype(ag):
    for dtype in (numpy.float32, numpy.float64):
        x = numpy.ones((2, 3), dtype)
        found = ag.grad(lambda x: ag.np.sum(x**3))(x)
        assert type(found) is numpy.ndarray
        assert (found.shape, found.dtype) == (x.shape, x.dtype)
        assert_close(found, 3.0)


def test_gradients_may_be_written_to_and_share_nothing(ag):
    x = numpy.ones(3)
    gradient = ag.grad(lambda x: ag.np.sum(x))(x)
    gradient[0] = 7.0
    same(x, 1.0)
    again = ag.grad(lambda x: ag.np.sum(x * x))(x)
    again += 1.0
    same(x, 1.0)


def test_derivatives_of_any_order(ag):
    f, x = ag.np.tanh, 0.7
    y = numpy.tanh(x)
    orders = [1 - y**2, -2 * y * (1 - y**2), -2 * (1 - y**2) * (1 - 3 * y**2)]
    for expected in orders:
        f = ag.grad(f)
        same(f(x), expected)


def test_forward_and_reverse_nest(ag):
    def f(x):
        return ag.np.sin(x) * x

    same(ag.deriv(ag.grad(f))(0.4), 2 * numpy.cos(0.4) - 0.4 * numpy.sin(0.4))
    same(ag.grad(ag.deriv(f))(0.4), 2 * numpy.cos(0.4) - 0.4 * numpy.sin(0.4))

    def inner(x):
        return ag.make_jvp(lambda y: x * y**2)(x)(1.0)[1]

    same(ag.grad(inner)(3.0), 12.0)


def test_derivatives_of_inner_and_outer_functions_are_kept_apart(ag):
    same(ag.grad(lambda x: x * ag.grad(lambda y: x + y)(1.0))(1.0), 1.0)
    same(ag.grad(lambda x: x * ag.grad(lambda y: x * y)(2.0))(3.0), 6.0)


@pytest.mark.parametrize(
    ("argnum", "expected"),
    [(0, 12.0), (1, 4.0), (-1, 4.0), ((0, 1), (12.0, 4.0)), ([1, 0], (4.0, 12.0))],
)
def test_argnum_says_by_what_to_differentiate(ag, argnum, expected):
    found = ag.grad(lambda x, y: x**2 * y, argnum)(2.0, 3.0)
    assert isinstance(found, tuple) is isinstance(expected, tuple)
    same(found, expected)


def test_keyword_arguments_are_passed_on(ag):
    def f(x, power=1, *, scale=1.0):
        return scale * x**power

    same(ag.grad(f)(2.0, power=3, scale=10.0), 120.0)
    value, gradient = ag.value_and_grad(f)(2.0, scale=2.0)
    same((value, gradient), (4.0, 2.0))


def test_the_functions_that_are_returned_have_names(ag):
    def cube(x):
        return x**3

    assert ag.grad(cube).__name__ == "grad_of_cube_wrt_argnum_0"
    assert ag.jacobian(cube, 1).__name__ == "jacobian_of_cube_wrt_argnum_1"
    doc = ag.value_and_grad(cube).__doc__
    assert "value_and_grad of function cube with respect to argument number 0" in doc
    names = []

    def shown(f):
        names.append(f.__name__)
        return 1.0

    assert ag("wrap_util").unary_to_nary(lambda f, x: shown(f))(cube)(1.0) == 1.0
    assert names == ["cube"]


def test_values_come_with_gradients(ag):
    value, gradient = ag.value_and_grad(lambda x: ag.np.sum(x**2))(numpy.arange(3.0))
    assert type(value) is numpy.float64
    same(value, 5.0)
    same(gradient, [0.0, 2.0, 4.0])


def test_aux_comes_with_the_gradient(ag):
    gradient, aux = ag.grad_and_aux(lambda x: (x**2, 3 * x))(2.0)
    same((gradient, aux), (4.0, 6.0))


def test_aux_may_be_a_container_without_boxes(ours):
    _, aux = ours.grad_and_aux(lambda x: (x**2, {"twice": [2 * x], "name": "f"}))(2.0)
    assert type(aux["twice"][0]) is numpy.float64
    assert aux["name"] == "f"


def test_jacobian_has_the_shapes_of_result_and_argument(ag):
    found = ag.jacobian(lambda x: ag.np.outer(x, x))(numpy.arange(1.0, 4.0))
    assert found.shape == (3, 3, 3)
    same(found[0, 1], [2.0, 1.0, 0.0])
    same(ag.jacobian(lambda x: ag.np.sum(x**2))(numpy.ones(2)), [2.0, 2.0])
    same(ag.jacobian(lambda x: ag.np.array([x, x**2]))(3.0), [1.0, 6.0])
    same(ag.jacobian(lambda a, x: a * x, 1)(2.0, numpy.ones(2)), 2 * numpy.eye(2))


def test_hessian_and_its_products(ag):
    def f(x):
        return ag.np.sum(x**3) * x[0]

    x, v = numpy.arange(1.0, 4.0), numpy.array([1.0, -1.0, 0.5])
    H = ag.hessian(f)(x)
    same(H, [[12.0, 12.0, 27.0], [12.0, 12.0, 0.0], [27.0, 0.0, 18.0]])
    same(ag.hessian_vector_product(f)(x, v), H @ v)
    hvp, gradient = ag.make_hvp(f)(x)
    same(hvp(v), H @ v)
    same(gradient, ag.grad(f)(x))
    M = ag.hessian_tensor_product(lambda x: ag.np.sum(x**3))(numpy.ones((2, 2)), numpy.eye(2))
    same(M, 6 * numpy.eye(2))


def test_products_with_jacobians(ag):
    A = numpy.arange(6.0).reshape(2, 3)

    def f(x):
        return ag.np.dot(A, x) ** 2

    x = numpy.array([0.5, -1.0, 2.0])
    J = 2 * (A @ x)[:, None] * A
    u, v = numpy.array([1.0, 3.0]), numpy.array([1.0, 0.0, -2.0])
    vjp, value = ag.make_vjp(f)(x)
    same(value, (A @ x) ** 2)
    same(vjp(u), u @ J)
    same(vjp(2 * u), 2 * u @ J)  # as often as one likes
    same(ag.vector_jacobian_product(f)(x, u), u @ J)
    assert [
        numpy.allclose(part, w)
        for part, w in zip(ag.make_jvp(f)(x)(v), (value, J @ v), strict=True)
    ] == [True, True]
    same(ag("differential_operators").make_jvp_reversemode(f)(x)(v), J @ v)
    same(ag.make_ggnvp(f)(x)(v), J.T @ J @ v)


def test_elementwise_grad_sums_columns(ag):
    egrad = ag.elementwise_grad
    x = numpy.linspace(-1, 1, 5)
    same(egrad(ag.np.exp)(x), numpy.exp(x))
    same(egrad(egrad(ag.np.sin))(x), -numpy.sin(x))
    same(egrad(lambda x: ag.np.dot(numpy.ones((3, 2)), x))(numpy.ones(2)), [3.0, 3.0])


def test_grad_named(ag):
    same(ag.grad_named(lambda a, b: a * b**2, "b")(1.0, 3.0), 6.0)
    with pytest.raises(ValueError, match="'c' is not in list"):
        ag.grad_named(lambda a, b: a * b, "c")


def test_multigrad_dict_names_all_arguments(ours):
    def f(a, b=2.0, *rest, scale=1.0):
        return a * b**2 * scale + sum(rest)

    found = ours.multigrad_dict(f)(3.0, scale=10.0)
    assert list(found) == ["a", "b", "rest", "scale"]
    same([found["a"], found["b"], found["scale"]], [40.0, 120.0, 12.0])
    assert found["rest"] == ()


def test_output_that_depends_on_nothing_warns_and_gives_zero(ag):
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        same(ag.grad(lambda x: 3.0)(1.0), 0.0)
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        same(ag.jacobian(lambda x: numpy.ones(2))(numpy.ones(3)), numpy.zeros((2, 3)))
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        value, tangent = ag.make_jvp(lambda x: 3.0)(1.0)(1.0)
    same((value, tangent), (3.0, 0.0))


def test_argument_that_a_part_does_not_depend_on_gets_zeros_without_a_warning(ag):
    found = ag.grad(lambda x, y: ag.np.sum(x), (0, 1))(numpy.ones(2), numpy.ones(3))
    same(found[1], numpy.zeros(3))


GRAD = "Grad only applies to real scalar-output functions. Try jacobian, elementwise_grad or "


@pytest.mark.filterwarnings("ignore:Output seems independent")
@pytest.mark.parametrize("result", [lambda x: x, lambda x: x[0] * 1j, lambda x: numpy.ones(2)])
def test_grad_refuses_what_is_not_one_real_number(ag, result):
    with pytest.raises(TypeError, match=GRAD):
        ag.grad(result)(numpy.ones(3))
    with pytest.raises(TypeError, match="value_and_grad only applies to real scalar-output"):
        ag.value_and_grad(lambda x: x)(numpy.ones(3))


def test_the_error_says_what_came(ours):
    with pytest.raises(TypeError, match=r"dtype float64 and shape \(3,\)"):
        ours.grad(lambda x: x)(numpy.ones(3))


@pytest.mark.parametrize("value", [3, True, "text", None, numpy.int64(3), object()])
def test_what_cannot_be_differentiated_by_is_refused(ag, value):
    with pytest.raises(TypeError, match="Can't differentiate w"):
        ag.grad(lambda x: x)(value)


def test_whole_arrays_are_taken_as_floats(ours):
    found = ours.grad(lambda x: ours.np.sum(x**2))(numpy.array([1, 2, 3]))
    assert found.dtype == float
    same(found, [2.0, 4.0, 6.0])


@pytest.mark.parametrize("argnum", ["x", None, 1.0, True])
def test_argnum_of_another_type_is_refused(ag, argnum):
    with pytest.raises(AssertionError):
        ag.grad(lambda x: x, argnum)


def test_argnum_beyond_the_arguments_is_refused(ag):
    with pytest.raises(IndexError, match="tuple index out of range"):
        ag.grad(lambda x: x, 1)(2.0)


@pytest.mark.parametrize("result", [1, None, "text"])
def test_results_without_a_vector_space_are_refused(ag, result):
    with (
        pytest.warns(UserWarning, match="independent"),
        pytest.raises(TypeError, match="Can't find vector space for value"),
    ):
        ag.grad(lambda x: result)(1.0)


def test_jacobian_refuses_containers(ag):
    with pytest.raises(TypeError):
        ag.jacobian(lambda x: x[0])([1.0, 2.0])


def test_complex_results_are_refused_by_elementwise_grad(ag):
    with pytest.raises(TypeError, match="Elementwise_grad only applies to real-output functions"):
        ag.elementwise_grad(lambda x: x * 1j)(numpy.ones(2))


def test_errors_in_the_function_leave_everything_as_it_was(ours):
    def fails(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ours.grad(fails)(1.0)
    with pytest.raises(KeyError, match="mine"):
        ours.make_jvp(fails)(1.0)(1.0)
    assert type(ours.np.zeros(2)) is numpy.ndarray
    same(ours.grad(lambda x: x**2)(3.0), 6.0)


def test_cotangents_and_tangents_of_another_structure_are_refused(ours):
    vjp, _ = ours.make_vjp(lambda x: (x, x**2))(1.0)
    with pytest.raises(ValueError, match="expected a cotangent of the structure"):
        vjp((1.0, 2.0, 3.0))
    with pytest.raises(ValueError, match="expected a tangent of the structure"):
        ours.make_jvp(lambda p: p[0])((1.0, 2.0))((1.0,))


def test_checkpoint_computes_again(ag):
    calls = []

    def f(x, y):
        calls.append(1)
        return ag.np.sum(ag.np.sin(x) * y)

    g = ag.grad(ag.checkpoint(f), (0, 1))
    found = g(numpy.ones(2), 3.0)
    assert len(calls) >= 2
    same(found[0], 3 * numpy.cos(numpy.ones(2)))
    same(found[1], 2 * numpy.sin(1.0))
    same(ag.checkpoint(f)(numpy.ones(2), 3.0), 6 * numpy.sin(1.0))
    same(ag.grad(ag.grad(ag.checkpoint(lambda x: ag.np.sin(x) ** 2)))(0.3), 2 * numpy.cos(0.6))


def test_control_flow_is_followed(ag):
    def f(x):
        y = x
        while y < 100.0:
            y = y * x
        return y if x > 0 else -y

    same(ag.grad(f)(3.0), 5 * 3.0**4)


def test_gradients_of_closures_over_outer_arguments(ag):
    def outer(a):
        inner = ag.grad(lambda x: a * x**3)
        return inner(2.0) * a

    same(ag.grad(outer)(5.0), 2 * 5.0 * 12.0)


def test_a_vjp_may_be_differentiated_by_its_cotangent(ag):
    vjp, _ = ag.make_vjp(lambda x: x**3)(2.0)
    same(ag.grad(lambda g: vjp(g) ** 2)(1.0), 2 * 12.0**2)


def test_a_gradient_that_a_copy_would_lose_is_reported_at_the_users_line(ours):
    with pytest.raises(TypeError, match=r"gradient\n  at test_contract\.py:\d+  .*float64\(x\)"):
        ours.grad(lambda x: numpy.float64(x))(3.0)
