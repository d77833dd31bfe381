"""Test `TorchFunctionMode`: a context that sees all functions and methods."""

import threading

import pytest

import wengert as wg
from support.alone import said
from wengert.overrides import TorchFunctionMode


class Log(TorchFunctionMode):
    def __init__(self):
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


class Twice(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result * 2 if func is wg.add else result


def test_it_sees_functions_methods_operators_and_attributes():
    x, layer = wg.ones(2, requires_grad=True), wg.nn.Linear(2, 2)
    with Log() as log:
        (x * 2 + 1).sum()
        wg.nn.functional.relu(x)
        x.exp().shape  # noqa: B018
        wg.zeros(3)
        layer(x)
        1 - x
        x[0]
        wg.stack([x, x])
    assert log.seen == [
        *("mul", "add", "sum", "relu", "exp", "__get__", "zeros", "linear"),
        *("__rsub__", "__getitem__", "stack"),
    ]


def test_inner_modes_come_first_and_call_outer_ones():
    x = wg.ones(1)
    with Twice():
        with Log() as log:
            assert wg.add(x, x).item() == 4.0
        assert wg.add(x, x).item() == 4.0
    assert log.seen == ["add", "item"] and wg.add(x, x).item() == 2.0


def test_all_is_as_before_after_the_last_one_also_after_an_error():
    before = dict(vars(wg.Tensor))
    with pytest.raises(RuntimeError), Log():
        wg.ones(2) @ wg.ones(3)
    after = dict(vars(wg.Tensor))
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] is not after[name]] == []
    assert (wg.ones(2) + 1).shape == (2,)


def test_other_threads_have_no_mode():
    with Log() as log:
        thread = threading.Thread(target=lambda: wg.ones(2) + 1)
        thread.start()
        thread.join()
    assert log.seen == []


class Refuses(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return NotImplemented


@pytest.fixture
def handles():
    # made by a test, since the first such class wraps the package's functions
    class Handles(wg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return f"{cls.__name__}.{func.__name__}"

    return Handles([1.0])


def mine(x):
    if wg.overrides.has_torch_function((x,)):
        return wg.overrides.handle_torch_function(mine, (x,), x)
    return x


def test_a_mode_is_asked_before_the_classes_of_arguments(handles):
    x = handles
    with Twice(), Log() as log:
        assert wg.exp(x) == x.exp() == "Handles.exp" and mine(x) == "Handles.mine"
        assert mine(2) == 2
    assert log.seen == ["exp", "exp", "mine", "mine"]


def test_classes_are_asked_after_a_mode_that_refuses(handles):
    x = handles
    with Refuses():
        assert wg.exp(x) == x.exp() == "Handles.exp" and mine(x) == "Handles.mine"
        with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch\.exp'"):
            wg.exp(wg.Tensor([1.0]))
        with wg._C.DisableTorchFunction():
            assert wg.ones(1).exp().item() > 2.7 and type(x.exp()) is not str
    with pytest.raises(TypeError, match="expected a sequence"):
        wg.overrides.has_torch_function(object())


def test_a_mode_needs_an_ordinary_method():
    class OfClass(TorchFunctionMode):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with pytest.raises(RuntimeError, match="classmethod is not supported"), OfClass():
        pass


def test_it_sees_attributes_and_functions_of_data():
    class Names(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(wg.overrides.resolve_name(func))
            return func(*args, **(kwargs or {}))

    x, seen = wg.ones(2, 2), []
    with Names():
        x.shape, x.T, x.requires_grad, wg.tensor([1.0]), wg.as_tensor(2)
    getters = [f"torch.Tensor.{name}.__get__" for name in ("shape", "T", "requires_grad")]
    assert seen == [*getters, "torch.tensor", "torch.as_tensor"]


@pytest.mark.parametrize("order", ["(Functions, Operations)", "(Operations, Functions)"])
def test_functions_that_ask_keep_their_signatures(order):
    program = f"""
import inspect
import wengert as wg
from wengert.overrides import TorchFunctionMode
from wengert.utils._python_dispatch import TorchDispatchMode
names = ("arange", "ones", "rand_like", "tensor", "sin")
before = [inspect.signature(getattr(wg, name)) for name in names]
class Functions(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {{}}))
class Operations(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {{}}))
for kind in {order}:
    with kind():
        wg.ones(2)
print([inspect.signature(getattr(wg, name)) for name in names] == before)
"""
    assert said(program) == "True\n"
