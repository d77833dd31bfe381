"""Test `register_multi_grad_hook`: one hook for the gradients of several tensors."""

import pytest


def leaf(t, values):
    return t.tensor(values, dtype=t.float64, requires_grad=True)


def numbers(grads):
    return [None if g is None else g.tolist() for g in grads]


def register(t, tensors, fn, **kwargs):
    return t.autograd.graph.register_multi_grad_hook(tensors, fn, **kwargs)


# -- all ------------------------------------------------------------------------------------------


def test_the_hook_runs_once_with_all_gradients_in_order(t):
    a, b, c, seen = leaf(t, 2.0), leaf(t, 3.0), leaf(t, 5.0), []
    register(t, (a, b, c), lambda grads: seen.append(numbers(grads)))
    (a * b * c).backward()
    assert seen == [[15.0, 10.0, 6.0]]


def test_tensors_that_are_not_reached_get_none(t):
    a, b, c, seen = leaf(t, 2.0), leaf(t, 3.0), leaf(t, 5.0), []
    register(t, (a, b, c), lambda grads: seen.append(numbers(grads)))
    (a * c).backward()
    (b * 7).backward()
    assert seen == [[5.0, None, 2.0], [None, 7.0, None]]


def test_the_hook_does_not_run_if_no_tensor_is_reached(t):
    a, b, seen = leaf(t, 2.0), leaf(t, 3.0), []
    register(t, (a,), lambda grads: seen.append(numbers(grads)))
    (b * 7).backward()
    assert seen == []


def test_the_hook_runs_in_every_pass(t):
    a, b, seen = leaf(t, 2.0), leaf(t, 3.0), []
    register(t, (a, b), lambda grads: seen.append(numbers(grads)))
    y = a * b
    y.backward(retain_graph=True)
    y.backward()
    (a + b).backward()
    assert seen == [[3.0, 2.0], [3.0, 2.0], [1.0, 1.0]]


def test_the_hook_runs_as_soon_as_the_last_gradient_is_there(t):
    x, log = leaf(t, 2.0), []
    y = x * 2
    z = y * 3
    w = z * 5
    register(t, (y, w), lambda grads: log.append(("multi", numbers(grads))))
    for name, tensor in (("w", w), ("z", z), ("y", y), ("x", x)):
        tensor.register_hook(lambda g, name=name: log.append(name))
    (w * 7).backward()
    assert log == ["w", "z", ("multi", [105.0, 7.0]), "y", "x"]


def test_under_grad_only_what_leads_to_the_inputs_counts(t):
    x, w, seen = leaf(t, 2.0), leaf(t, 3.0), []
    a, b = x * 1, w * 1
    register(t, (a, b), lambda grads: seen.append(numbers(grads)))
    y = a * b
    t.autograd.grad(y, x, retain_graph=True)
    t.autograd.grad(y, w, retain_graph=True)
    t.autograd.grad(y, [x, w])
    assert seen == [[3.0, None], [None, 2.0], [3.0, 2.0]]


def test_with_inputs_only_what_leads_to_them_counts(t):
    a, b, seen = leaf(t, 2.0), leaf(t, 3.0), []
    register(t, (a, b), lambda grads: seen.append(numbers(grads)))
    (a * b).backward(inputs=[a])
    assert seen == [[3.0, None]]


def test_under_grad_a_non_leaf_that_is_an_input_counts(t):
    x, seen = leaf(t, 2.0), []
    w = x * 1
    y = w * 3
    register(t, (y, w), lambda grads: seen.append(numbers(grads)))
    t.autograd.grad(y * y, y)
    assert seen == [[12.0, None]]


def test_several_outputs_of_one_operation(t):
    x, seen = leaf(t, [1.0, 2.0, 3.0]), []
    a, b, c = x.unbind(0)
    register(t, (a, b, c), lambda grads: seen.append(numbers(grads)))
    (a * 3 + c * 5).backward()
    assert seen == [[3.0, None, 5.0]]


def test_the_same_tensor_twice(t):
    x, seen = leaf(t, 2.0), []
    register(t, (x, x), lambda grads: seen.append(numbers(grads)))
    (x * 3).backward()
    assert seen == [[3.0, 3.0]]


