"""Test that decorated functions run in the error states that they ask for."""

import threading

import numpy as np
import pytest

import wengert as wg
from wengert.base.error_states import errstate, quietly


def quotient(x, y):
    return np.float64(x) / np.float64(y)


def test_the_state_is_that_of_numpys_own_decorator():
    ours, numpys = (
        decorator(divide="ignore", over="raise")(np.geterr) for decorator in (errstate, np.errstate)
    )
    for outer in ({}, {"all": "raise"}, {"under": "print"}, {}, {"all": "raise"}):
        with np.errstate(**outer):
            before = np.geterr()
            assert ours() == numpys()
            assert np.geterr() == before


def test_the_state_ends_with_the_function_also_by_an_error():
    failing = errstate(divide="raise")(quotient)
    before = np.geterr()
    with pytest.raises(FloatingPointError):
        failing(1, 0)
    assert np.geterr() == before


def test_functions_nest_and_recur():
    @errstate(over="raise")
    def inner(depth):
        return outer(depth - 1) if depth else np.geterr()

    @errstate(divide="raise")
    def outer(depth):
        found = inner(depth)
        assert np.geterr()["divide"] == "raise"
        return found

    found = outer(3)
    assert (found["divide"], found["over"]) == ("raise", "raise")


def test_threads_have_states_of_their_own():
    decorated = errstate(divide="ignore")(np.geterr)
    found = {}

    def run(kind):
        with np.errstate(all=kind):
            for _ in range(200):
                found.setdefault(kind, set()).add(tuple(decorated().values()))

    threads = [threading.Thread(target=run, args=(kind,)) for kind in ("ignore", "raise", "warn")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {kind: {("ignore", kind, kind, kind)} for kind in ("ignore", "raise", "warn")}


def test_calls_are_passed_on_quietly():
    with np.errstate(all="raise"):
        assert np.isinf(quietly(quotient, 1, y=0))
    assert quotient.__name__ == errstate(all="ignore")(quotient).__name__


def test_errors_that_the_caller_asks_for_are_raised_where_a_kernel_allows_others():
    x = wg.tensor([1e30, 1.0])
    with np.errstate(all="raise"):
        assert wg.sigmoid(-x * 1e3).tolist()[0] == 0.0
        with pytest.raises(FloatingPointError):
            x * x
