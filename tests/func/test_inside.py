"""Test functions under transforms: outer tensors, writes, views, hooks, custom rules."""

import functools
import math

import numpy as np
import pytest

import wengert as wg
from wengert import func
from wengert.tape import levels

X = wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64)
UNIT = wg.tensor([1.0, 0.0, 0.0], dtype=wg.float64)
ROWS = wg.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]], dtype=wg.float64)


def outer(values=(2.0, -1.0, 0.5)):
    return wg.tensor(values, dtype=wg.float64, requires_grad=True)


# -- tensors of the outside ------------------------------------------------------------------------


def test_no_confusion_of_perturbations():
    one = wg.tensor(1.0, dtype=wg.float64)
    slope = func.grad(lambda x: x * func.grad(lambda y: x + y)(one))(one)
    assert slope.item() == 1.0
    _, slope = func.jvp(lambda x: x * func.jvp(lambda y: x + y, (one,), (one,))[1], (one,), (one,))
    assert slope.item() == 1.0
    mixed = func.grad(lambda x: x * func.jvp(lambda y: x * y, (one,), (one,))[1])(3 * one)
    assert mixed.item() == 6.0
    _, mixed = func.jvp(lambda x: x * func.grad(lambda y: x * y)(one), (3 * one,), (one,))
    assert mixed.item() == 6.0


CLOSED_OVER = {
    # each gives sum(w * something); the gradient of w is that something
    "grad": (lambda w: func.grad(lambda x: (w * x**2).sum())(X).sum(), 2 * X),
    "vjp": (lambda w: func.vjp(lambda x: w * x**2, X)[1](X)[0].sum(), 2 * X * X),
    "jvp": (lambda w: func.jvp(lambda x: w * x**2, (X,), (UNIT,))[1].sum(), 2 * X * UNIT),
    "primal": (lambda w: func.jvp(lambda x: w * x, (X,), (UNIT,))[0].sum(), X),
    "vmap": (lambda w: func.vmap(lambda x: (w * x).sum())(ROWS).sum(), ROWS.sum(0)),
    "unmapped": (lambda w: func.vmap(lambda x: w * 1.0)(ROWS).sum(), wg.full((3,), 2.0)),
    "jacrev": (lambda w: func.jacrev(lambda x: w * x**2)(X).sum(), 2 * X),
    "jacfwd": (lambda w: func.jacfwd(lambda x: w * x**2)(X).sum(), 2 * X),
    "hessian": (lambda w: func.hessian(lambda x: (w * x**3).sum())(X).sum(), 6 * X),
    "linearize": (lambda w: func.linearize(lambda x: w * x**2, X)[1](X).sum(), 2 * X * X),
    "hvp": (lambda w: func.hvp(lambda x: (w * x**3).sum(), (X,), (X,))[1][0].sum(), 6 * X * X),
    "hessian_diag": (lambda w: func.hessian_diag(lambda x: (w * x**3).sum())(X).sum(), 6 * X),
    "vmap(grad)": (
        lambda w: func.vmap(func.grad(lambda x: (w * x**2).sum()))(ROWS).sum(),
        2 * ROWS.sum(0),
    ),
    "grad(vmap)": (
        lambda w: func.grad(lambda r: func.vmap(lambda x: (w * x**2).sum())(r).sum())(ROWS).sum(),
        2 * ROWS.sum(0),
    ),
    "jvp(vmap)": (
        lambda w: func.jvp(func.vmap(lambda x: (w * x**2).sum()), (ROWS,), (ROWS,))[1].sum(),
        2 * (ROWS * ROWS).sum(0),
    ),
}


