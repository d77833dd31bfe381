"""Test that the page of differences from PyTorch lists the deviations."""

from pathlib import Path

from support.deviations import page

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


def test_the_page_is_what_the_list_of_deviations_says():
    message = "PYTHONPATH=tests/lib python -m support.deviations > docs/differences.md"
    assert PAGE.read_text(encoding="utf-8") == page(), message
