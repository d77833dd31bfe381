"""Test hooks on nodes: `register_hook` and `register_prehook`, also of `AccumulateGrad`."""

import gc
import weakref

import pytest


def leaf(t, values):
    return t.tensor(values, dtype=t.float64, requires_grad=True)


def numbers(grads):
    return tuple(None if g is None else g.tolist() for g in grads)


# -- what they see --------------------------------------------------------------------------------


def test_a_hook_sees_the_gradients_of_arguments_and_outputs(t):
    a, b, seen = leaf(t, 2.0), leaf(t, 3.0), []
    y = a * b
    y.grad_fn.register_hook(lambda gi, go: seen.append((numbers(gi), numbers(go))))
    (y * 5).backward()
    assert seen == [((15.0, 10.0), (5.0,))]


def test_a_hook_gets_tuples(t):
    a, seen = leaf(t, 2.0), []
    y = a * a
    y.grad_fn.register_hook(lambda gi, go: seen.append((type(gi), type(go))))
    y.grad_fn.register_prehook(lambda go: seen.append(type(go)))
    y.backward()
    assert seen == [tuple, (tuple, tuple)]


def test_an_argument_without_gradient_is_none(t):
    a, c, seen = leaf(t, 2.0), t.tensor(3.0, dtype=t.float64), []
    y = a * c
    z = c * a
    y.grad_fn.register_hook(lambda gi, go: seen.append(numbers(gi)))
    z.grad_fn.register_hook(lambda gi, go: seen.append(numbers(gi)))
    (y + z).backward()
    assert sorted(seen, key=str) == [(3.0, None), (None, 3.0)]


def test_a_number_as_argument_has_a_place_of_its_own(t):
    a, seen = leaf(t, 2.0), []
    y = a * 3
    y.grad_fn.register_hook(lambda gi, go: seen.append(numbers(gi)))
    y.backward()
    assert seen == [(3.0, None)]
    assert len(y.grad_fn.next_functions) == 2


def test_a_prehook_sees_the_gradients_of_all_outputs(t):
    x, seen = leaf(t, [1.0, 2.0, 3.0]), []
    parts = x.unbind(0)
    parts[0].grad_fn.register_prehook(lambda go: seen.append(numbers(go)))
    (parts[0] * 3 + parts[2] * 5).backward()
    assert seen == [(3.0, None, 5.0)]


def test_broadcast_gradients_are_summed_down_before_the_hook_sees_them(t):
    a, b, seen = leaf(t, 2.0), leaf(t, [3.0, 4.0]), []
    y = a * b
    y.grad_fn.register_hook(lambda gi, go: seen.append(numbers(gi)))
    y.sum().backward()
    assert seen == [(7.0, [2.0, 2.0])]


# -- what they return -----------------------------------------------------------------------------


def test_a_prehook_replaces_the_gradients_of_the_outputs(t):
    a, b = leaf(t, 2.0), leaf(t, 3.0)
    y = a * b
    y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (30.0, 20.0)


def test_a_hook_replaces_the_gradients_of_the_arguments(t):
    a, b = leaf(t, 2.0), leaf(t, 3.0)
    y = a * b
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, gi[1] * 100))
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (30.0, 200.0)


def test_hooks_run_in_order_each_on_what_the_last_made(t):
    a, seen = leaf(t, 2.0), []
    y = a.exp() * 1
    node = y.grad_fn
    node.register_hook(lambda gi, go: (gi[0] + 1, None))
    node.register_hook(lambda gi, go: seen.append(gi[0].item()))
    node.register_hook(lambda gi, go: (gi[0] * 10, None))
    node.register_hook(lambda gi, go: seen.append((gi[0].item(), go[0].item())))
    y.backward()
    assert seen == [2.0, (20.0, 1.0)]


def test_prehooks_run_in_order_each_on_what_the_last_made(t):
    a = leaf(t, 2.0)
    y = a * 1
    y.grad_fn.register_prehook(lambda go: (go[0] + 1,))
    y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    y.backward()
    assert a.grad.item() == 20.0


