"""Test the parts of JAX that libraries build on: rules, windows, boxes, names."""

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax import lax

batching, ad = jax.interpreters.batching, jax.interpreters.ad


def close(x, y):
    np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=2e-5, atol=1e-6)


# -- numbers that do not fit -----------------------------------------------------------------------


def test_integers_that_do_not_fit_their_dtype_are_refused():
    assert jnp.uint32(2998342421).item() == 2998342421
    assert jnp.full((1,), 4000000000, jnp.uint32).tolist() == [4000000000]
    for kind, value in ((jnp.int8, 300), (jnp.uint8, -1), (jnp.int32, 2**40)):
        with pytest.raises(OverflowError, match="out of bounds for"):
            kind(value)
    for wrong in (300.5, [1.0, 300.5]):
        with pytest.raises(OverflowError, match="out of bounds for int8"):
            jnp.array(wrong, jnp.int8)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "complex64"])
def test_floats_beyond_integers_become_their_limits(kind):
    x = jnp.array([300.5, -300.5, jnp.inf, -jnp.inf, jnp.nan, -1.5]).astype(kind)
    small, large = [127, -128, 127, -128, 0, -1], 2**31 - 1
    assert x.astype("int8").tolist() == small
    assert jax.jit(lambda x: x.astype("int8"))(x).tolist() == small
    assert jax.vmap(lambda x: x.astype("int8"))(x).tolist() == small
    with pytest.warns(FutureWarning, match="scatter inputs"):
        assert jnp.zeros(6, "int8").at[:].set(x).tolist() == small
    assert x.astype("uint8").tolist() == [255, 0, 255, 0, 0, 0]
    assert x[2:5].astype(int).tolist() == [large, -large - 1, 0]
    assert jnp.full(1, jnp.inf, int).tolist() == [large]


def test_functions_of_integers_only_have_derivatives_of_nothing():
    zero = np.zeros((), jax.dtypes.float0)
    assert jax.jvp(lambda x: x > 0, (0.5,), (1.0,))[1] == zero
    assert jax.linearize(lambda x: [x > 0], 0.5)[1](1.0) == [zero]
    value, pull = jax.vjp(lambda x: x > 0, 0.5)
    assert value.item() is True and pull(zero)[0].item() == 0.0


def test_the_least_integer_is_no_maximum():
    x = jnp.array([-3, 127, -128], "int8")
    assert [found.tolist() for found in jax.lax.top_k(x, 2)] == [[127, -3], [1, 0]]
    assert [found.tolist() for found in jax.lax.approx_min_k(x, 2)] == [[-128, -3], [2, 0]]


def test_bfloat16_has_nan_and_infinities():
    x = jnp.array([1.0, jnp.nan, -jnp.inf, 2.0], "bfloat16")
    assert jnp.isneginf(x).tolist() == [False, False, True, False]
    found = [f(x[:2]).item() for f in (jnp.nansum, jnp.nanprod, jnp.nanmax, jnp.nanargmax)]
    assert found == [1.0, 1.0, 1.0, 0]
    assert jnp.nancumsum(x[:2]).tolist() == [1.0, 1.0]


def test_random_numbers_of_bfloat16():
    """The numbers are JAX's, which draws 8 bits each."""
    key, kind = jax.random.PRNGKey(3), jnp.bfloat16
    drawn = jax.random.uniform(key, (3,), kind).tolist()
    assert drawn == [0.4921875, 0.765625, 0.8671875]
    assert jax.random.normal(key, (2,), kind).tolist() == [-0.0146484375, 0.73046875]
    assert jax.random.laplace(key, (2,), kind).tolist() == [0.01177978515625, -0.765625]
    start = jax.nn.initializers.lecun_normal()(key, (3, 2), kind)
    assert start[0].tolist() == [-0.0128173828125, 0.451171875]
    assert jax.random.categorical(key, jnp.ones((3, 4), kind)).tolist() == [2, 0, 0]


def test_keys_are_arrays_already():
    key = jax.random.key(0)
    assert jnp.asarray(key) is key
    assert jax.vmap(lambda x, i: x.at[i].set(1.0))(jnp.ones((0, 3)), jnp.ones(0, int)).shape == (
        0,
        3,
    )


