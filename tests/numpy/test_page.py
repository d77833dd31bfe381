"""The examples of the page about NumPy run as they are printed."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "numpy.md"


def test_the_examples_of_the_page_run():
    if not PAGE.exists():
        pytest.skip("the documents are not here")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags)
    assert tried > 10
    assert not failed
