"""Test `custom_jvp`, `custom_vjp` and `custom_gradient`: when rules run, and their results."""

import collections
import functools

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax import custom_gradient, custom_jvp, custom_vjp, grad, jvp, lax, vjp, vmap
from wengert.compat.jax.test_util import check_grads

Point = collections.namedtuple("Point", ["x", "y"])


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


@custom_jvp
def softplus(x):
    return jnp.log1p(jnp.exp(x))


@softplus.defjvp
def softplus_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return softplus(x), (1 - 1 / (1 + jnp.exp(x))) * t


@custom_vjp
def product(x, y):
    return jnp.sin(x) * y


def product_fwd(x, y):
    return product(x, y), (jnp.cos(x), jnp.sin(x), y)


def product_bwd(kept, g):
    cos_x, sin_x, y = kept
    return cos_x * g * y, sin_x * g


product.defvjp(product_fwd, product_bwd)


# -- custom_jvp ------------------------------------------------------------------------------------


def test_a_forward_rule_counts_in_both_modes_and_at_every_order():
    assert grad(softplus)(100.0) == 1.0
    close(jvp(softplus, (1.0,), (2.0,))[1], 2 / (1 + np.exp(-1)))
    xs = jnp.arange(3.0)
    slopes = 1 / (1 + np.exp(-np.arange(3.0)))
    close(vmap(grad(softplus))(xs), slopes)
    close(vmap(grad(grad(softplus)))(xs), slopes * (1 - slopes))
    close(jax.hessian(lambda x: softplus(x).sum())(xs), np.diag(slopes * (1 - slopes)))
    close(jax.jit(jax.jacfwd(softplus))(xs), np.diag(slopes))


def test_a_rule_for_each_argument():
    @custom_jvp
    def f(x, y, z):
        return x * y * z

    f.defjvps(lambda t, out, x, y, z: 10 * t, None, lambda t, out, x, y, z: out * t)
    assert f(2.0, 3.0, 4.0) == 24.0
    assert grad(f, (0, 1, 2))(2.0, 3.0, 4.0) == (10.0, 0.0, 24.0)


def test_arguments_without_a_derivative_come_first():
    @functools.partial(custom_jvp, nondiff_argnums=(0, 2))
    def apply(f, x, g):
        return f(g(x))

    @apply.defjvp
    def rule(f, g, primals, tangents):
        (x,), (t,) = primals, tangents
        return f(g(x)), 3.0 * t

    assert apply(lambda x: x**3, 2.0, lambda x: 5 * x) == 1000.0
    assert grad(apply, 1)(lambda x: x**3, 2.0, lambda x: 5 * x) == 3.0


def test_rules_over_containers():
    @custom_jvp
    def f(point):
        return {"a": point.x**2, "b": (jnp.sin(point.x), jnp.cos(point.y))}

    @f.defjvp
    def rule(primals, tangents):
        (p,), (t,) = primals, tangents
        assert isinstance(p, Point) and isinstance(t, Point)
        return f(p), {
            "a": 2 * p.x * t.x,
            "b": (jnp.cos(p.x) * t.x, -jnp.sin(p.y) * t.y),
        }

    slope = grad(lambda p: f(p)["a"] + f(p)["b"][0])(Point(1.0, 2.0))
    close(slope.x, 2 + np.cos(1))
    close(slope.y, 0.0)


def test_forward_rules_that_do_not_fit_are_refused():
    def with_rule(rule):
        f = custom_jvp(lambda x: 2 * x)
        f.__name__ = "f"
        f.defjvp(rule)
        return f

    with pytest.raises(TypeError, match="must produce a pair"):
        grad(with_rule(lambda primals, tangents: primals[0]))(1.0)
    with pytest.raises(TypeError, match="equal container \\(pytree\\) structures"):
        grad(with_rule(lambda primals, tangents: (primals[0], (tangents[0],))))(1.0)
    with pytest.raises(TypeError, match="corresponding shapes and dtypes"):
        grad(with_rule(lambda primals, tangents: (primals[0], jnp.ones(2) * tangents[0])))(1.0)
    with pytest.raises(AttributeError, match="No JVP defined for custom_jvp function <lambda>"):
        custom_jvp(lambda x: x)(1.0)
    with pytest.raises(TypeError, match="Can't use ``defjvps``"):
        custom_jvp(lambda x: x, nondiff_argnums=(0,)).defjvps(None)


