"""Test `jit`: JAX's contract, and functions with side effects."""

import collections
import pickle
import re
import threading
from typing import NamedTuple

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax import grad, hessian, jit, jvp, lax, vmap
from wengert.compat.jax.jitting import Jitted

CALLS = 4
"""So many calls go through all that there is: a trace, trials, and the quick way."""


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5, atol=1e-6)


def compiled(function):
    """A jitted function of which no call may run as it is, once it has been traced."""
    made = jit(function)
    for program in made._programs:
        program._options.fullgraph, program._options.measure = True, False
    return made


def kinds_of(jitted):
    """For how many kinds of arguments there are traces."""
    return sum(len(program.entries) for program in jitted._programs)


def square(x):
    return x * x


class Point(NamedTuple):
    x: object
    y: object


@jax.tree_util.register_pytree_node_class
class Pair:
    def __init__(self, left, right, name="pair"):
        self.left, self.right, self.name = left, right, name

    def tree_flatten(self):
        return (self.left, self.right), self.name

    @classmethod
    def tree_unflatten(cls, name, parts):
        return cls(*parts, name)


# -- arguments and results -------------------------------------------------------------------------


def test_numbers_are_arguments_and_no_conditions():
    f = compiled(lambda x, n: x * n)
    for n in (*range(8), 0.5, 2.5):
        assert f(jnp.ones(2), n).tolist() == [n, n]
    assert kinds_of(f) == 2  # of whole numbers and fractions


def test_dtypes_and_weak_types_are_those_of_each_call():
    f = compiled(lambda x, y: x + y)
    given = [(1, 2), (1.0, 2), (jnp.float16(1), 2), (np.int8(1), 2), (True, 1), (1j, 1)]
    with jax.disable_jit():
        wanted = [repr(f(*pair)) for pair in given]
    for _ in range(CALLS):
        assert [repr(f(*pair)) for pair in given] == wanted


@pytest.mark.parametrize(
    "tree",
    [
        {"b": 1.0, "a": (2.0, [3.0])},
        Point(1.0, {"k": Point(2.0, None)}),
        [(), None, {}, [1.0]],
        collections.OrderedDict(b=1.0, a=2.0),
        collections.defaultdict(float, a=1.0),
        {1: 1.0, 2: (2.0,)},
    ],
    ids=["dict", "named", "empty", "ordered", "default", "numbers"],
)
def test_containers_come_back_as_they_are(tree):
    f = compiled(lambda tree: jax.tree.map(lambda x: 2 * x, tree))
    arrays = jax.tree.map(jnp.asarray, tree)
    with jax.disable_jit():
        wanted = f(tree)
    for given in (tree, arrays) * CALLS:
        found = f(given)
        assert repr(found) == repr(wanted)
        assert type(found) is type(wanted)
        assert jax.tree.structure(found) == jax.tree.structure(wanted)


def test_registered_classes_are_arguments_and_results():
    f = compiled(lambda pair, x: (Pair(pair.right * x, [pair.left], pair.name), x))
    for k in range(CALLS):
        found, x = f(Pair(1.0, jnp.ones(2)), float(k))
        assert (type(found), found.name, float(x)) == (Pair, "pair", k)
        assert found.left.tolist() == [k, k]
        assert float(found.right[0]) == 1.0
    assert f(Pair(1.0, 2.0, "other"), 1.0)[0].name == "other"


def test_a_class_that_says_something_mutable_of_itself_is_not_shared():
    f = jit(lambda x: Pair(x, x, ["new"]))
    names = [f(1.0).name for _ in range(CALLS)]
    names[0].append("changed")
    assert names[1:] == [["new"]] * (CALLS - 1)
    assert f(1.0).name == ["new"]


def test_the_function_gets_containers_of_its_own():
    def f(params):
        params["b"] = params.pop("a") * 2
        return params

    f, params = jit(f), {"a": jnp.ones(2)}
    for _ in range(CALLS):
        assert list(f(params)) == ["b"]
        assert list(params) == ["a"]


def test_results_are_containers_of_their_own():
    f = compiled(lambda x: {"a": [x, x + 1]})
    first = f(1.0)
    for _ in range(CALLS):
        found = f(1.0)
        found["a"].append("more")
        found["b"] = 1
    assert len(first["a"]) == len(f(1.0)["a"]) == 2


