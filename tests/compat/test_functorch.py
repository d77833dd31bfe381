"""Test functorch's functions that split modules from their parameters."""

import importlib

import pytest

import wengert as wg
from wengert.compat import functorch

MOVED = "We've integrated functorch into PyTorch"
pytestmark = pytest.mark.filterwarnings(f"ignore:{MOVED}:FutureWarning")


@pytest.mark.parametrize(
    ("name", "instead"),
    [("grad", "torch.func.grad"), ("vmap", "torch.vmap"), ("hessian", "torch.func.hessian")],
)
def test_functions_say_where_they_are_now(name, instead):
    with pytest.warns(FutureWarning, match=f"{MOVED}.*Please use `{instead}`"):
        getattr(functorch, name)(wg.sin)
    assert not hasattr(getattr(wg.func, name), "__wrapped__")


def test_an_ensemble_is_its_models_side_by_side():
    models = [wg.nn.Sequential(wg.nn.Linear(3, 2), wg.nn.BatchNorm1d(2)).eval() for _ in range(3)]
    function, params, buffers = functorch.combine_state_for_ensemble(models)
    x = wg.randn(4, 3)
    expected = wg.stack([model(x) for model in models])
    found = functorch.vmap(function, in_dims=(0, 0, None))(params, buffers, x)
    assert not found.requires_grad and wg.allclose(found, expected)


def test_a_functional_module_is_differentiated_in_its_parameters():
    layer = wg.nn.Linear(3, 1)
    function, params = functorch.make_functional(layer)
    x = wg.randn(4, 3)
    slopes = functorch.grad(lambda params: function(params, x).sum())(params)
    layer(x).sum().backward()
    for slope, param in zip(slopes, layer.parameters(), strict=True):
        assert wg.allclose(slope, param.grad)


def test_buffers_are_asked_for():
    with pytest.raises(RuntimeError, match="has buffers"):
        functorch.make_functional(wg.nn.BatchNorm1d(2))


def test_it_is_installed_with_torch_and_gone_with_it():
    with wg.compat.install("torch"):
        assert importlib.import_module("functorch") is functorch
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("functorch")


def test_classes_of_functional_modules():
    plain, _ = functorch.make_functional(wg.nn.Linear(2, 1))
    buffered, *_ = functorch.make_functional_with_buffers(wg.nn.Linear(2, 1))
    kinds = functorch.FunctionalModule, functorch.FunctionalModuleWithBuffers
    assert [isinstance(plain, k) for k in kinds] == [True, False]
    assert [isinstance(buffered, k) for k in kinds] == [True, True]