# -- custom_vjp ------------------------------------------------------------------------------------


def test_a_reverse_rule_counts_at_every_order():
    close(grad(product, (0, 1))(2.0, 3.0), (3 * np.cos(2), np.sin(2)))
    close(vmap(grad(product), in_axes=(0, None))(jnp.arange(3.0), 3.0), 3 * np.cos(np.arange(3)))
    close(grad(grad(product))(2.0, 3.0), -3 * np.sin(2))
    close(vjp(product, 2.0, 3.0)[1](2.0)[1], 2 * np.sin(2))
    threes = jnp.full(2, 3.0)
    close(jax.jacrev(product)(jnp.arange(2.0), threes), np.diag(3 * np.cos(np.arange(2))))


def test_forward_mode_transposes_a_reverse_rule():
    close(jvp(product, (2.0, 3.0), (1.0, 0.0))[1], 3 * np.cos(2))
    close(jax.jacfwd(product, 1)(2.0, 3.0), np.sin(2))


def test_rules_run_only_where_a_derivative_is_followed():
    calls = []

    @custom_vjp
    def f(x):
        calls.append("f")
        return x

    f.defvjp(
        lambda x: (calls.append("fwd"), (x, None))[1],
        lambda kept, g: (calls.append("bwd"), (g,))[1],
    )
    f(1.0)
    vmap(f)(jnp.ones(2))
    assert calls == ["f", "f"]
    del calls[:]
    grad(f)(1.0)
    assert calls == ["fwd", "bwd"]


def test_none_stands_for_a_gradient_of_zero():
    @custom_vjp
    def clipped(low, high, x):
        return x

    clipped.defvjp(
        lambda low, high, x: (x, (low, high)),
        lambda kept, g: (None, None, jnp.clip(g, *kept)),
    )
    assert grad(lambda low, x: 5 * clipped(low, 1.0, x), (0, 1))(-1.0, 2.0) == (0.0, 1.0)
    assert vmap(grad(lambda x: 5 * clipped(-1.0, 1.0, x)))(jnp.ones(2)).tolist() == [1.0, 1.0]


def test_whole_numbers_and_defaults_among_the_arguments():
    @custom_vjp
    def scaled(x, n=3):
        return x * n

    scaled.defvjp(lambda x, n: (x * n, n), lambda n, g: (10 * g * n, None))
    assert grad(scaled)(2.0) == 30.0
    assert grad(scaled)(2.0, n=4) == 40.0
    assert grad(lambda x: scaled(x=x, n=2))(2.0) == 20.0


def test_complex_cotangents_have_jaxs_convention():
    seen = []

    @custom_vjp
    def f(z):
        return z**2

    def backward(z, g):
        seen.append(g)
        return (2 * z * g,)

    f.defvjp(lambda z: (z**2, z), backward)
    assert vjp(f, 3 + 4j)[1](1j) == (-8 + 6j,)
    assert seen == [1j]
    assert grad(f, holomorphic=True)(3 + 4j) == 6 + 8j
    assert grad(lambda z: jnp.abs(f(z)))(3 + 0j) == 6.0


def test_reverse_rules_that_do_not_fit_are_refused():
    def with_rule(bwd, fwd=lambda x, y: (x * y, None)):
        f = custom_vjp(lambda x, y: x * y)
        f.defvjp(fwd, bwd)
        return f

    with pytest.raises(
        TypeError, match=r"structure PyTreeDef\(\(\*,\)\) for primal input structure"
    ):
        grad(with_rule(lambda kept, g: (g,)))(1.0, 2.0)
    with pytest.raises(TypeError, match="same container"):
        grad(with_rule(lambda kept, g: ((g,), g)))(1.0, 2.0)
    with pytest.raises(ValueError, match=r"type float32\[2\] corresponding to an input"):
        grad(with_rule(lambda kept, g: (jnp.ones(2), g)))(1.0, 2.0)
    with pytest.raises(TypeError, match="must produce a pair"):
        grad(with_rule(lambda kept, g: (g, g), fwd=lambda x, y: x))(1.0, 2.0)
    with pytest.raises(AttributeError, match="No VJP defined for custom_vjp function"):
        custom_vjp(lambda x: x)(1.0)
    with pytest.raises(TypeError, match="could not be resolved to positions: x"):
        with_rule(lambda kept, g: (g, g)).__class__(lambda *, x: x)._positional((), {"x": 1.0})


