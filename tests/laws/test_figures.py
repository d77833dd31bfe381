"""Test that pages which state measured figures name the scripts that measure them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCRIPT = re.compile(r"benchmarks/\w+\.py")
MEASURED = re.compile(
    r"\d (µs|ms|ns)\b"
    r"|\btimes as (long|fast|much time)\b"
    r"|\b(PyTorch|autograd|JAX|MyGrad|NumPy)'s time\b"
    r"|\bin units of\b"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_figures_name_their_script(page):
    text = page.read_text(encoding="utf-8")
    scripts = set(SCRIPT.findall(text))
    assert [name for name in scripts if not (ROOT / name).is_file()] == []
    found = MEASURED.search(" ".join(text.split()))
    assert scripts or not found, f"{page.name}: {found[0]!r}, without a script"
