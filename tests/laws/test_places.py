"""Test that what compares with PyTorch lies where CONTRIBUTING.md says."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
# claims about both libraries, and whole programs; `laws` tests the mark itself
ELSEWHERE = {"semantics", "programs", "benchmarks", "laws"}


def texts(places):
    """The test files, by the folder that they lie in, which `places` chooses."""
    files = {path: path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    return {
        str(short): path.read_text(encoding="utf-8")
        for path, short in files.items()
        if places(short.parts[0])
    }


def test_every_file_of_parity_compares_with_pytorch():
    found = texts(lambda place: place == "parity")
    mark = re.compile(r"^pytestmark = .*?mark\.torch\b", re.MULTILINE | re.DOTALL)
    assert len(found) > 40 and [name for name, text in found.items() if not mark.search(text)] == []


def test_no_other_folder_compares_with_pytorch():
    found = texts(lambda place: place not in {"parity", *ELSEWHERE})
    assert len(found) > 300
    assert [name for name, text in found.items() if "mark.torch" in text] == []


def test_claims_about_both_run_on_both():
    words = [
        argument
        for text in texts(lambda place: place == "semantics").values()
        for argument in re.findall(r"^def test_\w+\((.*?)\)", text, re.MULTILINE)
    ]
    both = [argument for argument in words if re.search(r"\bt\b", argument)]
    assert len(both) > 0.9 * len(words) > 900