def test_updates_are_made_in_the_promoted_dtype():
    with pytest.warns(FutureWarning, match="scatter inputs"):
        assert jnp.ones(2, "int8").at[0].add(300.5).tolist() == [127, 1]
    with pytest.warns(FutureWarning, match="scatter inputs"):
        assert jnp.array([True, False]).at[:].add(0.0).tolist() == [True, False]
    with pytest.warns(FutureWarning, match="scatter inputs"):
        assert jnp.array([1, 2], "uint8").at[0].min(jnp.int8(-3)).tolist() == [253, 2]


@pytest.mark.parametrize("jit", [lambda f: f, jax.jit])
def test_integers_are_divided_by_zero(jit):
    x, zero = jnp.array([7, 0, -7]), jnp.zeros(3, int)
    found = jit(lambda x, y: (x // y, x % y, lax.div(x, y), lax.rem(x, y)))(x, zero)
    expected = [[-2, -1, -2], [0, 0, 0], [-1, -1, -1], [7, 0, -7]]
    assert [part.tolist() for part in found] == expected
    assert (jnp.array([7, 0], "uint8") // 0).tolist() == [255, 255]


def test_booleans_count_as_integers():
    x = jnp.array([True, False])
    for f in (jnp.power, jnp.fmod, jnp.left_shift, jnp.remainder, jnp.floor_divide):
        assert f(x, x | True).dtype == jnp.int32
    assert jnp.conj(x).dtype == jnp.imag(x).dtype == bool
    assert not jnp.power(2.5, jnp.arange(3)).weak_type
    assert (2.5 * jnp.arange(3)).weak_type


def test_quantiles_of_halves_infinities_and_nothing():
    assert jnp.median(jnp.array([jnp.inf, jnp.inf])).item() == np.inf
    assert jnp.nanmedian(jnp.array([jnp.nan, 3.0, 5.0])).item() == 4.0
    close(jnp.quantile(jnp.array([4.0, 1.0, 2.0], "float16"), 0.25), 1.5)
    assert jnp.median(jnp.zeros((0, 3)), axis=1).shape == (0,)


def test_bits_are_reduced():
    x = jnp.array([[1, 2, 3], [5, 6, 7]], "int8")
    found = [f(x, (0,)).tolist() for f in (lax.reduce_and, lax.reduce_or, lax.reduce_xor)]
    assert found == [[1, 2, 3], [5, 6, 7], [4, 4, 4]]
    assert lax.bitcast_convert_type(x.astype("int32"), "int8").shape == (2, 3, 4)
    assert lax.bitcast_convert_type(jnp.zeros((3, 4), "int8"), "int32").shape == (3,)


def test_geometric_sequences_may_be_negative():
    close(jnp.geomspace(-1.0, -100.0, 3), [-1.0, -10.0, -100.0])


def test_ranges_of_integers_begin_and_step_by_integers():
    assert jnp.arange(-1.5, 300.0, 100.0, dtype=int).tolist() == [-1, 99, 199, 299]
    assert jnp.arange(-3, 3, dtype="uint8").tolist() == [253, 254, 255, 0, 1, 2]
    with pytest.raises(TypeError, match="bool"):
        jnp.arange(2, dtype=bool)


# -- operations of one's own -----------------------------------------------------------------------


def times():
    """x * y, of which each rule is given."""
    prim = jax.extend.core.Primitive("times")
    prim.def_impl(lambda x, y: x * y)

    def jvp(primals, tangents):
        (x, y), (s, t) = primals, tangents
        s, t = ad.instantiate_zeros(s), ad.instantiate_zeros(t)
        return prim.bind(x, y), prim.bind(s, y) + prim.bind(x, t)

    def transpose(g, x, y):
        assert ad.is_undefined_primal(x) is not ad.is_undefined_primal(y)
        return (prim.bind(g, y), None) if ad.is_undefined_primal(x) else (None, prim.bind(x, g))

    def batch(values, dims):
        x, y = values
        assert set(dims) <= {0, None}
        return prim.bind(x, y), 0

    ad.primitive_jvps[prim], ad.primitive_transposes[prim] = jvp, transpose
    batching.primitive_batchers[prim] = batch
    return prim


def test_primitives_follow_their_rules():
    prim = times()
    f = lambda x: prim.bind(prim.bind(x, x), x)  # noqa: E731
    x = jnp.array([1.0, 2.0])
    close(jax.vmap(f)(x), x**3)
    close(jax.vmap(jax.grad(f))(x), 3 * x**2)
    close(jax.grad(jax.grad(f))(2.0), 12.0)
    close(jax.jvp(jax.grad(f), (2.0,), (1.0,))[1], 12.0)
    close(jax.grad(lambda x: jax.vmap(f)(x).sum())(x), 3 * x**2)


def test_primitives_with_both_rules_are_transposed_only_in_tangents():
    prim = jax.extend.core.Primitive("square_times")
    prim.def_impl(lambda x, y: x * x * y)

    def jvp(primals, tangents):
        (x, y), (s, t) = primals, tangents
        s, t = ad.instantiate_zeros(s), ad.instantiate_zeros(t)
        return prim.bind(x, y), 2 * x * y * s + x * x * t

    ad.primitive_jvps[prim] = jvp
    ad.primitive_transposes[prim] = lambda g, x, y: [g, g]  # it is linear in y alone
    close(jax.grad(prim.bind)(3.0, 5.0), 30.0)
    close(jax.grad(prim.bind, 1)(3.0, 5.0), 9.0)


def test_primitives_without_a_rule_say_which():
    prim = jax.extend.core.Primitive("one")
    with pytest.raises(NotImplementedError, match="Evaluation rule for 'one'"):
        prim.bind(1.0)
    prim.def_impl(jnp.sin)
    with pytest.raises(NotImplementedError, match="Differentiation rule for 'one'"):
        jax.grad(prim.bind)(1.0)
    with pytest.raises(NotImplementedError, match="Batching rule for 'one'"):
        jax.vmap(prim.bind)(jnp.ones(2))


def test_linear_primitives_are_transposed_by_their_rule():
    prim = jax.extend.core.Primitive("twice")
    prim.def_impl(lambda x: 2 * x)
    ad.deflinear(prim, lambda g: [3 * g])  # not the derivative, so that it is seen
    close(jax.grad(prim.bind)(1.0), 3.0)
    close(jax.jvp(prim.bind, (1.0,), (1.0,))[1], 2.0)


def test_listings_run_again_with_other_constants():
    def outer(y):
        made = jax.make_jaxpr(lambda x: x * y)(1.0)
        return jax.core.eval_jaxpr(made.jaxpr, [5 * c for c in made.consts], 2.0)[0]

    close(jax.value_and_grad(outer)(3.0), (30.0, 10.0))


def test_constants_of_listings_are_not_values_of_a_vmap_inside():
    def outer(y):
        rows = jnp.eye(2) * y

        def fun(x):
            return jax.vmap(lambda row: jax.jvp(lambda x: x * row, (x,), (row,))[1])(rows)

        made = jax.make_jaxpr(fun)(jnp.ones(2))
        assert all(c.shape in ((), (2,), (2, 2)) and c.dtype == "float32" for c in made.consts)
        assert any(c is rows for c in made.consts)
        return jax.core.eval_jaxpr(made.jaxpr, [3 * c for c in made.consts], jnp.ones(2))[0].sum()

    close(jax.value_and_grad(outer)(2.0), (72.0, 72.0))


def test_listings_run_again_with_the_same_objects():
    def outer(y):
        one = {"a": y}
        both, none, times = [one, 1.0], object(), 0

        def again(n):
            return one["a"] if n == 0 else again(n - 1) * y

        def fun(x):
            nonlocal times
            times += 1
            assert both[0] is one
            assert here is none
            return x * one["a"] + again(1)

        here = none
        made = jax.make_jaxpr(fun)(1.0)
        found = jax.core.eval_jaxpr(made.jaxpr, [5 * c for c in made.consts], 2.0)[0]
        assert times == 2
        return found

    close(jax.value_and_grad(outer)(3.0), (30.0 + 225.0, 10.0 + 150.0))


def test_partial_evaluation_takes_keys():
    pe, lu = jax.interpreters.partial_eval, jax.extend.linear_util
    f = lu.wrap_init(lambda key: [jax.random.normal(key, (2,)), jnp.ones(3)])
    keys = jax.random.split(jax.random.key(0), 3)
    kind = jax.core.ShapedArray(jnp.shape(keys)[1:], jnp.result_type(keys))
    _, out, _ = pe.trace_to_jaxpr_nounits(f, [pe.PartialVal.unknown(kind)])
    assert (out[0].pval.shape, out[0].pval.dtype) == ((2,), jnp.float32)
    assert out[1].const.tolist() == [1, 1, 1]


def test_partial_evaluation_tells_what_is_known():
    pe, lu = jax.interpreters.partial_eval, jax.extend.linear_util
    f = lu.wrap_init(lambda x, y: [x * y, jnp.sin(y), 3.0])
    given = [pe.PartialVal.unknown(jax.core.ShapedArray((2,), "float32"))]
    _, out, _ = pe.trace_to_jaxpr_nounits(f, [*given, pe.PartialVal.known(jnp.float32(1))])
    assert out[0].pval.shape == (2,)
    close(out[1].const, np.sin(1))
    assert out[2].const == 3.0


# -- windows ---------------------------------------------------------------------------------------


def test_gather_and_scatter_of_windows():
    x = jnp.arange(12.0).reshape(3, 4)
    numbers = lax.GatherDimensionNumbers((1, 2), (), (0, 1))
    at = jnp.array([[1, 2], [0, 0], [2, 3]])
    found = lax.gather(x, at, numbers, (2, 2))
    close(found[0], x[1:3, 2:4])
    close(found[2], x[1:3, 2:4])  # beyond the bounds: it moves
    close(lax.gather(x, at, numbers, (2, 2), mode="clip"), found)
    assert np.isnan(lax.gather(x, at, numbers, (2, 2), mode="fill")[2]).all()
    into = lax.ScatterDimensionNumbers((1, 2), (), (0, 1))
    ones = jnp.ones((3, 2, 2))
    added = lax.scatter_add(x, at, ones, into)
    close(added, x.at[1:3, 2:4].add(1).at[:2, :2].add(1))
    close(
        jax.grad(lambda o: (lax.scatter_mul(x, at, o, into) * x).sum())(ones)[2], np.zeros((2, 2))
    )


def test_gather_with_batching_dimensions_is_a_mapped_gather():
    x, at = jnp.arange(12.0).reshape(3, 4), jnp.array([[1], [0], [3]])
    numbers = lax.GatherDimensionNumbers((), (1,), (1,), (0,), (0,))
    close(lax.gather(x, at, numbers, (1, 1)), x[jnp.arange(3), at[:, 0]])


def test_local_convolutions_with_one_kernel_are_convolutions():
    x, k = jnp.arange(32.0).reshape(1, 2, 4, 4), jnp.arange(24.0).reshape(3, 2, 2, 2)
    wanted = lax.conv_general_dilated(x, k, (1, 1), "VALID")
    everywhere = jnp.broadcast_to(k.reshape(3, 8, 1, 1), (3, 8, 3, 3))
    found = lax.conv_general_dilated_local(x, everywhere, (1, 1), "VALID", (2, 2))
    close(found, wanted)


def test_parts_are_exchanged_over_a_batch():
    x = jnp.arange(9.0).reshape(3, 3)
    swapped = jax.vmap(lambda r: lax.all_to_all(r, "i", 0, 0), axis_name="i")(x)
    close(swapped, x.T)
    sums = jax.vmap(lambda r: lax.psum_scatter(r, "i"), axis_name="i")(x)
    close(sums, x.sum(0))
    tiled = jnp.arange(12.0).reshape(2, 6)
    found = jax.vmap(lambda r: lax.all_to_all(r, "i", 0, 0, tiled=True), axis_name="i")(tiled)
    close(found, [[0, 1, 2, 6, 7, 8], [3, 4, 5, 9, 10, 11]])


# -- boxes, keys, devices --------------------------------------------------------------------------


def test_boxes_are_written_to_and_differentiated_through():
    def f(x):
        ref = jax.new_ref(jnp.zeros(3))
        ref[0] = x
        jax.ref.addupdate(ref, jnp.array([0, 0]), x)
        return jax.ref.swap(ref, 0, 1.0) * ref[0]

    close(jax.value_and_grad(f)(2.0), (6.0, 3.0))
    ref = jax.new_ref(jnp.ones(2))
    assert jax.freeze(ref).tolist() == [1, 1]
    with pytest.raises(ValueError, match="frozen"):
        ref[...]


def test_boxes_know_their_bounds_and_dtype():
    ref = jax.new_ref(jnp.arange(3.0))
    with pytest.raises(ValueError, match="Out of bound indexer: idx=3, dim=3"):
        list(ref)
    with pytest.raises(ValueError, match="Invalid dtype for `swap`"):
        ref[0] = jnp.int32(2)
    with pytest.raises(ValueError, match="Invalid dtype for `addupdate`"):
        jax.ref.addupdate(ref, 0, jnp.float16(2))
    whole = jax.new_ref(jnp.zeros(2, int))
    whole[0] = jnp.int8(3)
    assert whole[...].tolist() == [3, 0]


def test_boxes_are_arguments_of_jitted_functions():
    @jax.jit
    def step(boxes, x):
        for ref in boxes:
            ref[0] = ref[0] + x
        return boxes[0][0]

    a, b = jax.new_ref(jnp.zeros(2)), jax.new_ref(jnp.ones(2))
    assert [float(step([a, b], 2.0)) for _ in range(3)] == [2.0, 4.0, 6.0]
    assert b[...].tolist() == [7.0, 1.0]
    assert float(step([b, a], 1.0)) == 8.0
    assert a[...].tolist() == [7.0, 0.0]


def test_typed_keys_are_arrays_and_leaves():
    key = jax.random.key(0)
    assert isinstance(key, jax.Array)
    assert not isinstance(1.0, jax.Array)
    assert jax.tree.leaves({"a": key})[0] is key
    assert jax.tree.map(lambda leaf: leaf.shape, [key]) == [()]
    assert jax.typeof(key).dtype == key.dtype
    assert jax.vmap(jax.random.uniform)(jax.random.split(key, 2)).shape == (2,)


def test_a_mesh_of_one_device_maps_whole_arrays():
    mesh = jax.make_mesh((1,), ("i",))
    f = jax.shard_map(
        lambda x: lax.psum(x, "i") + 1, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P()
    )
    close(f(jnp.arange(3.0)), [1, 2, 3])


@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab"])
def test_iterative_solvers_have_the_derivative_of_the_solution(name):
    solver = getattr(jax.scipy.sparse.linalg, name)
    a = jnp.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
    b = jnp.array([1.0, 2.0, 3.0])
    solve = lambda a, b: solver(lambda v: a @ v, b, tol=1e-7)[0]  # noqa: E731
    close(solve(a, b), jnp.linalg.solve(a, b))
    wanted = jax.jacrev(jnp.linalg.solve, (0, 1))(a, b)
    for x, y in zip(jax.jacrev(solve, (0, 1))(a, b), wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-4)


def test_dimensions_are_inserted_by_any_sequence():
    assert jnp.expand_dims(jnp.arange(2), range(2)).tolist() == [[[0, 1]]]
    assert jnp.expand_dims(jnp.arange(2), jnp.array(1)).tolist() == [[0], [1]]


def test_cosine_transforms_invert_each_other():
    x = jnp.array([[1.0, 2.0, 4.0], [0.0, 3.0, 1.0]])
    dct = jax.scipy.fft.dct
    close(dct(jnp.array([1.0, 0.0])), [2, np.sqrt(2)])
    for norm in (None, "ortho"):
        close(jax.scipy.fft.idctn(jax.scipy.fft.dctn(x, norm=norm), norm=norm), x)
    close((dct(x, norm="ortho") ** 2).sum(), (x**2).sum())


def test_densities_of_points():
    points = jnp.array([[0.0, 1.0, 2.0, 4.0], [1.0, 0.0, 1.0, 2.0]])
    kde = jax.scipy.stats.gaussian_kde(points)
    line = jax.scipy.stats.gaussian_kde(points[0])
    close(line.integrate_box_1d(-50.0, 50.0), 1.0)
    close(jnp.exp(kde.logpdf(points)), kde(points))
    assert kde.resample(jax.random.key(0), (5,)).shape == (2, 5)
    grid = jnp.linspace(-10, 14, 400)
    close(line.integrate_kde(line), (line(grid) ** 2).sum() * (grid[1] - grid[0]))


def test_values_count_as_unknown_where_jax_would_trace():
    seen = []

    def look(x):
        seen.append(isinstance(x, jax.core.Tracer))
        return x

    x = jnp.ones(())
    look(x)
    jax.jit(look)(x)
    jax.lax.fori_loop(0, 1, lambda i, c: look(c), x)
    jax.eval_shape(look, x)
    jax.grad(look)(x)
    look(x)
    assert seen[0] is seen[-1] is False
    assert all(seen[1:-1])
    assert jax.core.trace_state_clean()


def test_functions_that_run_for_their_shapes_call_nothing(capsys):
    called = []

    def check(ok):
        called.append(ok)
        raise ValueError(f"not {ok}")

    def fun(x):
        like = jax.ShapeDtypeStruct(x.shape, x.dtype)
        jax.debug.print("x = {}", x)
        jax.debug.callback(called.append, x)
        jax.experimental.io_callback(called.append, None, x)
        return lax.cond(x.sum() > 0, lambda: x, lambda: jax.pure_callback(check, like, x))

    assert jax.eval_shape(fun, jnp.ones(2)).shape == (2,)
    assert (called, capsys.readouterr().out) == ([], "")
    with pytest.raises(ValueError, match="not"):
        fun(-jnp.ones(2))
    assert len(called) == 3


# -- images, curves, differential equations --------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "antialias", "expected"),
    [
        ("nearest", True, [1.0, 4.0, 0.0]),
        ("linear", False, [2.0, 4.0, 0.666667]),
        ("linear", True, [2.2857141, 3.5555556, 0.8571431]),
        ("area", True, [2.2, 3.6, 0.8]),
        ("cubic", False, [1.8275855, 4.0, 0.48275906]),
        ("cubic-pytorch", False, [1.9444453, 4.0, 0.51851636]),
    ],
)
def test_images_at_another_size(method, antialias, expected):
    line = jnp.array([1.0, 4.0, 4.0, 2.0, 0.0])
    found = jax.image.resize(line, (3,), method, antialias=antialias)
    close(found, expected)
    again = jax.jit(lambda x: jax.image.resize(x, (2, 3), method, antialias))(jnp.stack([line] * 2))
    close(again[1], found)


def test_derivatives_along_a_curve():
    jet = jax.experimental.jet.jet
    primals, series = (jnp.float32(0.5), {"y": jnp.float32(2.0)}), ([1.0, 3.0], [{"y": 4.0}] * 2)
    value, (first, second) = jet(lambda x, y: x**2 * y["y"], primals, series)
    close((value, first, second), (0.5, 3.0, 19.0))
    _, (first, half) = jet(jnp.exp, (0.0,), ([1.0, 0.5],), factorial_scaled=False)
    close((first, half), (1.0, 1.0))
    whole, slopes = jet(lambda x: x > 0, (0.5,), ([1.0],))
    assert whole.item() is True and slopes[0].item() == 0
    with pytest.raises(ValueError, match="equally long"):
        jet(jnp.add, (0.0, 1.0), ([1.0], [1.0, 2.0]))


def test_differential_equations_within_jit():
    odeint = jax.experimental.ode.odeint
    times = jnp.array([0.0, 1.0, 2.0])

    def end(rate, times):
        return odeint(lambda y, t, k: {"y": -k * y["y"]}, {"y": jnp.float32(2)}, times, rate)["y"]

    rate = jnp.float32(0.5)
    close(jax.jit(end)(rate, times), 2 * np.exp([0.0, -0.5, -1.0]))
    by_rate, by_times = jax.grad(lambda *args: end(*args)[2], argnums=(0, 1))(rate, times)
    close(by_rate, -4 * np.exp(-1.0))
    close(by_times, [np.exp(-1.0), 0.0, -np.exp(-1.0)])
    close(jax.vmap(end, (0, None))(jnp.array([0.5, 1.0]), times)[:, 1], 2 * np.exp([-0.5, -1.0]))


# -- operations that are linear in one argument ----------------------------------------------------


def linear_solve(impl=jnp.linalg.solve):
    """A solver as libraries define one: its rule calls it on a tangent, and it is transposed."""
    solve = jax.extend.core.Primitive("solve")
    solve.def_impl(impl)
    batching.primitive_batchers[solve] = lambda args, dims: (
        jax.vmap(jnp.linalg.solve, dims)(*args),
        0,
    )

    def jvp(primals, tangents):
        (a, b), (da, db) = primals, map(ad.instantiate_zeros, tangents)
        x = solve.bind(a, b)
        return x, solve.bind(a, db - da @ x)

    def transposed(ct, a, b):
        assert ad.is_undefined_primal(b) and not ad.is_undefined_primal(a)
        return None, solve.bind(a.T, ct)

    ad.primitive_jvps[solve], ad.primitive_transposes[solve] = jvp, transposed
    return solve.bind


@pytest.mark.parametrize("second", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("first", [jax.jacfwd, jax.jacrev])
def test_a_linear_operation_in_a_rule_is_transposed_in_what_depends_on_tangents(first, second):
    a, b = jnp.array([[4.0, 1.0], [1.0, 3.0]]), jnp.array([1.0, 2.0])
    own, known = linear_solve(), jnp.linalg.solve

    def derivatives(f):
        rows = first(lambda a, b: (f(a, b) ** 2).sum(), (0, 1))
        return rows(a, b), second(rows, (0, 1))(a, b)

    for found, right in zip(*map(jax.tree.leaves, map(derivatives, (own, known))), strict=True):
        close(found, right)


def test_a_linear_operation_does_not_check_the_tangents_of_a_transposition():
    def checked(a, b):
        assert np.any(b)
        return np.linalg.solve(a, b)

    a, b = jnp.array([[4.0, 1.0], [1.0, 3.0]]), jnp.array([1.0, 2.0])
    solve = linear_solve(lambda a, b: jax.pure_callback(checked, b, a, b))
    close(jax.grad(lambda b: solve(a, b).sum())(b), jnp.linalg.solve(a.T, jnp.ones(2)))
    with pytest.raises(AssertionError):
        solve(a, 0 * b)


def test_reflections_of_qr():
    a = jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    packed, taus = jnp.linalg.qr(a, mode="raw")
    assert packed.shape == (2, 3)
    q, r = jnp.linalg.qr(a)
    close(lax.linalg.householder_product(packed.mT, taus), q)
    close(jnp.triu(packed.mT[:2]), r)
    close(lax.linalg.ormqr(packed.mT, taus, a, transpose=True)[:2], r)
    close(jax.vmap(lambda a: jnp.linalg.qr(a, mode="raw")[1])(jnp.stack([a, a]))[1], taus)
    with pytest.raises(ValueError, match="Unsupported QR decomposition mode 'economic'"):
        jnp.linalg.qr(a, mode="economic")


def test_contexts_and_modules_of_devices_and_profiles():
    from wengert.compat.jax import monitoring, profiler
    from wengert.compat.jax.experimental import mesh_utils, shard_map

    with profiler.trace("/nowhere"), jax.log_compiles(), jax.transfer_guard("allow"):
        assert profiler.start_trace("/nowhere") is monitoring.record_scalar("x", 1.0) is None
    assert mesh_utils.create_device_mesh((1, 1)).tolist() == [jax.devices() * 1]
    with pytest.raises(ValueError, match=r"Number of devices 1 must equal .* \(2, 2\)"):
        mesh_utils.create_device_mesh((2, 2))
    assert shard_map.shard_map is jax.shard_map
    assert (jax.host_count(), jax.host_id()) == (1, 0)
    with pytest.raises(NotImplementedError, match="device_memory_profile"):
        profiler.device_memory_profile()
    with pytest.raises(AttributeError, match=r"write jnp\.asarray"):
        jax.make_array_from_callback((2,), None, None)
