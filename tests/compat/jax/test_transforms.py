"""Test JAX's transforms: results, types and errors."""

from collections import deque

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax import (
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    jvp,
    lax,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)

Z = 3 + 4j
NOTHING = np.zeros((), jax.float0)


def square(x):
    return x**2


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


# -- grad ------------------------------------------------------------------------------------------


def test_gradients_are_arrays_as_weak_as_the_inputs():
    assert repr(grad(square)(3.0)) == "Array(6., dtype=float32, weak_type=True)"
    assert repr(grad(square)(jnp.float32(3))) == "Array(6., dtype=float32)"
    assert repr(grad(square)(np.float64(3))) == "Array(6., dtype=float32)"


def test_gradients_have_the_structure_of_the_argument():
    made = grad(lambda p: p["a"] ** 2 * p["b"][0])({"a": 3.0, "b": (2.0, None)})
    assert made["a"] == 12.0
    assert made["b"][0] == 9.0
    assert made["b"][1] is None


def test_argnums_says_by_which_arguments():
    def f(x, y):
        return x * y**2

    assert grad(f, 1)(2.0, 3.0) == 12.0
    assert grad(f, (0, 1))(2.0, 3.0) == (9.0, 12.0)
    assert grad(f, (1,))(2.0, 3.0) == (12.0,)
    assert grad(f, -1)(2.0, 3.0) == 12.0
    assert grad(lambda x, *, k: x**k)(3.0, k=2) == 6.0


def test_aux_is_returned_beside():
    gradient, aux = grad(lambda x: (x**2, {"kept": x, "text": "t"}), has_aux=True)(3.0)
    assert gradient == 6.0
    assert aux["text"] == "t"
    assert repr(aux["kept"]) == "Array(3., dtype=float32, weak_type=True)"
    (value, aux), gradient = value_and_grad(lambda x: (x**2, x + 1), has_aux=True)(3.0)
    assert (value, aux, gradient) == (9.0, 4.0, 6.0)


def test_a_constant_has_the_gradient_zero():
    assert grad(lambda x: 3.0)(1.0) == 0.0
    assert value_and_grad(lambda p: jnp.float32(1))({}) == (1.0, {})


def test_derivatives_of_derivatives():
    f = square
    for _ in range(2):
        f = grad(f)
    assert f(5.0) == 2.0
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0) == 1.0
    close(grad(grad(grad(jnp.tanh)))(2.0), 0.25265408)


def test_what_has_no_gradient_is_refused_in_jaxs_words():
    with pytest.raises(TypeError, match=r"grad requires real- or complex-valued inputs.*got int32"):
        grad(square)(3)
    with pytest.raises(TypeError, match=r"Output had shape: \(3,\)\.$"):
        grad(square)(jnp.arange(3.0))
    with pytest.raises(TypeError, match="Gradient only defined for scalar-output functions"):
        grad(lambda x: (x, x))(3.0)
    with pytest.raises(TypeError, match=r"grad requires real-valued outputs.*got int32"):
        grad(lambda x: x.astype(int))(3.0)
    with pytest.raises(TypeError, match=r"got complex64\. For holomorphic differentiation"):
        grad(square)(Z)
    with pytest.raises(TypeError, match="requires inputs with complex dtype"):
        grad(square, holomorphic=True)(3.0)
    with pytest.raises(TypeError, match="requires outputs with complex dtype"):
        grad(jnp.real, holomorphic=True)(Z)
    with pytest.raises(TypeError, match="Expected a callable value, got 5"):
        grad(5)
    with pytest.raises(TypeError, match=r"argnums=1 requires at least 2 positional arguments"):
        grad(square, 1)(3.0)
    with pytest.raises(TypeError, match="argnums must be an integer"):
        grad(square, "x")(3.0)
    with pytest.raises(TypeError, match="is not a valid JAX type"):
        grad(lambda p: p["a"])({"a": "text"})
    with pytest.raises(TypeError, match="two-element tuple"):
        grad(square, has_aux=True)(3.0)


