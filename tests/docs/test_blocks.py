"""Run the code of the documentation, page by page, and check the errors that it shows.

Examples with a prompt are already doctests; here they run unchecked, between the blocks without a
prompt, which may use their names. Code that must fail is a block followed by a ``text`` block with
the message. Code for other software is in blocks of other languages (``text``, ``sh``, ...).
"""

import ast
import doctest
import io
import linecache
import pathlib
import re
import sys
import warnings
from contextlib import redirect_stdout

import pytest

from wengert.tape import detachments

DOCS = pathlib.Path(__file__).parents[2] / "docs"
FENCE = re.compile(
    r"^(?P<indent> *)(?P<marks>`{3,}|:{3,})(?P<info>[^\n`]*)\n"
    r"(?P<body>.*?)^(?P=indent)(?P=marks) *$",
    re.MULTILINE | re.DOTALL,
)
MESSAGE = re.compile(r"(?P<kind>[\w.]*(?:Error|Warning)): (?P<text>.*)", re.DOTALL)
PROGRAM = "program.py"  # what messages call the file


def blocks(text):
    """The blocks of a page in order: (language, code)."""
    for found in FENCE.finditer(text):
        info, body = found["info"].strip(), found["body"]
        if info.startswith("{code-block}"):
            info = info.removeprefix("{code-block}").strip()
            body = re.sub(r"\A(:\w+:[^\n]*\n)+\n?", "", body)
        elif info.startswith("{") and found["marks"].startswith(":"):
            yield from blocks(body)
            continue
        yield info, body


def is_plain(language, code):
    return language == "python" and not code.lstrip().startswith(">>>")


# code that shows how the library is written, and is not a program
EXCERPTS = {"design.md", "operations.md"}


def pages():
    for path in sorted(DOCS.rglob("*.md")):
        if str(path.relative_to(DOCS)) in EXCERPTS:
            continue
        if any(is_plain(*block) for block in blocks(path.read_text(encoding="utf-8"))):
            yield path


def run(code, names):
    """Run a block as a program of its own would: messages show its lines."""
    linecache.cache[PROGRAM] = (len(code), None, code.splitlines(keepends=True), PROGRAM)
    exec(compile(code, PROGRAM, "exec"), names)


def run_prompt(code, names):
    for example in doctest.DocTestParser().get_examples(code):
        try:
            tree = ast.parse(example.source)
            exec(compile(tree, PROGRAM, "exec"), names)
        except Exception:
            if example.exc_msg is None:
                raise


def said(error):
    return f"{type(error).__name__}: {error}"


def same(expected, found):
    """Whether a message is what a page says, in which ``...`` stands for anything."""
    expected, found = " ".join(expected.split()), " ".join(found.split())
    parts = [re.escape(part) for part in expected.split("...")]
    return re.fullmatch(".*".join(parts), found, re.DOTALL) is not None


def complaint(code, names):
    """What a block raises or else warns of, as ``Kind: text``, or None."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run(code, names)
        except Exception as error:
            return said(error)
    ours = [said(w.message) for w in caught if not issubclass(w.category, ResourceWarning)]
    return ours[-1] if ours else None


@pytest.mark.parametrize("path", [pytest.param(p, id=str(p.relative_to(DOCS))) for p in pages()])
def test_the_code_of_a_page_runs(path, tmp_path, monkeypatch):
    text = path.read_text(encoding="utf-8")
    for part in re.findall(r"<!-- needs: (.*?) -->", text):
        for module in part.split():
            pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "program", raising=False)
    detachments._HERE.notes.clear()  # messages list what earlier tests of this process cut off
    names = {"__name__": "program"}
    found = list(blocks(text))
    for i, (language, code) in enumerate(found):
        with redirect_stdout(io.StringIO()) as output:
            if language in ("python", "pycon") and not is_plain("python", code):
                run_prompt(code, names)
                continue
            if not is_plain(language, code):
                continue
            after, shown = found[i + 1] if i + 1 < len(found) else ("", "")
            message = MESSAGE.match(shown) if after == "text" else None
            if message is None:
                run(code, names)
            else:
                met = complaint(code, names)
                assert met is not None, f"nothing was raised by:\n{code}"
                assert same(shown, met), f"{code}\nraises\n{met}\nbut the page says\n{shown}"
        if after == "output":
            assert same(shown, output.getvalue()), f"{code}\nprints\n{output.getvalue()}"


def test_a_message_that_differs_is_seen():
    assert same("ValueError: no ... here", "ValueError: no good\n  here")
    assert not same("ValueError: no ... here", "ValueError: nothing here")
    assert complaint("raise ValueError('no')", {}) == "ValueError: no"
    assert complaint("1 + 1", {}) is None


def test_blocks_are_found_in_order_and_within_others():
    text = "```python\na\n```\n\n:::{note}\n```text\nb\n```\n:::\n"
    text += "```{code-block} python\n:class: x\n\nc\n```\n"
    assert list(blocks(text)) == [("python", "a\n"), ("text", "b\n"), ("python", "c\n")]
