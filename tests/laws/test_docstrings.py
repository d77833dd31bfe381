"""Test the form of docstrings, in the source and in `help`."""

import importlib
import inspect
import re
from collections import Counter

from support.source import FILES, facts_of

MODULES = [name for name in FILES if not name.endswith(".__main__")]
HEADINGS = {"Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes"}
HEADINGS |= {"Examples", "Notes", "References"}
SHARED = re.compile(r"%\([^)]*\)s")
NOT_SHOWN = re.compile(
    r"(?<!her )[Aa]rguments are as for `|argument as for `|same arguments[.;]"
    r"|arguments as there|arguments (are|as) those of `"
)
SHORT = re.compile(r"[\w*]+(, [\w*]+)*( : [^.]*\. |: )\S")


def undocumented():
    """The classes, and the names of their public methods that are written without a docstring."""
    for name in MODULES:
        for kind, member in facts_of(name).bare:
            yield getattr(importlib.import_module(name), kind), member


def test_every_method_has_a_docstring_or_overrides_one_that_has():
    """That of the method that it overrides is what `help` shows."""
    missing = [
        f"{kind.__module__}.{kind.__qualname__}.{name}"
        for kind, name in undocumented()
        if not any(getattr(vars(base).get(name), "__doc__", None) for base in kind.__mro__)
    ]
    assert missing == []


def test_no_entry_is_left_as_it_was_written():
    """Docstrings are filled in: no section has an entry in short."""
    found = []
    for name in MODULES:
        for value in vars(importlib.import_module(name)).values():
            if getattr(value, "__module__", None) == name and isinstance(value.__doc__, str):
                heading = None
                for line in inspect.cleandoc(value.__doc__).splitlines():
                    heading = line if line in HEADINGS else heading if line else None
                    short = heading in ("Parameters", "Returns", "Raises") and SHORT.match(line)
                    if short or "%(" in line:
                        found.append(f"{name}.{value.__name__}: {line}")
    assert found == []


def test_the_arguments_of_another_function_are_shown():
    """A docstring says "arguments as for `f`", for which `help` shows the entries of `f`."""
    found = [
        f"{name}: {line}"
        for name in MODULES
        for line in facts_of(name).strings
        if NOT_SHOWN.search(line)
    ]
    for name in MODULES:
        for value in vars(importlib.import_module(name)).values():
            own = getattr(value, "__module__", None) == name
            if own and "; arguments as for `" in (value.__doc__ or ""):
                found.append(f"{name}.{value.__name__} names no function of its module")
    assert found == []


def test_examples_do_not_import_what_is_imported_for_them():
    found = {name for name in MODULES if ">>> import wengert as wg" in facts_of(name).strings}
    assert not found, "examples have it without a word"


def prose(lines):
    """Yield lines outside of examples, which are code and what it prints, up to an empty line."""
    in_example = False
    for line in lines:
        in_example = bool(line) and (in_example or line.startswith(">>> "))
        if not in_example:
            yield line


def test_few_lines_of_docstrings_are_written_again():
    # a line that names a shared section is how it is said once
    lines = Counter(
        line
        for name in MODULES
        for line in prose(facts_of(name).strings)
        if line and line not in HEADINGS and set(line) != {"-"} and not SHARED.fullmatch(line)
    )
    repeated = sum(lines.values()) - len(lines)
    assert repeated < 900, "say it once: see NOTE [shared sections]"
