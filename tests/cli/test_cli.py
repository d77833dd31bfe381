"""The command `wengert`: what it prints and the status that it ends with."""

import io

import numpy as np
import pytest

import wengert as wg
from wengert.cli.demo import demo
from wengert.cli.main import main
from wengert.datasets import digits


def right(x):
    return x.sin() * x


class Wrong(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


wrong = Wrong.apply


def test_check_of_a_right_function(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(__file__).rsplit("/", 1)[0])
    assert main(["check", "test_cli:right", "--shape", "3"]) == 0
    assert "second derivatives agree" in capsys.readouterr().out


def test_check_of_a_wrong_function_says_where(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(__file__).rsplit("/", 1)[0])
    assert main(["check", "test_cli:wrong", "--shape", "3"]) == 1
    assert "Jacobian mismatch for output 0 with respect to input 0" in capsys.readouterr().out


@pytest.mark.parametrize("target", ["nothing", "no_such_module:f", "test_cli:nothing"])
def test_a_request_that_makes_no_sense(target, capsys):
    assert main(["check", target]) == 2
    assert capsys.readouterr().err


def test_info_and_ops(capsys):
    assert main(["info"]) == 0
    assert main(["ops"]) == 0
    out = capsys.readouterr().out
    assert wg.__version__ in out and "exp" in out


def test_the_demo_learns():
    stream = io.StringIO()
    assert demo(epochs=6, stream=stream) == 0
    assert "they agree" in stream.getvalue()


def test_the_digits_are_balanced():
    data = digits()
    assert data.train_images.shape[1:] == data.test_images.shape[1:]
    assert len(data.train_images) + len(data.test_images) == 1797
    counts = np.bincount(data.test_labels)
    assert len(counts) == 10 and counts.min() > 30
