"""Test models loaded from a folder, and downloaded files."""

import hashlib

import pytest

import wengert as wg
from wengert.base import progress

CODE = '''
import helper
def double(n, scale=1):
    """Twice as much."""
    return helper.twice(n) * scale
def _hidden():
    pass
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "helper.py").write_text("def twice(n):\n    return 2 * n\n", encoding="utf-8")
    return tmp_path


def test_a_folder_makes_models(folder):
    assert wg.hub.load(str(folder), "double", 3, scale=2, source="local") == 12
    assert wg.hub.list(folder, source="local") == ["double"]
    assert wg.hub.help(folder, "double", source="local") == "Twice as much."
    with pytest.raises(RuntimeError, match="Cannot find callable nothing"):
        wg.hub.load(folder, "nothing", source="local")


def test_code_is_not_fetched():
    with pytest.raises(NotImplementedError, match="source='local'"):
        wg.hub.load("owner/name", "model")
    with pytest.raises(FileNotFoundError, match=r"hubconf\.py"):
        wg.hub.load("nowhere", "model", source="local")


def test_files_are_fetched_and_their_hash_is_checked(tmp_path):
    source = tmp_path / "source.bin"
    source.write_bytes(b"some bytes")
    digest = hashlib.sha256(b"some bytes").hexdigest()
    goal = tmp_path / "goal.bin"
    wg.hub.download_url_to_file(source.as_uri(), goal, digest[:8])
    assert goal.read_bytes() == b"some bytes"
    goal.unlink()
    with pytest.raises(RuntimeError, match="invalid hash value"):
        wg.hub.download_url_to_file(source.as_uri(), goal, "0000")
    assert not list(tmp_path.glob("goal*"))


def test_parameters_are_fetched_once(tmp_path, monkeypatch):
    pytest.importorskip("safetensors")
    wg.save({"w": wg.ones(2)}, tmp_path / "w.safetensors")
    monkeypatch.setattr(wg.hub, "_FOLDER", {})
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    url = (tmp_path / "w.safetensors").as_uri()
    for _ in range(2):
        assert wg.equal(wg.hub.load_state_dict_from_url(url)["w"], wg.ones(2))
        (tmp_path / "w.safetensors").unlink(missing_ok=True)
    assert wg.hub.get_dir() == str(tmp_path / "home" / "hub")
    wg.hub.set_dir(tmp_path)
    assert wg.hub.get_dir() == str(tmp_path)


def test_a_download_shows_how_far_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "tqdm", lambda: None)
    source = tmp_path / "source.bin"
    source.write_bytes(bytes(1_000_000))
    wg.hub.download_url_to_file(source.as_uri(), tmp_path / "goal.bin")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "byte   65536/1000000" and lines[-1] == "byte 1000000/1000000"
    assert len(lines) <= 11
    wg.hub.download_url_to_file(source.as_uri(), tmp_path / "goal.bin", progress=False)
    assert capsys.readouterr().err == ""


def test_without_a_length_lines_grow_rarer(capsys):
    bar = progress.Progress(0, True, "byte")
    for done in range(1, 101):
        bar.show(done)
    bar.end()
    shown = capsys.readouterr().err.split()
    assert shown == [word for n in (1, 2, 4, 8, 16, 32, 64) for word in ("byte", str(n))]
