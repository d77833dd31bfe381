"""Test the functions for overridable functions."""

import pytest

import wengert as wg
from wengert import overrides


class Other:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return cls.__name__, func.__name__, types


class Inner(Other):
    pass


class Silent:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Own(wg.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with overrides.DisableTorchFunctionSubclass():
            found = func(*args, **(kwargs or {}))
        if func in overrides.get_default_nowrap_functions():
            return found
        return found.as_subclass(cls) if isinstance(found, wg.Tensor) else found


@overrides.wrap_torch_function(lambda a, b=None: (a, b))
def mine(a, b=None):
    return "plain"


def test_functions_of_the_user_are_overridden():
    assert mine(wg.ones(1)) == mine(1) == "plain"
    assert mine(Other()) == ("Other", "mine", (Other,))
    assert mine(Other(), b=Inner())[0] == "Inner", "a subclass comes before its parent"
    assert mine(Silent(), Other())[0] == "Other"
    with pytest.raises(TypeError, match=r"no implementation found for .*mine"):
        mine(Silent())


def test_who_overrides_is_told():
    assert overrides.has_torch_function((1, Other()))
    assert not overrides.has_torch_function((1, wg.ones(1), wg.nn.Parameter(wg.ones(1))))
    assert overrides.has_torch_function_unary(Other())
    assert not overrides.has_torch_function_variadic(1, 2)
    assert overrides.is_tensor_like(Other()) and not overrides.is_tensor_like(object())
    assert overrides.is_tensor_method_or_property(wg.Tensor.add)
    assert overrides.resolve_name(wg.Tensor.add) == "torch.Tensor.add"
    assert overrides.resolve_name(wg.nn.functional.one_hot).startswith("torch.")


def test_gradients_keep_their_class_by_default():
    x = wg.ones(2, requires_grad=True)
    own = x.as_subclass(Own)
    own.retain_grad()
    x.sum().backward()
    own.grad = x.grad
    assert (type(own.grad), type(own + 1)) == (wg.Tensor, Own)