def test_the_result_of_the_hook_is_ignored(t):
    a, b = leaf(t, 2.0), leaf(t, 3.0)
    register(t, (a, b), lambda grads: [g * 10 for g in grads])
    (a * b).backward()
    assert (a.grad.item(), b.grad.item()) == (3.0, 2.0)


def test_the_hook_sees_what_earlier_hooks_made(t):
    a, seen = leaf(t, 2.0), []
    a.register_hook(lambda g: g * 10)
    register(t, (a,), lambda grads: seen.append(numbers(grads)))
    a.register_hook(lambda g: g * 100)
    (a * 3).backward()
    assert seen == [[30.0]]
    assert a.grad.item() == 3000.0


def test_under_create_graph_the_gradients_have_a_history(t):
    x, seen = leaf(t, 2.0), []
    a, b = x * 2, x * 3
    register(t, (a, b), lambda grads: seen.append([g.requires_grad for g in grads]))
    y = a * b * a
    t.autograd.grad(y, x, retain_graph=True)
    t.autograd.grad(y, x, create_graph=True)
    assert seen == [[False, False], [True, True]]


def test_a_hook_that_raises_stops_the_pass(t):
    a, b = leaf(t, 2.0), leaf(t, 3.0)

    def hook(grads):
        raise ValueError("no")

    handle = register(t, (a, b), hook)
    y = a * b
    with pytest.raises(ValueError, match="no"):
        y.backward(retain_graph=True)
    handle.remove()
    a.grad = b.grad = None
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (3.0, 2.0)


def test_the_next_pass_counts_anew_after_one_that_raised(t):
    a, b, seen, fail = leaf(t, 2.0), leaf(t, 3.0), [], [True]

    def stop(g):
        if fail[0]:
            raise ValueError("no")

    register(t, (a, b), lambda grads: seen.append(numbers(grads)))
    a.register_hook(stop)
    with pytest.raises(ValueError, match="no"):
        (a * b).backward()
    fail[0] = False
    a.grad = b.grad = None
    (a * b).backward()
    assert seen[-1] == [3.0, 2.0]


def test_a_nested_pass_counts_for_itself(t):
    a, b, seen = leaf(t, 2.0), leaf(t, 3.0), []
    y = a * 1

    def nested(g):
        with t.enable_grad():
            (a * b * 10).backward()

    y.register_hook(nested)
    register(t, (a, b), lambda grads: seen.append(numbers(grads)))
    (y * b).backward()
    assert sorted(seen) == [[3.0, 2.0], [30.0, 20.0]]
    assert (a.grad.item(), b.grad.item()) == (33.0, 22.0)


def test_removal_takes_the_hook_from_all_tensors(t):
    a, b, seen = leaf(t, 2.0), leaf(t, 3.0), []
    handle = register(t, (a, b), lambda grads: seen.append(numbers(grads)))
    (a * b).backward()
    handle.remove()
    handle.remove()
    (a * b).backward()
    (a * 2).backward()
    assert seen == [[3.0, 2.0]]


def test_all_tensors_must_require_a_gradient(t):
    a, c, seen = leaf(t, 2.0), t.tensor(1.0), []
    # PyTorch fails an assertion
    with pytest.raises((RuntimeError, AssertionError)):
        register(t, (a, c), seen.append)
    (a * 2).backward()
    assert seen == []


def test_another_mode_is_refused(t):
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        register(t, (leaf(t, 1.0),), print, mode="some")


def test_a_tensor_that_was_written_to_after_registering_is_counted_by_its_old_history(t):
    x, seen = leaf(t, 2.0), []
    y = x * 3
    register(t, (y, x), lambda grads: seen.append(numbers(grads)))
    y.mul_(5)
    y.backward()
    assert seen == [[5.0, 15.0]]


# -- any ------------------------------------------------------------------------------------------


def test_any_runs_once_with_the_first_gradient(t):
    x, seen = leaf(t, 2.0), []
    y = x * 2
    z = y * 3
    register(t, (x, y, z), lambda g: seen.append(g.item()), mode="any")
    (z * 5).backward()
    assert seen == [5.0]


def test_any_runs_again_in_the_next_pass(t):
    a, b, seen = leaf(t, 2.0), leaf(t, 3.0), []
    register(t, (a, b), lambda g: seen.append(g.item()), mode="any")
    (a * 3).backward()
    (b * 4).backward()
    assert seen == [3.0, 4.0]


