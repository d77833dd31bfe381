"""Test control flow and other functions of `jax.lax`: values, derivatives, batches, errors."""

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax import grad, lax, vmap

X = jnp.arange(6)


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


# -- branches --------------------------------------------------------------------------------------


def test_only_the_branch_that_is_taken_is_called():
    def never(x):
        raise AssertionError

    assert lax.cond(True, lambda x: x + 1, never, 1) == 2
    assert lax.cond(jnp.float32(0), never, lambda x: x - 1, 1) == 0
    assert lax.cond(False, lambda: 1, lambda: 2) == 2
    assert lax.cond(True, lambda x: x, lambda x: -x, operand=3) == 3
    assert lax.cond(False, 1, lambda x: x, 2, lambda x: -x) == -2
    assert lax.switch(7, [never, lambda x: 2 * x], 3) == 6
    assert lax.switch(-1, [lambda x: x, never], 3) == 3


def test_branches_are_differentiated_and_mapped():
    def f(x):
        return lax.cond(x > 0, lambda x: x**2, lambda x: -x, x)

    assert (grad(f)(3.0), grad(f)(-2.0)) == (6.0, -1.0)
    xs = jnp.array([1.0, -1.0, 2.0])
    assert vmap(f)(xs).tolist() == [1.0, 1.0, 4.0]
    assert vmap(grad(f))(xs).tolist() == [2.0, -1.0, 4.0]
    chosen = vmap(lambda i: lax.switch(i, [jnp.negative, jnp.square, jnp.ones_like], 3.0))
    assert chosen(jnp.arange(4)).tolist() == [-3.0, 9.0, 1.0, 1.0]


def test_conditions_that_are_none_are_refused():
    with pytest.raises(TypeError, match="Pred must be a scalar"):
        lax.cond(jnp.ones(2), abs, abs, 1)
    with pytest.raises(TypeError, match="should be callable"):
        lax.cond(True, 1, abs, 1)
    with pytest.raises(TypeError, match="traced for cond returned a value of type <class 'str'>"):
        lax.cond(True, lambda x: "a", lambda x: "a", 1)
    with pytest.raises(ValueError, match="Empty branch sequence"):
        lax.switch(0, [], 1)
    with pytest.raises(TypeError, match="Index type must be an integer"):
        lax.switch(0.5, [abs], 1)


# -- loops -----------------------------------------------------------------------------------------


def test_loops():
    assert lax.while_loop(lambda x: x < 10, lambda x: 2 * x, 1) == 16
    state = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, 1.0))
    assert state == (3, 8.0)
    assert lax.fori_loop(0, 4, lambda i, x: x + i, 0) == 6
    assert lax.fori_loop(3, 0, lambda i, x: x + i, 0) == 0
    widened = lax.while_loop(lambda x: x < 10, lambda x: x * 2.0, 1)
    assert repr(widened) == "Array(16., dtype=float32)"


def test_loops_are_differentiated_in_both_modes():
    def power(x):
        return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))[1]

    assert grad(power)(2.0) == 12.0
    assert jax.jvp(power, (2.0,), (1.0,)) == (8.0, 12.0)
    assert grad(lambda x: lax.fori_loop(0, 3, lambda i, s: s * x, 1.0))(2.0) == 12.0


def test_loops_of_a_batch_go_on_until_all_have_ended():
    def doubled(n):
        return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2), (0, 1))[1]

    assert vmap(doubled)(jnp.arange(4)).tolist() == [1, 2, 4, 8]
    sums = vmap(lambda n: lax.fori_loop(0, n, lambda i, s: s + i, 0))
    assert sums(jnp.arange(4)).tolist() == [0, 0, 1, 3]


def test_scans():
    carry, ys = lax.scan(lambda c, x: (c + x, c * x), 0, jnp.arange(4))
    assert (carry, ys.tolist(), carry.dtype) == (6, [0, 0, 2, 9], "int32")
    assert not carry.weak_type
    assert lax.scan(lambda c, _: (c + 1, c), 0, None, length=3)[1].tolist() == [0, 1, 2]
    assert lax.scan(lambda c, x: (c + x, None), 0.0, jnp.arange(3.0))[1] is None
    total, seen = lax.scan(
        lambda c, x: (c + x["a"], {"c": c}), 0.0, {"a": jnp.arange(3.0)}, reverse=True
    )
    assert (total, seen["c"].tolist()) == (3.0, [3.0, 2.0, 0.0])
    _, empty = lax.scan(lambda c, x: (c, jnp.ones(2) * x), 0.0, jnp.zeros((0,)))
    assert empty.shape == (0, 2)


