"""Test functions with custom rules that close over differentiated tensors."""

import itertools

import pytest

import wengert as wg
import wengert.autograd.forward_ad as fwd
from wengert import func
from wengert.tape.modes import full_mode


def _closing_vjp(x):
    @wg.func.custom_vjp
    def f(a):
        return a * a * x

    f.defvjp(lambda a: (a * a * x, (a,)), lambda kept, g: (g * 2 * kept[0] * x,))
    return f(x).sum()


def _closing_jvp(x):
    @wg.func.custom_jvp
    def f(a):
        return a * a * x

    f.defjvp(lambda primals, tangents: (f(*primals), 2 * primals[0] * x * tangents[0]))
    return f(x).sum()


@pytest.mark.parametrize("f", [_closing_vjp, _closing_jvp])
def test_second_derivatives_through_a_closed_over_argument_are_refused(f):
    x = wg.tensor([2.0, 3.0], dtype=wg.float64)
    assert wg.func.grad(f)(x).tolist() == [12.0, 27.0]
    twice = wg.func.jacfwd(wg.func.jacfwd(f))(x)
    assert twice.tolist() == [[12.0, 0.0], [0.0, 18.0]]
    with pytest.raises(RuntimeError, match="closes over a tensor that it is differentiated by"):
        wg.func.jacrev(wg.func.jacrev(f))(x)


@pytest.mark.parametrize("f", [_closing_vjp, _closing_jvp])
def test_a_first_derivative_through_a_closed_over_argument_may_be_recorded(f):
    x = wg.tensor([2.0, 3.0], dtype=wg.float64, requires_grad=True)
    (first,) = wg.autograd.grad(f(x), x, create_graph=True)
    assert first.tolist() == [12.0, 27.0]
    with pytest.raises(RuntimeError, match="closes over a tensor that it is differentiated by"):
        first.sum().backward()


def test_second_derivatives_by_what_is_closed_over_alone_are_known():
    x = wg.tensor([2.0, 3.0], dtype=wg.float64)

    def by_scale(scale):
        @wg.func.custom_vjp
        def f(a):
            return a * scale**3

        f.defvjp(lambda a: (a * scale**3, None), lambda kept, g: (g * scale**3,))
        return f(x).sum()

    scale = wg.tensor(2.0, dtype=wg.float64, requires_grad=True)
    (first,) = wg.autograd.grad(by_scale(scale), scale, create_graph=True)
    assert first.item() == 5 * 3 * 4
    (second,) = wg.autograd.grad(first, scale)
    assert second.item() == 5 * 6 * 2


# -- every way to ask for derivatives, around every other ------------------------------------------
# The functions are cubes, however they close over what they are a cube of.


def _vjp(function, of_rule, x):
    made = func.custom_vjp(function)
    made.defvjp(lambda a: (function(a), a), lambda a, g: (g * of_rule(a),))
    return made(x)


def _jvp(function, of_rule, x):
    made = func.custom_jvp(function)
    made.defjvp(lambda primals, t: (function(*primals), of_rule(*primals) * t[0]))
    return made(x)


def _nested(x):
    inner = func.custom_jvp(lambda b: b * x)
    inner.defjvp(lambda primals, t: (primals[0] * x, x * t[0]))
    return _vjp(lambda a: inner(a) * a, lambda a: 2 * a * x, x)


def _derived(x):
    y = x.sin()
    return _vjp(lambda a: a * y, lambda a: y, x * x) * (x / y)


ONE = wg.tensor(1.0, dtype=wg.float64)
CUBES = {
    "vjp": lambda x: _vjp(lambda a: a * a * x, lambda a: 2 * a * x, x),
    "jvp": lambda x: _jvp(lambda a: a * a * x, lambda a: 2 * a * x, x),
    "vjp, rule": lambda x: _vjp(lambda a: a**3, lambda a: 3 * x * x, x),
    "jvp, rule": lambda x: _jvp(lambda a: a**3, lambda a: 3 * x * x, x),
    "vjp, constant": lambda x: _vjp(lambda a: a * x**3, lambda a: x**3, ONE),
    "jvp, constant": lambda x: _jvp(lambda a: a * x**3, lambda a: x**3, ONE),
    "nested": _nested,
    "derived": _derived,
}


