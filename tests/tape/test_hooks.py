"""Test tensor hooks: their arguments, their effects, and when they run."""

import numpy as np
import pytest

import wengert as wg


def leaf(values):
    return wg.tensor(values, dtype=wg.float64, requires_grad=True)


def test_a_hook_sees_the_gradient_of_a_leaf():
    x, seen = leaf([1.0, 2.0]), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * x).sum().backward()
    assert seen == [[2.0, 4.0]]
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_hook_sees_the_gradient_of_a_non_leaf():
    x, seen = leaf([1.0, 2.0]), []
    y = x * x
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * 3).sum().backward()
    assert seen == [[3.0, 3.0]]


def test_a_hook_runs_once_on_the_whole_sum():
    x, seen = leaf(2.0), []
    y = x * 3
    y.register_hook(lambda g: seen.append(g.item()))
    x.register_hook(lambda g: seen.append(g.item()))
    (y * y + y).backward()
    assert seen == [13.0, 39.0]


def test_a_hook_may_replace_the_gradient():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert x.grad.tolist() == [21.0, 21.0]


def test_hooks_run_in_the_order_of_registration():
    x = leaf(1.0)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    (x * 1).backward()
    assert x.grad.item() == 20.0


def test_a_hook_is_removed_by_its_handle():
    x, seen = leaf(1.0), []
    handle = x.register_hook(lambda g: seen.append(1))
    (x * 1).backward()
    handle.remove()
    handle.remove()
    (x * 1).backward()
    assert seen == [1]


def test_a_handle_is_a_context():
    x, seen = leaf(1.0), []
    with x.register_hook(lambda g: seen.append(1)):
        (x * 1).backward()
    (x * 1).backward()
    assert seen == [1]


def test_hooks_work_with_grad():
    x = leaf(2.0)
    y = x * x
    x.register_hook(lambda g: g * 100)
    assert wg.autograd.grad(y, x)[0].item() == 400.0


def test_hooks_on_a_non_leaf_that_is_asked_for():
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * 100)
    assert wg.autograd.grad(y * 3, y)[0].item() == 300.0


def test_a_retained_gradient_is_what_the_hooks_made():
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    (y * 3).backward()
    assert y.grad.item() == 6.0


def test_hooks_record_only_under_create_graph():
    x, seen = leaf(2.0), []
    y = x * x
    y.register_hook(lambda g: seen.append((g * 2).requires_grad))
    z = y * x
    z.backward(retain_graph=True)
    wg.autograd.grad(z, x, create_graph=True)
    assert seen == [False, True]


def test_a_hook_is_differentiated_under_create_graph():
    x = leaf(3.0)
    y = x * x
    y.register_hook(lambda g: g * g)
    z = y * x
    (g,) = wg.autograd.grad(z, x, create_graph=True)
    # dz/dy = x, squared by the hook: x^2 * 2x + y = 3 x^2 would be without; now 2 x^3 + x^2
    assert g.item() == 2 * 27.0 + 9.0
    assert wg.autograd.grad(g, x)[0].item() == 6 * 9.0 + 6.0


def test_a_hook_must_keep_the_shape():
    x = leaf([1.0, 2.0])
    x.register_hook(lambda g: g.sum())
    with pytest.raises(RuntimeError, match="has changed the size of value"):
        (x * 1).sum().backward()
    assert x.grad is None


def test_a_hook_needs_a_gradient():
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't requi"):
        wg.tensor(1.0).register_hook(print)


def test_a_hook_on_a_leaf_outlives_the_graph():
    x, seen = leaf(1.0), []
    x.register_hook(lambda g: seen.append(1))
    for _ in range(3):
        (x * 1).backward()
    assert seen == [1, 1, 1]


def test_a_hook_may_be_added_while_hooks_run():
    x, seen = leaf(1.0), []

    def first(g):
        x.register_hook(lambda g: seen.append("late"))

    handle = x.register_hook(first)
    (x * 1).backward()
    handle.remove()
    seen.clear()
    (x * 1).backward()
    assert seen == ["late"]


def test_hooks_of_leaves_record_only_if_the_walk_does():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(wg.is_grad_enabled()))
    (x * x).sum().backward()
    (x * x).sum().backward(create_graph=True)
    assert seen == [False, True]
    assert wg.is_grad_enabled()


def doubling(g):
    g.mul_(2)


class Handing(wg.autograd.Function):
    """Hands a tensor of the user's on as the gradient."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(y)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[0], None


def test_a_hook_that_writes_to_memory_that_is_not_numpys_writes_to_that_tensor():
    x = leaf([3.0, 4.0])
    y = wg.from_numpy(np.frombuffer(bytearray(16)))
    z = x * y
    z.register_hook(doubling)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.reshape(2, 1).backward(y.reshape(2, 1))


@pytest.mark.parametrize("shape", [(2,), (1, 2)])
def test_a_hook_that_writes_to_the_gradient_that_was_given_writes_to_that_tensor(shape):
    x = leaf([3.0, 4.0])
    y = x * 1
    z = (y * y).reshape(shape)
    z.register_hook(doubling)
    given = y.detach()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward(given.reshape(shape))
    assert (given.tolist(), y._version, x.grad) == ([6.0, 8.0], 1, None)


def test_a_hook_that_writes_to_what_another_hook_gave_writes_to_that_tensor():
    x = leaf([3.0, 4.0])
    y = x * 1
    z = y * y
    z.register_hook(lambda g: y.detach())
    z.register_hook(doubling)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_a_hook_that_writes_to_what_a_function_gave_writes_to_that_tensor():
    x = leaf([3.0, 4.0])
    y = x * 1
    z = y * y
    z.register_hook(doubling)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        Handing.apply(z, y.detach()).sum().backward()


def test_a_function_that_writes_to_the_gradient_that_was_given_writes_to_that_tensor():
    class Doubling(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g.mul_(2)

    x = leaf([3.0, 4.0])
    y = x * 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        Doubling.apply(y * y).backward(y.detach())
    given = wg.ones(2, dtype=wg.float64)
    Doubling.apply(x * x).backward(given)
    assert (x.grad.tolist(), given.tolist(), given._version) == ([12.0, 16.0], [2.0, 2.0], 1)