def test_scans_are_differentiated_and_mapped():
    def f(x0):
        return lax.scan(lambda c, x: (c * x, c + x), x0, jnp.arange(1.0, 4.0))

    assert jax.jacfwd(lambda x: f(x)[1])(2.0).tolist() == [1.0, 1.0, 2.0]
    assert jax.jacrev(lambda x: f(x)[1])(2.0).tolist() == [1.0, 1.0, 2.0]
    carry, ys = vmap(f)(jnp.arange(2.0))
    assert (carry.tolist(), ys.tolist()) == ([0.0, 6.0], [[1.0, 2.0, 3.0], [2.0, 3.0, 5.0]])
    second = jax.hessian(lambda x: lax.scan(lambda c, x: (c * c * x, None), x, jnp.ones(2))[0])
    assert second(2.0) == 48.0


@pytest.mark.parametrize(
    ("start", "body", "kind"),
    [
        (jnp.int8(1), lambda c: c + 1, "int8"),
        (jnp.int8(1), lambda c: c * 1.5, None),
        (jnp.float16(1), lambda c: 2.5, None),
        (jnp.asarray(True), lambda c: c + 1, None),
        (1, lambda c: c * 1.5, "float32"),
        (1, lambda c: c < 2, None),
        (1.5, lambda c: 3, None),
    ],
)
def test_numbers_of_python_in_a_carry_make_wider_only_numbers_of_python(start, body, kind):
    def loop():
        return lax.fori_loop(0, 1, lambda i, c: body(c), start)

    if kind is None:
        with pytest.raises(TypeError, match="carry output must have equal types"):
            loop()
    else:
        assert loop().dtype == kind


def test_a_carry_that_changes_its_type_is_refused():
    with pytest.raises(TypeError, match="carry output must have equal types"):
        lax.scan(lambda c, x: (jnp.float32(c + x), c), jnp.int32(0), jnp.arange(3.0))
    with pytest.raises(TypeError, match="must have the same pytree structure"):
        lax.while_loop(lambda x: x < 10, lambda x: (x, x), 1)
    with pytest.raises(TypeError, match="shapes do not match"):
        lax.fori_loop(0, 2, lambda i, x: jnp.concatenate([x, x]), jnp.ones(1))
    with pytest.raises(TypeError, match="scan body output must be a pair"):
        lax.scan(lambda c, x: c, 0, jnp.arange(3))
    with pytest.raises(TypeError, match="cond_fun must return a boolean scalar"):
        lax.while_loop(lambda x: x, lambda x: x, 1.0)
    with pytest.raises(ValueError, match="different leading axis sizes: 3, 2"):
        lax.scan(lambda c, x: (c, x), 0, (jnp.arange(3), jnp.arange(2)))
    with pytest.raises(ValueError, match="`length` not provided"):
        lax.scan(lambda c, x: (c, x), 0, None)
    with pytest.raises(ValueError, match="disagrees with leading axis sizes"):
        lax.scan(lambda c, x: (c, x), 0, jnp.arange(3), length=4)


def test_maps():
    assert lax.map(lambda x: x**2, jnp.arange(3)).tolist() == [0, 1, 4]
    assert lax.map(lambda p: p["a"] + 1, {"a": jnp.arange(3)}, batch_size=2).tolist() == [1, 2, 3]


def test_partial_results_of_associative_operations():
    assert lax.associative_scan(jnp.add, jnp.arange(5)).tolist() == [0, 1, 3, 6, 10]
    assert lax.associative_scan(jnp.add, jnp.arange(5), reverse=True).tolist() == [10, 10, 9, 7, 4]
    factors, sums = lax.associative_scan(
        lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (jnp.arange(1.0, 4.0), jnp.ones(3))
    )
    assert (factors.tolist(), sums.tolist()) == ([1.0, 2.0, 6.0], [1.0, 3.0, 10.0])
    rows = jnp.array([[1, 5], [3, 2], [2, 9]])
    assert lax.associative_scan(jnp.maximum, rows, axis=1).tolist() == [[1, 5], [3, 3], [2, 9]]
    close(
        grad(lambda x: lax.associative_scan(jnp.multiply, x)[-1])(jnp.arange(1.0, 5.0)),
        [24, 12, 8, 6],
    )


