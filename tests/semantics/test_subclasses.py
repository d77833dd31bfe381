"""Test subclasses of Tensor: creation, results of operations, and overrides."""

import collections
import copy
import functools
import pickle
from typing import ClassVar

import pytest


@pytest.fixture
def Tagged(t):
    class Tagged(t.Tensor):
        pass

    return Tagged


@pytest.fixture
def Logged(t):
    class Logged(t.Tensor):
        calls: ClassVar = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.calls.append((func.__name__, types, args, kwargs or {}))
            return super().__torch_function__(func, types, args, kwargs)

    return Logged


def plain_type(t):
    return type(t.ones(1))


def test_a_method_that_a_program_puts_on_tensors_is_called_and_not_overridden(
    t, Logged, monkeypatch
):
    @functools.wraps(t.Tensor.square)
    def square(self):
        return self * 2 * self

    x = t.full((2,), 3.0).as_subclass(Logged)
    monkeypatch.setattr(t.Tensor, "square", square)
    Logged.calls.clear()
    assert x.square().sum().item() == 36.0 and t.ones(1).square().item() == 2.0
    assert [name for name, *_ in Logged.calls] == ["mul", "mul", "sum", "item"]


# -- making them -----------------------------------------------------------------------------------


def test_the_constructor_makes_an_instance(t, Tagged):
    x = Tagged([1.0, 2.0])
    assert type(x) is Tagged and isinstance(x, t.Tensor)
    assert x.tolist() == [1.0, 2.0] and x.dtype == t.float32 and not x.requires_grad
    assert Tagged(2, 3).shape == (2, 3)
    assert Tagged().shape == (0,)


def test_the_constructor_takes_a_tensor_as_a_view_of_it(t, Tagged):
    x = t.ones(2, dtype=t.float64, requires_grad=True)
    y = Tagged(x)
    assert y.dtype == t.float64 and y.data_ptr() == x.data_ptr()
    assert y.grad_fn.name() == "AliasBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_as_subclass_is_a_view_in_the_graph(t, Tagged):
    x = t.ones(2, requires_grad=True)
    y = x.as_subclass(Tagged)
    assert type(y) is Tagged and y._is_view() and y._base is x
    assert y.grad_fn.name() == "AliasBackward0"
    assert type(y.as_subclass(t.Tensor)) is plain_type(t)
    with pytest.raises(TypeError, match="Creating a Tensor subclass from a class that does not"):
        x.as_subclass(int)
    with pytest.raises(TypeError, match="cls must be a type"):
        x.as_subclass(3)


def test_make_subclass_is_a_leaf_over_the_same_memory(t, Tagged):
    x = t.ones(2, requires_grad=True)
    y = Tagged._make_subclass(Tagged, x * 2)
    assert type(y) is Tagged and y.is_leaf and not y.requires_grad and not y._is_view()
    z = t.Tensor._make_subclass(Tagged, x, True)
    assert z.requires_grad and z.is_leaf and z.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
        Tagged._make_subclass(Tagged, t.ones(2, dtype=t.int64), True)
    with pytest.raises(TypeError, match="argument 'data'"):
        Tagged._make_subclass(Tagged, [1.0])


def test_a_subclass_has_its_own_new_and_init(t):
    class Named(t.Tensor):
        def __new__(cls, data, name, **kwargs):
            return t.as_tensor(data, **kwargs).as_subclass(cls)

        def __init__(self, data, name, **kwargs):
            super().__init__()
            self.name_given = name

    x = Named([1, 2], "a", dtype=t.float64)
    assert x.name_given == "a" and x.dtype == t.float64
    assert type(x + 1) is Named and not hasattr(x + 1, "name_given")


def test_a_subclass_with_slots(t):
    class Slotted(t.Tensor):
        __slots__ = ("unit",)

    x = t.ones(2).as_subclass(Slotted)
    x.unit = "m"
    assert x.unit == "m" and copy.copy(x).unit == "m"
    assert type(x * 2) is Slotted


def test_a_subclass_prints_under_its_own_name(t, Tagged):
    assert repr(Tagged([1.0, 2.0])) == "Tagged([1., 2.])"
    assert repr(Tagged([1.0]).requires_grad_() * 2) == "Tagged([2.], grad_fn=<AliasBackward0>)"


