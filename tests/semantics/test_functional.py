"""Test `autograd.functional`: Jacobians, Hessians, and their products with vectors."""

import itertools
import math

import pytest

import wengert

NAMES = ("vjp", "jvp", "jacobian", "hessian", "vhp", "hvp")
OF_SCALARS = ("hessian", "vhp", "hvp")


# PyTorch's own, when its forward mode is first used
quiet = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")


def of(t, name):
    return getattr(t.autograd.functional, name)


def vector(t, *values, grad=False, dtype=None):
    return t.tensor(values, dtype=dtype or t.float64, requires_grad=grad)


def cubes(x):
    return (x**3).sum()


# -- values and structure ------------------------------------------------------------------------


def test_vjp_gives_the_outputs_and_the_vector_times_the_jacobian(t):
    x = vector(t, 1.0, 2.0)
    out, product = t.autograd.functional.vjp(lambda x: x * x, x, vector(t, 1.0, 10.0))
    assert out.tolist() == [1.0, 4.0] and product.tolist() == [2.0, 40.0]
    assert not out.requires_grad and not product.requires_grad and product.dtype == t.float64


def test_jvp_gives_the_outputs_and_the_jacobian_times_the_vector(t):
    x = vector(t, 1.0, 2.0)
    out, product = t.autograd.functional.jvp(lambda x: (x * x).sum(), x, vector(t, 1.0, 10.0))
    assert out.item() == 5.0 and product.item() == 42.0
    assert product.shape == () and not product.requires_grad


def test_the_jacobian_has_the_shape_of_the_output_and_then_of_the_input(t):
    x = t.arange(6.0).reshape(2, 3)
    jac = t.autograd.functional.jacobian(lambda x: x.sum(dim=1), x)
    assert jac.shape == (2, 2, 3)
    assert jac.tolist() == [[[1.0] * 3, [0.0] * 3], [[0.0] * 3, [1.0] * 3]]


def test_the_hessian_has_the_shape_of_the_input_twice(t):
    x = t.tensor([[1.0, 2.0]])
    hess = t.autograd.functional.hessian(lambda x: cubes(x) + x[0, 0] * x[0, 1], x)
    assert hess.shape == (1, 2, 1, 2)
    assert hess.reshape(2, 2).tolist() == [[6.0, 1.0], [1.0, 12.0]]


def test_vhp_and_hvp_multiply_from_either_side(t):
    x, v = vector(t, 1.0, 2.0), vector(t, 1.0, -1.0)
    f = lambda x: cubes(x) * x[0]  # noqa: E731
    hess = t.autograd.functional.hessian(f, x)
    for name in ("vhp", "hvp"):
        out, product = of(t, name)(f, x, v)
        assert out.item() == 9.0
        assert product.tolist() == (hess @ v).tolist()


def test_tuples_of_inputs_and_outputs_give_tuples(t):
    x, y = vector(t, 1.0, 2.0), t.tensor(3.0, dtype=t.float64)
    f = lambda x, y: (x * y, x.sum())  # noqa: E731
    functional = t.autograd.functional
    out, product = functional.vjp(f, (x, y), (vector(t, 1.0, 10.0), t.tensor(100.0)))
    assert isinstance(out, tuple) and isinstance(product, tuple)
    assert [p.tolist() for p in product] == [[103.0, 130.0], 21.0]
    out, product = functional.jvp(f, (x, y), (vector(t, 1.0, 10.0), t.tensor(1.0)))
    assert isinstance(out, tuple) and isinstance(product, tuple)
    assert [p.tolist() for p in product] == [[4.0, 32.0], 11.0]
    jac = functional.jacobian(f, (x, y))
    assert isinstance(jac, tuple) and isinstance(jac[0], tuple)
    assert [[b.tolist() for b in row] for row in jac] == [
        [[[3.0, 0.0], [0.0, 3.0]], [1.0, 2.0]],
        [[1.0, 1.0], 0.0],
    ]