# -- element by element ----------------------------------------------------------------------------


def test_lax_is_strict_about_dtypes_and_dimensions():
    with pytest.raises(
        TypeError, match=r"lax\.add requires arguments to have the same dtypes, got int32, float32"
    ):
        lax.add(1, 1.0)
    with pytest.raises(TypeError, match="same number of dimensions"):
        lax.add(jnp.ones(3), jnp.ones((1, 3)))
    with pytest.raises(TypeError, match="sin does not accept dtype int32"):
        lax.sin(1)
    assert repr(lax.add(jnp.float32(1), 1.0)) == "Array(2., dtype=float32)"
    assert (lax.div(-7, 2), lax.rem(-7, 2)) == (-3, -1)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("rsqrt", 4.0, 0.5),
        ("erf", 1.0, 0.84270079),
        ("erf_inv", 0.5, 0.47693628),
        ("lgamma", 4.0, np.log(6)),
        ("digamma", 1.0, -0.57721566),
        ("logistic", 0.0, 0.5),
        ("round", 2.5, 3.0),
        ("sign", -2.0, -1.0),
        ("population_count", 7, 3),
        ("clz", 1, 31),
        ("reciprocal", 4.0, 0.25),
        ("square", 3, 9),
        ("is_finite", np.inf, False),
        ("bessel_i0e", 1.0, 0.46575961),
    ],
)
def test_functions_of_one_argument(name, x, expected):
    close(getattr(lax, name)(x), expected)


def test_derivatives_at_corners_are_jaxs():
    assert grad(lax.abs)(0.0) == 1.0
    assert grad(lambda x: lax.max(x, 0.0))(0.0) == 0.5
    assert grad(lambda x: lax.clamp(0.0, x, 1.0))(0.0) == 0.0
    assert grad(lambda x: lax.clamp(0.0, x, 1.0))(0.5) == 1.0
    assert grad(lambda x: x * lax.stop_gradient(x))(3.0) == 3.0
    assert jax.jvp(lambda x: x * lax.stop_gradient(x), (3.0,), (1.0,)) == (9.0, 3.0)


def test_choices():
    a, b = jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])
    assert lax.select(jnp.array([True, False]), a, b).tolist() == [1.0, 4.0]
    assert lax.select_n(jnp.array([0, 1]), a, b).tolist() == [1.0, 4.0]
    with pytest.raises(TypeError, match="select `which` must be scalar or have the same shape"):
        lax.select(jnp.array([True, False]), 1.0, 2.0)


def test_bits_and_precision():
    assert lax.bitcast_convert_type(jnp.float32(1), jnp.int32) == 1065353216
    assert lax.shift_right_logical(-8, 1) == 2147483644
    assert lax.reduce_precision(1.1, 5, 3) == 1.125
    assert lax.convert_element_type(1.5, int).dtype == "int32"


# -- arrays ----------------------------------------------------------------------------------------


def test_parts_are_moved_so_that_they_lie_within():
    assert lax.dynamic_slice(X, (5,), (3,)).tolist() == [3, 4, 5]
    assert lax.dynamic_update_slice(X, jnp.array([9, 9]), (5,)).tolist() == [0, 1, 2, 3, 9, 9]
    assert lax.dynamic_slice_in_dim(X, -2, 2).tolist() == [4, 5]
    assert lax.dynamic_index_in_dim(X, 2, keepdims=False) == 2
    assert lax.dynamic_update_index_in_dim(X, 9, 2, 0).tolist() == [0, 1, 9, 3, 4, 5]
    rows = vmap(lambda i: lax.dynamic_slice(X, (i,), (2,)))(jnp.array([0, 2, 9]))
    assert rows.tolist() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(TypeError, match="less than or equal to operand shape"):
        lax.dynamic_slice(X, (0,), (9,))