@pytest.mark.parametrize("name", CLOSED_OVER)
def test_gradients_reach_tensors_of_the_outside(name):
    body, expected = CLOSED_OVER[name]
    w = outer()
    value = body(w)
    assert value.requires_grad
    value.backward()
    np.testing.assert_allclose(w.grad.numpy(), expected.numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", CLOSED_OVER)
def test_the_outside_is_not_recorded_where_nothing_is(name):
    body, _ = CLOSED_OVER[name]
    expected = body(outer())
    with wg.no_grad():
        first = body(outer())
    for value in (first, body(outer().detach())):
        assert (value.requires_grad, value.item()) == (False, expected.item())


def test_arguments_that_require_a_gradient_are_differentiated_further():
    x = X.clone().requires_grad_()
    (func.grad(lambda x: (x**3).sum())(x) * X).sum().backward()
    assert x.grad.tolist() == (6 * X * X).tolist()
    x.grad = None
    func.jacfwd(lambda x: x**3)(x).sum().backward()
    assert x.grad.tolist() == (6 * X).tolist()
    x.grad = None
    t = X.clone().requires_grad_()
    func.jvp(lambda x: x**2, (x,), (t,))[1].sum().backward()
    assert x.grad.tolist() == (2 * X).tolist()
    assert t.grad.tolist() == (2 * X).tolist()


def test_backward_inside_adds_to_the_grad_of_a_tensor_of_the_inside():
    def f(x):
        y = (x * 2).detach().requires_grad_()
        (y**2).sum().backward()
        return (x * y.grad).sum()

    assert func.grad(f)(X).tolist() == (4 * X).tolist()


# -- modes and detach ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "constant",
    [
        lambda x: x.detach(),
        lambda x: wg.no_grad()(lambda: x * 1)(),
    ],
)
def test_a_detached_factor_has_no_derivative(constant):
    def f(x):
        return (constant(x) * x).sum()

    assert func.grad(f)(X).tolist() == X.tolist()
    assert func.jacrev(f)(X).tolist() == X.tolist()
    assert func.vmap(func.grad(f))(ROWS).tolist() == ROWS.tolist()


def test_a_detached_factor_has_no_tangent():
    def f(x):
        return (x.detach() * x).sum()

    assert func.jvp(f, (X,), (UNIT,))[1].item() == 1.0
    assert func.jacfwd(f)(X).tolist() == X.tolist()
    assert func.jacfwd(func.vmap(f))(ROWS)[1, 1].tolist() == ROWS[1].tolist()


def test_a_detached_factor_of_a_batch_has_no_tangent():
    x, t = wg.tensor([1.0, 2.0, 3.0]), wg.tensor([4.0, 5.0, 6.0])
    value, slope = func.jvp(func.vmap(lambda x: x * x.detach()), (x,), (t,))
    assert wg.equal(value, x * x) and wg.equal(slope, t * x)
    value, slope = func.jvp(func.vmap(lambda x: x.detach()), (x,), (t,))
    assert wg.equal(value, x) and not slope.any()


def test_a_detached_factor_is_constant_at_all_levels():
    x, one = wg.tensor([1.0, 2.0]), wg.ones(2)

    def slope(x):
        return func.jvp(lambda y: y * y.detach(), (x,), (one,))[1]

    value, change = func.jvp(slope, (x,), (one,))
    assert wg.equal(value, x) and not change.any()


def test_batched_cotangents_of_a_batch_are_its_rows():
    x = wg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    found = func.jacrev(func.vmap(lambda row: row.flip(0) ** 2))(x)
    expected = func.jacfwd(lambda x: x.flip(1) ** 2)(x)
    assert wg.equal(found, expected)


def test_what_decides_for_a_batch_holds_for_all_of_it_or_is_refused():
    def function(x):
        assert (x._payload.min(), x._payload.max()) == (-1.0, 3.0)
        for extreme in (x._payload.min, x._payload.max):
            with pytest.raises(RuntimeError, match="its result would differ from one element"):
                extreme(0)
        return x

    func.vmap(function)(wg.tensor([[-1.0, 2.0], [0.0, 3.0]]))


def test_transforms_differentiate_also_where_recording_is_off():
    with wg.no_grad():
        assert func.grad(lambda x: (x**2).sum())(X).tolist() == (2 * X).tolist()
        assert func.jvp(lambda x: x**2, (X,), (X,))[1].tolist() == (2 * X * X).tolist()
        assert func.hessian(lambda x: (x**2).sum())(X).diagonal().tolist() == [2.0, 2.0, 2.0]


# -- writes and views ------------------------------------------------------------------------------


def written(x):
    y = wg.zeros(3, dtype=wg.float64)
    y[0] = x[1] * x[2]
    view = y[1:]
    view.add_(x[:2]).mul_(2)
    y.sin_()
    return y


def composed(x):
    return wg.stack([x[1] * x[2], 2 * x[0], 2 * x[1]]).sin()


