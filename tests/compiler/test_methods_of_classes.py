"""Test that methods which Python calls by itself keep their effects in every call."""

import copy
import functools
import linecache
import math
import pickle
import sys
import types

import pytest
from worlds import compare

import wengert as wg

METHODS = {
    "__reduce__": ("return Thing, ()", "copy.copy(thing).factor"),
    "__getstate__": ("return {'factor': 3.0}", "copy.deepcopy(thing).factor"),
    "__setstate__": ("pass", "copy.copy(thing).factor"),
    "__dir__": ("return ['a', 'b']", "len(dir(thing))"),
    "__init_subclass__": ("pass", "type('Part', (Thing,), {}).factor"),
    "__copy__": ("return args[0]", "copy.copy(thing).factor"),
    "__format__": ("return 'text'", "len(f'{thing}')"),
    "__repr__": ("return 'text'", "len(repr(thing))"),
    "__index__": ("return 1", "[2.0, 3.0][thing]"),
    "__contains__": ("return True", "1 + (3 in thing)"),
    "__iter__": ("return iter([2.0])", "sum(thing)"),
    "__eq__": ("return True", "1 + (thing == 3)"),
    "__set_name__": ("pass", "type('Part', (), {'held': thing, 'factor': 2.0}).factor"),
    "__mro_entries__": ("return ()", "types.new_class('Part', (thing,)).__mro__.__len__()"),
}
SOURCE = """
class Thing:
    factor = 2.0
    def __init__(self):
        self.own = 1.0
    def {name}(*args, **kwargs):
        LOG.append("{name}")
        {body}
thing = Thing()
def function(x):
    return x * {use}
"""


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore:.* is not compiled")
def test_methods_that_python_calls_have_their_effects_in_each_call(name, monkeypatch):
    body, use = METHODS[name]
    text = SOURCE.format(name=name, body=body, use=use)
    file = f"<methods {name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file

    def world():
        module = types.ModuleType("methods_of_classes")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        space = vars(module)
        space.update(copy=copy, pickle=pickle, types=types, LOG=[])
        exec(compile(text, file, "exec"), space)
        return space["function"], lambda: [(wg.ones(2),)] * 4, space["LOG"]

    compare(world, "numpy")


CONVERSIONS = {
    "__index__": "[2.0, 3.0, 4.0][counter]",
    "__len__": "len(counter)",
    "__int__": "int(counter)",
    "__float__": "float(counter)",
    "__hash__": "hash(counter)",
}
COUNTER = """
LOG = []
class Counter:
    number = {first}
    def {name}(self):
        self.number = (self.number + 1) % 3
        return self.number
counter = Counter()
def function(x):
    LOG.append("called")
    return x * {use}
"""


@pytest.mark.parametrize("name", CONVERSIONS)
@pytest.mark.filterwarnings("ignore:.* is not compiled")
def test_numbers_that_python_asks_for_are_numbers(name):
    first = 0.5 if name == "__float__" else 0
    text = COUNTER.format(name=name, use=CONVERSIONS[name], first=first)
    file = f"<conversions {name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file

    def world():
        space = {}
        exec(compile(text, file, "exec"), space)
        return space["function"], lambda: [(wg.ones(2),)] * 6, ()

    compare(world, "numpy")


def test_counts_of_a_cache_are_seen():
    def world():
        known = functools.lru_cache(lambda n: n + 1)
        return (lambda x: x * known(3) + known.cache_info().hits), lambda: [(wg.ones(2),)] * 5, ()

    compare(world, "numpy")


def test_the_sign_of_a_number_that_is_none_is_seen():
    def world():
        held = types.SimpleNamespace(value=float("nan"))

        def calls():
            for sign in (1.0, 1.0, -1.0, 1.0, -1.0):
                held.value = math.copysign(float("nan"), sign)
                yield (wg.ones(2),)

        return (lambda x: x * math.copysign(1.0, held.value)), calls, ()

    compare(world, "numpy")
