"""Test that every example runs without warnings and prints its result."""

import ast
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import wengert as wg

SCIPY = importlib.util.find_spec("scipy") is not None
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
FILES = sorted(EXAMPLES.glob("*.py"))

SAYS = {
    "control_flow": ["d / a:    [102400.0, 102400.0]", "5 steps", "15 steps"],
    "distributed_gradient": ["is that of all data at once: True", "fitted: [ 1.88 -3.38"],
    "double_backward": [
        "Sinh   (returns intermediate values)",
        "second_derivative raises RuntimeError: second derivative of SinhBad goes through ctx.",
        "gradgradcheck raises RuntimeError: second derivative of SinhBad goes through ctx.",
        "as a constant, its slope is 1.255169 and has no history: None",
    ],
    "forward_mode": ["Jacobian: (3, 200, 2)", "slope 9.59167"],
    "from_autograd": ["the same: True"],
    "from_jax": ["the same: True"],
    "from_mxnet": ["the same: True"],
    "from_tensorflow": ["the same: True"],
    "numpy_and_scipy": ["NumPy's Fourier transforms", "gradgradcheck: True"],
    "per_example_gradients": [
        "W1: (16, 8, 3)",
        "the same as in a loop: True",
        "their sum is the batch's: True",
    ],
    "plot_sine": ["1.571    1.0000", "largest difference from cos: 0.0e+00"],
    "scipy_optimise": ["(made with -2 and 1)"],
    "two_layer_network": ["step   0: loss", "step 299: loss"],
}
# arguments with which an example is done sooner
QUICK = {"image_and_sequence": (1,)}
if not SCIPY:
    SAYS["scipy_optimise"] = ["needs SciPy"]
if importlib.util.find_spec("dask") is None:
    SAYS["distributed_gradient"] = ["needs Dask"]


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # what an example writes, it writes there
    monkeypatch.setattr(sys, "argv", ["example"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_what_it_found(path, capsys):
    module = load(path)
    assert capsys.readouterr().out == ""  # importing it does nothing
    module.main(*QUICK.get(path.stem, ()))
    said = capsys.readouterr().out
    assert said
    for text in SAYS.get(path.stem, ()):
        assert text in said


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_teaches_and_can_be_run_as_a_script(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert len(ast.get_docstring(tree).split()) > 40
    assert [node.name for node in tree.body if getattr(node, "name", "") == "main"]
    assert 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")


def test_an_example_runs_from_the_command_line():
    path = EXAMPLES / "two_layer_network.py"
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(wg.__file__).parents[1])}
    command = [sys.executable, "-W", "error", path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "step 299" in done.stdout


def test_images_and_sequences_are_learnt(capsys):
    accuracies = load(EXAMPLES / "image_and_sequence.py").main(4)
    assert accuracies["Convolutional"] > 0.95
    assert accuracies["Recurrent"] > 0.75
    assert "[########################] loss" in capsys.readouterr().out


@pytest.mark.slow
def test_images_and_sequences_are_learnt_to_the_accuracy_that_the_example_states():
    accuracies = load(EXAMPLES / "image_and_sequence.py").main()
    assert accuracies["Convolutional"] > 0.98
    assert accuracies["Recurrent"] > 0.97


def test_the_network_learns_its_data_by_heart(capsys):
    assert load(EXAMPLES / "two_layer_network.py").main() < 0.1


def test_the_function_in_cpp_is_checked_or_says_that_there_is_no_compiler(capsys, monkeypatch):
    module = load(EXAMPLES / "cpp_function.py")
    if module.compiler() is not None:
        module.main()
        said = capsys.readouterr().out
        assert "gradcheck:     True" in said
        assert "gradgradcheck: True" in said
    monkeypatch.setattr(shutil, "which", lambda name: None)
    module.main()
    assert "No C++ compiler was found" in capsys.readouterr().out


def test_the_third_derivative_of_the_function_in_cpp_is_refused(tmp_path):
    module = load(EXAMPLES / "cpp_function.py")
    if module.compiler() is None:
        pytest.skip("there is no C++ compiler")
    softplus = module.softplus_of(module.build(str(tmp_path)))
    x = wg.tensor(0.3, dtype=wg.float64, requires_grad=True)
    (first,) = wg.autograd.grad(softplus(x), x, create_graph=True)
    (second,) = wg.autograd.grad(first, x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        wg.autograd.grad(second, x)


@pytest.mark.skipif(not SCIPY, reason="needs SciPy")
def test_the_correlation_of_scipys_is_checked(capsys):
    load(EXAMPLES / "numpy_and_scipy.py").main()
    said = capsys.readouterr().out
    assert said.count("gradcheck:     True") == said.count("gradgradcheck: True") == 2


def test_the_sine_is_drawn_or_a_table_is_printed(capsys, tmp_path):
    picture = tmp_path / "sine.png"
    load(EXAMPLES / "plot_sine.py").main([str(picture)])
    said = capsys.readouterr().out
    if importlib.util.find_spec("matplotlib") is None:
        assert "matplotlib is not installed" in said
        assert not picture.exists()
    else:
        assert picture.read_bytes().startswith(b"\x89PNG")
