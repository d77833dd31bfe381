"""Test the engine: callbacks, nested passes, order of execution, current node."""

import warnings

import pytest

import wengert as wg


def callback(t, function):
    t.autograd.Variable._execution_engine.queue_callback(function)


def test_a_callback_runs_when_the_pass_has_ended(t):
    x = t.ones(1, requires_grad=True)
    y = x * 2
    log = []
    y.register_hook(lambda grad: callback(t, lambda: log.append(x.grad.item())))
    x.register_hook(lambda grad: log.append("leaf"))
    y.backward()
    assert log == ["leaf", 2.0]


def test_a_callback_may_queue_another_one(t):
    x = t.ones(1, requires_grad=True)
    log = []
    x.register_hook(lambda grad: callback(t, lambda: callback(t, lambda: log.append(1))))
    (x * 2).backward()
    assert log == [1]


def test_a_callback_belongs_to_the_innermost_pass(t):
    log = []
    x = t.ones(1, requires_grad=True)
    inner = t.ones(1, requires_grad=True)
    inner.register_hook(lambda grad: callback(t, lambda: log.append("inner")))

    def hook(grad):
        callback(t, lambda: log.append("outer"))
        with t.enable_grad():
            (inner * 2).backward()
        log.append("between")

    x.register_hook(hook)
    (x * 2).backward()
    assert log == ["inner", "between", "outer"]


def test_a_custom_function_may_queue_a_callback(t):
    log = []

    class Calls(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            callback(t, lambda: log.append(x.grad is not None))
            return grad * 2

    x = t.ones(1, requires_grad=True)
    Calls.apply(x).backward()
    assert log == [True]


def test_callbacks_are_for_passes(t):
    with pytest.raises(RuntimeError, match="only be installed during backward pass"):
        callback(t, print)


def test_what_a_callback_raises_is_raised(t):
    x = t.ones(1, requires_grad=True)
    x.register_hook(lambda grad: callback(t, lambda: 1 / 0))
    with pytest.raises(ZeroDivisionError):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="only be installed during backward pass"):
        callback(t, print)


@pytest.mark.parametrize("depth", [3, 300, 3000])
def test_passes_may_be_nested_however_deep(t, depth):
    class Nested(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with t.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, grad):
            if ctx.x > 0:
                with t.enable_grad():
                    Nested.apply(ctx.x).sum().backward()
            return grad

    x = t.tensor(float(depth), requires_grad=True)
    Nested.apply(x).sum().backward()
    assert x.grad.item() == 1
    assert t.is_grad_enabled()


