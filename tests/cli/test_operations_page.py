"""The page that lists the operations is what the command writes."""

import subprocess
import sys
from pathlib import Path

import pytest

from wengert.cli.formulas import formula, rule_source, rules_of
from wengert.cli.operations import page
from wengert.prims.whole import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"


def test_the_page_is_what_the_command_writes():
    pytest.importorskip("scipy")  # the page says what is done without it
    # in a process of its own, which no other test's subclasses of Tensor have changed
    command = [sys.executable, "-X", "utf8", "-m", "wengert", "ops", "--markdown"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert PAGE.read_text(encoding="utf-8") == done.stdout, (
        "operations have changed: wengert ops --markdown > docs/operations.md"
    )


def test_a_page_made_again_is_the_same():
    assert page() == page()


@pytest.mark.parametrize("name", [name for name, prim in TABLE.items() if prim.is_differentiable])
def test_the_source_of_a_rule_is_found(name):
    for _, rule in rules_of(TABLE[name]):
        source = rule_source(rule)
        assert source.startswith(("lambda", "def")), source
        text = formula(rule)
        assert text is None or "".join(text.split())[:8] in "".join(source.split())
