"""Test that the page of operations is the output of the command."""

import subprocess
import sys
from pathlib import Path

import pytest

import wengert as wg
from wengert.cli.formulas import formulas_of
from wengert.cli.operations import chapter_of
from wengert.prims.whole import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"


def test_the_page_is_what_the_command_writes_and_writes_again():
    pytest.importorskip("scipy")  # the page says what is done without it
    # in a process of its own, which no other test's subclasses of Tensor have changed
    twice = "from wengert.cli.main import main\nfor _ in range(2): main(['ops', '--markdown'])"
    command = [sys.executable, "-X", "utf8", "-c", twice]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert PAGE.read_text(encoding="utf-8") * 2 == done.stdout, (
        "operations have changed: wengert ops --markdown > docs/operations.md"
    )


def test_a_rule_that_is_more_than_a_formula_has_none():
    assert formulas_of(TABLE["mul"]) == {"self": "g * other", "other": "g * self"}
    assert formulas_of(TABLE["linalg_svd"]) == {"self": None}
    assert formulas_of(TABLE["mish"]) == {"self": None}, "it would be too long to read"
    assert formulas_of(TABLE["eq"]) == {}


def test_an_operation_stands_in_its_chapter_also_where_functions_are_wrapped():
    class Watched(wg.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return super().__torch_function__(function, types, args, kwargs or {})

    assert issubclass(Watched, wg.Tensor)
    assert chapter_of(wg.sum) == "reductions"
    assert chapter_of(wg.nn.functional.cross_entropy) == "losses"
