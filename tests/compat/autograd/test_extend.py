"""Test user-defined primitives: `primitive`, `defvjp`, `defjvp`, and related functions."""

import types

import numpy
import pytest

assert_close = numpy.testing.assert_allclose


def same(found, expected):
    assert_close(found, expected, rtol=1e-9, atol=1e-12)


@pytest.fixture
def power(ag):
    """``sin(x) * y**n``, with rules by `x` and `y`."""
    extend, np = ag("extend"), ag.np

    @extend.primitive
    def power(x, y, n=2):
        """sin(x) times a power of y."""
        assert not isinstance(x, extend.Box)
        assert not isinstance(y, extend.Box)
        return numpy.sin(x) * y**n

    extend.defvjp(
        power,
        lambda ans, x, y, n=2: lambda g: g * np.cos(x) * y**n,
        lambda ans, x, y, n=2: lambda g: g * n * ans / y,
    )
    return power


def test_rules_are_used(ag, power):
    same(ag.grad(power, (0, 1))(0.3, 2.0), (4 * numpy.cos(0.3), 4 * numpy.sin(0.3)))
    same(ag.grad(power, 1)(0.3, 2.0, n=3), 12 * numpy.sin(0.3))
    same(power(0.3, 2.0), 4 * numpy.sin(0.3))
    assert power.__name__ == "power"
    assert power.__doc__ == "sin(x) times a power of y."


def test_rules_differentiate_to_any_order(ag, power):
    same(ag.grad(ag.grad(power))(0.3, 2.0), -4 * numpy.sin(0.3))
    same(ag.grad(ag.grad(ag.grad(power)), 1)(0.3, 2.0), -4 * numpy.sin(0.3))
    x = numpy.array([0.3, 0.5])
    same(
        ag.hessian(lambda x: ag.np.sum(power(x, x)))(x),
        numpy.diag(2 * numpy.sin(x) + 4 * x * numpy.cos(x) - x**2 * numpy.sin(x)),
    )


def test_one_argument_in_two_places(ag, power):
    same(ag.grad(lambda x: power(x, x))(2.0), 4 * numpy.cos(2.0) + 4 * numpy.sin(2.0))


def test_forward_mode_transposes_the_rules_of_reverse_mode(ours):
    extend, np = ours("extend"), ours.np

    @extend.primitive
    def cube(x):
        return numpy.power(x, 3)

    extend.defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    same(ours.deriv(cube)(2.0), 12.0)
    same(ours.deriv(ours.deriv(cube))(2.0), 12.0)
    same(ours.deriv(ours.grad(cube))(2.0), 12.0)
    same(ours.grad(ours.deriv(lambda x: np.sum(cube(x))))(2.0), 12.0)


def test_rules_of_forward_mode(ag):
    extend = ag("extend")

    @extend.primitive
    def product(x, y):
        return x * y

    extend.defjvp(product, "same", lambda g, ans, x, y: g * x)
    same(ag.make_jvp(product)(2.0, 3.0)(10.0), (6.0, 30.0))
    same(ag.make_jvp(product, (0, 1))(2.0, 3.0)((10.0, 100.0)), (6.0, 230.0))
    same(ag.deriv(ag.deriv(lambda x: product(x, product(x, x))))(2.0), 12.0)


def test_rules_of_both_modes(ag):
    extend, np = ag("extend"), ag.np

    @extend.primitive
    def sine(x):
        return numpy.sin(x)

    extend.defvjp(sine, lambda ans, x: lambda g: g * np.cos(x))
    extend.defjvp(sine, lambda g, ans, x: g * np.cos(x))
    ag("test_util").check_grads(sine, order=3)(numpy.array([0.3, 1.0]))
    same(ag.grad(ag.deriv(ag.grad(sine)))(0.3), -numpy.cos(0.3))


def test_linear_primitives(ag):
    extend = ag("extend")

    @extend.primitive
    def product(x, y, z):
        return x * y * z

    extend.def_linear(product)
    same(ag.make_jvp(product, (0, 2))(1.0, 2.0, 3.0)((10.0, 20.0)), (6.0, 100.0))


def test_none_says_that_there_is_no_derivative(ag):
    extend = ag("extend")

    @extend.primitive
    def scaled(name, x):
        return len(name) * x

    extend.defvjp(scaled, None, lambda ans, name, x: lambda g: g * len(name))
    same(ag.grad(scaled, 1)("ab", 3.0), 2.0)

    @extend.primitive
    def steps(x, y):
        return numpy.floor(x) * y

    extend.defvjp(steps, None, lambda ans, x, y: lambda g: g * numpy.floor(x))
    same(ag.grad(steps, (0, 1))(2.5, 3.0), (0.0, 2.0))


def test_argnums_say_which_arguments_rules_are_for(ag):
    extend = ag("extend")

    @extend.primitive
    def product(x, y):
        return x * y

    extend.defvjp(product, lambda ans, x, y: lambda g: g * x, argnums=(1,))
    same(ag.grad(product, 1)(2.0, 3.0), 2.0)
    with pytest.raises(NotImplementedError, match="VJP of product wrt argnum"):
        ag.grad(product, 0)(2.0, 3.0)