def _by_dual(f):
    def slope(x):
        with fwd.dual_level():
            found = fwd.unpack_dual(f(fwd.make_dual(x, wg.ones_like(x)))).tangent
        return wg.zeros_like(x) if found is None else found

    return slope


def _by_graph(f):
    def slope(x):
        with wg.enable_grad():
            x = x if x.requires_grad else x.clone().requires_grad_()
            return wg.autograd.grad(f(x).sum(), x, create_graph=True)[0]

    return slope


WAYS = {
    "jvp": lambda f: lambda x: func.jvp(f, (x,), (wg.ones_like(x),))[1],
    "vjp": lambda f: lambda x: func.vjp(f, x)[1](wg.ones_like(x))[0],
    "grad": func.grad,
    "jacfwd": func.jacfwd,
    "jacrev": func.jacrev,
    "hessian": func.hessian,
    "make_dual": _by_dual,
    "create_graph": _by_graph,
    "linearize": lambda f: lambda x: func.linearize(f, x)[1](wg.ones_like(x)),
}
REASONS = (
    "closes over a tensor that it is differentiated by",
    "close over a tensor with a tangent and over one that requires a gradient",
    "a gradient cannot go both through a dual tensor",
    "Nested forward mode AD is not supported",
)


def _is_right(cube, ways, mapped, requires_grad):
    """Whether a derivative of a cube is right; None if it is refused."""
    order = sum(2 if way == "hessian" else 1 for way in ways)
    slope = CUBES[cube]
    for way in reversed(ways):
        slope = WAYS[way](slope)
    points = [2.0, 3.0] if mapped else 2.0
    x = wg.tensor(points, dtype=wg.float64, requires_grad=requires_grad)
    try:
        found = (func.vmap(slope) if mapped else slope)(x).detach()
    except RuntimeError as error:
        assert any(reason in str(error) for reason in REASONS)
        return None
    want = {1: 3 * x.detach() ** 2, 2: 6 * x.detach(), 3: 6 + 0 * x.detach()}[order]
    return wg.allclose(found, want, 1e-12, 1e-12)


def _chains(depth):
    for ways in itertools.product(WAYS, repeat=depth):
        if len(ways) + ways.count("hessian") <= 3:
            yield ways


@pytest.mark.sampled(4)
@pytest.mark.parametrize("cube", CUBES)
@pytest.mark.parametrize(
    ("mapped", "requires_grad"), [(False, False), (True, False), (False, True), (True, True)]
)
def test_derivatives_of_derivatives_are_right_or_refused(cube, mapped, requires_grad):
    forward = {"jvp", "jacfwd", "make_dual"}
    for ways in itertools.chain(_chains(1), _chains(2)):
        found = _is_right(cube, ways, mapped, requires_grad)
        assert found is not False, ways
        if ways == ("hessian",) or ways == ("make_dual", "make_dual"):
            continue
        if not requires_grad and (len(ways) == 1 or forward.issuperset(ways)):
            assert found, ways


@pytest.mark.slow
@pytest.mark.parametrize("cube", CUBES)
def test_third_derivatives_are_right_or_refused(cube):
    assert not [ways for ways in _chains(3) if _is_right(cube, ways, False, False) is False]


def _function(x):
    class Square(wg.autograd.Function):
        @staticmethod
        def forward(a):
            return a * a * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0] * x

        @staticmethod
        def jvp(ctx, t):
            return t * 2 * ctx.saved_tensors[0] * x

    return Square