def test_integers_have_gradients_without_bytes():
    by_int = grad(lambda x: (x * 2.0).sum(), allow_int=True)(jnp.arange(3))
    assert by_int.dtype == jax.float0
    assert by_int.shape == (3,)


def test_an_error_within_leaves_no_transform_behind():
    def fails(x):
        raise KeyError("within")

    for way in (grad(fails), vmap(fails), jacfwd(fails), jacrev(fails), jit(fails)):
        with pytest.raises(KeyError, match="within"):
            way(jnp.ones(2))
    assert grad(square)(3.0) == 6.0
    assert vmap(square)(jnp.arange(2.0)).tolist() == [0.0, 1.0]


# -- complex numbers -------------------------------------------------------------------------------


def test_gradients_by_complex_numbers_are_jaxs():
    assert grad(lambda z: jnp.abs(z) ** 2)(Z) == 6 - 8j
    assert grad(lambda z: jnp.real(z) ** 2 + jnp.imag(z))(Z) == 6 - 1j
    assert grad(square, holomorphic=True)(Z) == 6 + 8j
    assert repr(grad(jnp.real)(Z)).startswith("Array(1.+0.j")


def test_products_with_complex_jacobians_are_jaxs():
    assert vjp(square, Z)[1](1j) == (-8 + 6j,)
    assert vjp(lambda z: jnp.conj(z) * 2j, Z)[1](1 + 2j) == (-4 - 2j,)
    assert jvp(square, (Z,), (1j,)) == (-7 + 24j, -8 + 6j)


def test_complex_jacobians():
    z = jnp.array([Z, 1j])
    expected = [[6 + 8j, 0], [0, 2j]]
    assert jacfwd(square, holomorphic=True)(z).tolist() == expected
    assert jacrev(square, holomorphic=True)(z).tolist() == expected
    close(jacrev(lambda z: jnp.abs(z) ** 2)(z), [[6 - 8j, 0], [0, -2j]])
    with pytest.raises(TypeError, match="jacfwd requires real-valued inputs"):
        jacfwd(square)(z)
    with pytest.raises(TypeError, match="jacrev requires real-valued outputs"):
        jacrev(square)(z)


# -- vjp and jvp -----------------------------------------------------------------------------------


def test_vjp_gives_output_and_pullback():
    output, pull = vjp(lambda x, y: {"p": x * y, "x": x}, 2.0, 3.0)
    assert output == {"p": 6.0, "x": 2.0}
    assert pull({"p": 1.0, "x": 10.0}) == (13.0, 2.0)
    assert pull({"p": 2.0, "x": 0.0}) == (6.0, 4.0)
    _, pull, aux = vjp(lambda x: (x**2, {"n": 1}), 3.0, has_aux=True)
    assert (pull(1.0), aux) == ((6.0,), {"n": 1})


def test_what_is_no_number_with_fractions_has_cotangents_without_bytes():
    by_x, by_n = vjp(lambda x, n: x * n, 2.0, 3)[1](1.0)
    assert by_x == 3.0
    assert by_n.dtype == jax.float0
    assert vjp(lambda x: (x, x > 1), 2.0)[1]((1.0, NOTHING)) == (1.0,)
    with pytest.raises(ValueError, match="float0"):
        vjp(lambda x: (x, x > 1), 2.0)[1]((1.0, True))


def test_cotangents_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"got float32\[2\], but expected float32\[3\]"):
        vjp(square, jnp.ones(3))[1](jnp.ones(2))
    with pytest.raises(ValueError, match=r"got int32\[\], but expected float32\[\]"):
        vjp(square, 3.0)[1](1)
    with pytest.raises(ValueError, match="unexpected tree structure"):
        vjp(lambda x: (x, x), 2.0)[1]([1.0, 1.0])


