"""What is imported on demand is entered where it is looked up, and nowhere else."""

import importlib

import wengert as wg
from wengert.ops.later import FUNCTIONS, IN_PLACE, METHODS, NEURAL


def test_the_entries_of_a_module_are_what_it_defines():
    for table in (FUNCTIONS, METHODS, IN_PLACE, NEURAL):
        for name, module in table.items():
            found = importlib.import_module(f"wengert.ops.{module}")
            assert name in found.__all__, f"{module} has no {name}"


def test_functions_are_found_in_the_package():
    for name in FUNCTIONS:
        assert getattr(wg, name).__name__ == name
        assert name in dir(wg)


def test_functions_of_networks_are_found_there():
    for name in NEURAL:
        function = getattr(wg.nn.functional, name)
        assert function.__name__ == name
        assert "Examples" in function.__doc__ and ">>>" in function.__doc__, name


def test_methods_are_found_in_tensors():
    for name in [*METHODS, *(f"{name}_" for name in IN_PLACE)]:
        assert callable(getattr(wg.Tensor, name))
        assert callable(getattr(wg.ones(1), name))