def test_keys_of_dictionaries_are_sorted_whatever_their_order():
    f = compiled(lambda d: jnp.stack([value * k for k, value in enumerate(d.values())]))
    for _ in range(CALLS):
        for given in ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}):
            assert f(given).tolist() == [0.0, 2.0]
            assert f({k: jnp.asarray(v) for k, v in given.items()}).tolist() == [0.0, 2.0]


def test_one_array_in_two_places():
    f = compiled(lambda x, y: (x, x, x * y))
    a, b = jnp.ones(2), 3 * jnp.ones(2)
    for x, y in ((a, a), (a, b), (b, b)) * CALLS:
        first, second, product = f(x, y)
        assert first.tolist() == second.tolist() == x.tolist()
        close(product, np.asarray(x) * np.asarray(y))


def test_views_of_arguments_are_arrays():
    f = compiled(lambda x: (x.T, x[0], x.reshape(-1)))
    x = jnp.arange(6.0).reshape(2, 3)
    for _ in range(CALLS):
        parts = f(x)
        assert all(isinstance(part, jax.Array) for part in parts)
        for part, of in zip(parts, (lambda a: a.T, lambda a: a[0], np.ravel), strict=True):
            np.testing.assert_array_equal(np.asarray(part), of(np.asarray(x)))


def test_static_arguments():
    f = compiled(lambda x, n, mode: sum([x] * n) if mode == "sum" else x**n)
    g = jit(f.__wrapped__, static_argnums=(1,), static_argnames="mode")
    for _ in range(CALLS):
        assert float(g(2.0, 3, mode="sum")) == 6.0
        assert float(g(2.0, 3, mode="power")) == 8.0
        assert float(g(2.0, n=2, mode="power")) == 4.0
    for wrong in ([1], jnp.ones(2)):
        with pytest.raises(ValueError, match="Non-hashable static"):
            g(2.0, wrong, mode="sum")


def test_new_shapes_are_new_programs():
    f = compiled(lambda x: (x**2).sum())
    for size in [*range(1, 7), *range(1, 7)]:
        assert float(f(jnp.ones(size))) == size
    assert kinds_of(f) == 6


def test_an_object_that_is_no_array_is_refused_in_each_call():
    f = jit(lambda tree: tree)
    f({"a": 1.0})
    for _ in range(CALLS):
        with pytest.raises(TypeError, match="Error interpreting argument"):
            f({"a": "text"})
        with pytest.raises(TypeError, match="Error interpreting argument"):
            f({"a": object()})


def test_methods_pickling_and_names():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @jit
        def static(x):
            return 2 * x

        def __hash__(self):
            return id(self)

    assert float(Model.static(2.0)) == 4.0
    scaled = jit(lambda model, x: model.scale * x, static_argnums=0)
    one, other = Model(2.0), Model(3.0)
    for _ in range(CALLS):
        assert (float(scaled(one, 1.0)), float(scaled(other, 1.0))) == (2.0, 3.0)
    one.scale = 5.0
    assert float(scaled(one, 1.0)) == 5.0
    f = jit(square)
    assert (f.__name__, f.__wrapped__, repr(f)) == ("square", square, "<jitted square>")
    again = pickle.loads(pickle.dumps(f))
    assert type(again) is Jitted
    assert float(again(3.0)) == 9.0


# -- what functions do besides ---------------------------------------------------------------------


def test_effects_happen_each_time(capsys):
    seen = []

    def f(x):
        seen.append(1)
        return x * len(seen)

    f = jit(f)
    assert [float(f(1.0)) for _ in range(CALLS)] == [1.0, 2.0, 3.0, 4.0]

    @jit
    def prints(x):
        print("python")
        jax.debug.print("jax")
        return x + 1

    for _ in range(CALLS):
        prints(1.0)
    assert capsys.readouterr().out == "python\njax\n" * CALLS


