"""Test `utils.checkpoint`: regions that drop and recompute their saved tensors."""

import functools
import gc
import logging
import threading
import warnings
import weakref

import pytest


@pytest.fixture
def c(t):
    """The module of checkpoints."""
    return t.utils.checkpoint


@pytest.fixture
def x(t):
    return t.tensor([1.0, 2.0, 3.0], requires_grad=True)


@pytest.fixture
def w(t):
    return t.tensor([0.5, -1.0, 2.0], requires_grad=True)


@pytest.fixture(params=[False, True], ids=["plain", "reentrant"])
def reentrant(request):
    return request.param


class Counted:
    """A function that counts its calls, and how many came to their end."""

    def __init__(self, function):
        self.function = function
        self.calls = 0
        self.ends = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        result = self.function(*args, **kwargs)
        self.ends += 1
        return result


def plain_gradients(t, function, *inputs):
    """The gradients of a function's sum without a checkpoint."""
    return [g.tolist() for g in t.autograd.grad(function(*inputs).sum(), inputs)]


# -- values and gradients -------------------------------------------------------------------------


def cube(t, x):
    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    return Cube.apply(x)


def without_recording(t, x):
    with t.no_grad():
        factor = x.exp()
    return (x * factor).sin()


def written(x):
    y = x.exp()
    z = y * 2
    z.mul_(y)
    z[0] = x[1] * 3
    return z.sin()


def through_buffer(run, t, x, w):
    buffer = t.zeros(3)

    def f(x, factor):
        buffer.copy_(x.detach() * factor)
        return x * w * buffer.clone()

    return run(f, x, 2.0) + run(f, x, 3.0)


def penalty(t, x):
    (g,) = t.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
    return (g * g).sum()


def with_gradient(t, x, **options):
    z = x.sin().cos()
    (g,) = t.autograd.grad(z.sum(), x, **options)
    return z.cos() * g if options else x.cos() * g


def deep(run, v, n=3):
    a = v.cos() + v
    return run(lambda v: deep(run, v, n - 1), a) * a if n else v.sin() * v


# programs, each with what runs its regions, in a checkpoint or at once
BOTH_WAYS = {
    "two arguments": lambda run, t, x, w: run(lambda x, w: (x * w).sin() * x.exp(), x, w),
    "a closure": lambda run, t, x, w: run(lambda x: x * w * w, x) + w,
    "results from outside": lambda run, t, x, w: run(lambda v: v.exp() * v, x * 2) * 3,
    "no tensors": lambda run, t, x, w: run(lambda a, n, b, s: b.exp() * n, "a", 3, x, None),
    "one of two": lambda run, t, x, w: run(lambda x: (x.exp(), x.sin()), x)[1],
    "a number among results": lambda run, t, x, w: sum(run(lambda x: (x.exp(), 7, x * 2), x)),
    "a custom function": lambda run, t, x, w: run(lambda x: cube(t, x).sin(), x),
}
PROGRAMS = {
    **BOTH_WAYS,
    "a parameter alone": lambda run, t, x, w: run(lambda v: v * w * w, t.ones(3)),
    "used twice": lambda run, t, x, w: run(lambda v: v.exp().sin(), x).square(),
    "keywords": lambda run, t, x, w: run(
        lambda x, *, scale, other=None: x * scale * other, x, scale=w, other=3.0
    ),
    "results in containers": lambda run, t, x, w: (
        lambda out: out["a"][0] * out["b"][0] * out["a"][1] * len(out["b"][1])
    )(run(lambda x: {"a": [x.exp(), 5], "b": (x.sin(), "text")}, x)),
    "arguments in containers": lambda run, t, x, w: run(
        lambda pair, more: pair[0] * more["w"], [x], {"w": w}
    ),
    "its argument": lambda run, t, x, w: run(lambda x: x, x),
    "a detached result": lambda run, t, x, w: (lambda a, b: a * b.requires_grad + a * b)(
        *run(lambda x: (x.exp(), x.exp().detach()), x)
    ),
    "a detached argument": lambda run, t, x, w: run(lambda a, b: a * b, x.detach(), w),
    "no_grad": lambda run, t, x, w: run(lambda x: without_recording(t, x), x),
    "views": lambda run, t, x, w: run(lambda x: x.view(3, 1).t()[0] * x[1].exp(), x),
    "writes": lambda run, t, x, w: run(written, x),
    "a write at the end": lambda run, t, x, w: run(lambda x: (x * 2).exp_(), x),
    "a write to the result": lambda run, t, x, w: run(lambda x: x.exp().sin(), x).mul_(2),
    "a buffer that is filled again": through_buffer,
    "a penalty": lambda run, t, x, w: run(lambda x: penalty(t, x), x),
    "a gradient": lambda run, t, x, w: run(lambda x: with_gradient(t, x), x),
    "a kept graph": lambda run, t, x, w: run(lambda x: with_gradient(t, x, retain_graph=True), x),
    "three deep": lambda run, t, x, w: run(lambda x: deep(run, x), x),
    "two in one": lambda run, t, x, w: run(lambda x: run(written, run(cube, t, x.cos())), x),
}


@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives_are_those_without(t, c, x, w, name, early_stop):
    region = functools.partial(c.checkpoint, use_reentrant=False, early_stop=early_stop)
    found = []
    for run in (lambda f, *args, **kwargs: f(*args, **kwargs), region):
        y = PROGRAMS[name](run, t, x, w)
        first = t.autograd.grad(y.sum(), (x, w), create_graph=True, materialize_grads=True)
        total = sum((g * g).sum() for g in first)
        second = [None, None]
        if total.requires_grad:
            second = t.autograd.grad(total, (x, w), allow_unused=True)
        found.append([g if g is None else g.tolist() for g in (y, *first, *second)])
    for have, want in zip(*found, strict=True):
        assert have == (want if want is None else pytest.approx(want))


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_values_and_gradients_are_those_without_by_reentrance(t, c, x, w, name):
    found = []
    region = functools.partial(c.checkpoint, use_reentrant=True)
    for run in (lambda f, *args, **kwargs: f(*args, **kwargs), region):
        x.grad = w.grad = None
        y = BOTH_WAYS[name](run, t, x, w)
        y.sum().backward()
        found.append([v if v is None else v.tolist() for v in (y, x.grad, w.grad)])
    for have, want in zip(*found, strict=True):
        assert have == (want if want is None else pytest.approx(want))