def test_a_subclass_is_copied_and_pickled_with_its_attributes(t, monkeypatch):
    class Kept(t.Tensor):
        pass

    # where a pickle finds it
    Kept.__module__, Kept.__qualname__ = __name__, "Kept"
    monkeypatch.setitem(globals(), "Kept", Kept)
    x = Kept([1.0, 2.0])
    x.note = ["a"]
    for twin in (copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert type(twin) is Kept and twin.tolist() == [1.0, 2.0] and twin.note == ["a"]
    assert copy.copy(x).note is x.note


# -- what operations give --------------------------------------------------------------------------

OPERATIONS = {
    "operator": lambda t, x: x + 1,
    "reflected": lambda t, x: 1 - x,
    "plain to the left": lambda t, x: t.ones(2) * x,
    "comparison": lambda t, x: x > 1,
    "plain compared": lambda t, x: t.ones(2) < x,
    "negation": lambda t, x: -x,
    "power": lambda t, x: 2**x,
    "matrix product": lambda t, x: t.ones(2, 2) @ x,
    "method": lambda t, x: x.exp(),
    "method with options": lambda t, x: x.add(1, alpha=2),
    "method of a plain one": lambda t, x: t.ones(2).add(x),
    "where of a plain one": lambda t, x: t.ones(2).where(t.ones(2) > 0, x),
    "function": lambda t, x: t.exp(x),
    "function of two": lambda t, x: t.add(t.ones(2), x),
    "keyword": lambda t, x: t.add(t.ones(2), other=x),
    "list": lambda t, x: t.cat([t.ones(2), x]),
    "nn.functional": lambda t, x: t.nn.functional.relu(x),
    "loss": lambda t, x: t.nn.functional.mse_loss(t.ones(2), x),
    "reduction": lambda t, x: x.sum(),
    "index": lambda t, x: x[0],
    "as an index": lambda t, x: t.ones(3)[x.long()],
    "view": lambda t, x: x.reshape(1, 2).T,
    "property": lambda t, x: x.real,
    "detach": lambda t, x: x.detach(),
    "data": lambda t, x: x.data,
    "clone": lambda t, x: x.clone(),
    "cast": lambda t, x: x.double(),
    "like": lambda t, x: t.zeros_like(x),
    "new": lambda t, x: x.new_zeros(3),
    "in place": lambda t, x: x.add_(1),
    "in place on a plain one": lambda t, x: t.ones(2).mul_(x),
    "augmented": lambda t, x: t.ones(2).__iadd__(x),
    "requires_grad_": lambda t, x: x.requires_grad_(),
    "element": lambda t, x: next(iter(x)),
    "part": lambda t, x: x.split(1)[1],
    "named result": lambda t, x: x.max(dim=0).values,
    "grad": lambda t, x: t.autograd.grad((x.requires_grad_() ** 2).sum(), x)[0],
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_on_a_subclass_gives_the_subclass(t, Tagged, name):
    result = OPERATIONS[name](t, Tagged([1.0, 2.0]))
    assert type(result) is Tagged
    assert result.tolist() == OPERATIONS[name](t, t.tensor([1.0, 2.0])).tolist()


@pytest.mark.parametrize(
    "ask",
    [
        lambda t, x: x.shape,
        lambda t, x: x.dtype,
        lambda t, x: x.sum().item(),
        lambda t, x: x.tolist(),
        lambda t, x: len(x),
        lambda t, x: bool(x[0]),
        lambda t, x: float(x[1]),
        lambda t, x: 2.0 in x,
        lambda t, x: t.equal(x, x),
        lambda t, x: x.numpy().tolist(),
        lambda t, x: x.requires_grad,
        lambda t, x: x.is_leaf,
        lambda t, x: x.grad,
        lambda t, x: x.stride(),
    ],
)
def test_what_is_no_tensor_stays_what_it_is(t, Tagged, ask):
    x = t.tensor([1.0, 2.0])
    assert ask(t, Tagged(x)) == ask(t, x)
    assert type(ask(t, Tagged(x))) is type(ask(t, x))


def test_tensor_and_functions_that_mean_the_values_give_a_plain_tensor(t, Tagged):
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        assert type(t.tensor(Tagged([1.0]))) is plain_type(t)
    assert type(t.Tensor(Tagged([1.0]))) is plain_type(t)
    assert t.is_tensor(Tagged([1.0]))


def test_a_gradient_flows_through_a_subclass(t, Tagged):
    x = Tagged([1.0, 2.0]).requires_grad_()
    w = t.ones(2, requires_grad=True)
    y = (x * w).exp().sum()
    y.backward()
    assert x.grad.tolist() == pytest.approx([2.7182817, 7.389056])
    assert type(x.grad) is plain_type(t)
    assert type(w.grad) is plain_type(t)


def test_a_gradient_is_differentiated_through_a_subclass(t, Tagged):
    x = Tagged([1.0, 2.0]).requires_grad_()
    (grad,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
    assert type(grad) is Tagged
    (second,) = t.autograd.grad(grad.sum(), x)
    assert second.tolist() == [6.0, 12.0]


def test_writing_through_a_view_of_a_subclass_reaches_the_base(t, Tagged):
    w = t.ones(2, requires_grad=True)
    x = (w * 2).as_subclass(Tagged)
    part = x[:1]
    part.mul_(5)
    x.sum().backward()
    assert x.tolist() == [10.0, 2.0]
    assert w.grad.tolist() == [10.0, 2.0]


def test_a_write_to_the_base_reaches_the_history_of_a_subclass(t, Tagged):
    w = t.ones(2, requires_grad=True)
    base = w * 2
    x = base.as_subclass(Tagged)
    base.mul_(5)
    x.sum().backward()
    assert w.grad.tolist() == [10.0, 10.0]


def test_of_two_related_subclasses_the_more_special_one_wins(t, Tagged):
    class Special(Tagged):
        pass

    assert type(Tagged([1.0]) + Special([1.0])) is Special
    assert type(Special([1.0]) + Tagged([1.0])) is Special
    assert type(t.add(Tagged([1.0]), Special([1.0]))) is Special


def test_unrelated_subclasses_do_not_mix(t, Tagged):
    class Other(t.Tensor):
        pass

    with pytest.raises(TypeError, match="unsupported operand type"):
        Tagged([1.0]) + Other([1.0])
    with pytest.raises(TypeError, match=r"Multiple dispatch failed|no implementation found"):
        t.add(Tagged([1.0]), Other([1.0]))


def test_a_method_is_overridden_and_calls_the_original(t):
    class Loud(t.Tensor):
        def exp(self):
            return super().exp() + 100

    x = Loud([0.0])
    assert x.exp().tolist() == [101.0] and type(x.exp()) is Loud
    assert t.exp(x).tolist() == [1.0]


# -- __torch_function__ ----------------------------------------------------------------------------


def call(Logged, run):
    Logged.calls.clear()
    run()
    return [name for name, *_ in Logged.calls]


def test_every_operation_reaches_torch_function(t, Logged):
    x = Logged([1.0, 2.0])
    plain = t.ones(2)
    assert call(Logged, lambda: x + 1) == ["add"]
    assert call(Logged, lambda: 1 + x) == ["add"]
    assert call(Logged, lambda: 1 - x) == ["__rsub__"]
    assert call(Logged, lambda: plain - x) == ["sub"]
    assert call(Logged, lambda: x / 2) == ["div"]
    assert call(Logged, lambda: x % 2) == ["remainder"]
    assert call(Logged, lambda: x // 2) == ["__floordiv__"]
    assert call(Logged, lambda: x == 1) == ["__eq__"]
    assert call(Logged, lambda: plain < x) == ["gt"]
    assert call(Logged, lambda: -x) == ["neg"]
    assert call(Logged, lambda: plain.__iadd__(x)) == ["add_"]
    assert call(Logged, lambda: x.exp().sum(dim=0)) == ["exp", "sum"]
    assert call(Logged, lambda: t.softmax(x, dim=0)) == ["softmax"]
    assert call(Logged, lambda: t.nn.functional.mse_loss(x, plain)) == ["mse_loss"]
    assert call(Logged, lambda: x[0]) == ["__getitem__"]
    assert call(Logged, lambda: x.shape) == ["__get__"]
    assert call(Logged, lambda: setattr(x, "grad", None)) == ["__set__"]
    assert call(Logged, lambda: len(x)) == ["__len__"]
    assert call(Logged, lambda: repr(x)) == ["__repr__"]
    assert call(Logged, lambda: t.cat([plain, x])) == ["cat"]
    assert call(Logged, lambda: hash(x)) == []


def test_torch_function_gets_the_arguments_and_the_types(t, Logged):
    x, plain = Logged([1.0, 2.0]), t.ones(2)
    Logged.calls.clear()
    t.sum(x, dim=0)
    plain - x
    t.cat([plain, x], dim=0)
    (_, types, args, kwargs), (_, _, operands, _), (_, _, parts, _) = Logged.calls
    assert types == (Logged,) and args[0] is x and kwargs == {"dim": 0}
    assert operands[0] is plain and operands[1] is x
    assert parts[0][0] is plain and parts[0][1] is x


def test_what_a_function_calls_inside_does_not_reach_torch_function(t, Logged):
    x = Logged([1.0, 2.0]).requires_grad_()
    loss = (x * x).sum()
    assert call(Logged, loss.backward) == ["backward"]
    loss = (x * x).sum()
    assert call(Logged, lambda: t.autograd.grad(loss, x, create_graph=True)) == ["grad"]


def test_func_is_what_the_user_finds_under_that_name(t):
    seen = []

    class Seeing(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    x = Seeing([1.0])
    t.exp(x), x.add(1), x.real
    assert seen[0] is t.exp and seen[1] is t.Tensor.add
    assert seen[2] == t.Tensor.real.__get__


def test_a_handler_may_return_what_it_likes(t):
    class Shaped(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is t.mean:
                return "the mean"
            return super().__torch_function__(func, types, args, kwargs)

    assert t.mean(Shaped([1.0])) == "the mean"
    assert type(t.exp(Shaped([1.0]))) is Shaped


def test_a_handler_may_unwrap_its_arguments(t):
    class Wrapped(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            plain = [a.as_subclass(t.Tensor) if isinstance(a, cls) else a for a in args]
            return func(*plain, **(kwargs or {}))

    x = Wrapped([1.0, 2.0])
    assert type(x * 2) is plain_type(t) and type(t.exp(x)) is plain_type(t)


def test_handlers_that_all_decline_are_an_error(t):
    class Declining(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match="Multiple dispatch failed for"):
        t.exp(Declining([1.0]))
    with pytest.raises(TypeError, match="unsupported operand type"):
        Declining([1.0]) + 1


def test_a_subclass_may_give_plain_tensors(t):
    class Quiet(t.Tensor):
        __torch_function__ = t.nn.Parameter.__torch_function__

    x = Quiet([1.0, 2.0])
    assert repr(x) == "Quiet([1., 2.])"
    for result in (x + 1, t.exp(x), x[0], x.detach(), x.clone(), t.ones(2) * x):
        assert type(result) is plain_type(t)


def test_an_exception_in_a_handler_leaves_everything_as_it_was(t):
    class Failing(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is t.exp:
                raise ValueError("no exponentials")
            if func is t.log:
                super().__torch_function__(func, types, ("no tensor",), kwargs)
            return super().__torch_function__(func, types, args, kwargs)

    x = Failing([1.0])
    with pytest.raises(ValueError, match="no exponentials"):
        t.exp(x)
    with pytest.raises(TypeError):
        t.log(x)
    assert type(x * 2) is Failing


def test_plain_tensors_never_reach_torch_function(t, Logged):
    x = t.ones(2, requires_grad=True)

    def run():
        y = t.exp(x).add(x) * x
        y[0].backward()

    assert call(Logged, run) == []


# -- Parameter -------------------------------------------------------------------------------------


def test_a_parameter_is_a_leaf_over_the_memory_of_its_data(t):
    x = t.ones(2, requires_grad=True) * 2
    p = t.nn.Parameter(x)
    assert isinstance(p, t.nn.Parameter) and isinstance(p, t.Tensor)
    assert p.requires_grad and p.is_leaf and p.data_ptr() == x.data_ptr()
    assert not t.nn.Parameter(x, requires_grad=False).requires_grad
    assert t.nn.Parameter().shape == (0,)
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
        t.nn.Parameter(t.ones(2, dtype=t.int64))


def test_a_parameter_prints_as_one(t):
    p = t.nn.Parameter(t.ones(2, 2))
    text = "Parameter containing:\ntensor([[1., 1.],\n        [1., 1.]], requires_grad=True)"
    assert repr(p) == text
    assert repr(t.nn.Parameter(t.ones(1), False)) == "Parameter containing:\ntensor([1.])"


def test_operations_on_a_parameter_give_plain_tensors(t):
    p = t.nn.Parameter(t.ones(2))
    for result in (p * 2, 2 * p, t.exp(p), p[0], p.detach(), p.data, p.clone(), p.sum(), p > 0):
        assert type(result) is plain_type(t)
    assert p.requires_grad_(False) is p
    with t.no_grad():
        assert p.add_(1) is p


def test_a_parameter_gets_its_gradient(t):
    p = t.nn.Parameter(t.tensor([1.0, 2.0]))
    (p * p).sum().backward()
    assert p.grad.tolist() == [2.0, 4.0] and type(p.grad) is plain_type(t)


def test_a_parameter_is_copied_as_one_without_its_gradient(t):
    p = t.nn.Parameter(t.ones(2))
    p.sum().backward()
    for twin in (copy.deepcopy(p), copy.copy(p), pickle.loads(pickle.dumps(p))):
        assert type(twin) is t.nn.Parameter and twin.requires_grad and twin.grad is None
        assert twin.tolist() == [1.0, 1.0]
    assert copy.copy(p).data_ptr() == p.data_ptr() != copy.deepcopy(p).data_ptr()
    first, second = copy.deepcopy([p, p])
    assert first is second


def test_a_subclass_of_parameter_is_one(t):
    class Weight(t.nn.Parameter):
        pass

    w = Weight(t.ones(2))
    assert type(w) is Weight and isinstance(w, t.nn.Parameter)
    assert type(w * 2) is plain_type(t) and type(copy.deepcopy(w)) is Weight


def test_an_instance_of_a_subclass_becomes_a_parameter_besides(t, Tagged):
    p = t.nn.Parameter(Tagged([1.0]))
    assert isinstance(p, t.nn.Parameter) and type(p) is Tagged and p.requires_grad
    assert repr(p) == "Parameter(Tagged([1.], requires_grad=True))"
    assert type(p * 2) is Tagged
    assert not isinstance(Tagged([1.0]), t.nn.Parameter)
    assert not isinstance(t.ones(1), t.nn.Parameter)


@pytest.mark.parametrize("plain_first", [True, False])
def test_a_parameter_and_a_subclass_give_the_subclass(t, Tagged, plain_first):
    p, x = t.nn.Parameter(t.ones(2)), Tagged([1.0, 2.0])
    results = (p * x, p < x, t.add(p, x), p.mul(x)) if plain_first else (x * p, x < p, t.add(x, p))
    for result in results:
        assert type(result) is Tagged


def test_a_function_that_hands_a_subclass_back_gives_the_subclass(t):
    class Wrapper(t.Tensor):
        def __init__(self, data):
            super().__init__()
            self._data = data

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            args = tuple(a._data if isinstance(a, cls) else a for a in args)
            out = func(*args, **(kwargs or {}))
            return cls(out) if isinstance(out, t.Tensor) else out

    class Same(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return 3 * g

    assert type(Same.apply(Wrapper(t.randn(2, 3)))) is Wrapper


def test_a_subclass_that_a_function_hands_back_has_the_functions_derivative(t, Tagged):
    class Same(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return 3 * g

    x = t.ones(2, requires_grad=True)
    y = Same.apply(x.as_subclass(Tagged))
    assert type(y) is Tagged
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_handler_gets_the_equation_and_the_operands_of_einsum_one_by_one(t, Logged):
    x, y = t.ones(2, 2).as_subclass(Logged), t.ones(2, 2)
    Logged.calls.clear()
    t.einsum("ij,jk", [x, y])
    t.einsum(y, [0, 1], x, [1, 2], [0, 2])
    found = [
        [type(a) if isinstance(a, t.Tensor) else a for a in args] for _, _, args, _ in Logged.calls
    ]
    plain = plain_type(t)
    assert found == [["ij,jk", Logged, plain], ["AB,BC->AC", plain, Logged]]


def test_the_name_of_an_operation_is_copied_and_called(t):
    mm = t.ops.aten.mm
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert copy.deepcopy(mm).default == mm.default
    assert t.equal(mm(x, x), x @ x) and t.equal(mm.default(x, x), x @ x)
    assert t.ops.aten.sum.dim_IntList(x, [0], True).tolist() == [[4.0, 6.0]]
    assert t.ops.aten.view.default(x, [4]).shape == (4,)


def test_a_named_tuple_that_overrides_functions_is_asked_itself(t):
    class Scaled(collections.namedtuple("Scaled", "value scale")):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func, types))
            return func(*[a.value * a.scale if isinstance(a, cls) else a for a in args])

    seen = []
    x, w = t.ones(1, 3), Scaled(t.ones(2, 3), 2.0)
    assert t.nn.functional.linear(x, w).tolist() == [[6.0, 6.0]]
    assert seen == [(t.nn.functional.linear, (Scaled,))]


def test_methods_that_are_called_by_the_name_of_their_class_are_seen(t):
    class Seen(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    x = t.ones(2).as_subclass(Seen)
    names = ("abs", "sum", "exp_", "size", "neg")
    assert [getattr(t.Tensor, name)(x) for name in names] == list(names)
    assert t.exp_(x) == "exp_" and t.Tensor.sum(t.ones(2)).item() == 2