def test_arrangements():
    assert lax.slice(X, (1,), (5,), (2,)).tolist() == [1, 3]
    assert lax.slice_in_dim(X, 1, 3).tolist() == [1, 2]
    assert lax.pad(X[:3], 0, [(1, 2, 1)]).tolist() == [0, 0, 0, 1, 0, 2, 0, 0]
    assert lax.pad(X[:3], 0, [(-1, 0, 0)]).tolist() == [1, 2]
    assert lax.broadcast_in_dim(X[:3], (2, 3), (1,)).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert lax.rev(X, (0,)).tolist() == [5, 4, 3, 2, 1, 0]
    assert lax.iota(jnp.float32, 3).tolist() == [0.0, 1.0, 2.0]
    assert lax.full((2,), 3).tolist() == [3, 3]
    assert [part.tolist() for part in lax.split(X, (1, 5))] == [[0], [1, 2, 3, 4, 5]]
    assert lax.collapse(jnp.ones((2, 3, 4)), 1).shape == (2, 12)
    with pytest.raises(TypeError, match="slice start_indices must be"):
        lax.slice(X, (1,), (9,))
    padded = grad(lambda v: (lax.pad(jnp.ones(2), v, [(1, 1, 1)]) * 2).sum())
    assert padded(0.0) == 6.0


# -- reductions ------------------------------------------------------------------------------------


def test_reductions_and_windows():
    grid = jnp.arange(16.0).reshape(4, 4)
    assert lax.reduce(X, 0, lax.add, (0,)) == 15
    assert lax.reduce(X[1:], 1, lambda a, b: a * b, (0,)) == 120
    assert lax.reduce_max(grid, axes=(0,)).tolist() == [12.0, 13.0, 14.0, 15.0]
    pooled = lax.reduce_window(grid, -jnp.inf, lax.max, (2, 2), (2, 2), "SAME")
    assert pooled.tolist() == [[5.0, 7.0], [13.0, 15.0]]
    assert lax.reduce_window(X, 0, lax.add, (2,), (1,), "VALID").tolist() == [1, 3, 5, 7, 9]
    halves = lax.reduce_window(X / 2, 0, lax.add, (2,), (1,), "VALID")
    assert halves.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    by_grid = grad(lambda x: lax.reduce_window(x, 0.0, lax.add, (2,), (1,), "SAME").sum())
    assert by_grid(jnp.arange(4.0)).tolist() == [1.0, 2.0, 2.0, 2.0]


def test_scans_along_axes_and_sorting():
    x = jnp.array([3, 1, 2])
    assert lax.cumsum(x).tolist() == [3, 4, 6]
    assert lax.cumsum(x, reverse=True).tolist() == [6, 3, 2]
    assert lax.cummax(x, reverse=True).tolist() == [3, 2, 2]
    close(lax.cumlogsumexp(jnp.zeros(3)), np.log([1, 2, 3]))
    assert lax.sort(x).tolist() == [1, 2, 3]
    keys, values = lax.sort_key_val(x, jnp.arange(3))
    assert (keys.tolist(), values.tolist()) == ([1, 2, 3], [1, 2, 0])
    best, places = lax.top_k(jnp.array([1.0, 3.0, 2.0, 3.0]), 2)
    assert (best.tolist(), places.tolist()) == ([3.0, 3.0], [1, 3])
    assert grad(lambda x: lax.top_k(x, 1)[0].sum())(jnp.array([1.0, 3.0])).tolist() == [0, 1]
    assert lax.argmax(x, 0, jnp.int32) == 0
    with pytest.raises(ValueError, match="k argument to top_k"):
        lax.top_k(x, 4)


# -- products --------------------------------------------------------------------------------------


def test_products():
    a, b = jnp.arange(24.0).reshape(4, 2, 3), jnp.arange(60.0).reshape(4, 3, 5)
    numbers = (((2,), (1,)), ((0,), (0,)))
    close(lax.dot_general(a, b, numbers), np.matmul(np.asarray(a), np.asarray(b)))
    close(lax.batch_matmul(a, b), np.matmul(np.asarray(a), np.asarray(b)))
    assert lax.dot(jnp.ones(3), jnp.ones(3)) == 3.0
    outer = lax.dot_general(jnp.arange(2.0), jnp.arange(3.0), (((), ()), ((), ())))
    assert outer.tolist() == [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]]
    with pytest.raises(TypeError, match="Incompatible shapes for dot"):
        lax.dot(jnp.ones(3), jnp.ones(2))