def test_a_pullback_is_mapped():
    _, pull = vjp(jnp.sin, jnp.arange(3.0))
    rows = vmap(pull)(jnp.eye(3))[0]
    close(rows, np.diag(np.cos(np.arange(3.0))))


def test_jvp_gives_output_and_tangent():
    assert jvp(square, (3.0,), (1.0,)) == (9.0, 6.0)
    value, slope = jvp(
        lambda d: {"y": d["a"] * d["b"]}, ({"a": 2.0, "b": 3.0},), ({"a": 1.0, "b": 0.0},)
    )
    assert (value, slope) == ({"y": 6.0}, {"y": 3.0})
    assert jvp(lambda x, n: x * n, (2.0, 3), (1.0, NOTHING)) == (6.0, 3.0)
    (_, is_large), (slope, nothing) = jvp(lambda x: (x, x > 1), (2.0,), (1.0,))
    assert (bool(is_large), slope, nothing.dtype) == (True, 1.0, jax.float0)
    _, _, aux = jvp(lambda x: (x, "text"), (2.0,), (1.0,), has_aux=True)
    assert aux == "text"


def test_tangents_that_do_not_fit_are_refused():
    with pytest.raises(TypeError, match="must be tuples or lists; found float and float"):
        jvp(square, 3.0, 1.0)
    with pytest.raises(TypeError, match="must have the same tree structure"):
        jvp(square, [3.0], (1.0,))
    with pytest.raises(
        TypeError, match="expected tangent dtype float32, but got tangent dtype int32"
    ):
        jvp(square, (3.0,), (1,))
    with pytest.raises(TypeError, match="expected tangent dtype float0"):
        jvp(lambda n: n, (3,), (1.0,))
    with pytest.raises(ValueError, match=r"primal shape \(2,\) and tangent shape as \(3,\)"):
        jvp(square, (jnp.ones(2),), (jnp.ones(3),))


def test_linear_functions():
    value, slope = linearize(lambda x: jnp.sin(x) * 2, 0.0)
    assert (value, slope(1.0), slope(3.0)) == (0.0, 2.0, 6.0)
    assert jax.linear_transpose(lambda x: 2 * x, 1.0)(3.0) == (6.0,)
    pull = jax.linear_transpose(lambda x: x.sum(), jax.ShapeDtypeStruct((2,), jnp.float32))
    assert pull(1.0)[0].tolist() == [1.0, 1.0]