@pytest.mark.parametrize(
    "transform",
    [
        func.jacrev,
        func.jacfwd,
        func.hessian,
        lambda f: lambda x: func.jvp(f, (x,), (x,)),
        lambda f: lambda x: func.vmap(f)(ROWS),
        lambda f: lambda x: func.vmap(func.jacrev(f))(ROWS),
        lambda f: lambda x: func.vmap(func.jacfwd(f))(ROWS),
        lambda f: lambda x: func.jacrev(func.vmap(f))(ROWS),
        func.hessian_diag,
    ],
)
def test_writes_and_views_inside(transform):
    found, expected = transform(written)(X), transform(composed)(X)
    for a, b in zip(
        found if isinstance(found, tuple) else [found],
        expected if isinstance(expected, tuple) else [expected],
        strict=True,
    ):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-12)


def test_writing_to_an_argument_changes_what_is_derived_from_it():
    def f(x):
        y = x.clone()
        alias = y.view(3)
        y.mul_(x)
        return (alias * x).sum()

    assert func.grad(f)(X).tolist() == (3 * X * X).tolist()
    assert func.jvp(f, (X,), (UNIT,))[1].item() == 3.0


# -- hooks -----------------------------------------------------------------------------------------


def test_hooks_inside_see_and_change_gradients():
    seen = []

    def f(x):
        y = x * 2
        y.register_hook(lambda g: seen.append(tuple(g.shape)) or g * 10)
        return (y * y).sum()

    assert func.grad(f)(X).tolist() == (80 * X).tolist()
    assert seen == [(3,)]
    assert func.vmap(func.grad(f))(ROWS).tolist() == (80 * ROWS).tolist()
    # once for the whole batch, which it sees as one value
    assert seen == [(3,), (3,)]


# -- Functions -------------------------------------------------------------------------------------