def test_one_tuple_alone_gives_one_level_of_tuples(t):
    x = vector(t, 2.0)
    jacobian = t.autograd.functional.jacobian
    several_out = jacobian(lambda x: (x * 2, x * x), x)
    assert isinstance(several_out, tuple) and [b.tolist() for b in several_out] == [
        [[2.0]],
        [[4.0]],
    ]
    several_in = jacobian(lambda x: x * x, (x,))
    assert isinstance(several_in, tuple) and several_in[0].tolist() == [[4.0]]
    assert jacobian(lambda x: (x * x,), (x,))[0][0].tolist() == [[4.0]]
    hess = t.autograd.functional.hessian(cubes, (x,))
    assert isinstance(hess, tuple) and hess[0][0].tolist() == [[12.0]]


def test_the_hessian_of_several_inputs_is_a_tuple_of_tuples(t):
    x, y = vector(t, 1.0, 2.0), t.tensor(3.0, dtype=t.float64)
    hess = t.autograd.functional.hessian(lambda x, y: cubes(x) * y, (x, y))
    assert [[b.tolist() for b in row] for row in hess] == [
        [[[18.0, 0.0], [0.0, 36.0]], [3.0, 12.0]],
        [[3.0, 12.0], 0.0],
    ]


@pytest.mark.parametrize("name", NAMES)
def test_an_input_without_dimensions_needs_no_vector(t, name):
    result = of(t, name)(lambda x: x**3, t.tensor(2.0))
    expected = 12.0
    if isinstance(result, tuple):
        out, result = result
        assert out.item() == 8.0
    assert result.shape == () and result.item() == expected


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_inputs_without_elements_give_jacobians_without_elements(t, shape):
    jac = t.autograd.functional.jacobian(lambda x: x.sum(), t.zeros(shape))
    assert jac.shape == shape
    out, product = t.autograd.functional.vjp(lambda x: x.sum(), t.zeros(shape))
    assert out.item() == 0.0 and product.shape == shape
    for name in ("jvp", "hvp", "vhp"):
        _, product = of(t, name)(lambda x: x.sum(), t.zeros(shape), t.zeros(shape))
        assert product.shape == (() if name == "jvp" else shape)


@pytest.mark.parametrize("vectorize", [False, True])
def test_vectorize_gives_the_same(t, vectorize):
    x, y = vector(t, 1.0, 2.0), vector(t, 3.0)
    f = lambda x, y: (x * y, (x * x).sum(), y * 2)  # noqa: E731
    jac = t.autograd.functional.jacobian(f, (x, y), vectorize=vectorize)
    assert isinstance(jac, tuple) and all(isinstance(row, tuple) for row in jac)
    assert [[b.tolist() for b in row] for row in jac] == [
        [[[3.0, 0.0], [0.0, 3.0]], [[1.0], [2.0]]],
        [[2.0, 4.0], [0.0]],
        [[[0.0, 0.0]], [[2.0]]],
    ]
    hess = t.autograd.functional.hessian(lambda x: cubes(x), x, vectorize=vectorize)
    assert hess.tolist() == [[6.0, 0.0], [0.0, 12.0]]


@quiet
def test_forward_mode_gives_the_same(t):
    x, y = vector(t, 1.0, 2.0), vector(t, 3.0)
    f = lambda x, y: (x * y, (x * x).sum(), y * 2)  # noqa: E731
    kwargs = {"vectorize": True, "strategy": "forward-mode"}
    jac = t.autograd.functional.jacobian(f, (x, y), **kwargs)
    assert [[b.tolist() for b in row] for row in jac] == [
        [[[3.0, 0.0], [0.0, 3.0]], [[1.0], [2.0]]],
        [[2.0, 4.0], [0.0]],
        [[[0.0, 0.0]], [[2.0]]],
    ]
    assert not jac[0][0].requires_grad
    kwargs = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}
    hess = t.autograd.functional.hessian(lambda x: cubes(x) * x[0], x, **kwargs)
    assert hess.tolist() == [[12.0, 12.0], [12.0, 12.0]]


@quiet
def test_forward_mode_has_the_dtype_of_the_output(t):
    jacobian = t.autograd.functional.jacobian
    x = t.tensor([1.0, 2.0])
    forward = {"vectorize": True, "strategy": "forward-mode"}
    assert jacobian(lambda x: x.double(), x).dtype == t.float32
    assert jacobian(lambda x: x.double(), x, **forward).dtype == t.float64
    assert jacobian(lambda x: x > 1, x, **forward).dtype == t.bool
    through = jacobian(lambda x: x * 1j, x, **forward)
    assert through.tolist() == [[1j, 0j], [0j, 1j]]