# -- Jacobians -------------------------------------------------------------------------------------


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobians_have_the_structures_of_outputs_and_arguments(jacobian):
    x = jnp.arange(3.0)
    assert jacobian(square)(x).tolist() == [[0, 0, 0], [0, 2, 0], [0, 0, 4]]
    made = jacobian(lambda a, b: {"p": a * b, "q": [a]}, argnums=(0, 1))(2.0, x)
    assert made["p"][0].tolist() == [0.0, 1.0, 2.0]
    assert made["p"][1].tolist() == [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
    assert made["q"][0][1].tolist() == [0.0, 0.0, 0.0]
    value, aux = jacobian(lambda a: (a**2, {"kept": a}), has_aux=True)(3.0)
    assert (value, aux["kept"]) == (6.0, 3.0)
    with pytest.raises(TypeError, match="got int32"):
        jacobian(square)(3)


def test_hessians():
    assert hessian(lambda x: (x**3).sum())(jnp.arange(2.0)).tolist() == [[0.0, 0.0], [0.0, 6.0]]
    made = hessian(lambda p: p["a"] ** 2 * p["b"])({"a": 2.0, "b": 3.0})
    assert made == {"a": {"a": 6.0, "b": 4.0}, "b": {"a": 4.0, "b": 0.0}}
    value, aux = hessian(lambda x: (x**2, {"h": x}), has_aux=True)(3.0)
    assert (value, aux) == (2.0, {"h": 3.0})


def test_hessian_vector_products_agree():
    def f(x):
        return jnp.sum(jnp.tanh(x) ** 2)

    x, v = jnp.array([0.3, -0.2]), jnp.array([1.0, 2.0])
    whole = hessian(f)(x) @ v
    close(jvp(grad(f), (x,), (v,))[1], whole)
    close(grad(lambda x: jnp.vdot(grad(f)(x), v))(x), whole)
    close(grad(lambda x: jvp(f, (x,), (v,))[1])(x), whole)


# -- vmap ------------------------------------------------------------------------------------------


def test_vmap_maps_over_axes_of_containers():
    x = jnp.arange(6.0).reshape(2, 3)
    assert vmap(jnp.sum)(x).tolist() == [3.0, 12.0]
    assert vmap(jnp.sum, in_axes=1)(x).tolist() == [3.0, 5.0, 7.0]
    assert vmap(lambda v: v, in_axes=-1, out_axes=-1)(x).shape == (2, 3)
    made = vmap(lambda p, y: p["w"] * y + p["b"], in_axes=({"w": 0, "b": None}, None))(
        {"w": jnp.arange(3.0), "b": 1.0}, 2
    )
    assert made.tolist() == [1.0, 3.0, 5.0]
    assert vmap(lambda v, k: v * k)(jnp.ones(3), k=jnp.arange(3)).tolist() == [0.0, 1.0, 2.0]
    both = vmap(lambda v: {"v": v, "c": 1}, out_axes={"v": 0, "c": None})(jnp.arange(2))
    assert (both["v"].tolist(), both["c"]) == ([0, 1], 1)
    assert vmap(lambda: 1.0, axis_size=3)().tolist() == [1.0, 1.0, 1.0]


def test_gradients_of_each_example():
    def loss(w, x, y):
        return (x @ w - y) ** 2

    w, xs, ys = jnp.ones(2), jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([1.0, 2.0])
    assert vmap(grad(loss), in_axes=(None, 0, 0))(w, xs, ys).tolist() == [[4.0, 8.0], [30.0, 40.0]]


def test_what_cannot_be_mapped_is_refused_in_jaxs_words():
    ones = jnp.ones(3)
    with pytest.raises(
        ValueError, match=r"one axis had size 3: axis 0 of argument a of type float32\[3\]"
    ):
        vmap(lambda a, b: a + b)(ones, jnp.ones(2))
    with pytest.raises(ValueError, match="rank should be at least 1, but is only 0"):
        vmap(square)(3.0)
    with pytest.raises(ValueError, match=r"len\(in_axes\)=2, len\(args\)=1"):
        vmap(square, in_axes=(0, 0))(ones)
    with pytest.raises(ValueError, match="at least one non-None value in in_axes"):
        vmap(square, in_axes=None)(ones)
    with pytest.raises(TypeError, match="vmap in_axes must be an int, None, or a tuple"):
        vmap(square, in_axes="a")(ones)
    with pytest.raises(ValueError, match="tree prefix"):
        vmap(lambda p: p["a"], in_axes=({"a": 0, "b": 0},))({"a": ones})
    with pytest.raises(ValueError, match="different pytree metadata"):
        vmap(lambda p: p["a"], in_axes=({"a": 0, "b": None},))({"a": ones, "c": ones})
    with pytest.raises(ValueError, match="different types at key path\n    vmap out_axes"):
        vmap(lambda x: [x, x], out_axes=(0, 0))(ones)
    with pytest.raises(ValueError, match="got axis spec None but output was batched"):
        vmap(square, out_axes=None)(ones)
    with pytest.raises(TypeError, match="not a valid JAX type"):
        vmap(lambda x: "text")(ones)


ORDERED = jnp.asarray([1 + 2j, 1 - 1j, 0.0, 2.0])
OTHERS = jnp.asarray([1 + 1j, 2.0, -1j, 2.0])


@pytest.mark.parametrize(
    "function",
    [jnp.less, jnp.less_equal, jnp.greater_equal, lambda x, y: x > y, jnp.maximum, lax.min],
)
def test_complex_numbers_have_the_same_order_within_a_batch(function):
    expected = function(ORDERED, OTHERS)
    np.testing.assert_array_equal(vmap(function)(ORDERED, OTHERS), expected)
    np.testing.assert_array_equal(jit(vmap(function))(ORDERED, OTHERS), expected)
    primal, _ = jvp(function, (ORDERED, OTHERS), (OTHERS, ORDERED))
    np.testing.assert_array_equal(primal, expected)


@pytest.mark.parametrize("dtype", ["int32", "int8", "float16"])
def test_bits_are_reinterpreted_within_a_batch_without_a_derivative(dtype):
    def bits(x):
        return lax.bitcast_convert_type(x, dtype)

    x = jnp.asarray([[1.0, -2.0, 0.5], [3.0, 4.0, -0.25]])
    np.testing.assert_array_equal(vmap(bits, 1, 1)(x), bits(x))
    np.testing.assert_array_equal(
        vmap(vmap(lambda x: x[None].view(dtype)))(x).ravel(), bits(x).ravel()
    )
    np.testing.assert_array_equal(grad(lambda x: (bits(x).astype(float).sum() * 0 + x).sum())(x), 1)
    primal, tangent = jvp(bits, (x,), (x,))
    np.testing.assert_array_equal(primal, bits(x))
    assert tangent.dtype == (jax.float0 if dtype != "float16" else "float16")
    assert not tangent.astype(float).any() if dtype == "float16" else tangent.shape == primal.shape


def test_a_program_cannot_decide_by_what_differs_within_a_batch():
    xs = jnp.arange(3.0)
    with pytest.raises(jax.errors.TracerBoolConversionError, match=r"jnp\.where"):
        vmap(lambda x: x if x > 1 else 0 * x)(xs)
    with pytest.raises(jax.errors.ConcretizationTypeError, match="Abstract tracer value"):
        vmap(lambda x: float(x))(xs)
    with pytest.raises(jax.errors.TracerIntegerConversionError):
        vmap(lambda i: range(10)[i])(jnp.arange(3))
    assert issubclass(jax.errors.TracerBoolConversionError, TypeError)
    assert grad(lambda x: x if x > 1 else 0 * x)(2.0) == 1.0  # known there


def test_sums_over_a_named_axis():
    xs = jnp.arange(1.0, 4.0)
    close(vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(xs), np.array([1, 2, 3]) / 6)
    assert vmap(lambda x: lax.pmean(x, "i"), axis_name="i")(xs).tolist() == [2.0] * 3
    assert vmap(lambda x: lax.axis_index("i"), axis_name="i")(xs).tolist() == [0, 1, 2]
    assert vmap(lambda x: lax.axis_size("i"), axis_name="i")(xs).tolist() == [3, 3, 3]
    assert vmap(lambda x: lax.all_gather(x, "i"), axis_name="i")(xs).shape == (3, 3)
    shifted = vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")(xs)
    assert shifted.tolist() == [0.0, 1.0, 2.0]
    nested = vmap(vmap(lambda x: lax.psum(x, "i"), axis_name="j"), axis_name="i")
    assert nested(jnp.arange(4.0).reshape(2, 2)).tolist() == [[2.0, 4.0], [2.0, 4.0]]
    with pytest.raises(NameError, match="unbound axis name: i"):
        lax.psum(1.0, "i")


def test_sums_over_a_named_axis_are_differentiated():
    def spread(xs):
        return vmap(lambda x: (x - lax.pmean(x, "b")) ** 2, axis_name="b")(xs).sum()

    close(grad(spread)(jnp.array([1.0, 2.0, 6.0])), [-4.0, -2.0, 6.0])


# -- jit and its like ------------------------------------------------------------------------------


def test_jit_makes_arrays_of_arguments_and_results():
    assert repr(jit(square)(3)) == "Array(9, dtype=int32, weak_type=True)"
    assert repr(jit(lambda x: x)([1, (2.0, None)])) == (
        "[Array(1, dtype=int32, weak_type=True), (Array(2., dtype=float32, weak_type=True), None)]"
    )
    assert isinstance(jit(lambda: 1)(), jax.Array)


def test_jit_is_a_decorator_with_and_without_arguments():
    @jit
    def plain(x):
        """Twice."""
        return 2 * x

    @jit(static_argnames="n")
    def named(x, n):
        return [x] * n

    class Model:
        @jit
        def double(self, x):
            return 2 * x

    assert plain(2.0) == 4.0
    assert plain.__doc__ == "Twice."
    assert len(named(1.0, 3)) == len(named(1.0, n=3)) == 3
    assert grad(plain)(1.0) == 2.0
    with pytest.raises(TypeError, match="Error interpreting argument"):
        Model().double(1.0)


def test_jit_refuses_what_jax_does():
    with pytest.raises(
        TypeError, match=r"Error interpreting argument to .* passed to the function at path s"
    ):
        jit(lambda x, s: x)(1, "a")
    with pytest.raises(ValueError, match="Non-hashable static arguments"):
        jit(lambda x, s: x, static_argnums=1)(1, [1])
    with pytest.raises(TypeError, match="returned a value of type <class 'str'>"):
        jit(lambda x: "a")(1)
    with pytest.raises(ValueError, match="invalid argnames"):
        jit(square, static_argnames="n")
    with pytest.raises(ValueError, match="number of devices, is 1"):
        jax.pmap(square)(jnp.ones(2))


def test_pmap_maps_over_the_one_device():
    ones = jnp.ones((1, 3))
    scaled = jax.pmap(
        lambda n, x, y: (n * x + y + jax.lax.psum(x, "i"), x),
        "i",
        in_axes=(None, 0, None),
        static_broadcasted_argnums=0,
    )
    first, second = scaled(3, ones, 2.0)
    assert first.tolist() == [[6.0] * 3] and second.tolist() == ones.tolist()
    slopes = grad(lambda x: jax.pmap(lambda x: x**3)(x).sum())(2 * ones)
    assert slopes.tolist() == [[12.0] * 3]


def test_the_operations_of_a_function_are_listed():
    listing = jax.make_jaxpr(lambda x, n: (jnp.sin(x) * 2.0, n))(jnp.arange(3.0), 1)
    assert repr(listing) == (
        "{ lambda ; a:f32[3] b:i32[]. let\n"
        "    c:f32[3] = sin a\n"
        "    d:f32[3] = mul c 2.0\n"
        "  in (d, b) }"
    )
    assert len(listing.eqns) == 2
    assert repr(listing.out_avals[0]) == "ShapedArray(float32[3])"
    used = jnp.ones(2)
    assert repr(jax.make_jaxpr(lambda x: x + used)(jnp.zeros(2))) == (
        "{ lambda b:f32[2]; a:f32[2]. let c:f32[2] = add a b in (c,) }"
    )
    assert "cos a" in repr(jax.make_jaxpr(grad(jnp.sin))(1.0))
    assert jax.make_jaxpr(lambda x, s: x, static_argnums=1)(1, "text").eqns == []


def test_checkpointed_functions_are_called_again_by_the_backward_pass():
    calls = deque()  # unlike a list, it shows each call

    @jax.checkpoint
    def f(x):
        calls.append(1)
        return jnp.sin(x) * x

    close(grad(f)(1.0), np.sin(1) + np.cos(1))
    assert len(calls) == 2
    close(grad(grad(f))(1.0), 2 * np.cos(1) - np.sin(1))
    close(jax.remat(jnp.sin, policy=None)(1.0), np.sin(1))


def test_shapes_without_values():
    made = jax.eval_shape(
        lambda p: {"y": p["w"] @ p["x"]},
        {
            "w": jax.ShapeDtypeStruct((2, 3), "float32"),
            "x": jnp.ones(3),
        },
    )
    assert repr(made["y"]) == "ShapeDtypeStruct(shape=(2,), dtype=float32)"
    assert repr(jax.typeof(1.0)) == "ShapedArray(float32[], weak_type=True)"


# -- callbacks -------------------------------------------------------------------------------------


def test_values_are_printed_from_within(capsys):
    def f(x):
        jax.debug.print("x is {x}, {}", 1, x=x)
        return x**2

    grad(f)(3.0)
    vmap(f)(jnp.arange(2.0))
    assert capsys.readouterr().out == "x is 3.0, 1\nx is 0.0, 1\nx is 1.0, 1\n"
    with pytest.raises(ValueError, match="Unused arguments"):
        jax.debug.print("x", 1)


def test_numpys_functions_by_callback():
    shape = jax.ShapeDtypeStruct((), jnp.float32)
    close(jax.pure_callback(np.sin, shape, 1.0), np.sin(1))
    for method in ("sequential", "expand_dims", "broadcast_all"):
        mapped = vmap(lambda x, m=method: jax.pure_callback(np.sin, shape, x, vmap_method=m))
        close(mapped(jnp.arange(3.0)), np.sin(np.arange(3.0)))
    with pytest.raises(ValueError, match="Pure callbacks do not support JVP"):
        grad(lambda x: jax.pure_callback(np.sin, shape, x))(1.0)
    with pytest.raises(ValueError, match="announced by result_shape_dtypes"):
        jax.pure_callback(lambda x: np.ones(2), shape, 1.0)


def test_segments_are_reduced():
    ids = jnp.array([0, 0, 1, 4])
    x = jnp.arange(4.0)
    assert jax.ops.segment_sum(x, ids, 3).tolist() == [1.0, 2.0, 0.0]
    assert jax.ops.segment_max(x, ids).tolist() == [1.0, 2.0, -np.inf, -np.inf, 3.0]
    assert jax.ops.segment_prod(x, ids, 2).tolist() == [0.0, 2.0]
    assert grad(lambda x: jax.ops.segment_sum(x**2, ids, 3)[0])(x).tolist() == [0, 2, 0, 0]


def test_values_that_escape_a_transform_cannot_be_used():
    kept = []
    vmap(lambda x: kept.append(x) or x)(jnp.arange(3.0))
    with pytest.raises(Exception, match=r"ended|level|transform"):
        kept[0] + 1


COLLECTIVES = {
    "psum": lambda b: lax.psum(b * b, "i"),
    "psum of one": lambda b: b * lax.psum(b, "i"),
    "pmean": lambda b: lax.pmean(b * b, "i"),
    "pmax": lambda b: lax.pmax(b * b, "i"),
    "all_gather": lambda b: lax.all_gather(b * b, "i").sum(),
}


@pytest.mark.parametrize("name", COLLECTIVES)
@pytest.mark.parametrize("transform", [jax.grad, jax.jacrev])
def test_collectives_are_not_differentiated_in_reverse_inside_of_their_vmap(name, transform):
    xs = jnp.array([1.0, 2.0, 3.0])
    f = COLLECTIVES[name]
    with pytest.raises(NotImplementedError, match="differentiate outside"):
        vmap(transform(f), axis_name="i")(xs)

    # from outside, and forwards, they are sums
    def total(xs):
        return vmap(f, axis_name="i")(xs).sum()

    t = jnp.array([0.5, -1.0, 2.0])
    forwards = vmap(lambda x, t: jax.jvp(f, (x,), (t,))[1], axis_name="i")(xs, t).sum()
    close(transform(total)(xs) @ t, forwards)
    ring = [(0, 1), (1, 2), (2, 0)]
    sent = vmap(jax.grad(lambda b: b * lax.ppermute(b, "i", ring)), axis_name="i")
    close(sent(xs), np.array([3 + 2, 1 + 3, 2 + 1]))


@pytest.mark.parametrize(
    "function", [jnp.sin, jnp.abs, jnp.sort, lambda x: x * x, lambda x: jnp.maximum(x, 0)]
)
def test_only_linear_functions_are_transposed(function):
    with pytest.raises(NotImplementedError, match="Transpose rule"):
        jax.linear_transpose(function, jnp.arange(3.0))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "complex64"])