class Scaled(wg.autograd.Function):
    """The identity, with a gradient that is not its own: three times as large."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return 3 * g


class Told(wg.autograd.Function):
    """The identity again; what it is asked for is noted."""

    calls: list = []  # noqa: RUF012

    @staticmethod
    def forward(x, factor):
        return x * 1

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx, g):
        Told.calls.append("backward")
        return ctx.factor * g, None

    @staticmethod
    def jvp(ctx, t, _):
        Told.calls.append("jvp")
        return ctx.factor * t

    @staticmethod
    def vmap(info, in_dims, x, factor):
        Told.calls.append(f"vmap of {info.batch_size} over {in_dims}, {info.randomness}")
        return Told.apply(x, factor), in_dims[0]


@pytest.mark.parametrize("function", [Scaled.apply, lambda x: Told.apply(x, 3)])
def test_the_rule_of_a_function_counts_at_every_level(function):
    def f(x):
        return (function(x) ** 2).sum()

    assert func.grad(f)(X).tolist() == (6 * X).tolist()
    assert func.jvp(f, (X,), (UNIT,))[1].item() == 6.0
    assert func.jacfwd(f)(X).tolist() == (6 * X).tolist()
    assert func.vmap(func.grad(f))(ROWS).tolist() == (6 * ROWS).tolist()
    for second in (
        func.hessian(f)(X),
        func.jacrev(func.jacrev(f))(X),
        func.jacfwd(func.jacfwd(f))(X),
        func.jacrev(func.jacfwd(f))(X),
    ):
        # the rule once for each differentiation: d(6 function(x)) = 6 * 3
        assert second.tolist() == np.diag([18.0] * 3).tolist()


def test_a_function_is_asked_what_it_knows():
    Told.calls.clear()
    func.jvp(lambda x: Told.apply(x, 2), (X,), (X,))
    func.grad(lambda x: Told.apply(x, 2).sum())(X)
    assert Told.calls == ["jvp", "backward"]
    Told.calls.clear()
    made = func.vmap(lambda x: Told.apply(x, 2), in_dims=1, out_dims=1)(ROWS)
    assert made.tolist() == ROWS.tolist()
    assert Told.calls == ["vmap of 3 over (0, None), error"]


def test_a_function_with_several_outputs_and_a_constant_one():
    class Parts(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            places = x.argsort()
            ctx.mark_non_differentiable(places)
            return x.sin(), places, x * 2

        @staticmethod
        def backward(ctx, g, _, h):
            (x,) = ctx.saved_tensors
            return g * x.cos() + 2 * h

    def f(x):
        waves, places, doubled = Parts.apply(x)
        return (waves * doubled)[places].sum()

    expected = [2 * (v * math.cos(v) + math.sin(v)) for v in X.tolist()]
    for found in (func.grad(f)(X), func.jacfwd(f)(X), func.vmap(func.grad(f))(X[None])[0]):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_a_wrong_result_of_a_rule_is_refused():
    class Nested(wg.autograd.Function):
        @staticmethod
        def forward(x, others):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, others):
            assert in_dims == (0, [0, {"a": None, "b": 0}])
            return {"x": x, "all": [others[0].T, others[1]["b"]]}, {"x": 0, "all": [1, 0]}

    x, y = wg.arange(2.0), wg.arange(6.0).reshape(2, 3)

    def call(x, y):
        return Nested.apply(x, [y, {"a": 3, "b": x}])

    assert repr(func.vmap(call)(x, y)) == repr({"x": x, "all": [y, x]})

    class Wrong(wg.autograd.Function):
        generate_vmap_rule = False

        @staticmethod
        def forward(x):
            return x * 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def jvp(ctx, t):
            return t.sum()

        @staticmethod
        def vmap(info, in_dims, x):
            return x

    with pytest.raises(RuntimeError, match="Trying to set a forward gradient that has a dif"):
        func.jvp(Wrong.apply, (X,), (X,))
    with pytest.raises(RuntimeError, match=r"Expected the vmap staticmethod to have two returns"):
        func.vmap(Wrong.apply)(X)
    Wrong.generate_vmap_rule = True
    with pytest.raises(RuntimeError, match="generate_vmap_rule=True and an overridden vmap"):
        func.vmap(Wrong.apply)(X)


# -- custom_vjp and custom_jvp ---------------------------------------------------------------------


def test_custom_vjp_is_used_in_both_directions_and_orders():
    @func.custom_vjp
    def cut(x):
        return x * 1

    cut.defvjp(lambda x: (x * 1, x), lambda x, g: (g * x.clamp(-2, 2),))

    def f(x):
        return cut(x).sum()

    assert func.grad(f)(X).tolist() == [1.0, 2.0, 2.0]
    assert func.jacfwd(f)(X).tolist() == [1.0, 2.0, 2.0]
    assert func.vmap(func.grad(f))(ROWS).tolist() == [[1.0, 2.0, 2.0], [0.5, -1.0, 2.0]]
    for second in (func.hessian(f), func.jacrev(func.grad(f)), func.jacfwd(func.jacfwd(f))):
        assert second(X).diagonal().tolist() == [1.0, 1.0, 0.0]


def test_custom_jvp_is_used_in_both_directions_and_orders():
    @func.custom_jvp
    def cut(x, y):
        return x * y

    @cut.defjvp
    def rule(primals, tangents):
        (x, y), (s, t) = primals, tangents
        return cut(x, y), 2 * s * y + x * t

    def f(x):
        return cut(x, x).sum()

    assert func.jvp(f, (X,), (UNIT,))[1].item() == 3.0
    assert func.grad(f)(X).tolist() == (3 * X).tolist()
    assert func.vmap(func.grad(f))(ROWS).tolist() == (3 * ROWS).tolist()
    for second in (func.hessian(f), func.jacrev(func.grad(f)), func.jacfwd(func.jacfwd(f))):
        assert second(X).diagonal().tolist() == [3.0, 3.0, 3.0]


def test_rules_get_what_is_not_differentiated_first():
    power = func.custom_vjp(lambda n, x: x**n, nondiff_argnums=(0,))
    power.defvjp(lambda n, x: (x**n, x), lambda n, x, g: (g * n * x ** (n - 1),))
    assert func.grad(lambda x: power(3, x).sum())(X).tolist() == (3 * X**2).tolist()
    assert func.hessian(lambda x: power(3, x).sum())(X).diagonal().tolist() == (6 * X).tolist()
    assert power.__wrapped__ is power.func


def test_a_rule_of_another_structure_is_refused():
    f = func.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, None), lambda _, g: (g,))
    with pytest.raises(TypeError, match="must return one gradient for each argument"):
        func.grad(lambda x: f(x, x).sum())(X)
    f.defvjp(lambda x, y: x * y, lambda _, g: (g, g))
    with pytest.raises(TypeError, match="must return a pair"):
        func.grad(lambda x: f(x, x).sum())(X)


def test_an_index_without_dimensions_may_differ_within_the_batch():
    rows, at = wg.arange(6.0).reshape(2, 3), wg.tensor([2, 0])
    assert func.vmap(lambda row, i: row[i])(rows, at).tolist() == [2.0, 3.0]
    shared = wg.arange(3.0)
    assert func.vmap(lambda i: shared[i])(at).tolist() == [2.0, 0.0]


@pytest.mark.parametrize("dtype", [wg.bool, wg.uint8])
def test_a_mask_may_not_differ_within_the_batch(dtype):
    masks = wg.tensor([[1, 0, 1], [0, 1, 0]]).to(dtype)
    with pytest.raises(
        RuntimeError, match=r"dynamic shape. Attempting .* mask that differs .* wengert\.where"
    ):
        func.vmap(lambda row, mask: row[mask])(ROWS, masks)


# -- writes to what lies outside -------------------------------------------------------------------

TOTAL = wg.zeros(3)


def test_a_batch_is_not_written_to_a_tensor_of_the_outside():
    around = wg.zeros(2, 3)

    def add_around(x):
        around[0].add_(x)

    def assign_around(x):
        around[1] = x

    def add_to_global(x):
        TOTAL.add_(x)

    for write in (add_around, assign_around, add_to_global):
        words = (
            r"vmap: inplace arithmetic\(self, \*extra_args\) is not possible because there exists"
        )
        with pytest.raises(RuntimeError, match=words):
            wg.vmap(write)(wg.ones(2, 3))
    assert not around.any() and not TOTAL.any()
    assert (around._version, TOTAL._version) == (0, 0)


def test_tensors_made_inside_take_a_batch_and_those_outside_what_is_no_batch():
    around = wg.zeros(3)

    def function(x):
        made = wg.zeros(3)
        made[0] = x.sum()
        made += x
        around.add_(1.0)
        return made

    assert wg.vmap(function)(wg.ones(2, 3)).tolist() == [[4.0, 1.0, 1.0]] * 2
    assert around.tolist() == [1.0] * 3


@pytest.mark.parametrize(
    "call", [lambda f: wg.vmap(f)(wg.ones(2, 3)), lambda f: func.jvp(f, (X,), (X,))]
)
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_what_is_no_value_of_a_transform_is_written_where_it_is(call):
    repeated, fixed = wg.zeros(1).expand(3), np.zeros(3)
    fixed.flags.writeable = False
    fixed = wg.from_numpy(fixed)
    call(lambda x: (repeated.detach().fill_(2.0), x * 1)[1])
    assert repeated.tolist() == [2.0] * 3
    with pytest.raises(RuntimeError, match="read-only"):
        call(lambda x: (fixed.detach().fill_(2.0), x * 1)[1])


class Holder:
    def __init__(self):
        self.tensor = wg.zeros(3)


@pytest.mark.parametrize("way", ["attribute", "list", "view", "argument", "global dictionary"])
def test_a_batch_that_was_written_outside_by_any_way_is_refused_and_undone(way):
    held = Holder()
    tensors = [held.tensor, {"view": held.tensor[1:]}]

    def write(x, given):
        if way == "attribute":
            held.tensor.add_(x)
        elif way == "list":
            tensors[0][1:] = x[1:]
        elif way == "view":
            tensors[1]["view"].mul_(0).add_(x[1:])
        elif way == "argument":
            given.copy_(x)
        else:
            HELD["tensor"] += x
        return x * 2

    before = wg.zeros(3) if way != "global dictionary" else HELD["tensor"]
    target = HELD["tensor"] if way == "global dictionary" else held.tensor
    with pytest.raises(RuntimeError, match="is not possible because there exists a Tensor"):
        wg.vmap(write, in_dims=(0, None))(wg.ones(2, 3), held.tensor)
    assert target.tolist() == before.tolist() == [0.0] * 3
    assert tensors[1]["view"].tolist() == [0.0] * 2
    target.add_(1.0)
    assert tensors[1]["view"].tolist() == ([1.0] * 2 if way != "global dictionary" else [0.0] * 2)
    target.zero_()


HELD = {"tensor": wg.zeros(3)}


def test_what_an_exception_ends_leaves_no_batch_outside():
    held = Holder()

    def write(x):
        held.tensor.add_(x)
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        wg.vmap(write)(wg.ones(2, 3))
    assert held.tensor.tolist() == [0.0] * 3
    assert (held.tensor + 1).tolist() == [1.0] * 3


def test_tensors_in_circles_that_nobody_holds_are_no_tensors_of_the_outside():
    def circle(x):
        holder = Holder()
        holder.itself = holder
        holder.tensor.add_(x)
        return holder.tensor * 1

    assert wg.vmap(circle)(wg.ones(2, 3)).tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize("transform", [func.jacfwd, lambda f: lambda x: func.jvp(f, (x,), (x,))])
def test_forward_mode_refuses_what_was_written_outside_and_leaves_no_tangent(transform):
    memory = np.zeros(3)
    held = Holder()
    held.tensor = wg.from_numpy(memory)
    view = held.tensor[1:]

    def write(x):
        held.tensor.add_(x)
        view.mul_(x[1:])
        return (held.tensor * x).sum()

    x = wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64)
    with pytest.raises(RuntimeError, match="that would mutate a captured Tensor"):
        transform(write)(x)
    held.tensor.fill_(1.0)
    assert memory.tolist() == (held.tensor * 1).tolist() == [1.0] * 3
    assert view.tolist() == [1.0] * 2


@pytest.mark.parametrize(
    "transform",
    [
        func.grad,
        func.jacrev,
        func.jacfwd,
        lambda f: lambda x: func.vjp(f, x),
        lambda f: lambda x: func.jvp(f, (x,), (x,)),
        lambda f: func.vmap(func.grad(f)),
    ],
)
def test_no_transform_writes_its_values_to_a_captured_tensor(transform):
    captured = wg.zeros(3)

    def write(x):
        captured[1:].add_(x.sum())
        return (captured * x).sum()

    with pytest.raises(RuntimeError, match=r"captured Tensor|from outside"):
        transform(write)(wg.ones(2, 3))
    assert captured.tolist() == [0.0] * 3
    assert not captured.requires_grad

    def count(x):
        captured.add_(1.0)
        made = wg.zeros(2, 3)
        made.add_(x)
        return made.sum()

    assert func.grad(count)(wg.ones(2, 3)).tolist() == [[1.0] * 3] * 2
    assert captured.tolist() == [1.0] * 3


def test_a_view_may_be_returned_of_what_was_made_and_written_inside():
    def window(x):
        made = wg.zeros(4)
        made[1:] += x
        return made[:3], made[2:] * made[2:]

    def total(x):
        first, second = wg.vmap(window)(x)
        return first.sum() + second.sum()

    gradient = func.grad(total)(wg.ones(2, 3))
    assert gradient.tolist() == [[1.0, 3.0, 2.0]] * 2


@pytest.mark.parametrize("recorded", [False, True])
def test_what_is_repeated_for_a_batch_is_told_of_writes_to_the_tensor(recorded):
    def closed_over():
        c = wg.tensor([1.0, 2.0], requires_grad=recorded)
        return c * 1 if recorded else c

    c, w = closed_over(), wg.ones(3, 2, requires_grad=True)
    y = w * wg.func.vmap(lambda x: c)(wg.zeros(3))
    with wg.no_grad():
        c.add_(10)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()

    c, w = closed_over(), wg.ones(3, requires_grad=True)
    y = wg.func.vmap(lambda x: x * c)(w)
    with wg.no_grad():
        c.add_(10)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_view_inside_follows_a_write_before_its_base_requires_a_gradient():
    def function(x):
        base = x.clone()
        view = base[:1]
        base.add_(x)
        base.requires_grad_()
        return wg.autograd.grad((view * view).sum(), base)[0]

    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert wg.func.vmap(function)(x).tolist() == [[4.0, 0.0], [12.0, 0.0]]


# -- rules that use more than their arguments -----------------------------------------------------


class Slotted:
    __slots__ = ("kept",)


class Ordinary:
    pass


def in_slots(y):
    holder = Slotted()
    holder.kept = (y,)
    return lambda: holder.kept[0]


def in_attributes(y):
    holder = Ordinary()
    holder.inner = Ordinary()
    holder.inner.kept = {"y": [y]}
    return lambda: holder.inner.kept["y"][0]


def in_a_method(y):
    holder = Ordinary()
    holder.kept = y
    return functools.partial(getattr, holder, "kept")


GLOBAL = Ordinary()


def in_a_global_object(y):
    GLOBAL.kept = [y]
    return lambda: GLOBAL.kept[0]


HOLDERS = (in_slots, in_attributes, in_a_method, in_a_global_object)


def slope_by_a_rule(read):
    """2 cos(y), by a rule that gets y from `read`."""

    class Sine(wg.autograd.Function):
        @staticmethod
        def forward(x):
            return 2 * x.sin()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return 2 * read().cos() * g

    return func.grad(Sine.apply)(wg.tensor(1.0, dtype=wg.float64))


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_rule_may_find_traced_values_anywhere(holder):
    def f(y):
        return slope_by_a_rule(holder(y))

    y, one = wg.tensor(4.0, dtype=wg.float64), wg.tensor(1.0, dtype=wg.float64)
    value, slope = 2 * math.cos(4.0), -2 * math.sin(4.0)
    assert f(y).item() == pytest.approx(value)
    assert func.grad(f)(y).item() == pytest.approx(slope)
    assert func.grad(func.grad(f))(y).item() == pytest.approx(-value)
    assert func.jacrev(f)(y).item() == pytest.approx(slope)
    assert func.jacfwd(f)(y).item() == pytest.approx(slope)
    assert [part.item() for part in func.jvp(f, (y,), (one,))] == pytest.approx([value, slope])
    rows = wg.stack([y, y])
    assert func.vmap(f)(rows).tolist() == pytest.approx([value] * 2)
    assert func.vmap(func.grad(f))(rows).tolist() == pytest.approx([slope] * 2)
    total = func.grad(lambda rows: func.vmap(f)(rows).sum())(rows)
    assert total.tolist() == pytest.approx([slope] * 2)
    leaf = wg.tensor(4.0, dtype=wg.float64, requires_grad=True)
    f(leaf).backward()
    assert leaf.grad.item() == pytest.approx(slope)


# -- Functions that write to their argument -------------------------------------------------------


class Tripled(wg.autograd.Function):
    """Has no `jvp`: forward mode transposes `backward`."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, g):
        return g * 3


