"""Test tensor hooks: `register_hook`, `register_post_accumulate_grad_hook`, their handles."""

import copy
import gc
import pickle
import warnings
import weakref

import pytest

import wengert as wg


def leaf(t, values):
    return t.tensor(values, dtype=t.float64, requires_grad=True)


# -- what a hook sees -----------------------------------------------------------------------------


def test_a_hook_of_a_leaf_sees_the_sum_of_all_paths_once(t):
    x, seen = leaf(t, 2.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    (x * x + 3 * x).backward()
    assert seen == [7.0]


def test_a_hook_of_a_non_leaf_sees_the_sum_of_all_paths_once(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(lambda g: seen.append(g.item()))
    (y * y + y).backward()
    assert seen == [13.0]


def test_a_hook_sees_this_pass_alone_and_not_what_was_accumulated(t):
    x, seen = leaf(t, 1.0), []
    x.register_hook(lambda g: seen.append((g.item(), None if x.grad is None else x.grad.item())))
    (2 * x).backward()
    (3 * x).backward()
    assert seen == [(2.0, None), (3.0, 2.0)]
    assert x.grad.item() == 5.0


def test_a_hook_of_an_output_sees_the_vector_of_backward(t):
    x, seen = leaf(t, [1.0, 2.0]), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.backward(t.tensor([3.0, 4.0], dtype=t.float64))
    assert seen == [[3.0, 4.0]]


def test_a_hook_of_a_leaf_that_is_itself_the_output(t):
    x, seen = leaf(t, 2.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    x.backward()
    assert seen == [1.0]
    assert x.grad.item() == 1.0


def test_a_leaf_that_is_an_output_and_an_input_gets_the_sum(t):
    x, seen = leaf(t, 2.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    t.autograd.backward([x, x * x])
    assert seen == [5.0]


def test_the_gradient_that_a_hook_sees_is_a_tensor_without_history(t):
    x, seen = leaf(t, 2.0), []
    x.register_hook(lambda g: seen.append((isinstance(g, t.Tensor), g.requires_grad, g.is_leaf)))
    (x * x).backward()
    assert seen == [(True, False, True)]


def test_the_gradient_has_shape_and_dtype_of_the_tensor(t):
    x = t.ones(2, 1, dtype=t.float32, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append((tuple(g.shape), g.dtype)))
    (x * t.ones(2, 3, dtype=t.float64)).sum().backward()
    assert seen == [((2, 1), t.float32)]


def test_a_hook_of_an_output_that_nothing_depends_on_gets_none(t):
    x, seen = leaf(t, [1.0, 2.0]), []
    a, b = x.unbind(0)
    b.register_hook(seen.append)
    a.register_hook(lambda g: seen.append(g.item()))
    (a * 1).backward()
    assert seen == [None, 1.0]
    assert x.grad.tolist() == [1.0, 0.0]


def test_a_hook_cannot_make_a_gradient_where_there_is_none(t):
    x = leaf(t, [1.0, 2.0])
    a, b = x.unbind(0)
    b.register_hook(lambda g: t.tensor(1.0, dtype=t.float64))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        (a * 1).backward()
    assert x.grad is None


def test_hooks_of_several_outputs_run_tensor_by_tensor(t):
    x, log = leaf(t, [1.0, 2.0]), []
    a, b = x.unbind(0)
    b.register_hook(lambda g: log.append("b1"))
    a.register_hook(lambda g: log.append("a1"))
    b.register_hook(lambda g: log.append("b2"))
    (a + b).backward()
    assert log == ["b1", "b2", "a1"]


def test_hooks_of_each_of_several_outputs_see_their_own_gradient(t):
    x, seen = leaf(t, [1.0, 2.0, 3.0]), []
    parts = x.split(1)
    for i, part in enumerate(parts):
        part.register_hook(lambda g, i=i: seen.append((i, g and g.tolist())))
    (parts[2] * 5 + parts[0] * 7).sum().backward()
    assert seen == [(0, [7.0]), (1, None), (2, [5.0])]


def test_hooks_of_several_outputs_run_before_the_node(t):
    x = leaf(t, [1.0, 2.0])
    a, b = x.unbind(0)
    a.register_hook(lambda g: g * 10)
    b.register_hook(lambda g: g * 100)
    (a + b).backward()
    assert x.grad.tolist() == [10.0, 100.0]


def test_a_hook_on_a_tensor_off_the_path_does_not_run(t):
    x, seen = leaf(t, 2.0), []
    y = x * 2
    z = y * 3
    z.register_hook(lambda g: seen.append("z"))
    (y * 1).backward()
    assert seen == []


# -- what a hook returns --------------------------------------------------------------------------


def test_what_a_hook_returns_takes_the_place_of_the_gradient(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    (y * 1).backward()
    assert x.grad.item() == 60.0


def test_hooks_run_in_order_of_registration_each_on_what_the_last_made(t):
    x, seen = leaf(t, 1.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: seen.append(g.item()))
    x.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: seen.append(g.item()))
    (x * 1).backward()
    assert seen == [1.0, 2.0, 20.0]


def test_a_hook_may_be_registered_twice(t):
    x = leaf(t, 1.0)

    def double(g):
        return g * 2

    x.register_hook(double)
    x.register_hook(double)
    (x * 1).backward()
    assert x.grad.item() == 4.0


@pytest.mark.parametrize("on_leaf", [True, False])
def test_a_hook_that_changes_the_shape_is_refused(t, on_leaf):
    x = leaf(t, [1.0, 2.0])
    y = x * 2

    def total(g):
        return g.sum()

    (x if on_leaf else y).register_hook(total)
    with pytest.raises(RuntimeError, match="hook 'total' has changed the size of value"):
        y.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("on_leaf", [True, False])
def test_a_hook_that_changes_the_dtype_is_refused(t, on_leaf):
    x = leaf(t, [1.0, 2.0])
    y = x * 2

    def single(g):
        return g.float()

    (x if on_leaf else y).register_hook(single)
    message = (
        r"hook 'single' has changed the type of value "
        r"\(was torch.DoubleTensor got torch.FloatTensor\)"
    )
    with pytest.raises(RuntimeError, match=message):
        y.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("result", [3.0, "text", [1.0], (None,)])
def test_a_hook_that_returns_no_tensor_is_refused(t, result):
    x = leaf(t, 1.0)
    x.register_hook(lambda g: result)
    kind = type(result).__name__
    with pytest.raises(TypeError, match=f"expected Variable, but hook returned '{kind}'"):
        (x * 1).backward()
    assert x.grad is None


def test_a_hook_may_return_its_argument(t):
    x = leaf(t, 2.0)
    x.register_hook(lambda g: g)
    (x * x).backward()
    assert x.grad.item() == 4.0


def test_a_gradient_that_a_hook_kept_is_not_changed_by_later_accumulation(t):
    x, kept = leaf(t, [1.0, 2.0]), []
    x.register_hook(lambda g: kept.append(g) or g)
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert kept[0].tolist() == [2.0, 2.0]
    assert kept[1].tolist() == [3.0, 3.0]
    assert x.grad.tolist() == [5.0, 5.0]


def test_a_constant_that_a_hook_returns_is_not_changed_by_accumulation(t):
    x, constant = leaf(t, [1.0, 2.0]), t.tensor([7.0, 7.0], dtype=t.float64)
    x.register_hook(lambda g: constant)
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    assert constant.tolist() == [7.0, 7.0]
    assert x.grad.tolist() == [14.0, 14.0]


# -- order ----------------------------------------------------------------------------------------


def test_the_order_of_all_kinds_of_hooks_and_what_grad_is_at_each(t):
    x, log = leaf(t, 2.0), []
    y = x * x
    z = y * 3

    def note(name):
        def hook(*args):
            log.append((name, None if x.grad is None else x.grad.item()))

        return hook

    accumulate = y.grad_fn.next_functions[0][0]
    x.register_post_accumulate_grad_hook(note("x post-accumulate"))
    accumulate.register_hook(note("AccumulateGrad post"))
    accumulate.register_prehook(note("AccumulateGrad pre"))
    x.register_hook(note("x tensor"))
    y.grad_fn.register_hook(note("y post"))
    y.grad_fn.register_prehook(note("y pre"))
    y.register_hook(note("y tensor"))
    z.grad_fn.register_prehook(note("z pre"))
    z.register_hook(note("z tensor"))
    z.grad_fn.register_hook(note("z post"))
    z.backward()
    assert log == [
        ("z tensor", None),
        ("z pre", None),
        ("z post", None),
        ("y tensor", None),
        ("y pre", None),
        ("y post", None),
        ("x tensor", None),
        ("AccumulateGrad pre", None),
        ("x post-accumulate", 12.0),
        ("AccumulateGrad post", 12.0),
    ]


def test_the_gradient_of_a_leaf_is_there_for_hooks_of_older_nodes(t):
    a, b, log = leaf(t, 2.0), leaf(t, 3.0), []
    first = a * 2
    second = first * b
    second.grad_fn.register_hook(lambda i, o: log.append(("second", b.grad)))
    first.register_hook(lambda g: log.append(("first", None if b.grad is None else b.grad.item())))
    second.backward()
    assert log == [("second", None), ("first", 4.0)]


def test_a_leaf_settles_only_after_the_last_node_that_adds_to_it(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    z = y * x
    y.register_hook(lambda g: log.append(("y", x.grad)))
    x.register_hook(lambda g: log.append(("x", g.item())))
    z.backward()
    assert log == [("y", None), ("x", 12.0)]


def test_retain_grad_keeps_what_the_hooks_made_in_whatever_order_they_came(t):
    x = leaf(t, 2.0)
    y = x * x
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    (y * 3).backward()
    assert y.grad.item() == 30.0
    assert x.grad.item() == 120.0


def test_a_retained_gradient_is_set_before_prehooks_of_the_node(t):
    x, log = leaf(t, 2.0), []
    y = x * x
    y.retain_grad()
    y.register_hook(lambda g: log.append(("tensor", y.grad)))
    y.grad_fn.register_prehook(lambda gs: log.append(("pre", y.grad.item())))
    (y * 3).backward()
    assert log == [("tensor", None), ("pre", 3.0)]


def test_a_prehook_of_the_node_does_not_change_the_retained_gradient(t):
    x = leaf(t, 2.0)
    y = x * x
    y.retain_grad()
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 100,))
    (y * 3).backward()
    assert y.grad.item() == 3.0
    assert x.grad.item() == 1200.0


def test_a_retained_gradient_accumulates_over_passes(t):
    x = leaf(t, 2.0)
    y = x * x
    y.retain_grad()
    y.retain_grad()
    z = y * 3
    z.backward(retain_graph=True)
    z.backward()
    assert y.grad.item() == 6.0


# -- post-accumulate hooks ------------------------------------------------------------------------


def test_a_post_accumulate_hook_gets_the_leaf_with_its_gradient(t):
    x, seen = leaf(t, 2.0), []
    x.register_post_accumulate_grad_hook(lambda p: seen.append((p is x, p.grad.item())))
    (x * x).backward()
    (x * 3).backward()
    assert seen == [(True, 4.0), (True, 7.0)]


def test_a_post_accumulate_hook_may_update_the_leaf(t):
    x = leaf(t, 2.0)

    def step(p):
        with t.no_grad():
            p -= 0.5 * p.grad
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 3).backward()
    assert x.item() == 0.5


def test_a_post_accumulate_hook_may_return_the_leaf(t):
    x = leaf(t, 2.0)
    x.register_post_accumulate_grad_hook(lambda p: p.add_(p.grad, alpha=-0.5))
    (x * 3).backward()
    assert x.item() == 0.5


def test_a_post_accumulate_hook_must_return_none(t):
    x = leaf(t, 2.0)
    x.register_post_accumulate_grad_hook(lambda p: p.grad)
    message = "Tensor post accumulate grad hooks should return None"
    with pytest.raises(RuntimeError, match=message):
        (x * x).backward()


def test_post_accumulate_hooks_run_in_order_of_registration(t):
    x, log = leaf(t, 2.0), []
    x.register_post_accumulate_grad_hook(lambda p: log.append(1))
    x.register_post_accumulate_grad_hook(lambda p: log.append(2))
    handle = x.register_post_accumulate_grad_hook(lambda p: log.append(3))
    x.register_post_accumulate_grad_hook(lambda p: log.append(4))
    handle.remove()
    (x * x).backward()
    assert log == [1, 2, 4]


def test_post_accumulate_hooks_do_not_run_under_grad(t):
    x, log = leaf(t, 2.0), []
    x.register_post_accumulate_grad_hook(lambda p: log.append(1))
    t.autograd.grad(x * x, x)
    assert log == []


def test_post_accumulate_hooks_run_for_the_inputs_of_backward_only(t):
    x, y, log = leaf(t, 2.0), leaf(t, 3.0), []
    x.register_post_accumulate_grad_hook(lambda p: log.append("x"))
    y.register_post_accumulate_grad_hook(lambda p: log.append("y"))
    (x * y).backward(inputs=[x])
    assert log == ["x"]
    assert x.grad.item() == 3.0 and y.grad is None


def test_post_accumulate_hooks_are_for_leaves_that_require_a_gradient(t):
    x = leaf(t, 2.0)
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on n"):
        (x * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't requi"):
        t.tensor(1.0).register_post_accumulate_grad_hook(print)


def test_under_create_graph_a_post_accumulate_hook_sees_a_gradient_with_history(t):
    x, seen = leaf(t, 2.0), []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.requires_grad))
    (x * x).backward()
    x.grad = None
    with warnings.catch_warnings():
        # PyTorch warns of a reference cycle
        warnings.simplefilter("ignore")
        (x * x).backward(create_graph=True)
    assert seen == [False, True]
    x.grad = None


# -- registering ----------------------------------------------------------------------------------


def test_a_hook_needs_a_tensor_that_requires_a_gradient(t):
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't requi"):
        t.tensor(1.0).register_hook(print)
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't requi"):
        leaf(t, 1.0).detach().register_hook(print)


def test_hooks_of_a_leaf_run_for_graphs_recorded_before_and_after(t):
    x, seen = leaf(t, 2.0), []
    before = x * 3
    x.register_hook(lambda g: seen.append(g.item()))
    before.backward()
    (x * 4).backward()
    assert seen == [3.0, 4.0]


def test_a_hook_registered_under_no_grad_runs(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    with t.no_grad():
        y.register_hook(lambda g: seen.append(g.item()))
    y.backward()
    assert seen == [1.0]


def test_hooks_survive_switching_requires_grad_off_and_on(t):
    x, seen = leaf(t, 2.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    x.requires_grad_(False)
    x.requires_grad_(True)
    (x * 3).backward()
    assert seen == [3.0]


def test_a_hook_registered_while_hooks_run_is_first_called_in_the_next_pass(t):
    x, log = leaf(t, 2.0), []

    def first(g):
        log.append("first")
        if len(log) == 1:
            x.register_hook(lambda g: log.append("late"))

    x.register_hook(first)
    (x * 3).backward()
    (x * 3).backward()
    assert log == ["first", "first", "late"]


def test_a_hook_registered_during_a_pass_on_a_tensor_to_come_is_called(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    z = y * 3
    z.register_hook(lambda g: y.register_hook(lambda g: log.append("y")) and None)
    z.backward()
    assert log == ["y"]


# -- handles --------------------------------------------------------------------------------------


def test_removing_twice_does_no_harm(t):
    x, seen = leaf(t, 1.0), []
    first = x.register_hook(lambda g: seen.append(1))
    x.register_hook(lambda g: seen.append(2))
    first.remove()
    first.remove()
    (x * 1).backward()
    assert seen == [2]


def test_a_handle_is_a_context_manager_that_removes(t):
    x, seen = leaf(t, 1.0), []
    with x.register_hook(lambda g: seen.append(1)) as handle:
        (x * 1).backward()
        assert handle is not None
    (x * 1).backward()
    assert seen == [1]


def test_a_handle_removes_when_its_context_raises(t):
    x, seen = leaf(t, 1.0), []
    with pytest.raises(KeyError, match="k"), x.register_hook(lambda g: seen.append(1)):
        raise KeyError("k")
    (x * 1).backward()
    assert seen == []


def test_a_hook_may_remove_itself(t):
    x, seen = leaf(t, 1.0), []

    def once(g):
        seen.append(g.item())
        handle.remove()

    handle = x.register_hook(once)
    x.register_hook(lambda g: seen.append("other"))
    (x * 1).backward()
    (x * 1).backward()
    assert seen == [1.0, "other", "other"]


def test_a_handle_outlives_its_tensor(t):
    x = leaf(t, 1.0)
    handle, tensor = x.register_hook(print), weakref.ref(x)
    del x
    gc.collect()
    assert tensor() is None
    handle.remove()


def test_a_handle_removes_the_hook_of_a_non_leaf(t):
    x, seen = leaf(t, 1.0), []
    y = x * 2
    handle = y.register_hook(lambda g: g * 100)
    y.register_hook(lambda g: seen.append(g.item()))
    handle.remove()
    y.backward()
    assert seen == [1.0] and x.grad.item() == 2.0


def test_handles_of_post_accumulate_hooks_remove(t):
    x, seen = leaf(t, 1.0), []
    with x.register_post_accumulate_grad_hook(lambda p: seen.append(1)):
        (x * 1).backward()
    (x * 1).backward()
    assert seen == [1]


def test_handle_ids_differ(t):
    x = leaf(t, 1.0)
    seen = []
    handles = [x.register_hook(lambda g, n=n: seen.append(n)) for n in range(3)]
    assert len({handle.id for handle in handles}) == 3
    handles[1].remove()  # of the three that differ by their number only
    (2 * x).backward()
    assert seen == [0, 2]


# -- with grad() and inputs= ----------------------------------------------------------------------


def test_hooks_of_a_leaf_change_what_grad_returns(t):
    x = leaf(t, 2.0)
    x.register_hook(lambda g: g * 100)
    assert t.autograd.grad(x * x, x)[0].item() == 400.0
    assert x.grad is None


def test_hooks_of_a_non_leaf_change_what_grad_returns_for_it(t):
    x = leaf(t, 2.0)
    y = x * x
    y.register_hook(lambda g: g * 100)
    assert t.autograd.grad(y * 3, y)[0].item() == 300.0


def test_prehooks_of_a_node_do_not_change_what_grad_returns_for_its_output(t):
    x = leaf(t, 2.0)
    y = x * x
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 100,))
    z = y * 3
    gy, gx = t.autograd.grad(z, [y, x])
    assert gy.item() == 3.0 and gx.item() == 1200.0


@pytest.mark.parametrize("retained", [False, True])
def test_hooks_do_not_change_what_grad_returns_for_a_tensor_on_the_way_to_another(t, retained):
    x = leaf(t, 2.0)
    y = x * x
    y.register_hook(lambda g: g * 10)
    if retained:
        y.retain_grad()
    assert [g.item() for g in t.autograd.grad(y * 3, [y, x])] == [3.0, 120.0]
    assert not retained or y.grad.item() == 30.0


def test_a_hook_that_writes_changes_what_grad_returns_on_the_way_too(t):
    x = t.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g.mul_(10))
    assert [g.tolist() for g in t.autograd.grad((y * 3).sum(), [y, x])] == [[30, 30], [60, 60]]


def test_under_grad_hooks_run_only_on_the_way_to_the_inputs(t):
    x, w, log = leaf(t, 2.0), leaf(t, 3.0), []
    a = x * 2
    b = w * 3
    for name, tensor in (("x", x), ("w", w), ("a", a), ("b", b)):
        tensor.register_hook(lambda g, name=name: log.append(name))
    t.autograd.grad(a * b, x)
    assert log == ["a", "x"]


def test_with_inputs_hooks_run_only_on_the_way_to_them(t):
    x, w, log = leaf(t, 2.0), leaf(t, 3.0), []
    a = x * 2
    b = w * 3
    for name, tensor in (("x", x), ("w", w), ("a", a), ("b", b)):
        tensor.register_hook(lambda g, name=name: log.append(name))
    (a * b).backward(inputs=[w])
    assert log == ["b", "w"]
    assert x.grad is None and w.grad.item() == 12.0


def test_grad_of_a_non_leaf_runs_its_hooks_and_nothing_below(t):
    x, log = leaf(t, 2.0), []
    y = x * 2
    y.register_hook(lambda g: log.append("y"))
    y.grad_fn.register_prehook(lambda gs: log.append("pre"))
    y.grad_fn.register_hook(lambda i, o: log.append("post"))
    x.register_hook(lambda g: log.append("x"))
    t.autograd.grad(y * 3, y)
    assert log == ["y"]


def test_backward_to_a_non_leaf_input_adds_to_its_grad_what_the_hooks_made(t):
    x = leaf(t, 2.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    (y * 3).backward(inputs=[y])
    assert y.grad.item() == 30.0 and x.grad is None


def test_retained_gradients_are_filled_under_grad_too(t):
    x = leaf(t, 2.0)
    y = x * x
    y.retain_grad()
    t.autograd.grad(y * 3, x)
    assert y.grad.item() == 3.0


# -- with create_graph ----------------------------------------------------------------------------


def test_hooks_record_under_create_graph_only(t):
    x, seen = leaf(t, 2.0), []
    y = x * x
    y.register_hook(lambda g: seen.append((t.is_grad_enabled(), (y * 1).requires_grad)))
    x.register_hook(lambda g: seen.append((t.is_grad_enabled(), (y * 1).requires_grad)))
    z = y * x
    z.backward(retain_graph=True)
    t.autograd.grad(z, x, create_graph=True)
    assert seen == [(False, False)] * 2 + [(True, True)] * 2
    assert t.is_grad_enabled()


def test_a_hook_is_differentiated_through(t):
    x = leaf(t, 3.0)
    y = x * x
    y.register_hook(lambda g: g * g)
    (g,) = t.autograd.grad(y * x, x, create_graph=True)
    assert g.item() == 2 * 27.0 + 9.0
    assert t.autograd.grad(g, x)[0].item() == 6 * 9.0 + 6.0


def test_a_hook_of_a_leaf_that_multiplies_by_the_leaf_is_differentiated_through(t):
    x = leaf(t, 3.0)
    x.register_hook(lambda g: g * x)
    (g,) = t.autograd.grad(x * x, x, create_graph=True)
    assert g.item() == 18.0
    # the hook runs again in the second pass
    assert t.autograd.grad(g, x)[0].item() == 12.0 * 3.0


def test_a_hook_that_detaches_stops_the_second_derivative(t):
    x = leaf(t, 3.0)
    y = x * x
    y.register_hook(lambda g: g.detach())
    (g,) = t.autograd.grad(y * x, x, create_graph=True)
    # x.detach() * 2x + y
    assert t.autograd.grad(g, x)[0].item() == 6.0 + 6.0


# -- reentrant ------------------------------------------------------------------------------------


def test_a_hook_may_run_another_backward(t):
    x, w, log = leaf(t, 2.0), leaf(t, 5.0), []

    def hook(g):
        with t.enable_grad():
            (w * w).backward()
        log.append(w.grad.item())

    y = x * x
    y.register_hook(hook)
    (y * 3).backward()
    assert log == [10.0]
    assert x.grad.item() == 12.0


def test_a_hook_may_run_backward_through_the_same_leaf(t):
    x = leaf(t, 2.0)
    y = x * x

    def hook(g):
        with t.enable_grad():
            (x * 7).backward()

    y.register_hook(hook)
    (y * 3).backward()
    assert x.grad.item() == 12.0 + 7.0


def test_a_hook_of_a_leaf_may_run_backward_through_that_leaf(t):
    x, depth = leaf(t, 2.0), []

    def hook(g):
        depth.append(g.item())
        if len(depth) < 4:
            with t.enable_grad():
                (x * len(depth)).backward()

    x.register_hook(hook)
    (x * 10).backward()
    assert depth == [10.0, 1.0, 2.0, 3.0]
    assert x.grad.item() == 16.0


def test_a_hook_may_call_grad(t):
    x = leaf(t, 2.0)

    def hook(g):
        with t.enable_grad():
            return t.autograd.grad(x**3, x)[0] * g

    y = x * 1
    y.register_hook(hook)
    y.backward()
    assert x.grad.item() == 12.0


# -- in place -------------------------------------------------------------------------------------


def test_a_retained_gradient_has_the_shape_of_its_tensor():
    x = wg.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    first = y.grad
    y.transpose_(0, 1)
    assert (y.grad.shape, first.shape) == ((3, 2), (2, 3))
    (y * y).sum().backward()
    assert y.grad.equal(2 * y + 1)
    assert first.equal(wg.ones(2, 3))


def test_hooks_and_retain_grad_over_a_write(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("before", g.item())))
    y.mul_(5)
    y.register_hook(lambda g: seen.append(("after", g.item())))
    (y * 2).backward()
    assert (y.grad.item(), x.grad.item()) == (2.0, 30.0)
    assert seen == [("after", 2.0), ("before", 10.0)]


def test_a_hook_of_a_view_does_not_see_what_goes_to_its_base_directly(t):
    x, seen = leaf(t, [1.0, 2.0, 3.0]), []
    y = x * 2
    v = y[1:]
    v.register_hook(lambda g: seen.append(g.tolist()))
    (v.sum() + (y * 10).sum()).backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad.tolist() == [20.0, 22.0, 22.0]


def test_a_hook_of_a_view_registered_before_a_write_to_the_base_is_left_behind(t):
    x, seen = leaf(t, [1.0, 2.0, 3.0]), []
    y = x * 2
    v = y[1:]
    v.register_hook(lambda g: seen.append("view"))
    y.mul_(3)
    v.sum().backward()
    assert seen == []
    assert x.grad.tolist() == [0.0, 6.0, 6.0]


def test_a_hook_of_a_base_registered_before_a_write_through_a_view(t):
    x, seen = leaf(t, [1.0, 2.0, 3.0]), []
    y = x * 2
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y[1:].mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    y.sum().backward()
    assert seen == [("after", [1.0, 1.0, 1.0]), ("before", [1.0, 3.0, 3.0])]


def test_a_hook_of_a_view_that_was_written_through(t):
    x, seen = leaf(t, [1.0, 2.0, 3.0]), []
    y = x * 2
    v = y[1:]
    v.mul_(3)
    v.register_hook(lambda g: seen.append(g.tolist()))
    (v * 5).sum().backward()
    assert seen == [[5.0, 5.0]]
    assert x.grad.tolist() == [0.0, 30.0, 30.0]


def test_a_hook_of_a_leaf_that_is_detached_in_place_stays_behind(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(lambda g: seen.append(g.item()))
    z = y * 2
    y.detach_()
    z.backward()
    assert seen == [2.0]


def test_a_hook_of_a_leaf_that_was_overwritten_downstream_sees_zeros(t):
    x, w, seen = leaf(t, [2.0, 3.0]), leaf(t, [0.0, 0.0]), []
    w.register_hook(lambda g: seen.append(g.tolist()))
    y = w * 2
    y.copy_(x)
    (y * 5).sum().backward()
    assert seen == [[0.0, 0.0]]
    assert x.grad.tolist() == [5.0, 5.0]


# -- repeated passes ------------------------------------------------------------------------------


def test_hooks_run_in_every_pass_over_a_retained_graph(t):
    x, seen = leaf(t, 2.0), []
    y = x * x
    y.register_hook(lambda g: seen.append("y"))
    x.register_hook(lambda g: seen.append("x"))
    z = y * 3
    z.backward(retain_graph=True)
    z.backward(retain_graph=True)
    z.backward()
    assert seen == ["y", "x"] * 3
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        z.backward()


# -- copying, lifetime ----------------------------------------------------------------------------


def test_deepcopy_takes_no_hooks_along(t):
    x, seen = leaf(t, 2.0), []
    x.register_hook(lambda g: seen.append("hook"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("post"))
    twin = copy.deepcopy(x)
    (twin * 3).backward()
    assert seen == [] and twin.grad.item() == 3.0 and x.grad is None


def test_hooks_do_not_run_for_a_clone_or_a_detached_twin(t):
    x, seen = leaf(t, 2.0), []
    x.register_hook(lambda g: seen.append("hook"))
    twin = x.detach().requires_grad_()
    (twin * 3).backward()
    assert seen == []
    (x.clone() * 3).backward()
    assert seen == ["hook"]


def test_pickling_leaves_hooks_behind(t):
    x, seen = leaf(t, 2.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    with warnings.catch_warnings():
        # PyTorch warns of each
        warnings.simplefilter("ignore")
        data = pickle.dumps(x)
    twin = pickle.loads(data)
    (twin * 3).backward()
    assert twin.grad.item() == 3.0 and seen == []


def test_a_leaf_with_hooks_is_freed_when_nobody_holds_it(t):
    x = leaf(t, 2.0)
    x.register_hook(lambda g: g)
    x.register_post_accumulate_grad_hook(lambda p: None)
    (x * 3).backward()
    gone = weakref.ref(x)
    gc.collect()
    gc.disable()
    try:
        del x
        assert gone() is None
    finally:
        gc.enable()


def test_a_hook_is_let_go_of_with_its_tensor(t):
    class Hook:
        def __call__(self, g):
            return g

    x, hook = leaf(t, 2.0), Hook()
    y = x * 3
    y.register_hook(hook)
    gone = weakref.ref(hook)
    del hook
    assert gone() is not None
    y.backward()
    del y
    gc.collect()
    assert gone() is None


def test_a_hook_keeps_no_graph_alive_after_it_is_removed(t):
    class Hook:
        def __call__(self, g):
            return g

    x, hook = leaf(t, 2.0), Hook()
    handle = x.register_hook(hook)
    gone = weakref.ref(hook)
    handle.remove()
    del hook
    gc.collect()
    assert gone() is None
    (x * 3).backward()


def test_a_hook_of_a_dead_tensor_runs_as_long_as_its_node_lives(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    y.register_hook(lambda g: seen.append(g.item()))
    z = y * 4
    del y
    gc.collect()
    z.backward()
    assert seen == [4.0]


def test_a_complex_gradient_goes_through_hooks(t):
    x = t.tensor([1.0 + 2.0j], dtype=t.complex128, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * x.conj()).real.sum().backward()
    assert seen == [[2.0 + 4.0j]]


def test_an_in_place_hook_changes_the_gradient(t):
    x = leaf(t, [1.0, 2.0])
    y = x * 2

    def hook(g):
        g.mul_(0)

    x.register_hook(hook)
    y.backward(t.ones(2, dtype=t.float64))
    assert x.grad.tolist() == [0.0, 0.0]


# -- outputs that lead to no input ----------------------------------------------------------------


def test_hooks_of_the_only_output_run_though_nothing_leads_to_the_input(t):
    x, z, log = leaf(t, 2.0), leaf(t, 3.0), []
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: log.append(g.item()))
    y.grad_fn.register_prehook(lambda go: log.append("pre"))
    assert t.autograd.grad(y, z, allow_unused=True) == (None,)
    assert log == [1.0] and y.grad.item() == 1.0


@pytest.mark.parametrize("same_node", [False, True])
def test_hooks_of_one_of_several_outputs_do_not_run_if_nothing_leads_to_the_input(t, same_node):
    x, z, log = leaf(t, [2.0, 4.0]), leaf(t, 3.0), []
    outputs = x.unbind(0) if same_node else (x[0] * 2, x[1] * 3)
    for output in outputs:
        output.retain_grad()
        output.register_hook(lambda g: log.append(g.item()))
    assert t.autograd.grad(outputs, z, allow_unused=True) == (None,)
    assert log == [] and outputs[0].grad is None and outputs[1].grad is None


def test_several_outputs_of_which_one_leads_to_the_input(t):
    x, z, log = leaf(t, 2.0), leaf(t, 3.0), []
    y, w = x * 2, z * 3
    y.register_hook(lambda g: log.append("y"))
    w.register_hook(lambda g: log.append("w"))
    t.autograd.grad((y, w), z)
    assert log == ["w"]


# -- one gradient is one object -------------------------------------------------------------------


@pytest.mark.parametrize("leaf", [True, False])
def test_all_hooks_of_a_gradient_see_the_same_object(t, leaf):
    x = t.ones(2, requires_grad=True)
    y = x if leaf else x * 2
    node = y.view_as(y).grad_fn.next_functions[0][0] if leaf else y.grad_fn
    seen = []

    def first(grad):
        grad.relevance = 7
        seen.append(id(grad))

    y.register_hook(first)
    y.register_hook(lambda grad: seen.append((id(grad), grad.relevance)))
    node.register_prehook(lambda grads: seen.append((id(grads[0]), grads[0].relevance)))
    node.register_hook(lambda _, grads: seen.append((id(grads[0]), grads[0].relevance)))
    (y * 3).sum().backward()
    assert seen[1:] == [(seen[0], 7)] * 3


def test_a_gradient_that_goes_on_as_it_is_stays_the_same_object(t):
    x = t.ones(2, requires_grad=True)
    y = x.clone()
    z = y.clone()
    seen = []
    for tensor in (z, y, x):
        tensor.register_hook(seen.append)
    z.backward(t.ones(2))
    assert seen[0] is seen[1] is seen[2]
    assert x.grad is not seen[2]


def test_what_a_hook_returns_is_what_the_next_one_gets(t):
    x = t.ones(2, requires_grad=True)
    made = []
    seen = []
    x.register_hook(lambda grad: made.append(grad * 2) or made[0])
    x.register_hook(seen.append)
    (x * 3).sum().backward()
    assert seen[0] is made[0]
    assert x.grad.tolist() == [6, 6]


def test_what_a_hook_writes_goes_on_also_without_dimensions(t):
    def double(g):
        g.mul_(2)

    for shape in ((), (3,)):
        x = t.ones(shape, requires_grad=True)
        y = x * 3
        x.register_hook(double)
        y.register_hook(double)
        (y * y).sum().backward()
        assert x.grad.tolist() == t.full(shape, 72.0).tolist()


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_what_a_hook_writes_goes_on_also_with_tangents(t):
    forward = t.autograd.forward_ad
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with forward.dual_level():
        dual = forward.make_dual(x, t.ones(2))
        dual.register_hook(lambda g: (g.mul_(2), None)[1])
        (gradient,) = t.autograd.grad((dual * dual).sum(), dual)
        primal, tangent = forward.unpack_dual(gradient)
    assert primal.tolist() == [4, 8]
    assert tangent.tolist() == [4, 4]


def test_a_view_made_without_recording_takes_a_hook_as_any_leaf(t):
    x = t.ones(2, requires_grad=True)
    with t.no_grad():
        view = x.view(2, 1)
    heard = []
    view.register_post_accumulate_grad_hook(heard.append)
    (x * view.sum()).sum().backward()
    assert (view.is_leaf, heard) == (True, [])