def test_rules_by_any_argument_and_by_all(ag):
    extend = ag("extend")

    @extend.primitive
    def total(*xs):
        return sum(xs)

    extend.defvjp_argnum(total, lambda argnum, ans, args, kwargs: lambda g: g * (argnum + 1))
    same(ag.grad(total, (0, 1, 2))(1.0, 2.0, 3.0), (1.0, 2.0, 3.0))

    @extend.primitive
    def product(x, y):
        return x * y

    def by_all(argnums, ans, args, kwargs):
        return lambda g: [g * args[1 - argnum] for argnum in argnums]

    extend.defvjp_argnums(product, by_all)
    same(ag.grad(product, (0, 1))(2.0, 3.0), (3.0, 2.0))
    same(ag.grad(lambda x: product(x, x))(3.0), 6.0)


def test_a_primitive_without_a_rule_says_so_when_it_is_called(ag):
    @ag("extend").primitive
    def mystery(x):
        return x

    with pytest.raises(NotImplementedError, match="VJP of mystery wrt argnums"):
        ag.grad(mystery)(1.0)
    assert mystery(1.0) == 1.0


def test_rules_that_are_no_functions_are_refused(ag):
    extend = ag("extend")
    f = extend.primitive(lambda x: x)
    with pytest.raises(Exception, match="Bad VJP 'same'"):
        extend.defvjp(f, "same")
    with pytest.raises(Exception, match="Bad JVP 'other'"):
        extend.defjvp(f, "other")


def test_primitives_of_containers(ag):
    extend = ag("extend")

    @extend.primitive
    def product(pair):
        return pair[0] * pair[1]

    extend.defvjp(product, lambda ans, pair: lambda g: (g * pair[1], g * pair[0]))
    same(ag.grad(product)((2.0, 3.0)), (3.0, 2.0))
    atuple = ag("builtins").tuple
    same(ag.grad(lambda x: product(atuple((x, x))))(3.0), 6.0)


def test_primitives_that_give_containers(ag):
    extend, np = ag("extend"), ag.np

    @extend.primitive
    def both(x):
        return numpy.sin(x), x**2

    extend.defvjp(both, lambda ans, x: lambda g: g[0] * np.cos(x) + g[1] * 2 * x)

    def f(x):
        pair = both(x)
        return pair[0] * pair[1]

    x = 0.7
    same(ag.grad(f)(x), numpy.cos(x) * x**2 + 2 * x * numpy.sin(x))
    same(ag.grad(lambda x: both(x)[1])(x), 2 * x)


def test_rules_see_complex_cotangents_without_conjugation(ag):
    extend = ag("extend")

    @extend.primitive
    def square(z):
        return z**2

    extend.defvjp(square, lambda ans, z: lambda g: g * 2 * z)
    same(ag.holomorphic_grad(square)(1 + 2j), 2 * (1 + 2j))
    f = ag.grad(lambda x: ag.np.real(square(x * (1 + 2j))))
    same(f(2.0), -12.0)
    same(ag.grad(f)(2.0), -6.0)


def test_jacobians_through_rules_that_look_at_values(ag):
    extend = ag("extend")

    @extend.primitive
    def doubled(x):
        return 2 * x

    def rule(ans, x):
        def vjp(g):
            return 2 * g if float(numpy.sum(numpy.asarray(g))) > 0 else g * 2.0

        return vjp

    extend.defvjp(doubled, rule)
    same(ag.jacobian(doubled)(numpy.ones(3)), 2 * numpy.eye(3))


def test_wrong_shapes_of_cotangents_are_told(ours):
    extend = ours("extend")

    @extend.primitive
    def scaled(x, y):
        return x * y

    extend.defvjp(scaled, None, lambda ans, x, y: lambda g: g * x)
    with pytest.raises(ValueError, match=r"cotangent of shape \(2, 3\) for argument 1"):
        ours.grad(lambda y: ours.np.sum(scaled(numpy.ones(3), y)))(numpy.ones((2, 1)))


def test_results_that_are_no_arrays_are_refused(ag):
    extend = ag("extend")

    @extend.primitive
    def text(x):
        return "text"

    extend.defvjp(text, lambda ans, x: lambda g: g)
    with pytest.raises(TypeError, match="Can't differentiate w"):
        ag.grad(text)(1.0)


def test_functions_outside_of_derivatives(ag):
    seen = []

    @ag("extend").notrace_primitive
    def look(x):
        seen.append(x)
        return 2

    same(ag.grad(lambda x: look(x) * x)(3.0), 2.0)
    assert seen == [3.0]


def test_primitives_that_are_not_traced(ours):
    extend = ours("extend")
    rounded = extend.primitive(numpy.floor)
    extend.register_notrace(None, rounded)
    same(ours.grad(lambda x: rounded(x) * x)(2.5), 2.0)


def test_primitives_under_checkpoint(ours):
    extend = ours("extend")

    @extend.primitive
    def square(x):
        return x**2

    extend.defvjp(square, lambda ans, x: lambda g: g * 2 * x)
    same(ours.grad(ours.checkpoint(lambda x: square(square(x))))(2.0), 32.0)


