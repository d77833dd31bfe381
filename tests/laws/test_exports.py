"""Test that a function declares where it is public (NOTE [lazy exports])."""

import ast
import contextlib
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import wengert as wg
from support.names import listed
from wengert.base.export import SURFACES
from wengert.ops.exports import EXPORTS
from wengert.tensor.methods import TensorMethods

ROOT = Path(__file__).parents[2]


def test_the_index_is_what_would_be_written():
    command = [sys.executable, ROOT / "stubs" / "exports.py", "--check"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, f"run make stubs: {run.stdout}"


def test_a_mark_names_surfaces_that_are_known():
    assert set(EXPORTS) <= set(SURFACES)


def test_what_is_exported_is_public_in_its_module():
    for names in EXPORTS.values():
        for name, module in names.items():
            found = importlib.import_module(f"wengert.ops.{module}")
            assert hasattr(found, name), f"{module} has no {name}"


def test_functions_are_found_in_the_package():
    for name in EXPORTS["wengert"]:
        assert getattr(wg, name).__name__ == name
        assert name in dir(wg)


def test_what_a_star_brings_does_not_depend_on_what_was_used():
    for name in listed()["torch"]:
        with contextlib.suppress(AttributeError, ImportError):
            getattr(wg, name)
    stub = (ROOT / "src/wengert/__init__.pyi").read_text(encoding="utf-8")
    (brought,) = re.findall(r"^__all__ = (\[.*?\])", stub, re.MULTILINE | re.DOTALL)
    assert sorted(wg.__all__) == sorted(ast.literal_eval(brought))


def test_functions_of_networks_are_found_there():
    for name in EXPORTS["nn.functional"]:
        function = getattr(wg.nn.functional, name)
        assert function.__name__ == name
        assert "Examples" in function.__doc__ and ">>>" in function.__doc__, name


def test_methods_are_found_in_tensors():
    for surface, names in EXPORTS.items():
        if not surface.startswith("Tensor"):
            continue
        for name in names:
            own = name if surface == "Tensor" else f"{name.removeprefix('draw_')}_"
            assert callable(getattr(wg.Tensor, own)), own
            assert callable(getattr(wg.ones(1), own)), own
            assert getattr(wg.Tensor, own).__name__ == own
            assert callable(vars(TensorMethods)[own])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied")
def test_a_module_can_be_the_first_that_is_used():
    modules = sorted({module for names in EXPORTS.values() for module in names.values()})
    code = f"""
import importlib, os, wengert
for module in {modules}:
    child = os.fork()
    if not child:
        importlib.import_module("wengert.ops." + module)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, module
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