def test_derivatives_of_a_fixed_point():
    def iterated(f, a, guess):
        def unfinished(carry):
            before, x = carry
            return jnp.abs(before - x) > 1e-6

        return lax.while_loop(unfinished, lambda c: (c[1], f(a, c[1])), (guess, f(a, guess)))[1]

    fixed_point = functools.partial(custom_vjp, nondiff_argnums=(0,))(iterated)

    def forward(f, a, guess):
        x = fixed_point(f, a, guess)
        return x, (a, x)

    def backward(f, kept, g):
        a, x = kept
        _, pull_x = vjp(lambda x: f(a, x), x)
        u = iterated(lambda g, u: g + pull_x(u)[0], g, g)
        _, pull_a = vjp(lambda a: f(a, x), a)
        return pull_a(u)[0], jnp.zeros_like(x)

    fixed_point.defvjp(forward, backward)

    def root(a):
        return fixed_point(lambda a, x: 0.5 * (x + a / x), a, a)

    close(root(2.0), np.sqrt(2))
    close(grad(root)(2.0), 0.5 / np.sqrt(2))


# -- others ----------------------------------------------------------------------------------------


def test_values_with_their_rule():
    @custom_gradient
    def f(x, y):
        return x * y, lambda g: (2 * g * x, 3 * g * y)

    assert f(3.0, 5.0) == 15.0
    assert grad(f, (0, 1))(3.0, 5.0) == (6.0, 15.0)

    @custom_gradient
    def one(x):
        return x, lambda g: g * 7

    assert grad(one)(1.0) == 7.0


def test_what_a_function_uses_becomes_arguments():
    @functools.partial(custom_vjp, nondiff_argnums=(0,))
    def call(f, x, *used):
        return f(x, *used)

    call.defvjp(
        lambda f, x, *used: (f(x, *used), (x, used)),
        lambda f, kept, g: vjp(f, kept[0], *kept[1])[1](g),
    )

    def outer(a):
        converted, used = jax.closure_convert(lambda x: jnp.sin(a * x), 2.0)
        assert len(used) == 1
        return call(converted, 2.0, *used)

    close(grad(outer)(3.0), 2 * np.cos(6.0))


def test_a_linear_function_keeps_its_graph_when_its_arrays_are_replaced():
    _, push = jax.linearize(lambda y: y**2 - 2.0, jnp.array(3.0))
    _, pull = vjp(lambda y: y**2 - 2.0, jnp.array(3.0))
    for linear in (push, lambda t: pull(t)[0]):
        converted, used = jax.closure_convert(linear, 1.0)
        assert converted(2.0, *map(lax.stop_gradient, used)) == 12.0
        listed = jax.make_jaxpr(linear)(1.0)
        (result,) = jax.core.eval_jaxpr(listed, map(lax.stop_gradient, listed.consts), 2.0)
        assert result == 12.0


def test_a_straight_through_estimator():
    def rounded(x):
        zero = x - lax.stop_gradient(x)
        return zero + lax.stop_gradient(jnp.round(x))

    assert (rounded(3.2), grad(rounded)(3.2), grad(jnp.round)(3.2)) == (3.0, 1.0, 0.0)


def test_derivatives_are_compared_with_differences():
    check_grads(lambda w, b: jnp.tanh(w @ b).sum(), (0.3 * jnp.ones((2, 3)), jnp.arange(3.0)), 2)
    check_grads(product, (2.0, 3.0), order=2)
    check_grads(lambda z: z**2 * (2 + 1j), (1 + 2j,), order=1)
    check_grads(lambda p, n: p["a"] * n, ({"a": 2.0}, 3), order=2)
    wrong = custom_vjp(lambda x: x**2)
    wrong.defvjp(lambda x: (x**2, x), lambda x, g: (g * x,))
    with pytest.raises(AssertionError, match="VJP cotangent projection"):
        check_grads(wrong, (2.0,), order=1, modes=("rev",))
    with pytest.raises(ValueError, match="modes are 'fwd' and 'rev'"):
        check_grads(product, (2.0, 3.0), 1, modes=("both",))


def test_rules_may_leave_for_numpy():
    @custom_vjp
    def by_numpy(x):
        return jnp.asarray(np.sin(np.asarray(x)))

    by_numpy.defvjp(
        lambda x: (by_numpy(x), x),
        lambda x, g: (jnp.asarray(np.cos(np.asarray(x)) * np.asarray(g)),),
    )
    close(grad(lambda x: by_numpy(x).sum())(jnp.arange(3.0)), np.cos(np.arange(3)))