def test_convolutions():
    image, kernel = jnp.arange(16.0).reshape(1, 4, 4, 1), jnp.ones((2, 2, 1, 1))
    numbers = ("NHWC", "HWIO", "NHWC")
    made = lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=numbers)
    assert made[0, :, :, 0].tolist()[0] == [10.0, 14.0, 18.0, 10.0]
    by_kernel = grad(
        lambda k: lax.conv_general_dilated(
            image, k, (1, 1), "SAME", dimension_numbers=numbers
        ).sum()
    )(kernel)
    assert by_kernel[:, :, 0, 0].tolist() == [[120.0, 96.0], [114.0, 90.0]]
    grouped = lax.conv_general_dilated(
        jnp.ones((1, 2, 8)), jnp.ones((4, 1, 3)), (1,), [(1, 1)], feature_group_count=2
    )
    assert grouped.shape == (1, 4, 8)
    spread = lax.conv_general_dilated(
        jnp.ones((1, 1, 4, 4)), jnp.ones((1, 1, 2, 2)), (1, 1), ((0, 0), (1, 1)), (2, 2), (1, 1)
    )
    assert spread.shape == (1, 1, 6, 8)
    larger = lax.conv_transpose(
        jnp.arange(4.0).reshape(1, 2, 2, 1), jnp.arange(9.0).reshape(3, 3, 1, 1), (2, 2), "SAME"
    )
    assert larger.shape == (1, 4, 4, 1)
    line, half = jnp.arange(4.0).reshape(1, 4, 1), jnp.arange(1.0, 4.0, dtype="float16")
    consistent = lax.conv_transpose(
        line, half.reshape(3, 1, 1).astype(float), (2,), [(0, 2)], use_consistent_padding=True
    )
    assert consistent.ravel().tolist() == [0.0, 0.0, 3.0, 2.0, 7.0, 4.0, 11.0]
    wide = {"preferred_element_type": jnp.float32}
    for result in (
        lax.conv_transpose(half.reshape(1, 3, 1), half.reshape(3, 1, 1), (1,), "VALID", **wide),
        lax.conv_with_general_padding(
            *(half.reshape(1, 1, 3), half.reshape(1, 1, 3), (1,), [(0, 0)], None, None), **wide
        ),
    ):
        assert result.dtype == jnp.float32
    with pytest.raises(ValueError, match="product of rhs input feature dimension"):
        lax.conv(jnp.ones((1, 2, 4)), jnp.ones((1, 1, 2)), (1,), "VALID")
    with pytest.raises(TypeError, match="must have length 4"):
        lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=("NC",) * 3)


# -- solutions -------------------------------------------------------------------------------------


def root(a):
    def newton(f, x):
        return lax.fori_loop(0, 12, lambda i, x: x - f(x) / (2 * x), x)

    return lax.custom_root(lambda x: x**2 - a, 1.0, newton, lambda g, y: y / g(1.0))


def test_roots_have_all_derivatives():
    close(root(4.0), 2.0)
    close(grad(root)(4.0), 0.25)
    close(grad(grad(root))(4.0), -1 / 32)
    close(grad(grad(grad(root)))(4.0), 3 / 256)
    close(jax.jvp(root, (4.0,), (2.0,))[1], 0.5)
    close(vmap(grad(root))(jnp.array([1.0, 4.0])), [0.5, 0.25])


def test_roots_of_containers_and_aux():
    def system(b):
        found, steps = lax.custom_root(
            lambda p: {"x": 2 * p["x"] - b, "y": p["y"] - p["x"]},
            {"x": 0.0, "y": 0.0},
            lambda f, p: ({"x": lax.stop_gradient(b) / 2, "y": lax.stop_gradient(b) / 2}, 7),
            lambda g, y: {"x": y["x"] / 2, "y": y["y"] + y["x"] / 2},
            has_aux=True,
        )
        return found["x"] + 10 * found["y"], steps

    gradient, steps = grad(system, has_aux=True)(3.0)
    assert (gradient, steps) == (5.5, 7)


