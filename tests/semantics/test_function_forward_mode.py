"""Test custom Functions in forward mode: the arguments and results of `jvp`."""

import pytest

# PyTorch compiles its rules when they are first used
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def function(t, forward, jvp):
    class Made(t.autograd.Function):
        @staticmethod
        def backward(ctx, *grads):
            return grads

    Made.forward, Made.jvp = staticmethod(forward), staticmethod(jvp)
    return Made


def applied(t, made, *args, grad=False):
    """The result of `made` on a dual tensor, and on `args` after it."""
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=grad)
    x = x.clone() if grad else x
    dual = t.autograd.forward_ad.make_dual(x, t.full((2, 2), 5.0))
    return dual, made.apply(dual, *args)


def test_numbers_have_no_tangent_and_other_tensors_have_zeros(t):
    seen = []

    def jvp(ctx, x, number, y, count):
        seen.append((number, y.tolist(), count))
        return x

    made = function(t, lambda ctx, x, number, y, count: x * number + y, jvp)
    with t.autograd.forward_ad.dual_level():
        applied(t, made, 3, t.ones(2), t.tensor(1))
    assert seen == [(None, [0.0, 0.0], None)]


def test_without_zeros_where_they_are_not_wanted(t):
    seen = []

    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * y

    def jvp(ctx, x, y):
        seen.append(y)
        return x

    with t.autograd.forward_ad.dual_level():
        applied(t, function(t, forward, jvp), t.ones(2))
    assert seen == [None]


@pytest.mark.parametrize("grad", [False, True])
def test_what_is_written_to_keeps_its_identity(t, grad):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    with t.autograd.forward_ad.dual_level():
        dual, out = applied(t, function(t, forward, lambda ctx, x: x.mul_(2)), grad=grad)
        assert out is dual
        assert out.tolist() == [[2.0, 4.0], [6.0, 8.0]]
        assert t.autograd.forward_ad.unpack_dual(dual).tangent.tolist() == [[10.0] * 2] * 2
        assert out.requires_grad == grad


def test_writing_to_a_tangent_leaves_those_of_others_alone(t):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    made = function(t, forward, lambda ctx, x: x.mul_(2))
    fwd = t.autograd.forward_ad
    with fwd.dual_level():
        x = fwd.make_dual(t.ones(2), t.full((2,), 5.0))
        y = x + 1
        made.apply(y)
        assert fwd.unpack_dual(x).tangent.tolist() == [5.0, 5.0]
        assert fwd.unpack_dual(y).tangent.tolist() == [10.0, 10.0]


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("jvp", [lambda ctx, x: x * 2, lambda ctx, x: x])
def test_a_tangent_must_be_written_to_as_its_value_is(t, grad, jvp):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    with (
        t.autograd.forward_ad.dual_level(),
        pytest.raises(RuntimeError, match="must modify the corresponding gradient inplace"),
    ):
        applied(t, function(t, forward, jvp), grad=grad)


@pytest.mark.parametrize(
    "forward, jvp, message",
    [
        (lambda ctx, x: x[:1], lambda ctx, x: x[:1].clone(), "jvp is not returning a view"),
        (lambda ctx, x: x[:1], lambda ctx, x: (x * 1)[:1], "a view of the given grad input"),
        (lambda ctx, x: x, lambda ctx, x: x, "jvp is not returning a view"),
        (lambda ctx, x: x, lambda ctx, x: x * 2, "jvp is not returning a view"),
    ],
)
def test_the_tangent_of_a_view_is_a_view(t, forward, jvp, message):
    with t.autograd.forward_ad.dual_level(), pytest.raises(RuntimeError, match=message):
        applied(t, function(t, forward, jvp))


def test_the_tangent_of_a_view_of_a_view_has_the_base_of_its_tangent(t):
    made = function(t, lambda ctx, x: x[:1], lambda ctx, x: (x * 1)[:1])
    fwd = t.autograd.forward_ad
    with fwd.dual_level():
        x = fwd.make_dual(t.ones(2, 2), t.ones(2, 2))
        with pytest.raises(RuntimeError, match="a view of the same base as the given grad input"):
            made.apply(x.view_as(x))


@pytest.mark.parametrize("view", [lambda x: x[:1], lambda x: x.view_as(x)])
def test_tangents_that_are_views_are_taken(t, view):
    made = function(t, lambda ctx, x: view(x), lambda ctx, x: view(x))
    with t.autograd.forward_ad.dual_level():
        _, out = applied(t, made)
        tangent = t.autograd.forward_ad.unpack_dual(out).tangent
        assert tangent.tolist() == [[5.0, 5.0]] * len(out)


def test_what_is_marked_as_constant_has_no_tangent(t):
    def forward(ctx, x):
        y = x.clone()
        ctx.mark_non_differentiable(y)
        return x * 2, y

    with t.autograd.forward_ad.dual_level():
        wrong = function(t, forward, lambda ctx, x: (x * 2, x))
        with pytest.raises(RuntimeError, match="You should return None at that position instead"):
            applied(t, wrong)
        _, (_, y) = applied(t, function(t, forward, lambda ctx, x: (x * 2, None)))
        assert t.autograd.forward_ad.unpack_dual(y).tangent is None


def test_a_function_without_any_rule_says_which_one_is_missing(t):
    class Bare(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with (
        t.autograd.forward_ad.dual_level(),
        pytest.raises(NotImplementedError, match="must implement the jvp function"),
    ):
        applied(t, Bare)


def test_a_backward_that_leaves_kept_values_alone_runs_on_tangents(t):
    class Product(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(x, y)
            ctx.unused = x * y
            return ctx.unused * 3

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return 3 * g * y, 3 * g * x

        @staticmethod
        def jvp(ctx, a, b):
            x, y = ctx.saved_tensors
            return 3 * (a * y + x * b)

    x = t.tensor(2.0, requires_grad=True)
    y = t.tensor(5.0, requires_grad=True)
    with t.autograd.forward_ad.dual_level():
        out = Product.apply(t.autograd.forward_ad.make_dual(x, t.tensor(1.0)), y)
        out.backward()
        assert t.autograd.forward_ad.unpack_dual(x.grad).primal == 15.0


@pytest.mark.parametrize("kind", ["int64", "bool"])
def test_a_tangent_is_floating_or_complex(t, kind):
    made = function(t, lambda ctx, x: x * 2, lambda ctx, x: x.to(getattr(t, kind)))
    message = "Expected both tensor and its forward grad to be floating point or complex"
    with t.autograd.forward_ad.dual_level(), pytest.raises(RuntimeError, match=message):
        applied(t, made)
    tangent = t.ones(2).to(getattr(t, kind))
    with pytest.raises(ValueError, match="Expected tangent to be floating point or complex"):
        t.func.jvp(t.sin, (t.ones(2),), (tangent,))


def test_what_has_no_derivative_has_no_tangent(t):
    made = function(t, lambda ctx, x: (x * 2, x.to(t.int64)), lambda ctx, x: (x * 2, x))
    message = "You should return None at that position instead"
    with t.autograd.forward_ad.dual_level(), pytest.raises(RuntimeError, match=message):
        applied(t, made)


def test_a_tangent_for_what_is_no_tensor_goes_nowhere(t):
    made = function(t, lambda ctx, x: (x * 2, None, "text"), lambda ctx, x: (x * 2, x, x))
    with t.autograd.forward_ad.dual_level():
        _, (out, *others) = applied(t, made)
        assert t.autograd.forward_ad.unpack_dual(out).tangent.tolist() == [[10.0] * 2] * 2
    assert others == [None, "text"]