def test_a_callback_with_a_rule():
    shape = jax.ShapeDtypeStruct((), jnp.float32)

    @custom_jvp
    def sine(x):
        return jax.pure_callback(np.sin, shape, x, vmap_method="expand_dims")

    sine.defjvps(lambda t, out, x: jnp.cos(x) * t)
    close(grad(sine)(1.0), np.cos(1))
    close(vmap(grad(sine))(jnp.arange(3.0)), np.cos(np.arange(3)))


def test_a_rule_closes_over_what_is_differentiated_by():
    def f(y):
        g = custom_vjp(lambda x: 2 * jnp.sin(x))
        g.defvjp(lambda x: (g(x), ()), lambda _, t: (2 * jnp.cos(y) * t,))
        return grad(g)(1.0)

    slope = -2 * np.sin(4.0)
    close(f(4.0), 2 * np.cos(4.0))
    close(grad(f)(4.0), slope)
    close(jax.jvp(f, (4.0,), (1.0,))[1], slope)
    close(vmap(f)(jnp.array([4.0, 1.0])), 2 * np.cos([4.0, 1.0]))
    close(vmap(grad(f))(jnp.array([4.0, 1.0])), -2 * np.sin([4.0, 1.0]))


def test_a_reverse_rule_may_return_a_list():
    @jax.custom_vjp
    def product(x, y):
        return x * y

    product.defvjp(lambda x, y: (x * y, (x, y)), lambda kept, g: [g * kept[1], 2 * g * kept[0]])
    assert [float(part) for part in grad(product, argnums=(0, 1))(2.0, 3.0)] == [3.0, 4.0]


@pytest.mark.parametrize("kind", [jax.custom_vjp, jax.custom_jvp])
def test_rules_that_close_over_values_of_a_transform_follow_it(kind):
    ys = jnp.array([0.5, -1.0, 2.0])

    def ruled(slope, cos=jnp.cos):
        """The cosine with another slope."""
        f = kind(cos)
        if kind is jax.custom_vjp:
            f.defvjp(lambda x: (cos(x), None), lambda _, g: (g * slope,))
        else:
            f.defjvp(lambda primals, tangents: (cos(*primals), tangents[0] * slope))
        return f

    def mapped(x):
        return jax.vmap(lambda y: ruled(y)(x))(ys)

    # the argument is not part of the batch
    assert grad(lambda x: mapped(x).sum())(2.0) == 1.5
    # and the value does not depend on it
    same = grad(lambda x: jax.vmap(lambda y: ruled(y, lambda _: jnp.cos(1.0))(x))(ys).sum())
    assert same(2.0) == 1.5
    assert jax.jvp(mapped, (2.0,), (1.0,))[1].tolist() == ys.tolist()
    assert jax.jacrev(mapped)(2.0).tolist() == ys.tolist()
    assert jax.vmap(lambda y: grad(ruled(y))(2.0))(ys).tolist() == ys.tolist()
    # nor does it have the tangent
    slopes = [lambda y: grad(ruled(y))(2.0)]
    if kind is jax.custom_jvp:
        slopes.append(lambda y: jax.jvp(ruled(y), (2.0,), (1.0,))[1])
    for slope in slopes:
        assert [float(part) for part in jax.jvp(slope, (3.0,), (1.0,))] == [3.0, 1.0]
        assert grad(slope)(3.0) == 1.0


def test_a_rule_may_give_the_function_its_tangent():
    div = jax.custom_jvp(lambda x, y: x / y)
    div.defjvp(lambda primals, tangents: (div(*primals), div(tangents[0], primals[1])))
    assert jax.vjp(lambda x: div(x, 2.0), 1.0)[1](1.0)[0] == 0.5
    negative = jax.custom_jvp(lambda x: -x)
    negative.defjvp(lambda primals, tangents: (negative(*primals), negative(*tangents)))
    assert jax.grad(jax.grad(lambda x: negative(x) * x))(3.0) == -2.0


