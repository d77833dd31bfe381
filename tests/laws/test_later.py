"""What is imported on demand is entered where it is looked up, and nowhere else."""

import importlib

import pytest

import wengert as wg
from wengert.ops.later import FUNCTIONS, IN_PLACE, METHODS, NEURAL

MODULES = sorted({m for t in (FUNCTIONS, METHODS, IN_PLACE, NEURAL) for m in t.values()})


@pytest.mark.parametrize("module", MODULES)
def test_the_entries_of_a_module_are_what_it_defines(module):
    found = importlib.import_module(f"wengert.ops.{module}")
    for table in (FUNCTIONS, METHODS, IN_PLACE, NEURAL):
        for name, where in table.items():
            if where == module:
                assert name in found.__all__, f"{module} has no {name}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_found_in_the_package(name):
    assert getattr(wg, name).__name__ == name
    assert name in dir(wg)


@pytest.mark.parametrize("name", NEURAL)
def test_a_function_of_networks_is_found_there(name):
    function = getattr(wg.nn.functional, name)
    assert function.__name__ == name
    assert "Examples" in function.__doc__ and ">>>" in function.__doc__


@pytest.mark.parametrize("name", [*METHODS, *(f"{name}_" for name in IN_PLACE)])
def test_a_method_is_found_in_tensors(name):
    assert callable(getattr(wg.Tensor, name))
    assert callable(getattr(wg.ones(1), name))
