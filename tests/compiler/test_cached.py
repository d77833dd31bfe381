"""Test machine code cached for later processes."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

import wengert as wg
from wengert.compiler.backends import cached

pytest.importorskip("llvmlite")
NATIVE: dict[str, Any] = {
    "backend": "llvm",
    "options": {"measure": False},
}


def value() -> float:
    f = wg.compile(lambda x: (x.sin() * x).sum(), **NATIVE)
    x = wg.arange(100.0, dtype=wg.float64)
    f(x)
    return float(f(x))


def test_nothing_is_written_unless_a_folder_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("WENGERT_COMPILE_CACHE", raising=False)
    monkeypatch.chdir(tmp_path)
    value()
    assert not list(tmp_path.iterdir())


def test_code_is_kept_and_found_again(tmp_path: Path, monkeypatch: Any) -> None:
    expected = value()
    monkeypatch.setenv("WENGERT_COMPILE_CACHE", str(tmp_path / "code"))
    assert value() == expected
    files = list((tmp_path / "code").iterdir())
    assert files
    times = [file.stat().st_mtime_ns for file in files]
    assert value() == expected
    assert [file.stat().st_mtime_ns for file in files] == times
    program = (
        "import wengert as wg\n"
        "f = wg.compile(lambda x: (x.sin() * x).sum(), backend='llvm',"
        " options={'measure': False})\n"
        "x = wg.arange(100.0, dtype=wg.float64)\n"
        "f(x)\n"
        "print(float(f(x)))\n"
    )
    path = [str(Path(wg.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(found.stdout) == expected
    assert sorted(files) == sorted((tmp_path / "code").iterdir())


def test_files_that_were_cut_off_are_made_anew(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("WENGERT_COMPILE_CACHE", str(tmp_path))
    expected = value()
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:-10])
    assert value() == expected
    for file in tmp_path.iterdir():
        assert len(file.read_bytes()) > 100


def test_a_folder_that_cannot_be_written_to_is_no_error(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("WENGERT_COMPILE_CACHE", str(tmp_path / "file"))
    assert value() == value()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes of folders are POSIX's")
@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_can_write_to_is_not_used(
    tmp_path: Path, monkeypatch: Any, mode: int
) -> None:
    tmp_path.chmod(mode)
    monkeypatch.setenv("WENGERT_COMPILE_CACHE", str(tmp_path))
    with pytest.warns(UserWarning, match="others can write to this folder"):
        value()
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes of files are POSIX's")
def test_a_file_that_others_could_write_to_is_not_run(tmp_path: Path) -> None:
    file = tmp_path / "x.code"
    cached.keep(file, b"machine code")
    assert cached.kept(file) == b"machine code"
    file.chmod(0o666)
    assert cached.kept(file) is None


def test_code_under_the_name_of_other_code_is_not_run(tmp_path: Path) -> None:
    one, other = tmp_path / "one.code", tmp_path / "other.code"
    cached.keep(one, b"machine code")
    other.write_bytes(one.read_bytes())
    other.chmod(0o600)
    assert cached.kept(one) == b"machine code"
    assert cached.kept(other) is None


def _owned_by(user: int) -> Any:
    return os.stat_result((0o100600, 0, 0, 1, user, 0, 12, 0, 0, 0))


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners of files are POSIX's")
def test_a_file_of_another_user_is_not_run(tmp_path: Path, monkeypatch: Any) -> None:
    file = tmp_path / "x.code"
    cached.keep(file, b"machine code")
    monkeypatch.setattr(os, "fstat", lambda number: _owned_by(os.geteuid() + 1))
    assert cached.kept(file) is None


def test_the_text_of_native_code_can_be_read() -> None:
    f = wg.compile(lambda x: x.exp() * 2, **NATIVE)
    f(wg.ones(8))
    assert "define" in f.llvm()
    assert "define" in f.llvm(optimised=True)


def test_functions_may_go_with_all_that_refers_to_them() -> None:
    gone = []
    for k in range(20):
        f = wg.compile(lambda x, k=k: x * k + x.sin(), **NATIVE)
        x = wg.ones(3, requires_grad=True)
        f(x)
        f(x).sum().backward()
        assert x.grad.tolist() == pytest.approx([k + math.cos(1)] * 3)
        f.itself = f
        gone.append(weakref.ref(f))
        del f
        gc.collect()
    assert [ref() for ref in gone] == [None] * 20