def test_outputs_of_rules_are_checked_against_the_function():
    f = jax.custom_jvp(lambda x: x)
    f.defjvp(lambda primals, tangents: ((primals[0], primals[0]), (tangents[0], tangents[0])))
    with pytest.raises(TypeError, match=r"structure:\n    \(float32\[\], float32\[\]\)\nwhile"):
        jax.jvp(f, (1.0,), (1.0,))
    f.defjvp(lambda primals, tangents: (jnp.zeros(3), tangents[0]))
    with pytest.raises(TypeError, match=r"shapes/dtypes of:\n    float32\[3\]\nwhile"):
        jax.jvp(f, (1.0,), (1.0,))


def test_whole_outputs_have_tangents_without_bytes():
    f = jax.custom_jvp(lambda x, y: (x, y))
    zero = jax.custom_derivatives.zero_from_primal
    f.defjvp(lambda primals, _: (tuple(primals), (2.0, zero(primals[1]))))
    _, (slope, none) = jax.jvp(f, (2.0, 3), (1.0, np.zeros((), jax.float0)))
    assert slope == 2.0
    assert none.dtype == jax.float0


def test_arguments_that_have_no_position_are_refused():
    @jax.custom_jvp
    def f(x, y, *, z=None):
        return x * y

    f.defjvp(lambda primals, tangents: None)
    with pytest.raises(TypeError, match=r"custom_jvp-decorated.*\n.*missing a required argument"):
        f(0.5)
    with pytest.raises(TypeError, match=r"\nThe following keyword arguments could .*: z"):
        f(0.5, 0.1, z=1.0)


