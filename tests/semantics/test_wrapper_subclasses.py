"""Test subclasses without memory, whose ``__torch_dispatch__`` computes."""

import copy

import pytest


@pytest.fixture
def Held(t):
    class Held(t.Tensor):
        @staticmethod
        def __new__(cls, held, requires_grad=False):
            made = t.Tensor._make_wrapper_subclass(
                cls, held.size(), held.stride(), dtype=held.dtype, requires_grad=requires_grad
            )
            made.held = held
            return made

        def __repr__(self):
            return super().__repr__(tensor_contents=f"{self.held.tolist()}")

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            cls.seen.append(func.overloadpacket)
            tree_map = t.utils._pytree.tree_map
            args, kwargs = tree_map(lambda x: getattr(x, "held", x), (args, kwargs or {}))
            found = func(*args, **kwargs)
            return tree_map(lambda x: cls(x) if isinstance(x, t.Tensor) else x, found)

    Held.seen = []
    return Held


def test_operations_reach_the_class_below_the_graph(t, Held):
    x = Held(t.tensor([1.0, 2.0]), requires_grad=True)
    y = (x * x).exp()
    assert type(y) is Held and y.grad_fn.name() == "ExpBackward0"
    assert t.equal(y.held, t.tensor([1.0, 4.0]).exp()) and not y.held.requires_grad
    assert {t.ops.aten.mul, t.ops.aten.exp} <= set(Held.seen)
    y.sum().backward()
    assert type(x.grad) is Held
    assert t.allclose(x.grad.held, 2 * x.held * y.held)
    (g,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    assert h.held.tolist() == [6.0, 12.0]
    (x * 3).sum().backward()
    assert t.allclose(x.grad.held, 2 * x.held * y.held + 3)


def test_plain_tensors_meet_the_class(t, Held):
    x = Held(t.tensor([[1.0, 2.0]]))
    for found in (t.ones(1, 2) + x, t.cat([t.zeros(1, 2), x]), t.nn.functional.linear(x, t.eye(2))):
        assert type(found) is Held
    layer = t.nn.Linear(2, 1)
    layer(x).sum().backward()
    assert type(layer.weight.grad) is Held and layer.weight.grad.held.tolist() == [[1.0, 2.0]]


def test_what_is_swapped_computes_with_its_own_values(t, Held):
    x, y = Held(t.tensor([1.0, 2.0])), t.ones(3)
    t.utils.swap_tensors(x, y)
    assert (y * 2).held.tolist() == [2, 4] and (x * 2).tolist() == [2, 2, 2]


def test_views_and_writes_reach_the_values(t, Held):
    x = Held(t.zeros(2, 3))
    x.add_(1)
    x[0] = 5.0
    assert x.held.tolist() == [[5.0] * 3, [1.0] * 3]
    y = x.t()
    assert type(y) is Held and y.shape == (3, 2) and y.stride() == (1, 3) and y._base is x
    assert x.sum().item() == 18.0 and bool((x > 0).all()) and t.equal(x, x) and t.allclose(x, x)
    assert repr(x[1]) == "Held([1.0, 1.0, 1.0])"
    with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
        x.numpy()


def test_a_derivative_through_the_class_is_checked(t, Held):
    x = Held(t.rand(2, dtype=t.float64), requires_grad=True)
    assert t.autograd.gradcheck(lambda x: (x * x).sin(), (x,))
    assert t.autograd.gradgradcheck(lambda x: (x * x).sin(), (x,))


def test_a_parameter_and_a_copy_keep_the_class(t, Held):
    p = t.nn.Parameter(Held(t.ones(2)))
    assert type(p) is Held and isinstance(p, t.nn.Parameter) and p.is_leaf and p.requires_grad
    assert repr(p) == "Parameter(Held([1.0, 1.0], requires_grad=True))"
    q = copy.deepcopy(p)
    q.held.zero_()
    assert type(q) is Held and isinstance(q, t.nn.Parameter) and p.held.tolist() == [1.0, 1.0]
    d = p.detach()
    assert type(d) is Held and d is not p and not d.requires_grad


def test_a_class_may_return_plain_tensors_and_refuse(t, Held):
    class Falls(Held):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            if func == t.ops.aten.cos.default:
                return NotImplemented
            return func(*[getattr(x, "held", x) for x in args], **(kwargs or {}))

    x = Falls(t.ones(2), requires_grad=True)
    y = x * 2
    assert type(y) is type(t.ones(1)) and y.tolist() == [2.0, 2.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match=r"no implementation found|Multiple dispatch failed"):
        x.cos()
    with pytest.raises(RuntimeError, match="same type"):
        t.nn.Parameter(x)
    with pytest.raises(TypeError, match="must define __torch_dispatch__"):
        t.Tensor._make_wrapper_subclass(t.Tensor, (2,))


def test_a_class_keeps_the_methods_of_tensors(t):
    class Plain(t.Tensor):
        pass

    class Below(Plain):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    assert Below.size is t.Tensor.size and Below.__add__ is not None


def test_equality_of_a_batch_is_not_decided(t):
    for f in (t.equal, t.allclose):
        with pytest.raises(RuntimeError):
            t.vmap(lambda x, f=f: x if f(x, x) else -x)(t.ones(2, 2))


def test_operators_with_numbers_and_writes_have_their_overloads(t):
    class Named(t.Tensor):
        @staticmethod
        def __new__(cls, held):
            made = t.Tensor._make_wrapper_subclass(cls, held.size(), dtype=held.dtype)
            made.held = held
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            calls.append((func, args, kwargs or {}))
            args = [getattr(x, "held", x) for x in args]
            found = func(*args, **(kwargs or {}))
            return cls(found) if isinstance(found, t.Tensor) else found

    aten, held, calls = t.ops.aten, t.tensor([1.0, 2.0]), []
    x = Named(held)
    y = x + 1
    assert calls[0][0] == aten.add.Tensor and calls[0][1][0] is x and calls[0][1][1] == 1
    assert y.held.tolist() == [2, 3]
    calls.clear()
    x.add_(y), x.mul_(2)
    assert [func for func, *_ in calls] == [aten.add_.Tensor, aten.mul_.Tensor]
    assert calls[0][1][1] is y and calls[1][1][1] == 2 and held.tolist() == [6, 10]
    calls.clear()
    z = t.zeros_like(x)
    assert type(z) is Named and z.held.tolist() == [0, 0] and calls[0][1][0] is x
    assert type(x.new_ones(3)) is Named and [c[0] for c in calls][1] == aten.new_ones.default
