"""Test that the pictures of the documentation are those that its script draws."""

import importlib.util
import pathlib
import re
import xml.etree.ElementTree as ET

DOCS = pathlib.Path(__file__).parents[2] / "docs"


def script():
    spec = importlib.util.spec_from_file_location("docs_pictures", DOCS / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(path):
    """What a picture says: its text without colours and places."""
    return ["".join(e.itertext()) for e in ET.parse(path).iter() if e.tag.endswith("}text")]


def test_the_script_draws_what_is_there(tmp_path):
    script().main(tmp_path)
    drawn = {path.name: words(path) for path in tmp_path.iterdir()}
    kept = {path.name: words(path) for path in (DOCS / "images").iterdir()}
    assert drawn == kept, "pictures have changed: python docs/pictures.py"


def test_pages_show_the_pictures():
    shown = set()
    for page in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\(([^)\s]+\.svg)\)", page.read_text(encoding="utf-8")):
            path = (page.parent / target).resolve()
            assert path.is_file(), f"{page}: there is no {target}"
            shown.add(path.name)
    assert {path.name for path in (DOCS / "images").iterdir()} <= shown