@pytest.mark.parametrize("early_stop", [True, False])
def test_reentrance_inside_of_a_region(t, c, x, w, early_stop):
    def program(run, v, w):
        a = v.exp()
        return (run(lambda v, w: (v * w).sin() * v, a, w) * a).cos()

    inner = functools.partial(c.checkpoint, use_reentrant=True)
    with c.set_checkpoint_early_stop(early_stop):
        y = c.checkpoint(lambda v, w: program(inner, v, w), x, w, use_reentrant=False)
    y.sum().backward()
    want = plain_gradients(t, lambda v, w: program(lambda f, *args: f(*args), v, w), x, w)
    assert x.grad.tolist() == pytest.approx(want[0])
    assert w.grad.tolist() == pytest.approx(want[1])


def test_the_function_runs_once_forward_and_once_backward(c, x, reentrant):
    f = Counted(lambda x: x.exp().sin())
    y = c.checkpoint(f, x, use_reentrant=reentrant)
    assert f.calls == 1
    y.sum().backward()
    assert f.calls == 2


def test_in_a_chain_each_segment_is_computed_again_once(c, x, reentrant):
    functions = [Counted(lambda v: v.sin() * v) for _ in range(4)]
    y = x
    for f in functions:
        y = c.checkpoint(f, y, use_reentrant=reentrant)
    y.sum().backward()
    assert [f.calls for f in functions] == [2, 2, 2, 2]
    z = x.detach().clone().requires_grad_()
    y = z
    for _ in range(4):
        y = y.sin() * y
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx(z.grad.tolist())


def test_several_results_one_after_the_other(c, x):
    f = Counted(lambda x: (x.exp(), x.sin()))
    a, b = c.checkpoint(f, x, use_reentrant=False)
    a.sum().backward()
    b.sum().backward()
    assert x.grad.tolist() == (x.exp() + x.cos()).tolist()
    assert f.calls == 3


def test_hooks_inside_run_once_for_each_walk(c, x):
    seen = []

    def f(x):
        y = x.exp()
        y.register_hook(lambda g: seen.append(g.tolist()))
        return y.sin()

    c.checkpoint(f, x, use_reentrant=False).sum().backward()
    assert len(seen) == 1


def test_leaf_hooks_run_once(c, x):
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    c.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).sum().backward()
    assert len(seen) == 1


def test_the_graph_is_the_one_without(c, x):
    y = c.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
    assert y.grad_fn.name() == "SinBackward0"
    assert y.grad_fn.next_functions[0][0].name() == "ExpBackward0"


def test_the_reentrant_graph_is_one_node(c, x):
    y = c.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=True)
    assert y.grad_fn.name() == "CheckpointFunctionBackward"


def test_a_saved_tensor_that_is_looked_at_is_computed(c, x):
    f = Counted(lambda x: x.exp().sin())
    y = c.checkpoint(f, x, use_reentrant=False)
    assert y.grad_fn._saved_self.tolist() == x.exp().tolist()
    assert y.grad_fn._saved_self.tolist() == x.exp().tolist()
    assert f.calls == 3
    y.sum().backward()
    assert f.calls == 4


# -- memory ---------------------------------------------------------------------------------------


def test_intermediate_tensors_are_let_go_of(c, x, reentrant):
    made = []

    def f(x):
        y = x * 2
        z = y * y
        made.extend([weakref.ref(y), weakref.ref(z)])
        return z * z

    out = c.checkpoint(f, x, use_reentrant=reentrant)
    assert [reference() for reference in made] == [None, None]
    del made[:]
    out.sum().backward()
    assert [reference() for reference in made] == [None, None]
    assert x.grad.tolist() == (64 * x**3).tolist()


def test_inputs_are_let_go_of_after_the_backward_pass(t, c, reentrant):
    class Big:
        pass

    big = Big()
    alive = weakref.ref(big)
    v = t.ones(2, requires_grad=True)
    out = c.checkpoint(lambda v, big: v.exp() * v, v * 1, big, use_reentrant=reentrant)
    del big
    loss = out.sum()
    del out
    assert alive() is not None
    del loss
    gc.collect()
    assert alive() is None


# -- modes of the backward pass -------------------------------------------------------------------


def test_grad_works(t, c, x, w):
    y = c.checkpoint(lambda x, w: (x * w).exp(), x, w, use_reentrant=False)
    (g,) = t.autograd.grad(y.sum(), x)
    assert g.tolist() == (w * (x * w).exp()).tolist()
    assert x.grad is None and w.grad is None


def test_backward_with_inputs_works(c, x, w):
    y = c.checkpoint(lambda x, w: (x * w).exp(), x, w, use_reentrant=False)
    y.sum().backward(inputs=[w])
    assert x.grad is None
    assert w.grad.tolist() == (x * (x * w).exp()).tolist()


def test_grad_by_a_tensor_inside(t, c, x):
    inside = []

    def f(x):
        y = x.exp()
        inside.append(y)
        return y.sin()

    out = c.checkpoint(f, x, use_reentrant=False)
    (g,) = t.autograd.grad(out.sum(), inside[0])
    assert g.tolist() == pytest.approx(x.exp().cos().tolist())


def test_a_graph_that_is_kept_may_be_walked_again(c, x):
    f = Counted(lambda x: x.exp().sin() * x)
    y = c.checkpoint(f, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    first = x.grad.tolist()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == pytest.approx([3 * g for g in first])
    assert f.calls == 4


def test_a_second_backward_raises(c, x, reentrant):
    y = c.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=reentrant).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_in_a_thread(c, x):
    y = c.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    assert x.grad.tolist() == pytest.approx((x.exp() * x.exp().cos()).tolist())