def test_linear_solutions_are_differentiated_by_both_sides():
    A = jnp.array([[3.0, 1.0], [1.0, 2.0]])
    b = jnp.array([1.0, 2.0])

    def constant(f, b):  # a solver that has no derivative of its own
        matrix = np.asarray([[3.0, 1.0], [1.0, 2.0]])
        return jnp.asarray(np.linalg.solve(matrix, np.asarray(lax.stop_gradient(b))))

    def by_solver(A, b):
        return lax.custom_linear_solve(lambda x: A @ x, b, constant, constant, symmetric=True)

    weights = jnp.array([1.0, 10.0])
    expected = grad(lambda A, b: jnp.linalg.solve(A, b) @ weights, (0, 1))(A, b)
    found = grad(lambda A, b: by_solver(A, b) @ weights, (0, 1))(A, b)
    close(by_solver(A, b), np.linalg.solve(np.asarray(A), np.asarray(b)))
    for mine, theirs in zip(found, expected, strict=True):
        close(mine, theirs)


def test_a_transposed_solver_is_used_by_reverse_mode():
    A = jnp.array([[3.0, 1.0], [0.0, 2.0]])

    def solve(b):
        return lax.custom_linear_solve(
            lambda x: A @ x,
            b,
            lambda f, b: jnp.linalg.solve(A, b),
            lambda f, b: jnp.linalg.solve(A.T, b),
        )

    b = jnp.array([1.0, 2.0])
    close(jax.jacrev(solve)(b), np.linalg.inv(np.asarray(A)))
    close(jax.jacfwd(solve)(b), np.linalg.inv(np.asarray(A)))


def test_solvers_are_not_differentiated_through():
    A, b = jnp.array([[4.0, 1.0], [0.5, 3.0]]), jnp.array([1.0, 2.0])

    def opaque(matvec, v):  # no derivative reaches what it computes
        matrix = jnp.stack([matvec(unit) for unit in jnp.eye(2)], 1)
        return lax.stop_gradient(jnp.linalg.solve(matrix, v))

    def solve(A, b):
        return lax.custom_linear_solve(lambda x: A @ x, b, opaque, opaque)

    def root(A, b):
        found = lax.stop_gradient(jnp.linalg.solve(A, b))
        return lax.custom_root(lambda x: A @ x - b, jnp.zeros(2), lambda f, x: found, opaque)

    expected = jax.jvp(jnp.linalg.solve, (A, b), (A * A, 2 * b))[1]
    close(jax.jvp(solve, (A, b), (A * A, 2 * b))[1], expected)
    close(jax.jvp(root, (A, b), (A * A, 2 * b))[1], expected)
    for order in (jax.jacrev, jax.hessian, lambda f: jax.jacfwd(jax.hessian(f))):
        close(order(solve)(A, b), order(jnp.linalg.solve)(A, b))
    with pytest.raises(NotImplementedError, match="up to the third order"):
        jax.jacfwd(jax.jacfwd(jax.hessian(solve)))(A, b)
    with pytest.raises(TypeError, match="transpose_solve required"):
        grad(lambda b: lax.custom_linear_solve(lambda x: A @ x, b, opaque)[0])(b)


@pytest.mark.parametrize("name", ["set", "multiply", "divide", "power", "min", "max"])
def test_places_that_are_named_twice_under_vmap_count_twice(name):
    x = jnp.arange(1.0, 9.0).reshape(2, 4)
    index = jnp.array([[0, 0, 9, 1, 0, 9], [3, -1, 2, -2, 1, 3]])
    values = jnp.array([[2.0, 0.5, 3.0, 1.0, 4.0, 2.0], [1.5, 2.5, 9.0, 1.0, 0.5, 2.0]])

    def f(x, index, values):
        return getattr(x.at[index], name)(values)

    close(vmap(f)(x, index, values), [f(*row) for row in zip(x, index, values, strict=True)])
    slopes = grad(lambda *args: jnp.sum(jnp.sin(f(*args))), (0, 2))
    for got, row in zip(
        zip(*vmap(slopes)(x, index, values), strict=True),
        zip(x, index, values, strict=True),
        strict=True,
    ):
        for mine, alone in zip(got, slopes(*row), strict=True):
            close(mine, alone)