def test_any_leaves_out_tensors_that_require_no_gradient(t):
    a, c, seen = leaf(t, 2.0), t.tensor(1.0), []
    register(t, (c, a), lambda g: seen.append(g.item()), mode="any")
    (a * 3).backward()
    assert seen == [3.0]


def test_any_is_removed_from_all_tensors(t):
    a, b, seen = leaf(t, 2.0), leaf(t, 3.0), []
    handle = register(t, (a, b), lambda g: seen.append(g.item()), mode="any")
    handle.remove()
    (a * b).backward()
    assert seen == []


def test_any_in_a_nested_pass_runs_for_both(t):
    a, seen = leaf(t, 2.0), []
    y = a * 1

    def nested(g):
        with t.enable_grad():
            (a * 10).backward()

    y.register_hook(nested)
    register(t, (a,), lambda g: seen.append(g.item()), mode="any")
    y.backward()
    assert seen == [10.0, 1.0]


def test_a_raising_any_hook_runs_again_in_the_next_pass(t):
    a, calls = leaf(t, 2.0), []

    def hook(g):
        calls.append(g.item())
        if len(calls) == 1:
            raise KeyError("no")

    register(t, (a,), hook, mode="any")
    with pytest.raises(KeyError, match="no"):
        (a * 3).backward()
    (a * 3).backward()
    assert calls == [3.0, 3.0]


# -- where a custom Function gives no gradient ----------------------------------------------------


class TestFunctionsWithoutGradient:
    @staticmethod
    def stop(t):
        class Stop(t.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                return a * b

            @staticmethod
            def backward(ctx, grad):
                return None, grad * 7

        return Stop

    def test_the_hook_of_a_tensor_gets_none(self, t):
        x, w, seen = leaf(t, 2.0), leaf(t, 3.0), []
        y = x * 5
        y.register_hook(seen.append)
        self.stop(t).apply(y, w).backward()
        assert seen == [None]
        assert x.grad is None and w.grad.item() == 7.0

    def test_the_hook_of_a_leaf_gets_none(self, t):
        x, w, seen = leaf(t, 2.0), leaf(t, 3.0), []
        x.register_hook(seen.append)
        self.stop(t).apply(x * 1, w).backward()
        assert seen == [None]

    def test_a_multi_hook_runs_with_none_there(self, t):
        x, w, seen = leaf(t, 2.0), leaf(t, 3.0), []
        y = x * 5
        register(t, (y, w), lambda grads: seen.append(numbers(grads)))
        self.stop(t).apply(y, w).backward()
        assert seen == [[None, 7.0]]

    def test_hooks_of_the_node_get_none(self, t):
        x, w, seen = leaf(t, 2.0), leaf(t, 3.0), []
        y = x * x
        y.grad_fn.register_prehook(lambda go: seen.append(go))
        y.grad_fn.register_hook(lambda gi, go: seen.append((gi, go)))
        self.stop(t).apply(y, w).backward()
        assert seen == [(None,), ((None, None), (None,))]

    def test_a_function_further_down_gets_zeros(self, t):
        seen = []

        class Look(t.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                return a * 2

            @staticmethod
            def backward(ctx, grad):
                seen.append(grad.item())
                return grad + 1

        x, w = leaf(t, 2.0), leaf(t, 3.0)
        self.stop(t).apply(Look.apply(x), w).backward()
        assert seen == [0.0]
        assert x.grad.item() == 1.0

    def test_post_accumulate_hooks_of_a_leaf_without_gradient_run(self, t):
        x, w, seen = leaf(t, 2.0), leaf(t, 3.0), []
        x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad))
        self.stop(t).apply(x, w).backward()
        assert seen == [None]


def test_a_target_that_the_walk_cannot_reach_counts_as_missing(t):
    x, y, z = (t.ones(2, requires_grad=True) * 2 for _ in range(3))
    seen = []
    t.autograd.graph.register_multi_grad_hook(
        (x, y, z), lambda grads: seen.append([g is not None for g in grads])
    )
    out = (y * z).sum()
    out.backward(inputs=(x, z), retain_graph=True)
    out.backward(inputs=(x,), retain_graph=True)
    assert seen == [[False, False, True]]
