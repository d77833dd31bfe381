"""Test checkpoint policies, symbolic zeros, batching rules, checks and callbacks."""

from collections import deque

import numpy as np
import pytest

from wengert.compat import jax
from wengert.compat.jax import lax
from wengert.compat.jax import numpy as jnp
from wengert.compat.jax.ad_checkpoint import checkpoint_name, print_saved_residuals
from wengert.compat.jax.custom_batching import custom_vmap, sequential_vmap
from wengert.compat.jax.custom_derivatives import SymbolicZero
from wengert.compat.jax.experimental import checkify, io_callback


@pytest.mark.parametrize(
    "name", ["nothing_saveable", "dots_saveable", "dots_with_no_batch_dims_saveable"]
)
def test_policies_do_not_change_derivatives_where_arguments_are_kept(name):
    # arguments are the same arrays when it is computed again, but not the same objects
    f = lambda x: jnp.sin(jnp.sin(x) * jnp.dot(x, x))  # noqa: E731
    g = jax.checkpoint(f, policy=getattr(jax.checkpoint_policies, name))
    assert jax.grad(g)(2.0) == jax.grad(f)(2.0)
    expected = [jax.grad(f)(x) for x in (0.0, 1.0, 2.0)]
    assert jax.vmap(jax.grad(g))(jnp.arange(3.0)).tolist() == expected


def test_policies_say_what_is_kept():
    policies = jax.checkpoint_policies
    calls, asked = deque(), []  # unlike a list, a deque shows each call

    def f(w, x):
        calls.append(w)
        return jnp.sin(checkpoint_name(jnp.cos(x @ w), "middle")).sum()

    def again(policy):
        """How often the backward pass computes it again."""
        g = jax.checkpoint(f, policy=policy)
        w = x = jnp.eye(2)
        second = jax.jacrev(jax.grad(g))(w, x)
        np.testing.assert_allclose(second, jax.jacfwd(jax.grad(f))(w, x), rtol=1e-5, atol=1e-7)
        calls.clear()
        jax.grad(g)(w, x)
        return len(calls) - 1

    def mine(prim, *_, **params):
        asked.append((str(prim), params))
        return str(prim) in ("dot_general", "name")

    assert again(mine) == 0
    assert {name for name, _ in asked} == {"dot_general", "name"}
    assert ("name", {"name": "middle"}) in asked
    named = policies.save_only_these_names("middle")
    assert again(named) == 1
    assert again(policies.dots_saveable) == 1
    assert again(policies.save_from_both_policies(named, policies.dots_saveable)) == 0
    assert again(policies.everything_saveable) == 0
    assert again(policies.nothing_saveable) == 1
    assert again(policies.dots_with_no_batch_dims_saveable) == 1
    assert again(policies.save_anything_except_these_names("other")) == 0
    assert again(policies.save_anything_except_these_names("middle")) == 1
    assert again(policies.save_any_names_but_these("middle")) == 1


def test_residuals_are_told(capsys):
    print_saved_residuals(lambda x: jnp.sin(jnp.exp(x)), jnp.ones(2))
    assert capsys.readouterr().out == "float32[2] output of exp\n"
    print_saved_residuals(jnp.sin, 1.0)
    assert capsys.readouterr().out == "float32[] from an argument\n"


def test_zeros_are_told_to_rules():
    seen = []

    @jax.custom_jvp
    def f(x, y):
        return x * y

    def rule(primals, tangents):
        seen.append([type(t) is SymbolicZero for t in tangents])
        pairs = zip(tangents, primals[::-1], strict=True)
        return f(*primals), sum(t * other for t, other in pairs if type(t) is not SymbolicZero)

    f.defjvp(rule, symbolic_zeros=True)
    assert jax.jvp(lambda x: f(x, 2.0), (3.0,), (1.0,))[1] == 2
    assert jax.grad(lambda y: f(3.0, y))(2.0) == 3
    assert seen[0] == [False, True]
    assert seen[1:] == [[True, False]] * len(seen[1:])

    @jax.custom_vjp
    def g(x, y):
        return x * y

    def forward(x, y):
        seen.append((x.perturbed, y.perturbed))
        return x.value * y.value, (x.value, y.value)

    g.defvjp(forward, lambda kept, g: [g * kept[1], g * kept[0]], symbolic_zeros=True)
    assert jax.grad(lambda x: g(x, 2.0))(3.0) == 2
    assert seen[-1] == (True, False)

    def cubed(y):
        f = jax.custom_vjp(lambda x: x**3 * y)
        f.defvjp(lambda x: (x**3 * y, x), lambda x, t: (g(3 * x**2, t) * y,))
        return f

    # a rule that closes over an outer array is recorded, but the transform that ends does not
    # follow what the rule computes
    seen.clear()
    assert jax.grad(lambda y: jax.grad(lambda x: cubed(y)(x))(2.0))(3.0) == 12
    assert not seen
    assert jax.grad(lambda y: jax.grad(lambda x: cubed(y)(cubed(y)(x)))(1.0))(3.0) == 972
    assert set(seen) == {(True, False), (False, True)}