@quiet
def test_forward_mode_keeps_the_history_that_leads_to_tensors_of_the_user(t):
    x, w = vector(t, 1.0, 2.0), vector(t, 3.0, 4.0, grad=True)
    forward = {"vectorize": True, "strategy": "forward-mode"}
    jacobian = t.autograd.functional.jacobian
    jac = jacobian(lambda x: x * w, x, **forward)
    assert t.autograd.grad(jac.sum(), w)[0].tolist() == [1.0, 1.0]
    leaf = vector(t, 1.0, 2.0, grad=True)
    jac = jacobian(lambda x: x**3, leaf, **forward)
    assert t.autograd.grad(jac.sum(), leaf)[0].tolist() == [6.0, 12.0]
    assert not jacobian(lambda x: x**3, x, **forward).requires_grad
    with t.no_grad():
        assert not jacobian(lambda x: x**3, leaf, **forward).requires_grad


@quiet
def test_forward_mode_of_empty_inputs_and_outputs(t):
    forward = {"vectorize": True, "strategy": "forward-mode"}
    jacobian = t.autograd.functional.jacobian
    for f, x, shape in (
        (lambda x: x.sin(), t.zeros(0), (0, 0)),
        (lambda x: x[:0], t.ones(2), (0, 2)),
    ):
        found = jacobian(f, x, **forward)
        assert (found.shape, found.dtype) == (shape, t.float32)


# -- complex -------------------------------------------------------------------------------------


def test_complex_products(t):
    z, v = t.tensor(2 + 1j), t.tensor(1 + 1j)
    out, product = t.autograd.functional.vjp(lambda z: z**3, z, v)
    assert out.item() == 2 + 11j and product.item() == pytest.approx(21 - 3j)
    out, product = t.autograd.functional.jvp(lambda z: z**3, z, v)
    assert product.item() == pytest.approx(-3 + 21j)
    out, product = t.autograd.functional.jvp(lambda z: z.abs(), z, v)
    assert not product.is_complex() and product.item() == pytest.approx(3 / 5**0.5)
    for name in ("vhp", "hvp"):
        _, product = of(t, name)(lambda z: (z * z.conj()).real, z, v)
        assert product.item() == pytest.approx(2 + 2j)


def test_the_jacobian_of_a_real_function_of_complex_inputs(t):
    z = t.tensor([3 + 4j, 1 + 0j])
    jac = t.autograd.functional.jacobian(lambda z: z.abs(), z)
    assert jac.is_complex()
    assert jac.flatten().tolist() == pytest.approx([0.6 + 0.8j, 0, 0, 1])


def test_complex_outputs_need_vectorize(t):
    z = t.tensor([3 + 4j, 1j])
    jacobian = t.autograd.functional.jacobian
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar"):
        jacobian(lambda z: z * 2j, z)
    assert jacobian(lambda z: z * 2j, z, vectorize=True).tolist() == [[-2j, 0], [0, -2j]]


# -- create_graph --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("enabled", [True, False])
def test_create_graph_makes_results_differentiable(t, name, enabled):
    x = t.tensor(2.0, requires_grad=True)
    with t.set_grad_enabled(enabled):
        result = of(t, name)(lambda x: x**4, x, create_graph=True)
    if isinstance(result, tuple):
        out, result = result
        assert t.autograd.grad(out, x, retain_graph=True)[0].item() == 32.0
    assert t.autograd.grad(result, x)[0].item() == 48.0


@pytest.mark.parametrize("name", NAMES)
def test_without_create_graph_results_have_no_history(t, name):
    x, w = t.tensor(2.0, requires_grad=True), t.tensor(3.0, requires_grad=True)
    result = of(t, name)(lambda x: x**4 * w, x)
    for part in result if isinstance(result, tuple) else (result,):
        assert not part.requires_grad and part.is_leaf
    with t.no_grad():
        assert type(result) is type(of(t, name)(lambda x: x**4 * w, x))


