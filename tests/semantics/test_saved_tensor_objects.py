"""Test saved tensors as objects (``grad_fn._raw_saved_self``), and calls of nodes."""

import pytest


def leaf(t, *values):
    return t.tensor(values, requires_grad=True)


def test_a_saved_tensor_shows_what_was_saved(t):
    x, y = leaf(t, 2.0), leaf(t, 3.0)
    node = (x * y).grad_fn
    assert type(node._raw_saved_self).__name__ == "SavedTensor"
    assert node._raw_saved_self.data.item() == 2
    assert node._raw_saved_other.unpack().item() == 3
    assert {"_raw_saved_self", "_raw_saved_other", "_saved_self"} <= set(dir(node))


def test_hooks_may_be_set_on_one_saved_tensor(t):
    x = leaf(t, 2.0, 3.0)
    y = x * x
    log = []
    y.grad_fn._raw_saved_self.register_hooks(
        lambda saved: log.append(saved.is_leaf) or saved.detach() * 10, lambda packed: packed * 2
    )
    assert log == [True]
    assert y.grad_fn._saved_self.tolist() == [40, 60]
    assert y.grad_fn._saved_other.tolist() == [2, 3]
    y.sum().backward()
    assert x.grad.tolist() == [42, 63]


def test_hooks_may_be_set_on_a_saved_result(t):
    x = leaf(t, 0.0)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda saved: 7, lambda packed: t.full((1,), 5.0))
    y.backward(retain_graph=True)
    assert x.grad.item() == 5
    y.backward()
    assert x.grad.item() == 10
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_second_derivatives_go_through_what_was_unpacked(t):
    x = leaf(t, 2.0)
    y = x * x
    for saved in (y.grad_fn._raw_saved_self, y.grad_fn._raw_saved_other):
        saved.register_hooks(lambda s: s.detach().clone(), lambda p: p)
    (slope,) = t.autograd.grad(y, x, create_graph=True)
    assert t.autograd.grad(slope, x)[0].item() == 2


def test_only_one_pair_of_hooks_may_be_set(t):
    x = leaf(t, 2.0)
    saved = (x * x).grad_fn._raw_saved_self
    saved.register_hooks(lambda s: s, lambda p: p)
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        saved.register_hooks(lambda s: s, lambda p: p)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s, lambda p: p):
        packed = (x * x).grad_fn._raw_saved_self
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        packed.register_hooks(lambda s: s, lambda p: p)


def test_hooks_cannot_be_set_on_what_is_gone_or_was_not_saved(t):
    x = leaf(t, 2.0)
    y = x * x
    saved = y.grad_fn._raw_saved_self
    y.backward()
    with pytest.raises(RuntimeError, match="after it has been freed"):
        saved.register_hooks(lambda s: s, lambda p: p)
    nothing = (x * t.ones(1)).grad_fn._raw_saved_self
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        nothing.register_hooks(lambda s: s, lambda p: p)


def test_a_pack_hook_that_writes_is_refused(t):
    x = leaf(t, 2.0)
    y = x.clone()
    with pytest.raises(RuntimeError, match="is modifying its input in place"):
        (y * y).grad_fn._raw_saved_self.register_hooks(lambda s: s.zero_(), lambda p: p)


def test_saved_tensors_are_not_made_by_hand(t):
    x = leaf(t, 2.0)
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python"):
        type((x * x).grad_fn._raw_saved_self)()


def test_a_function_shows_what_it_saved(t):
    class Product(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, None, y)
            return x * y

        @staticmethod
        def backward(ctx, grad):
            x, _, y = ctx.saved_tensors
            return grad * y, grad * x

    x, y = leaf(t, 2.0), leaf(t, 3.0)
    z = Product.apply(x, y)
    saved = z.grad_fn._raw_saved_tensors
    assert len(saved) == 3
    saved[0].register_hooks(lambda s: s.detach() * 10, lambda p: p)
    z.backward()
    assert (x.grad.item(), y.grad.item()) == (3, 20)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        z.grad_fn._raw_saved_tensors  # noqa: B018