def test_an_error_in_a_deep_pass_is_raised(t):
    class Nested(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x.detach() - 1
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            if ctx.x <= 0:
                raise ZeroDivisionError("at the bottom")
            with t.enable_grad():
                Nested.apply(ctx.x.requires_grad_()).sum().backward()
            return grad

    x = t.tensor(400.0, requires_grad=True)
    with pytest.raises(ZeroDivisionError, match="at the bottom"):
        Nested.apply(x).sum().backward()
    assert x.grad is None


def test_hooks_nest_deep(t):
    left = [1000]
    x = t.ones(1, requires_grad=True)

    def hook(grad):
        left[0] -= 1
        if left[0]:
            with t.enable_grad():
                y = x.detach().requires_grad_() * 1
            y.register_hook(hook)
            y.backward()

    y = x * 1
    y.register_hook(hook)
    y.backward()
    assert left == [0]


def test_a_pass_that_begins_itself_without_end_is_an_error(monkeypatch):
    # PyTorch goes on until there is no memory
    monkeypatch.setattr("wengert.tape.nested._MOST", 3)
    x = wg.ones(1, requires_grad=True)

    def hook(grad):
        with wg.enable_grad():
            y = x * 1
        y.register_hook(hook)
        y.backward()

    y = x * 1
    y.register_hook(hook)
    with pytest.raises(RecursionError, match="in 3 threads"):
        y.backward()
    (x * 2).backward()
    assert x.grad.item() == 2


# -- order ----------------------------------------------------------------------------------------


def branches(t):
    x = t.ones(2, requires_grad=True)
    log = []
    b, c = x * 2, x * 3
    d, e = b.exp(), c.exp()
    for name, tensor in (("b", b), ("c", c), ("d", d), ("e", e)):
        tensor.register_hook(lambda grad, name=name: log.append(name))
    return x, log, b, c, d, e, (d + e).sum()


def test_sequence_numbers_rise(t):
    _, _, b, c, d, _, out = branches(t)
    numbers = [tensor.grad_fn._sequence_nr() for tensor in (b, c, d, out)]
    assert numbers == sorted(numbers)
    assert t.ones(1, requires_grad=True).view(1).grad_fn.next_functions[0][0]._sequence_nr() > 2**63


def test_a_sequence_number_that_is_set_counts(t):
    x, log, b, _, d, _, out = branches(t)
    out.backward(retain_graph=True)
    assert log == ["e", "d", "c", "b"]
    expected = x.grad.tolist()
    b.grad_fn._set_sequence_nr(2**31 - 1)
    d.grad_fn._set_sequence_nr(2**31 - 2)
    assert b.grad_fn._sequence_nr() == 2**31 - 1
    log.clear()
    x.grad = None
    out.backward(retain_graph=True)
    assert log == ["d", "b", "e", "c"]
    assert x.grad.tolist() == expected
    assert t.autograd.grad(out, x)[0].tolist() == expected


def test_a_number_never_lets_a_node_come_before_its_gradient_is_complete(t):
    x = t.ones(1, requires_grad=True)
    y = x * 2
    y.grad_fn._set_sequence_nr(10**9)
    z = y.exp() + y.sin() * y
    (slope,) = t.autograd.grad(z, x, retain_graph=True)
    y = x * 2
    (expected,) = t.autograd.grad(y.exp() + y.sin() * y, x)
    assert slope.item() == pytest.approx(expected.item())


# -- private names --------------------------------------------------------------------------------


def test_the_node_that_runs_is_known(t):
    seen = []

    class Asks(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            seen.append(t._C._current_autograd_node().name())
            return grad * 2

    def unpack(packed):
        seen.append(t._C._current_autograd_node().name())
        return packed

    x = t.ones(1, requires_grad=True)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s, unpack):
        y = x.exp()
    Asks.apply(y).backward()
    assert seen == ["AsksBackward", "ExpBackward0"]
    assert t._C._current_autograd_node() is None


def test_whether_a_node_will_run_is_known(t):
    x = t.ones(1, requires_grad=True)
    y = x * 2
    other = y.cos()
    accumulator = y.grad_fn.next_functions[0][0]
    seen = []
    asks = t._C._will_engine_execute_node
    y.register_hook(lambda grad: seen.append([asks(y.grad_fn), asks(other.grad_fn)]))
    (y * 3).backward(retain_graph=True)
    assert seen == [[True, False]]
    y.register_hook(lambda grad: seen.append(asks(accumulator)))
    (y * 3).backward(inputs=(x,), retain_graph=True)
    assert seen[2] is True
    with pytest.raises(RuntimeError, match=r"currently running autograd\.grad\(\)"):
        t.autograd.grad(y * 3, x)
    with pytest.raises(RuntimeError, match="during the backward pass"):
        asks(y.grad_fn)
    with pytest.raises(RuntimeError, match="expects an grad_fn"):
        asks(y)


def test_passes_have_numbers(t):
    x = t.ones(1, requires_grad=True)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append(t._C._current_graph_task_id()))
    for _ in range(3):
        y.backward(retain_graph=True)
    assert [number - seen[0] for number in seen] == [0, 1, 2]
    assert t._C._current_graph_task_id() == -1


def test_the_order_of_a_pass_is_known(t):
    orders = []

    def hook(grad):
        orders.append([n.name() for n in t._C._current_graph_task_execution_order()])

    a, b = t.ones(1, requires_grad=True), t.ones(1, requires_grad=True)
    with t.autograd.set_multithreading_enabled(False):
        out = b.sin() * a.cos()
        out.register_hook(hook)
        out.backward()
        out = (a * b).sin()
        out.register_hook(hook)
        t.autograd.grad(out, a)
    leaf = "torch::autograd::AccumulateGrad"
    assert orders[0] == ["MulBackward0", "CosBackward0", leaf, "SinBackward0", leaf]
    assert orders[1] == ["SinBackward0", "MulBackward0", leaf]
    with pytest.raises(RuntimeError, match="during the backward pass"):
        t._C._current_graph_task_execution_order()