@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
def test_create_graph_makes_products_differentiable_by_the_vector(t, name):
    x, v = t.tensor(2.0), t.tensor(5.0, requires_grad=True)
    _, product = of(t, name)(lambda x: x**3, x, v, create_graph=True)
    assert product.item() == 60.0
    assert t.autograd.grad(product, v)[0].item() == 12.0
    _, product = of(t, name)(lambda x: x**3, x, v)
    assert not product.requires_grad


@pytest.mark.parametrize("name", NAMES)
def test_captured_tensors_are_differentiated_under_create_graph(t, name):
    x, w = t.tensor(2.0), t.tensor(5.0, requires_grad=True)
    result = of(t, name)(lambda x: x**3 * w, x, create_graph=True)
    result = result[1] if isinstance(result, tuple) else result
    assert t.autograd.grad(result, w)[0].item() == 12.0


def test_create_graph_of_what_does_not_depend_on_the_input(t):
    x = vector(t, 1.0, 2.0, grad=True)
    f = lambda x: (x * 2, x * x)  # noqa: E731
    by_one = t.autograd.functional.jacobian(f, x, create_graph=True)
    assert [b.requires_grad for b in by_one] == [False, True]
    together = t.autograd.functional.jacobian(f, x, create_graph=True, vectorize=True)
    assert [b.requires_grad for b in together] == [True, True]


def test_inputs_that_require_no_gradient_still_give_graphs_of_their_own(t):
    x = vector(t, 1.0, 2.0)
    jac = t.autograd.functional.jacobian(lambda x: x**3, x, create_graph=True)
    assert jac.tolist() == [[3.0, 0.0], [0.0, 12.0]]
    assert jac.requires_grad and not x.requires_grad


# -- what is left alone --------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("create_graph", [False, True])
def test_inputs_are_left_as_they_are(t, name, create_graph):
    leaf, plain = t.tensor(2.0, requires_grad=True), t.tensor(3.0)
    inner = (leaf * 2)[None][0]
    node, version = inner.grad_fn, inner._version
    called = []
    leaf.register_hook(called.append)

    def f(a, b, c):
        return (a * b * c) ** 2

    inputs = (leaf, plain, inner)
    vectors = {"vjp": t.tensor(1.0)} if name == "vjp" else {}
    if name in ("jvp", "vhp", "hvp"):
        vectors = {"v": (t.tensor(1.0),) * 3}
    elif vectors:
        vectors = {"v": t.tensor(1.0)}
    of(t, name)(f, inputs, create_graph=create_graph, **vectors)
    assert leaf.grad is None and plain.grad is None and called == []
    assert leaf.requires_grad and leaf.is_leaf and not plain.requires_grad
    assert inner.grad_fn is node and inner._version == version


@pytest.mark.parametrize("name", NAMES)
def test_the_mode_is_the_same_afterwards_also_if_the_function_raises(t, name):
    def f(x):
        assert t.is_grad_enabled()
        raise KeyError("the user's own")

    with t.no_grad():
        with pytest.raises(KeyError, match="the user's own"):
            of(t, name)(f, t.tensor(1.0))
        assert not t.is_grad_enabled()


def test_an_input_is_told_from_the_same_tensor_captured(t):
    x = t.tensor(3.0, requires_grad=True)
    assert t.autograd.functional.jacobian(lambda y: x * y, x).item() == 3.0
    assert t.autograd.functional.jacobian(lambda y: x * y, x, create_graph=True).item() == 3.0
    assert t.autograd.functional.hessian(lambda y: x * y * y, x).item() == 6.0


def test_the_same_tensor_given_twice_is_two_inputs(t):
    x = t.tensor(3.0)
    jac = t.autograd.functional.jacobian(lambda a, b: a * a * b, (x, x))
    assert [b.item() for b in jac] == [18.0, 9.0]


# -- strict --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_outputs_that_depend_on_nothing_give_zeros_unless_strict(t, name):
    x = t.tensor(2.0)
    result = of(t, name)(lambda x: t.ones(()), x)
    result = result[1] if isinstance(result, tuple) else result
    assert result.item() == 0.0 and not result.requires_grad
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not req"):
        of(t, name)(lambda x: t.ones(()), x, strict=True)