def test_callbacks_are_called_each_time():
    seen = []

    def note(*values):
        seen.append([float(value) for value in values])
        return np.float32(len(seen))

    like = jax.ShapeDtypeStruct((), "float32")
    io_callback = jax.experimental.io_callback
    ways = (
        lambda x: (jax.debug.callback(note), x)[1],
        lambda x: (jax.debug.callback(note, x), x)[1],
        lambda x: io_callback(note, like) + x,
        lambda x: (io_callback(note, None, x), x)[1],
        lambda x: jax.pure_callback(note, like, x),
    )
    for way in ways:
        seen.clear()
        f = jit(way)
        for _ in range(CALLS):
            f(1.0)
        assert len(seen) == CALLS


def test_what_a_function_reaches_is_read_anew():
    scale = {"by": jnp.ones(2)}
    f = compiled(lambda x: x * scale["by"])
    for k in range(CALLS):
        scale["by"] = jnp.full(2, float(k))
        assert f(1.0).tolist() == [k, k]


def test_errors_come_in_each_call():
    def f(x, n):
        if n > 2:
            raise KeyError("too many")
        return x

    f = jit(f)
    for _ in range(CALLS):
        assert float(f(1.0, 1)) == 1.0
        with pytest.raises(KeyError, match="too many"):
            f(1.0, 3)
    g = jit(lambda x, y: x + y)
    for _ in range(CALLS):
        assert g(jnp.ones(2), jnp.ones(2)).shape == (2,)
        with pytest.raises((TypeError, ValueError)):
            g(jnp.ones(2), jnp.ones(3))
    masked = jit(lambda x, mask: jnp.sum(x, where=mask))
    for _ in range(CALLS):
        with pytest.raises(ValueError, match="broadcast"):
            masked(jnp.ones(3), jnp.array([True, False]))


def test_settings_choose_between_programs():
    f = compiled(lambda x: x + jnp.ones(1))
    for _ in range(CALLS):
        assert f(1.0).dtype == "float32"
        with jax.enable_x64(True):
            assert f(1.0).dtype == "float64"
    logs = jit(jnp.log)
    for _ in range(CALLS):
        assert np.isnan(logs(-1.0))
        with jax.debug_nans(True), pytest.raises(FloatingPointError):
            logs(-1.0)
        assert np.isnan(logs(-1.0))


def test_numpy_in_a_function_is_as_it_is_without():
    f = jit(lambda x: jnp.asarray(np.sort(np.asarray(x))) * 2)
    for k in range(CALLS):
        assert f(jnp.array([3.0, 1.0 + k])).tolist() == sorted([6.0, 2.0 + 2 * k])


def test_forgetting():
    f = jit(square)
    f(1.0)
    assert kinds_of(f) == 1
    f.clear_cache()
    assert kinds_of(f) == 0
    f(1.0)
    jax.clear_caches()
    assert kinds_of(f) == 0
    assert float(f(3.0)) == 9.0


