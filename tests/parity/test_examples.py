"""Test an example for both libraries: both give the same."""

import pathlib

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "image_and_sequence.py"
IMPORT = "import wengert as torch"


def trained(source, capsys):
    names = {"__name__": "example"}
    exec(compile(source, str(EXAMPLE), "exec"), names)
    accuracies = names["main"](1)
    losses = [line for line in capsys.readouterr().out.splitlines() if "loss" in line]
    return accuracies, [float(line.split("loss ")[1].split()[0]) for line in losses]


def test_networks_of_images_and_sequences_learn_the_same_in_both(capsys):
    source = EXAMPLE.read_text(encoding="utf-8")
    assert source.count(IMPORT) == 1
    ours, our_losses = trained(source, capsys)
    theirs, their_losses = trained(source.replace(IMPORT, "import torch"), capsys)
    assert len(our_losses) == 2
    assert our_losses == pytest.approx(their_losses, rel=1e-3)
    assert ours == pytest.approx(theirs, abs=0.02)  # some images are close calls