@pytest.mark.parametrize("name", NAMES)
def test_an_unused_input_gives_zeros_unless_strict(t, name):
    inputs = (t.tensor(2.0), t.tensor([3.0, 4.0]))
    v = {"v": tuple(t.ones_like(x) for x in inputs)} if name in ("jvp", "vhp", "hvp") else {}
    result = of(t, name)(lambda x, y: x**3, inputs, **v)
    if name == "jvp":
        assert result[1].item() == 12.0
    elif name == "hessian":
        assert result[1][0].tolist() == [0.0, 0.0] and result[1][1].tolist() == [[0.0] * 2] * 2
    else:
        unused = result[1] if name == "jacobian" else result[1][1]
        assert unused.tolist() == [0.0, 0.0]
    message = {
        "jacobian": "Output 0 of the user-provided function is independent of input 1",
        "hessian": "While computing the hessian, found that the jacobian",
    }.get(name, "The output of the user-provided function is independent of input 1")
    with pytest.raises(RuntimeError, match=message):
        of(t, name)(lambda x, y: x**3, inputs, strict=True, **v)


@pytest.mark.parametrize("name", OF_SCALARS)
def test_strict_refuses_linear_functions_where_second_derivatives_are_asked_for(t, name):
    x = t.tensor(2.0)
    with pytest.raises(RuntimeError, match="While computing the hessian, found that the jacobian"):
        of(t, name)(lambda x: 2 * x, x, strict=True)


@pytest.mark.parametrize("name", OF_SCALARS)
def test_strict_refuses_gradients_that_depend_on_captured_tensors_alone(t, name):
    x, w = t.tensor(2.0), t.tensor(3.0, requires_grad=True)
    message = {
        "hessian": "Output 0 of the user-provided function is independent of input 0",
        "vhp": "The jacobian of the user-provided function is independent of input 0",
        "hvp": "The hessian of the user-provided function is independent of entry 0 in the grad_j",
    }[name]
    with pytest.raises(RuntimeError, match=message):
        of(t, name)(lambda x: w * x, x, strict=True)


@pytest.mark.parametrize("name", NAMES)
def test_strict_with_create_graph_refuses_constant_derivatives(t, name):
    x = t.tensor(2.0, requires_grad=True)
    power = 2 if name in OF_SCALARS else 1
    if name == "jvp":
        message = "The jacobian of the user-provided function is independent of input 0"
    elif name in ("vhp", "hvp"):
        message = "The hessian of the user-provided function is independent of input 0"
    else:
        message = "The jacobian of the user-provided function is independent of input 0"
    f = lambda x: x * 2 if power == 1 else x * x  # noqa: E731
    with pytest.raises(RuntimeError, match=message):
        of(t, name)(f, x, strict=True, create_graph=True)
    of(t, name)(f, x, strict=True)


@pytest.mark.parametrize("name", NAMES)
def test_strict_lets_through_what_depends_on_everything(t, name):
    x = t.tensor(2.0)
    result = of(t, name)(lambda x: x**3, x, strict=True)
    result = result[1] if isinstance(result, tuple) else result
    assert result.item() == 12.0


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_tensors_or_tuples_of_tensors(t, name):
    x = t.tensor(1.0)
    for inputs in ([x], 2.0, None):
        with pytest.raises(TypeError, match=f"The inputs given to {name} must be either a Tensor"):
            of(t, name)(lambda x: x, inputs)
    with pytest.raises(
        TypeError, match="Tensors but the value at index 1 has type <class 'float'>"
    ):
        of(t, name)(lambda x: x, (x, 2.0))
    with pytest.raises(RuntimeError, match="only Tensors of floating point dtype can require grad"):
        of(t, name)(lambda x: x, t.tensor(1))


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_tensors_or_tuples_of_tensors(t, name):
    x = t.tensor(1.0)
    message = f"The outputs of the user-provided function given to {name} must be either a Tensor"
    for f in (lambda x: [x], lambda x: 2.0, lambda x: None, lambda x: (x, 2.0)):
        with pytest.raises(TypeError, match=message):
            of(t, name)(f, x)