def test_a_hook_sees_as_outputs_what_the_prehooks_made(t):
    a, seen = leaf(t, 2.0), []
    y = a * 3
    y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    y.grad_fn.register_hook(lambda gi, go: seen.append((gi[0].item(), go[0].item())))
    y.backward()
    assert seen == [(30.0, 10.0)]


@pytest.mark.parametrize("kind", ["register_hook", "register_prehook"])
def test_a_hook_must_return_a_tuple_also_for_a_single_gradient(t, kind):
    a = leaf(t, 2.0)
    y = a.exp()
    getattr(y.grad_fn, kind)(lambda *grads: grads[0][0])
    with pytest.raises(TypeError, match="expected tuple, but hook returned 'Tensor'"):
        y.backward()
    assert a.grad is None


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_hook_must_return_one_value_for_each_argument(t, count):
    a = leaf(t, 2.0)
    y = a * a

    def hook(gi, go):
        return (gi[0],) * count

    y.grad_fn.register_hook(hook)
    message = (
        r"hook 'hook' has returned an incorrect number of values "
        rf"\(got {count}, but expected 2\)"
    )
    with pytest.raises(RuntimeError, match=message):
        y.backward()
    assert a.grad is None


@pytest.mark.parametrize("count", [0, 2])
def test_a_prehook_must_return_one_value_for_each_output(t, count):
    a = leaf(t, 2.0)
    y = a * a

    def hook(go):
        return (go[0],) * count

    y.grad_fn.register_prehook(hook)
    with pytest.raises(RuntimeError, match="hook 'hook' has returned an incorrect number of val"):
        y.backward()
    assert a.grad is None


@pytest.mark.parametrize("result", [3.0, "text", {}])
def test_a_hook_that_returns_no_tuple_of_tensors_is_refused(t, result):
    a = leaf(t, 2.0)
    y = a * a
    y.grad_fn.register_hook(lambda gi, go: (result, result))
    with pytest.raises(TypeError, match="expected Variable, but hook returned"):
        y.backward()
    assert a.grad is None


def test_a_hook_that_changes_a_shape_is_refused(t):
    a = leaf(t, [1.0, 2.0])
    y = a.exp()

    def hook(gi, go):
        return (gi[0].sum(),)

    y.grad_fn.register_hook(hook)
    with pytest.raises(RuntimeError, match="hook 'hook' has changed the size of value"):
        y.sum().backward()
    assert a.grad is None


def test_a_prehook_that_changes_a_dtype_is_refused(t):
    a = leaf(t, [1.0, 2.0])
    y = a.exp()

    def hook(go):
        return (go[0].float(),)

    y.grad_fn.register_prehook(hook)
    with pytest.raises(RuntimeError, match="hook 'hook' has changed the type of value"):
        y.sum().backward()
    assert a.grad is None


def test_a_none_gradient_cannot_be_replaced(t):
    a, c = leaf(t, 2.0), t.tensor(3.0, dtype=t.float64)
    y = a * c
    y.grad_fn.register_hook(lambda gi, go: (gi[0], gi[0]))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        y.backward()
    assert a.grad is None


def test_a_gradient_that_a_hook_took_away_adds_nothing_to_other_paths(t):
    a = leaf(t, 2.0)
    y = a * 3
    z = y + a * 10
    y.grad_fn.register_hook(lambda gi, go: (None, None))
    z.backward()
    assert a.grad.item() == 10.0


# -- AccumulateGrad -------------------------------------------------------------------------------


def test_the_node_of_a_leaf_is_the_same_however_it_is_reached(t):
    x = leaf(t, 2.0)
    y, z = x * 3, x.exp()
    accumulate = y.grad_fn.next_functions[0][0]
    assert accumulate is z.grad_fn.next_functions[0][0]
    assert accumulate.variable is x
    assert accumulate.name() == "torch::autograd::AccumulateGrad"
    assert accumulate.next_functions == ()


