"""Test table-defined modules, and errors for names that are not offered."""

import importlib
import pickle

import pytest

import wengert as wg
from wengert.base.places import MODULES, NAMES, REFUSED


def module_at(path):
    return importlib.import_module(f"wengert.{path}".rstrip("."))


def test_a_row_is_a_module_whose_names_are_found():
    for path in sorted(MODULES.keys() - {"utils.tensorboard", "utils.tensorboard.writer"}):
        module = module_at(path)
        assert module.__name__ == f"wengert.{path}".rstrip(".") and module.__doc__, path
        parent, _, last = path.rpartition(".")
        if last in NAMES.get(parent, {}):
            source, original = NAMES[parent][last]
            assert getattr(module_at(parent), last) is getattr(module_at(source), original), path
        for name, (source, original) in NAMES.get(path, {}).items():
            assert getattr(module, name) is getattr(module_at(source), original), (path, name)
        for name, reason in REFUSED.get(path, {}).items():
            assert reason in getattr(module, name).__doc__, (path, name)
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018 it is what raises


def test_a_class_that_is_refused_can_be_subclassed_and_says_why_it_has_no_instances():
    kind = wg.quantization.QConfig

    class Mine(kind):
        pass

    for one in (kind, Mine):
        with pytest.raises(NotImplementedError, match=r"torch\.quantization\.QConfig is not offer"):
            one(activation=1)
        with pytest.raises(AttributeError, match="no quantised types"):
            one.with_args  # noqa: B018 it is what raises
    assert not isinstance(1, kind) and pickle.loads(pickle.dumps(kind)) is kind


def test_a_function_that_is_refused_says_so_when_it_is_called():
    function = wg.quantize_per_tensor
    assert callable(function) and "quantised" in function.__doc__
    with pytest.raises(NotImplementedError, match=r"torch\.quantize_per_tensor is not offered"):
        function(wg.ones(1), 0.1, 0, None)


def test_names_that_nobody_has_are_errors_as_ever():
    for module in (wg, wg.nn, wg.optim, wg.utils, wg.autograd, wg.cuda, wg.jit):
        with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute"):
            module.no_such_name  # noqa: B018 it is what raises
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        importlib.import_module("wengert.no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        importlib.import_module("wengert.nn.modules.no_such_module")


def test_classes_of_layers_are_where_they_are_looked_for():
    modules = wg.nn.modules
    assert modules.activation.ReLU is wg.nn.ReLU
    assert modules.loss.MarginRankingLoss is wg.nn.MarginRankingLoss
    assert modules.normalization.LayerNorm is wg.nn.LayerNorm
    assert modules.batchnorm._BatchNorm in wg.nn.BatchNorm2d.__mro__
    assert wg.optim.lr_scheduler._LRScheduler is wg.optim.lr_scheduler.LRScheduler


def test_a_function_keeps_its_name_beside_a_module_of_the_same():
    functions = wg.nn.parallel.replicate, wg.nn.utils.weight_norm
    for path in ("nn.parallel.replicate", "nn.utils.weight_norm"):
        module = importlib.import_module(f"wengert.{path}")
        name = path.rpartition(".")[2]
        assert getattr(module, name) in functions
    assert (wg.nn.parallel.replicate, wg.nn.utils.weight_norm) == functions
    wg.nn.parallel.new_attribute = 1
    assert vars(wg.nn.parallel).pop("new_attribute") == 1