def test_hooks_see_saved_tensors_in_the_order_of_their_names(t):
    a, b = leaf(t, 1.0), leaf(t, 2.0)
    seen = []
    with t.autograd.graph.saved_tensors_hooks(
        lambda s: seen.append((s is a, s is b)) or s, lambda p: p
    ):
        a * b
        a / b
        t.dot(a, b)
    is_a, is_b = (True, False), (False, True)
    assert seen == [is_b, is_a, is_b, is_a, is_a, is_b]


def test_a_node_is_called(t):
    x = leaf(t, 3.0)
    y = x**2
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        y.grad_fn(t.ones(1), t.ones(1))
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        y.grad_fn()
    made = y.grad_fn(t.ones(1))
    assert made.item() == 6
    assert t.autograd.grad(made, x)[0].item() == 2
    a, b = (x * x.detach()).grad_fn(t.full((1,), 2.0))
    assert (a.item(), b) == (6, None)
    first = x.expand(3).unbind()[0].grad_fn
    assert first(t.ones(()), None, t.ones(())).tolist() == [1, 0, 1]


def test_what_is_unpacked_of_a_leaf_is_a_leaf(t):
    x = leaf(t, 2.0)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s.detach(), lambda p: p):
        y = x * x
    saved = y.grad_fn._saved_self
    assert (saved.is_leaf, saved.requires_grad, saved.grad_fn) == (True, True, None)


def test_data_is_what_is_kept(t):
    def pack(x):
        return "packed", x

    def unpack(packed):
        return packed[1]

    a = t.tensor(2.0, requires_grad=True)
    b = a**2
    with t.autograd.graph.saved_tensors_hooks(pack, unpack):
        c = b**2
    plain, packed = b.grad_fn._raw_saved_self, c.grad_fn._raw_saved_self
    assert plain.data is a
    assert plain.unpack_hook is None
    assert packed.data[0] == "packed" and packed.data[1] is b
    assert packed.unpack_hook is unpack
    assert packed.unpack().item() == 4.0


def test_a_tensor_may_be_saved_without_a_node(t):
    seen = []

    def pack(x):
        seen.append("pack")
        return x

    def unpack(x):
        seen.append("unpack")
        return x

    a = t.ones(2, requires_grad=True)
    with t.autograd.graph.saved_tensors_hooks(pack, unpack):
        saved = t._C._autograd._make_saved_tensor(a, is_output=False)
        assert seen == ["pack"]
        assert saved.unpack().tolist() == [1.0, 1.0]
        assert seen == ["pack", "unpack"]
    assert isinstance(saved, t.autograd.SavedTensor)


@pytest.mark.parametrize("hooks", [(), (abs,), (1, 1), (abs, 1)])
def test_two_functions_are_registered(t, hooks):
    x = t.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        x.exp().grad_fn._raw_saved_result.register_hooks(*hooks)


def test_a_write_to_shown_indices_leaves_the_gradient_alone(t):
    x = leaf(t, 1.0, 2.0, 3.0)
    y = x[t.tensor([0, 1])]
    if t.__name__ == "torch":
        pytest.skip("PyTorch's are the very tensors, whose versions are checked")
    y.grad_fn._saved_indices[0].fill_(2)
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 0]


def test_indices_are_saved_tensors(t):
    x, at = t.ones((2, 2), requires_grad=True), t.tensor([0, 1])
    node = x[:, at].grad_fn
    nothing, saved = node._raw_saved_indices
    assert isinstance(saved, t.autograd.SavedTensor)
    assert saved.unpack().tolist() == saved.data.tolist() == [0, 1]
    assert saved.unpack_hook is None
    assert nothing.unpack() is None
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        nothing.register_hooks(lambda s: s, lambda p: p)


def test_hooks_may_be_set_on_indices(t):
    x, at = t.ones((2, 2), requires_grad=True), t.tensor([0, 1])
    y = x[:, at]
    log = []

    def unpack(packed):
        log.append(packed)
        return t.tensor(packed)

    saved = y.grad_fn._raw_saved_indices[1]
    saved.register_hooks(lambda s: [0, 0], unpack)
    assert log == []
    assert saved.data == [0, 0] and saved.unpack_hook is unpack
    assert y.grad_fn._saved_indices[1].tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        saved.register_hooks(lambda s: s, lambda p: p)
    log.clear()
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [[2, 0], [2, 0]]
    assert len(log) == 1
    y.sum().backward()
    assert x.grad.tolist() == [[4, 0], [4, 0]]
    assert len(log) == 2