def test_a_prehook_of_a_leaf_changes_what_is_accumulated(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.grad_fn.next_functions[0][0].register_prehook(lambda go: (go[0] * 10,))
    y.backward()
    assert x.grad.item() == 30.0


def test_a_prehook_of_a_leaf_runs_after_its_tensor_hooks_on_what_they_made(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(lambda go: seen.append(go[0].item()))
    x.register_hook(lambda g: g * 10)
    y.backward()
    assert seen == [30.0]


def test_a_hook_of_a_leaf_node_gets_no_gradients_of_arguments(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    y.grad_fn.next_functions[0][0].register_hook(
        lambda gi, go: seen.append((gi, numbers(go), x.grad.item()))
    )
    y.backward()
    assert seen == [((), (3.0,), 3.0)]


def test_hooks_of_a_leaf_node_last_as_long_as_the_node_is_held(t):
    x, seen = leaf(t, 2.0), []
    node = (x * 3).grad_fn.next_functions[0][0]
    node.register_prehook(lambda go: seen.append(go[0].item()))
    (x * 3).backward()
    (x * 4).backward()
    assert seen == [3.0, 4.0]


def test_prehooks_of_a_leaf_node_do_not_run_under_grad(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(lambda go: seen.append("pre"))
    node.register_hook(lambda gi, go: seen.append("post"))
    assert t.autograd.grad(y, x)[0].item() == 3.0
    assert seen == []


def test_a_prehook_of_a_leaf_node_may_take_the_gradient_away(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(lambda go: (None,))
    node.register_prehook(lambda go: seen.append(("pre", go[0])))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(("post-accumulate", p.grad)))
    node.register_hook(lambda gi, go: seen.append(("post", gi, go)))
    y.backward()
    assert x.grad is None
    assert seen == [("pre", None), ("post-accumulate", None), ("post", (), (None,))]


def test_hooks_of_a_leaf_node_are_removed_by_their_handles(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    node = y.grad_fn.next_functions[0][0]
    handles = [
        node.register_prehook(lambda go: seen.append("pre")),
        node.register_hook(lambda gi, go: seen.append("post")),
    ]
    for handle in handles:
        handle.remove()
    y.backward()
    assert seen == []


def test_the_node_of_a_leaf_dies_with_the_leaf_and_its_graph(t):
    x = leaf(t, 2.0)
    y = x * 3
    y.grad_fn.next_functions[0][0].register_prehook(lambda go: None)
    y.backward()
    gone = weakref.ref(x)
    del x, y
    gc.collect()
    assert gone() is None


# -- where they run -------------------------------------------------------------------------------


def test_hooks_run_in_each_pass_over_a_retained_graph(t):
    x, log = leaf(t, 2.0), []
    y = x * x
    y.grad_fn.register_prehook(lambda go: log.append("pre"))
    y.grad_fn.register_hook(lambda gi, go: log.append("post"))
    y.backward(retain_graph=True)
    y.backward()
    assert log == ["pre", "post"] * 2


def test_under_grad_hooks_run_only_between_outputs_and_inputs(t):
    x, w, log = leaf(t, 2.0), leaf(t, 3.0), []
    a, b = x * 2, w * 3
    y = a * b
    for name, tensor in (("a", a), ("b", b), ("y", y)):
        tensor.grad_fn.register_prehook(lambda go, name=name: log.append(f"{name} pre"))
        tensor.grad_fn.register_hook(lambda gi, go, name=name: log.append(f"{name} post"))
    t.autograd.grad(y, x)
    assert log == ["y pre", "y post", "a pre", "a post"]


def test_under_grad_a_hook_does_not_see_gradients_that_nobody_asks_for(t):
    x, w, seen = leaf(t, 2.0), leaf(t, 3.0), []
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: seen.append(numbers(gi)))
    t.autograd.grad(y, x)
    assert seen == [(3.0, None)]


def test_hooks_of_nodes_change_what_grad_returns(t):
    x = leaf(t, 2.0)
    y = x * x
    y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    y.grad_fn.register_hook(lambda gi, go: (gi[0] + 1, gi[1] + 1))
    assert t.autograd.grad(y * 1, x)[0].item() == 42.0


def test_hooks_of_nodes_are_differentiated_through(t):
    x = leaf(t, 3.0)
    y = x * x
    y.grad_fn.register_prehook(lambda go: (go[0] * go[0],))
    (g,) = t.autograd.grad(y * x, x, create_graph=True)
    assert g.item() == 2 * 27.0 + 9.0
    assert t.autograd.grad(g, x)[0].item() == 6 * 9.0 + 6.0


def test_hooks_of_nodes_record_under_create_graph_only(t):
    x, seen = leaf(t, 3.0), []
    y = x * x
    y.grad_fn.register_prehook(lambda go: seen.append(t.is_grad_enabled()))
    y.grad_fn.register_hook(lambda gi, go: seen.append(t.is_grad_enabled()))
    z = y * x
    t.autograd.grad(z, x, retain_graph=True)
    t.autograd.grad(z, x, create_graph=True)
    assert seen == [False, False, True, True]


def test_a_hook_on_a_node_may_run_backward(t):
    x, w = leaf(t, 2.0), leaf(t, 5.0)
    y = x * x

    def hook(gi, go):
        with t.enable_grad():
            (w * w).backward()

    y.grad_fn.register_hook(hook)
    (y * 3).backward()
    assert (x.grad.item(), w.grad.item()) == (12.0, 10.0)


def test_hooks_stay_with_the_node_when_the_tensor_is_written_to(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    y.grad_fn.register_hook(lambda gi, go: seen.append(numbers(go)))
    y.mul_(5)
    y.grad_fn.register_prehook(lambda go: seen.append(numbers(go)))
    y.backward()
    assert seen == [(1.0,), (5.0,)]


def test_hooks_of_a_copy_slices_node(t):
    x, seen = leaf(t, [1.0, 2.0, 3.0]), []
    y = x * 2
    y[1:].mul_(3)
    assert y.grad_fn.name().endswith("CopySlices")
    y.grad_fn.register_prehook(lambda go: seen.append(numbers(go)))
    y.grad_fn.register_hook(lambda gi, go: seen.append(gi[0].tolist()))
    y.sum().backward()
    assert seen == [([1.0, 1.0, 1.0],), [1.0, 3.0, 3.0]]


def test_hooks_of_a_node_made_by_a_custom_function(t):
    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None

    x, seen = leaf(t, 3.0), []
    y = Double.apply(x, 2)
    y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    y.grad_fn.register_hook(lambda gi, go: seen.append((numbers(gi), numbers(go))))
    y.register_hook(lambda g: seen.append(g.item()))
    y.backward()
    assert seen[0] == 1.0
    assert seen[1][1] == (10.0,)
    assert seen[1][0][0] == 20.0
    assert x.grad.item() == 20.0


# -- handles, lifetime ----------------------------------------------------------------------------


def test_handles_remove_hooks_of_nodes(t):
    x, log = leaf(t, 2.0), []
    y = x * x
    pre = y.grad_fn.register_prehook(lambda go: log.append("pre"))
    post = y.grad_fn.register_hook(lambda gi, go: log.append("post"))
    y.backward(retain_graph=True)
    pre.remove()
    y.backward(retain_graph=True)
    post.remove()
    post.remove()
    y.backward()
    assert log == ["pre", "post", "post"]


def test_a_handle_of_a_node_is_a_context_manager(t):
    x, log = leaf(t, 2.0), []
    y = x * x
    with y.grad_fn.register_prehook(lambda go: log.append("pre")):
        y.backward(retain_graph=True)
    y.backward()
    assert log == ["pre"]


def test_a_hook_removed_by_an_earlier_one_in_the_same_pass(t):
    x, log = leaf(t, 2.0), []
    y = x * 3
    z = y * 3
    handle = y.grad_fn.register_prehook(lambda go: log.append("y"))
    z.grad_fn.register_prehook(lambda go: handle.remove())
    z.backward()
    assert log == []


def test_a_hook_is_freed_with_its_graph(t):
    class Hook:
        def __call__(self, *grads):
            return None

    x, hook = leaf(t, 2.0), Hook()
    y = x * 3
    y.grad_fn.register_hook(hook)
    gone = weakref.ref(hook)
    del hook
    y.backward()
    assert gone() is not None
    del y
    gc.collect()
    assert gone() is None


def test_a_hook_registered_while_a_node_unpacks_runs_after_that_node(t):
    seen = []

    def unpack(tensor):
        def hook(inputs, outputs):
            seen.append(outputs)
            return tuple(None if g is None else g / 2 for g in inputs)

        t._C._current_autograd_node().register_hook(hook)
        return tensor

    a = t.ones(2, requires_grad=True)
    with t.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        b = a**3
    b.sum().backward()
    assert a.grad.tolist() == [1.5, 1.5]
    # what came in is not shown any more
    assert [g for outputs in seen for g in outputs if g is not None] == []


def test_a_node_knows_whether_the_graph_is_kept(t):
    seen = []

    class Asks(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            seen.append(t._C._autograd._get_current_graph_task_keep_graph())
            return g

    x = t.ones(2, requires_grad=True)
    out = Asks.apply(x).sum()
    out.backward(retain_graph=True)
    x.register_hook(lambda g: None)
    out.backward(retain_graph=True)
    out.backward()
    assert seen == [True, True, False]


def test_the_node_that_is_run_is_known_to_its_hooks(t):
    seen = []

    def look(*args):
        seen.append(t._C._current_autograd_node().name())

    x = t.ones(2, requires_grad=True)
    y = x.sin()
    y.grad_fn.register_prehook(look)
    y.grad_fn.register_hook(look)
    y.register_hook(look)
    x.register_hook(look)
    x.register_post_accumulate_grad_hook(look)
    y.sum().backward()
    leaf = "torch::autograd::AccumulateGrad"
    assert seen == ["SinBackward0"] * 3 + [leaf] * 2
    assert t._C._current_autograd_node() is None


def test_a_node_keeps_any_object_for_a_hook_as_long_as_it_lives(t):
    class Kept:
        pass

    kept = Kept()
    gone = weakref.ref(kept)
    x = t.ones(3, 3, requires_grad=True)
    copy = x.clone()
    copy.grad_fn.register_hook(kept)
    view = copy.view(9)
    t.nn.functional.relu(view, inplace=True)
    del kept
    assert gone() is not None
    with pytest.raises(TypeError, match="object is not callable"):
        view.sum().backward()
    del copy, view
    gc.collect()
    assert gone() is None


def test_the_gradient_that_became_grad_is_one_with_it(t):
    a, seen = leaf(t, [1.0, 1.0]), []
    end = a.view_as(a).grad_fn.next_functions[0][0]
    a.register_post_accumulate_grad_hook(lambda leaf: (leaf.grad.add_(0.5), None)[1])
    end.register_hook(lambda gi, go: seen.append(go[0].tolist()))
    (a * 2).sum().backward()
    assert seen == [[2.5, 2.5]]
    # what is added to it is not
    (a * 2).sum().backward()
    assert seen[1] == [2.0, 2.0]
    assert a.grad.tolist() == [5.0, 5.0]


def test_a_gradient_that_somebody_holds_does_not_become_grad(t):
    a, seen, held = leaf(t, [1.0, 1.0]), [], []
    end = a.view_as(a).grad_fn.next_functions[0][0]
    a.register_hook(held.append)
    a.register_post_accumulate_grad_hook(lambda leaf: (leaf.grad.add_(0.5), None)[1])
    end.register_hook(lambda gi, go: seen.append(go[0].tolist()))
    (a * 2).sum().backward()
    assert (seen, held[0].tolist(), a.grad.tolist()) == ([[2.0, 2.0]], [2.0, 2.0], [2.5, 2.5])