def test_saved_tensors_may_be_unpacked_once_in_a_walk(t, c, x):
    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.saved_tensors  # noqa: B018
            ctx.saved_tensors  # noqa: B018
            return g * 2

    y = c.checkpoint(lambda x: Twice.apply(x.exp()), x, use_reentrant=False)
    with pytest.raises(c.CheckpointError, match=r"torch.utils.checkpoint: Unpack is being trigg"):
        y.sum().backward()


def test_a_group_of_walks_computes_once(c, x, w):
    f = Counted(lambda x, w: (x.exp(), w.sin()))
    a, b = c.checkpoint(f, x, w, use_reentrant=False)
    with c.GraphExecGroup():
        a.sum().backward()
        b.sum().backward()
    assert f.calls == 2
    assert x.grad.tolist() == x.exp().tolist() and w.grad.tolist() == w.cos().tolist()


def test_walks_of_a_group_that_overlap_are_refused(c, x):
    y = c.checkpoint(lambda x: x.sin().cos(), x, use_reentrant=False)
    with c.GraphExecGroup():
        y.sum().backward(retain_graph=True)
        with pytest.raises(RuntimeError, match="Performing two backward calls that overlap"):
            y.sum().backward()


def test_groups_cannot_be_nested(c):
    with (
        c.GraphExecGroup(),
        pytest.raises(RuntimeError, match="GraphExecGroup contexts cannot be nested"),
        c.GraphExecGroup(),
    ):
        pass


def test_in_a_group_a_saved_tensor_is_needed_once(c, x):
    y = c.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).sum()
    with c.GraphExecGroup():
        y.backward(retain_graph=True)
        with pytest.raises(c.CheckpointError, match=r"torch.utils.checkpoint: Unpack is being tri"):
            y.backward()


# -- without gradients ----------------------------------------------------------------------------


def test_no_input_requires_a_gradient(t, c):
    f = Counted(lambda x: x.exp())
    y = c.checkpoint(f, t.ones(2), use_reentrant=False)
    assert not y.requires_grad and f.calls == 1


def test_no_input_requires_a_gradient_reentrant(t, c):
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True. Gradients"):
        y = c.checkpoint(lambda x: x.exp(), t.ones(2), use_reentrant=True)
    assert not y.requires_grad


def test_reentrant_does_not_see_a_closure_alone(t, c, w):
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True. Gradients"):
        y = c.checkpoint(lambda x: x * w, t.ones(3), use_reentrant=True)
    assert not y.requires_grad


def test_under_no_grad(t, c, x, reentrant):
    f = Counted(lambda x: x.exp())
    with t.no_grad():
        y = c.checkpoint(f, x, use_reentrant=reentrant)
    assert not y.requires_grad and f.calls == 1


def test_under_inference_mode(t, c, x, reentrant):
    with t.inference_mode():
        y = c.checkpoint(lambda x: x.exp(), x, use_reentrant=reentrant)
        assert y.is_inference()


def test_contexts_are_not_entered_under_no_grad(t, c, x):
    entered = []

    class Context:
        def __enter__(self):
            entered.append(self)

        def __exit__(self, *exc):
            pass

    with t.no_grad():
        c.checkpoint(
            lambda x: x.exp(), x, use_reentrant=False, context_fn=lambda: (Context(), Context())
        )
    assert entered == []


# -- early stop -----------------------------------------------------------------------------------


def test_recomputing_stops_when_all_is_there(c, x):
    f = Counted(lambda x: x.exp().sin() + 1)
    c.checkpoint(f, x, use_reentrant=False).sum().backward()
    assert (f.calls, f.ends) == (2, 1)


@pytest.mark.parametrize("how", ["argument", "context"])
def test_without_early_stop_it_goes_on(c, x, how):
    f = Counted(lambda x: x.exp().sin() + 1)
    if how == "argument":
        y = c.checkpoint(f, x, use_reentrant=False, early_stop=False)
    else:
        with c.set_checkpoint_early_stop(False):
            y = c.checkpoint(f, x, use_reentrant=False)
    y.sum().backward()
    assert (f.calls, f.ends) == (2, 2)
    assert x.grad.tolist() == pytest.approx((x.exp() * x.exp().cos()).tolist())


def test_the_context_counts_more_than_the_argument_and_may_be_nested(c, x):
    f = Counted(lambda x: x.exp().sin() + 1)
    with c.set_checkpoint_early_stop(False), c.set_checkpoint_early_stop(True):
        y = c.checkpoint(f, x, use_reentrant=False, early_stop=False)
    y.sum().backward()
    assert (f.calls, f.ends) == (2, 1)


def test_the_reentrant_way_always_goes_on(c, x):
    f = Counted(lambda x: x.exp().sin() + 1)
    c.checkpoint(f, x, use_reentrant=True).sum().backward()
    assert (f.calls, f.ends) == (2, 2)


def test_early_stop_leaves_contexts_of_the_function(t, c, x):
    left = []

    def f(x):
        try:
            return x.exp().sin() + 1
        finally:
            left.append(t.is_grad_enabled())

    c.checkpoint(f, x, use_reentrant=False).sum().backward()
    assert left == [True, True]


# -- nested ---------------------------------------------------------------------------------------


def test_nested_calls(c, x):
    inner = Counted(lambda v: v.sin().exp())
    outer = Counted(lambda v: c.checkpoint(inner, v.exp(), use_reentrant=False).cos())
    c.checkpoint(outer, x, use_reentrant=False).sum().backward()
    assert (outer.calls, inner.calls) == (2, 3)


