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