def test_checkpoints_hold_transforms():
    def f(x, y):
        return jnp.sin(x * jnp.cos(y)) * y

    x = jnp.array([0.5, 1.5])
    for kept in (
        lambda x: vmap(f)(x, x).sum(),
        lambda x: jax.jvp(lambda z: f(z, x), (x,), (x,))[1].sum(),
    ):
        close(grad(jax.checkpoint(kept))(x), grad(kept)(x))


def test_parts_that_both_branches_pass_on_stay_outside_of_a_batch():
    def f(x, y):
        return lax.cond(x < 1, lambda x, y: (x * 2, y), lambda x, y: (x * 3, y), x, y)

    def g(n, y):
        return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1]), (n, y))

    x, y = jnp.arange(3), jnp.ones(2)
    for fun, first in ((f, [0, 3, 6]), (g, [3, 3, 3])):
        made, same = jax.vmap(fun, in_axes=(0, None), out_axes=(0, None))(x, y)
        assert made.tolist() == first
        assert same.tolist() == [1, 1]


def test_loops_say_which_part_of_the_carry_differs():
    message = (
        r"  \* the input carry component c\['a'\] has type int32\[\] but the corresponding output "
        r"carry component has type float32\[2\], so the dtypes do not match, and the shapes do not "
        r"match;"
    )
    with pytest.raises(TypeError, match=message):
        lax.scan(
            lambda c, _: ({"a": jnp.ones(2), "b": jnp.ones(2)}, None),
            {"a": jnp.int32(1), "b": jnp.int32(1)},
            length=1,
        )
    with pytest.raises(TypeError, match="must have equal types, got int16 and int32"):
        lax.fori_loop(np.int16(0), np.int32(1), lambda i, c: c, 0)
    with pytest.raises(TypeError, match="got pytree"):
        lax.while_loop(lambda c: (True, True), lambda c: c, 0)
    assert lax.fori_loop(0.5, 2.0, lambda i, c: c + i, 0.0) == 2.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lax.cond(None, abs, abs, 1), "cond predicate is None"),
        (lambda: lax.cond("x", abs, abs, 1), "Pred must be a scalar, got x of type <class 'str'>"),
        (lambda: lax.switch("x", [abs], 1), "Index type must be an integer, got x"),
        (lambda: lax.switch(0, [3], 1), "sequence of callables"),
        (lambda: lax.scan(lambda c, x: 1.0, 0, length=1), r"must be a pair, got float32\[\]"),
    ],
)
def test_choices_and_results_are_checked(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_what_differs_between_a_carry_and_the_next_is_told_for_each_component():
    def refused(init, out):
        with pytest.raises(TypeError) as error:
            lax.scan(lambda c, x: (out, None), init, None, length=1)
        return str(error.value)

    start = "scan body function carry input and carry output must have the same pytree structure"
    end = "Revise the function so that the carry output has the same pytree structure"
    text = refused({"a": (1.0, 2.0), "b": 1.0}, {"a": 1.0, "b": [1.0]})
    assert text.startswith(start) and end in text
    what = "but the corresponding component of the carry output is a"
    assert (
        f"carry component c['a'] is a <class 'tuple'> {what} pytree leaf, so their Python" in text
    )
    assert f"carry component c['b'] is a pytree leaf {what} <class 'list'>, so their Python" in text
    text = refused((1.0, 2.0), (1.0, 2.0, 3.0))
    assert f"The input carry c is a tuple of length 2 {what} tuple of length 3, so the" in text
    text = refused({"a": 1.0, "b": 2.0}, {"a": 1.0})
    assert f"<class 'dict'> with 2 children {what} <class 'dict'> with 1 child, so the" in text
    assert "with the symmetric difference of key sets: {'b'}." in text
    text = refused({"a": 1.0}, {"b": 1.0})
    assert "with pytree metadata ('b',), so the pytree node metadata does not match." in text


def test_branches_for_a_batch_have_equal_types():
    both = jax.vmap(lambda p, of: lax.cond(p, lambda: 1.0, lambda: of), (0, None))
    with pytest.raises(TypeError, match=r"equal output types(.|\n)*type float32.. but .* int32"):
        both(jnp.array([True, False]), 1)
    with pytest.raises(TypeError, match=r"true_fun output is a pytree leaf but .* 'tuple'"):
        both(jnp.array([True, False]), (1.0,))


def test_the_first_of_the_greatest_elements_of_a_window_has_the_derivative():
    ones = jnp.ones((4, 4))
    pooled = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (3, 3), (1, 1), "SAME")  # noqa: E731
    expected = [[4, 2, 2, 0], [2, 1, 1, 0], [2, 1, 1, 0], [0, 0, 0, 0]]
    assert jax.grad(lambda x: pooled(x).sum())(ones).tolist() == expected
    least = lambda x: lax.reduce_window(x, jnp.inf, lax.min, (2, 2), (2, 2), "VALID")  # noqa: E731
    assert jax.grad(lambda x: least(x).sum())(ones).tolist() == [[1, 0, 1, 0], [0] * 4] * 2