class TripledAgain(Tripled):
    @staticmethod
    def jvp(ctx, t):
        return t.mul_(3)


def by_its_result(function, x):
    # 3 x^2
    return (function.apply(x * 1) * x).sum()


def by_its_argument(function, x):
    y = x * 1
    function.apply(y)
    return (y * x).sum()


@pytest.mark.parametrize("shape", [(), (1,)])
@pytest.mark.parametrize("way", [by_its_result, by_its_argument])
@pytest.mark.parametrize("function", [Tripled, TripledAgain])
def test_forward_mode_through_a_function_that_writes(function, way, shape):
    f = functools.partial(way, function)
    x, one = wg.full(shape, 2.0, dtype=wg.float64), wg.ones(shape, dtype=wg.float64)
    assert [part.item() for part in func.jvp(f, (x,), (one,))] == [12.0, 12.0]
    assert [part.item() for part in func.jvp(func.grad(f), (x,), (one,))] == [12.0, 6.0]
    assert func.grad(lambda v: func.jvp(f, (v,), (one,))[1])(x).item() == 6.0
    assert func.jacfwd(f)(x).item() == 12.0
    assert func.hessian(f)(x).item() == 6.0
    w = wg.tensor(5.0, dtype=wg.float64, requires_grad=True)
    func.jvp(lambda v: way(function, v * w), (x,), (one,))[1].backward()
    assert w.grad.item() == 2 * 3 * 2.0 * 5.0 * 2