@pytest.mark.parametrize(
    "function",
    [lambda x: 3 * x + 1, jnp.cumsum, lambda x: jnp.fft.fft(x.astype(complex)), jnp.flip],
)
def test_linear_functions_are_transposed_in_every_dtype(function, dtype):
    x = jnp.arange(5).astype(dtype)
    output, pull = vjp(function, x)
    (found,) = jax.linear_transpose(function, x)(jnp.ones_like(output))
    close(found.astype(complex), pull(jnp.ones_like(output))[0].astype(complex))


@pytest.mark.parametrize(
    ("fun", "primal", "cotangent", "message"),
    [
        (lambda x: x * 2.0, 1, 1.0, "only supports"),
        (lambda x: [x, x], 1.0, 1.0, "cotangent tree does not match"),
        (lambda x: 1j * x, 1.0, 1.0, "cotangent type does not match"),
    ],
)
def test_transposes_check_their_types(fun, primal, cotangent, message):
    with pytest.raises(TypeError, match=message):
        jax.linear_transpose(fun, primal)(cotangent)


def test_what_a_linearized_function_returns_beside_is_followed_no_more():
    place = jnp.array([1.0, 2.0])
    _, slope, (x, total) = jax.linearize(lambda x: (x**2, (x, x.sum())), place, has_aux=True)
    assert np.asarray(x).tolist() == [1.0, 2.0] and float(total) == 3
    assert slope(place).tolist() == [2.0, 8.0]

    def outer(z):
        _, slope, aux = jax.linearize(lambda x: (x**2 * z, x * z), 3.0, has_aux=True)
        return aux * slope(1.0)

    assert grad(outer)(2.0) == 72


