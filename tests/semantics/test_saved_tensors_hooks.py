"""Test saved tensors: pack and unpack hooks, writes to saved tensors, versions."""

import contextlib
import gc
import math
import weakref

import pytest

import wengert as wg


def leaf(t, values):
    return t.tensor(values, dtype=t.float64, requires_grad=True)


def hooks(t, pack, unpack):
    return t.autograd.graph.saved_tensors_hooks(pack, unpack)


class Log:
    """Hooks that note what they are given."""

    def __init__(self):
        self.packed = []
        self.unpacked = []

    def pack(self, tensor):
        self.packed.append(tensor.tolist())
        return tensor.detach().clone()

    def unpack(self, packed):
        self.unpacked.append(packed.tolist())
        return packed


# -- which tensors are packed ---------------------------------------------------------------------


def test_what_an_operation_saves_is_packed_in_the_forward_and_unpacked_in_the_backward_pass(t):
    a, b, log = leaf(t, 2.0), leaf(t, 3.0), Log()
    with hooks(t, log.pack, log.unpack):
        y = a * b
        assert sorted(log.packed) == [2.0, 3.0] and log.unpacked == []
    y.backward()
    assert sorted(log.unpacked) == [2.0, 3.0]
    assert (a.grad.item(), b.grad.item()) == (3.0, 2.0)


def test_only_what_a_derivative_needs_is_packed(t):
    a, c, log = leaf(t, 2.0), t.tensor(3.0, dtype=t.float64), Log()
    with hooks(t, log.pack, log.unpack):
        a + c
        a * c
    assert log.packed == [3.0]


def test_nothing_is_packed_where_nothing_is_recorded(t):
    a, log = leaf(t, 2.0), Log()
    with hooks(t, log.pack, log.unpack):
        with t.no_grad():
            a * a
        a.detach() * a.detach()
    assert log.packed == []


def test_operations_outside_the_context_are_not_packed(t):
    a, log = leaf(t, 2.0), Log()
    a * a
    with hooks(t, log.pack, log.unpack):
        pass
    a * a
    assert log.packed == []


def test_a_saved_output_is_packed(t):
    a, log = leaf(t, 0.0), Log()
    with hooks(t, log.pack, log.unpack):
        y = a.exp()
    assert log.packed == [1.0]
    y.backward()
    assert log.unpacked == [1.0]
    assert a.grad.item() == 1.0


def test_a_tensor_saved_by_two_operations_is_packed_twice(t):
    a, log = leaf(t, 2.0), Log()
    with hooks(t, log.pack, log.unpack):
        y = a.sin()
        z = a.cos()
    assert log.packed == [2.0, 2.0]
    (y + z).backward()
    assert log.unpacked == [2.0, 2.0]