def test_threads_call_one_function():
    f = jit(lambda x, n: lax.fori_loop(0, n, lambda _, y: y * 1.5 + x, x).sum())
    x = jnp.arange(5.0)
    with jax.disable_jit():
        wanted = float(f(x, 6))
    found = []

    def work():
        found.extend([float(f(x, 6)) for _ in range(20)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80
    close(found, [wanted] * 80)


# -- control flow and indices ----------------------------------------------------------------------


def test_decisions_go_both_ways():
    def f(x):
        y = lax.cond(x.sum() > 0, lambda x: 2 * x, lambda x: -x, x)
        if y[0] > 3:
            return y + 100
        return lax.switch(jnp.int32(y[0]), [jnp.sin, jnp.cos, lambda y: y], y)

    jitted = compiled(f)
    for _ in range(CALLS):
        for first in (-3.0, -1.0, 0.5, 1.0, 2.0, 4.0):
            x = jnp.array([first, 0.25])
            close(jitted(x), f(x))


def test_loops_go_as_far_as_values_say():
    newton = compiled(
        lambda a: lax.while_loop(lambda x: abs(x * x - a) > 1e-3, lambda x: 0.5 * (x + a / x), a)
    )
    for a in (2.0, 1e4, 3.0, 1e-2, 1e6) * CALLS:
        with jax.disable_jit():
            wanted = newton(a)
        assert float(newton(a)) == float(wanted)
        assert abs(float(newton(jnp.float32(a))) - a**0.5) < 0.1
    total = jit(lambda n, x: lax.fori_loop(0, n, lambda i, y: y + i * x, 0.0))
    for n in (0, 1, 5, 2, 40, 3) * 2:
        assert float(total(n, 2.0)) == n * (n - 1)


def test_indices_are_values():
    x = jnp.arange(5.0)
    read = compiled(lambda x, i: (x[i], x[i : i + 2].shape, lax.dynamic_slice(x, (i,), (2,)))[::2])
    for i in (0, 3, -1, 7, 2) * CALLS:
        element, part = read(x, jnp.int32(i))
        assert float(element) == float(x[i])
        assert part.tolist() == lax.dynamic_slice(x, (i,), (2,)).tolist()
    update = jit(lambda x, i, y: (x.at[i].add(y), x.at[i].multiply(y), x.at[i].max(y)))
    for i in ([0, 0], [1, 4], [3, 3], [0, 9]) * CALLS:
        found = update(x, jnp.array(i), jnp.array([2.0, 3.0]))
        wanted = update.__wrapped__(x, jnp.array(i), jnp.array([2.0, 3.0]))
        for a, b in zip(found, wanted, strict=True):
            close(a, b)
    masked = jit(lambda x, least: x[x > least].sum())
    for least in (1.0, -1.0, 3.0) * CALLS:
        assert float(masked(x, least)) == sum(k for k in range(5) if k > least)


def test_scans_of_several_lengths_and_both_directions():
    def f(c, xs, reverse):
        return lax.scan(lambda c, x: (c * 0.5 + x["a"], (c, x["b"])), c, xs, reverse=reverse)

    jitted = jit(f, static_argnums=2)
    for length in (1, 4, 33):
        xs = {"a": jnp.linspace(0.0, 1.0, length), "b": jnp.arange(length)}
        for reverse in (False, True):
            with jax.disable_jit():
                wanted = jax.tree.leaves(jitted(1.0, xs, reverse))
            for _ in range(CALLS):
                for a, b in zip(jax.tree.leaves(jitted(1.0, xs, reverse)), wanted, strict=True):
                    close(a, b)


# -- transforms ------------------------------------------------------------------------------------


def bumps(x):
    return jnp.sum(jnp.sin(x[1:] * x[:-1]) + x[:-1] ** 3)


def test_transforms_inside_and_outside():
    x = jnp.linspace(0.1, 1.0, 5)
    tangent = jnp.cos(x)
    first, second = grad(bumps)(x), hessian(bumps)(x)
    f = jit(bumps)
    for _ in range(CALLS):
        for way in (jit(grad(bumps)), grad(f), jit(grad(f)), jit(jit(grad(jit(f))))):
            close(way(x), first)
        for way in (jit(hessian(bumps)), hessian(f), jax.jacfwd(jit(grad(f))), jax.jacrev(grad(f))):
            close(way(x), second)
        close(vmap(f)(jnp.stack([x, 2 * x]))[1], bumps(2 * x))
        close(jit(vmap(grad(f)))(jnp.stack([x, x]))[1], first)
        close(jvp(f, (x,), (tangent,))[1], first @ tangent)
        close(jit(lambda x, t: jvp(f, (x,), (t,))[1])(x, tangent), first @ tangent)
        close(vmap(jit(grad(f)))(jnp.stack([x, x]))[0], first)


def test_names_of_axes_belong_to_the_vmap_of_the_call():
    f = jit(lambda x: x - lax.psum(x, "i"))
    x = jnp.arange(6.0).reshape(2, 3)
    for _ in range(CALLS):
        close(vmap(vmap(f, axis_name="i"), axis_name="j")(x), x - x.sum(1, keepdims=True))
        close(vmap(vmap(f, axis_name="j"), axis_name="i")(x), x - x.sum(0))
        with pytest.raises(NameError):
            vmap(f, axis_name="j")(x)


def test_custom_rules_inside():
    @jax.custom_vjp
    def f(x):
        return jnp.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, g: (g * 10 * x,))

    @jax.custom_jvp
    def h(x):
        return x**2

    h.defjvp(lambda primals, tangents: (h(*primals), 7 * tangents[0]))
    for way in (jit(grad(f)), grad(jit(f)), jit(grad(jit(f)))):
        for k in range(CALLS):
            assert float(way(float(k))) == 10 * k
    for way in (jit(grad(h)), grad(jit(h)), jit(jax.jacfwd(h))):
        for _ in range(CALLS):
            assert float(way(3.0)) == 7.0


def test_random_numbers_follow_from_their_keys():
    def f(key, x):
        first, second = jax.random.split(key)
        noise = jax.random.normal(first, x.shape)
        kept = jax.random.bernoulli(second, 0.5, x.shape)
        return jnp.where(kept, x + noise, 0.0).sum()

    jitted, x = jit(grad(f, argnums=1)), jnp.ones(6)
    for seed in (*range(CALLS), *range(CALLS)):
        for key in (jax.random.PRNGKey(seed), jax.random.key(seed)):
            close(jit(f)(key, x), f(key, x))
            close(jitted(key, x), grad(f, argnums=1)(key, x))


def test_most_calls_are_compiled_without_a_word(recwarn):
    f = jit(lambda x: (print("", end=""), x)[1])
    for _ in range(CALLS):
        f(1.0)
    assert not [w for w in recwarn if re.search("not compiled", str(w.message))]


# -- step by step ----------------------------------------------------------------------------------


def test_a_jaxpr_says_why_it_has_no_variables():
    with pytest.raises(AttributeError, match="no attribute 'invars': nothing is traced"):
        _ = jax.make_jaxpr(jnp.sin)(1.0).jaxpr.invars


def test_a_program_is_shown_and_made_step_by_step():
    f = jit(lambda x, n, tree: {"y": x * n + tree["a"]}, static_argnums=1)
    like = jax.ShapeDtypeStruct((3,), "float32")
    traced = f.trace(like, 2, {"a": 1.0})
    assert repr(traced.jaxpr) == repr(
        jax.make_jaxpr(lambda x, tree: {"y": x * 2 + tree["a"]})(jnp.zeros(3), {"a": 1.0})
    )
    assert traced.out_info == {"y": like}
    lowered = f.lower(like, 2, {"a": 1.0})
    assert lowered.as_text() == repr(traced.jaxpr)
    made = lowered.compile()
    assert made.out_info == {"y": like}
    for _ in range(CALLS):
        assert made(jnp.ones(3), {"a": 1.0})["y"].tolist() == [3.0] * 3
    with pytest.raises(TypeError, match="Argument types differ from the types for which this"):
        made(jnp.ones(4), {"a": 1.0})
    with pytest.raises(TypeError, match="Argument types differ from the types for which this"):
        made(jnp.arange(3), {"a": 1.0})
    with pytest.raises(TypeError, match="does not match the input pytree it was called with"):
        made(jnp.ones(3), {"b": 1.0})


def test_a_listing_shows_no_addresses():
    listing = repr(jax.make_jaxpr(lambda key: jax.random.normal(key, (2,)))(jax.random.PRNGKey(0)))
    assert "drawn_by" in listing
    assert " at 0x" not in listing


def turned(count, body, start):
    made = compiled(lambda c: lax.fori_loop(0, count, body, c))
    for _ in range(CALLS):
        found = made(start)
    return found, sum(len(program.program) for program in made._programs)


@pytest.mark.parametrize(
    ("body", "start"),
    [
        (lambda i, c: (c * 3 + i) % 1000, jnp.int32(3)),
        (lambda i, c: c - 0.01 * grad(lambda x: jnp.sum(x**4 - x))(c), jnp.ones(2)),
    ],
)
def test_a_long_fori_loop_is_a_loop_of_the_program(body, start):
    (short, size), (long, more) = turned(250, body, start), turned(500, body, start)
    assert more < 2 * size < 100_000
    for count, found in ((250, short), (500, long)):
        wanted = lax.fori_loop(0, count, body, start)
        for mine, yours in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            assert mine.aval == yours.aval
            close(mine, yours)


def test_a_long_fori_loop_has_a_gradient():
    def slope(c):
        return grad(lambda c: lax.fori_loop(0, 205, lambda i, c: c * 0.99 + 0.01, c))(c)

    close(compiled(slope)(jnp.float32(0.1)), 0.99**205)


@pytest.mark.parametrize("find", [jnp.argmax, jnp.argmin])
@pytest.mark.parametrize("transform", [jit, lambda f: lambda x: vmap(f)(x[None])[0]])
def test_the_first_of_conditions_is_found_under_transforms_too(find, transform):
    found = jnp.array([False, True, False])
    for _ in range(CALLS):
        assert transform(find)(found) == find(found)


def test_argument_numbers_and_names_are_checked():
    def f(a, /, b, *, c):
        return a

    def g(a, /, *args, **more):
        return a

    for options in ({"static_argnums": 2}, {"donate_argnums": -3}, {"static_argnames": "a"}):
        with pytest.raises(ValueError, match="jitted function has"):
            jax.jit(f, **options)
    with pytest.raises(ValueError, match="invalid argnames"):
        jax.jit(g, donate_argnames=("args",))
    jax.jit(g, static_argnums=7, static_argnames="other")
    with pytest.raises(ValueError, match="cannot intersect"):
        jax.jit(f, static_argnums=0, donate_argnums=0)


def test_numbers_and_names_may_disagree():
    f = jax.jit(lambda x, y: x if isinstance(y, str) else y, static_argnums=1, static_argnames=())
    assert f(2, "text") == 2
    with pytest.raises(TypeError, match="at path y"):
        f(2, y="text")


def test_functions_that_cannot_be_traced_are_refused():
    def numbers(x):
        yield x

    with pytest.raises(TypeError, match="got a generator function"):
        jax.jit(numbers)
    with pytest.raises(TypeError, match="staticmethod arguments are not supported"):
        jax.grad(staticmethod(lambda x: x))


def test_functions_that_reach_numpys_arrays_are_differentiated_by_several_directions():
    weights = np.arange(3.0, dtype=np.float32)
    f = jax.jit(lambda x: jnp.sum(jnp.sin(x) * weights))
    x = jnp.ones(3)
    _, slope = jax.linearize(f, x)
    assert np.allclose(slope(2 * x), 6 * np.cos(1))


@pytest.mark.parametrize("transform", [jax.vjp, jax.linearize])
def test_functions_of_derivatives_pass_through_jit(transform):
    def sine(x):
        return jnp.sin(x) * x

    def expected(x):
        return np.cos(x) * x + np.sin(x)

    call = jax.jit(lambda function, value: function(value))
    made = jax.jit(lambda x: transform(sine, x)[1])
    for number in (1.0, 2.0, 3.0):
        x = jnp.float32(number)
        for found in (made(x)(1.0), call(transform(sine, x)[1], jnp.float32(1))):
            value = found[0] if transform is jax.vjp else found
            np.testing.assert_allclose(value, expected(number), rtol=1e-5)


def test_roots_are_found_whether_or_not_they_are_real():
    roots = jax.jit(lambda p: jnp.roots(p, strip_zeros=False))
    for p in ([1.0, -3.0, 2.0], [1.0, 0.0, 1.0], [1.0, -5.0, 6.0]):
        np.testing.assert_allclose(np.poly(np.asarray(roots(jnp.array(p)))), p, atol=1e-5)


@jax.custom_jvp
def softened(x):
    return jnp.log1p(jnp.exp(x))


softened.defjvps(lambda t, _, x: jax.nn.sigmoid(x) * t)


@jax.custom_vjp
def clipped(x):
    return x * 2


clipped.defvjp(lambda x: (x * 2, None), lambda _, g: (jnp.clip(g, -1, 1),))


@pytest.mark.parametrize(
    ("function", "slopes"),
    [
        (softened, [0.5, 0.880797]),
        (clipped, [1.0, 1.0]),
        (jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), [1.0, np.cos(np.sin(2.0)) * np.cos(2.0)]),
    ],
)
def test_gradients_of_rules_and_checkpoints_compile(function, slopes):
    found = compiled(grad(lambda x: function(x).sum()))
    for _ in range(CALLS):
        close(found(jnp.array([0.0, 2.0])), slopes)
    assert kinds_of(found) == 1
