"""Test that the stubs are correct and sufficient for type checkers and editors."""

import doctest
import importlib.util
import inspect
import json
import operator
import os
import re
import shutil
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest

import wengert as wg

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CLEAN = ("program", "jax_program", "mxnet_program", "tensorflow_program")
PROGRAMS = (*CLEAN, "mistakes")
SPACES = (
    *("", "Tensor", "amp", "autograd", "autograd.functional", "autograd.graph", "fft", "func"),
    *("linalg", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.parametrizations"),
    *("nn.utils.parametrize", "nn.utils.rnn", "optim", "optim.lr_scheduler", "optim.swa_utils"),
    *("random", "special", "utils.checkpoint", "utils.data"),
)

# examples that a checker finds fault with, and should
UNSAID = {
    "a gradient or a state may be None": {
        *("nn.MultiheadAttention", "nn.RNNCell", "nn.utils.clip_grads_with_norm_"),
        "utils.checkpoint.checkpoint",
    },
    "attributes of nodes are PyTorch's private names": {
        *("autograd.SavedTensor", "autograd.SavedTensor.register_hooks"),
    },
    "attributes of a module that are registered by name": {
        *(f"nn.utils.parametrizations.{n}" for n in ("orthogonal", "spectral_norm", "weight_norm")),
        *("nn.utils.parametrize.ParametrizationList", "optim.swa_utils.AveragedModel"),
    },
    "an optimiser's step takes a closure": {"optim.Optimizer"},
    "what has numbers is not iterable by that": {"utils.data.Subset"},
}
MISTAKE = re.compile(r"  # \w")

# what `stubtest` says of names that are right all the same, and why
ALLOWED = {
    r'stub parameter "self" differs from runtime parameter': "methods are the functions",
    r'"(size|shape|dims|repeats)" is not keyword-only': "a sequence needs no keyword",
    r'Tensor\.(to|view) is .* "\w+" is not keyword-only': "nor do a dtype and a device",
    r"\.(max|min) is inconsistent": "three functions in one, each with parameters of its own",
    r'"(dim|axis)" has a default value of type None': "one of the two must be given",
    r'wengert\.where is .* "(input|other)" has a default': "with one argument it gives positions",
    r'wengert\.randint is .* "(high|size)" has a default': "one bound alone is the upper one",
    r'Tensor\.__setitem__ is .* "last"': "for the library's own calls",
    r"Tensor\.__delitem__ is not present": "it is there to refuse",
}


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mistakes():
    lines = (HERE / "mistakes.py").read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if MISTAKE.search(line)}


def documented():
    """The docstrings of the public names, of methods of classes too, by name."""
    for space in SPACES:
        found = operator.attrgetter(space)(wg) if space else wg
        for name in shown(found):
            value, path = getattr(found, name), f"{space}.{name}".lstrip(".")
            if not isinstance(value, types.ModuleType):
                yield path, inspect.getdoc(value)
            for own, method in vars(value).items() if isinstance(value, type) else ():
                if callable(method) and not own.startswith("_"):
                    yield f"{path}.{own}", inspect.getdoc(method)


def examples():
    """The examples of docstrings as a program, a function for each; errors are left out."""
    functions = {}
    for name, docstring in documented():
        given = doctest.DocTestParser().get_examples(docstring or "")
        lines = "".join(example.source for example in given if not example.exc_msg)
        if lines:
            functions.setdefault(lines, name)
    parts = (
        f"def example_{number}() -> None:  # {name}\n{textwrap.indent(lines, '    ')}"
        for number, (lines, name) in enumerate(functions.items())
    )
    return "\n\n".join(parts)


