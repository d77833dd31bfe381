"""Test that functions of derivatives are pytrees, which compute with the leaves that they have."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import wengert.compat.jax as jax
import wengert.compat.jax.numpy as jnp

X, A = jnp.array([0.5, 1.5]), jnp.array([2.0, 3.0])


def both(fun, *primals):
    """The derivative of a function in the direction of ones, by each way to make it a function."""
    pushed = jax.linearize(fun, *primals)[1]
    pulled = jax.vjp(fun, *primals)[1]
    return [(pushed, lambda f, ones: f(*ones)), (pulled, lambda f, ones: f(ones[0])[0])]


def of_method(a):
    class Scaled:
        def __init__(self, a):
            self.a = a

        def call(self, x):
            return self.a * jnp.sin(x)

    jax.tree_util.register_pytree_node(
        Scaled, lambda value: ((value.a,), None), lambda _, parts: Scaled(*parts)
    )
    return Scaled(a).call


def of_default(a):
    def call(x, a=a):
        return a * jnp.sin(x)

    return call


def of_rule(a):
    @jax.custom_jvp
    def call(x):
        return a * jnp.sin(x)

    call.defjvps(lambda t, _, x: a * jnp.cos(x) * t)
    return call


def of_recursion(a):
    def call(x, turns=1):
        return call(x, turns - 1) if turns else a * jnp.sin(x)

    return call


CLOSURES = [
    lambda a: lambda x: a * jnp.sin(x),
    lambda a: jax.jit(lambda x: a * jnp.sin(x)),
    lambda a: (
        jax.vmap(lambda x, b: b * jnp.sin(x), (0, None))
        and (lambda x: jax.vmap(lambda y, b: b * jnp.sin(y))(x, a))
    ),
    lambda a: functools.partial(lambda b, x: b["a"][0] * jnp.sin(x), {"a": [a]}),
    lambda a: jax.tree_util.Partial(lambda b, x: b * jnp.sin(x), a),
    lambda a: (lambda inner: lambda x: inner(x))(lambda x: a * jnp.sin(x)),
    of_method,
    of_default,
    of_rule,
    of_recursion,
]


@pytest.mark.parametrize("closing", CLOSURES)
def test_other_leaves_are_computed_with(closing):
    for derivative, call in both(closing(A), X):
        leaves, structure = jax.tree.flatten(derivative)
        assert len(leaves) == 2
        for x, a in ((X, A), (X + 1, A), (X, A + 1), (X * 2, A * 3)):
            new = {id(X): x, id(A): a}
            other = structure.unflatten([new[id(leaf)] for leaf in leaves])
            found = call(other, [jnp.ones(2)])
            np.testing.assert_allclose(found, a * np.cos(x), rtol=1e-6)


def test_leaves_that_change_nothing_leave_the_function():
    for derivative, call in both(lambda x: jnp.sin(x), X):
        same = jax.tree.map(lambda leaf: leaf, derivative)
        np.testing.assert_allclose(call(same, [jnp.ones(2)]), np.cos(X), rtol=1e-6)
        assert jax.tree.structure(same) == jax.tree.structure(derivative)


def test_derivatives_are_followed_through_the_leaves():
    a = A
    pull = jax.vjp(lambda x: a * jnp.sin(x), X)[1]
    leaves, structure = jax.tree.flatten(pull)

    def total(scale):
        return structure.unflatten([scale * leaf for leaf in leaves])(jnp.ones(2))[0].sum()

    assert np.isclose(total(1.0), np.sum(A * np.cos(X)))
    slope = np.sum(A * np.cos(X) - A * np.sin(X) * np.asarray(X))
    assert np.isclose(jax.grad(total)(1.0), slope)


def test_variables_that_are_bound_again_are_not_read():
    pulls = []
    for act in (jnp.sin, jnp.cos):
        pulls.append(jax.vjp(lambda x: act(x), X)[1])  # noqa: B023
    first = jax.tree.map(lambda leaf: leaf + 0, pulls[0])
    np.testing.assert_allclose(first(jnp.ones(2))[0], np.cos(X), rtol=1e-6)


@pytest.mark.parametrize("transform", [jax.vjp, jax.linearize])
def test_compiled_functions_return_derivatives_of_what_they_close_over(transform):
    @jax.jit
    def made(a, x):
        return transform(lambda x: a * jnp.sin(x), x)[1]

    for number in (1.0, 2.0, 3.0):
        found = made(jnp.float32(2 * number), jnp.float32(number))(1.0)
        value = found[0] if transform is jax.vjp else found
        np.testing.assert_allclose(value, 2 * number * np.cos(number), rtol=1e-5)


def test_compiled_functions_return_derivatives_of_what_objects_hold():
    class Held:
        pass

    @jax.jit
    def made(a, x):
        held = Held()
        held.a = a * 2
        return jax.vjp(lambda x: held.a * jnp.sin(x), x)[1]

    for number in (1.0, 2.0, 3.0):
        found = made(jnp.float32(number), jnp.float32(number))(1.0)[0]
        np.testing.assert_allclose(found, 2 * number * np.cos(number), rtol=1e-5)


def test_mapped_functions_return_derivatives():
    xs = jnp.arange(3.0)
    pulls = jax.vmap(lambda x: jax.vjp(lambda y: jnp.sin(y) * A, x)[1])(xs)
    found = jax.vmap(lambda pull: pull(jnp.ones(2))[0])(pulls)
    np.testing.assert_allclose(found, 5 * np.cos(np.arange(3.0)), rtol=1e-5)


def test_control_flow_carries_derivatives():
    def pushed(x):
        return jax.linearize(jnp.sin, x)[1]

    def body(state):
        number, push = state
        return number + 1, jax.tree.map(lambda leaf: leaf + 1, push)

    start = jnp.float32(0.5)
    _, last = jax.lax.while_loop(lambda state: state[0] < 3, body, (0, pushed(start)))
    np.testing.assert_allclose(last(jnp.float32(1)), np.cos(3.5), rtol=1e-6)
    _, pushes = jax.lax.scan(lambda c, x: (c, pushed(x)), None, jnp.arange(3.0))
    found = jax.vmap(lambda push: push(jnp.float32(1)))(pushes)
    np.testing.assert_allclose(found, np.cos(np.arange(3.0)), rtol=1e-6)
    push = pushed(start)
    chosen = jax.lax.cond(
        start > 0, lambda push: jax.tree.map(lambda leaf: 2 * leaf, push), lambda push: push, push
    )
    np.testing.assert_allclose(chosen(jnp.float32(1)), np.cos(1), rtol=1e-6)


def test_listings_compute_with_other_constants():
    def listed(a, x):
        push = jax.linearize(lambda x: a * jnp.sin(x), x)[1]
        return jax.make_jaxpr(lambda t: push(t))(x)

    first, second = listed(A, X), listed(A + 1, X + 1)
    assert len(first.consts) == len(second.consts)
    (found,) = jax.core.eval_jaxpr(first.jaxpr, second.consts, jnp.ones(2))
    np.testing.assert_allclose(found, (A + 1) * np.cos(X + 1), rtol=1e-6)


def test_listings_refuse_constants_that_they_cannot_replace():
    class Held:
        def __init__(self):
            self.inside = {"a": [A]}

    held = Held()
    listing = jax.make_jaxpr(lambda x: held.inside["a"][0] * x)(X)
    (found,) = jax.core.eval_jaxpr(listing, [np.array(c) for c in listing.consts], X)
    np.testing.assert_allclose(found, A * X)
    with pytest.raises(NotImplementedError, match="constants"):
        jax.core.eval_jaxpr(listing, [c + 1 for c in listing.consts], X)
    with pytest.raises(ValueError):
        jax.core.eval_jaxpr(listing, [], X)


def test_converted_closures_compute_with_other_constants():
    def total(a):
        both = [a, {"b": a * 2}]
        converted, consts = jax.closure_convert(lambda x: jnp.sin(x) * both[0] * both[1]["b"], 1.0)
        assert len(consts) == 2
        return converted(1.0, *[3 * c for c in consts]), converted(1.0, *consts)

    changed, same = jax.jvp(total, (2.0,), (1.0,))[0]
    assert np.isclose(changed, 9 * same)


def test_transposed_functions_are_trees():
    def transposed(a):
        return jax.linear_transpose(lambda x: a * x, X)

    leaves, structure = jax.tree.flatten(transposed(A))
    other = structure.unflatten([2 * leaf for leaf in leaves])
    np.testing.assert_allclose(other(jnp.ones(2))[0], 2 * A)


def test_transposed_functions_hold_no_outputs():
    a = jnp.array([2.0, 3.0])
    transposed = jax.linear_transpose(lambda x: a * x, X)
    converted = jax.make_jaxpr(transposed)(jnp.ones(2))
    assert len(converted.consts) == len(jax.tree.leaves(transposed)) == 2  # a, and zeros for x


def test_zero_tangents_of_rules_stay_symbolic_inside_other_derivatives():
    symbolic, found = jax.custom_derivatives.SymbolicZero, []
    f = jax.custom_jvp(lambda a, x: a * x)

    def rule(primals, tangents):
        (a, x), (at, xt) = primals, tangents
        known = [isinstance(t, symbolic) for t in tangents]
        found.append(tuple(known))
        return f(a, x), (0 if known[0] else at * x) + (0 if known[1] else a * xt)

    f.defjvp(rule, symbolic_zeros=True)
    assert jax.jvp(lambda a: jax.jvp(lambda x: f(a, x), (2.0,), (1.0,))[1], (3.0,), (1.0,))[1] == 1
    assert {(True, False), (False, True)} <= {*found}


def test_functions_with_rules_are_not_differentiated_themselves():
    inside = jax.custom_jvp(lambda x: x)
    inside.defjvp(lambda primals, tangents: pytest.fail("the rule is asked"))
    outside = jax.custom_jvp(lambda x: inside(x) ** 2)
    outside.defjvps(lambda t, _, x: 2 * x * t)
    assert jax.linearize(outside, 3.0)[1](1.0) == 6.0
    assert jax.hessian(outside)(3.0) == 2.0
    assert jax.linearize(jax.grad(outside), 3.0)[1](1.0) == 2.0