# -- tangents of what is written to ---------------------------------------------------------------


class Passed(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g

    @staticmethod
    def jvp(ctx, t):
        return t


SAME_SLOPE = {
    "clone": lambda y: y.clone(),
    "a constant added": lambda y: y + 1,
    "a constant subtracted": lambda y: y - 1.0,
    "zeros added": lambda y: y + wg.zeros(3, dtype=wg.float64),
    "a copy by indices": lambda y: y[[0, 1, 2]],
    "a copy of views": lambda y: wg.cat([y[:1], y[1:]]) + 0,
    "a copy in another order": lambda y: y.flip(0).clone().flip(0) + 0,
    "a Function's": Passed.apply,
}


@pytest.mark.parametrize("name", SAME_SLOPE)
def test_a_write_leaves_the_tangents_of_others_alone(name):
    copied = SAME_SLOPE[name]

    def later(x):
        y = x * x
        y.mul_(2)
        z = copied(y)
        y.mul_(3)
        return z

    def by_a_view(x):
        y = x * x
        y[0].mul_(2)
        z = copied(y)
        y[0] = 7
        return z

    def of_the_copy(x):
        y = x * x
        y.mul_(2)
        z = copied(y)
        z.mul_(3)
        return y * 1

    for f, factor in (
        (later, 4 * X),
        (by_a_view, wg.tensor([4.0, 2, 2]) * X),
        (of_the_copy, 4 * X),
    ):
        assert func.jvp(f, (X,), (UNIT,))[1].tolist() == (factor * UNIT).tolist()
        together = func.vmap(lambda d, f=f: func.jvp(f, (X,), (d,))[1])(wg.eye(3).double())
        assert together.tolist() == wg.diag(factor).tolist()
        assert func.jacfwd(f)(X).tolist() == wg.diag(factor).tolist()


def test_forward_over_reverse_through_two_writes():
    def f(x):
        y = x * x + 1
        y.copy_(y.clone() ** 2)
        y.copy_(y.clone() ** 2)
        return y.sum()

    # (x^2 + 1)^4
    slope = 8 * (X**2 + 1) ** 3 + 48 * X**2 * (X**2 + 1) ** 2
    assert func.jvp(func.grad(f), (X,), (UNIT,))[1].tolist() == pytest.approx(
        (slope * UNIT).tolist()
    )
    assert func.hessian(f)(X).diagonal().tolist() == pytest.approx(slope.tolist())


class Outer:
    """A function of the module, and an object with a method, which write to what is around them."""

    def add(self, row):
        OUTER.add_(row)
        return row * 2


OUTER = wg.zeros(3)
ADDING = Outer()


def added_by_a_function(row):
    return ADDING.add(row)


CALLS = [lambda row: added_by_a_function(row), lambda row: ADDING.add(row)]


@pytest.mark.parametrize("call", CALLS, ids=["function", "method"])
def test_a_batch_that_a_called_function_writes_outside_is_refused_and_taken_back(call):
    with pytest.raises(RuntimeError, match="from outside"):
        func.vmap(call)(wg.ones(2, 3))
    assert OUTER.tolist() == [0, 0, 0]


def test_a_rule_for_batches_says_where_the_batch_is():
    class Wrong(wg.autograd.Function):
        @staticmethod
        def forward(x):
            return 2 * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return 2 * x, (0, 0)

    with pytest.raises(RuntimeError, match=r"vmap staticmethod returned an incompatible .*Wrong"):
        func.vmap(Wrong.apply)(X)


def test_a_history_is_walked_once_however_many_gradients_lead_into_it():
    t = outer() * 1
    for _ in range(5):
        before, t = t, t - 0.001 * wg.func.grad(lambda u: (u * u).sum())(t)
        # whoever walked on from here again would fail
        before._edge.edges = None
    assert t.requires_grad


def test_a_leaf_outside_of_one_transform_may_be_an_input_of_another():
    x, y = outer(), outer()
    z = (y * 2).sum()
    assert levels.leads_outside([z], [x])
    assert not levels.leads_outside([z], [y])
    assert levels.leads_outside([z * x], [y])


def test_a_branch_is_chosen_for_each_element_of_a_batch():
    def step(x):
        yes, no = (lambda x: {"y": x.exp(), "n": x.sum()}), (lambda x: {"y": 2 * x, "n": x[0]})
        return wg.cond(x.sum() < 3, yes, no, (x,))

    x = wg.arange(6.0, dtype=wg.float64).reshape(3, 2)
    each = [step(row) for row in x]
    whole = func.vmap(step)(x)
    assert whole["y"].equal(wg.stack([one["y"] for one in each]))
    assert whole["n"].equal(wg.stack([one["n"] for one in each]))
    slope = wg.func.grad(lambda x: step(x)["y"].sum())
    assert func.vmap(slope)(x).equal(wg.stack([slope(row) for row in x]))
    flags = wg.tensor([[True], [False]])
    assert func.vmap(lambda p: wg.cond(p, lambda: 1.0, lambda: 2.0))(flags).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda x: x.long(), "same shapes and dtypes"),
        (lambda x: x.sum(), "same shapes and dtypes"),
        (lambda x: (x,), "one structure"),
    ],
)
def test_branches_of_a_batch_return_alike(other, said):
    with pytest.raises(RuntimeError, match=said):
        func.vmap(lambda x: wg.cond(x.sum() < 3, lambda x: x + 1, other, (x,)))(wg.ones(2, 2))
    with pytest.raises(RuntimeError, match="Expected pred to be bool or single-element tensor"):
        func.vmap(lambda x: wg.cond(x < 3, lambda: x, lambda: x))(wg.ones(2, 2))
