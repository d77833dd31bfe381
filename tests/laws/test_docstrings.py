"""Test the form of docstrings, in the source and in `help`."""

import ast
import functools
import importlib
import inspect
import re
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "wengert"
MODULES = {
    ".".join(("wengert", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "__main__.py"
}
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}
FILLS = re.compile(r"^(fill_sections|__all__ = completed)\(globals\(\)", re.MULTILINE)
FILLED = {name for name, text in TEXTS.items() if FILLS.search(text)}
HEADINGS = {"Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes"}
HEADINGS |= {"Examples", "Notes", "References"}
SHARED = re.compile(r"%\([^)]*\)s")
SHORT = re.compile(r"[\w*]+(, [\w*]+)*( : [^.]*\. |: )\S")


@functools.cache
def tree_of(name):
    return ast.parse(TEXTS[name])


@functools.cache
def written():
    """The lines of all docstrings in the files."""
    found = []
    for name in TEXTS:
        for node in ast.walk(tree_of(name)):
            constant = node.value if isinstance(node, ast.Expr) else None
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                found += [(name, line.strip()) for line in constant.value.splitlines()]
    return found


def undocumented():
    """The classes, and the names of their public methods that are written without a docstring."""
    for name in TEXTS:
        for node in tree_of(name).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                kind = getattr(importlib.import_module(name), node.name)
                for member in node.body:
                    said = not isinstance(member, ast.FunctionDef) or ast.get_docstring(member)
                    if not said and not member.name.startswith("_"):
                        yield kind, member.name


def test_every_method_has_a_docstring_or_overrides_one_that_has():
    """That of the method that it overrides is what `help` shows."""
    missing = [
        f"{kind.__module__}.{kind.__qualname__}.{name}"
        for kind, name in undocumented()
        if not any(getattr(vars(base).get(name), "__doc__", None) for base in kind.__mro__)
    ]
    assert missing == []


def test_no_entry_is_left_as_it_was_written():
    """Where a module's docstrings are filled in, none of its sections has an entry in short."""
    found = []
    for name in FILLED - {"wengert.base.sections"}:
        for value in vars(importlib.import_module(name)).values():
            if getattr(value, "__module__", None) == name and isinstance(value.__doc__, str):
                heading = None
                for line in inspect.cleandoc(value.__doc__).splitlines():
                    heading = line if line in HEADINGS else heading if line else None
                    short = heading in ("Parameters", "Returns", "Raises") and SHORT.match(line)
                    if short or "%(" in line:
                        found.append(f"{name}.{value.__name__}: {line}")
    assert found == []


def test_examples_do_not_import_what_is_imported_for_them():
    found = {name for name, line in written() if line == ">>> import wengert as wg"}
    assert not found & FILLED, "examples have it without a word"


def test_few_lines_of_docstrings_are_written_again():
    # a line that names a shared section is how it is said once
    lines = Counter(
        line
        for _, line in written()
        if line and line not in HEADINGS and set(line) != {"-"} and not SHARED.fullmatch(line)
    )
    repeated = sum(lines.values()) - len(lines)
    assert repeated < 2000, "say it once: see NOTE [shared sections]"
