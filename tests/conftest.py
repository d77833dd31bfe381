"""Fixtures and options of all tests."""

import builtins
import gc
import hashlib
import itertools
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from _pytest.doctest import DoctestItem, DoctestModule

HERE = Path(__file__).parent

# Tests run in a process for each core. Two threads of BLAS in each of them wait for each other by
# running: a decomposition of a 60 by 60 matrix took a hundred times its own time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# programs are looked at between the passes of the compiler
os.environ.setdefault("WENGERT_VERIFY", "1")


def _commit():
    command = ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "no commit"


# set once, so that every process of a run draws the same
SEED = os.environ.get("WENGERT_SAMPLE") or _commit()
os.environ["WENGERT_SAMPLE"] = SEED
RUN = itertools.count(1)
"""Counts the tests that this process has run."""
MARKS = {"slow", "torch"}
"""The marks that runs leave out or ask for."""


def _left_out(named, share):
    """Of cases by their names, all but one in `share`.

    Which ones is drawn from the commit, so that they take turns, and a run can be repeated.
    """
    drawn = sorted(named, key=lambda name: hashlib.md5(f"{SEED} {name}".encode()).digest())
    return [named[name] for name in drawn[-(-len(drawn) // share) :]]


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc):
    """Of a test marked ``sampled(n)``, one in n of its cases is run; the others become slow.

    A run without slow tests does not even collect them: that took as long as collecting all others.
    The same holds for tests of PyTorch if ``-m`` leaves these or the others out.
    """
    yield
    calls, test = metafunc._calls, metafunc.definition
    around = [mark.args for mark in test.iter_markers("sampled")]
    fixed = {name for name in MARKS if test.get_closest_marker(name)}
    groups = defaultdict(dict)
    later = set()
    for call in calls:
        marks = [*around, *(mark.args for mark in call.marks if mark.name == "sampled")]
        if marks and not ("slow" in fixed or any(mark.name == "slow" for mark in call.marks)):
            share, *name = max(marks, key=lambda args: args[0])
            if name:
                later.add(id(call))
            else:
                groups[share][f"{test.nodeid}[{call.id}]"] = call
    for share, cases in groups.items():
        for call in _left_out(cases, 1 if SEED == "all" else share):
            call.marks.append(pytest.mark.slow.mark)
    expression = metafunc.config.option.markexpr
    words = set(re.findall(r"\w+", expression)) - {"and", "or", "not"}
    if words and words <= MARKS:
        kept = []
        for call in calls:
            names = fixed | {mark.name for mark in call.marks}
            if id(call) in later or eval(expression, {name: name in names for name in MARKS}):
                kept.append(call)
        metafunc._calls = kept or calls[:1]  # without any, a test would count as having no cases


BUILTINS = {name: getattr(builtins, name) for name in dir(builtins) if name[0] != "_"}


@pytest.hookimpl(tryfirst=True)  # before `-m` reads the marks
def pytest_collection_modifyitems(items):
    """With ``sampled(n, name)`` the draw is among all tests of that name, as of several files."""
    # Hypothesis would read the package for constants to try: 6 s in each process of a fresh clone
    if providers := sys.modules.get("hypothesis.internal.conjecture.providers"):
        providers.is_local_module_file = lambda path: False
    # it would draw by the time, so that no run could be repeated
    if (core := sys.modules.get("hypothesis.core")) and core.global_force_seed is None:
        core.global_force_seed = int(hashlib.md5(SEED.encode()).hexdigest()[:8], 16)
    groups = defaultdict(dict)
    for item in items:
        if isinstance(item, DoctestItem):
            # once a test has imported all names, the package's own hide those of the same name
            item.dtest.globs |= BUILTINS
        marks = [mark.args for mark in item.iter_markers("sampled")]
        share, *name = max(marks, key=lambda args: args[0], default=(1,))
        if name and not item.get_closest_marker("slow"):
            groups[name[0], share][item.nodeid] = item
    for (_, share), cases in groups.items():
        for item in _left_out(cases, 1 if SEED == "all" else share):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Tests have no examples in docstrings: to look for them took a fifth of all collecting."""
    found = yield
    if "lib" in file_path.relative_to(HERE).parts:
        return found
    return [one for one in found if not isinstance(one, DoctestModule)]


def pytest_report_header():
    return f"cases are sampled by WENGERT_SAMPLE={SEED!r}; 'all' runs all"


def _settle():
    """Keep what there is from the collector, which would go through it all in every collection."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish():
    _settle()  # thousands of tests are objects themselves


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown():
    """A definition of the package that counts as replaced would change every later compilation."""
    yield
    if next(RUN) % 1000 == 0:
        _settle()  # by then, modules and caches
    patches = sys.modules.get("wengert.base.patches")
    if patches is not None and patches.PATCHES.found:
        found = [*patches.PATCHES.found.values()]
        for owner, name, _ in found:
            patches.PATCHES.found.pop((id(owner), name))
        raise AssertionError(f"these definitions count as replaced: {found}")


def pytest_terminal_summary(terminalreporter):
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(pytest_report_header())
