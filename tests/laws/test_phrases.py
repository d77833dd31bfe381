"""Test that no text contains the phrases that docs/style.md rules out."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STYLE = ROOT / "docs" / "style.md"
WRITTEN = ("*.py", "*.md", "*.pyi", "*.toml", "*.pyx", "*/beyond.txt")
# other languages, other people's words, and the rule itself
EXCEPT = (
    "docs/ko/",
    "docs/style.md",
    "tests/laws/test_phrases.py",
    "tests/programs/",
    "tests/parity/",
)

ROWS = re.findall(r"^\| `(.+)` \| .* \|$", STYLE.read_text(encoding="utf-8"), re.MULTILINE)
PHRASES = [row.replace(r"\|", "|") for row in ROWS]


def texts():
    """Each file that is written by hand or from what is, with its path."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", *WRITTEN], cwd=ROOT, capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("the list of files comes from git")
    for name in listed.stdout.decode().split("\0"):
        if name and not name.startswith(EXCEPT) and (ROOT / name).exists():
            yield name, (ROOT / name).read_text(encoding="utf-8")


def test_the_page_has_phrases():
    assert len(PHRASES) > 10
    assert re.search(rf"\b(?:{PHRASES[0]})\b", "what it shall be")


def test_phrases_that_are_gone_stay_gone():
    rules = re.compile("|".join(rf"\b(?:{phrase})\b" for phrase in PHRASES), re.IGNORECASE)
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}"
        for name, text in texts()
        for match in rules.finditer(text)
    ]
    assert not found, "\n".join(found[:40])