def test_tangents_of_what_a_function_closes_over_are_dropped_as_cotangents_are():
    x = wg.tensor(2.0, dtype=wg.float64)
    one = wg.ones_like(x)
    assert func.grad(lambda x: _function(x).apply(x))(x) == 8
    assert func.jvp(lambda x: _function(x).apply(x), (x,), (one,))[1] == 8
    assert func.jvp(lambda c: _function(c).apply(x), (x,), (one,))[1] == 0
    with fwd.dual_level():
        dual = fwd.make_dual(x, one)
        assert fwd.unpack_dual(_function(dual).apply(dual)).tangent == 8
        assert fwd.unpack_dual(_function(dual).apply(x)).tangent is None
    # what the rules close over counts for derivatives of these
    for outer, inner in itertools.product([func.jacfwd, func.jacrev], repeat=2):
        assert outer(inner(lambda x: _function(x).apply(x)))(x) == 8


def test_a_function_that_writes_a_tangent_to_its_argument_is_refused():
    class Scaled(wg.autograd.Function):
        @staticmethod
        def forward(ctx, a, scale):
            ctx.mark_dirty(a)
            return a.mul_(scale[0])

    with fwd.dual_level(), pytest.raises(NotImplementedError, match="pass that value as an"):
        scale = fwd.make_dual(wg.tensor(2.0), wg.tensor(1.0))
        Scaled.apply(wg.ones(2), [scale])


# -- arguments that a batch shares -----------------------------------------------------------------


class _Product(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


class _Stepped(wg.autograd.Function):
    """A constant with slopes of its own."""

    @staticmethod
    def forward(ctx, x, y):
        return wg.ones(2, dtype=wg.float64)

    @staticmethod
    def backward(ctx, g):
        return g * 5, g * 7


def _product_closed_over(x, y):
    class Product(wg.autograd.Function):
        @staticmethod
        def forward(ctx, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g * x

    return Product.apply(y)


_BY_RULE = wg.func.custom_vjp(lambda x, y: x * y)
_BY_RULE.defvjp(lambda x, y: (x * y, (x, y)), lambda kept, g: (g * kept[1], g * kept[0]))


@pytest.mark.parametrize(
    "rule", [_Product.apply, _Stepped.apply, _BY_RULE, _product_closed_over], ids=range(4)
)
def test_the_gradient_of_what_a_batch_shares_is_summed_over_it(rule):
    rows = wg.tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]], dtype=wg.float64)
    shared = wg.tensor([2.0, -0.5], dtype=wg.float64)

    def derivatives(mapped):
        def loss(y, rows=rows):
            return (mapped(lambda x: rule(x, y) * y + x, rows) ** 2).sum()

        leaf = shared.clone().requires_grad_()
        loss(leaf).backward()
        yield leaf.grad
        yield func.grad(loss)(shared)
        yield func.grad(loss, argnums=1)(shared, rows)
        yield func.hessian(loss)(shared)
        yield func.jacrev(func.grad(loss))(shared)
        yield func.vmap(func.grad(loss))(rows)

    def one_by_one(f, rows):
        return wg.stack([f(row) for row in rows])

    for ours, expected in zip(
        derivatives(lambda f, rows: func.vmap(f)(rows)), derivatives(one_by_one), strict=True
    ):
        wg.testing.assert_close(ours, expected)


def test_a_function_does_not_write_to_an_argument_that_a_batch_shares():
    class Doubled(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(y)
            return x * 2, y.mul_(2)

        @staticmethod
        def backward(ctx, g, h):
            return g * 2, h * 2

    shared = wg.ones(2, requires_grad=True) * 1
    with pytest.raises(NotImplementedError, match="writes to an argument that is not mapped"):
        func.vmap(lambda x: Doubled.apply(x, shared))(wg.ones(3, 2))


def test_rules_run_outside_of_levels_that_a_walk_entered_for_other_nodes():
    seen = []

    class Twice(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            seen.append(full_mode().levels)
            return 2 * g

    def f(x):
        y = Twice.apply(x)
        return func.jvp(lambda y: y**3, (y,), (wg.ones_like(y),))[1]

    assert func.grad(f)(wg.tensor(1.0)) == 24.0
    assert seen == [()]
