"""Test the output and the exit status of the command `wengert`."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

import wengert as wg
from wengert.cli.demo import demo
from wengert.cli.main import main
from wengert.cli.request import BadRequest
from wengert.datasets import digits
from wengert.tape.compiled import IS_COMPILED


def right(x):
    return x.sin() * x


def scaled(x, by):
    return x.exp() * by


def of_single(x):
    return x.sum() if x.dtype is wg.float32 else x.sum().detach()


def constant(x):
    return x.detach() * 2


class Wrong(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


wrong = Wrong.apply


def test_check_of_a_right_function(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["check", "test_cli:right", "--shape", "3"]) == 0
    assert "second derivatives agree" in capsys.readouterr().out


def test_check_of_a_wrong_function_says_where(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["check", "test_cli:wrong", "--shape", "3"]) == 1
    assert "Jacobian mismatch for output 0 with respect to input 0" in capsys.readouterr().out


def test_check_looks_at_forward_mode_too(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["check", "test_cli:right", "--shape", "3", "--forward"]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "  first derivatives, forward mode agree",
        "  first derivatives agree",
        "  second derivatives, forward over reverse agree",
        "  second derivatives agree",
    ]


def test_check_takes_its_inputs_from_a_file(monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    np.savez(tmp_path / "inputs.npz", x=np.ones((2, 3), np.float32), by=np.arange(2, 5))
    assert main(["check", "test_cli:scaled", "--inputs", str(tmp_path / "inputs.npz")]) == 0
    out = capsys.readouterr().out
    assert "input 0: float64 (2, 3)" in out and "input 1: int64 (3,)" in out


def test_check_speaks_json(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["check", "test_cli:wrong", "--shape", "2", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["inputs"] == [{"input": 0, "dtype": "float64", "shape": [2]}]
    assert report["agree"] == [] and report["differ"] == "first derivatives"
    assert "Jacobian mismatch" in report["message"]


@pytest.mark.parametrize("command", ["check", "graph"])
@pytest.mark.parametrize("target", ["nothing", "no_such_module:f", "test_cli:nothing"])
def test_a_request_that_makes_no_sense(command, target, capsys):
    assert main([command, target]) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shape", "3", "--inputs", "x.npy"], "not both"),
        (["--inputs", "no_such_file.npy"], "no_such_file.npy"),
        ([], "what are the inputs?"),
        (["--shape", "3", "--shape", "4"], "does not take 2 inputs"),
        (["--shape", "99999999999999"], "too large"),
        (["--inputs", __file__], "is not a file of arrays"),
    ],
)
def test_inputs_that_cannot_be_had(arguments, words, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["check", "test_cli:right", *arguments]) == 2
    assert words in capsys.readouterr().err


def not_a_tensor(x):
    return 5


def test_results_and_words_that_mean_nothing_are_refused_in_a_sentence(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["check", "test_cli:not_a_tensor", "--shape", "3"]) == 2
    assert "it returned int" in capsys.readouterr().err
    assert main(["graph", "test_cli:right", "--shape", "3", "--show", "nonsense"]) == 2
    assert "there is no 'nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("suffix", "starts"), [("svg", "<svg"), ("html", "<!doctype"), ("dot", "digraph")]
)
def test_graph_draws_into_a_file(suffix, starts, monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    file = tmp_path / f"g.{suffix}"
    assert main(["graph", "test_cli:right", "--shape", "3", "-o", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] == str(file)
    text = file.read_text(encoding="utf-8")
    assert (
        text.lower()
        .lstrip()
        .removeprefix('<?xml version="1.0" encoding="utf-8"?>')
        .lstrip()
        .startswith(starts)
    )
    assert "sin" in text and "mul" in text


def test_graph_prints_a_tree_where_no_file_is_named(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["graph", "test_cli:right", "--shape", "3"]) == 0
    out = capsys.readouterr().out
    assert "mul" in out and "sin" in out and "x" in out


def test_graph_takes_its_inputs_from_a_file_as_they_are(monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    np.savez(tmp_path / "inputs.npz", x=np.ones(2, np.float32))
    assert main(["graph", "test_cli:of_single", "--inputs", str(tmp_path / "inputs.npz")]) == 0
    assert "sum" in capsys.readouterr().out


def test_graph_of_what_records_nothing_says_so(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["graph", "test_cli:constant", "--shape", "3"]) == 2
    assert "recorded no graph" in capsys.readouterr().err


def test_graph_refuses_a_kind_of_file_that_it_does_not_know(monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["graph", "test_cli:right", "--shape", "3", "-o", str(tmp_path / "g.gif")]) == 2
    assert ".svg" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_info_and_ops(capsys):
    assert main(["info"]) == 0
    assert main(["ops"]) == 0
    out = capsys.readouterr().out
    assert wg.__version__ in out and "exp" in out


def test_info_and_ops_speak_json(capsys):
    assert main(["info", "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert info["wengert"] == wg.__version__
    assert info["build"] == ("compiled" if IS_COMPILED else "Python")
    assert main(["ops", "rsqrt", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["node"] == "RsqrtBackward0" and row["saves"] == ["result"]
    assert row["derivative"] == {"self": "-g * result ** 3 / 2"}


@pytest.mark.parametrize("command", ["demo", "info", "ops", "bench", "check", "graph"])
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_the_demo_learns_and_draws(tmp_path):
    stream = io.StringIO()
    folder = tmp_path / "pictures"
    assert demo(epochs=6, output=str(folder), stream=stream) == 0
    text = stream.getvalue()
    assert "they agree" in text
    for name in ("network.svg", "network.html", "loss.svg"):
        assert str(folder / name) in text
        assert (folder / name).stat().st_size > 1000


def test_the_demo_speaks_json(tmp_path):
    stream = io.StringIO()
    assert demo(epochs=2, output=str(tmp_path), stream=stream, as_json=True) == 0
    result = json.loads(stream.getvalue())
    assert len(result["losses"]) == 2 and result["losses"][1] < result["losses"][0]


def test_the_demo_needs_a_folder_for_its_pictures(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(BadRequest, match="the pictures need a folder"):
        demo(epochs=1, output=str(file / "below"))


def test_the_digits_are_balanced():
    data = digits()
    assert data.train_images.shape[1:] == data.test_images.shape[1:]
    assert len(data.train_images) + len(data.test_images) == 1797
    counts = np.bincount(data.test_labels)
    assert len(counts) == 10 and counts.min() > 30