def test_in_place_writes_to_what_a_rule_needs_are_noticed(ours):
    extend, np = ours("extend"), ours.np

    @extend.primitive
    def square(x):
        return x**2

    extend.defvjp(square, lambda ans, x: lambda g: g * 2 * x)

    def f(x):
        y = np.zeros(2)
        y[0] = x
        z = square(y)
        y[0] = 5.0
        return np.sum(z)

    same(ours.grad(f)(3.0), 6.0)


def test_vector_spaces(ag):
    vspace = ag("extend").vspace
    value = {"a": 1.0, "b": [numpy.ones(2), 1j]}
    space = vspace(value)
    assert space.size == 5
    assert len(list(space.standard_basis())) == 5
    same(space.zeros()["b"][0], numpy.zeros(2))
    same(space.add(value, value)["b"][1], 2j)
    same(space.scalar_mul(value, 3.0)["a"], 3.0)
    same(space.covector(value)["b"][1], -1j)
    same(space.inner_prod(value, value), 4.0)
    assert vspace(numpy.ones((2, 3))).shape == (2, 3)
    assert vspace(1.0) == vspace(2.0)
    assert vspace(1.0) != vspace(numpy.ones(2))
    assert (vspace(1j).iscomplex, vspace(1.0).iscomplex) == (True, False)
    assert vspace((1.0, 2.0)).randn()[0].shape == ()
    with pytest.raises(TypeError, match="Can't find vector space for value text of type"):
        vspace("text")


def test_methods_of_old_programs(ag):
    @ag.primitive
    def cube(x):
        return x**3

    with pytest.warns(UserWarning, match="defvjp method is deprecated"):
        cube.defvjp(lambda g, ans, vs, gvs, x: g * 3 * x**2)
    same(ag.grad(cube)(2.0), 12.0)
    other = ag.primitive(lambda x: x**3)
    with pytest.warns(UserWarning, match="defgrad method is deprecated"):
        other.defgrad(lambda ans, x: lambda g: g * 3 * x**2)
    same(ag.grad(other)(2.0), 12.0)
    flat = ag.primitive(numpy.floor)
    with pytest.warns(UserWarning, match="defvjp_is_zero method is deprecated"):
        flat.defvjp_is_zero()
    same(ag.grad(lambda x: flat(x) + x)(2.5), 1.0)


@pytest.mark.parametrize(
    ("module", "name"), [("core", "VJPNode"), ("extend", "SparseObject"), ("tracer", "TraceStack")]
)
def test_what_belongs_to_the_originals_tape_can_be_imported_and_refuses_use(ours, module, name):
    of_tape = getattr(ours(module), name)
    for use in (of_tape, lambda: of_tape.new_root(), lambda: types.new_class("Own", (of_tape,))):
        with pytest.raises(NotImplementedError, match=f"{name} belongs to the original's tape"):
            use()


def test_rules_for_functions_of_numpy_take_the_place_of_those_there(ours):
    extend = ours("extend")
    np = ours("numpy")
    extend.defvjp(np.nanmin, lambda ans, x: lambda g: g * 100.0 * (x == ans))
    try:
        same(ours.grad(np.nanmin)(numpy.array([3.0, 1.0])), [0.0, 100.0])
        assert np.nanmin(numpy.array([3.0, 1.0])) == 1.0
    finally:
        del np.nanmin
    same(ours.grad(ours("numpy").nanmin)(numpy.array([3.0, 1.0])), [0.0, 1.0])
    extend.defvjp(np.cbrt, lambda ans, x: lambda g: g * 7.0)
    try:
        same(ours.grad(np.cbrt)(8.0), 7.0)
    finally:
        del np.cbrt


def test_rules_are_made_with_what_autograd_makes_its_own_with(ag):
    vjps, extend = ag("numpy.numpy_vjps"), ag("extend")

    @extend.primitive
    def scaled(x, y):
        return x * y

    extend.defvjp(
        scaled,
        lambda ans, x, y: vjps.unbroadcast_f(x, lambda g: g * y),
        lambda ans, x, y: vjps.unbroadcast_f(y, lambda g: g * x),
    )
    x, y = numpy.ones((2, 1)), numpy.arange(3.0)
    found = ag.grad(lambda x, y: ag.np.sum(scaled(x, y)), (0, 1))(x, y)
    same(found[0], [[3.0], [3.0]])
    same(found[1], [2.0, 2.0, 2.0])
    repeated, count = vjps.repeat_to_match_shape(numpy.ones(2), (2, 3), float, 1, False)
    assert (repeated.shape, count) == ((2, 3), 3)
    same(vjps.replace_zero(numpy.array([0.0, 2.0]), 5.0), [5.0, 2.0])
    same(vjps.balanced_eq(numpy.array([1.0, 2.0]), 2.0, numpy.array([1.0, 2.0])), [0.0, 0.5])
    same(vjps.match_complex(1.0, 2.0 + 1j), 2.0)
