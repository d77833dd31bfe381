"""The examples of the page on optimising run."""

import doctest
from pathlib import Path

import pytest

pytest.importorskip("scipy")
PAGE = Path(__file__).parents[2] / "docs" / "optimise.md"


def test_the_examples_of_the_page_run():
    result = doctest.testfile(
        str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert result.attempted > 30
    assert result.failed == 0
