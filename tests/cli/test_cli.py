"""Test the output and the exit status of the command `wengert`."""

import io
import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import wengert as wg
from wengert.cli.demo import demo
from wengert.cli.main import main
from wengert.cli.request import BadRequest
from wengert.datasets import digits
from wengert.tape import tracebacks
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
@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nothing", "expected module:function, as in mymodel:loss; got 'nothing'"),
        ("no_such_module:f", "No module named 'no_such_module'; looked in "),
        (".relative:f", "expected module:function"),
        ("wengert:nothing", "'wengert:nothing': module 'wengert' has no attribute 'nothing'"),
    ],
)
def test_a_request_that_makes_no_sense(command, target, words, capsys):
    assert main([command, target]) == 2
    assert capsys.readouterr().err.startswith(f"wengert {command}: {words}")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shape", "3", "--inputs", "x.npy"], "not both"),
        (["--inputs", "no_such_file.npy"], "no_such_file.npy"),
        ([], "what are the inputs?"),
        (["--shape", "3", "--shape", "4"], "does not take 2 inputs"),
        (["--shape", "99999999999999"], "too large"),
        (["--inputs", __file__], "is not a file of arrays"),
        (["--shape", "3", "--seed", str(2**64)], "exceeds 64 bits"),
    ],
)
def test_inputs_that_cannot_be_had(arguments, words, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["check", "test_cli:right", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("array", [np.array(["a"]), np.array(["2020-01-01"], "datetime64[D]")])
def test_files_of_other_things_than_numbers(array, monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    np.save(tmp_path / "other.npy", array)
    assert main(["check", "test_cli:right", "--inputs", str(tmp_path / "other.npy")]) == 2
    assert "an input is an array of numbers, not of" in capsys.readouterr().err


def _archive(method):
    data = io.BytesIO()
    np.savez_compressed(data, a=np.arange(100.0))
    return method(data.getvalue())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 and no more",
        _archive(lambda data: data[:60] + b"\xff" * 20 + data[80:]),
        _archive(lambda data: data[:-30]),
    ],
)
def test_damaged_files(content, monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    (tmp_path / "x.npz").write_bytes(content)
    assert main(["check", "test_cli:right", "--inputs", str(tmp_path / "x.npz")]) == 2
    assert "x.npz' is not a file of arrays" in capsys.readouterr().err


def test_a_module_that_imports_one_that_is_missing_shows_the_line(
    folding, monkeypatch, capsys, tmp_path
):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "imports_missing.py").write_text("import no_such_module_xyz")
    assert main(["check", "imports_missing:f"]) == 2
    said = capsys.readouterr().err
    assert 'imports_missing.py", line 1' in said and "looked in" not in said


def test_a_file_that_claims_more_than_memory_holds(monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    file = tmp_path / "x.npy"
    np.save(file, np.ones(3))
    file.write_bytes(
        file.read_bytes().replace(b"(3,), }" + b" " * 14, b"(99999999999999,), }" + b" ")
    )
    assert main(["check", "test_cli:right", "--inputs", str(file)]) == 2
    assert "x.npy' is too large" in capsys.readouterr().err


def test_a_number_is_an_input_without_sizes(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["check", "test_cli:right", "--shape", "()"]) == 0
    assert "input 0: float64 ()" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["3,,4", ",3", "3 4", "-1", "x"])
def test_shapes_that_make_no_sense(text, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    with pytest.raises(SystemExit, match="2"):
        main(["check", "test_cli:right", f"--shape={text}"])
    assert "a shape is sizes with commas, as in 3,4" in capsys.readouterr().err


def not_a_tensor(x):
    return 5


def raises(x):
    return {}[x.numel()]


def leaves(x):
    sys.exit("enough")


def is_interrupted(x):
    raise KeyboardInterrupt


@pytest.fixture
def folding(monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    monkeypatch.setattr(tracebacks, "_previous", {})
    tracebacks.install()


def test_an_error_of_the_users_code_shows_that_code_alone(folding, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["check", "test_cli:raises", "--shape", "3"]) == 2
    err = capsys.readouterr().err
    assert "return {}[x.numel()]" in err and "KeyError: 3" in err and "/cli/check.py" not in err
    assert err.endswith("wengert check: the code that it ran raised KeyError\n")


@pytest.mark.parametrize(
    ("target", "status", "words"),
    [
        ("leaves", 2, "the code that it ran called sys.exit('enough')"),
        ("is_interrupted", 130, "interrupted"),
    ],
)
def test_code_that_leaves_says_so_in_a_sentence(target, status, words, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert main(["graph", f"test_cli:{target}", "--shape", "3"]) == status
    assert capsys.readouterr().err == f"wengert graph: {words}\n"


def test_a_module_that_fails_shows_its_own_frame_alone(folding, monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "failing.py").write_text("[][0]\n")
    assert main(["check", "failing:f", "--shape", "3"]) == 2
    err = capsys.readouterr().err
    assert err.count("  File ") == 1 and "failing.py" in err and "importlib" not in err


def test_a_module_with_a_syntax_error_shows_its_line_without_frames(monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "unfinished.py").write_text("def f(:\n")
    assert main(["check", "unfinished:f", "--shape", "3"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("wengert check: File ") and "def f(:" in err and "Traceback" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_is_a_sentence():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "wengert", "ops", "rsqrt"],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "wengert ops: OSError: [Errno 28] No space left on device\n"


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
