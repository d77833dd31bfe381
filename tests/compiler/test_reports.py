"""Test that compiled functions warn and log as uncompiled ones do, from the same lines."""

import copy
import io
import logging
import threading
import warnings

import pytest

import wengert as wg
from wengert import nn
from wengert.compiler import CompileError
from wengert.compiler.tracing import reports
from wengert.compiler.tracing.reports import intercepted

NUMPY = {"backend": "numpy", "options": {"measure": False}}
log = logging.getLogger("wengert.test_reports")


@pytest.fixture(autouse=True)
def alone():
    """The logger goes nowhere else; what pytest adds to it tests replace."""
    log.propagate = False
    log.setLevel(logging.INFO)
    yield
    log.propagate, log.handlers = True, []


class Thing:
    def __init__(self):
        self.log = log


THING = Thing()


def levels(x, i):
    log.info("step %d: %.4f", i, x.sum().item())
    log.debug("not shown")
    y = x * 2
    log.warning(f"large: {y.max().item():.3f} in {i}")
    THING.log.error("attribute")
    return y


def branch(x, i):
    if x.sum() > 8:
        log.warning("large")
        warnings.warn("large", RuntimeWarning)  # noqa: B028
    return x * 2


def warning(x, i):
    y = x.exp()
    warnings.warn(f"sum {y.sum().item():.2f}")  # noqa: B028
    warnings.warn("the same")  # noqa: B028
    return y + 1


def listed(x, i):
    values = (x * 2).tolist()
    return x * max(values) + sum(values), values


def module(x, i):
    logging.warning("root %s", x.max().item())
    return x + 1