def test_batches_have_rules_of_their_own():
    sizes = []

    @custom_vmap
    def f(x, y):
        return x + y

    @f.def_vmap
    def rule(axis_size, in_batched, x, y):
        sizes.append((axis_size, in_batched))
        return x * y, True

    x = jnp.arange(3.0)
    assert f(2.0, 3.0) == 5
    assert jax.vmap(f)(x, x).tolist() == [0, 1, 4]
    assert jax.vmap(f, (0, None))(x, 2.0).tolist() == [0, 2, 4]
    assert sizes == [(3, [True, True]), (3, [True, False])]
    assert jax.grad(lambda x: jax.vmap(f)(x, x).sum())(x).tolist() == [0, 2, 4]
    nested = jax.vmap(jax.vmap(f, (None, 0)), (0, None))(x, x)
    assert nested.tolist() == (x[:, None] * x).tolist()
    mapped = sequential_vmap(lambda x, y: jnp.sin(x) * y)
    np.testing.assert_allclose(jax.vmap(mapped, (0, None))(x, 2.0), 2 * np.sin(np.arange(3)))


def test_checks_are_values():
    def f(x):
        checkify.check(x > 0, "x is {x}", x=x)
        return x + 1

    error, out = checkify.checkify(f)(jnp.float32(-1))
    assert error.get() == "x is -1.0 (`check` failed)" and out == 0
    with pytest.raises(ValueError, match=r"x is -1\.0"):
        error.throw()
    with pytest.raises(ValueError, match=r"x is -1\.0"):
        f(jnp.float32(-1))
    assert checkify.checkify(f)(jnp.float32(1))[0].get() is None
    checked = checkify.checkify(jax.vmap(f))
    assert checked(jnp.array([1.0, -2.0]))[0].get() == "x is -2.0 (`check` failed)"
    checked = jax.jit(lambda x: checkify.checkify(f)(x)[0].get() is None)
    assert checked(jnp.float32(1)) and not checked(jnp.float32(-1))
    whole = jax.jit(checkify.checkify(f))
    messages = [whole(jnp.float32(x))[0].get() for x in (-1, 1, -3)]
    assert messages == ["x is -1.0 (`check` failed)", None, "x is -3.0 (`check` failed)"]
    with pytest.raises(ValueError, match="x is"):
        checkify.check_error(error)
    with pytest.raises(NotImplementedError, match="debug_nans"):
        checkify.checkify(f, errors={"nan"})


def test_callbacks_are_called_for_each_element(capsys):
    jax.vmap(lambda x: jax.debug.print("{x} of {y}", x=x, y=2))(jnp.arange(2))
    assert capsys.readouterr().out == "0 of 2\n1 of 2\n"
    shape = jax.ShapeDtypeStruct((), np.float32)
    doubled = jax.vmap(lambda x: io_callback(lambda x: np.float32(2) * x, shape, x))
    assert doubled(jnp.arange(3.0)).tolist() == [0, 2, 4]
    x = jnp.arange(3.0)
    for method in ("sequential", "broadcast_all"):

        def product(x, y, method=method):
            return jax.pure_callback(np.multiply, shape, x, y, vmap_method=method)

        nested = jax.vmap(jax.vmap(product, (None, 0)), (0, None))(x, x)
        assert nested.tolist() == (x[:, None] * x).tolist()
    assert lax.map(lambda x: x**2, jnp.arange(5), batch_size=2).tolist() == [0, 1, 4, 9, 16]


def test_one_device_holds_everything():
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    spec = jax.sharding.PartitionSpec("x")
    placed = jax.device_put(jnp.ones(2), jax.sharding.NamedSharding(mesh, spec))
    assert placed.tolist() == [1, 1] and jnp.ones(2).sharding == placed.sharding
    with pytest.raises(ValueError, match="there is one device"):
        jax.sharding.Mesh(np.array(jax.devices() * 2), ("x",))
