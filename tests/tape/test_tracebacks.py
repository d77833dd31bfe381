"""Test that printed tracebacks end at the user's line, while exceptions keep all frames."""

import subprocess
import sys
import threading
import traceback
from types import SimpleNamespace

import numpy as np
import pytest

import wengert as wg
from wengert.tape import tracebacks

HERE = __file__


def wrong_product():
    return wg.ones(3) @ wg.ones(4)


def raised_by(function):
    with pytest.raises(Exception) as caught:
        function()
    return caught.value


@pytest.fixture
def printed(monkeypatch):
    def text(error):
        lines = []
        monkeypatch.setitem(
            tracebacks._previous,
            "program",
            lambda *given: lines.extend(traceback.format_exception(*given)),
        )
        tracebacks._print(type(error), error, error.__traceback__)
        return "".join(lines)

    return text


def files(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def test_the_last_line_is_the_users_and_the_exception_keeps_its_frames(printed):
    error = raised_by(wrong_product)
    before = files(error)
    text = printed(error)
    assert "return wg.ones(3) @ wg.ones(4)" in text and "matmul.py" not in text
    assert text.endswith("frames of wengert left out; WENGERT_TRACEBACKS=full shows all)\n")
    assert files(error) == before and any(name.endswith("matmul.py") for name in before)
    assert not hasattr(error, "__notes__")


def test_functions_of_the_users_that_the_library_calls_stay(printed):
    text = printed(raised_by(lambda: wg.func.grad(lambda x: wrong_product())(wg.ones(1))))
    assert "in wrong_product" in text and "reverse.py" not in text


def test_what_the_library_called_goes_with_it_unless_the_user_comes_again(printed):
    def at_point(x):
        raise ValueError("mine")

    minimize = pytest.importorskip("scipy.optimize") and wg.scipy.minimize
    text = printed(raised_by(lambda: minimize(at_point, np.ones(2))))
    assert "in at_point" in text and "2 frames" not in text


def test_causes_are_folded_and_the_notes_of_others_stay(printed):
    def chained():
        try:
            wrong_product()
        except RuntimeError as error:
            error.add_note("a note")
            raise ValueError("mine") from error

    error = raised_by(chained)
    text = printed(error)
    assert "a note" in text and "matmul.py" not in text and "ValueError: mine" in text
    assert "matmul.py" in "".join(traceback.format_exception(error))
    assert error.__cause__.__notes__ == ["a note"] and not hasattr(error, "__notes__")


def test_errors_of_others_and_full_tracebacks_are_printed_as_they_are(printed):
    assert printed(raised_by(lambda: [][0])).endswith("IndexError: list index out of range\n")
    wg.utils.set_full_tracebacks(True)
    try:
        assert "matmul.py" in printed(raised_by(wrong_product))
    finally:
        wg.utils.set_full_tracebacks(False)


class LinesOfIPython:
    def structured_traceback(self, kind, error, trace, tb_offset=None):
        self.tb = trace
        return [frame.filename for frame in traceback.extract_tb(trace)], tb_offset


def test_ipython_shows_the_folded_one_and_debugs_the_whole(monkeypatch):
    shell = SimpleNamespace(InteractiveTB=LinesOfIPython())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(tracebacks, "_previous", {**tracebacks._previous})
    for _ in range(2):  # once in a shell
        tracebacks.install()
    error = raised_by(wrong_product)
    lines = shell.InteractiveTB.structured_traceback
    whole = error.__traceback__
    files, offset = lines(type(error), error, whole, tb_offset=1)
    assert set(files) == {HERE} and offset == 1
    assert shell.InteractiveTB.tb is error.__traceback__ is whole
    # of another traceback than the error's own nothing is known
    files = [frame.filename for frame in traceback.extract_tb(whole)]
    assert lines(type(error), error, whole.tb_next) == (files[1:], None)


def test_a_program_prints_the_folded_one(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import wengert as wg\nwg.ones(3) @ wg.ones(4)\n")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert done.returncode == 1 and "program.py" in done.stderr
    assert "matmul.py" not in done.stderr and "left out" in done.stderr


def test_a_thread_prints_the_folded_one(monkeypatch):
    shown = []
    monkeypatch.setitem(tracebacks._previous, "threads", shown.append)
    error = raised_by(wrong_product)
    thread = threading.current_thread()
    given = (type(error), error, error.__traceback__, thread)
    tracebacks._print_of_threads(threading.ExceptHookArgs(given))
    assert traceback.extract_tb(shown[0].exc_traceback)[-1].filename == HERE
    assert shown[0].exc_value is error and shown[0].thread is thread
    assert any(name.endswith("matmul.py") for name in files(error))


def test_the_threads_of_a_program_print_the_folded_one(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import threading, wengert as wg\n"
        "threading.Thread(target=lambda: wg.ones(3) @ wg.ones(4)).start()\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert "Exception in thread" in done.stderr and "program.py" in done.stderr
    assert "matmul.py" not in done.stderr and "left out" in done.stderr