@pytest.mark.parametrize("name", OF_SCALARS)
def test_functions_with_second_derivatives_give_one_element(t, name):
    x, v = t.ones(2), {} if name == "hessian" else {"v": t.ones(2)}
    with pytest.raises(RuntimeError, match=f"The function given to {name} should return a single"):
        of(t, name)(lambda x: (x.sum(),), x, **v)
    with pytest.raises(RuntimeError, match="The Tensor returned by the function given to"):
        of(t, name)(lambda x: x * 2, x, **v)
    of(t, name)(lambda x: cubes(x)[None, None], x, **v)


@pytest.mark.parametrize("name", ["jvp", "vhp", "hvp"])
def test_the_vector_has_the_size_of_the_inputs(t, name):
    x = t.ones(2)
    call = of(t, name)
    with pytest.raises(RuntimeError, match="The vector v can only be None if the input"):
        call(cubes, x)
    with pytest.raises(RuntimeError, match="The vector v can only be None if the input"):
        call(lambda x, y: x * y, (t.tensor(1.0), t.tensor(1.0)))
    with pytest.raises(RuntimeError, match="v has invalid size: should be"):
        call(cubes, x, t.ones(3))
    with pytest.raises(RuntimeError, match="v has invalid size: should be"):
        call(cubes, x, t.ones(()))
    with pytest.raises(RuntimeError, match="Entry 1 in v has invalid size: should be"):
        call(lambda x, y: cubes(x * y), (x, x), (t.ones(2), t.ones(1)))
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 2 but got 1"):
        call(lambda x, y: cubes(x * y), (x, x), (t.ones(2),))
    with pytest.raises(RuntimeError, match="The given v should contain a single Tensor"):
        call(cubes, x, (t.ones(2), t.ones(2)))
    with pytest.raises(TypeError, match=f"The v given to {name} must be either a Tensor or a tupl"):
        call(cubes, x, [1.0, 1.0])


def test_the_vector_of_vjp_has_the_size_of_the_outputs(t):
    x, vjp = t.ones(2), t.autograd.functional.vjp
    with pytest.raises(
        RuntimeError, match="The vector v can only be None if the user-provided fun"
    ):
        vjp(lambda x: x * 2, x)
    with pytest.raises(
        RuntimeError, match="The vector v can only be None if the user-provided fun"
    ):
        vjp(lambda x: (x.sum(), x.sum()), x)
    with pytest.raises(RuntimeError, match="v has invalid size: should be"):
        vjp(lambda x: x[:1], x, t.ones(2))
    with pytest.raises(RuntimeError, match="Entry 0 in v has invalid size"):
        vjp(lambda x: (x[:1],), x, t.ones(2))
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 2 but got 1"):
        vjp(lambda x: (x, x), x, t.ones(2))
    with pytest.raises(RuntimeError, match="The given v should contain a single Tensor"):
        vjp(lambda x: x, x, (t.ones(2), t.ones(2)))
    with pytest.raises(TypeError, match="The v given to vjp must be either a Tensor or a tuple"):
        vjp(lambda x: x, x, [t.ones(2)])


@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
def test_the_vector_takes_the_dtype_of_what_it_multiplies(t, name):
    x = t.tensor(2.0)
    for v in (t.tensor(1.0, dtype=t.float64), t.tensor(1)):
        _, product = of(t, name)(lambda x: x**3, x, v)
        assert product.dtype == t.float32 and product.item() == 12.0
    with pytest.raises(RuntimeError, match="For complex Tensors, both grad_output and output are"):
        of(t, name)(lambda x: x**3, x, t.tensor(1j))