@pytest.fixture(scope="module")
def mypy_says(tmp_path_factory):
    """The lines of each program that mypy finds fault with, and what it says of them."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("mypy")
    config = folder / "mypy.ini"
    config.write_text(
        "[mypy]\nstrict = True\n[mypy-wengert.*]\nfollow_imports = silent\n"
        "[mypy-examples]\ndisallow_untyped_defs = False\ndisallow_untyped_calls = False\n"
        "disallow_any_generics = False\n"
    )
    (folder / "examples.py").write_text(examples(), encoding="utf-8")
    programs = [*(f"{name}.py" for name in PROGRAMS), folder / "examples.py"]
    command = [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", folder]
    done = subprocess.run(
        [*command, "--no-error-summary", *programs],
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        cwd=HERE,
        capture_output=True,
        text=True,
    )
    assert not done.stderr
    found = re.findall(r"^(?:.*/)?(\w+)\.py:(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    return [(name, int(line), what) for name, line, what in found]


@pytest.fixture(scope="module")
def pyright_says(tmp_path_factory):
    """The same of pyright, where it is installed."""
    if shutil.which("pyright") is None:
        pytest.skip("pyright is not installed")
    folder = tmp_path_factory.mktemp("pyright")
    for name in PROGRAMS:
        shutil.copy(HERE / f"{name}.py", folder)
    options = {"extraPaths": [str(ROOT / "src")], "typeCheckingMode": "standard"}
    (folder / "pyrightconfig.json").write_text(json.dumps(options))
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [
        (Path(one["file"]).stem, one["range"]["start"]["line"] + 1, one["message"])
        for one in found
        if one["severity"] == "error"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy_says", "pyright_says"])
def test_typed_programs_are_clean(checker, request):
    found = request.getfixturevalue(checker)
    assert [one for one in found if one[0] in CLEAN] == []


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy_says", "pyright_says"])
def test_every_typical_mistake_is_found_and_nothing_else(checker, request):
    found = request.getfixturevalue(checker)
    assert {line for name, line, _ in found if name == "mistakes"} == mistakes()
    assert len(mistakes()) >= 30


@pytest.mark.slow
def test_the_examples_of_docstrings_are_clean(mypy_says):
    lines = examples().splitlines()
    found = {}
    for name, number, what in mypy_says:
        if name == "examples":
            heading = next(at for at in range(number - 1, -1, -1) if lines[at][:4] == "def ")
            found.setdefault(lines[heading].partition("# ")[2], []).append(what)
    expected = set().union(*UNSAID.values())
    assert {name: what for name, what in found.items() if name not in expected} == {}
    assert expected <= set(found), "what is found no more goes"


def test_the_typed_program_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    program = load(HERE / "program.py")
    x = wg.tensor([[1.0, -2.0], [3.0, 0.5]])
    assert len(program.creation()) == 19
    assert program.attributes(x) == (2, 2)
    for function in (program.indexing, program.reductions, program.sharpness):
        assert wg.is_tensor(function(x))
    assert wg.is_tensor(program.arithmetic(x, x.clone()))
    symmetric = x @ x.T + wg.eye(2)
    assert wg.is_tensor(program.linear_algebra(symmetric, symmetric))
    program.train(epochs=1)
    assert wg.is_tensor(program.derivatives(wg.tensor([1.0, 2.0])))
    assert capsys.readouterr().out


def test_the_typed_program_of_jax_runs():
    program, jax = load(HERE / "jax_program.py"), importlib.import_module("wengert.compat.jax")
    x = jax.numpy.ones((2, 3))
    key = jax.random.PRNGKey(0)
    assert program.predict(program.layers(key, [3, 4, 2]), x).shape == (2, 2)
    assert program.reductions(x).shape == ()
    assert program.pieces(jax.numpy.ones((2, 2))).shape == (6,)
    assert program.plain(x) == (6.0, 6, (2, 3), "float32")


def test_the_typed_program_of_tensorflow_runs():
    program = load(HERE / "tensorflow_program.py")
    tf = importlib.import_module("wengert.compat.tensorflow")
    x = tf.ones((2, 3))
    assert program.train(program.Line(), x[:, :1], x[:, 1:2]) == pytest.approx(1.2)
    assert program.Net()(x).shape == (2, 1)
    assert len(program.fit(x.numpy(), x.numpy()[:, :2])) == 2
    assert program.pieces(x).numpy().tolist() == [-3.0, -3.0]
    assert program.plain(x) == (6.0, 2, [2, 3], "float32")


def test_the_typed_program_of_mxnet_runs():
    program = load(HERE / "mxnet_program.py")
    nd = importlib.import_module("wengert.compat.mxnet").nd
    assert program.step(program.Net(), nd.ones((2, 3)), nd.ones((2, 1))) > 0
    assert program.slope(nd.zeros(2)).asnumpy().tolist() == [4.0, 2.0]
    assert program.pieces() == [1, 2, 3, 4, 0, 0]


def test_the_stubs_are_what_would_be_written():
    # in a process of its own: what other tests have named or overridden is not there
    command = [sys.executable, ROOT / "stubs" / "generate.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"run python stubs/generate.py\n{done.stdout}{done.stderr}"


@pytest.mark.slow
def test_stubs_and_package_agree(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "stubs")
    stubtest = pytest.importorskip("mypy.stubtest")
    options = importlib.import_module("mypy.options").Options()
    options.cache_dir = str(tmp_path)
    monkeypatch.setenv("MYPYPATH", str(ROOT / "src"))
    modules = [*load(ROOT / "stubs" / "generate.py").SPACES]
    modules += ["wengert.types", "wengert.return_types"]
    stubtest.build_stubs(modules, options, find_submodules=False)
    said = [e.get_description(concise=True) for name in modules for e in stubtest.test_module(name)]
    used = {rule for rule in ALLOWED if any(re.search(rule, one) for one in said)}
    assert [one for one in said if not any(re.search(rule, one) for rule in ALLOWED)] == []
    assert used == set(ALLOWED), "what is allowed but not said any more goes"


def shown(space):
    return [name for name in dir(space) if not name.startswith("__")]


@pytest.mark.parametrize(
    "space", ["", "autograd", "fft", "func", "linalg", "nn", "nn.functional", "optim", "special"]
)
def test_completion_shows_what_is_public(space):
    found = wg
    for name in space.split(".") if space else ():
        found = getattr(found, name)
    assert not [name for name in shown(found) if name.startswith("_")]
    internal = {"base", "interp", "kernels", "ops", "prims", "tape", "importlib", "annotations"}
    assert not internal & set(shown(found))
    for name in shown(found):
        assert getattr(found, name, found) is not found, name


def test_a_star_brings_what_is_public():
    for space in ("wengert", "wengert.nn", "wengert.nn.functional", "wengert.linalg"):
        names = {}
        exec(f"from {space} import *", names)
        assert set(names) - {"__builtins__"} == set(importlib.import_module(space).__all__)
    assert {"sin", "argsort", "Tensor", "float32"} <= set(wg.__all__)
    assert not {"nn", "ops", "tape", "base"} & set(wg.__all__)


def test_completion_of_tensors_shows_what_is_public():
    x = wg.ones(2)
    assert {"sum", "shape", "sum_", "digamma_", "backward"} - set(dir(x)) == {"sum_"}
    assert set(dir(wg.nn.Parameter(x))) >= set(dir(wg.Tensor))


def test_signatures_are_real():
    def hidden(space, names):
        for name in names:
            try:
                parameters = inspect.signature(getattr(space, name)).parameters.values()
            except TypeError:
                continue
            if {"args", "kwargs"} <= {parameter.name for parameter in parameters}:
                yield name

    assert list(hidden(wg, shown(wg))) == []
    assert list(hidden(wg.Tensor, [n for n in shown(wg.Tensor) if n[0] != "_"])) == []
    assert str(inspect.signature(wg.Tensor.cumsum_)).startswith("(self: 'Any', dim: 'Any' = None")
    assert list(inspect.signature(wg.exp_).parameters) == ["input"]
    assert list(inspect.signature(wg.ones(2).scatter_).parameters)[:2] == ["dim", "index"]