def test_rules_that_apply_their_function_to_one_of_two_outputs():
    @jax.custom_jvp
    def double(x):
        return 2 * x

    double.defjvp(lambda primals, tangents: (double(*primals), double(*tangents)))

    def product(x):
        q, r = jnp.linalg.qr(x)
        return jnp.sum(double(q) * r)

    x = jnp.array([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_allclose(jax.grad(product)(x), 2 * np.eye(2), atol=1e-4)


def test_reverse_rules_are_told_which_cotangents_are_zero():
    seen = []
    f = jax.custom_vjp(lambda x, y: (x * 2, y * 3))

    def fwd(x, y):
        seen.append((x.perturbed, y.perturbed))
        return f(x.value, y.value), None

    def bwd(_, cotangents):
        zero = jax.custom_derivatives.SymbolicZero
        seen.append(tuple(isinstance(cotangent, zero) for cotangent in cotangents))
        return cotangents[0] * 2, None

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    grad = jax.grad(lambda x: jnp.sum(jax.vmap(f)(x, jnp.ones(2))[0]))
    assert grad(jnp.ones(2)).tolist() == [2, 2]
    assert seen[0] == (True, False)
    assert seen[-1] == (False, True)


def test_gradients_of_a_rule_may_be_a_prefix_of_the_arguments():
    f = jax.custom_vjp(lambda pair, y: pair["a"] * y + pair["b"][0])
    f.defvjp(lambda pair, y: (f(pair, y), None), lambda _, g: [10 * g, None])
    grads = jax.grad(f, argnums=(0, 1))({"a": 2.0, "b": (3.0,)}, 4.0)
    assert grads == ({"a": 10.0, "b": (10.0,)}, 0.0)


def test_linear_calls_have_transposes_of_their_own():
    linear_call = jax.custom_derivatives.linear_call

    def f(x):
        return linear_call(lambda r, x: x / r, lambda r, t: 10 * t / r, 4.0, x)

    slope = jax.linear_transpose(f, 1.0)
    assert slope(2.0) == (5.0,)
    assert jax.linear_transpose(lambda t: slope(t)[0], 1.0)(2.0) == (0.5,)
    assert jax.jit(f)(2.0) == 0.5
    with pytest.raises(TypeError, match="transpose output pytree"):
        jax.grad(lambda x: linear_call(lambda r, x: x, lambda r, t: (t, t), (), x))(1.0)
    with pytest.raises(NotImplementedError, match="residual_args"):
        jax.grad(lambda r: linear_call(lambda r, x: x / r, lambda r, t: t / r, r, 1.0))(2.0)


def test_batching_rules_see_what_differs_in_values_and_tangents():
    flags = []

    @jax.custom_batching.custom_vmap
    def f(x, y=0.0):
        return jnp.sin(x)

    @f.def_vmap
    def rule(size, batched, x, y):
        flags.append(batched)
        return jnp.cos(x), batched[0]

    x = jnp.arange(3.0)
    assert np.allclose(jax.jacfwd(f)(x), -np.diag(np.sin(x)))
    assert np.allclose(jax.vmap(f)(x=x), np.cos(x))
    assert flags == [[False, False], [True, False]]
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        f(y=1.0)


def test_definitions_of_other_rules_reach_the_function_inside():
    f = jax.custom_vjp(jax.custom_batching.custom_vmap(jnp.sin))
    f.def_vmap(lambda size, batched, x: (jnp.cos(x), True))
    f.defvjp(lambda x: (jnp.sin(x), None), lambda _, g: (7 * g,))
    assert jax.vmap(f)(jnp.zeros(2)).tolist() == [1, 1]
    assert jax.grad(f)(0.0) == 7
    assert not hasattr(f, "def_transpose")


def test_converted_closures_check_their_arguments():
    converted, constants = jax.closure_convert(lambda x: 2 * x, 1.0)
    assert converted(3.0, *constants) == 6.0
    with pytest.raises(TypeError, match="must have the same Pytree structure"):
        converted((3.0,), *constants)


# -- the innermost derivative takes the rule; those around it see what the rule computed with ------


def _partial():
    """x*y, whose rule leaves the tangent of y out."""
    f = custom_jvp(lambda x, y: x * y)
    f.defjvp(lambda p, t: (f(*p), t[0] * p[1]))
    return f


def _rounded():
    f = custom_vjp(lambda x: jnp.round(x))
    f.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (g,))
    return f


def _scaled():
    """sin(x), whose rule computes 3 sin(x) and the derivative 2 cos(x)."""
    f = custom_jvp(jnp.sin)
    f.defjvp(lambda p, t: (3 * jnp.sin(p[0]), 2 * jnp.cos(p[0]) * t[0]))
    return f


@pytest.mark.parametrize("inner", ["jvp", "grad", "vjp", "jacfwd", "jacrev", "linearize"])
@pytest.mark.parametrize("outer", ["jvp", "grad", "vjp", "jacfwd", "jacrev", "linearize"])
def test_a_rule_that_leaves_a_tangent_out_has_the_mixed_derivative_of_its_tangents(outer, inner):
    f, ways = _partial(), DERIVATIVES
    assert ways[outer](lambda y: ways[inner](lambda x: f(x, y))(2.0))(3.0) == 1
    assert ways[outer](lambda x: ways[inner](lambda y: f(x, y))(2.0))(3.0) == 0


@pytest.mark.parametrize("outer", ["jvp", "grad", "vjp", "jacfwd", "jacrev", "linearize"])
@pytest.mark.parametrize("inner", ["grad", "vjp", "jacrev"])
def test_outer_derivatives_see_the_operations_of_the_rule(outer, inner):
    f, g, ways = _rounded(), _scaled(), DERIVATIVES
    second = lambda f: ways[outer](ways[inner](lambda x: f(x) ** 2 * x))(1.3)  # noqa: E731
    close(second(f), 2)
    sin, cos = np.sin(1.3), np.cos(1.3)
    # of 9 sin^2 + 2 x 3 sin 2 cos
    close(second(g), 18 * sin * cos + 12 * (sin * cos + 1.3 * (cos**2 - sin**2)))
    close(vmap(lambda x: ways[outer](ways[inner](lambda x: f(x) ** 2 * x))(x))(jnp.array([1.3])), 2)


DERIVATIVES = {
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (1.0,))[1],
    "grad": grad,
    "vjp": lambda f: lambda x: jax.vjp(f, x)[1](1.0)[0],
    "jacfwd": jax.jacfwd,
    "jacrev": jax.jacrev,
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](1.0),
}


@pytest.mark.parametrize("way", DERIVATIVES)
def test_the_value_under_a_derivative_is_that_of_the_rule(way):
    f = _scaled()
    close(f(1.0), np.sin(1))
    close(DERIVATIVES[way](lambda x: f(x) ** 2)(1.0), 2 * 3 * np.sin(1) * 2 * np.cos(1))


def test_third_derivatives_by_rules():
    f = custom_vjp(lambda x: x**3)
    f.defvjp(lambda x: (f(x), x), lambda x, g: (g * 2 * f(x),))
    close(grad(grad(grad(f)))(1.5), 8 * 1.5**3)
    close(jax.jacfwd(grad(grad(f)))(1.5), 8 * 1.5**3)
    close(grad(jax.checkpoint(grad(jax.checkpoint(f))))(1.5), 4 * 1.5**3)
