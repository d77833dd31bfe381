"""The words of errors, which files beside an idiom's modules have."""

import ast
import functools
import importlib
import importlib.util
import operator
import string
from pathlib import Path

import pytest

from wengert.compat.kit.words import cures, messages

PACKAGES = [f"wengert.compat.{idiom}" for idiom in ("autograd", "jax", "mxnet", "tensorflow")]


@functools.cache
def calls_in(package):
    """Return the first words, and the number of things to fill in, of each call of `refusal`."""
    found = []
    (root,) = importlib.util.find_spec(package).submodule_search_locations
    for path in Path(root).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "refusal":
                count = len(node.args) - 2
                spread = any(isinstance(arg, ast.Starred) for arg in node.args)
                found.append((node.args[1].value, None if spread else count))
    return found


def fields_of(text):
    """Return how many things a message is about."""
    names = [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
    numbered = {int(name[0]) for name in names if name[:1].isdigit()}
    assert not numbered or all(name[:1].isdigit() for name in names), text
    return len(numbered) or len(names)


@pytest.mark.parametrize("package", PACKAGES)
def test_first_words_name_one_message_with_what_to_fill_in(package):
    for words, count in calls_in(package):
        found = [text for text in messages(package) if text.startswith(words)]
        assert len(found) == 1, (words, found)
        assert count in (None, fields_of(found[0])), (words, found)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_message_is_given(package):
    starts = [words for words, _ in calls_in(package)]
    for text in messages(package):
        assert any(text.startswith(words) for words in starts), text


@pytest.mark.parametrize("package", PACKAGES[1:])
def test_cures_are_for_names_that_are_not_offered(package):
    module = importlib.import_module(package)
    for name, cure in cures(package).items():
        owner, name = module, name.replace("*", "there_is_no_such_name")
        if name.startswith("Array."):
            owner, name = module.numpy.ones(2), name.removeprefix("Array.")
        with pytest.raises(AttributeError) as caught:
            operator.attrgetter(name)(owner)
        assert cure in str(caught.value), name