def test_nested_kept_and_walked_again(c, x):
    def outer(v):
        return c.checkpoint(lambda u: u.sin().exp(), v.exp(), use_reentrant=False).cos()

    y = c.checkpoint(outer, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    first = x.grad.tolist()
    y.backward()
    assert x.grad.tolist() == pytest.approx([2 * g for g in first])


def test_an_intermediate_input_of_a_nested_region_is_let_go_of(c, x):
    made = []

    def outer(v):
        a = v * 2
        made.append(weakref.ref(a))
        return c.checkpoint(lambda u: u.sin() * u, a, use_reentrant=False) * 2

    y = c.checkpoint(outer, x, use_reentrant=False)
    assert made[0]() is None
    y.sum().backward()


# -- random numbers -------------------------------------------------------------------------------


def test_random_numbers_are_the_same_again(t, c, reentrant):
    x = t.ones(200, requires_grad=True)
    seen = []

    def f(x):
        y = t.nn.functional.dropout(x * 1, 0.5, True) * t.rand(200)
        seen.append(y.detach().tolist())
        return y * y

    y = c.checkpoint(f, x, use_reentrant=reentrant, preserve_rng_state=True)
    t.rand(3)
    y.sum().backward()
    zero = [g == 0 for g in x.grad.tolist()]
    assert zero == [v == 0 for v in y.tolist()] and 0 < sum(zero) < 200
    assert all(values == seen[0] for values in seen)


def test_the_state_of_random_numbers_is_left_alone(t, c, reentrant):
    x = t.ones(4, requires_grad=True)
    y = c.checkpoint(lambda x: (x * t.rand(4)).exp() * t.rand(4), x, use_reentrant=reentrant)
    before = t.get_rng_state()
    y.sum().backward()
    assert t.get_rng_state().tolist() == before.tolist()


def test_random_numbers_need_not_be_preserved(t, c, reentrant):
    x = t.ones(4, requires_grad=True)
    seen = []

    def f(x):
        noise = t.rand(4)
        seen.append(noise.tolist())
        return (x * noise).exp()

    y = c.checkpoint(f, x, use_reentrant=reentrant, preserve_rng_state=False)
    before = t.get_rng_state()
    y.sum().backward()
    assert seen[0] != seen[1]
    assert t.get_rng_state().tolist() != before.tolist()


def test_the_forward_pass_draws_as_without(t, c, x, reentrant):
    t.manual_seed(0)
    first = c.checkpoint(lambda x: x * t.rand(3), x, use_reentrant=reentrant).tolist()
    after = t.rand(1).item()
    t.manual_seed(0)
    assert (x * t.rand(3)).tolist() == first and t.rand(1).item() == after


# -- modes ----------------------------------------------------------------------------------------


def test_the_function_records_in_both_calls(t, c, x):
    seen = []

    def f(x):
        seen.append((t.is_grad_enabled(), t.is_inference_mode_enabled()))
        return x.exp().sin()

    c.checkpoint(f, x, use_reentrant=False).sum().backward()
    assert seen == [(True, False), (True, False)]


def test_the_reentrant_way_records_in_the_second_call(t, c, x):
    seen = []

    def f(x):
        seen.append(t.is_grad_enabled())
        return x.exp().sin()

    c.checkpoint(f, x, use_reentrant=True).sum().backward()
    assert seen == [False, True]


def test_a_mode_in_the_function_is_left_in_both_calls(t, c, x):
    states = []

    def f(x):
        t.set_grad_enabled(False)
        y = x.detach().exp()
        t.set_grad_enabled(True)
        return (x * y).sin()

    y = c.checkpoint(f, x, use_reentrant=False)
    x.register_hook(lambda g: states.append(t.is_grad_enabled()))
    y.sum().backward()
    assert states == [False] and t.is_grad_enabled()


def test_with_anomaly_detection(t, c, x, reentrant):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Anomaly Detection has been enabled")
        with t.autograd.detect_anomaly():
            y = c.checkpoint(lambda x: (x * 2).exp().sin(), x, use_reentrant=reentrant)
            y.sum().backward()
    e = (2 * x.detach()).exp()
    assert x.grad.tolist() == pytest.approx((2 * e * e.cos()).tolist())


def test_anomaly_detection_finds_a_nan_inside(t, c):
    x = t.zeros(1, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with t.autograd.detect_anomaly():
            y = c.checkpoint(lambda x: (x * 2).sqrt() * 0, x, use_reentrant=False)
            with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values"):
                y.sum().backward()


@pytest.mark.parametrize("around", [False, True], ids=["forward", "backward"])
def test_autocast_is_that_of_the_first_call(t, c, reentrant, around):
    kinds = []

    def f(x, y):
        made = x @ y
        kinds.append(made.dtype)
        return made * made

    x, y = (t.ones(2, 2, requires_grad=True) for _ in range(2))
    with t.autocast("cpu", dtype=t.bfloat16, enabled=not around):
        made = c.checkpoint(f, x, y, use_reentrant=reentrant).sum()
    with t.autocast("cpu", dtype=t.bfloat16, enabled=around):
        made.backward()
    kind = t.float32 if around else t.bfloat16
    assert kinds == [kind, kind]
    assert x.grad.tolist() == [[8.0, 8.0], [8.0, 8.0]]


def test_autocast_inside_a_region_is_its_own(t, c):
    kinds = []

    def f(x):
        with t.autocast("cpu", enabled=False):
            kinds.append((x @ x).dtype)
        return (x @ x).sum()

    x = t.ones(2, 2, requires_grad=True)
    with t.autocast("cpu", dtype=t.bfloat16):
        made = c.checkpoint(f, x, use_reentrant=False, early_stop=False)
    made.backward()
    assert kinds == [t.float32, t.float32]


def test_a_saved_constant_is_the_object_that_it_was(t, c):
    met = []

    class Keeps(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, constant):
            ctx.save_for_backward(constant)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            met.extend(ctx.saved_tensors)
            return g * 2, None

    x, constant = t.ones(2, requires_grad=True), t.ones(2)
    c.checkpoint(Keeps.apply, x, constant, use_reentrant=False).sum().backward()
    assert met[0] is constant
    with t.autograd.graph.saved_tensors_hooks(lambda v: [v], lambda kept: kept[0]):
        y = Keeps.apply(x, constant)
    y.sum().backward()
    assert met[1] is constant


def test_within_other_hooks_inputs_go_through_them(t, c, x):
    packed = []

    def pack(tensor):
        packed.append(tensor.tolist())
        return tensor.detach()

    with t.autograd.graph.saved_tensors_hooks(pack, lambda p: p):
        y = c.checkpoint(lambda v: v.exp().sin(), x * 1, use_reentrant=False)
    assert packed == [x.tolist()]
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx((x.exp() * x.exp().cos()).tolist())


def test_hooks_inside_take_what_is_saved_there(t, c, x):
    packed = []

    def pack(tensor):
        packed.append(tensor.tolist())
        return tensor

    def f(x):
        with t.autograd.graph.saved_tensors_hooks(pack, lambda p: p):
            y = x.exp()
        return y.sin()

    y = c.checkpoint(f, x, use_reentrant=False)
    assert len(packed) == 1
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx((x.exp() * x.exp().cos()).tolist())


def test_where_hooks_are_disabled_it_raises(t, c, x):
    with (
        t.autograd.graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
    ):
        c.checkpoint(lambda x: x.exp(), x, use_reentrant=False)
    y = c.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
    with (
        t.autograd.graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
    ):
        y.sum().backward()


def test_contexts_surround_both_calls(c, x):
    log = []

    class Context:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            log.append(f"+{self.name}")

        def __exit__(self, *exc):
            log.append(f"-{self.name}")

    def f(x):
        log.append("f")
        return x.exp().sin()

    y = c.checkpoint(
        f, x, use_reentrant=False, context_fn=lambda: (Context("first"), Context("second"))
    )
    assert log == ["+first", "f", "-first"]
    y.sum().backward()
    assert log[3:] == ["+second", "f", "-second"]


def test_a_context_that_swallows_exceptions(c, x):
    class Swallow:
        def __enter__(self):
            pass

        def __exit__(self, *exc):
            return True

    def f(x):
        raise KeyError("k")

    with pytest.raises(RuntimeError, match=r"torch.utils.checkpoint: the forward context provided"):
        c.checkpoint(f, x, use_reentrant=False, context_fn=lambda: (Swallow(), Swallow()))


# -- what is written to in between ----------------------------------------------------------------

MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace"


def test_a_write_to_an_input_is_noticed(c, x, reentrant):
    v = x * 2
    y = c.checkpoint(lambda v: v.exp().sin(), v, use_reentrant=reentrant)
    v.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_a_write_to_a_leaf_is_noticed(t, c, x, reentrant):
    y = c.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=reentrant)
    with t.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_a_write_to_an_input_that_needs_no_gradient_is_noticed(t, c, x, reentrant):
    v = t.ones(3)
    y = c.checkpoint(lambda x, v: x * v, x, v, use_reentrant=reentrant)
    v.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_a_write_to_an_input_inside_is_noticed(c, x):
    v = x * 2

    def f(v):
        y = v.exp()
        v.add_(1)
        return y.sin()

    y = c.checkpoint(f, v, use_reentrant=False)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


# -- functions that do not do the same again ------------------------------------------------------


class Changing:
    """A function whose second call differs."""

    def __init__(self, first, second):
        self.functions = [first, second]

    def __call__(self, *args):
        return self.functions.pop(0)(*args)


def test_fewer_tensors_are_saved_again(c, x):
    f = Changing(lambda x: x.exp().sin().cos(), lambda x: x.exp())
    y = c.checkpoint(f, x, use_reentrant=False)
    message = "torch.utils.checkpoint: A different number of tensors was saved during the original"
    with pytest.raises(c.CheckpointError, match=message) as caught:
        y.sum().backward()
    assert "Number of tensors saved during forward: 3\n" in str(caught.value)
    assert "Number of tensors saved during recomputation: 1.\n" in str(caught.value)


def test_more_tensors_are_saved_again(c, x):
    def make():
        return Changing(lambda x: x.exp(), lambda x: x.exp().sin().cos())

    y = c.checkpoint(make(), x, use_reentrant=False, early_stop=False)
    message = "torch.utils.checkpoint: trying to save more tensors during recomputation than during"
    with pytest.raises(c.CheckpointError, match=message):
        y.sum().backward()
    # which nobody notices when it stops early
    c.checkpoint(make(), x, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == x.exp().tolist()


def test_other_shapes_are_saved_again(t, c, x):
    f = Changing(lambda x: x.exp().sin(), lambda x: t.cat([x, x]).exp().sin())
    y = c.checkpoint(f, x, use_reentrant=False)
    message = "torch.utils.checkpoint: Recomputed values for the following tensors have different"
    with pytest.raises(c.CheckpointError, match=message) as caught:
        y.sum().backward()
    assert "tensor at position 0:\nsaved metadata: " in str(caught.value)


def test_other_dtypes_are_saved_again(c, x):
    f = Changing(lambda x: x.exp().sin(), lambda x: x.double().exp().sin())
    y = c.checkpoint(f, x, use_reentrant=False)
    with pytest.raises(c.CheckpointError, match=r"torch.utils.checkpoint: Recomputed values for"):
        y.sum().backward()


def test_the_check_may_be_left_out(c, x):
    f = Changing(lambda x: x.exp().sin(), lambda x: (x * 2).exp().sin())
    y = c.checkpoint(f, x, use_reentrant=False, determinism_check="none")
    y.sum().backward()
    assert x.grad is not None


def test_there_are_two_checks(c, x):
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        c.checkpoint(lambda x: x, x, use_reentrant=False, determinism_check="all")


@pytest.fixture
def unlogged():
    """PyTorch's debugging logs what the handlers of a test run cannot format.

    They are put on loggers that do not propagate, as this one does not once it has been used.
    """
    logging.getLogger("LoggingTensor").propagate = True


@pytest.mark.usefixtures("unlogged")
def test_debugging_shows_the_operations(c, x):
    f = Changing(lambda x: x.exp().sin().cos(), lambda x: x.exp().log())
    y = c.checkpoint(f, x, use_reentrant=False, debug=True)
    message = "An error happened while unpacking tensors; dumping logs of latest computation"
    with pytest.raises(c.CheckpointError, match=message) as caught:
        y.sum().backward()
    text = str(caught.value)
    assert "cos" in text and "log" in text and "test_checkpoint.py" in text
    assert "You are seeing this error because you passed `debug=True` to checkpoint" in text


@pytest.mark.usefixtures("unlogged")
def test_debugging_by_a_context(c, x):
    with c.set_checkpoint_debug_enabled(True):
        y = c.checkpoint(Changing(lambda x: x.exp().sin(), lambda x: x), x, use_reentrant=False)
    with pytest.raises(c.CheckpointError, match="An error happened while unpacking tensors"):
        y.sum().backward()
    with c.set_checkpoint_debug_enabled(False):
        y = c.checkpoint(
            Changing(lambda x: x.exp().sin(), lambda x: x), x, use_reentrant=False, debug=True
        )
    with pytest.raises(c.CheckpointError, match=r"torch.utils.checkpoint: A different number"):
        y.sum().backward()


@pytest.mark.usefixtures("unlogged")
def test_debugging_changes_nothing_else(c, x):
    y = c.checkpoint(lambda x: (x * 2).exp().sin(), x, use_reentrant=False, debug=True)
    y.sum().backward()
    e = (2 * x.detach()).exp()
    assert x.grad.tolist() == pytest.approx((2 * e * e.cos()).tolist())


# -- arguments ------------------------------------------------------------------------------------


def test_use_reentrant_is_to_be_passed(c, x):
    message = "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly"
    with pytest.warns(UserWarning, match=message):
        y = c.checkpoint(lambda x: x.exp(), x)
    assert y.grad_fn.name() == "CheckpointFunctionBackward"


def test_keyword_arguments_with_reentrance(c, x):
    with pytest.raises(ValueError, match="Unexpected keyword arguments: scale,shift"):
        c.checkpoint(lambda x: x, x, scale=1, shift=2, use_reentrant=True)


@pytest.mark.parametrize("option", ["context_fn", "debug"])
def test_options_that_need_the_other_way(c, x, option):
    value = {"context_fn": lambda: c.noop_context_fn(), "debug": True}[option]
    with pytest.raises(ValueError, match="Passing `context_fn` or `debug` is only supported"):
        c.checkpoint(lambda x: x, x, use_reentrant=True, **{option: value})


def test_debugging_with_contexts(c, x):
    with pytest.raises(ValueError, match="debug=True is incompatible with non-default context_fn"):
        c.checkpoint(
            lambda x: x, x, use_reentrant=False, debug=True, context_fn=lambda: c.noop_context_fn()
        )


def test_reentrance_does_not_go_with_grad(t, c, x):
    y = c.checkpoint(lambda x: x.exp(), x, use_reentrant=True).sum()
    message = "When use_reentrant=True, torch.utils.checkpoint is incompatible with"
    with pytest.raises(RuntimeError, match=message):
        t.autograd.grad(y, x, retain_graph=True)


def test_reentrance_does_not_go_with_inputs(c, x):
    y = c.checkpoint(lambda x: x.exp(), x, use_reentrant=True).sum()
    message = "When use_reentrant=True, torch.utils.checkpoint is incompatible with"
    with pytest.raises(RuntimeError, match=message):
        y.backward(inputs=[x])


def test_reentrance_needs_a_result_that_requires_a_gradient(c, x):
    y = c.checkpoint(lambda x: x.detach().exp(), x, use_reentrant=True)
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True, this checkpo"):
        y.sum().backward()


def test_reentrance_gives_first_derivatives_only(t, c, x):
    y = c.checkpoint(lambda x: x.exp(), x, use_reentrant=True).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y.backward(create_graph=True)
    assert x.grad.tolist() == x.exp().tolist()
    assert not x.grad.requires_grad
    x.grad = None


def test_reentrance_does_not_look_into_containers(c, x):
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        y = c.checkpoint(lambda pair: pair[0].exp(), [x], use_reentrant=True)
    assert not y.requires_grad


# -- exceptions -----------------------------------------------------------------------------------


def test_an_exception_in_the_forward_pass_leaves_everything(t, c, x, reentrant):
    def f(x):
        x.exp().sin()
        raise KeyError("k")

    state = t.get_rng_state().tolist()
    with pytest.raises(KeyError, match="k"):
        c.checkpoint(f, x, use_reentrant=reentrant)
    assert t.is_grad_enabled() and t.get_rng_state().tolist() == state
    # what is saved now is saved as ever
    (x.exp() * x).sum().backward()
    assert x.grad.tolist() == pytest.approx((x.exp() * (1 + x)).tolist())


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_an_exception_in_the_recomputation_leaves_everything(t, c, x, reentrant, error):
    def fail(x):
        t.rand(2)
        with t.no_grad():
            x.exp()
            raise error("k")

    y = c.checkpoint(Changing(lambda x: x.exp().sin(), fail), x, use_reentrant=reentrant)
    state = t.get_rng_state().tolist()
    with pytest.raises(error, match="k"):
        y.sum().backward()
    assert t.is_grad_enabled() and t.get_rng_state().tolist() == state
    assert x.grad is None
    (x.exp() * x).sum().backward()
    assert x.grad.tolist() == pytest.approx((x.exp() * (1 + x)).tolist())


def test_a_walk_that_broke_off_may_be_repeated(c, x):
    def fail(x):
        raise KeyError("k")

    f = Changing(lambda x: x.exp().sin(), fail)
    f.functions.append(lambda x: x.exp().sin())
    y = c.checkpoint(f, x, use_reentrant=False)
    loss = y.sum()
    with pytest.raises(KeyError, match="k"):
        loss.backward(retain_graph=True)
    loss.backward()
    assert x.grad.tolist() == pytest.approx((x.exp() * x.exp().cos()).tolist())


# -- sequences ------------------------------------------------------------------------------------


@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_a_sequence(t, c, x, segments, reentrant):
    functions = [Counted(lambda v, k=k: (v * k).sin()) for k in range(1, 6)]
    y = c.checkpoint_sequential(functions, segments, x, use_reentrant=reentrant)
    y.sum().backward()
    size = 5 // segments
    again = size * (segments - 1)
    assert [f.calls for f in functions] == [2] * again + [1] * (5 - again)
    z = x.detach().requires_grad_()
    v = z
    for f in functions:
        v = f(v)
    v.sum().backward()
    assert x.grad.tolist() == pytest.approx(z.grad.tolist())


def test_a_sequence_says_what_it_wants(c, x):
    with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
        c.checkpoint_sequential([lambda v: v], 1, x, use_reentrant=False, scale=2)
    with pytest.raises(ValueError):
        c.checkpoint_sequential([lambda v: v], 2, x, use_reentrant=False)
    message = "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be"
    with pytest.warns(UserWarning, match=message):
        c.checkpoint_sequential([lambda v: v], 1, x)


def test_a_sequence_preserves_random_numbers_or_not(t, c):
    x = t.ones(4, requires_grad=True)
    seen = []

    def noisy(v):
        noise = t.rand(4)
        seen.append(noise.tolist())
        return (v * noise).exp()

    for preserve in (True, False):
        del seen[:]
        y = c.checkpoint_sequential(
            [noisy, lambda v: v], 2, x, use_reentrant=False, preserve_rng_state=preserve
        )
        y.sum().backward()
        assert (seen[0] == seen[1]) is preserve


# -- policies -------------------------------------------------------------------------------------


def selective(c, policy, **options):
    return functools.partial(c.create_selective_checkpoint_contexts, policy, **options)


def square(t):
    return t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


def mixed(x, y):
    return ((x @ y) @ y).sigmoid() * y


ANSWERS = ("MUST_SAVE", "PREFER_SAVE", "MUST_RECOMPUTE", "PREFER_RECOMPUTE", True, False, None)


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_policy_changes_no_gradient(t, c, answer):
    answer = c.CheckpointPolicy[answer] if isinstance(answer, str) else answer
    a, b = square(t), square(t)
    out = c.checkpoint(
        mixed,
        a,
        b,
        use_reentrant=False,
        context_fn=selective(c, lambda ctx, op, *args, **kwargs: answer),
    )
    out.sum().backward()
    want = plain_gradients(t, mixed, a, b)
    assert a.grad.tolist() == want[0] and b.grad.tolist() == want[1]


def test_a_policy_for_products_only(t, c):
    a, b = square(t), square(t)
    saved = []

    def policy(ctx, op, *args, **kwargs):
        assert not ctx.is_recompute
        if "mm" in str(op):
            assert [arg.shape for arg in args] == [(2, 2), (2, 2)]
            saved.append(ctx.op_output.tolist())
            return c.CheckpointPolicy.MUST_SAVE
        return c.CheckpointPolicy.PREFER_RECOMPUTE

    out = c.checkpoint(mixed, a, b, use_reentrant=False, context_fn=selective(c, policy))
    assert saved == [(a @ b).tolist(), (a @ b @ b).tolist()]
    out.sum().backward()
    # asked in the forward pass only
    assert len(saved) == 2
    want = plain_gradients(t, mixed, a, b)
    assert a.grad.tolist() == want[0] and b.grad.tolist() == want[1]


def test_a_policy_may_answer_nothing(c, x):
    policy = selective(c, lambda ctx, op, *args, **kwargs: None)
    y = c.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False, context_fn=policy).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == pytest.approx((2 * x.exp() * x.exp().cos()).tolist())


def test_what_a_policy_computes_is_its_own(t, c, x):
    asked = []

    def policy(ctx, op, *args, **kwargs):
        asked.append(str(op))
        assert not (ctx.op_output * 2).requires_grad or t.__name__ == "torch"
        ctx.op_output.detach().sum().item()
        return True

    out = c.checkpoint(
        lambda x: x.exp().sin(), x, use_reentrant=False, context_fn=selective(c, policy)
    )
    assert len(asked) == 2
    out.sum().backward()
    assert x.grad.tolist() == pytest.approx((x.exp() * x.exp().cos()).tolist())


def test_what_was_saved_is_used_once(t, c, x):
    out = c.checkpoint(
        lambda x: x.exp().sin(),
        x,
        use_reentrant=False,
        context_fn=selective(c, lambda ctx, op, *args, **kwargs: True),
    ).sum()
    out.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        out.backward()


def test_a_policy_that_saves_nothing_lets_go_backward_again(c, x):
    out = c.checkpoint(
        lambda x: x.exp().sin(),
        x,
        use_reentrant=False,
        context_fn=selective(c, lambda ctx, op, *args, **kwargs: False),
    ).sum()
    out.backward(retain_graph=True)
    first = x.grad.tolist()
    out.backward()
    assert x.grad.tolist() == pytest.approx([2 * g for g in first])


def test_a_write_to_what_was_saved_is_noticed(c, x):
    def f(x):
        y = x.exp()
        z = y + 1
        y.detach().add_(1)
        return z.sin()

    def context(**options):
        return selective(c, lambda ctx, op, *args, **kwargs: "exp" in str(op), **options)

    out = c.checkpoint(f, x, use_reentrant=False, context_fn=context())
    message = "Tensor cached during selective activation checkpoint has been mutated"
    with pytest.raises(RuntimeError, match=message):
        out.sum().backward()


def test_operations_that_were_not_there_before(c, x):
    policy = selective(c, lambda ctx, op, *args, **kwargs: False)
    f = Changing(lambda x: x.exp().sin().tanh(), lambda x: x.exp().cos().tanh())
    out = c.checkpoint(f, x, use_reentrant=False, context_fn=policy)
    with pytest.raises(RuntimeError, match="encountered during backward but not found in"):
        out.sum().backward()
    f = Changing(lambda x: x.exp().sin().tanh(), lambda x: x.exp().exp().tanh())
    out = c.checkpoint(f, x, use_reentrant=False, context_fn=policy)
    with pytest.raises(RuntimeError, match="encountered during backward but not found in"):
        out.sum().backward()


def test_a_policy_with_numbers_reductions_and_several_results(t, c):
    m = square(t)

    def f(m):
        values, _ = (m * 2 + 1).max(1)
        return values.sin() * m.sum() / 3

    for save in (True, False):
        m.grad = None
        policy = selective(c, lambda ctx, op, *args, save=save, **kwargs: save)
        c.checkpoint(f, m, use_reentrant=False, context_fn=policy).sum().backward()
        assert m.grad.tolist() == [pytest.approx(row) for row in plain_gradients(t, f, m)[0]]


def test_a_policy_and_views(t, c):
    m = square(t)

    def f(m):
        return (m.t()[0] * m.view(4)[1:3]).exp() * m.reshape(4)[:2]

    policy = selective(c, lambda ctx, op, *args, **kwargs: True)
    c.checkpoint(f, m, use_reentrant=False, context_fn=policy).sum().backward()
    want = plain_gradients(t, f, m)[0]
    assert m.grad.tolist() == [pytest.approx(row) for row in want]


def test_nested_policies(t, c, x):
    def inner(v):
        return v.sin().exp() * v

    def outer(v):
        a = v.cos()
        policy = selective(c, lambda ctx, op, *args, **kwargs: "exp" in str(op))
        return c.checkpoint(inner, a, use_reentrant=False, context_fn=policy) * a

    policy = selective(c, lambda ctx, op, *args, **kwargs: "cos" in str(op))
    c.checkpoint(outer, x, use_reentrant=False, context_fn=policy).sum().backward()
    want = plain_gradients(t, lambda v: inner(v.cos()) * v.cos(), x)[0]
    assert x.grad.tolist() == pytest.approx(want)


def test_a_policy_second_derivatives(t, c, x):
    policy = selective(c, lambda ctx, op, *args, **kwargs: "sin" in str(op))
    y = c.checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False, context_fn=policy)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
        t.autograd.grad(g.sum(), x)


