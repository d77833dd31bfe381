"""Test contexts whose ``__torch_dispatch__`` sees the operations below the graph."""

import importlib

import pytest


@pytest.fixture
def Mode(t):
    return importlib.import_module(f"{t.__name__}.utils._python_dispatch").TorchDispatchMode


@pytest.fixture
def Names(Mode):
    class Names(Mode):
        def __init__(self):
            super().__init__()
            self.seen = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.seen.append(func.overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    return Names


def test_operations_print_as_overloads(t):
    class Texts(t.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            texts.append((str(func), f"{func}", func.__name__, repr(func)))
            return func(*args, **(kwargs or {}))

    x, texts = t.ones(2, 2), []
    with Texts():
        x * 2, x - x, x**2, x**x, 2**x, x > 0, x > x, x.sum(), x.sum(0), x.mean(1), x.add_(1)
        x.softmax(0), x[0], x.transpose(0, 1), x.masked_fill(x > x, 1.0), x.exp(), x.unbind()
    kinds = "mul.Tensor sub.Tensor pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar gt.Scalar "
    kinds += "gt.Tensor sum.default sum.dim_IntList mean.dim add_.Tensor _softmax.default "
    kinds += "select.int transpose.int gt.Tensor masked_fill.Scalar exp.default unbind.int"
    assert [text[2] for text in texts] == kinds.split()
    for plain, formatted, name, shown in texts:
        packet, kind = name.split(".")
        assert plain == formatted == f"aten.{name}"
        assert shown == f"<OpOverload(op='aten.{packet}', overload='{kind}')>"


def test_it_sees_forward_and_backward_passes_and_writes(t, Names):
    x = t.ones(2, requires_grad=True)
    y = t.ones(2)
    with Names() as mode:
        x.sin().sum().backward()
        y.mul_(3)
        y.view(2, 1).zero_()
    assert {"sin", "sum", "cos", "mul", "mul_", "view", "zero_"} <= set(mode.seen)
    assert "assign" not in mode.seen  # the gradient becomes .grad as it is
    assert t.equal(x.grad, t.ones(2).cos()) and x.grad.grad_fn is None and y.tolist() == [0, 0]
    mode.seen.clear()
    x.exp()
    assert not mode.seen


def test_gradients_that_grad_returns_have_no_history(t, Names):
    x = t.ones(2, requires_grad=True)
    with Names():
        (g,) = t.autograd.grad((x * x * x).sum(), x)
        (h,) = t.autograd.grad((x * x * x).sum(), x, create_graph=True)
        (second,) = t.autograd.grad(h.sum(), x)
    assert not g.requires_grad and g.tolist() == [3, 3] and second.tolist() == [6, 6]


def test_other_results_get_the_history_of_the_operation(t, Mode):
    class Doubling(Mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            found = func(*args, **(kwargs or {}))
            return found * 2 if func is t.ops.aten.sin.default else found

    x = t.ones(2, requires_grad=True)
    with Doubling():
        y = x.sin()
    assert t.equal(y.detach(), 2 * t.ones(2).sin()) and y.grad_fn.name() == "SinBackward0"
    assert t.equal(t.autograd.grad(y.sum(), x)[0], t.ones(2).cos())


def test_enclosing_contexts_see_what_inner_ones_compute(t, Mode, Names):
    class Cos(Mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return t.cos(args[0])

    x = t.ones(2)
    with Names() as outer, Cos(), Names() as inner:
        y = x.sin()
    assert (outer.seen, inner.seen) == (["cos"], ["sin"]) and t.equal(y, t.ones(2).cos())


def test_a_handler_that_fails_leaves_everything_as_it_was(t, Mode, Names):
    class Failing(Mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise ValueError("seen")

    x = t.ones(2, requires_grad=True)
    with Names() as outer:
        with pytest.raises(ValueError, match="seen"), Failing():
            x.sin()
        with pytest.raises(ValueError, match="seen"), Failing():
            t.zeros(2).add_(1)
        assert x.cos().requires_grad
    assert outer.seen == ["cos"]


def test_a_handler_is_a_method_of_its_instance(t, Mode):
    class Wrong(Mode):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with pytest.raises(RuntimeError, match="classmethod is not supported"), Wrong():
        t.ones(2) + t.ones(2)


def test_it_sees_functions_that_make_tensors(t, Mode):
    class Calls(Mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append((func.__name__, args, kwargs or {}))
            return func(*args, **(kwargs or {}))

    a, calls = t.ones(2), []
    with Calls():
        x = t.ones(2, 3, requires_grad=True)
        t.full((2,), 3, dtype=t.int8), t.arange(3), t.arange(1, 3), t.arange(0, 3, 2)
        t.randint(3, (2,)), t.randint(1, 3, (2,)), t.eye(2, 3), t.empty(2)
        t.zeros_like(a), a.new_zeros(2), t.randint_like(a, 1, 3), t.tensor([1.0])
        t.randn(2, generator=t.Generator()), t.zeros(2, out=a)
    assert x.requires_grad and x.is_leaf and a.tolist() == [0, 0]
    cpu = {"device": t.device("cpu"), "pin_memory": False}
    assert calls[:6] == [
        ("ones.default", ([2, 3],), cpu),
        ("full.default", ([2], 3), {"dtype": t.int8, **cpu}),
        ("arange.default", (3,), cpu),
        ("arange.start", (1, 3), cpu),
        ("arange.start_step", (0, 3, 2), cpu),
        ("randint.default", (3, [2]), cpu),
    ]
    others = "randint.low eye.m empty.memory_format zeros_like.default new_zeros.default "
    others += "randint_like.low_dtype lift_fresh.default randn.generator zeros.out"
    assert [name for name, *_ in calls[6:]] == others.split()
    assert calls[9][1][0] is a and calls[9][2] == {"pin_memory": False}
    assert calls[10][1][1] == [2] and calls[14][2]["out"] is a
    calls.clear()
    assert t.ones(2).tolist() == [1, 1] and not calls


def test_arguments_come_in_the_order_of_the_overload(t, Mode):
    class Calls(Mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append((func.__name__, args[1:], kwargs or {}))
            return func(*args, **(kwargs or {}))

    a, index, calls = t.ones(2, 3), t.zeros(2, 1, dtype=t.int64), []
    with Calls():
        found = [a + 1, 2**a, a % 2, t.add(a, a, alpha=2), a.sum(0), a.mean(1, True)]
        found += [a.view(3, 2), a.transpose(0, 1), a.gather(1, index), a.to(t.float64)]
        found += [t.cat([a, a]), t.stack([a, a], 1), a.clamp(0, 1), a.select(1, 0)]
        a.pow_(2), a.fill_(3)
    assert [(name, args, options) for name, args, options in calls if name[0] != "g"] == [
        ("add.Tensor", (1,), {}),
        ("pow.Scalar", (calls[1][1][0],), {}),
        ("remainder.Scalar", (2,), {}),
        ("add.Tensor", (calls[3][1][0],), {"alpha": 2}),
        ("sum.dim_IntList", ([0],), {}),
        ("mean.dim", ([1], True), {}),
        ("view.default", ([3, 2],), {}),
        ("transpose.int", (0, 1), {}),
        ("_to_copy.default", (), {"dtype": t.float64}),
        ("cat.default", (), {}),
        ("stack.default", (1,), {}),
        ("clamp.default", (0, 1), {}),
        ("select.int", (1, 0), {}),
        ("pow_.Scalar", (2,), {}),
        calls[-1],
    ]
    assert calls[1][1][0] is calls[3][1][0] is a
    (gather,) = [args for name, args, _ in calls if name == "gather.default"]
    assert gather[0] == 1 and gather[1] is index
    assert calls[-1][0].startswith("fill_.") and calls[-1][1:] == ((3,), {})
    plain = [t.full((2, 3), 2.0), t.full((2, 3), 2.0), t.ones(2, 3), t.full((2, 3), 3.0)]
    plain += [t.full((3,), 2.0), t.ones(2, 1)]
    assert all(t.equal(*pair) for pair in zip(found, plain, strict=False))
    assert found[9].dtype == t.float64 and found[11].shape == (2, 2, 3) and a.tolist()[0][0] == 3