def read(function, calls):
    """What calls give, log and warn: with lines, and functions."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        logging.Formatter("%(name)s %(levelno)s %(lineno)d %(funcName)s: %(message)s")
    )
    before, log.handlers = log.handlers, [handler]
    root, logging.root.handlers = logging.root.handlers, [handler]
    log.setLevel(logging.INFO)
    found = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for i, call in enumerate(calls):
                found.append(str(function(wg.tensor(call), i)))
    finally:
        log.handlers, logging.root.handlers = before, root
    told = [(str(w.message), w.category, w.lineno, w.filename) for w in caught]
    return found, stream.getvalue(), told


CALLS = [[1.0, 2.0], [3.0, 1.5], [5.0, 6.0], [2.0, 9.0], [1.0, 2.0], [7.0, 2.0]]


@pytest.mark.parametrize("function", [levels, branch, warning, listed, module])
def test_what_is_logged_and_warned_of_is_the_same(function):
    compiled = wg.compile(function, **NUMPY)
    expected = read(function, CALLS)
    assert read(compiled, CALLS) == expected
    assert read(compiled, CALLS[::-1]) == read(function, CALLS[::-1])
    assert compiled.reason is None
    assert sum(entry.tree.traces for _, entry in compiled.entries) <= 3
    if function is levels:
        assert expected[1].count("\n") == 3 * len(CALLS)
        assert "logging.info() at test_reports.py" in str(compiled.explain())


def test_a_level_that_is_set_later_holds_for_later_calls():
    compiled, stream = wg.compile(levels, **NUMPY), io.StringIO()
    log.handlers = [logging.StreamHandler(stream)]
    for level in (logging.ERROR, logging.ERROR, logging.DEBUG, logging.CRITICAL):
        log.setLevel(level)
        compiled(wg.ones(2), 1)
    assert stream.getvalue().count("attribute") == 3
    assert stream.getvalue().count("not shown") == 1


@pytest.mark.parametrize(
    "question",
    [
        lambda x: x * log.isEnabledFor(logging.INFO),
        lambda x: x * len(repr(log)),
        lambda x: x * log.level,
        lambda x: x * len(vars(log)),
        lambda x: x * len(copy.copy(log).name),
        lambda x: (x * 2, log.info("x", exc_info=True))[0],
        lambda x: (x * 2, log.info("%s", x))[0],
        lambda x: (x * 2, warnings.warn("x", stacklevel=2))[0],
    ],
)
def test_what_else_is_asked_of_a_logger_runs_as_it_is(question):
    compiled = wg.compile(question, **NUMPY, fullgraph=False)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        for level in (10, 30, 20):
            log.setLevel(level)
            assert compiled(wg.ones(2)).tolist() == question(wg.ones(2)).tolist()
    assert compiled.reason is not None


def sets(x):
    log.note = 3.0
    return x * 2


def deletes(x):
    del log.held
    return x * 2


def finds(x):
    return x * (2 if hasattr(log, "note") else 3)


def reads(x):
    return x * object.__getattribute__(log, "held")


@pytest.mark.parametrize("function", [sets, deletes, finds, reads])
def test_attributes_of_a_logger_are_what_they_would_be(function):
    def outcomes(called):
        found = []
        for held in (1.0, 2.0, 3.0):
            vars(log).pop("note", None)
            log.held = held
            if held == 3.0:
                log.note = held
            found.append(called(wg.ones(2)).tolist())
            found.append((vars(log).get("note"), vars(log).pop("held", None)))
        return found

    compiled = wg.compile(function, backend="numpy", options={"measure": False, "quiet": True})
    try:
        assert outcomes(compiled) == outcomes(function)
    finally:
        vars(log).pop("note", None)
    assert not {"__setattr__", "__delattr__"} & vars(logging.Logger).keys()


def test_a_handler_of_a_user_hears_of_it_at_its_place():
    seen = []

    class Looking(logging.Handler):
        def emit(self, record):
            seen.append(state.tolist())

    state = wg.zeros(2)

    def f(x):
        state.add_(x)
        log.warning("between")
        state.add_(x)
        return x * 2

    log.handlers, compiled = [logging.NullHandler()], wg.compile(f, **NUMPY)
    compiled(wg.ones(2)), compiled(wg.ones(2))
    assert compiled.reason is None
    log.handlers = [Looking()]
    compiled(wg.ones(2))
    assert seen == [[5.0, 5.0]]


def test_a_warning_that_is_an_error_is_raised_at_its_place():
    done = []

    def f(x):
        try:
            warnings.warn("stop")  # noqa: B028
        except UserWarning:
            return x - 1
        return x + 1

    compiled = wg.compile(f, **NUMPY)
    for action in ("ignore", "ignore", "error", "ignore"):
        with warnings.catch_warnings():
            warnings.simplefilter(action)
            done.append(compiled(wg.zeros(())).item())
    assert done == [1, 1, -1, 1]


def test_while_one_thread_traces_others_log_from_their_lines():
    stream, done = io.StringIO(), []
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(funcName)s %(levelname)s"))
    log.handlers = [handler]

    def other():
        log.info("x")
        assert log.isEnabledFor(20)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.warn("here", stacklevel=1)
        stream.write(f"{caught[0].filename == __file__}\n")

    with intercepted(lambda *report: done.append(report)):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        log.info("mine")
    assert [report.name for report, _, _ in done] == ["logging.info"]
    assert stream.getvalue() == "other INFO\nTrue\n"
    assert "__getattribute__" not in vars(logging.Logger)


def test_a_full_graph_neither_warns_nor_logs():
    log.handlers = [logging.NullHandler()]
    with pytest.raises(CompileError, match=r"it calls logging.info\(\)"):
        wg.compile(levels, **NUMPY, fullgraph=True)(wg.ones(2), 1)


class Warns(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        nn.functional.mse_loss(wg.ones(3), wg.ones(1))
        return g * 2


def until_it_is_large(x):
    y = x * 1
    while y.sum() < 20:
        y.grad  # noqa: B018
        y = y * 2
    return y


OWN = {
    "each call": lambda x: x * 2 if x.grad is None else x,
    "calls with large values": lambda x: (x.grad, x * 2)[1] if x.sum() > 4 else x * 3,
    "each turn of a loop": until_it_is_large,
    "the backward pass": Warns.apply,
}


@pytest.mark.parametrize("filtered", ["always", "error"])
@pytest.mark.parametrize("name", OWN)
def test_the_package_warns_in_each_call(name, filtered):
    leaf = wg.ones(3, requires_grad=True)

    def told(function):
        seen = []
        for n in range(5):
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter(filtered)
                result, count = None, 0
                try:
                    result = function(leaf * (1 + n % 2))
                    count = len(heard)
                    result.sum().backward()
                except UserWarning as error:
                    seen.append(str(error))
                lines = [(w.category, str(w.message), w.filename, w.lineno) for w in heard]
                seen.append((count, lines, result is not None and result.tolist()))
        return seen

    compiled = wg.compile(OWN[name], backend="numpy", options={"measure": False, "quiet": True})
    assert told(compiled) == told(OWN[name])
    assert (compiled.reason is None) == (name != "the backward pass")


def test_a_library_that_is_imported_may_make_its_logger(monkeypatch):
    met = []
    monkeypatch.setattr(reports, "_give_up", met.append)
    of_logging = eval("lambda: root.name", {"__name__": "logging", "root": logging.root})
    library = eval("lambda call: call()", {"__name__": "concurrent.futures.imported"})
    with intercepted(lambda *args: None):
        library(of_logging)
        assert not met
        of_logging()
    assert met == ["it asks a logger for its name"]