def test_a_policy_must_be_a_function_or_a_list(c):
    with pytest.raises(TypeError, match="policy_fn_or_list must be either a function or a list"):
        c.create_selective_checkpoint_contexts("mm")
    with pytest.raises(ValueError, match="Expected op in `op_list` to be"):
        c.create_selective_checkpoint_contexts(["no such operation"])


def test_the_policies(c):
    assert [(p.name, p.value) for p in c.CheckpointPolicy] == [
        ("MUST_SAVE", 0),
        ("PREFER_SAVE", 1),
        ("MUST_RECOMPUTE", 2),
        ("PREFER_RECOMPUTE", 3),
        ("MUST_CPU_OFFLOAD", 4),
        ("PREFER_CPU_OFFLOAD", 5),
    ]


# -- the rest of the surface ----------------------------------------------------------------------


def test_names(t, c):
    assert callable(t.utils.checkpoint.checkpoint)
    assert set(c.__all__) >= {"checkpoint", "checkpoint_sequential", "CheckpointFunction"}
    assert issubclass(c.CheckpointError, RuntimeError)
    assert issubclass(c.CheckpointFunction, t.autograd.Function)


def test_detach_variable(t, c, x):
    v = x * 2
    (a, b, n) = c.detach_variable((v, v.detach(), 5))
    assert a.is_leaf and a.requires_grad and not b.requires_grad and n == 5
    assert a.data_ptr() == v.data_ptr()
    with pytest.raises(RuntimeError, match=r"Only tuple of tensors is supported. Got Unsupported"):
        c.detach_variable([v])


