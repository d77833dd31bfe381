"""Test that each notebook matches its page or program, and that its cells run."""

import importlib.util
import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
NOTEBOOKS = ROOT / "examples" / "notebooks"
FILES = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("docs_notebooks", ROOT / "docs" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_notebooks_are_those_of_the_pages_and_programs(script):
    kept = {name: (NOTEBOOKS / name).read_text(encoding="utf-8") for name in FILES}
    assert kept == script.notebooks(), "notebooks have changed: python docs/notebooks.py"


def test_the_lessons_in_korean_have_the_same_code_and_pictures(script):
    english = sorted((ROOT / "docs" / "lessons").glob("[0-9]*.md"))
    korean = sorted((ROOT / "docs" / "ko" / "lessons").glob("[0-9]*.md"))
    assert len(english) == len(korean) == 10
    for one, other in zip(english, korean, strict=True):
        cells = [script.lesson(path) for path in (one, other)]
        code = [[text for kind, text in part if kind == "code"] for part in cells]
        assert code[0] == code[1] and len(code[0]) >= 2
        for path, part in zip((one, other), cells, strict=True):
            words = "\n".join(text for kind, text in part if kind == "markdown")
            assert words.count("../../docs/images/") == 1, path
            assert "\n## " in words and "\n**" in words, path  # an exercise and its solution


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", [name for name in FILES if name[0].isalpha()])
def test_the_cells_of_an_example_run(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["ipykernel", "-f", "kernel.json"])
    names = {"__name__": "__main__", "__file__": str(ROOT / "examples" / name)}
    for cell in json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            code = "".join(cell["source"])
            if name == "image_and_sequence.ipynb" and code == "main()":
                code = "main(1)"  # an epoch in place of twenty
            exec(compile(code, name, "exec"), names)
    assert capsys.readouterr().out