def test_functions_that_stop_gradients(t):
    x = t.ones(2, requires_grad=True)
    y = t._C._functions.DelayedError("stop here", 1)(x)
    with pytest.raises(RuntimeError, match="stop here"):
        (y * 2).sum().backward()
    z = t.ones(2, requires_grad=True)
    assert t.autograd.grad((y * z).sum(), z)[0].tolist() == [1, 1]
    t._C._functions.UndefinedGrad()(x * 2).sum().backward()
    assert x.grad is None
    accumulator = (x * 2).grad_fn.next_functions[0][0]
    assert isinstance(accumulator, t._C._functions.AccumulateGrad)


def test_versions_may_be_preserved(t):
    x = t.ones(2)
    x.add_(1)
    with t.autograd._unsafe_preserve_version_counter(x):
        x.mul_(2).mul_(3)
    assert x._version == 1
    t._C._autograd._unsafe_set_version_counter((x,), (7,))
    assert x._version == 7
    with pytest.raises(RuntimeError, match="Cannot set"):
        t._C._autograd._unsafe_set_version_counter((x,), (-1,))


def test_a_weak_reference_tells_when_a_tensor_is_gone(t):
    x = t.ones(1)
    reference = t._C._WeakTensorRef(x)
    assert not reference.expired()
    del x
    assert reference.expired()


# -- graphs that are gone -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation",
    [lambda x: x * 2, lambda x: 2 * x, lambda x: x / 2, lambda x: x.mul(3.0), lambda x: x.div(3)],
    ids=["times", "from the left", "over", "mul", "div"],
)
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_product_by_a_number_is_walked_once(t, operation, create_graph):
    x = t.ones(2, requires_grad=True)
    y = operation(x).sum()
    t.autograd.grad(y, x, retain_graph=True, create_graph=create_graph)
    (slope,) = t.autograd.grad(y, x, retain_graph=False, create_graph=create_graph)
    for again in (False, True):
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second"):
            t.autograd.grad(y, x, create_graph=again)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second"):
        y.backward()
    assert x.grad is None
    assert slope.tolist() == t.autograd.grad(operation(x).sum(), x)[0].tolist()


def test_what_keeps_nothing_may_be_walked_again(t):
    x = t.ones(2, requires_grad=True)
    for operation in (lambda x: -x, lambda x: x + 2, lambda x: 2 - x, lambda x: x.view(2, 1)):
        y = operation(x).sum()
        first = t.autograd.grad(y, x)[0].tolist()
        assert t.autograd.grad(y, x)[0].tolist() == first


def test_a_recorded_backward_warns_of_the_cycle_that_it_makes(t):
    x = t.tensor(2.0, requires_grad=True)
    t.set_warn_always(True)
    assert t.is_warn_always_enabled()
    try:
        for _ in range(2):
            with pytest.warns(UserWarning, match=r"Using backward\(\) with create_graph=True"):
                (x * x).backward(create_graph=True)
    finally:
        t.set_warn_always(False)
    with warnings.catch_warnings():
        # once, unless that has been
        warnings.simplefilter("ignore")
        (x * x).backward(create_graph=True)
        warnings.simplefilter("error")
        (x * x).backward(create_graph=True)
        t.autograd.grad(x * x, x, create_graph=True)
    x.grad = None


def test_deprecated_defaults_warn(t):
    x = t.ones(3)
    t.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="Using torch.cross without specifying the dim arg is"):
            t.cross(x, x)
        with pytest.warns(UserWarning, match="torch.meshgrid: in an upcoming release, it will be"):
            t.meshgrid(x, x)
    finally:
        t.set_warn_always(False)
    t.cross(x, x, dim=0), t.meshgrid(x, x, indexing="ij")


def test_requires_grad_is_a_bool(t):
    x = t.ones(1)
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        x.requires_grad = 1
    assert not x.requires_grad