def test_check_backward_validity(t, c, x):
    c.check_backward_validity((1, x))
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        c.check_backward_validity((1, x.detach()))


def test_device_states(t, c):
    assert c.get_device_states(t.ones(2)) == ([], [])
    c.set_device_states([], [], device_type="cpu")
    assert c.DefaultDeviceType.get_device_type() == "cpu"


def test_operations_are_named_as_in_programs_for_pytorch(t):
    import functools

    checkpoint = t.utils.checkpoint
    seen = []

    def policy(ctx, op, *args, **kwargs):
        seen.append((op == t.ops.aten.sin.default, op == t.ops.aten.exp.default))
        saves = op == t.ops.aten.sin.default
        kinds = checkpoint.CheckpointPolicy
        return kinds.MUST_SAVE if saves else kinds.PREFER_RECOMPUTE

    x = t.tensor([1.0, 2.0], requires_grad=True)
    for kept in (policy, [t.ops.aten.sin.default]):
        contexts = functools.partial(checkpoint.create_selective_checkpoint_contexts, kept)
        out = checkpoint.checkpoint(
            lambda x: x.sin().exp(), x, use_reentrant=False, context_fn=contexts
        )
        out.sum().backward()
    assert seen[:2] == [(True, False), (False, True)]
    assert t.allclose(x.grad, 2 * x.cos() * x.sin().exp())


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda t: [2], "Expected op in `op_list` to be an OpOverload"),
        (lambda t: [t.ops.aten.sin], "update the OpOverloadPacket to a specific OpOverload"),
    ],
)
def test_what_is_no_operation_is_refused(t, wrong, message):
    with pytest.raises(ValueError, match=message):
        t.utils.checkpoint.create_selective_checkpoint_contexts(wrong(t))


def test_an_unknown_operation_has_no_name(t):
    with pytest.raises(AttributeError):
        t.ops.aten.no_such_operation  # noqa: B018