def test_which_arguments_go_together(t):
    x = t.ones(2)
    jacobian, hessian = t.autograd.functional.jacobian, t.autograd.functional.hessian
    forward = {"strategy": "forward-mode"}
    first = "torch.autograd.functional.jacobian: "
    with pytest.raises(
        AssertionError, match='Expected strategy to be either "forward-mode" or "re'
    ):
        jacobian(cubes, x, strategy="reverse")
    with pytest.raises(
        AssertionError, match='Expected strategy to be either "forward-mode" or "re'
    ):
        hessian(cubes, x, outer_jacobian_strategy="reverse")
    with pytest.raises(
        NotImplementedError, match="Computing Jacobian using forward-AD or forward-"
    ):
        jacobian(cubes, x, **forward)
    with pytest.raises(NotImplementedError, match=f"{first}`create_graph=True` and `strategy="):
        jacobian(cubes, x, create_graph=True, vectorize=True, **forward)
    with pytest.raises(RuntimeError, match=f"{first}`strict=True` and `strategy="):
        jacobian(cubes, x, strict=True, vectorize=True, **forward)
    with pytest.raises(RuntimeError, match=f"{first}`strict=True` and `vectorized=True`"):
        jacobian(cubes, x, strict=True, vectorize=True)
    with pytest.raises(
        NotImplementedError, match="Computing Jacobian using forward-AD or forward-"
    ):
        hessian(cubes, x, outer_jacobian_strategy="forward-mode")
    with pytest.raises(RuntimeError, match=f"{first}`strict=True` and `vectorized=True`"):
        hessian(cubes, x, strict=True, vectorize=True)


def test_integer_outputs_have_zero_derivatives_where_no_forward_pass_needs_them(t):
    x = t.tensor([2.0, 3.0])
    jac = t.autograd.functional.jacobian(lambda x: x.long(), x)
    assert jac.dtype == t.float32 and jac.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    _, product = t.autograd.functional.vjp(lambda x: x.long(), x, t.ones(2))
    assert product.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can"):
        t.autograd.functional.jvp(lambda x: x.long(), x, t.ones(2))


# -- what the function does ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_function_may_write_in_place_to_copies(t, name):
    def f(x):
        y = x.clone()
        y.mul_(2)
        y[...] = x**3
        return y

    result = of(t, name)(f, t.tensor(2.0))
    result = result[1] if isinstance(result, tuple) else result
    assert result.item() == 12.0


@pytest.mark.parametrize("name", NAMES)
def test_the_function_may_not_write_to_its_inputs(t, name):
    x = t.tensor(2.0)
    with pytest.raises(
        RuntimeError, match=r"a (leaf|view of a leaf) Variable that requires grad is"
    ):
        of(t, name)(lambda x: x.mul_(2), x)
    assert x.item() == 2.0
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being"):
        of(t, name)(lambda x: x.mul_(2), x.requires_grad_(), create_graph=True)
    assert x.item() == 2.0


@pytest.mark.parametrize("name", NAMES)
def test_the_function_may_call_grad_itself(t, name):
    def slope(x):
        return t.autograd.grad((x**4).sum(), x, create_graph=True)[0]

    result = of(t, name)(slope, t.tensor(2.0))
    result = result[1] if isinstance(result, tuple) else result
    assert result.item() == 48.0


def test_functions_of_functions(t):
    functional = t.autograd.functional
    x = vector(t, 1.0, 2.0)
    gradient = lambda x: functional.jacobian(cubes, x, create_graph=True)  # noqa: E731
    assert functional.jacobian(gradient, x).tolist() == functional.hessian(cubes, x).tolist()
    third = functional.jacobian(lambda x: functional.hessian(cubes, x, create_graph=True), x)
    assert third.shape == (2, 2, 2) and third.sum().item() == 12.0 and third[1, 1, 1].item() == 6.0
    product = lambda x: functional.hvp(cubes, x, x, create_graph=True)[1]  # noqa: E731
    assert functional.jacobian(product, x).tolist() == [[12.0, 0.0], [0.0, 24.0]]
    # without a graph the inner result is a constant
    assert functional.jacobian(lambda x: functional.jacobian(cubes, x), x).sum().item() == 0.0


def test_the_function_may_return_its_input_or_one_output_twice(t):
    x = vector(t, 1.0, 2.0)
    jacobian = t.autograd.functional.jacobian
    eye = [[1.0, 0.0], [0.0, 1.0]]
    assert jacobian(lambda x: x, x).tolist() == eye
    assert [b.tolist() for b in jacobian(lambda x: (x, x), x)] == [eye, eye]

    def twice(x):
        y = x * x
        return y, y

    _, product = t.autograd.functional.jvp(twice, x, x)
    assert [p.tolist() for p in product] == [[2.0, 8.0], [2.0, 8.0]]
    _, product = t.autograd.functional.vjp(twice, x, (x, x))
    assert product.tolist() == [4.0, 16.0]


