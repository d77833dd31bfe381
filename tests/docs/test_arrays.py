"""The page on other libraries' arrays: its programs that need SciPy's switch."""

import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "arrays.md"
PROGRAM = re.compile(r"```text\n(.*?)```\n\n```output\n(.*?)```", re.DOTALL)


def is_there(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def test_the_programs_of_the_page_print_what_it_says():
    pytest.importorskip("scipy", minversion="1.17")
    programs = PROGRAM.findall(PAGE.read_text(encoding="utf-8"))
    assert len(programs) == 2
    if not all(map(is_there, ("sklearn", "einops", "opt_einsum"))):
        programs = programs[:1]
    code, expected = map("".join, zip(*programs, strict=True))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == expected, done.stderr
