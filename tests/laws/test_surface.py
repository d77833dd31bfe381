"""Test invariants of everything that `import wengert` exports."""

import inspect
import operator
import subprocess
import sys
import types

import pytest

import wengert as wg

# those whose every public name is called by users
SPACES = (
    *("", "autograd", "distributions", "fft", "func", "linalg", "nn", "nn.init", "nn.utils"),
    *("nn.utils.parametrizations", "nn.utils.parametrize", "nn.utils.rnn"),
    *("optim", "optim.lr_scheduler", "optim.swa_utils", "special", "utils.data"),
)


def exported(space):
    found = operator.attrgetter(space)(wg) if space else wg
    for name in getattr(found, "__all__", dir(found)) if space.count(".") else dir(found):
        value = getattr(found, name)
        module = getattr(value, "__module__", "") or ""
        if not name.startswith("_") and callable(value) and module.startswith("wengert"):
            yield f"wengert.{space}.{name}".replace("..", "."), value


@pytest.mark.parametrize("space", SPACES)
def test_every_public_name_is_documented_with_an_example(space):
    for name, value in exported(space):
        docstring = inspect.getdoc(value)
        assert docstring, f"{name} has no docstring"
        assert "%(" not in docstring, f"{name}: its docstring is not filled in"
        # Exceptions say what they are, old names what to call; what is called is shown
        is_error = isinstance(value, type) and issubclass(value, BaseException)
        if not is_error and "old name" not in docstring:
            assert "Examples\n--------\n" in docstring, f"{name} shows no example"
            assert ">>> " in docstring, f"{name} shows no example"


def methods():
    for name in dir(wg.Tensor):
        value = inspect.getattr_static(wg.Tensor, name)
        slot = isinstance(value, types.MemberDescriptorType)
        if not name.startswith("_") and not slot and name not in vars(wg.Tensor.__mro__[-2]):
            yield name, value


def test_every_method_is_documented():
    for name, _ in methods():
        assert inspect.getdoc(getattr(wg.Tensor, name)), f"Tensor.{name} has no docstring"


def test_importing_stays_light():
    code = (
        "import sys, numpy; before = set(sys.modules); import wengert; "
        "print(*(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    # all records, with the kernels of all of them, are for those who list them
    assert not {"wengert.prims.records", "wengert.kernels.convolution"} & loaded
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
    assert not heavy & {name.partition(".")[0] for name in loaded}