def test_what_the_function_detaches_is_constant(t):
    x = vector(t, 2.0)
    assert t.autograd.functional.jacobian(lambda x: x.detach() * x, x).tolist() == [[2.0]]

    def halted(x):
        with t.no_grad():
            return x * x

    assert t.autograd.functional.jacobian(halted, x).tolist() == [[0.0]]


def test_the_function_is_called_once(t):
    calls = []

    def f(x):
        calls.append(x)
        return (x**3).sum()

    x = t.ones(3)
    for name in NAMES:
        calls.clear()
        v = {"v": t.ones(3)} if name in ("jvp", "vhp", "hvp") else {}
        of(t, name)(f, x, **v)
        assert len(calls) == 1, name


def test_views_and_other_tensors_as_inputs(t):
    base = t.arange(6.0).reshape(2, 3)
    for x in (base.t(), base[:, 1], base[0].expand(2, 3), base[:, ::2]):
        jac = t.autograd.functional.jacobian(lambda x: x * x, x)
        n = x.numel()
        assert jac.shape == (*x.shape, *x.shape)
        assert jac.reshape(n, n).diagonal().tolist() == (2 * x).flatten().tolist()


def test_graphs_that_a_function_captures_are_kept(t):
    w = t.tensor(3.0, requires_grad=True)
    captured = w.exp() * 1
    f = lambda x: x * captured  # noqa: E731
    assert t.autograd.functional.jacobian(f, t.tensor(2.0)).item() == captured.item()
    assert t.autograd.functional.vjp(f, t.tensor(2.0))[1].item() == captured.item()
    (slope,) = t.autograd.grad(captured, w, retain_graph=True)
    assert slope.item() == pytest.approx(math.exp(3), rel=1e-5)


# -- everything with everything ------------------------------------------------------------------


def functions(t):
    weights = t.tensor([2.0, -1.0], dtype=t.float64, requires_grad=True)
    return {
        "smooth": lambda x, y: (x * x * y.sin()).sum(),
        "linear": lambda x, y: (2 * x).sum() + y,
        "first only": lambda x, y: (x**3).sum(),
        "constant": lambda x, y: t.ones((), dtype=t.float64),
        "captured": lambda x, y: (weights * x).sum() * y,
        "single": lambda x, y: (x.float() * y.float()).sum(),
        "one element": lambda x, y: (x * y)[:1] ** 3,
        "several": lambda x, y: (x * y, y**2, x.detach()),
        "wide": lambda x, y: x.unsqueeze(1) * y * x,
    }


def described(value):
    """Structure, values and what can be differentiated; for an error its kind and first words."""
    if isinstance(value, tuple | list):
        return [described(item) for item in value]
    if isinstance(value, Exception):
        return type(value).__name__, str(value)[:40]
    values = [round(number, 9) + 0.0 for number in value.detach().flatten().tolist()]
    return list(value.shape), str(value.dtype).split(".")[-1], value.requires_grad, values


def attempt(t, name, which, grads, vector, options):
    x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=grads[0])
    y = t.tensor(3.0, dtype=t.float64, requires_grad=grads[1])
    v = {"inputs": (x.detach() + 1, y.detach()), "output": t.tensor(2.0), "none": None}[vector]
    options = options if name in ("jacobian", "hessian") else {**options, "v": v}
    try:
        return of(t, name)(functions(t)[which], (x, y), **options)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        return error


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_all_combinations_agree_with_pytorch(name):
    torch = pytest.importorskip("torch")
    switches = ["create_graph", "strict"]
    vectors = ["inputs", "output", "none"]
    if name in ("jacobian", "hessian"):
        switches.append("vectorize")
        vectors = ["none"]
    flags = [
        dict(zip(switches, values, strict=True))
        for values in itertools.product([False, True], repeat=len(switches))
    ]
    grads = [(False, False), (True, False), (True, True)]
    succeeded = 0
    for case in itertools.product(functions(torch), grads, vectors, flags):
        mine, theirs = attempt(wengert, name, *case), attempt(torch, name, *case)
        assert described(mine) == described(theirs), case
        succeeded += not isinstance(theirs, Exception)
    assert succeeded > 20
