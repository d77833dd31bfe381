"""What holds for everything that `import wengert` gives."""

import inspect
import subprocess
import sys
import types

import pytest

import wengert as wg


def exported():
    for name in dir(wg):
        value = getattr(wg, name)
        module = getattr(value, "__module__", "") or ""
        if not name.startswith("_") and callable(value) and module.startswith("wengert"):
            yield name, value
    for name in dir(getattr(wg, "autograd", None)):
        value = getattr(wg.autograd, name)
        if name[0] != "_" and callable(value) and value.__module__.startswith("wengert"):
            yield f"autograd.{name}", value


EXPORTED = dict(exported())


@pytest.mark.parametrize("name", EXPORTED)
def test_every_public_name_is_documented_with_an_example(name):
    docstring = inspect.getdoc(EXPORTED[name])
    assert docstring, f"wengert.{name} has no docstring"
    # Exceptions and types say what they are; what is called is shown
    if not (isinstance(EXPORTED[name], type) and issubclass(EXPORTED[name], BaseException)):
        assert "Examples\n--------\n" in docstring, f"wengert.{name} shows no example"
        assert ">>> " in docstring


def methods():
    for name in dir(wg.Tensor):
        value = inspect.getattr_static(wg.Tensor, name)
        slot = isinstance(value, types.MemberDescriptorType)
        if not name.startswith("_") and not slot and name not in vars(wg.Tensor.__mro__[-2]):
            yield name, value


@pytest.mark.parametrize("name", dict(methods()))
def test_every_method_is_documented(name):
    assert inspect.getdoc(getattr(wg.Tensor, name)), f"Tensor.{name} has no docstring"


def test_importing_stays_light():
    code = (
        "import sys, numpy; before = set(sys.modules); import wengert; "
        "print(*sorted({m.split('.')[0] for m in set(sys.modules) - before}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "scipy",
        "torch",
        "sympy",
        "unittest",
        "asyncio",
        "multiprocessing",
        "argparse",
        "http",
    }
    assert not heavy & set(done.stdout.split())
