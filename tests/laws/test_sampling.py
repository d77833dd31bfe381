"""Test which cases of a test marked ``sampled`` run."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest


class Case:
    """A test, or with `calls` one that has cases."""

    def __init__(self, name, *marks, calls=()):
        self.nodeid = name
        self.marks = [mark.mark for mark in marks]
        self.calls = [SimpleNamespace(id=str(call), marks=[]) for call in calls]

    def iter_markers(self, name):
        return (mark for mark in self.marks if mark.name == name)

    def get_closest_marker(self, name):
        return next(self.iter_markers(name), None)

    def add_marker(self, marker):
        self.marks.append(marker.mark)


THIRD = (pytest.mark.sampled(3),)


@pytest.fixture
def run_of(monkeypatch):
    def names(seed, marks=THIRD, turned=False, expression=""):
        monkeypatch.setenv("WENGERT_SAMPLE", seed)
        file = Path(__file__).parents[1] / "conftest.py"
        spec = importlib.util.spec_from_file_location("conftest_of_all", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        items = []
        for name in "ab":
            test = Case(name, *marks, calls=range(20)[:: -1 if turned else 1])
            config = SimpleNamespace(option=SimpleNamespace(markexpr=expression))
            metafunc = SimpleNamespace(definition=test, config=config, _calls=test.calls)
            hook = module.pytest_generate_tests(metafunc)
            assert next(hook) is None and next(hook, "the end") == "the end"
            for call in metafunc._calls:
                more = [SimpleNamespace(mark=mark) for mark in call.marks]
                items.append(Case(f"{name}[{call.id}]", *marks, *more))
        names.collected = len(items)
        module.pytest_collection_modifyitems(items)
        return {item.nodeid for item in items if not item.get_closest_marker("slow")}

    return names


def test_one_in_n_of_each_test_is_run_and_the_commit_draws_which(run_of):
    drawn = run_of("x")
    assert [sum(name[0] == test for name in drawn) for test in "ab"] == [7, 7]
    assert drawn == run_of("x", turned=True) != run_of("y")
    assert len(set.union(*(run_of(str(seed)) for seed in range(40)))) == 40


def test_marks_of_a_case_and_of_its_test_are_not_multiplied(run_of):
    assert len(run_of("x", [pytest.mark.sampled(2), pytest.mark.sampled(10)])) == 4


def test_all_are_run_where_that_is_asked_for_or_nothing_is_marked(run_of):
    assert len(run_of("all")) == len(run_of("x", ())) == 40


def test_tests_of_one_name_take_turns_with_each_other(run_of):
    drawn = [run_of(str(seed), [pytest.mark.sampled(20, "a name")]) for seed in range(9)]
    assert [len(names) for names in drawn] == [2] * 9
    assert {name[0] for names in drawn for name in names} == {"a", "b"}


def test_cases_that_no_run_takes_are_not_collected(run_of):
    drawn = run_of("x")
    assert run_of.collected == 40
    assert run_of("x", expression="not slow") == drawn and run_of.collected == 14
    assert run_of("x", [pytest.mark.slow], expression="not slow") == set()
    assert run_of.collected == 2
    assert run_of("x", expression="torch or not slow") == drawn and run_of.collected == 14
    assert run_of("x", expression="slow") == set() and run_of.collected == 26
    assert run_of("x", [pytest.mark.torch], expression="not slow and not torch")
    assert run_of.collected == 2
    named = [pytest.mark.sampled(20, "a name")]
    assert len(run_of("x", named, expression="slow")) == 2 and run_of.collected == 40