def test_linearized_functions_refuse_other_tangents():
    for primal, tangent in ((1.0, 1), (jnp.arange(3), jnp.ones(3)), (jnp.ones(2), jnp.ones(3))):
        with pytest.raises(ValueError, match="inconsistent with the original primal values"):
            jax.linearize(lambda x: x, primal)[1](tangent)


def test_forward_and_backward_passes_are_functions():
    fwd, bwd = jax.fwd_and_bwd(lambda x, y: (x * y, x), argnums=(1, 0))
    output, residuals = fwd(2.0, 5.0)
    assert output == (10.0, 2.0)
    assert bwd(residuals, (1.0, 3.0)) == (2.0, 8.0)


def test_vmap_says_which_sizes_differ():
    message = (
        r"\* most axes \(2 of them\) had size 2, e.g. axis 0 of argument a\[0\] of type "
        r"float32\[2\];\n  \* one axis had size 3: axis 0 of kwargs\['b'\] of type float32\[3\]"
    )
    with pytest.raises(ValueError, match=message):
        jax.vmap(lambda a, b: b)((jnp.ones(2), jnp.ones(2)), b=jnp.ones(3))
    for axes in (False, {"a": 0}):
        with pytest.raises(TypeError, match="must be an int, None, or a tuple"):
            jax.vmap(lambda a: a, in_axes=axes)
    assert jax.vmap(jnp.sin).__doc__.startswith("Vectorized version of sin.")


def test_functions_whose_names_are_no_text_are_transformed():
    class Mean:
        def __getattr__(self, name):
            return 3

        def __call__(self, x):
            return 2 * x

    assert jax.vmap(Mean())(jnp.arange(2.0)).tolist() == [0, 2]
    assert jax.grad(Mean())(1.0) == 2 and jax.jit(Mean())(1.0) == 2
    assert jax.value_and_grad(jax.checkpoint(Mean()))(1.0)[1] == 2