OPERATIONS = [
    *("x.exp()", "x.log()", "x.sigmoid()", "x.tanh()", "x**3", "x / (x + 1)", "x @ x.T"),
    *("x.softmax(1)", "x.prod()", "x.max(1).values", "t.where(x > 2, x * x, x)", "x[0] * x[1]"),
    *("t.cat([x, x * 2]) * 3", "x.clamp(1.5, 3.0)", "x.relu()", "x.std()", "x.logsumexp(0)"),
    *("x.norm()", "x.cumprod(0)", "t.atan2(x, x * 2 + 1)"),
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_first_and_second_derivatives_are_the_same_with_hooks(t, operation):
    x, results = leaf(t, [[1.0, 2.0], [3.0, 4.0]]), []
    y = eval(operation)
    with hooks(
        t,
        lambda tensor: (tensor.tolist(), tensor.dtype),
        lambda packed: t.tensor(packed[0], dtype=packed[1]),
    ):
        z = eval(operation)
    for result in (y, z):
        (g,) = t.autograd.grad((result * result).sum(), x, create_graph=True)
        (h,) = t.autograd.grad((g * g).sum(), x)
        results.append([*g.flatten().tolist(), *h.flatten().tolist()])
    assert results[1] == pytest.approx(results[0], rel=1e-12)


def test_the_hooks_run_under_create_graph_for_what_the_backward_pass_saves(t):
    x, log = leaf(t, 2.0), Log()
    y = x * x * x
    with hooks(t, log.pack, log.unpack):
        (g,) = t.autograd.grad(y, x, create_graph=True)
    count = len(log.packed)
    assert count > 0
    assert t.autograd.grad(g, x)[0].item() == 12.0
    assert len(log.unpacked) > 0


# -- what the hooks see ---------------------------------------------------------------------------


def test_the_pack_hook_runs_without_recording(t):
    x, seen = leaf(t, 2.0), []

    def pack(tensor):
        seen.append((t.is_grad_enabled(), (tensor * 2).requires_grad))
        return tensor

    with hooks(t, pack, lambda packed: packed):
        x * x
    assert seen == [(False, False)] * 2


def test_what_a_pack_hook_computes_is_not_packed_itself(t):
    x, count = leaf(t, 2.0), []

    def pack(tensor):
        count.append(1)
        return tensor * tensor

    with hooks(t, pack, lambda packed: packed.sqrt()):
        y = x * x
    assert len(count) == 2
    y.backward()
    assert x.grad.item() == pytest.approx(4.0)


def test_the_packed_form_may_be_anything(t):
    x = leaf(t, [1.0, 2.0])
    store = {}

    def pack(tensor):
        key = len(store)
        store[key] = tensor.tolist()
        return f"key {key}"

    def unpack(packed):
        return t.tensor(store[int(packed.split()[1])], dtype=t.float64)

    with hooks(t, pack, unpack):
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("packed", [None, 0, (), {}])
def test_a_packed_form_may_be_falsy(t, packed):
    x = leaf(t, [1.0, 2.0])
    with hooks(t, lambda tensor: packed, lambda p: t.full((2,), 5.0, dtype=t.float64)):
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_the_original_may_be_kept_as_the_packed_form(t):
    x = leaf(t, [1.0, 2.0])
    with hooks(t, lambda tensor: tensor, lambda packed: packed):
        y = (x.exp() * x).sum()
    y.backward()
    assert x.grad.tolist() == pytest.approx((x.exp() * (1 + x)).tolist())


def test_what_unpack_returns_is_used_as_it_is(t):
    x = leaf(t, [1.0, 2.0])
    with hooks(t, lambda tensor: tensor, lambda packed: packed * 0 + 5):
        y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_unpack_runs_in_every_pass(t):
    x, log = leaf(t, 2.0), Log()
    with hooks(t, log.pack, log.unpack):
        y = x.sin()
    y.backward(retain_graph=True)
    y.backward()
    assert log.packed == [2.0] and log.unpacked == [2.0, 2.0]


def test_reading_what_a_node_saved_unpacks(t):
    a, b, log = leaf(t, 2.0), leaf(t, 3.0), Log()
    with hooks(t, log.pack, log.unpack):
        y = a * b
    assert y.grad_fn._saved_self.item() == 2.0
    assert y.grad_fn._saved_other.item() == 3.0
    assert log.unpacked == [2.0, 3.0]


def test_packed_values_are_let_go_of_after_the_backward_pass(t):
    class Box:
        def __init__(self, tensor):
            self.tensor = tensor.detach()

    x, boxes = leaf(t, 2.0), []

    def pack(tensor):
        box = Box(tensor)
        boxes.append(weakref.ref(box))
        return box

    with hooks(t, pack, lambda box: box.tensor):
        y = x.sin()
    assert boxes[0]() is not None
    y.backward()
    gc.collect()
    assert boxes[0]() is None
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


# -- writes ---------------------------------------------------------------------------------------


def test_writes_to_the_original_after_packing_a_copy_go_unnoticed(t):
    x = leaf(t, [1.0, 2.0])
    y = x * 1
    with hooks(t, lambda tensor: tensor.clone(), lambda packed: packed):
        z = (y * y).sum()
    y.mul_(100)
    z.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_pack_hook_must_not_write_to_its_argument(t):
    x = leaf(t, [1.0, 2.0])
    y = x * 1

    def pack(tensor):
        tensor.mul_(2)
        return tensor

    message = "A saved tensor pack hook is modifying its input in place"
    with hooks(t, pack, lambda packed: packed), pytest.raises(RuntimeError, match=message):
        y * y


# -- nesting, errors ------------------------------------------------------------------------------


def test_the_inner_context_counts(t):
    x = leaf(t, 2.0)
    outer, inner = Log(), Log()
    with hooks(t, outer.pack, outer.unpack):
        a = x.sin()
        with hooks(t, inner.pack, inner.unpack):
            b = x.cos()
        c = x.sin()
    assert (len(outer.packed), len(inner.packed)) == (2, 1)
    (a + b + c).backward()
    assert (len(outer.unpacked), len(inner.unpacked)) == (2, 1)
    assert x.grad.item() == pytest.approx(2 * math.cos(2.0) - math.sin(2.0))


def test_one_object_may_be_entered_again(t):
    x, log = leaf(t, 2.0), Log()
    context = hooks(t, log.pack, log.unpack)
    for _ in range(2):
        with context:
            x.sin()
    with context, context:
        x.sin()
    x.sin()
    assert len(log.packed) == 3


def test_an_exception_in_the_pack_hook_reaches_the_caller(t):
    x = leaf(t, 2.0)

    def pack(tensor):
        raise ValueError("no room")

    with hooks(t, pack, lambda packed: packed), pytest.raises(ValueError, match="no room"):
        x * x
    y = x * x
    y.backward()
    assert x.grad.item() == 4.0


def test_an_exception_in_the_unpack_hook_reaches_the_caller(t):
    x, fail = leaf(t, 2.0), [True]

    def unpack(packed):
        if fail[0]:
            raise ValueError("lost")
        return packed

    with hooks(t, lambda tensor: tensor.detach(), unpack):
        y = x * x
    with pytest.raises(ValueError, match="lost"):
        y.backward(retain_graph=True)
    assert x.grad is None
    fail[0] = False
    y.backward()
    assert x.grad.item() == 4.0


def test_an_exception_in_the_context_ends_it(t):
    x, log = leaf(t, 2.0), Log()
    with pytest.raises(KeyError, match="k"), hooks(t, log.pack, log.unpack):
        raise KeyError("k")
    x * x
    assert log.packed == []


@pytest.mark.parametrize("result", [None, 3.0, [1.0], "text"])
def test_unpack_must_return_a_tensor(t, result):
    x = leaf(t, 2.0)
    with hooks(t, lambda tensor: tensor, lambda packed: result):
        y = x * x
    message = "Output of saved tensor unpack_hook expected to be a Tensor but got result of type"
    with pytest.raises(TypeError, match=message):
        y.backward()
    assert x.grad is None


def test_hooks_are_per_thread(t):
    import threading

    x, log = leaf(t, 2.0), Log()

    def work():
        x * x

    with hooks(t, log.pack, log.unpack):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert log.packed == []


# -- custom Functions -----------------------------------------------------------------------------


def test_what_forward_computes_inside_is_not_packed(t):
    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x * x

    x, log = leaf(t, 2.0), Log()
    with hooks(t, log.pack, log.unpack):
        y = Cube.apply(x)
    assert log.packed == [2.0]
    y.backward()
    assert x.grad.item() == 12.0


def test_an_output_that_a_function_saves_is_packed(t):
    class Exp(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad):
            (result,) = ctx.saved_tensors
            return grad * result

    x, log = leaf(t, 0.0), Log()
    with hooks(t, log.pack, log.unpack):
        y = Exp.apply(x)
    assert log.packed == [1.0]
    (g,) = t.autograd.grad(y, x, create_graph=True)
    assert g.item() == 1.0
    assert t.autograd.grad(g, x)[0].item() == 1.0


def test_none_among_what_a_function_saves_is_not_packed(t):
    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(None, x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            nothing, x = ctx.saved_tensors
            assert nothing is None and x.item() == 3.0
            return grad * 2

    x, log = leaf(t, 3.0), Log()
    with hooks(t, log.pack, log.unpack):
        y = Double.apply(x)
    y.backward()
    assert log.packed == [3.0] and x.grad.item() == 2.0


# -- save_on_cpu ----------------------------------------------------------------------------------


def test_save_on_cpu_changes_no_result(t):
    x = leaf(t, [1.0, 2.0])
    with t.autograd.graph.save_on_cpu():
        y = (x.exp() * x).sum()
    y.backward()
    assert x.grad.tolist() == pytest.approx((x.exp() * (1 + x)).tolist())


def test_save_on_cpu_is_a_context_of_hooks(t):
    assert issubclass(t.autograd.graph.save_on_cpu, t.autograd.graph.saved_tensors_hooks)


# -- disabling ------------------------------------------------------------------------------------


def test_hooks_may_be_disabled_with_a_message(t):
    x, log = leaf(t, 2.0), Log()
    with (
        t.autograd.graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        hooks(t, log.pack, log.unpack),
    ):
        pass
    with hooks(t, log.pack, log.unpack):
        x.sin()
    assert log.packed == [2.0]


def test_disabling_is_refused_where_there_are_hooks(t):
    log = Log()
    with (
        hooks(t, log.pack, log.unpack),
        pytest.raises(RuntimeError, match="not here"),
        t.autograd.graph.disable_saved_tensors_hooks("not here"),
    ):
        pass


def test_disabling_nests_and_the_inner_message_counts(t):
    log = Log()
    disable = t.autograd.graph.disable_saved_tensors_hooks
    with disable("outer"):
        with disable("inner"), pytest.raises(RuntimeError, match="inner"):
            hooks(t, log.pack, log.unpack).__enter__()
        with pytest.raises(RuntimeError, match="outer"):
            hooks(t, log.pack, log.unpack).__enter__()
    with hooks(t, log.pack, log.unpack):
        pass


def test_disabling_ends_with_an_exception(t):
    log = Log()
    with (
        pytest.raises(KeyError, match="k"),
        t.autograd.graph.disable_saved_tensors_hooks("not here"),
    ):
        raise KeyError("k")
    with hooks(t, log.pack, log.unpack):
        pass


def test_disabling_works_as_a_decorator(t):
    log = Log()

    @t.autograd.graph.disable_saved_tensors_hooks("not here")
    def work():
        with hooks(t, log.pack, log.unpack):
            pass

    for _ in range(2):
        with pytest.raises(RuntimeError, match="not here"):
            work()


# -- writing to what was saved --------------------------------------------------------------------


def allow(t):
    return t.autograd.graph.allow_mutation_on_saved_tensors()


def square(t, x):
    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 2 * x

    return Square.apply(x)


# what is computed of y and written to it, and the slope of the sum of all results by x
MUTATIONS = {
    "a product": (["y * y", "y.mul_(3)"], [2.0, 4.0, 6.0]),
    "nothing afterwards": (["y * y", "y.mul_(3)", "y.zero_()", "y * y", "y.add_(7)"], [2, 4, 6]),
    "several times": (["y * y", "y.mul_(2)", "y * y", "y.mul_(2)", "y * y"], [42, 84, 126]),
    # PyTorch is wrong for views that start elsewhere than the saved tensor
    "a view": (["y * y", "y[:2].mul_(10)"], [2, 4, 6]),
    "elements": (["y * y", "y.__setitem__(0, 9)", "y.__setitem__(y > 2.5, 9)"], [2, 4, 6]),
    "a Function": (["square(t, y)", "y.zero_()"], [2, 4, 6]),
}
OURS = {
    "a view that begins later": (["y * y", "y[1:].mul_(10)"], [2, 4, 6]),
    "a view's base": (["(v := y[1:]) * v", "y.zero_()"], [0, 4, 6]),
    "a view's sibling": (["(v := y[1:]) * v", "y[:2].zero_()"], [0, 4, 6]),
}


def slope(t, lines, context):
    x = leaf(t, [1.0, 2.0, 3.0])
    with context:
        y, results = x.clone(), []
        for line in lines:
            made = eval(line, {"t": t, "y": y, "square": square})
            if "_(" not in line:
                results.append(made.sum())
        sum(results).backward()
    return x.grad.tolist()


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_was_saved_may_be_written_to(t, name):
    lines, expected = MUTATIONS[name]
    assert slope(t, lines, allow(t)) == expected
    with pytest.raises(RuntimeError, match="one of the variables needed for gradient computation"):
        slope(t, lines, contextlib.nullcontext())


@pytest.mark.parametrize("name", OURS)
def test_what_was_saved_of_a_view_may_be_written_to(name):
    lines, expected = OURS[name]
    assert slope(wg, lines, allow(wg)) == expected


def test_a_saved_output_may_be_written_to(t):
    x = leaf(t, [1.0, 2.0])
    with allow(t):
        y = x.exp()
        z = y.sum()
        y.zero_()
        z.backward()
    assert x.grad.tolist() == pytest.approx(x.exp().tolist())


@pytest.mark.parametrize("name", ["sin_", "exp_", "sigmoid_", "tanh_", "sqrt_", "relu_"])
def test_operations_that_save_what_they_overwrite_or_their_result(t, name):
    x = leaf(t, [1.0, 2.0])
    with allow(t):
        y = x.clone()
        z = (y * y).sum()
        getattr(y, name)()
        w = (y * y).sum()
        getattr(y, name)()
        (z + w).backward()
    expected = leaf(t, [1.0, 2.0])
    u = getattr(expected, name[:-1])()
    ((expected * expected).sum() + (u * u).sum()).backward()
    assert x.grad.tolist() == pytest.approx(expected.grad.tolist())


def test_a_leaf_may_be_updated_under_no_grad_between_passes(t):
    x = leaf(t, [1.0, 2.0])
    with allow(t):
        y = (x * x).sum()
        with t.no_grad():
            x.mul_(10)
        y.backward()
    assert x.grad.tolist() == [2.0, 4.0]
    assert x.tolist() == [10.0, 20.0]


def test_second_derivatives_with_mutation(t):
    x = leaf(t, 2.0)
    with allow(t):
        y = x.clone()
        z = y * y * y
        y.zero_()
        (g,) = t.autograd.grad(z, x, create_graph=True)
        (h,) = t.autograd.grad(g, x)
    assert (g.item(), h.item()) == (12.0, 12.0)


def test_the_context_cannot_be_nested(t):
    message = "allow_mutation_on_saved_tensors contexts cannot be nested"
    with allow(t), pytest.raises(RuntimeError, match=message), allow(t):
        pass


def test_the_context_ends_with_an_exception(t):
    with pytest.raises(KeyError, match="k"), allow(t):
        raise KeyError("k")
    x = leaf(t, [1.0, 2.0])
    y = x.clone()
    z = (y * y).sum()
    y.mul_(3)
    with pytest.raises(RuntimeError, match="one of the variables needed for gradient computation"):
        z.backward()


def test_the_context_gives_something_that_can_be_cleared(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with allow(t) as context:
        y = x * 1
        z = y * y
        context.clear()
        y.mul_(3)  # of what it has forgotten nothing is copied aside
        with pytest.raises((RuntimeError, AssertionError)):
            z.sum().backward()
    assert x.grad is None


# -- versions -------------------------------------------------------------------------------------


def test_increment_version_takes_several_tensors(t):
    a, b = t.ones(2), t.ones(2)
    t.autograd.graph.increment_version([a, b])
    t.autograd.graph.increment_version((a,))
    t.autograd.graph.increment_version(tensor for tensor in (a, b))
    assert (a._version, b._version) == (3, 2)


def test_increment_version_makes_the_backward_pass_raise(t):
    x = leaf(t, [1.0, 2.0])
    y = x.clone()
    z = (y * y).sum()
    t.autograd.graph.increment_version(y)
    with pytest.raises(RuntimeError, match="one of the variables needed for gradient computation"):
        z.backward()


def test_increment_version_counts_for_views_and_base(t):
    x = t.ones(4)
    v = x[1:]
    t.autograd.graph.increment_version(v)
    assert x._version == v._version == 1


@pytest.mark.parametrize("value", [[1, 2], ["text"]])
def test_increment_version_refuses_what_is_no_tensor(t, value):
    message = "increment_version expects each element of the iterable to be a tensor"
    with pytest.raises(RuntimeError, match=message):
        t.autograd.graph.increment_version(value)


def test_increment_version_of_an_inference_tensor_does_nothing(t):
    with t.inference_mode():
        x = t.ones(2)
    t.autograd.graph.increment_version(x)
    with pytest.raises(RuntimeError, match="do not track version counter"):
        _ = x._version


def test_hooks_inside_the_context_of_mutation_count(t):
    x, log = leaf(t, 2.0), Log()
    with allow(t), hooks(t, log.pack, log.unpack):
        x.sin().backward()
    assert log.packed == [2.0] and log.unpacked == [2.0]


def test_the_context_of_mutation_inside_hooks_counts(t):
    x, log = leaf(t, [1.0, 2.0]), Log()
    with hooks(t, log.pack, log.unpack):
        with allow(t):
            y = x.clone()
            z = (y * y).sum()
            y.mul_(3)
            z.backward()
        assert log.packed == []
        x.sin()
    assert log.packed == [[1.0, 2.0]]
    assert x.grad.tolist() == [2.0, 4.0]


def test_the_context_of_mutation_is_refused_where_hooks_are_disabled(t):
    with (
        t.autograd.graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        allow(t),
    ):
        pass
    with allow(t):
        pass


def test_a_mutated_tensor_is_copied_once_and_only_while_a_graph_needs_it(t):
    with t.autograd.graph.allow_mutation_on_saved_tensors() as context:
        a = t.ones(2, requires_grad=True).clone()
        b, c = a**2, a**2
        assert (len(context.tid_to_weakhandle), len(context.cloned)) == (1, 0)
        a.sin_()
        assert len(context.cloned) == 1
        d = a**2
        a.sin_()
        assert len(context.cloned) == 2
        del b
        assert len(context.cloned) == 2
        del c
        assert len(context.cloned) == 1
        d.sum().backward()
        assert len(context.cloned) == 0


def test_what_a_mutation_context_copied_is_gone_after_it(t):
    with t.autograd.graph.allow_mutation_on_saved_tensors() as context:
        a = t.ones(2, requires_grad=True).clone()
        kept = a**2
        a.sin_()
        assert len(context.cloned) == 1
    assert len(context.cloned) == 0
    del kept