@pytest.mark.parametrize("options", [{"window_dilation": (1, 2, 1)}, {"base_dilation": (2, 1, 1)}])
def test_windows_along_any_axes_have_the_values_of_their_elements(options):
    x = jnp.asarray(np.random.default_rng(0).standard_normal((5, 4, 3)), "float32")
    for start, pads in ((-jnp.inf, "SAME"), (0.25, [(1, 0), (0, 1), (0, 0)])):
        args = start, (2, 2, 3), (2, 1, 1), pads
        fast = lax.reduce_window(x, args[0], lax.max, *args[1:], **options)
        plain = lax.reduce_window(x, args[0], lambda a, b: lax.max(a, b), *args[1:], **options)
        assert fast.tolist() == plain.tolist()


# -- what bodies write -----------------------------------------------------------------------------


class Draws:
    """Random numbers by a counter in a dictionary, as packages count their keys."""

    def __init__(self):
        self.counts = {"n": 0}

    def make(self):
        counts = self.counts

        def draw():
            counts["n"] += 1
            return jax.random.normal(jax.random.fold_in(jax.random.key(3), counts["n"]))

        return draw


def test_bodies_of_loops_write_once_as_in_a_trace():
    """A counter of random keys counts one call, however many turns there are."""
    first = Draws().make()()
    for loop in (
        lambda f: lax.scan(lambda c, _: (c, f()), 0, None, length=3)[1],
        lambda f: lax.map(lambda x: f(), jnp.arange(3)),
        lambda f: lax.fori_loop(0, 3, lambda i, ys: ys.at[i].set(f()), jnp.zeros(3)),
        lambda f: lax.while_loop(
            lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1].at[s[0]].set(f())), (0, jnp.zeros(3))
        )[1],
    ):
        for change in (lambda x: x, jax.jit):
            draws = Draws()
            draw = draws.make()
            assert change(lambda: loop(draw))().tolist() == [first] * 3  # noqa: B023
            assert draws.counts == {"n": 1}
            assert draw() != first


def test_variables_lists_and_sets_are_written_once():
    count, names, seen = 0, [], set()

    def body(c, x):
        nonlocal count
        count += 1
        names.append(len(names))
        seen.add(len(seen))
        return c + count + len(names) + len(seen), None

    assert lax.scan(body, 0, jnp.arange(4))[0] == 12
    assert (count, names, seen) == (1, [0], {0})
    with pytest.raises(ValueError, match="stop"):
        lax.scan(lambda c, x: (names.append(1), (_ for _ in ()).throw(ValueError("stop"))), 0, X)


def test_branches_that_are_not_taken_write_too():
    one, two, three = [
        jax.random.normal(jax.random.fold_in(jax.random.key(3), i)) for i in (1, 2, 3)
    ]
    for taken, expected in ((True, one), (False, two)):
        draw = Draws().make()
        assert lax.cond(taken, lambda: draw(), lambda: draw()) == expected  # noqa: B023
        assert draw() == three
    draw = Draws().make()
    assert lax.switch(1, [lambda: draw(), lambda: draw()]) == two
    assert draw() == three


@pytest.mark.parametrize("transform", [grad, jax.jacfwd, lambda f: jax.jit(grad(f))])
def test_rematerialized_functions_draw_the_same_again(transform):
    def loss(x, remat):
        draw = Draws().make()
        block = lambda x: jnp.sin(x * draw()) * draw()  # noqa: E731
        block = jax.checkpoint(block) if remat else block
        return block(block(x))

    expected = transform(lambda x: loss(x, False))(0.5)
    close(transform(lambda x: loss(x, True))(0.5), expected)
